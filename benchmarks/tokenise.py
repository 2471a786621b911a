"""How fast tokens are made and read back, beside a plain `datasets.map(batched=True, num_proc=2)` with that tokenizer.

    HF_ENDPOINT=... python benchmarks/tokenise.py --tokenizer google/flan-t5-small [--rounds 5]

Only ratios within one run mean anything: the variants take turns, so that a busy machine slows all of them alike.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import datasets
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from hyperlab.data.tokens import tokenize


def rows(config: str, split: str) -> datasets.Dataset:
    "The split with T5-style source and target texts"
    data = datasets.load_dataset("nyu-mll/glue", config, split=split)
    render = lambda r: {"source": f"premise: {r['premise']} hypothesis: {r['hypothesis']}", "target": str(r["label"])}
    return data.map(render)


def plain(data: datasets.Dataset, tokenizer: PreTrainedTokenizerBase, to: Path) -> None:
    "What one writes without a library"
    def encode(batch: dict) -> dict:
        labels = tokenizer(batch["target"], truncation=True, max_length=128)["input_ids"]
        return {**tokenizer(batch["source"], truncation=True, max_length=128), "labels": labels}
    data.map(encode, batched=True, num_proc=2, remove_columns=data.column_names, load_from_cache_file=False,
             cache_file_name=str(to / "plain.arrow"))


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", default="google/flan-t5-small")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    datasets.disable_progress_bars()
    tokenizer, data = AutoTokenizer.from_pretrained(args.tokenizer), rows("mnli", "train")
    times: dict[str, list[float]] = {"plain map, num_proc=2": [], "tokenize": [], "tokenize, from the cache": []}
    for _ in range(args.rounds):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["HYPERLAB_CACHE"] = folder
            ours = lambda: tokenize(data, tokenizer)
            runs = (lambda to=Path(folder): plain(data, tokenizer, to), ours, ours)
            for name, run in zip(times, runs, strict=True):
                times[name].append(seconds(run))
    base = times["plain map, num_proc=2"]
    print(f"MNLI train, {len(data):,} rows, {args.rounds} rounds")
    for name, values in times.items():
        print(f"{name:26} median {statistics.median(values):6.2f} s, best {min(values):6.2f} s, "
              f"{statistics.median(base) / statistics.median(values):6.2f} x the plain map's speed "
              f"(best against best {min(base) / min(values):.2f})")


if __name__ == "__main__":
    main()
