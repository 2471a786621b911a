"""LoRA beside PEFT's own, what it keeps for the backward pass, and Hyperdecoder's updates of attention."""

import pytest
import torch
from conftest import BACKWARD, TASKS, awaken, batch_for, close, close_gradients, tiny_backbone, tiny_family

import hyperlab as hl
from hyperlab.bench.measuring import kept_bytes
from hyperlab.core.adapters import LoRA


@pytest.mark.rounding
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_loss_and_gradients_are_those_of_peft(dropout: float, batch: dict) -> None:
    peft = pytest.importorskip("peft", reason="peft is an extra, 'peers'")
    model = awaken(hl.adapt(tiny_family("llama"), "lora", TASKS, rank=3, alpha=5.0, dropout=dropout)).train()
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=3, lora_alpha=5.0, lora_dropout=dropout, target_modules=["q_proj", "v_proj"])
    theirs = peft.get_peft_model(tiny_family("llama"), config).train()
    names = {}
    for site, weights in model.weights("rte").items():
        _, layer, _, kind = site.split(".")
        for ours, own in (("down", "A"), ("up", "B")):
            names[site, ours] = f"base_model.model.model.layers.{layer}.self_attn.{kind}_proj.lora_{own}.default.weight"
            theirs.get_parameter(names[site, ours]).data.copy_(weights[ours])
    given, losses = batch_for(model.backbone, batch), []
    for run in (lambda: model(**given, task="rte").loss, lambda: theirs(**given).loss):
        torch.manual_seed(5)
        losses.append(run())
        losses[-1].backward()
    close("loss", losses[0], losses[1])
    rows = {str(s): (n, i) for n, part in model.rule.parts.items() for i, s in enumerate(part.sites)}
    task, generators = model.tasks.index("rte"), model.rule.generators
    found = {(s, w): generators[rows[s][0]].of(w)[task].grad[rows[s][1]] for s, w in names}
    close_gradients(found, {key: theirs.get_parameter(name).grad for key, name in names.items()}, BACKWARD)


@pytest.mark.rounding
@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3_text"])
def test_gated_feedforward_keeps_less_and_computes_the_same(family: str, batch: dict) -> None:
    model = awaken(hl.adapt(tiny_family(family), "hyper-lora", TASKS, rank=3)).train()
    given, found = batch_for(model.backbone, batch), []
    for _ in range(2):
        model.zero_grad()
        loss, kept = kept_bytes(lambda: model(**given, task="rte").loss, [*model.parameters(), *model.buffers()])
        loss.backward()
        found.append((loss, {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}, kept))
        model.active.lean.remove()
    close("loss", found[0][0], found[1][0])
    close_gradients(found[0][1], found[1][1])
    assert found[0][2] < 0.95 * found[1][2]


def test_bound_updates_generate_the_same(batch: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    model = awaken(hl.adapt(tiny_family("llama"), "hyper-lora", TASKS, rank=3)).eval()
    given = batch_for(model.backbone, batch)
    mixed = [TASKS[i % 3] for i in range(6)]
    with torch.no_grad():
        brief = [model(**given, task=task).logits for task in ("rte", mixed)]
        monkeypatch.setattr(LoRA, "bind", lambda self, weights: lambda x: self(x, weights))
        plain = [model(**given, task=task).logits for task in ("rte", mixed)]
    assert all(torch.equal(a, b) for a, b in zip(brief, plain, strict=True))


@pytest.mark.rounding
def test_hyperdecoder_writes_lora_for_each_input(batch: dict) -> None:
    options = {"adapter": "lora", "encoder_size": 2, "decoder_size": 3, "hypernetwork_width": 6}
    backbone = tiny_backbone()
    plain = backbone(**batch).logits
    model = hl.adapt(backbone, "hyperdecoder", TASKS, **options).eval()
    close("logits at the start, where B is zero", model(**batch, task="rte").logits, plain)
    assert {str(s).split(".")[-1] for part in model.rule.parts.values() for s in part.sites} == {"q", "v"}
    logits = awaken(model)(**batch, task="rte").logits
    other = model(**batch | {"input_ids": batch["input_ids"].roll(1, 0)}, task="rte").logits
    assert not torch.allclose(logits, plain, atol=1e-4) and not torch.allclose(logits, other, atol=1e-4)
    with pytest.raises(ValueError, match="the method 'hyper-lora'"):
        hl.adapt(tiny_backbone(), "hyperdecoder", TASKS, adapter="lora", decoder="task")
