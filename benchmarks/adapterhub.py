"""AdapterHub's adapters beside its own full fine-tuning and its own frozen floor: the table of `python -m hyperlab.bench step`.

The library asks for an older transformers than hyperlab, so it has an environment and a process of its own:

    python -m venv peers && peers/bin/pip install torch adapters lazy-loader pandas
    PYTHONPATH=. peers/bin/python benchmarks/adapterhub.py [--rounds 5] [--json hyperlab/assets/bench/results/adapterhub.json]

Only ratios within this run can be set beside ratios of another one. Only hyperlab.bench and hyperlab.bench.measuring are used,
which need torch alone.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace

import adapters
import torch
from transformers import T5Config, T5ForConditionalGeneration

from hyperlab.bench.measuring import step_memory, time_interleaved
from hyperlab.bench.measuring import BenchResult, timed_rows

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


def training_step(
    model: T5ForConditionalGeneration, batch: dict[str, torch.Tensor]
) -> tuple[Callable, torch.optim.Optimizer, Callable]:
    "Loss, optimizer and a whole step."
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4, fused=True)
    loss = lambda: model(**batch).loss

    def step() -> None:
        loss().backward()
        optimizer.step()
        optimizer.zero_grad()

    return loss, optimizer, step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    torch.set_num_threads(1)
    models = {name: make(name) for name in (FULL, FLOOR, *CONFIGS)}
    batch = {"input_ids": torch.randint(2, 32128, (16, 64)), "labels": torch.randint(2, 32128, (16, 8))}
    steps, held, trained = {}, {}, {}
    for name, model in models.items():
        loss, optimizer, steps[name] = training_step(model, batch)
        steps[name]()
        held[name] = step_memory(model, loss, optimizer)
        trained[name] = sum(p.numel() for p in model.parameters() if p.requires_grad)
    turns = time_interleaved(steps, args.rounds)
    timed = timed_rows(turns, FULL, FLOOR)
    sizes = {name: {"trained": trained[name], "kept_bytes": held[name].kept, "total_bytes": held[name].peak} for name in models}
    rows = [replace(row, **sizes[row.name]) for row in timed]
    result = BenchResult("adapterhub", "t5-small, batch 16, length 64 → 8", rows, rounds=args.rounds, clock=turns.clock)
    print(result)
    if args.json:
        result.write(args.json)


if __name__ == "__main__":
    main()
