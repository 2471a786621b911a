"""AdapterHub's adapters beside its own full fine-tuning and its own frozen floor: the table of `python -m hyperlab.bench step`.

The library asks for an older transformers than hyperlab, so it has an environment and a process of its own:

    python -m venv peers && peers/bin/pip install torch adapters lazy-loader pandas
    PYTHONPATH=. peers/bin/python benchmarks/adapterhub.py [--rounds 5] [--json hyperlab/assets/bench/results/adapterhub.json]

Only ratios within this run can be set beside ratios of another one. Only hyperlab.bench.measuring is used,
which needs torch alone.
"""

import argparse
from functools import partial

import adapters
import torch
from transformers import T5Config, T5ForConditionalGeneration

from hyperlab.bench.measuring import BenchResult, adamw_step, steady_memory, time_interleaved, timed_rows, with_memory

CONFIGS = {
    "AdapterHub bottleneck, two per layer": "double_seq_bn[reduction_factor=32]",
    "AdapterHub bottleneck, one per layer": "seq_bn[reduction_factor=32]",
    "AdapterHub Compacter": "compacter[reduction_factor=32]",
    "AdapterHub Compacter++": "compacter++[reduction_factor=32]",
}
FULL, FLOOR = "full fine-tuning", "frozen floor"


def make(name: str) -> T5ForConditionalGeneration:
    "A model of T5-small's shape."
    torch.manual_seed(0)
    shape = {"d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8}
    model = T5ForConditionalGeneration(T5Config(**shape, decoder_start_token_id=0)).train()
    if name == FLOOR:
        for parameter, value in model.named_parameters():
            value.requires_grad_("layer_norm" in parameter)
    elif name != FULL:
        adapters.init(model)
        model.add_adapter("task", config=CONFIGS[name])
        model.train_adapter("task")
    return model


def mean_loss(model: T5ForConditionalGeneration, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    "The loss of a batch."
    return model(**batch).loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    torch.set_num_threads(1)
    models = {name: make(name) for name in (FULL, FLOOR, *CONFIGS)}
    batch = {"input_ids": torch.randint(2, 32128, (16, 64)), "labels": torch.randint(2, 32128, (16, 8))}
    steps, memory = {}, {}
    for name, model in models.items():
        loss = partial(mean_loss, model, batch)
        optimizer, steps[name] = adamw_step(model, loss)
        memory[name] = steady_memory(model, loss, optimizer, steps[name])
    turns = time_interleaved(steps, args.rounds)
    rows = [with_memory(row, *memory[row.name]) for row in timed_rows(turns, FULL, FLOOR)]
    result = BenchResult("adapterhub", "t5-small, batch 16, length 64 → 8", rows, rounds=args.rounds, clock=turns.clock)
    print(result)
    if args.json:
        result.write(args.json)


if __name__ == "__main__":
    main()
