"The benchmarks through the ordinary client: real rows when a mirror of them lies beside the project, made-up ones too."

import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

import hyperlab as hl

SHARED = Path(os.environ.get("HYPERLAB_SHARED", Path(__file__).resolve().parents[3] / "shared"))
ROOT, SERVER = SHARED / "hub", SHARED / "tools/hub.py"
pytestmark = pytest.mark.skipif(not (ROOT / "datasets").is_dir() or not SERVER.is_file(),
                                reason="no mirror with the benchmarks' real rows beside the project (../shared/hub)")
SPLITS = ("train", "validation", "test")

# Rows of train, validation and test that the papers' rules make of the official files; None for files not in full here
PAPER_ROWS = {
    "cola": (8551, 521, 522), "sst2": (66349, 1000, 872), "mrpc": (3668, 204, 204), "stsb": (5749, 750, 750),
    "rte": (2490, 138, 139), "boolq": (9427, 1635, 1635), "cb": (250, 28, 28), "copa": (400, 50, 50),
    "multirc": (27243, 2424, 2424), "wic": (5428, 319, 319), "wsc": (554, 52, 52), "trec": (5452, 250, 250),
    "imdb": (25000, 12500, 12500), "qnli": (None, 1000, 5463), "scitail": (None, 1304, 2126),
    "paws": (None, 8000, 8000), "squad_v1": (None, None, 10570),
}
# How often each class occurs in the official file that validation and test are made of, in class order
KNOWN_BALANCE = {
    "cola": (322, 721), "sst2": (428, 444), "mrpc": (129, 279), "rte": (146, 131), "boolq": (1237, 2033),
    "cb": (23, 28, 5), "copa": (55, 45), "wic": (319, 319), "trec": (9, 94, 138, 65, 81, 113), "imdb": (12500, 12500),
    "wsc": (66, 38), "multirc": (2773, 2075),
}
PRESENT = ("cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte", "boolq", "cb", "copa", "multirc", "record",
           "wic", "wsc", "scitail", "imdb", "yelp_polarity", "paws", "trec", "squad_v1", "xsum", "cnn_dailymail",
           "anli")
RELEASED = ("cola", "stsb", "qnli", "cb", "wic", "scitail", "yelp_polarity", "trec")     # the others would take long
HEAVY = ("sst2", "qqp", "mnli", "imdb", "multirc", "boolq")                              # train under `clean` only
LACKING = {"paws": {"train"}, "xsum": {"train", "validation"}, "cnn_dailymail": {"train", "test"},
           "anli": {"train", "test"}}

LOAD_ALL = """
import json, sys, warnings
from collections import Counter
import datasets, hyperlab as hl
warnings.simplefilter("ignore")
datasets.disable_progress_bars()
found = []
for name, protocol, split in json.load(sys.stdin):
    fact = {"task": name, "protocol": protocol, "split": split}
    try:
        rows = hl.task(name).load(split, protocol)
        fact |= {"rows": rows.num_rows, "targets": Counter(rows["target"]) if hl.task(name).labels else {},
                 "first": rows[0]["source"], "provenance": hl.data.provenance(rows),
                 "score": hl.task(name).score(rows["target"][:60], rows.select(range(min(60, rows.num_rows))))}
    except Exception as error:
        fact["error"] = f"{type(error).__name__}: {error}"
    found.append(fact)
print(json.dumps(found))
"""


def start_hub(root: Path) -> tuple[subprocess.Popen, str]:
    "A server over that folder on a free port, ready to answer"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(SERVER), "--root", str(root), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process, f"http://127.0.0.1:{port}"
        time.sleep(0.05)
    process.kill()
    raise RuntimeError("the hub did not start")


def load_from(root: Path, cache: Path, wanted: list[tuple[str, str, str]]) -> dict[tuple[str, str, str], dict]:
    "What a process that sees only the hub over `root` and an empty cache loads"
    process, endpoint = start_hub(root)
    settings = os.environ | {"HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(cache),
                             "HF_HUB_OFFLINE": "0"}
    try:
        run = subprocess.run([sys.executable, "-c", LOAD_ALL], input=json.dumps(wanted), env=settings, text=True,
                             capture_output=True)
    finally:
        process.kill()
        process.wait()
    assert run.returncode == 0, run.stderr
    return {(fact["task"], fact["protocol"], fact["split"]): fact for fact in json.loads(run.stdout)}


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    tasks = {"clean": PRESENT, "paper": PRESENT, "released": RELEASED}
    wanted = [(name, protocol, split) for protocol, names in tasks.items() for name in names for split in SPLITS]
    wanted = [key for key in wanted if key[0] not in HEAVY or key[1:] != ("paper", "train")]
    return load_from(ROOT, tmp_path_factory.mktemp("cache"), wanted)


def test_every_task_of_the_mirror_loads(real):
    failed = {key: fact["error"] for key, fact in real.items() if "error" in fact}
    expected = {key for key in real if key[2] in LACKING.get(key[0], ())} | {("squad_v1", "paper", "validation")}
    assert set(failed) == expected, failed
    assert "the official split 'train' is missing: there are 'test', 'validation'" in failed["paws", "clean", "train"]
    assert "the official split 'train' is missing: there are 'test'" in failed["xsum", "clean", "train"]


