"""What the tests share: a tiny backbone, a padded batch, models whose rules are away from their start, and margins."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, PreTrainedModel
from transformers import T5Config, T5ForConditionalGeneration

torch.set_num_threads(int(os.environ.get("HYPERLAB_TEST_THREADS", "1")))  # tiny products; a second thread gets in the way
torch.backends.mkldnn.enabled = os.environ.get("HYPERLAB_TEST_ONEDNN", "1") == "1"

PROJECT = Path(__file__).resolve().parents[1]
TASKS = ["cola", "rte", "sst2"]
# Options that make a method fit the tiny backbone; a method that is not named here is tested with its defaults.
SMALL = {
    "adapter": {"reduction_factor": 8},
    "adapter-dagger": {"reduction_factor": 8},
    "hyperformer": {"reduction_factor": 8, "task_width": 12, "embedding_width": 8, "projector_width": 16},
    "hyperformer++": {"reduction_factor": 8, "task_width": 12, "embedding_width": 8, "projector_width": 16},
    "hyperformer-released": {"reduction_factor": 8, "task_width": 12, "embedding_width": 8, "projector_width": 16},
    "hyperdecoder": {"encoder_size": 4, "decoder_size": 3, "hypernetwork_width": 6},
    "parallel-adapter": {"encoder_size": 4, "decoder_size": 3},
    "task-hypernet": {"encoder_size": 4, "decoder_size": 3, "hypernetwork_width": 6},
    "polytropon": {"skills": 3, "rank": 2},
    "hypergrid": {"rows": 8, "columns": 4, "global_part": "task"},
    "phm-adapter": {"reduction_factor": 8, "n": 2},
    "compacter": {"reduction_factor": 8, "n": 2},
    "compacter++": {"reduction_factor": 8, "n": 2},
    "pfeiffer": {"reduction_factor": 8},
    "adapterdrop": {"reduction_factor": 8},
    "adapter-lowrank": {"reduction_factor": 4},
    "prompt-tuning": {"length": 5},
    "intrinsic-said": {"dimension": 200},
    "lora": {"rank": 3, "alpha": 3.0, "projections": ["q", "v", "down"]},
    "lora-shared": {"rank": 3, "alpha": 3.0},
    "hyper-lora": {"rank": 3, "alpha": 3.0, "task_width": 12, "embedding_width": 8, "projector_width": 16},
}


def tiny_config(**changes: object) -> T5Config:
    shape = {"vocab_size": 96, "d_model": 48, "d_kv": 8, "d_ff": 96, "num_layers": 2, "num_heads": 4}
    return T5Config(**(shape | {"dropout_rate": 0.0, "decoder_start_token_id": 0} | changes))


def tiny_backbone(**changes: object) -> T5ForConditionalGeneration:
    "The same random weights each time."
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return T5ForConditionalGeneration(tiny_config(**changes)).eval()


# Tiny members of the other families; several queries share a key and a value wherever a family can do that.
TWO_STACKS = {"d_model": 48, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "dropout": 0.0,
              "encoder_attention_heads": 4, "decoder_attention_heads": 4, "forced_eos_token_id": None}
ONE_STACK = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
OTHER_FAMILIES = {
    "bart": TWO_STACKS,
    "mbart": TWO_STACKS,
    "llama": ONE_STACK,
    "qwen2": ONE_STACK,
    "qwen3": ONE_STACK | {"head_dim": 8},
    "gemma3_text": ONE_STACK | {"head_dim": 16, "sliding_window": 4},
    "gpt2": {"n_embd": 48, "n_layer": 2, "n_head": 4, "n_inner": 96, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0},
}


T5_LIKE = {"d_model": 48, "d_kv": 8, "d_ff": 96, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.0}
NEAR_FAMILIES = {"mt5": T5_LIKE, "umt5": T5_LIKE}  # their row of the table is T5's


def tiny_family(name: str) -> PreTrainedModel:
    "A tiny backbone of a family, with the same random weights each time."
    ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1, "decoder_start_token_id": 1}
    shape = (OTHER_FAMILIES | NEAR_FAMILIES)[name]
    options = shape | {k: v for k, v in ends.items() if "d_model" in shape or "start" not in k}
    config = AutoConfig.for_model(name, vocab_size=96, max_position_embeddings=64, **options)
    kind = AutoModelForSeq2SeqLM if "d_model" in options else AutoModelForCausalLM
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = kind.from_config(config).eval()
        # further from zero than a start for pretraining, so that every place tells
        for parameter in model.parameters() if name in OTHER_FAMILIES else ():
            noise = torch.randn_like(parameter)
            parameter.data.copy_(0.25 * noise if parameter.dim() > 1 else parameter + 0.1 * noise)
        return model


def awaken(model: torch.nn.Module) -> torch.nn.Module:
    "Move what is trained away from its start, where many methods are the identity and nothing could be told apart."
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(1)
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model


# A test that trains, or that compares sums of different orders, asks for `value < bound` through margin() or close().
# `make margins` repeats those that train for other seeds and those that compare under other arithmetic, and shows how much
# of each bound is left
SEED = int(os.environ.get("HYPERLAB_TEST_SEED", "0"))
Gradients = dict[str, torch.Tensor]


def margin(what: str, value: float, bound: float) -> None:
    "Assert that a value is below its bound, and note the share of the bound that is left."
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0].removeprefix("tests/")
    if notes := os.environ.get("HYPERLAB_MARGINS"):
        with Path(notes).open("a") as file:
            file.write(json.dumps({"test": test, "what": what, "value": float(value), "bound": float(bound)}) + "\n")
    assert value < bound, f"{what}: expected less than {bound:.3g}, received {value:.3g}"


# Bounds of comparisons, as shares of the largest value. Adding up n numbers in another order changes the sum by about
# sqrt(n) roundings, and a pass through the tiny backbone is a chain of some 30 products of up to 96 terms: their roundings
# add up to sqrt(30 × 96) = 54. A gradient takes three passes: forward, to the inputs and to the weights
EPS, EPS64 = 2**-23, 2**-52
FORWARD, BACKWARD = 54 * EPS, 3 * 54 * EPS
FORWARD64, BACKWARD64 = 54 * EPS64, 3 * 54 * EPS64


def fell(what: str, first: float, last: float, least: float) -> None:
    "Assert that a loss fell by more than a share of its start; half of the margin is left where it fell by twice as much."
    fall = 1 - last / first
    margin(f"{what}: {least:.0%}, as a share of its fall", least / fall if fall > 0 else float("inf"), 1)


def close(what: str, found: torch.Tensor, expected: torch.Tensor, bound: float = FORWARD) -> None:
    "Assert that two tensors differ by less than a share of their scale, the largest absolute value that is expected."
    assert found.shape == expected.shape, f"{what}: {found.shape} and {expected.shape}"
    found, expected = found.detach().double(), expected.detach().double()
    scale = float(expected.abs().max()) or 1.0
    difference = float((found - expected).abs().max())
    margin(what, difference / scale if difference == difference else float("inf"), bound)


def close_gradients(found: Gradients, expected: Gradients, bound: float = BACKWARD) -> None:
    "The same for gradients by name; a tensor's scale is at least a thousandth of the largest of all, below which it is noise."
    assert found.keys() == expected.keys() and found, found.keys() ^ expected.keys()
    least = 1e-3 * max(float(value.abs().max()) for value in expected.values())
    share = {k: float((found[k] - e).abs().max()) / max(least, float(e.abs().max())) for k, e in expected.items()}
    furthest = max(share, key=lambda name: share[name])
    assert all(value == value for value in share.values()), f"NaN in the gradients: {share}"
    margin("gradients", share[furthest], bound)


# Files that take longest; both workers start with them, so that neither waits for the other at the end
LONGEST = ["browser", "analysis", "distributed", "trainer", "learning", "docs_numbers", "train_workbook", "sweep"]
LONGEST += ["every_method", "hub_errors", "faults"]


@pytest.fixture(autouse=True)
def same_start() -> None:
    "Models start from the same random numbers whichever tests ran before."
    torch.manual_seed(0)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: browsers, several processes, papermill, long trainings; not in make test FAST=1")
    config.addinivalue_line("markers", "margins: trains; repeated for other seeds by make margins")
    config.addinivalue_line("markers", "rounding: compares rounded sums; repeated under other arithmetic by make margins")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    "A file's tests stay together, because they share what they trained; notebooks go one by one, after the longest files."

    def place(item: pytest.Item) -> int:
        name = item.path.stem.removeprefix("test_")
        return LONGEST.index(name) if name in LONGEST else len(LONGEST) + (name != "notebooks")

    items.sort(key=place)
    for item in items:
        if item.path.stem != "test_notebooks":
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    "A browser for the tests of one file."
    from served_pages import chromium

    with chromium() as started:
        yield started


@pytest.fixture
def batch() -> dict[str, torch.Tensor]:
    "Six examples, two of them padded."
    generator = torch.Generator().manual_seed(2)
    ids = torch.randint(2, 96, (6, 9), generator=generator)
    mask = torch.ones_like(ids)
    for row, length in ((1, 5), (4, 3)):
        ids[row, length:], mask[row, length:] = 0, 0
    labels = torch.randint(2, 96, (6, 4), generator=generator)
    labels[2, 2:] = -100
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def batch_for(backbone: PreTrainedModel, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    "The batch as this backbone reads it; a decoder alone gets prompt and answer as one text, with labels for the answer."
    if hasattr(backbone.config, "encoder_layers") or hasattr(backbone.config, "num_decoder_layers"):
        return batch
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    labels[:, :2] = -100
    return {**batch, "labels": labels}
