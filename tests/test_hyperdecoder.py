"""The Hyperdecoder against the reference's values, and against slow formulas written down independently."""

import json
from itertools import product
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from transformers import T5Config, T5ForConditionalGeneration

import hyperlab as hl

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "hyperdecoder.safetensors"
SIZES = {"encoder_size": 4, "decoder_size": 3, "hypernetwork_width": 6}
SOURCES = ("manual", "task", "generated")


def golden_model(dtype: torch.dtype) -> tuple[hl.AdaptedModel, dict[str, torch.Tensor]]:
    "The reference's model with its weights, and the whole file."
    with safe_open(GOLDEN, "pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  it does not iterate
        config = T5Config(**json.loads(file.metadata()["config"]), dropout_rate=0.0, decoder_start_token_id=0)
    backbone = T5ForConditionalGeneration(config)
    unexpected = backbone.load_state_dict({k[9:]: v for k, v in tensors.items() if k.startswith("backbone.")}, strict=False)[1]
    assert not unexpected
    model = hl.adapt(backbone.to(dtype).eval(), "hyperdecoder", encoder_size=8, decoder_size=8, hypernetwork_width=6)
    state = model.rule.state_dict()
    weights = written(tensors, width=32, size=8)
    assert weights.keys() == state.keys(), weights.keys() ^ state.keys()
    model.rule.load_state_dict({k: v.to(dtype) for k, v in weights.items()})
    return model, tensors


def written(tensors: dict[str, torch.Tensor], width: int, size: int) -> dict[str, torch.Tensor]:
    "The file's weights under our names; its generated projections are the transposes of ours."
    weights = {}
    names = {"down": "down.weight", "up": "up.weight", "down_bias": "down.bias", "up_bias": "up.bias"}
    for ours, theirs in names.items():
        weights[f"generators.encoder.values.{ours}.0"] = torch.stack([tensors[f"encoder.{i}.{theirs}"] for i in range(3)])
    decoder = "generators.decoder"
    for kind in ("weight", "bias"):
        weights |= {f"{decoder}.mlp.{2 * i}.{kind}": tensors[f"mlp.{i}.{kind}"] for i in (0, 1)}
        weights[f"{decoder}.writer.hidden.{kind}"] = tensors[f"hidden.{kind}"]
    weights[f"{decoder}.writer.layer_embedding"] = tensors["layer_embedding"]
    shapes = {"down": (width, size), "up": (size, width), "down_bias": (size,), "up_bias": (width,)}
    for (head, shape), kind in product(shapes.items(), ("weight", "bias")):
        value = tensors[f"{head}.{kind}"].unflatten(0, shape)
        value = (value.transpose(0, 1) if len(shape) == 2 else value).reshape(tensors[f"{head}.{kind}"].shape)
        weights[f"{decoder}.writer.heads.{kind}.{head}"] = value.unsqueeze(0)
    return weights


@pytest.mark.skipif(not GOLDEN.is_file(), reason=f"no golden values at {GOLDEN}")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=str)
def test_reference_values(dtype: torch.dtype, tolerance: float) -> None:
    model, tensors = golden_model(dtype)
    batch = {key: tensors[key] for key in ("input_ids", "attention_mask", "labels")}
    close = {"atol": tolerance, "rtol": tolerance, "check_dtype": False}
    condition = model.read(None, dict(batch))
    result = model(**batch)
    result.loss.backward()
    decoder = model.rule.generators["decoder"]
    torch.testing.assert_close(decoder.embed(condition).double(), tensors["out.embedding"], **close)
    torch.testing.assert_close(result.logits.double(), tensors["out.logits"], **close)
    torch.testing.assert_close(result.loss.double(), tensors["out.loss"], **close)
    torch.testing.assert_close(decoder.mlp[0].weight.grad.double(), tensors["out.grad_mlp.0.weight"], **close)
