"""Product with a sum of Kronecker products: built and multiplied, or multiplied from its factors; forward and backward.

    python benchmarks/kronecker.py [--rounds 7] [--threads 1]

Both projections of an adapter, for widths, bottlenecks D, n, ranks r and numbers of positions. The last columns are D/(n r) and the
ratio factored / built; `hyperlab.methods.compacter.FACTORED_FROM` is where the library changes over.
"""

import argparse
import itertools
import statistics

import torch

from hyperlab.bench.measuring import time_interleaved
from hyperlab.methods.compacter import FACTORED_FROM, factored_product, kronecker_sum, prefers_factors


def candidates(width: int, bottleneck: int, n: int, rank: int, positions: int) -> dict:
    "Both ways through both projections of one adapter, with gradients for everything."
    learned = lambda *shape: torch.randn(*shape, requires_grad=True)
    x, rule = learned(1, positions, width), learned(n, n, n)
    down = learned(n, width // n, rank), learned(n, rank, bottleneck // n)
    up = learned(n, bottleneck // n, rank), learned(n, rank, width // n)

    def built() -> None:
        y = x
        for left, right in (down, up):
            y = torch.nn.functional.linear(y, kronecker_sum(rule, left @ right))
        y.sum().backward()

    def factored() -> None:
        factored_product(factored_product(x, rule, *down), rule, *up).sum().backward()

    return {"built": built, "factored": factored}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    sizes = [(512, 16), (768, 24), (768, 48), (768, 96), (1024, 128)]
    found: dict[float, list[float]] = {}
    for (width, bottleneck), n, rank, positions in itertools.product(sizes, (4, 8), (1, 4), (128, 1024, 4096)):
        if bottleneck % n:
            continue
        turns = time_interleaved(candidates(width, bottleneck, n, rank, positions), args.rounds)
        ratio, share = turns.ratio("factored", "built"), bottleneck / (n * rank)
        found.setdefault(share, []).append(ratio)
        choice = "factored" if prefers_factors(bottleneck, n, rank) else "built"
        print(f"H {width:5} D {bottleneck:4} n {n} r {rank} positions {positions:5}: built {1e3 * turns.median('built'):7.2f} ms, "
              f"factored {1e3 * turns.median('factored'):7.2f} ms, D/(n r) {share:4.1f}, ratio {ratio:.2f}, {choice}")
    print(f"\nmedian ratio by D/(n r); the library takes factors from {FACTORED_FROM}")
    for share, ratios in sorted(found.items()):
        print(f"{share:6.2f}: {statistics.median(ratios):.2f}  ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
