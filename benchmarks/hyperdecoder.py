"""Training steps with generated adapters beside the same model with plain adapters of the same size, and generation.

    python benchmarks/hyperdecoder.py [--rounds 9] [--size 64] [--layers 6]

T5-small's shape with random weights, one process, one thread, CPU time, variants in turn. Goal: a step at most 1.10 times.
"""

import argparse

import torch
from interleaved import interleaved, ratios
from transformers import T5Config, T5ForConditionalGeneration

import hyperlab as hl


def make(method: str, layers: int, **options: object) -> hl.AdaptedModel:
    "A model of T5-small's shape."
    torch.manual_seed(0)
    config = T5Config(d_model=512, d_kv=64, d_ff=2048, num_layers=layers, num_heads=8, decoder_start_token_id=0, pad_token_id=0)
    return hl.adapt(T5ForConditionalGeneration(config), method, **options)


def stepper(model: hl.AdaptedModel, batch: dict[str, torch.Tensor]) -> object:
    "One training step: forward, backward, update."
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4, fused=True)

    def step() -> None:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--layers", type=int, default=6)
    args = parser.parse_args()
    torch.set_num_threads(1)
    sizes = {"encoder_size": args.size, "decoder_size": args.size}
    models = {
        "plain adapters": make("parallel-adapter", args.layers, **sizes),
        "hyperdecoder": make("hyperdecoder", args.layers, **sizes),
        "task hypernet": make("task-hypernet", args.layers, **sizes, hypernetwork_width=128),
    }
    batch = {"input_ids": torch.randint(2, 32000, (16, 64)), "labels": torch.randint(2, 32000, (16, 8))}
    steppers = {name: stepper(model.train(), batch) for name, model in models.items()}
    steps = ratios(interleaved(steppers, args.rounds), "plain adapters")
    answers = {
        name: (lambda model=model: model.eval().generate(batch["input_ids"], max_new_tokens=16, min_new_tokens=16))
        for name, model in models.items()
    }
    generation = ratios(interleaved(answers, max(3, args.rounds // 3)), "plain adapters")
    print(f"batch 16, length 64 → 8, adapters of size {args.size}, ratios to plain adapters (of the fastest rounds)")
    for label, found in (("step", steps), ("generate 16 tokens", generation)):
        print(f"  {label:20}", "  ".join(f"{name} {median:.3f} ({least:.3f})" for name, (median, least) in found.items()))


if __name__ == "__main__":
    main()
