"""A gated projection beside a plain linear layer: time, memory kept for the backward pass, and distance from the formula.

    python benchmarks/hypergrid.py [--rounds 15] [--batch-size 16] [--grid 32 128]

One process, one thread, CPU time, variants in turn. Goals at length 64: forward at most 1.8, kept memory at most 1.2.
"""

import argparse

import torch
import torch.nn.functional as F
from interleaved import interleaved, ratios, saved_megabytes

from hyperlab.grid import grid_gate, grid_linear, grid_product, naive_grid_linear


def measure(features: int, outputs: int, length: int, batch: int, grid: tuple[int, int], rounds: int) -> None:
    "One shape: the plain layer, the gated one, and the formula as it stands."
    torch.manual_seed(0)
    x = torch.randn(batch, length, features, requires_grad=True)
    weight = torch.nn.Parameter(torch.randn(outputs, features) * features**-0.5)
    u, v = (torch.randn(batch, n, requires_grad=True) for n in grid)
    gate = grid_gate(u, v, 0.5).detach()
    runs = {
        "plain": lambda w: F.linear(x, w),
        "gated": lambda w: grid_linear(x, w, u, v, 0.5),
        "naive": lambda w: naive_grid_linear(x, w, u, v, 0.5),
    }
    with torch.no_grad():
        forward = {name: (lambda run=run: run(weight)) for name, run in runs.items()}
        forward["gate given"] = lambda: grid_product(x, weight, gate)
        times = {"forward": ratios(interleaved(forward, rounds), "plain")}
        exact = (runs["gated"](weight) - runs["naive"](weight)).abs().max() / runs["naive"](weight).abs().max()
    for label, w in (("step, W trained", weight), ("step, W frozen", weight.detach())):
        steps = {name: (lambda run=run, w=w: run(w).sum().backward()) for name, run in runs.items()}
        times[label] = ratios(interleaved(steps, rounds), "plain")
    kept = {name: saved_megabytes(lambda run=run: run(weight), {weight.untyped_storage().data_ptr()}) for name, run in runs.items()}
    shape = f"{features} → {outputs}, length {length}, batch {batch}, grid {grid[0]} × {grid[1]}"
    print(f"\n{shape}; error {exact:.1e} of the largest result")
    for label, found in times.items():
        shown = [f"{name} {median:.2f} (of minima {least:.2f})" for name, (median, least) in found.items() if name != "plain"]
        print(f"  {label:16}", "  ".join(shown))
    print("  kept MiB        ", "  ".join(f"{name} {size:.2f} ({size / kept['plain']:.2f})" for name, size in kept.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--grid", type=int, nargs=2, default=(32, 128))
    args = parser.parse_args()
    torch.set_num_threads(1)
    print("ratios to a plain linear layer, median of rounds (and of the fastest rounds)")
    for features, outputs in ((2048, 512), (512, 2048)):
        for length in (64, 8, 1):
            measure(features, outputs, length, args.batch_size, tuple(args.grid), args.rounds)


if __name__ == "__main__":
    main()
