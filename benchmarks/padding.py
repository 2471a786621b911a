"""Tokens computed per real token on real GLUE lengths, one task per batch and mixed, beside two other ways of padding.

    HF_ENDPOINT=... python benchmarks/padding.py --tokenizer google/flan-t5-small [--batch-size 32] [--steps 2000]
"""

import argparse

from transformers import AutoTokenizer

import hyperlab as hl
from hyperlab.data import tokenize_task
from hyperlab.sampling import BatchPlan, padding_cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", default="google/flan-t5-small")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--steps", type=int, default=2000)
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(args.tokenizer)
    lengths = {name: tokenize_task(name, "train", tokenizer)["input_length"][:] for name in hl.tasks("glue")}
    rows = sum(map(len, lengths.values()))
    print(f"GLUE train, {rows:,} rows, temperature 10, batches of {args.batch_size}, {args.steps} steps")
    for mixed in (False, True):
        plan = BatchPlan(lengths, args.batch_size, mixed=mixed)
        dynamic = BatchPlan(lengths, args.batch_size, mixed=mixed, by_length=False)
        fixed = padding_cost(plan, args.steps, pad_to=128)
        print(f"{'mixed' if mixed else 'one task per batch':20} padded to 128: {fixed:.3f}  "
              f"to the longest of a random batch: {padding_cost(dynamic, args.steps):.3f}  "
              f"sorted in windows of {plan.window}: {padding_cost(plan, args.steps):.3f}")


if __name__ == "__main__":
    main()