def test_row_counts_are_the_known_ones(real):
    print(f"\n{'task':<14}{'protocol':<10}{'train':>8}{'valid.':>8}{'test':>8}   known under paper")
    for name, protocol in sorted({key[:2] for key in real}):
        counts = [real.get((name, protocol, split), {}).get("rows") for split in SPLITS]
        known = PAPER_ROWS.get(name, (None,) * 3)
        print(f"{name:<14}{protocol:<10}" + "".join(f"{c or '-':>8}" for c in counts), "  ", *(k or "-" for k in known))
        lost = protocol == "released" and hl.task(name).rule("released").drop_last
        for split, count, expected in zip(SPLITS, counts, known, strict=True):
            if expected and count and protocol != "clean":
                assert count == expected - lost, (name, protocol, split)
            if expected and protocol == "clean" and split == "train":
                repeated = real[name, "clean", "train"]["provenance"]["overlaps"]
                assert 0 <= expected - count <= repeated["train in validation"] + repeated["train in test"]


def test_label_balance_is_the_known_one(real):
    for name, known in KNOWN_BALANCE.items():
        rule = hl.task(name).rule("paper")
        splits = [split for split in ("validation", "test") if rule.part(split).official == rule.test.official]
        found = sum((Counter(real[name, "paper", split]["targets"]) for split in splits), Counter())
        balance = tuple(found[text] for text in hl.task(name).label_texts("paper"))
        print(f"{name:<10}", dict(zip(hl.task(name).labels, balance, strict=True)), "known", known)
        assert balance == known, name


def test_clean_takes_repeated_texts_out_of_train(real):
    for name in ("cola", "sst2", "stsb", "imdb", "trec"):
        shared = real[name, "clean", "train"]["provenance"]["overlaps"]
        taken = PAPER_ROWS[name][0] - real[name, "clean", "train"]["rows"]
        print(f"{name:<8} {shared}, taken out of train: {taken}")
        assert 0 < taken <= shared["train in validation"] + shared["train in test"]


def test_the_targets_of_real_rows_are_read_back(real):
    for (name, *_), fact in real.items():
        if "error" not in fact:
            assert fact["score"]["unreadable"] == 0
            assert all(fact["score"][metric] > 98 for metric in hl.task(name).metrics), (name, fact["score"])
            assert len(fact["provenance"]["revision"]) == 40


def test_the_two_rte_files_have_the_same_rows():
    def pairs(name: str, one: str, other: str) -> Counter:
        frame = pd.read_parquet(ROOT / "datasets" / name)
        plain = [frame[field].str.replace('"', "").str.strip() for field in (one, other)]    # one copy lost its quotes
        return Counter(zip(*plain, frame.label, strict=True))

    for split in ("train", "validation"):
        glue = pairs(f"nyu-mll/glue/rte/{split}.parquet", "sentence1", "sentence2")
        assert glue == pairs(f"aps/super_glue/rte/{split}.parquet", "premise", "hypothesis")


def test_sets_that_no_mirror_holds_load_in_their_official_form(tmp_path):
    def write(name: str, **columns: list) -> None:
        file = tmp_path / "datasets" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(columns).to_parquet(file)

    for split in ("train", "validation", "test", "sampled_test"):
        text = [f"{split} {i}" for i in range(4)]
        write(f"GEM/wiki_lingua/en/{split}/0000.parquet", source=text, target=[f"sum {t}" for t in text])
    inside, outside = ["SQuAD", "NewsQA"], ["BioASQ", "DROP"]
    for split, subsets in {"train": inside, "validation": inside, "test": outside}.items():
        write(f"mrqa-workshop/mrqa/plain_text/{split}.parquet", subset=subsets * 4,
              question=[f"q {i}?" for i in range(8)], context=[f"{split} context {i}" for i in range(8)],
              answers=[[f"a {i}", "b"] for i in range(8)], detected_answers=[{"text": [f"a {i}"]} for i in range(8)])
    for split in ("train", "validation"):
        write(f"allenai/art/anli/{split}.parquet", label=[1, 2] * 4, **{
            field: [f"{field} {split} {i}" for i in range(8)]
            for field in ("observation_1", "observation_2", "hypothesis_1", "hypothesis_2")})
    wanted = [("wikilingua", "clean", "test"), ("squad", "clean", "train"), ("bioasq", "paper", "test"),
              ("abductive_nli", "clean", "test"), ("rte", "clean", "test")]
    found = load_from(tmp_path, tmp_path / "cache", wanted)
    assert "could not load data set 'nyu-mll/glue' (rte)" in found.pop(("rte", "clean", "test"))["error"]
    assert {key[0]: fact.get("rows", fact.get("error")) for key, fact in found.items()} == {
        "wikilingua": 4, "squad": 2, "bioasq": 4, "abductive_nli": 8}
    assert all(len(fact["provenance"]["revision"]) == 40 for fact in found.values())
    assert found["wikilingua", "clean", "test"]["first"] == "summarize: test 0"
    assert found["abductive_nli", "clean", "test"]["targets"] == {"hypothesis_1": 4, "hypothesis_2": 4}
