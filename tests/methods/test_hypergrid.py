"""HyperGrid through the public interface: formulas, decoding, memory and what is trained."""

from itertools import product

import pytest
import torch
from conftest import BACKWARD64, FORWARD64, SEED, TASKS, awaken, close, close_gradients, fell, tiny_backbone
from transformers import T5ForConditionalGeneration

import hyperlab as hl
from hyperlab.methods.hypergrid import LOCAL

GRID = {"rows": 8, "columns": 4, "train": "gates"}


def slow_gate(weights: dict[str, torch.Tensor], seen: torch.Tensor, offset: float) -> torch.Tensor:
    "Eq. 2-5 for one example: the multiplier of every weight, (I, O) of the tiny backbone's output projection."
    one = torch.ones(1, dtype=seen.dtype)
    u = weights["local_rows"] @ seen if "local_rows" in weights else weights.get("global_rows", one)
    v = weights["local_columns"] @ seen if "local_columns" in weights else weights.get("global_columns", one)
    gate = offset + torch.sigmoid(torch.outer(u, v))
    return torch.kron(gate, torch.ones(96 // gate.shape[0], 48 // gate.shape[1], dtype=seen.dtype))


def slow_logits(model: hl.AdaptedModel, batch: dict[str, torch.Tensor], gate_input: str, pooling: str) -> torch.Tensor:
    "One example at a time without its padding, with a weight matrix of its own in every layer."
    plain = T5ForConditionalGeneration(model.config).double().eval()
    plain.load_state_dict(model.backbone.state_dict())
    offset, by_site = model.rule.parts["encoder"].adapter.offset, model.weights("rte")
    pools = {"first": lambda x: x[0], "mean": lambda x: x.mean(0), "sum": lambda x: x.sum(0)}

    def feedforward(site: str, module: torch.nn.Module) -> object:
        pool = pools[pooling if site.startswith("encoder") else "first"]

        def function(x: torch.Tensor) -> torch.Tensor:
            hidden = torch.relu(x[0] @ module.wi.weight.detach().T)
            multiplier = slow_gate(by_site[site], pool(x[0] if gate_input == "d_model" else hidden), offset)
            return (hidden @ (multiplier * module.wo.weight.detach().T))[None]

        return function

    functions = {}
    for stack, layer in product(("encoder", "decoder"), range(2)):
        module = getattr(plain, stack).block[layer].layer[-1].DenseReluDense
        functions[f"{stack}.{layer}.feedforward"] = feedforward(f"{stack}.{layer}.feedforward.wo", module)
    rows = []
    with hl.core.attach(plain, functions, "instead"):
        for i, mask in enumerate(batch["attention_mask"].bool()):
            rows.append(plain(input_ids=batch["input_ids"][i][mask][None], labels=batch["labels"][i : i + 1]).logits)
    return torch.cat(rows)


CASES = [{"variant": v, "gate_input": g} for v, g in product(LOCAL, ("d_model", "d_ff"))]
CASES += [{"pooling": "mean"}, {"pooling": "sum"}, {"paper_start": True}, {"variant": "OutGate", "rows": None, "paper_start": True}]


@pytest.mark.rounding
@pytest.mark.parametrize("options", CASES, ids=lambda o: "-".join(str(v) for v in o.values()))
def test_slow_formulas_and_their_gradients(options: dict, batch: dict) -> None:
    model = awaken(hl.adapt(tiny_backbone().double(), "hypergrid", TASKS, **(GRID | options))).eval()
    batch["labels"] = batch["labels"].clamp(min=2)
    fast = model(**batch, task="rte").logits
    slow = slow_logits(model, batch, options.get("gate_input", "d_model"), options.get("pooling", "first"))
    close("logits", fast, slow, FORWARD64)
    names, parameters = zip(*model.rule.named_parameters(), strict=True)
    gradients = [torch.autograd.grad(y.sin().sum(), parameters) for y in (fast, slow)]
    close_gradients(*(dict(zip(names, found, strict=True)) for found in gradients), BACKWARD64)


@pytest.mark.parametrize("pooling", ["first", "mean", "sum"])
@pytest.mark.parametrize("variant", LOCAL)
def test_beams_and_cache_agree_with_one_at_a_time(variant: str, pooling: str, batch: dict) -> None:
    choice = GRID | {"variant": variant, "pooling": pooling, "global_part": "task"}
    model = awaken(hl.adapt(tiny_backbone(), "hypergrid", TASKS, **choice))
    ids, tasks = batch["input_ids"], ["rte", "cola", "rte", "sst2", "cola", "rte"]
    options = {"max_new_tokens": 6, "min_new_tokens": 6, "num_beams": 3}
    together = model.eval().generate(ids, task=tasks, **options)
    assert torch.equal(together, model.generate(ids, task=tasks, use_cache=False, **options))
    for i, (row, task) in enumerate(zip(ids, tasks, strict=True)):
        assert torch.equal(together[i], model.generate(row[row != 0][None], task=task, **options)[0])


@pytest.mark.margins
def test_starts_at_the_pretrained_function_and_learns_from_there(batch: dict) -> None:
    plain = tiny_backbone()(**batch).logits
    for variant in LOCAL:
        torch.manual_seed(SEED)
        model = hl.adapt(tiny_backbone(), "hypergrid", TASKS, **(GRID | {"variant": variant})).train()
        close("logits at the start", model(**batch, task="rte").logits, plain)
        optimizer = torch.optim.AdamW(model.rule.parameters(), lr=1e-2)
        losses = []
        for _ in range(20):
            loss = model(**batch, task="rte").loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        fell(f"loss of {variant}", losses[0], losses[-1], 0.02)
        assert all(p.abs().sum() > 0 for p in model.rule.parameters())  # no factor stays at zero


def test_frozen_backbone_comes_back_and_the_papers_choice_trains_all_but_embeddings(batch: dict) -> None:
    backbone = tiny_backbone()
    before = backbone(**batch).logits
    model = awaken(hl.adapt(backbone, "hypergrid", TASKS, **GRID))
    assert {n.split(".")[0] for n, p in model.named_parameters() if p.requires_grad} == {"rule"}
    assert torch.equal(model.detach()(**batch).logits, before)
    whole = hl.adapt(tiny_backbone(), "hypergrid", TASKS, rows=8, columns=4)
    frozen = {n for n, p in whole.backbone.named_parameters() if not p.requires_grad}
    assert frozen == {"shared.weight"}


def test_a_continued_answer_is_refused(batch: dict) -> None:
    model = hl.adapt(tiny_backbone(), "hypergrid", TASKS, **GRID)
    past = model(**batch, task="rte", use_cache=True).past_key_values
    with pytest.raises(ValueError, match="first token of an answer"):
        model(input_ids=batch["input_ids"], decoder_input_ids=batch["labels"][:, :1].clamp(min=0), past_key_values=past, task="rte")
