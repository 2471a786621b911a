"""Compacter and the methods it is compared with: golden values, counts of the paper's tables, and what crosses rooms."""

import pytest
import torch
from test_golden import GOLDEN, TOLERANCE, golden_backbone, read

import hyperlab as hl


def compacter_weights(tensors: dict, model: hl.AdaptedModel) -> dict[str, torch.Tensor]:
    "The golden file's factors under our names."
    weights = {"algebra.values.rule.0": tensors["rule"].unsqueeze(0)}
    for stack, part in model.rule.parts.items():
        for projection in ("down", "up"):
            for factor in ("left", "right", "bias"):
                rows = [tensors[f"{site}.{projection}.{factor}"] for site in part.sites]
                weights[f"generators.{stack}.table.values.{projection}_{factor}.0"] = torch.stack(rows)
    return weights


@pytest.mark.skipif(not GOLDEN.is_dir(), reason=f"no golden values at {GOLDEN}")
@pytest.mark.parametrize("product", ["built", "factored"])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_reference_values(dtype: torch.dtype, product: str) -> None:
    tensors, config = read("compacter")
    model = hl.adapt(golden_backbone(tensors, config, dtype), "compacter", reduction_factor=4, n=4, product=product)
    weights = compacter_weights(tensors, model)
    state = model.rule.state_dict()
    assert weights.keys() == state.keys()
    model.rule.load_state_dict({name: weight.to(dtype) for name, weight in weights.items()})
    result = model(**{key: tensors[key] for key in ("input_ids", "attention_mask", "labels")})
    result.loss.backward()
    close = {"atol": TOLERANCE[dtype], "rtol": TOLERANCE[dtype], "check_dtype": False}
    torch.testing.assert_close(result.logits.double(), tensors["out.logits"], **close)
    torch.testing.assert_close(result.loss.double(), tensors["out.loss"], **close)
    torch.testing.assert_close(model.rule.algebra.of("rule")[0].grad[0].double(), tensors["out.grad_rule"], **close)
