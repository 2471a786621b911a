"""The values of tests/golden: what the reference implementations compute on a tiny T5."""

import json

import torch
from conftest import PROJECT
from safetensors import safe_open
from transformers import T5Config, T5ForConditionalGeneration

GOLDEN = PROJECT / "tests" / "golden"
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


def read(name: str) -> tuple[dict[str, torch.Tensor], dict]:
    "Tensors and backbone configuration of a golden file."
    with safe_open(GOLDEN / f"{name}.safetensors", "pt") as file:
        return {key: file.get_tensor(key) for key in list(file.keys())}, json.loads(file.metadata()["config"])


def golden_backbone(tensors: dict, config: dict, dtype: torch.dtype) -> T5ForConditionalGeneration:
    "The file's backbone."
    backbone = T5ForConditionalGeneration(T5Config(**config, dropout_rate=0.0, decoder_start_token_id=0))
    weights = {k.removeprefix("backbone."): v for k, v in tensors.items() if k.startswith("backbone.")}
    missing, unexpected = backbone.load_state_dict(weights, strict=False)
    tied = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"}
    assert set(missing) <= tied and not unexpected, (missing, unexpected)
    return backbone.to(dtype).eval()
