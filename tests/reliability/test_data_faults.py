"""Faults in one's own data: each is named with its task, its split and its row, or warned of; none passes in silence."""

import warnings
from pathlib import Path

import datasets
import pandas as pd
import pytest

import hyperlab as hl
from hyperlab.data.prompts import Classes, Template
from hyperlab.data.splits import LeakWarning, SplitLeak
from hyperlab.data.task import Task
from hyperlab.data.tokens import tokenize
from hyperlab.nano.toy import FILLER, toy_backbone, toy_tokenizer
from hyperlab.training.run_folder import default_folder
from hyperlab.training.recipes import model_recipe
from toy_runs import toy_run

datasets.disable_progress_bars()
LABELS = ["glad", "sad"]


def rows(first: int, count: int) -> list[dict]:
    "Rows that no other call with other numbers makes."
    words = lambda i: " ".join(FILLER[(i // 16**k) % 16] for k in range(3))
    return [{"sentence": words(i), "label": i % 2} for i in range(first, first + count)]


def own(data: object, name: str = "mine", labels: object = LABELS, **more: object) -> Task:
    return hl.task_from(name, data, "{sentence}", labels, max_source_length=16, max_target_length=4, **more)


GOOD = {"train": rows(0, 40), "validation": rows(100, 20), "test": rows(200, 20)}


def test_good_rows_are_taken_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [len(own(GOOD).load(split)) for split in ("train", "validation", "test")] == [40, 20, 20]


def trained(task: Task, tmp_path: Path, **more: object) -> hl.Run:
    hl.register_task(task)
    model = hl.adapt(toy_backbone(), "adapter-dagger", [task.name], tokenizer=toy_tokenizer(), reduction_factor=4)
    return hl.train(model, steps=1, batch_size=4, run_dir=tmp_path / "run", progress=False, report_to="none", **more)


@pytest.mark.parametrize("protocol", ["clean", "paper", "released"])
def test_validation_that_equals_test_is_said(protocol: str, tmp_path: Path) -> None:
    task = own(GOOD | {"test": GOOD["validation"]}, "validation-is-test")
    with pytest.warns(
        LeakWarning, match=r"'validation-is-test'.*(20 of 20|19 of 19) rows of validation have a text that test"
    ) as caught:
        trained(task, tmp_path, protocol=protocol, warmup=0) if protocol == "clean" else task.load("train", protocol)
    assert "chosen by what they are tested on" in str(caught[0].message)


@pytest.mark.parametrize("other", ["validation", "test"])
def test_train_that_equals_another_split_is_the_error(other: str, tmp_path: Path) -> None:
    task = own({**GOOD, other: GOOD["train"]}, f"train-is-{other}")
    message = rf"task 'train-is-{other}'.* all 40 rows of train .* {other} \(40\).*nothing is left to train on: give train"
    with pytest.raises(SplitLeak, match=message):
        trained(task, tmp_path)
    assert not (tmp_path / "run" / "config.json").exists()
    with pytest.warns(LeakWarning, match=rf"40 of 40 rows of train have a text that {other} has.*score on {other} is too high"):
        task.load("train", "paper")


def test_many_shared_texts_are_said_and_a_few_are_not() -> None:
    many = own(GOOD | {"test": GOOD["test"][:15] + GOOD["train"][:5]}, "many")
    with pytest.warns(LeakWarning, match="5 of 40 rows of train have a text that test has too: they are taken out of train"):
        assert len(many.load("train")) == 35
    few = own(GOOD | {"test": GOOD["test"] + GOOD["train"][:2]}, "few")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(few.load("train")) == 38


def test_shared_rows_name_the_task() -> None:
    from hyperlab.data.splits import Part, SplitRule

    rule = SplitRule(Part(("train",)), Part(("train",)), Part(("test",)))
    with pytest.raises(SplitLeak, match="task 'twice': train and validation share 40 rows"):
        own(GOOD, "twice", splits=rule).load("train")


WORDS = {
    "twice": (["glad", "glad"], "'glad' twice: its answers could not be told apart"),
    "empty": (["glad", ""], "received ''"),
    "spaces": (["glad", " sad"], "received ' sad': an answer is read without the spaces"),
    "a text": ("glad", "expected a list of words, such as .*received 'glad'"),
    "numbers": ([0, 1], "expected a list of words"),
}


@pytest.mark.parametrize("why", WORDS)
def test_labels_that_cannot_be_read(why: str) -> None:
    labels, message = WORDS[why]
    with pytest.raises(ValueError, match=f"labels: .*{message}"):
        own(GOOD, labels=labels)


def test_labels_of_a_task_made_by_hand() -> None:
    with pytest.raises(ValueError, match="task 'hand': labels: .*'a' twice"):
        Task("hand", "own", Template("{sentence}"), Classes(("a", "a")), ("accuracy",))
    with pytest.raises(ValueError, match="a different value of 'label' for each of a, b, received \\(1,\\)"):
        Task("hand", "own", Template("{sentence}"), Classes(("a", "b"), ids=(1,)), ("accuracy",))


@pytest.mark.parametrize("labels", [["1", "0"], ["1", "2"], ["-1", "1"]], ids=str)
def test_labels_that_are_numbers_mean_themselves(labels: list[str], tmp_path: Path) -> None:
    "A column of numbers is not read as places in a list of numbers."
    frame = pd.DataFrame({"sentence": [row["sentence"] for row in rows(0, 60)], "label": [int(labels[i % 2]) for i in range(60)]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    loaded = own(tmp_path / "rows.csv", labels=labels).load("train")
    assert [int(target) for target in loaded["target"]] == list(loaded["label"])


def test_numbers_without_labels_are_refused(tmp_path: Path) -> None:
    pd.DataFrame(rows(0, 30)).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match=r"labels: the column 'label' holds numbers, such as 0: expected labels=\[...\]"):
        own(tmp_path / "rows.csv", labels=())


FILES = {
    "latin-1.csv": ("sentence,label\nhere,0\ncaf\xe9,1\n".encode("latin-1"), "line 3 is not UTF-8 .byte 0xe9.; save it as UTF-8"),
    "empty.csv": (b"", "it is empty; expected a line with the columns' names"),
    "empty.jsonl": (b"\n", "it is empty; expected rows"),
    "broken.json": (b'{"sentence": ', "could not read"),
    "broken.parquet": (b"PAR1 and no more", "could not read"),
    "missing.csv": (None, "there is no such file; check its name"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_tables(name: str, tmp_path: Path) -> None:
    content, message = FILES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"could not read '.*{name}': ") as caught:
        own(tmp_path / name)
    with pytest.raises(ValueError, match=message):
        raise caught.value


def test_a_table_with_columns_and_no_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("sentence,label\n")
    with pytest.raises(ValueError, match="it has one line, the columns' names; expected rows below it"):
        own(tmp_path / "rows.csv")


@pytest.mark.parametrize("split", ["train", "validation", "test"])
@pytest.mark.parametrize(("field", "value"), [("sentence", None), ("label", 7), ("label", None)], ids=str)
def test_a_bad_row_is_named_with_its_split(split: str, field: str, value: object) -> None:
    "By its number in the file, whatever is drawn."
    bad = [dict(row) for row in GOOD[split]]
    bad[11][field] = value
    task = own(GOOD | {split: bad}, "spoiled")
    for limit in (None, len(bad)):
        where = f"task 'spoiled', split '{split}', official '{split}', row 11"
        with pytest.raises(ValueError, match=f"{where}: expected .*received {value}"):
            task.load(split, max_examples=limit)


def test_a_bad_row_is_named_where_rows_before_it_are_taken_out() -> None:
    bad = [dict(row) for row in GOOD["train"]]
    bad[11]["label"] = 7
    with pytest.raises(ValueError, match="official 'train', row 11: "):
        own(GOOD | {"train": bad, "test": GOOD["test"] + bad[:2]}, "spoiled").load("train")


@pytest.mark.parametrize("name", ["", " mine", "a,b", "a\nb", 3], ids=repr)
def test_names_that_cannot_be_typed(name: object) -> None:
    with pytest.raises(ValueError, match="task: expected a name without commas"):
        own(GOOD, name)


@pytest.mark.parametrize("name", ["../../outside", "/etc/task", "a/b", "..", "con:*?", "x" * 300])
def test_names_stay_inside_their_folders(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERLAB_CACHE", str(tmp_path / "cache"))
    task = hl.register_task(own(GOOD, name))
    tokenize(task.load("test"), toy_tokenizer(), 16, 4, name=f"{name}-test")
    made = [path for path in tmp_path.rglob("*") if path.name == "about.json"]
    assert [path.parent.parent for path in made] == [tmp_path / "cache" / "tokens"]
    model = hl.adapt(toy_backbone(), "adapter-dagger", [name], tokenizer=toy_tokenizer(), reduction_factor=4)
    folder = default_folder(model, model_recipe(model, "clean"))
    assert folder.parent == Path("runs") and len(folder.name) < 200


DAMAGES = ["config.json", "result.json", "log.jsonl", "keys of config.json", "keys of result.json", "list"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_damaged_run_does_not_hide_the_others(damage: str, tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        toy_run(tmp_path / name, "adapter-dagger", steps=1, eval_every=1)
    file = tmp_path / "second" / ("config.json" if damage == "list" else damage.split()[-1])
    file.write_text('{"a": 1}' if damage.startswith("keys") else "[1]" if damage == "list" else '{"model": \n')
    with pytest.warns(UserWarning, match=f"a damaged run is left out: .*second/{file.name}"):
        table = hl.runs(tmp_path)
    assert table["run"].tolist() == ["first", "third"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert {"first", "third"} <= {run.name for run in hl.find_runs(tmp_path)}
