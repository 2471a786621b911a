"Tasks across chapters: every entry, every protocol, own data, bad input, and metrics against slow references."

import json
import random
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset, DatasetDict, disable_progress_bars, load_from_disk

import hyperlab as hl
from hyperlab.data import metrics
from hyperlab.data.prompts import PROTOCOLS, Accepted, Classes, FreeText, Score, style
from hyperlab.data.benchmarks import ENTRIES, task_names
from hyperlab.data.splits import HALVED_VALIDATION, HELD_OUT, Part, SplitRule

disable_progress_bars()
SPLITS = ("train", "validation", "test")


def made_up(task: hl.data.Task, size: int, salt: str) -> Dataset:
    "Rows in the official form of a task, all different, every class in turn"
    rows = []
    for i in range(size):
        row = {name: f"{salt} {name} {i} {{brace}} é" for name in task.prompt.fields}
        if task.where:
            row[task.where[0]] = task.where[1] if i % 2 == 0 else "another set"
        match task.answer:
            case Classes():
                row[task.answer.field] = (task.answer.ids or range(len(task.labels)))[i % len(task.labels)]
            case Score():
                row[task.answer.field] = i * 5 / size
            case FreeText():
                row[task.answer.field] = f"a summary of {salt} {i}"
            case Accepted():
                row["answers"] = [f"answer {i}", f"other {i}"]
                row["detected_answers"] = {"text": [f"answer {i}"]}
        rows.append(row | particular(task.name, i, salt))
    return Dataset.from_list(rows)


