"""Studies ask what the papers ask: every row is a model of its own, sizes and settings are those of the text."""

import zlib

import pytest
import torch

import hyperlab as hl
from hyperlab.experiments.paper_studies import STUDIES, variants_of

IDS, LABELS = torch.arange(3, 15).view(2, 6), torch.arange(5, 9).view(2, 2)


def filled(model: hl.AdaptedModel) -> hl.AdaptedModel:
    "The model with every trained weight drawn anew, by its name and shape alone."
    for name, tensor in model.named_parameters():
        if tensor.requires_grad:
            chance = torch.Generator().manual_seed(zlib.crc32(f"{name}{tuple(tensor.shape)}".encode()))
            tensor.data = 0.3 * torch.randn(tensor.shape, generator=chance, dtype=tensor.dtype)
    return model.eval()


def fingerprint(variant: object) -> tuple[object, ...]:
    "What is trained, and what comes out."
    model = filled(hl.adapt("nano", variant.method, ["a", "b"], **variant.options).double())
    trained = tuple(sorted((n, tuple(p.shape)) for n, p in model.named_parameters() if p.requires_grad))
    with torch.no_grad():
        logits = model(input_ids=IDS, labels=LABELS, task="b").logits
    return trained, tuple(round(x, 6) for x in logits.flatten()[:64].tolist())


@pytest.mark.parametrize("study", [*STUDIES])
def test_no_two_rows_of_a_study_compute_the_same_function(study: str) -> None:
    seen: dict[tuple[object, ...], str] = {}
    fitting = [variant for variant in variants_of(study) if not variant.refused]
    assert len(fitting) > 1
    for variant in fitting:
        label = f"{variant.label} {dict(variant.options)}"
        other = seen.setdefault(fingerprint(variant), label)
        assert other == label, f"{label} is {other}"
