"""A submission has the files, headers, row numbers and label words that the benchmarks' servers take."""

import json
import os
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import hyperlab as hl
from tests.local_hub import sentences, write_model

HUB = Path(os.environ.get("HYPERLAB_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "hub"
ROWS = 6  # of each file: the format does not depend on how many there are
NEEDED = {
    "nyu-mll/glue": {"cola": ["sentence"], "sst2": ["sentence"], "mrpc": ["sentence1", "sentence2"],
                     "stsb": ["sentence1", "sentence2"],
                     "qqp": ["question1", "question2"], "mnli": ["premise", "hypothesis"], "qnli": ["question", "sentence"],
                     "rte": ["sentence1", "sentence2"], "wnli": ["sentence1", "sentence2"], "ax": ["premise", "hypothesis"]},
    "aps/super_glue": {"boolq": ["question", "passage"], "cb": ["premise", "hypothesis"], "rte": ["premise", "hypothesis"],
                       "copa": ["premise", "choice1", "choice2", "question"], "multirc": ["paragraph", "question", "answer"],
                       "record": ["passage", "query"], "wic": ["sentence1", "sentence2", "word"], "wsc.fixed": ["text"],
                       "axb": ["sentence1", "sentence2"], "axg": ["premise", "hypothesis"]},
}  # fmt: skip


def made_rows(config: str, fields: list[str], seed: int = 0) -> pd.DataFrame:
    "Unlabelled rows as the hub has them, for files that the mirror lacks."
    frame = pd.DataFrame({name: sentences(ROWS, seed + place) for place, name in enumerate(fields)})
    frame["idx"] = [{"passage": i // 2, "query": i} for i in range(ROWS)] if config == "record" else range(ROWS)
    if config == "record":
        return frame.assign(entities=[["cat", "dog"]] * ROWS, answers=[[] for _ in range(ROWS)])
    return frame.assign(label=-1)


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    "The benchmarks' official test rows: the mirror's where it has them."
    root, real = tmp_path_factory.mktemp("official"), 0
    for hub_id, configs in NEEDED.items():
        for config, fields in configs.items():
            folder = root / "datasets" / hub_id / config
            folder.mkdir(parents=True)
            there = HUB / "datasets" / hub_id / config / "test.parquet"
            frame = pd.read_parquet(there).head(ROWS) if there.is_file() else made_rows(config, fields)
            real += there.is_file()
            if config in ("wsc.fixed", "multirc") and not there.is_file():
                pytest.skip("no mirror with the benchmarks' real rows beside the project")
            for split in ("test_matched", "test_mismatched") if config == "mnli" else ("test",):
                frame.to_parquet(folder / f"{split}.parquet")
    assert real >= 12
    return root


def trained(tmp_path: Path, tasks: list[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    "A run that knows these tasks: one update on rows of its own."
    import importlib
    from dataclasses import replace

    benchmarks = importlib.import_module("hyperlab.data.benchmarks")
    hl.tasks()
    rows = {"train": made_rows("own", ["text"]).assign(label=0), "validation": made_rows("own", ["text"], seed=1).assign(label=1)}
    for name in tasks:
        own = hl.task_from("own", rows, "{text}", labels=["no", "yes"], splits=hl.data.OFFICIAL)
        monkeypatch.setitem(benchmarks._TASKS, name, replace(own, name=name))
    backbone = str(write_model(tmp_path, "some/tiny"))
    model = hl.adapt(backbone, "hyperformer++", tasks, reduction_factor=8, task_width=12, embedding_width=8, projector_width=16)
    hl.train(model, run_dir=tmp_path / "run", steps=1, batch_size=4, eval_every=1, warmup=0, report_to="none", selection="last")
    monkeypatch.undo()
    return tmp_path / "run"


def read_zip(path: Path) -> dict[str, list[str]]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode().splitlines() for name in archive.namelist()}


def test_glue(official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained(tmp_path, hl.tasks("glue"), monkeypatch)
    found = hl.submission(run, "glue", data=official, batch_size=8)
    files = read_zip(found.path)
    names = "CoLA SST-2 MRPC STS-B QQP MNLI-m MNLI-mm QNLI RTE WNLI AX".split()
    assert sorted(files) == sorted(f"{name}.tsv" for name in names) and found.path == run / "glue.zip"
    for name, lines in files.items():
        assert lines[0] == "index\tprediction"
        assert [line.split("\t")[0] for line in lines[1:]] == [str(i) for i in range(ROWS)], name
    said = {name.removesuffix(".tsv"): {line.split("\t")[1] for line in lines[1:]} for name, lines in files.items()}
    for name in ("CoLA", "SST-2", "MRPC", "QQP", "WNLI"):
        assert said[name] <= {"0", "1"}
    for name in ("QNLI", "RTE"):
        assert said[name] <= {"entailment", "not_entailment"}
    for name in ("MNLI-m", "MNLI-mm", "AX"):
        assert said[name] <= {"entailment", "neutral", "contradiction"}
    assert all(0 <= float(value) <= 5 for value in said["STS-B"])
    assert found.constant == ("WNLI.tsv",) and said["WNLI"] == {"0"}


def test_superglue(official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained(tmp_path, hl.tasks("superglue"), monkeypatch)
    found = hl.submission(run, "superglue", tmp_path / "sent.zip", data=official, batch_size=8)
    files = {name.removesuffix(".jsonl"): [json.loads(line) for line in lines] for name, lines in read_zip(found.path).items()}
    assert sorted(files) == sorted("BoolQ CB COPA MultiRC ReCoRD RTE WiC WSC AX-b AX-g".split())
    words = {"BoolQ": {"true", "false"}, "WiC": {"true", "false"}, "WSC": {"True", "False"}, "COPA": {0, 1},
             "CB": {"entailment", "contradiction", "neutral"}}  # fmt: skip
    words |= dict.fromkeys(("RTE", "AX-b", "AX-g"), {"entailment", "not_entailment"})
    for name, allowed in words.items():
        assert [line["idx"] for line in files[name]] == list(range(ROWS))
        assert all(set(line) == {"idx", "label"} and line["label"] in allowed for line in files[name])
    assert all(isinstance(line["label"], str) and isinstance(line["idx"], int) for line in files["ReCoRD"])
    answers = [(p["idx"], q["idx"], a["idx"]) for p in files["MultiRC"] for q in p["passage"]["questions"] for a in q["answers"]]
    rows = pd.read_parquet(official / "datasets/aps/super_glue/multirc/test.parquet")["idx"]
    assert answers == [(row["paragraph"], row["question"], row["answer"]) for row in rows]


def test_a_task_that_the_run_does_not_know_is_refused(official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained(tmp_path, ["cola", "rte"], monkeypatch)
    with pytest.raises(ValueError, match="without mnli, mrpc, qnli, qqp, sst2, stsb"):
        hl.submission(run, "glue", data=official)
    others = ["mnli", "mrpc", "qnli", "qqp", "sst2", "stsb", "wnli"]
    found = hl.submission(run, "glue", data=official, constant=others)
    assert "RTE.tsv" not in found.constant and "AX.tsv" in found.constant