def particular(name: str, i: int, salt: str) -> dict:
    "Fields that some tasks have beyond their template"
    return {"wsc": {"text": f"Mark told {salt} {i} that he won", "span1_index": 0, "span1_text": "Mark",
                    "span2_index": 5, "span2_text": "he"},
            "record": {"passage": f"{salt} {i} fell\n@highlight\nthen rose", "entities": ["A", "B"]},
            "multirc": {"paragraph": f"{salt} {i // 4}", "idx": {"paragraph": i // 4, "question": i // 2, "answer": i}},
            "squad_v1": {"answers": {"text": [f"answer {i}", f"other {i}"]}}}.get(name, {})


def with_made_up_rows(name: str, size: int = 24) -> hl.data.Task:
    "The entry of that name over made-up official files"
    task = hl.task(name)
    rules = [task.rule(protocol) for protocol in PROTOCOLS]
    parts = [rule.part(split) for rule in rules for split in SPLITS]
    names = sorted({file for part in parts if part for file in part.official})
    return replace(task, data=DatasetDict({file: made_up(task, size, file) for file in names}))


def tiny(**changes) -> hl.data.Task:
    "A sentiment task of ten train and eight validation rows"
    def table(name: str, size: int) -> Dataset:
        return Dataset.from_dict({"text": [f"{name} {i}" for i in range(size)], "label": [0, 1] * (size // 2)})

    data = DatasetDict({"train": table("film", 10), "validation": table("note", 8)})
    return hl.task_from("tiny", data, "sentence: {text}", labels=("negative", "positive"), **changes)


# ---- the registry

def test_groups_hold_the_papers_tasks():
    assert hl.tasks("glue") == ["cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte"]
    assert hl.tasks("superglue") == ["boolq", "cb", "copa", "multirc", "record", "rte", "wic", "wsc"]
    assert set(hl.tasks("fewshot")) == {"scitail", "cb", "boolq", "imdb", "yelp_polarity", "paws", "trec"}
    assert len(hl.tasks("mrqa-in")) == len(hl.tasks("mrqa-out")) == 6
    assert hl.tasks("summarisation-nli") == ["xsum", "cnn_dailymail", "wikilingua", "mnli", "abductive_nli", "anli"]
    assert "wnli" in hl.tasks()
    assert "opposite label" in hl.task("wnli").note


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(ValueError, match="unknown task 'mlni': known are .*did you mean 'mnli'"):
        hl.task("mlni")
    with pytest.raises(ValueError, match="unknown group 'gleu'.*did you mean 'glue'"):
        hl.tasks("gleu")
    with pytest.raises(ValueError, match="unknown split 'dev': known are train, validation, test"):
        hl.task("rte").load("dev")
    with pytest.raises(ValueError, match="unknown protocol 'cleen': known are clean, paper, released"):
        hl.task("rte").load("train", "cleen")
    with pytest.raises(ValueError, match="unknown label style"):
        hl.task("rte").load("train", labels="words")


def test_an_entry_is_frozen_and_can_be_a_key():
    assert len({hl.task(name) for name in hl.tasks()}) == len(hl.tasks())
    with pytest.raises(FrozenInstanceError):
        hl.task("rte").name = "other"


# ---- every entry, over made-up rows in its official form

@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_every_entry_loads_reads_back_and_scores(name, protocol):
    task, rule = with_made_up_rows(name), hl.task(name).rule(protocol)
    seen = {}
    for split in (s for s in SPLITS if rule.part(s)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)          # the leak, and files too small to hold 1000 rows out
            rows = task.load(split, protocol)
        assert rows.num_rows
        assert all(isinstance(text, str) for text in [*rows["source"], *rows["target"]])
        raw = {column.removeprefix("raw_") for column in rows.column_names}
        assert task.prompt.prepare or set(task.prompt.fields) <= raw
        scores = task.score(rows["target"], rows)
        rounded = {"pearson", "spearman"}                         # against raw scores, which the targets round
        assert all(scores[m] > 99 if m in rounded else scores[m] == pytest.approx(100) for m in task.metrics)
        assert scores["unreadable"] == 0
        seen[split] = set(rows["source"])
        assert hl.data.provenance(rows)["protocol"] == protocol
    if protocol == "clean":
        assert not seen.get("train", set()) & (seen.get("validation", set()) | seen.get("test", set()))


@pytest.mark.parametrize("name", [name for name, task in ENTRIES.items() if task.labels])
def test_labels_survive_the_round_trip(name):
    task = hl.task(name)
    for protocol in PROTOCOLS:
        for labels in (None, "word", "index"):
            texts = task.label_texts(protocol, labels)
            assert [task.read(f" {text}\n", protocol, labels) for text in texts] == list(range(len(texts)))
            assert len(set(texts)) == len(texts)
            assert task.read("gibberish", protocol, labels) is None


def test_mrqa_sets_are_told_apart_and_have_the_splits_of_the_paper():
    squad, bioasq = with_made_up_rows("squad"), with_made_up_rows("bioasq")
    assert set(squad.load("test")["subset"]) == {"SQuAD"}
    assert squad.load("train", "paper").num_rows == 12
    with pytest.raises(hl.data.MissingSplit, match="no validation split: the paper trains for a fixed number of epochs"):
        squad.load("validation", "paper")
    with pytest.raises(hl.data.MissingSplit, match="measuring out of domain"):
        bioasq.load("train")


def test_record_trains_on_every_accepted_answer_and_is_measured_on_the_best():
    task = with_made_up_rows("record")
    with pytest.warns(UserWarning, match="too small to hold 1000 out"):
        train, test = task.load("train"), task.load("test")
    assert Counter(target.split()[0] for target in train["target"]) == {"answer": 12, "other": 12}
    assert test.num_rows == 24
    assert task.score([row["answers"][1] for row in test], test)["squad_em"] == 100


def test_multirc_keeps_paragraphs_whole_under_clean_and_is_scored_by_question():
    task = with_made_up_rows("multirc")
    validation, test = task.load("validation"), task.load("test")
    assert not set(validation["paragraph"]) & set(test["paragraph"])
    wrong = [{"True": "False", "False": "True"}[test["target"][0]], *test["target"][1:]]
    questions = len({(r["idx"]["paragraph"], r["idx"]["question"]) for r in test})
    assert task.score(wrong, test)["multirc_em"] == pytest.approx(100 * (questions - 1) / questions)
    with pytest.raises(ValueError, match="scored by question"):
        task.score(["True"], ["True"])


# ---- templates and labels by protocol

def test_the_protocols_differ_where_the_papers_do():
    mnli, stsb = with_made_up_rows("mnli"), hl.task("stsb")
    first = lambda **kind: mnli.load("test", **kind)[0]
    assert " hypothesis: " in first()["source"]
    assert " hypothesis: " in first(protocol="paper")["source"]
    assert " hypothesis: " not in first(protocol="released")["source"]
    assert " hypothesis validation_matched" in first(protocol="released")["source"]
    assert first(name_in_prompt=True)["source"] == "mnli " + first()["source"]
    assert [first(protocol=p)["target"] for p in PROTOCOLS] == ["entailment", "0", "0"]
    assert first(protocol="paper", labels="word")["target"] == "entailment"
    texts = lambda protocol: [stsb.answer.text({"label": x}, style(protocol)) for x in (1.667, 0.5, 4.95)]
    assert texts("clean") == texts("paper") == ["1.6", "0.4", "5.0"]
    assert texts("released")[:2] == ["1.7", "0.5"]


def test_summaries_and_mrqa_never_name_their_set():
    for name in ("xsum", "squad", "bioasq"):
        task = with_made_up_rows(name)
        assert task.load("test", name_in_prompt=True)["source"] == task.load("test")["source"]


def test_raw_fields_named_like_ours_are_kept():
    row = with_made_up_rows("wikilingua").load("test")[0]
    assert row["source"] == f"summarize: {row['raw_source']}"
    assert row["target"] == row["raw_target"]


# ---- splits by protocol

def test_paper_holds_rows_out_and_released_trains_on_them():
    task = replace(tiny(), splits=HELD_OUT)
    with pytest.warns(UserWarning, match="holding out 5"):
        paper = {split: set(task.load(split, "paper")["text"]) for split in SPLITS}
    assert {split: len(rows) for split, rows in paper.items()} == {"train": 5, "validation": 5, "test": 8}
    assert not paper["train"] & paper["validation"]
    with pytest.warns(hl.data.LeakWarning, match="trains on its validation rows"):
        released = {split: set(task.load(split, "released")["text"]) for split in SPLITS}
    assert {split: len(rows) for split, rows in released.items()} == {"train": 9, "validation": 4, "test": 7}
    assert len(released["train"] & released["validation"]) >= 3


def test_a_leaked_row_is_found():
    leaky = replace(tiny(), splits=SplitRule(Part(("train",)), Part(("train",), "first_half"), Part(("validation",))))
    for split in SPLITS:
        with pytest.raises(hl.data.SplitLeak, match="train and validation share 5 rows"):
            leaky.load(split)


def test_a_shuffle_without_a_seed_does_not_get_past_the_proof(monkeypatch):
    monkeypatch.setattr("hyperlab.data.splits.shuffled", lambda rows, seed=0: np.random.default_rng().permutation(rows))
    table = Dataset.from_dict({"text": [f"row {i}" for i in range(4000)], "label": [0, 1] * 2000})
    task = replace(tiny(), splits=HELD_OUT, data=DatasetDict({"train": table, "validation": table}))
    with pytest.raises(hl.data.SplitLeak, match="train and validation share"):
        task.load("test")


def test_repeated_text_is_counted_and_taken_out_of_train_under_clean_only():
    task = tiny()
    repeated = Dataset.from_dict({"text": ["film 0", "NOTE  3", "note 5", "film 1"], "label": [0, 1, 1, 0]})
    task = replace(task, data=DatasetDict({**task.data, "train": repeated}))
    clean, paper = task.load("train"), task.load("train", "paper")
    assert clean["text"] == ["film 0", "film 1"]
    assert paper.num_rows == 4
    for rows in (clean, paper):
        found = hl.data.provenance(rows)["overlaps"]
        assert found["train in validation"] + found["train in test"] == 2
    assert task.overlaps()["validation in test"] == 0


def test_splits_are_the_same_in_every_process():
    code = "import json; from hyperlab.data.splits import *\n" \
           "splits = available_splits(HELD_OUT, {'train': 3000, 'validation': 30})\n" \
           "print(json.dumps({s: {k: v.tolist() for k, v in r.items()} for s, r in splits.items()}))"
    run = lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    runs = {run() for _ in range(2)}
    assert len(runs) == 1
    rows = json.loads(runs.pop())
    assert len(rows["validation"]["train"]) == 1000
    assert sorted(rows["validation"]["train"] + rows["train"]["train"]) == list(range(3000))


def test_a_missing_official_file_is_named():
    task = with_made_up_rows("paws")
    lacking = replace(task, data=DatasetDict({k: v for k, v in task.data.items() if k != "train"}))
    assert lacking.load("test").num_rows == 24
    with pytest.raises(hl.data.MissingSplit, match="'paws' can't load 'train'.*is missing: there are 'test', 'validation'"):
        lacking.load("train")


def test_an_empty_split_is_an_error():
    task = tiny()
    one = replace(task, data=DatasetDict({**task.data, "validation": task.data["validation"].select([0])}))
    with pytest.raises(hl.data.MissingSplit, match="the validation split is empty"):
        one.load("validation")
    none = replace(task, data=DatasetDict({**task.data, "train": task.data["train"].select([])}))
    with pytest.raises(hl.data.MissingSplit, match="the train split is empty"):
        none.load("train")


# ---- loading

def test_a_draw_is_repeatable_and_not_the_head_of_the_file():
    imdb = hl.task("imdb")
    task = replace(imdb, data=DatasetDict({"train": made_up(imdb, 200, "x"), "test": made_up(imdb, 4, "y")}))
    draw = task.load("train", max_examples=40)
    assert draw.num_rows == 40
    assert draw["text"] == task.load("train", max_examples=40)["text"]
    assert draw["text"] != task.load("train", max_examples=40, seed=1)["text"]
    assert set(draw["text"]) != set(task.load("train")["text"][:40])
    assert task.load("train", max_examples=10_000).num_rows == 200
    with pytest.raises(ValueError, match="max_examples of at least 1"):
        task.load("train", max_examples=0)


def test_loading_from_a_folder_gives_what_the_data_gives(tmp_path):
    task = with_made_up_rows("anli")
    folder = tmp_path / "facebook/anli/plain_text"
    folder.mkdir(parents=True)
    for name, rows in task.data.items():
        rows.to_parquet(str(folder / f"{name}.parquet"))
    loaded = hl.task("anli").load("validation", path=tmp_path)
    assert loaded["source"] == task.load("validation")["source"]
    assert loaded.num_rows == 3 * 24
    assert hl.data.provenance(loaded)["revision"] == hl.task("anli").revision(path=folder)
    rows.to_parquet(str(folder / "dev_r2.parquet"))
    assert hl.data.provenance(loaded)["revision"] != hl.task("anli").revision(path=folder)
    with pytest.raises(FileNotFoundError, match="expected files such as .*nyu-mll/glue/rte/train.parquet"):
        hl.task("rte").load("train", path=tmp_path)


def test_provenance_survives_and_leaves_the_data_alone(tmp_path):
    task = tiny()
    rows = task.load("train", "paper", labels="word")
    assert task.data["train"].info.description == ""
    rows.select([0, 1]).map(lambda row: {"n": len(row["source"])}).save_to_disk(tmp_path / "rows")
    facts = hl.data.provenance(load_from_disk(tmp_path / "rows"))
    assert (facts["task"], facts["split"], facts["protocol"], facts["labels"]) == ("tiny", "train", "paper", "word")
    with pytest.raises(ValueError, match="without provenance"):
        hl.data.provenance(task.data["train"])


@pytest.mark.parametrize("label", [-1, 2, None])
def test_a_label_out_of_range_names_row_and_value(label):
    data = Dataset.from_dict({"text": ["a", "b", "c"] * 10, "label": [0, 1, label] * 10})
    task = hl.task_from("odd", {"train": data, "validation": data, "test": data}, "{text}", labels=("no", "yes"))
    with pytest.raises(ValueError, match=rf"row \d+: expected a label among 0, 1 \(no, yes\), received {label}"):
        task.load("test")


def test_a_missing_or_empty_field_is_named():
    task = hl.task("rte")
    lacking = replace(task, data=DatasetDict({"train": Dataset.from_dict({"sentence1": ["a"], "label": [0]})}))
    with pytest.raises(ValueError, match="expected the field 'sentence2'"):
        lacking.load("train")
    empty = {"sentence1": ["a"], "sentence2": [None], "label": [0]}
    with pytest.raises(ValueError, match="expected a text in the field 'sentence2', received None"):
        replace(task, data=DatasetDict({"train": Dataset.from_dict(empty)})).load("train")


def test_long_and_odd_texts_pass_unchanged():
    texts = ["x" * 100_000, "", "שלום עולם", "👩‍👩‍👧‍👦 \u202e\u0000 {0} {text} %s", "a\nb\tc", "é vs é"]
    data = {split: Dataset.from_dict({"text": [f"{t}{split}" for t in texts], "label": [0, 1] * 3}) for split in SPLITS}
    rows = hl.task_from("odd", data, "{text}", labels=("no", "yes")).load("train")
    assert rows["source"] == [f"{t}train" for t in texts]


# ---- one's own tasks

@pytest.mark.parametrize("kind", ["frame", "csv", "jsonl", "parquet", "dataset", "dict", "rows"])
def test_own_data_of_any_kind_becomes_the_same_task(kind, tmp_path):
    frame = pd.DataFrame({"text": [f"day {i}" for i in range(30)], "mood": ["glad", "sad"] * 15})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "rows.parquet")
    data = {"frame": frame, "csv": tmp_path / "rows.csv", "jsonl": str(tmp_path / "rows.jsonl"),
            "parquet": tmp_path / "rows.parquet", "dataset": Dataset.from_pandas(frame), "dict": {"train": frame},
            "rows": frame.to_dict("records")}[kind]
    task = hl.task_from("days", data, "sentence: {text}", labels=("sad", "glad"), field="mood")
    splits = {split: task.load(split) for split in SPLITS}
    assert {split: rows.num_rows for split, rows in splits.items()} == {"train": 24, "validation": 3, "test": 3}
    assert {row["text"] for rows in splits.values() for row in rows} == set(frame.text)
    assert splits["test"]["target"] == splits["test"]["mood"]
    assert task.load("test", "paper")["target"] == [str(int(mood == "glad")) for mood in splits["test"]["mood"]]


def test_a_registered_task_is_found_and_a_benchmark_is_not_replaced():
    task = hl.register_task(tiny(), group="own")
    assert hl.task("tiny") is task
    assert "tiny" in hl.tasks()
    assert hl.tasks("own") == ["tiny"]
    assert hl.register_task(tiny(), group="own") is not task
    assert hl.tasks("own") == ["tiny"]
    with pytest.raises(ValueError, match="'rte' is the name of a benchmark"):
        hl.register_task(replace(tiny(), name="rte"))


def test_own_data_that_can_not_work_says_why():
    frame = pd.DataFrame({"text": ["a"], "label": [0]})
    with pytest.raises(ValueError, match="template asks for 'txt', the data has text, label"):
        hl.task_from("bad", frame, "{txt}", labels=("x", "y"))
    with pytest.raises(ValueError, match="expected rows in every split"):
        hl.task_from("bad", frame[:0], "{text}", labels=("x", "y"))
    with pytest.raises(ValueError, match="expected a column 'mood'"):
        hl.task_from("bad", frame, "{text}", labels=("x", "y"), field="mood")
    with pytest.raises(ValueError, match="unknown metric 'acuracy'"):
        hl.task_from("bad", frame, "{text}", labels=("x", "y"), metrics=("acuracy",))
    with pytest.raises(TypeError, match="received int"):
        hl.task_from("bad", 3, "{text}")
    with pytest.raises(ValueError, match="has no rows"):
        replace(hl.task("rte"), hub_id="").load("train")


# ---- metrics

def random_pairs(classes: int, size: int = 200, unreadable: int = 0) -> tuple[list, list]:
    draw = random.Random(classes + size)
    truth = [draw.randrange(classes) for _ in range(size)]
    read = [t if draw.random() < 0.7 else draw.randrange(classes) for t in truth]
    for i in draw.sample(range(size), unreadable):
        read[i] = None
    return read, truth


def test_metrics_agree_with_scikit_learn_and_scipy():
    from scipy import stats
    from sklearn import metrics as reference
    read, truth = random_pairs(2)
    assert metrics.accuracy(read, truth) == pytest.approx(100 * reference.accuracy_score(truth, read))
    assert metrics.f1(read, truth) == pytest.approx(100 * reference.f1_score(truth, read))
    assert metrics.matthews(read, truth) == pytest.approx(100 * np.corrcoef(read, truth)[0, 1])      # phi
    read, truth = random_pairs(3)
    assert metrics.macro_f1(read, truth) == pytest.approx(100 * reference.f1_score(truth, read, average="macro"))
    noise = np.random.default_rng(0)
    truth = noise.uniform(0, 5, 100)
    read = truth + noise.normal(size=100)
    assert metrics.pearson(list(read), list(truth)) == pytest.approx(100 * np.corrcoef(read, truth)[0, 1])
    assert metrics.spearman(list(read), list(truth)) == pytest.approx(100 * stats.spearmanr(read, truth).statistic)


def test_unreadable_predictions_are_wrong_in_every_metric():
    read, truth = random_pairs(2, unreadable=20)
    hits = sum(r == 1 == t for r, t in zip(read, truth, strict=True))
    false_alarms = sum(t == 0 and r in (1, None) for r, t in zip(read, truth, strict=True))
    misses = sum(t == 1 and r in (0, None) for r, t in zip(read, truth, strict=True))
    assert metrics.f1(read, truth) == pytest.approx(100 * 2 * hits / (2 * hits + false_alarms + misses))
    assert metrics.accuracy(read, truth) == 100 * sum(r == t for r, t in zip(read, truth, strict=True)) / 200
    for name in ("accuracy", "f1", "macro_f1", "matthews"):
        assert metrics.metric(name)(truth, truth) == pytest.approx(100)
        assert metrics.metric(name)([None, *truth[1:]], truth) < 100
    scores = [5.0, 2.0, 3.0]
    assert metrics.pearson([None, 2.0, 3.0], scores) == pytest.approx(metrics.pearson([-1.0, 2.0, 3.0], scores))


def test_correlations_of_constants_are_zero_and_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        truth = [1.0, 2.0, 3.0, 4.0]
        assert metrics.pearson([1.0] * 4, truth) == metrics.spearman([None] * 4, truth) == 0
        assert metrics.matthews([1] * 4, [0, 1, 0, 1]) == metrics.matthews([None] * 4, [0, 1, 0, 1]) == 0


def test_rouge2_agrees_with_counting_word_pairs():
    draw = random.Random(0)
    words = ["cat", "dog", "bird", "tree", "book", "river", "rain", "cloud"]         # the stemmer leaves them alone
    text = lambda: " ".join(draw.choices(words, k=draw.randrange(2, 12)))
    pairs = lambda t: Counter(zip(t.split(), t.split()[1:], strict=False))
    texts, truths = [text() for _ in range(30)], [text() for _ in range(30)]
    f = lambda p, t: 2 * sum((pairs(p) & pairs(t)).values()) / (sum(pairs(p).values()) + sum(pairs(t).values()))
    expected = np.mean([f(p, t) for p, t in zip(texts, truths, strict=True)])
    assert metrics.rouge2(texts, truths) == pytest.approx(100 * expected)


def test_question_answering_by_hand():
    truths = [["Saint Bernadette Soubirous"], ["a copper statue of Christ", "the copper statue"], []]
    assert metrics.squad_em(["saint bernadette soubirous!", "copper statue", ""], truths) == 100
    # 2 of 3 words shared; "statue" against the better of two answers; an answer where none is right
    assert metrics.squad_f1(["Saint Bernadette", "statue", "x"], truths) == pytest.approx(100 * (4 / 5 + 2 / 3 + 0) / 3)


def test_scores_need_as_many_predictions_as_rows():
    task, rows = tiny(), tiny().load("train")
    with pytest.raises(ValueError, match="received 3 predictions and 10 targets"):
        task.score(["negative"] * 3, rows)
    with pytest.raises(ValueError, match="at least one prediction"):
        task.score([], [])
    with pytest.raises(ValueError, match="expected a target text it can read, received 'good'"):
        task.score(["negative"], ["good"])


def test_the_two_averages_of_the_papers():
    both = {"mrpc": {"accuracy": 80.0, "f1": 90.0, "unreadable": 3}, "rte": {"accuracy": 60.0, "unreadable": 0}}
    assert hl.data.average_metrics(both) == pytest.approx((80 + 90 + 60) / 3)
    assert hl.data.average_tasks(both) == pytest.approx((85 + 60) / 2)
    with pytest.raises(ValueError, match="received none for rte"):
        hl.data.average_tasks({"rte": {"unreadable": 1}})
    with pytest.raises(ValueError, match="received none for any task"):
        hl.data.average_metrics({})


def test_halved_validation_is_the_default_for_own_train_and_validation():
    assert tiny().splits == HALVED_VALIDATION


def test_a_task_of_two_groups_is_used_once() -> None:
    "HyperGrid trains on GLUE and SuperGLUE, and both hold RTE."
    with pytest.warns(UserWarning, match="rte: in more than one of glue,superglue; used once"):
        names = task_names("glue,superglue")
    assert len(names) == 15 == len(set(names)) and names[:8] == hl.tasks("glue")
    with pytest.warns(UserWarning, match="used once"):
        assert hl.plan_run(method="hypergrid", backbone="t5-base", tasks="glue,superglue").tasks == names
    with pytest.raises(ValueError, match="task names must differ"):
        task_names("rte,rte")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert task_names(["glue", "wnli"])[-1] == "wnli"
