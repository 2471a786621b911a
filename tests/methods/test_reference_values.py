"""What the reference implementations compute on a tiny T5, through the public interface.

tests/golden/README.md says what the files hold.
"""

import pytest
import torch
from conftest import close
from golden_values import TOLERANCE, golden_backbone, read

import hyperlab as hl

TASKS = ["first", "second", "third"]
KINDS = ("weight", "bias")
HEADS = ("down", "up", "down_bias", "up_bias", "gamma", "beta")


def fill(model: hl.AdaptedModel, weights: dict[str, torch.Tensor]) -> None:
    "Set every parameter of the rule; none may be left out."
    state = model.rule.state_dict()
    assert weights.keys() == state.keys(), weights.keys() ^ state.keys()
    model.rule.load_state_dict({k: v.to(state[k].dtype) for k, v in weights.items()})


def projector(tensors: dict, there: str, here: str) -> dict[str, torch.Tensor]:
    "Two linear layers; ours has the ReLU as layer 1."
    layers = {0: 0, 1: 2}
    return {f"{here}.{ours}.{kind}": tensors[f"{there}.{theirs}.{kind}"] for theirs, ours in layers.items() for kind in KINDS}


def plus_plus(tensors: dict, model: hl.AdaptedModel) -> dict[str, torch.Tensor]:
    weights = {"task_embedding.weight": tensors["task_embedding"]}
    for stack in ("encoder", "decoder"):
        here = f"generators.{stack}"
        weights |= {f"{here}.embeddings.{c}": tensors[f"{stack}.{c}_embedding"] for c in ("layer", "position")}
        weights |= projector(tensors, f"{stack}.projector", f"{here}.projector")
        weights |= {f"{here}.norm.{kind}": tensors[f"{stack}.norm.{kind}"] for kind in KINDS}
        weights |= {f"{here}.heads.{kind}.{h}": tensors[f"{stack}.{h}.{kind}"].unsqueeze(0) for h in HEADS for kind in KINDS}
    return weights


def hyperformer(tensors: dict, model: hl.AdaptedModel) -> dict[str, torch.Tensor]:
    weights = {"task_embedding.weight": tensors["task_embedding"]} | projector(tensors, "projector", "projector")
    for stack, part in model.rule.parts.items():
        for head in HEADS:
            for kind in KINDS:
                rows = [tensors[f"{site}.{head}.{kind}"] for site in part.sites]
                weights[f"generators.{stack}.heads.{kind}.{head}"] = torch.stack(rows)
    return weights


def dagger(tensors: dict, model: hl.AdaptedModel) -> dict[str, torch.Tensor]:
    weights = {}
    names = {"down": "down.weight", "up": "up.weight", "down_bias": "down.bias", "up_bias": "up.bias"}
    for stack, part in model.rule.parts.items():
        values = f"generators.{stack}.values"
        for ours, theirs in {"gamma": "weight", "beta": "bias"}.items():
            weights[f"{values}.{ours}.0"] = torch.stack([tensors[f"{site}.norm.{theirs}"] for site in part.sites])
        for task in range(3):
            for ours, theirs in names.items():
                weights[f"{values}.{ours}.{task}"] = torch.stack([tensors[f"{site}.{task}.{theirs}"] for site in part.sites])
    return weights


def task_gradient(model: hl.AdaptedModel) -> torch.Tensor:
    return model.rule.task_embedding.weight.grad


def norm_gradient(model: hl.AdaptedModel) -> torch.Tensor:
    sites = [str(site) for site in model.rule.parts["encoder"].sites]
    return model.rule.generators["encoder"].of("gamma")[0].grad[sites.index("encoder.0.feedforward")]


WIDTHS = {"embedding_width": 8, "projector_width": 12}
CASES = {
    "hyperformer++": ({"task_width": 8} | WIDTHS, plus_plus, task_gradient, "grad_task_embedding"),
    "hyperformer": ({"task_width": 16} | WIDTHS, hyperformer, task_gradient, "grad_task_embedding"),
    "adapter-dagger": ({}, dagger, norm_gradient, "grad_norm_encoder.0.feedforward"),
}


@pytest.mark.rounding
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_reference_values(name: str, dtype: torch.dtype) -> None:
    options, mapping, gradient, expected = CASES[name]
    tensors, config = read(name)
    model = hl.adapt(golden_backbone(tensors, config, dtype), name, TASKS, reduction_factor=4, **options)
    fill(model, mapping(tensors, model))
    batch = {key: tensors[key] for key in ("input_ids", "attention_mask", "labels")}
    for number, task in enumerate(TASKS):
        model.zero_grad()
        result = model(**batch, task=task)
        result.loss.backward()
        close("logits", result.logits, tensors[f"out.logits.{number}"], TOLERANCE[dtype])
        close("loss", result.loss, tensors[f"out.loss.{number}"], TOLERANCE[dtype])
        close("gradient", gradient(model), tensors[f"out.{expected}.{number}"], TOLERANCE[dtype])
