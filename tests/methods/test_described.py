"""Tasks that are known by their description: what is read, what a new one gets, what moves, and what is refused."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from conftest import SMALL, tiny_backbone

import hyperlab as hl
from hyperlab.core.generators import DescribedEmbedding, TaskFeatures
from hyperlab.data.descriptions import descriptions
from hyperlab.data.task_features import SentenceEncoder, describe_by_examples
from hyperlab.nano.toy import toy_backbone, toy_tasks, toy_tokenizer
from toy_runs import SHORT, outcome

METHODS = ["hyperformer", "hyperformer++", "hyperformer-stable", "task-hypernet", "hyper-lora"]
TASKS = ["cola", "sst2", "rte"]
WORDS = "acceptable grammatical sentence opinion film positive follow entailment text".split()


def counted_words(texts: Sequence[str]) -> torch.Tensor:
    "How often each of some words occurs, (N, 9)."
    rows = torch.tensor([[float(text.lower().count(word)) for word in WORDS] for text in texts])
    return torch.nn.functional.normalize(rows, dim=-1)


def model(method: str, **options: object) -> hl.AdaptedModel:
    torch.manual_seed(0)
    features = hl.data.describe_tasks(TASKS, counted_words)
    made = hl.adapt(tiny_backbone(), method, TASKS, task_features=features, **(SMALL.get(method, {}) | options))
    with torch.no_grad():  # heads that start at zero write the same for every task
        for parameter in made.parameters():
            if parameter.requires_grad:
                parameter.add_(0.02 * torch.randn_like(parameter))
    return made.eval()


def flat(weights: dict[str, dict[str, torch.Tensor]]) -> torch.Tensor:
    return torch.cat([w.flatten() for site in weights.values() for w in site.values()])


@pytest.mark.parametrize("method", METHODS)
def test_a_described_task_writes_weights_is_mixed_and_saved(method: str, batch: dict, tmp_path: Path) -> None:
    made = model(method)
    before = {name: flat(made.weights(name)) for name in TASKS}
    name = made.describe("Is the film good? Answer positive or negative.", encoder=counted_words)
    assert name == "described-1" and made.tasks == [*TASKS, name]
    new = flat(made.weights(name))
    assert all(not torch.allclose(new, other) for other in before.values())
    assert all(torch.equal(flat(made.weights(task)), weights) for task, weights in before.items())
    assert not torch.allclose(flat(made.weights({name: 0.5, "rte": 0.5})), new)
    made.save(tmp_path)
    again = hl.load(tmp_path, backbone=tiny_backbone())
    assert torch.equal(flat(again.weights(name)), new)
    assert again.method.feature_source == "counted_words"


@pytest.mark.parametrize("method", METHODS)
def test_a_known_description_gives_the_known_task(method: str) -> None:
    made = model(method)
    made.describe(descriptions("rte"), "again", counted_words)
    torch.testing.assert_close(flat(made.weights("again")), flat(made.weights("rte")))


def test_the_vector_is_a_map_of_the_features_and_what_a_task_has_of_its_own() -> None:
    made = model("hyperformer++", task_residual=True)
    (part,) = [module for module in made.rule.modules() if isinstance(module, DescribedEmbedding)]
    features = hl.data.describe_tasks(TASKS, counted_words).stacked(TASKS)
    expected = (features.mean(1) - features.mean((0, 1))) @ part.projection.weight.T + part.weight
    found = made.task_embeddings()
    assert found is not None and part.weight.requires_grad and part.weight.abs().sum() > 0
    torch.testing.assert_close(found, expected)


def test_training_draws_a_wording_and_answering_takes_their_mean() -> None:
    (part,) = [module for module in model("hyperformer++").rule.modules() if isinstance(module, DescribedEmbedding)]
    each = part.projection(part.features[0] - part.centre) + part.weight[0]  # one row for each wording
    seen = torch.stack([part.train().vectors()[0] for _ in range(60)])
    nearest = (seen[:, None] - each).abs().amax(-1)
    assert nearest.min(1).values.max() < 1e-5 and nearest.min(0).values.max() < 1e-5
    torch.testing.assert_close(part.eval().vectors()[0], each.mean(0))


def toy(**options: object) -> hl.AdaptedModel:
    torch.manual_seed(0)
    said = ("toy-mood", "toy-pet")
    drawn = torch.randn(2, 2, 6, generator=torch.Generator().manual_seed(1))
    features = TaskFeatures(dict(zip(said, drawn, strict=True)), "drawn")
    return hl.adapt(toy_backbone(dropout=0.1), "hyperformer++", toy_tasks(), tokenizer=toy_tokenizer(), reduction_factor=4,
                    task_features=features, **options)  # fmt: skip


def test_a_killed_run_draws_the_same_wordings_again(tmp_path: Path) -> None:
    how = SHORT | {"progress": False, "report_to": "none"}
    whole = hl.train(toy(), run_dir=tmp_path / "whole", **how)
    stop = {"count": 0}

    def kill(*_: object) -> None:
        stop["count"] += 1
        if stop["count"] == 9:
            raise KeyboardInterrupt

    part = toy()
    part.rule.register_forward_hook(kill)
    with pytest.raises(KeyboardInterrupt):
        hl.train(part, run_dir=tmp_path / "part", **how)
    resumed = hl.train(toy(), run_dir=tmp_path / "part", **how)
    assert outcome(resumed) == outcome(whole)


def test_few_examples_move_the_own_part_alone_and_old_tasks_stay() -> None:
    made = toy(task_residual=True).eval()
    made.tasks[made.tasks.index("toy-pet")] = "other"  # the task is new under its own name
    before = {name: flat(made.weights(name)) for name in made.tasks}
    made.describe(torch.ones(2, 6), "toy-pet")
    start = flat(made.weights("toy-pet"))
    hl.few_shot(made, "toy-pet", shots=8, tune="task", candidates=(4,), eval_examples=8, learning_rate=1e-2, progress=False)
    assert all(torch.equal(flat(made.weights(name)), weights) for name, weights in before.items())
    assert not torch.equal(flat(made.weights("toy-pet")), start)


def test_without_a_part_of_its_own_a_described_task_has_nothing_to_tune_alone() -> None:
    made = toy()
    made.tasks[made.tasks.index("toy-pet")] = "other"
    made.describe(torch.ones(2, 6), "toy-pet")
    with pytest.raises(ValueError, match="nothing that belongs to a single task"):
        hl.few_shot(made, "toy-pet", shots=8, tune="task", candidates=(4,), eval_examples=8, learning_rate=1e-2, progress=False)


@pytest.mark.parametrize(("asked", "options", "said"), [
    ("", {"encoder": counted_words}, "expected sentences that say what the task asks"),
    ([], {"encoder": counted_words}, "expected sentences that say what the task asks"),
    ("a film", {"encoder": lambda texts: torch.ones(len(texts), 5)}, "expected vectors of 9 numbers, as 'counted_words' made"),
    ("a film", {"encoder": lambda texts: torch.full((len(texts), 9), float("nan"))}, "finite vectors"),
    ("a film", {"encoder": counted_words, "name": "rte"}, "there is a task 'rte' already"),
    (torch.ones(1, 4), {}, "these features: expected vectors of 9 numbers"),
])  # fmt: skip
def test_what_describes_nothing_is_refused_and_nothing_is_lost(asked: object, options: dict, said: str) -> None:
    made = model("hyperformer++")
    before = {name: tensor.clone() for name, tensor in made.trained_tensors().items()}
    with pytest.raises(ValueError, match=said):
        made.describe(asked, **options)
    after = made.trained_tensors()
    assert made.tasks == TASKS and before.keys() == after.keys()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


def test_a_model_with_learned_vectors_says_that_it_can_read_no_description() -> None:
    learned = hl.adapt(tiny_backbone(), "hyperformer++", TASKS, reduction_factor=4)
    with pytest.raises(ValueError, match="its tasks are not described"):
        learned.describe("a film", encoder=counted_words)
    with pytest.raises(ValueError, match="unknown option of adapter-dagger 'descriptions'|task_features"):
        hl.adapt(tiny_backbone(), "adapter-dagger", TASKS, task_features=hl.data.describe_tasks(TASKS, counted_words))


def test_the_papers_way_has_no_new_option_in_its_record() -> None:
    kept = hl.get_method("hyperformer++").to_dict()
    assert not {"descriptions", "feature_width", "feature_source", "task_residual"} & kept.keys()
    assert not {"descriptions", "task_features"} & hl.get_method("hyper-lora").to_dict().keys()


@pytest.mark.parametrize("statistic", ["inputs", "gradients"])
def test_examples_describe_tasks_too(statistic: str) -> None:
    names = ["nano-sst2", "nano-imdb", "nano-rte"]
    found = describe_by_examples(names, "nano", examples=24, statistic=statistic)
    assert found.source == f"{statistic} of examples"
    mean = torch.stack([value.mean(0) for value in found.values.values()])
    torch.testing.assert_close(found.values["nano-rte"].norm(dim=1), torch.ones(3))
    assert torch.pdist(mean).min() > 0.05
    if statistic == "inputs":  # opinions share their words, whatever is asked about them
        assert torch.cosine_similarity(mean[0], mean[1], dim=0) > torch.cosine_similarity(mean[0], mean[2], dim=0)
    made = hl.adapt("nano", "hyperformer++", names, reduction_factor=8, task_features=found)
    with pytest.raises(ValueError, match="knows its tasks by the .* of examples, not by words"):
        made.describe("a film")


def test_a_real_encoder_puts_tasks_of_a_kind_together_and_refuses_what_it_cannot_read() -> None:
    encoder = SentenceEncoder()
    found = hl.data.describe_tasks(["rte", "cb", "sst2", "imdb"], encoder)
    mean = torch.stack([value.mean(0) for value in found.values.values()])
    alike = torch.nn.functional.normalize(mean - mean.mean(0), dim=-1)
    near = alike @ alike.T - 2 * torch.eye(4)
    assert near.argmax(1).tolist() == [1, 0, 3, 2]
    lone = encoder(["Is this film review positive?"])
    together = encoder(["Is this film review positive?", "A much longer description of another task, which pads the first one."])
    torch.testing.assert_close(lone[0], together[0], atol=1e-5, rtol=0)
    for text, said in [("", "an empty text"), ("word " * 10_000, "at most 256 tokens, received 10,002"),
                       ("ꯃꯅꯤꯄꯨꯔꯤ ꯂꯣꯜ ꯑꯁꯤ", "the encoder knows 0 of")]:  # fmt: skip
        with pytest.raises(ValueError, match=said):
            encoder([text])
    made = hl.adapt("nano", "hyperformer++", ["nano-sst2", "nano-rte"], reduction_factor=8, task_features="described")
    assert made.method.feature_source == encoder.name
    before = {name: tensor.clone() for name, tensor in made.trained_tensors().items()}
    for asked, other, said in [("", None, r"received \[''\]"), ("word " * 10_000, None, "at most 256 tokens"),
                               ("ꯃꯅꯤꯄꯨꯔꯤ ꯂꯣꯜ ꯑꯁꯤ", None, "the encoder knows 0 of"),
                               ("Is the film good?", narrow, "expected vectors of 384 numbers, as 'sentence-t")]:  # fmt: skip
        with pytest.raises(ValueError, match=said):
            made.describe(asked, encoder=other)
        after = made.trained_tensors()
        assert made.tasks == ["nano-sst2", "nano-rte"] and before.keys() == after.keys()
        assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert made.describe("Does the second sentence follow from the first? Answer entailment or not_entailment.") in made.tasks


def narrow(texts: Sequence[str]) -> torch.Tensor:
    "An encoder of another width than MiniLM's."
    return torch.ones(len(texts), 128)
