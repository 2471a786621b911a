"""Compacter and the methods it is compared with: golden values, counts of the paper's tables, and what crosses chapters."""

from pathlib import Path

import pytest
import torch
from conftest import TASKS, awaken, close, close_gradients, tiny_backbone
from golden_values import TOLERANCE, golden_backbone, read

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


@pytest.mark.rounding
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
    close("logits", result.logits, tensors["out.logits"], TOLERANCE[dtype])
    close("loss", result.loss, tensors["out.loss"], TOLERANCE[dtype])
    close("gradient", model.rule.algebra.of("rule")[0].grad[0], tensors["out.grad_rule"], TOLERANCE[dtype])


MINE = {
    "phm-adapter": {"reduction_factor": 8, "n": 2},
    "compacter": {"reduction_factor": 8, "n": 2},
    "compacter++": {"reduction_factor": 8, "n": 2},
    "pfeiffer": {"reduction_factor": 8},
    "adapterdrop": {"reduction_factor": 8},
    "adapter-lowrank": {"reduction_factor": 4},
    "bitfit": {},
    "prompt-tuning": {"length": 5},
    "intrinsic-said": {"dimension": 200},
}
TUNES_OUTPUT = [name for name in MINE if name not in ("prompt-tuning", "intrinsic-said")]
TASK_OF_EXAMPLE = ["rte", "cola", "rte", "sst2", "cola", "rte"]


@pytest.mark.rounding
@pytest.mark.parametrize("name", TUNES_OUTPUT)
def test_a_tuned_output_layer_is_its_own_and_travels_along(name: str, batch: dict, tmp_path: Path) -> None:
    backbone = tiny_backbone()
    model = awaken(hl.adapt(backbone, name, TASKS, train_output=True, **MINE[name])).eval()
    assert backbone.lm_head.weight is not backbone.shared.weight
    assert backbone.lm_head.weight.requires_grad and not backbone.shared.weight.requires_grad
    count = hl.cost(model).count
    assert count.trained == sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert count.backbone == sum(p.numel() for p in tiny_backbone().parameters())
    with torch.no_grad():
        logits = model(**batch, task=TASK_OF_EXAMPLE).logits
        loaded = hl.load(model.save(tmp_path / "saved"), backbone=tiny_backbone())
        assert torch.equal(loaded(**batch, task=TASK_OF_EXAMPLE).logits, logits)
        static = model.materialize("rte")
        close("static logits", static(**batch).logits, model(**batch, task="rte").logits)
    model.detach()
    assert backbone.lm_head.weight is backbone.shared.weight
    with torch.no_grad():
        assert torch.equal(backbone(**batch).logits, tiny_backbone()(**batch).logits)


@pytest.mark.rounding
@pytest.mark.parametrize("name", MINE)
def test_gated_blocks_and_an_untied_output_layer(name: str, batch: dict) -> None:
    backbone = tiny_backbone(feed_forward_proj="gated-gelu", tie_word_embeddings=False, num_layers=3, num_decoder_layers=2)
    backbone.lm_head.weight = torch.nn.Parameter(torch.randn_like(backbone.lm_head.weight))
    model = awaken(hl.adapt(backbone, name, TASKS, **MINE[name])).eval()
    with torch.no_grad():
        mixed = model(**batch, task=TASK_OF_EXAMPLE).logits
        alone = [model(**{k: v[i : i + 1] for k, v in batch.items()}, task=t).logits for i, t in enumerate(TASK_OF_EXAMPLE)]
    close("logits", mixed, torch.cat(alone))
    tokens = model.generate(batch["input_ids"], attention_mask=batch["attention_mask"], task=TASK_OF_EXAMPLE, max_new_tokens=4)
    assert tokens.shape[0] == 6


@pytest.mark.rounding
@pytest.mark.parametrize("options", [{"rule_tasks": "shared"}, {"rank": 3}, {"layers": (1,)}, {"share_rule": False}], ids=str)
def test_both_products_give_the_same_model(options: dict, batch: dict) -> None:
    results = {}
    for product in ("built", "factored"):
        torch.manual_seed(0)
        model = awaken(hl.adapt(tiny_backbone(), "compacter", TASKS, product=product, **MINE["compacter"], **options)).eval()
        result = model(**batch, task=TASK_OF_EXAMPLE)
        result.loss.backward()
        gradients = {key: p.grad for key, p in model.named_parameters() if p.requires_grad}
        results[product] = (result.logits.detach(), gradients)
    close("logits", results["built"][0], results["factored"][0])
    close_gradients(results["built"][1], results["factored"][1])


def test_a_fixed_rule_stays_fixed_for_a_new_task() -> None:
    model = hl.adapt(tiny_backbone(), "compacter", TASKS, learn_rule=False, rule_std=0.5, **MINE["compacter"])
    model.add_task("new", like="rte")
    rules = list(model.rule.algebra.of("rule"))
    assert len(rules) == 4
    assert not any(rule.requires_grad for rule in rules)


def test_a_prompt_starts_from_the_pretrained_vocabulary() -> None:
    backbone = tiny_backbone()
    rows = backbone.shared.weight[:7].detach().clone()
    model = hl.adapt(backbone, "prompt-tuning", TASKS, length=7, init="vocabulary")
    for task in TASKS:
        assert torch.equal(model.weights(task)["encoder.input"]["prompt"], rows)


@pytest.mark.parametrize("block", ["subspace", "tensor"])
def test_projections_come_from_the_seed_and_are_never_saved(block: str, batch: dict, tmp_path: Path) -> None:
    options = {"dimension": 200, "block": block}
    model = awaken(hl.adapt(tiny_backbone(), "intrinsic-said", TASKS, **options)).eval()
    assert sum(t.numel() for t in model.trained_tensors().values()) == 200 * len(TASKS)
    with torch.no_grad():
        logits = model(**batch, task="rte").logits
        loaded = hl.load(model.save(tmp_path / "saved"), backbone=tiny_backbone())
        assert torch.equal(loaded(**batch, task="rte").logits, logits)
        other = awaken(hl.adapt(tiny_backbone(), "intrinsic-said", TASKS, seed=1, **options)).eval()
        assert not torch.allclose(other(**batch, task="rte").logits, logits)


def test_no_tensor_of_a_subspace_step_is_larger_than_the_largest_weight(batch: dict) -> None:
    model = awaken(hl.adapt(tiny_backbone(), "intrinsic-said", TASKS, dimension=200))
    kept: list[int] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
        model(**batch, task="rte").loss.backward()
    largest = max(p.numel() for p in model.backbone.parameters())
    buffers = [b.numel() for b in model.rule.buffers()]
    assert max(kept) <= max(largest, batch["input_ids"].numel() * 96)
    assert max(buffers) < 2 * largest < largest * 200
