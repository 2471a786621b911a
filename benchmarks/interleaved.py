"""Times of several variants measured in turn, A B C C B A, so that a busy machine slows all of them alike."""

import statistics
import time
from collections.abc import Callable

import torch


def interleaved(variants: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    "CPU seconds of each variant in each round."
    times: dict[str, list[float]] = {name: [] for name in variants}
    for run in variants.values():
        run()
    for turn in range(rounds):
        for name in list(variants)[:: 1 if turn % 2 == 0 else -1]:
            start = time.process_time()
            variants[name]()
            times[name].append(time.process_time() - start)
    return times


def ratios(times: dict[str, list[float]], base: str) -> dict[str, tuple[float, float]]:
    "To the base: the median of the rounds' ratios, and the ratio of the fastest rounds."
    return {
        name: (statistics.median(t / b for t, b in zip(own, times[base], strict=True)), min(own) / min(times[base]))
        for name, own in times.items()
    }


def saved_megabytes(run: Callable[[], object], without: set[int]) -> float:
    "What autograd keeps for the backward pass: unique storages, without those at the addresses given."
    kept: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        result = run()
    size = sum(size for pointer, size in kept.items() if pointer not in without)
    del result
    return size / 2**20
