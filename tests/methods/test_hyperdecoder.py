"""The Hyperdecoder against the reference's values, and against slow formulas written down independently."""

from itertools import product

import pytest
import torch
from conftest import BACKWARD64, FORWARD64, TASKS, awaken, close, close_gradients, tiny_backbone
from golden_values import TOLERANCE, golden_backbone, read
from transformers import T5ForConditionalGeneration

import hyperlab as hl
from hyperlab.analysis.probes import instance_embeddings
from hyperlab.training.recipes import model_recipe
from hyperlab.training.update import parameter_groups

SIZES = {"encoder_size": 4, "decoder_size": 3, "hypernetwork_width": 6}
SOURCES = ("manual", "task", "generated")


def golden_model(dtype: torch.dtype) -> tuple[hl.AdaptedModel, dict[str, torch.Tensor]]:
    "The reference's model with its weights, and the whole file."
    tensors, config = read("hyperdecoder")
    backbone = golden_backbone(tensors, config, dtype)
    model = hl.adapt(backbone, "hyperdecoder", encoder_size=8, decoder_size=8, hypernetwork_width=6)
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


@pytest.mark.rounding
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_reference_values(dtype: torch.dtype) -> None:
    model, tensors = golden_model(dtype)
    batch = {key: tensors[key] for key in ("input_ids", "attention_mask", "labels")}
    condition = model.encode(batch).condition
    result = model(**batch)
    result.loss.backward()
    decoder = model.rule.generators["decoder"]
    close("embedding", decoder.embed_input(condition), tensors["out.embedding"], TOLERANCE[dtype])
    close("logits", result.logits, tensors["out.logits"], TOLERANCE[dtype])
    close("loss", result.loss, tensors["out.loss"], TOLERANCE[dtype])
    close("gradient", decoder.mlp[0].weight.grad, tensors["out.grad_mlp.0.weight"], TOLERANCE[dtype])


def slow_adapter(x: torch.Tensor, weights: dict[str, torch.Tensor]) -> torch.Tensor:
    "Eq. 1 for one example, (L, H) → (L, H)."
    return torch.relu(x @ weights["down"].T + weights["down_bias"]) @ weights["up"].T + weights["up_bias"]


def slow_written(writer: torch.nn.Module, embedding: torch.Tensor, layer: int) -> dict[str, torch.Tensor]:
    "Eq. 3-7 for one input and one layer."
    hidden = torch.relu(writer.hidden(torch.cat([embedding, writer.layer_embedding[layer]])))
    shapes = writer.heads.shapes
    return {n: (writer.heads.weight[n][0] @ hidden + writer.heads.bias[n][0]).view(shapes[n]) for n in shapes}


def slow_stack(generator: torch.nn.Module, stack: str, example: int, task: int, summary: torch.Tensor | None) -> dict:
    "Functions for the blocks of a stack, for one example."
    functions = {}
    for layer in range(2):
        table = getattr(generator, "first", None) if summary is None else None
        table = generator if hasattr(generator, "of") else table
        if table is not None:
            weights = {name: table.of(name)[0][layer] for name in table.names}
        elif hasattr(generator, "task_embedding"):
            weights = slow_written(generator.writer, generator.task_embedding.weight[task], layer)
        else:
            weights = slow_written(generator.writer, generator.mlp(summary), layer)
        functions[f"{stack}.{layer}.feedforward"] = lambda x, w=weights: slow_adapter(x, w)
    return functions


def slow_logits(model: hl.AdaptedModel, batch: dict[str, torch.Tensor], tasks: list[int], how: str) -> torch.Tensor:
    "One example at a time, without its padding, on a backbone of the same weights."
    generators, rows = model.rule.generators, []
    plain = T5ForConditionalGeneration(model.config).double().eval()
    plain.load_state_dict(model.backbone.state_dict())
    plain.requires_grad_(False)
    for i, task in enumerate(tasks):
        ids = batch["input_ids"][i][batch["attention_mask"][i].bool()][None]
        summary = None
        for _ in range(2 if model.method.encoder == "generated" else 1):
            with hl.core.attach(plain, slow_stack(generators["encoder"], "encoder", i, task, summary), how):
                encoded = plain.encoder(input_ids=ids)
            summary = encoded[0][0].mean(0)
        with hl.core.attach(plain, slow_stack(generators["decoder"], "decoder", i, task, summary), how):
            rows.append(plain(encoder_outputs=encoded, labels=batch["labels"][i : i + 1]).logits)
    return torch.cat(rows)


GRID = [{"encoder": e, "decoder": d} for e, d in product(SOURCES, SOURCES)] + [{"mlp": False}, {"norm_input": True}]


@pytest.mark.rounding
@pytest.mark.parametrize("options", GRID, ids=lambda o: "-".join(str(v) for v in o.values()))
def test_slow_formulas_and_their_gradients(options: dict, batch: dict) -> None:
    model = awaken(hl.adapt(tiny_backbone().double(), "hyperdecoder", TASKS, **SIZES, **options)).eval()
    numbers = [0, 1, 2, 1, 0, 2]
    batch["labels"] = batch["labels"].clamp(min=2)
    fast = model(**batch, task=[TASKS[n] for n in numbers]).logits
    slow = slow_logits(model, batch, numbers, "beside_norm" if options.get("norm_input") else "beside")
    close("logits", fast, slow, FORWARD64)
    names, parameters = zip(*model.rule.named_parameters(), strict=True)
    gradients = [torch.autograd.grad(y.sin().sum(), parameters) for y in (fast, slow)]
    close_gradients(*(dict(zip(names, found, strict=True)) for found in gradients), BACKWARD64)


def test_network_runs_once_per_input_in_generate(batch: dict) -> None:
    model = awaken(hl.adapt(tiny_backbone(), "hyperdecoder", TASKS, encoder="generated", **SIZES)).eval()
    rows: list[int] = []
    for stack in ("encoder", "decoder"):
        model.rule.generators[stack].writer.register_forward_pre_hook(lambda _, args: rows.append(len(args[0])))
    model.generate(batch["input_ids"], task="rte", num_beams=4, max_new_tokens=6)
    assert rows == [6, 6]  # once for each stack, with one row per example and not per beam


@pytest.mark.rounding
def test_padding_does_not_change_the_embedding(batch: dict) -> None:
    model = awaken(hl.adapt(tiny_backbone(), "hyperdecoder", TASKS, **SIZES)).eval()
    together = instance_embeddings(model, batch["input_ids"], batch["attention_mask"], "rte")
    for i, row in enumerate(batch["input_ids"]):
        alone = instance_embeddings(model, row[batch["attention_mask"][i].bool()][None], None, "rte")
        close("embedding", together[i : i + 1], alone)


def test_polytropon_learns_its_routing_faster() -> None:
    model = hl.adapt(tiny_backbone(), "polytropon", TASKS, skills=3, rank=2)
    groups = parameter_groups(model, 3e-4, model_recipe(model, "paper").rates)
    assert [(g["names"], g["rate"]) for g in groups if g["rate"] != 3e-4] == [(["rule.routing.weight"], 1e-2)]
