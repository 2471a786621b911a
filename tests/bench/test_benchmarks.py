"""Fast paths against plain ones, and the benchmark command from end to end."""

import json
from pathlib import Path

import pytest
import torch
from conftest import FORWARD, TASKS, awaken, close, close_gradients, tiny_backbone
from torch.utils._python_dispatch import TorchDispatchMode

import hyperlab as hl
from hyperlab.core import adapters, lean_autograd
from hyperlab.bench.__main__ import main
from hyperlab.bench.measuring import kept_bytes, step_memory
from hyperlab.bench.measuring import read_goals
from hyperlab.bench.contenders import training_step
from hyperlab.core.forward import label_positions

SMALL = {"reduction_factor": 8}
OPTIONS: dict = dict.fromkeys(("hyperformer++", "hyperformer", "adapter", "adapter-dagger"), SMALL) | {"full": {}, "bitfit": {}}


def trained(method: str, **changes: object) -> hl.AdaptedModel:
    model = hl.adapt(tiny_backbone(dropout_rate=0.1, **changes), method, TASKS, **OPTIONS[method])
    return awaken(model).train()


def loss_and_gradients(model: hl.AdaptedModel, batch: dict, **inputs: object) -> tuple[torch.Tensor, dict]:
    torch.manual_seed(7)
    model.zero_grad()
    loss = model(**batch, **inputs).loss
    loss.backward()
    return loss, {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.rounding
@pytest.mark.parametrize("mixed", [False, True], ids=["one task", "mixed"])
@pytest.mark.parametrize("method", OPTIONS)
def test_thrift_computes_the_same(method: str, mixed: bool, batch: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    model, task = trained(method), [TASKS[i % 3] for i in range(6)] if mixed else "rte"
    loss, gradients = loss_and_gradients(model, batch, task=task)
    # every module as it is, and the adapter as a chain of operations
    for module in (lean_autograd, adapters):
        monkeypatch.setattr(module, "keeps_for_backward", lambda *_: False)
    plain_loss, plain_gradients = loss_and_gradients(model, batch, task=task)
    assert torch.equal(loss, plain_loss)
    close_gradients(gradients, plain_gradients)


def test_thrift_keeps_less_and_goes_with_the_model(batch: dict) -> None:
    model = trained("hyperformer++")
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    run = lambda: model(**batch, task="rte").loss
    thrifty = step_memory(model, run, optimizer).kept
    model.active.lean.remove()
    assert thrifty < 0.8 * step_memory(model, run, optimizer).kept
    backbone = trained("adapter").detach()  # whose gains take over the same norms
    assert not any("forward" in vars(module) for module in backbone.modules())


@pytest.mark.rounding
def test_thrift_with_checkpointing_and_gated_feedforward(batch: dict) -> None:
    model = trained("hyperformer++", feed_forward_proj="gated-gelu")
    loss, gradients = loss_and_gradients(model, batch, task="rte")
    model.gradient_checkpointing_enable()
    again, checkpointed = loss_and_gradients(model, batch, task="rte")
    assert torch.equal(loss, again)
    close_gradients(checkpointed, gradients)


@pytest.mark.rounding
def test_kept_encodings_train_as_fresh_ones(batch: dict) -> None:
    plain, cached = (hl.adapt(tiny_backbone(), "hyperdecoder", TASKS, encoder="none", decoder_size=4).train() for _ in range(2))
    cached.rule.load_state_dict(awaken(plain).rule.state_dict())
    cached.cache_encoder()
    steps = []
    for model in (plain, cached):
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
        losses = []
        for _ in range(3):
            losses.append(model(**batch, task="rte").loss)
            losses[-1].backward()
            optimizer.step()
            optimizer.zero_grad()
        steps.append(torch.stack(losses))
    close("losses of three updates", steps[1], steps[0], 3 * FORWARD)  # each update may add its rounding
    assert cached.encodings is not None and len(cached.encodings.held) == 6


@pytest.mark.parametrize("method", ["hyperformer++", "adapter", "bitfit", "full"])
def test_methods_that_change_the_encoder_are_refused(method: str) -> None:
    with pytest.raises(ValueError, match="changes what the encoder computes"):
        trained(method).cache_encoder()


@pytest.mark.rounding
@pytest.mark.parametrize("method", ["hyperformer++", "intrinsic-said"])
def test_logits_at_label_positions_are_those_of_the_whole(method: str, batch: dict) -> None:
    options = SMALL if method == "hyperformer++" else {"dimension": 100}
    model = awaken(hl.adapt(tiny_backbone(), method, TASKS, **options)).eval()
    positions, labels = label_positions(batch["labels"]), batch.pop("labels")
    call = batch | {"decoder_input_ids": labels.clamp(min=0), "task": [TASKS[i % 3] for i in range(6)]}
    with torch.no_grad():
        whole, some = model(**call).logits, model(**call, positions=positions).logits
    assert len(some) == (labels != -100).sum() < labels.numel()
    close("logits", some, whole.flatten(0, 1)[positions])


def test_command_writes_table_rows_and_goals(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    sizes = ["--batch-size", "2", "--length", "8", "--rounds", "2"]
    main(["grid", *sizes, "--json", str(tmp_path / "grid.json"), "--plot", str(tmp_path / "grid.html")])
    record = json.loads((tmp_path / "grid.json").read_text())
    assert {"name", "ratio_full", "ratio_floor", "kept_bytes"} <= record["rows"][0].keys()
    assert "plain linear" in capsys.readouterr().out and (tmp_path / "grid.html").stat().st_size > 1000
    assert len(read_goals(tmp_path)) == 2


@pytest.mark.slow
def test_processes_are_pooled(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    main(["grid", "--batch-size", "2", "--length", "8", "--rounds", "2", "--processes", "2", "--json", str(tmp_path / "grid.json")])
    record = json.loads((tmp_path / "grid.json").read_text())
    assert record["processes"] == 2 and [row["name"] for row in record["rows"]] == ["plain linear", "gated linear"]
    assert record["goals"][0]["measured"] == pytest.approx(record["rows"][1]["ratio_full"])
    assert "in each of 2 processes" in capsys.readouterr().out


def test_unknown_peers_and_subjects_are_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'peft'"):
        main(["grid", "--peers", "pefft"])
    with pytest.raises(SystemExit):
        main(["stpe"])


def test_a_step_is_a_step() -> None:
    from hyperlab.bench.contenders import Workload

    model = trained("hyperformer++")
    before = [p.clone() for p in model.parameters() if p.requires_grad]
    training_step(model, Workload(2, 6, 3), task="rte")[2]()
    assert any(not torch.equal(a, b) for a, b in zip(before, (p for p in model.parameters() if p.requires_grad), strict=True))


@pytest.mark.rounding
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("method", ["hyperformer++", "full"])
def test_loss_at_label_positions_is_that_of_the_whole(method: str, smoothing: float, batch: dict) -> None:
    from hyperlab.training.update import batch_loss, with_positions

    model = trained(method)
    given = batch | {"task": [TASKS[i % 3] for i in range(6)], "attention_mask": torch.ones_like(batch["input_ids"])}
    assert len(with_positions(given)["positions"]) < batch["labels"].numel()
    found = []
    for part in (given, with_positions(given)):
        torch.manual_seed(7)
        loss = batch_loss(model, model, part, smoothing)
        parameters = [p for p in model.parameters() if p.requires_grad]
        found.append((loss, *(g for g in torch.autograd.grad(loss, parameters, allow_unused=True) if g is not None)))
    (whole, *gradients), (spared, *others) = found
    close("loss", spared, whole)
    close_gradients(dict(enumerate(others)), dict(enumerate(gradients)))


class Waits(TorchDispatchMode):
    """Notes operations whose result the CPU would have to wait for."""

    names = ("_local_scalar_dense", "nonzero", "equal", "masked_select", "unique")

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name.startswith(self.names):
            self.seen.append(name)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("method", ["hyperformer++", "hyperformer", "adapter", "adapter-dagger", "full"])
def test_a_step_waits_for_nothing(method: str, batch: dict) -> None:
    from hyperlab.training.update import batch_loss, with_positions

    model = trained(method)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], fused=True)
    given = batch | {"task": [TASKS[i % 3] for i in range(6)], "attention_mask": torch.ones_like(batch["input_ids"])}
    part = with_positions(given)
    with Waits() as waits:
        batch_loss(model, model, part).backward()
        optimizer.step()
    assert waits.seen == []
    with Waits() as waits:  # and would be noticed if it did
        batch_loss(model, model, given).item()
    assert waits.seen


@pytest.mark.rounding
def test_a_mask_that_masks_nothing_is_left_out_and_another_is_kept(batch: dict) -> None:
    from hyperlab.training.update import batch_loss, with_positions

    model = trained("hyperformer++").eval()
    given = batch | {"task": "rte", "attention_mask": torch.ones_like(batch["input_ids"])}
    short = given | {"attention_mask": given["attention_mask"].clone()}
    short["attention_mask"][0, -2:] = 0
    losses = [batch_loss(model, model, part) for part in (given, with_positions(given), short, with_positions(short))]
    assert with_positions(given)["attention_mask"] is None
    close("loss without a mask", losses[1], losses[0])
    close("loss with a mask", losses[3], losses[2])
    assert (losses[0] - losses[2]).abs() > 10 * FORWARD * losses[0].abs()  # the mask is seen


@pytest.mark.parametrize("checkpointed", [False, True], ids=["plain", "checkpointed"])
def test_weights_are_generated_once_in_a_step(checkpointed: bool, batch: dict) -> None:
    model, calls = trained("hyperformer++"), []
    if checkpointed:
        model.gradient_checkpointing_enable()
    for hypernetwork in model.rule.generators.values():
        hypernetwork.register_forward_hook(lambda *_: calls.append(1))
    model(**batch, task=[TASKS[i % 3] for i in range(6)]).loss.backward()
    assert len(calls) == len(model.rule.generators) == 2


def test_accumulation_generates_once_for_each_part(tmp_path: Path) -> None:
    model, calls = hl.adapt("nano", "hyperformer++", "nano-rte,nano-cola", reduction_factor=8), []
    for hypernetwork in model.rule.generators.values():
        hypernetwork.register_forward_hook(lambda *_: calls.append(torch.is_grad_enabled()))
    hl.train(model, steps=2, batch_size=8, accumulate=2, eval_every=2, eval_examples=4, run_dir=tmp_path, progress=False)
    assert sum(calls) == 2 * 2 * len(model.rule.generators)  # steps, parts, stacks


@pytest.mark.rounding
@pytest.mark.parametrize("method", ["hyperformer++", "adapter", "adapter-dagger"])
def test_sets_with_an_index_are_a_set_for_each_example(method: str, batch: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    model, mixed = trained(method), [TASKS[i % 3] for i in range(6)]
    once = loss_and_gradients(model, batch, task=mixed)
    kept = []
    for takes_index in (True, False):
        monkeypatch.setattr(adapters.Serial, "takes_index", takes_index)
        own = [*model.parameters(), *model.buffers()]
        kept.append(kept_bytes(lambda: model(**batch, task=mixed).loss, own)[1])
    each = loss_and_gradients(model, batch, task=mixed)
    assert torch.equal(once[0], each[0]) and kept[0] < kept[1]
    close_gradients(once[1], each[1])


@pytest.mark.parametrize("method", ["hyperformer++", "adapter-dagger"])  # not those whose gains stand on the norms
def test_bound_adapters_and_short_norms_generate_the_same(method: str, batch: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained(method).eval()
    call = batch | {"task": "rte"}
    with torch.no_grad():
        brief = model(**call).logits
        for kind in (adapters.Serial, adapters.Adapter):
            monkeypatch.setattr(kind, "bind", lambda self, weights: lambda x: self(x, weights))
        model.active.lean.remove()
        assert torch.equal(brief, model(**call).logits)


def test_other_weights_are_bound_anew(batch: dict) -> None:
    model = trained("hyperformer++").eval()
    ids = batch["input_ids"]
    with torch.no_grad():
        alone = {task: model(ids, labels=batch["labels"], task=task).logits for task in TASKS[:2]}
        for parameter in model.rule.parameters():
            parameter.mul_(1.5)
        again = model(ids, labels=batch["labels"], task=TASKS[0]).logits
    assert not torch.allclose(alone[TASKS[0]], alone[TASKS[1]]) and not torch.allclose(alone[TASKS[0]], again)
