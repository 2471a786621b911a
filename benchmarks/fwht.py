"""Time of the fast Walsh–Hadamard transform beside an FFT of the same length, by turns in one process.

    python benchmarks/fwht.py [--exponent 20] [--rounds 15] [--threads 1]

A transform is a chain of short ones of at most 2^r numbers, as equal as possible; 2^1 are the textbook's butterflies.
Goal: at most 3 times the FFT.
"""

import argparse

import torch

from hyperlab.methods import intrinsic_said as fastfood
from hyperlab.bench.measuring import time_interleaved


def with_radix(x: torch.Tensor, radix: int) -> torch.Tensor:
    "The library's transform with short transforms of 2^radix numbers."
    before, fastfood.RADIX = fastfood.RADIX, radix
    try:
        return fastfood.walsh_hadamard(x)
    finally:
        fastfood.RADIX = before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exponent", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    x = torch.randn(2**args.exponent)
    candidates = {"fft": lambda: torch.fft.fft(x), "rfft": lambda: torch.fft.rfft(x)}
    candidates |= {f"fwht, 2^{radix}": lambda radix=radix: with_radix(x, radix) for radix in (1, 2, 3, 4, 5, 6, 7)}
    turns = time_interleaved(candidates, args.rounds, warmup=2)
    print(f"2^{args.exponent} numbers in float32, {args.threads} threads, median of {args.rounds} rounds")
    for name in candidates:
        ratio, noise = turns.ratio(name, "fft"), turns.noise(name, "fft")
        print(f"{name:10} {1e3 * turns.median(name):8.2f} ms   {ratio:5.2f} ± {noise:.2f} of the FFT")
    ours = turns.ratio(f"fwht, 2^{fastfood.RADIX}", "fft")
    print(f"the library's, 2^{fastfood.RADIX}: {ours:.2f} of the FFT, goal 3: {'kept' if ours <= 3 else 'MISSED'}")


if __name__ == "__main__":
    main()
