"""Looking inside models of every method, of one task and of two hundred, and at a hundred thousand points."""

import json

import numpy as np
import pytest
import torch
from conftest import SMALL, TASKS, awaken, tiny_backbone

import hyperlab as hl
from hyperlab.analysis.task_vectors import PROJECTIONS, Where, project, representations, task_points
from hyperlab.analysis.adapter_weights import site_norms, unit_activations, weights_of
from hyperlab.analysis.interpolation import mixes_tasks
from hyperlab.analysis.probes import Instances
from hyperlab.analysis.similarity import cluster_tasks, cosines, family_purity, nearest_tasks
from hyperlab.nano.toy import toy_tokenizer


def made(method: str, tasks: list[str] | None = None) -> hl.AdaptedModel:
    return awaken(hl.adapt(tiny_backbone(), method, tasks or TASKS, tokenizer=toy_tokenizer(), **SMALL.get(method, {}))).eval()


@pytest.mark.parametrize("method", hl.available_methods())
def test_every_method_can_be_looked_at_or_says_why_not(method: str) -> None:
    model = made(method)
    known = representations(model)
    for what in known:
        points = task_points(model, what)
        assert points.names == tuple(TASKS) and np.isfinite(points.values).all()
        assert project(points.values).coordinates.shape == (3, 2)
    if not known:
        with pytest.raises(ValueError, match="nothing by task"):
            task_points(model)
    weights = weights_of(model, "rte", "a happy cat")
    assert set(weights) == {str(site) for site in model.sites}
    norms = site_norms(model, ["rte"], "a happy cat")
    assert np.isfinite(norms.to_numpy()).all()


@pytest.mark.parametrize("method", hl.available_methods())
def test_watching_units_leaves_every_model_as_it_was(method: str) -> None:
    model = made(method)
    inputs = {"input_ids": torch.tensor([[5, 6, 7, 1]]), "decoder_input_ids": torch.tensor([[0]])}
    before = model(**inputs, task="rte").logits
    found = unit_activations(model, ["a happy cat", "the road"], "rte")
    assert torch.equal(model(**inputs, task="rte").logits, before)
    with_bottleneck = {site for site, weights in weights_of(model, "rte", "a cat").items() if "down" in weights}
    assert set(found) <= with_bottleneck and all(torch.isfinite(seen).all() for seen in found.values())


def test_one_task_has_a_map_but_no_claims() -> None:
    model = made("hyperformer++", ["rte"])
    points = task_points(model, "I")
    for how in PROJECTIONS:
        flat = project(points.values, how)
        assert flat.coordinates.tolist() == [[0.0, 0.0]] and "one point" in flat.warning
    assert nearest_tasks(points) == {"rte": []} and cluster_tasks(points).order == ["rte"]
    assert "can't be tested" in str(family_purity(points, {"rte": "nli"}, 20)) and not mixes_tasks(model)


def test_two_hundred_tasks() -> None:
    names = [f"task-{i}" for i in range(200)]
    model = made("hyperformer++", names)
    points = task_points(model, "weights", Where("encoder", 0, "feedforward"))
    assert points.values.shape[0] == 200 and cosines(points.values).shape == (200, 200)
    assert sorted(cluster_tasks(points).order) == sorted(names)
    families = {name: f"family {i % 20}" for i, name in enumerate(names)}
    assert family_purity(points, families, 200).p > 0.01  # random families of a random model


def test_a_copied_task_is_the_nearest_one_in_every_representation() -> None:
    model = made("hyperformer++")
    model.add_task("near-rte", like={"rte": 0.95, "sst2": 0.05})
    for what in representations(model):
        assert nearest_tasks(task_points(model, what), 1)["near-rte"][0][0] == "rte"


@pytest.mark.slow
def test_umap_keeps_groups_together_and_says_what_it_cannot_show() -> None:
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(5), 40)
    values = (rng.normal(size=(5, 60)) * 6)[group] + rng.normal(size=(200, 60))
    flat = project(values, "umap")
    middles = np.stack([np.median(flat.coordinates[group == g], axis=0) for g in range(5)])
    nearest = np.linalg.norm(flat.coordinates[:, None] - middles, axis=-1).argmin(1)
    assert (nearest == group).mean() > 0.98 and flat.warning.startswith("UMAP keeps neighbours, not distances")
    assert "150 of 200" in project(values, "umap", most=150).warning

    inputs = Instances(torch.tensor(values), ["a"] * 200, ["x"] * 200)
    chart = hl.EmbeddingMap(made("hyperformer++", hl.tasks("glue")), instances=inputs)
    chart.asked = {"number": 1, "shown": chart.shown | {"how": "umap"}}
    assert "UMAP needs at least 15 points, and here are 8: PCA is shown" in chart.notice and "PCA" in chart.title
    assert "UMAP of 8 points is mostly chance" in project(values[:8], "umap").warning  # asked for in code, it says so
    chart.asked = {"number": 2, "shown": chart.shown | {"what": "instances", "how": "umap"}}
    assert not chart.notice and "Instance embeddings, UMAP" in chart.title and chart.points["count"] == 200
    assert np.isfinite(np.frombuffer(chart.coordinates, np.float32)).all()


@pytest.mark.slow
def test_a_hundred_thousand_points_are_laid_out_by_a_sample() -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(5, 16)) * 8
    group = rng.integers(5, size=100_000)
    flat = project(centres[group] + rng.normal(size=(100_000, 16)), "tsne", most=400)
    middles = np.stack([np.median(flat.coordinates[group == g], axis=0) for g in range(5)])
    nearest = np.linalg.norm(flat.coordinates[:, None] - middles, axis=-1).argmin(1)
    assert (nearest == group).mean() > 0.98 and "400 of 100,000" in flat.warning


def test_a_task_has_one_family_colour_and_shape_everywhere() -> None:
    from hyperlab.analysis.figures import map_figure, task_map
    from hyperlab.analysis.palette import family_colour, family_shape
    from hyperlab.core.files import asset
    from hyperlab.nano.settings import nano_adapted
    from hyperlab.widgets.panel import task_facts

    model = hl.load("nano")
    points, family = hl.task_view(model), hl.families(model.tasks)
    assert family["nano-stsb"] == family["nano-mrpc"] == hl.families(["stsb"])["stsb"] == "paraphrase"
    looks = {name: (family_colour(family[name]), family_shape(family[name])) for name in model.tasks}
    assert {fact["name"]: (fact["colour"], fact["shape"]) for fact in task_facts(model.tasks)} == looks
    chart = hl.EmbeddingMap(model)
    legend = [(entry["colour"], entry["shape"]) for entry in chart.legend]
    codes = np.frombuffer(chart.codes, np.uint16)
    assert {name: legend[code] for name, code in zip(chart.points["names"], codes, strict=True)} == looks
    two = task_map(hl.task_view(nano_adapted("hyperformer++")), points)
    for figure in (two, map_figure(points, family)):
        for trace in figure.data:
            shapes = dict(zip(trace.text, trace.marker.symbol, strict=True))
            assert all(looks[name] == (trace.marker.color, shape) for name, shape in shapes.items())
        assert {name for trace in figure.data for name in trace.text} == set(looks)

    published = json.loads(asset("nano", "results", "map.json").read_text())["of"]
    assert f" of {published} have a relative" in chart.title and f" of {published} are" in two.layout.annotations[1].text
    assert hl.family_purity(points, family).of == published
