"""Tokens are made once, whole or not at all, and never stale; texts of every kind; chunks of long contexts."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import datasets
import pytest
from datasets import Dataset
from local_hub import PROJECT, sentences, tiny_tokenizer
from transformers import ByT5Tokenizer

from hyperlab.data.tokens import best_answers, chunk_rows
from hyperlab.core.files import _publish
from hyperlab.data.tokens import cache_root, token_features, token_ids, tokenize, tokenizer_fingerprint, truncation


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HYPERLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tokens"


def rows(count: int, seed: int = 0) -> Dataset:
    return Dataset.from_dict({"source": sentences(count, seed), "target": [str(i % 3) for i in range(count)]})


def published(cache: Path) -> list[str]:
    return sorted(p.name for p in cache.glob("*") if not p.name.startswith("."))


def leftovers(cache: Path) -> list[str]:
    return sorted(p.name for p in cache.glob(".*") if p.is_dir())


def test_tokens_are_those_of_the_tokenizer(tokenizer):
    data = rows(500)
    tokens = tokenize(data, tokenizer, max_source_length=20, max_target_length=8)
    expected = tokenizer(data["source"][:], truncation=True, max_length=20)["input_ids"]
    assert tokens["input_ids"][:] == expected
    assert tokens["labels"][:] == tokenizer(data["target"][:])["input_ids"]
    assert tokens["input_length"][:] == [len(ids) for ids in expected]
    whole = [len(ids) for ids in tokenizer(data["source"][:])["input_ids"]]
    assert tokens["source_cut"][:] == [max(0, n - 20) for n in whole]
    assert truncation(tokens)["sources_cut"] == sum(n > 20 for n in whole) > 0


@pytest.mark.parametrize("count", [100, 9_000])  # one process, and several
def test_a_tokenizer_written_in_python_gives_its_own_tokens(count: int):
    data = rows(count)
    tokens = tokenize(data, ByT5Tokenizer(), max_source_length=30)
    assert tokens["input_ids"][:] == ByT5Tokenizer()(data["source"][:], truncation=True, max_length=30)["input_ids"]


def test_several_processes_keep_the_order(tokenizer, monkeypatch: pytest.MonkeyPatch, cache: Path):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    data = rows(9_001)
    assert tokenize(data, tokenizer)["input_ids"][:] == token_ids(tokenizer, data["source"][:])
    assert len(list(cache.glob("*/*.arrow"))) > 1, "this was meant to run in several processes"


def test_what_changes_the_tokens_changes_the_folder(tokenizer, cache: Path):
    data, other = rows(20), tiny_tokenizer()
    other.add_tokens(["housetree"])
    tokenize(data, tokenizer)
    tokenize(data, tokenizer)
    tokenize(data.add_column("idx", list(range(20))), tokenizer)  # a column that is not tokenised
    assert len(published(cache)) == 1
    changed = data.map(lambda row, i: {"target": "9"} if i == 19 else row, with_indices=True)
    variants = [tokenize(changed, tokenizer), tokenize(data, other), tokenize(data, tokenizer, max_source_length=9)]
    variants.append(tokenize(data.select(range(19)), tokenizer))
    assert len(published(cache)) == 1 + len(variants)
    assert variants[0]["labels"][19] == token_ids(tokenizer, ["9"])[0]


def test_the_tokenizer_is_known_by_content(tokenizer, tmp_path: Path):
    tokenizer.save_pretrained(tmp_path / "a")
    reloaded = type(tokenizer).from_pretrained(tmp_path / "a")
    assert tokenizer_fingerprint(reloaded) == tokenizer_fingerprint(tokenizer)
    file = tmp_path / "a" / "tokenizer.json"
    content = json.loads(file.read_text())
    content["model"]["vocab"][-1][0] = "▁zebra"
    file.write_text(json.dumps(content))
    assert tokenizer_fingerprint(type(tokenizer).from_pretrained(tmp_path / "a")) != tokenizer_fingerprint(tokenizer)


def test_a_damaged_folder_is_made_again(tokenizer, cache: Path, caplog: pytest.LogCaptureFixture):
    expected = tokenize(rows(50), tokenizer)[:]
    (file,) = cache.glob("*/tokens.arrow")
    file.write_bytes(file.read_bytes()[:200])
    assert tokenize(rows(50), tokenizer)[:] == expected
    assert "damaged" in caplog.text
    file.unlink()
    assert tokenize(rows(50), tokenizer)[:] == expected


def test_works_with_the_clients_own_caching_switched_off(tokenizer, cache: Path):
    datasets.disable_caching()
    try:
        assert tokenize(rows(50), tokenizer)[:] == tokenize(rows(50), tokenizer)[:]
    finally:
        datasets.enable_caching()
    assert len(published(cache)) == 1


def test_the_loser_of_a_race_keeps_the_winners_folder(cache: Path):
    cache.mkdir(parents=True)

    def build(content: str):
        def write(folder: Path) -> dict:
            if content == "loser": _publish(cache / "made", build("winner"))  # the other one is faster
            (folder / "data").write_text(content)
            return {}
        return write

    _publish(cache / "made", build("loser"))
    assert (cache / "made" / "data").read_text() == "winner"
    assert leftovers(cache) == []


CHILD = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from local_hub import sentences
from hyperlab.data.tokens import tokenize
from datasets import Dataset
from transformers import AutoTokenizer
text = sentences({count}, 5)
data, tokenizer = Dataset.from_dict(dict(source=text, target=text)), AutoTokenizer.from_pretrained({ready!r})
plain = Dataset.map
# It says who did the work
Dataset.map = lambda self, *how, **more: print(more.get("desc"), file=sys.stderr) or plain(self, *how, **more)
Path({ready!r}, str({number})).touch()
while not Path({ready!r}, "go").exists(): time.sleep(0.005)
tokens = tokenize(data, tokenizer, name="race")
print(len(tokens), sum(tokens["input_length"]), sum(tokens["label_length"]))
"""


@pytest.fixture
def ready(tmp_path: Path, tokenizer) -> Path:
    "A folder with the tokenizer (training it again would give another one), where processes say that they are ready"
    tokenizer.save_pretrained(tmp_path / "ready")
    return tmp_path / "ready"


def child(ready: Path, number: int, count: int) -> subprocess.Popen:
    code = CHILD.format(tests=str(PROJECT / "tests"), ready=str(ready), number=number, count=count)
    path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def wait_for(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


@pytest.mark.slow
def test_two_processes_at_once_build_it_once(ready: Path, cache: Path):
    both = [child(ready, number, 8_000) for number in range(2)]
    wait_for(lambda: (ready / "0").exists() and (ready / "1").exists())
    (ready / "go").touch()
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert outputs[0][0].startswith("8000 ")
    assert sum("tokenising race" in errors for _, errors in outputs) == 1, "both did the work"
    assert len(published(cache)) == 1
    assert leftovers(cache) == []


@pytest.mark.slow
def test_a_killed_build_leaves_nothing_that_is_taken_for_tokens(ready: Path, cache: Path, tokenizer):
    (ready / "go").touch()
    process = child(ready, 0, 16_000)
    wait_for(lambda: any(cache.glob(".race-*/*")))  # the first files of the build are there
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert published(cache) == [], "it was killed too late"
    assert len(leftovers(cache)) == 1
    text = sentences(16_000, 5)
    tokens = tokenize(Dataset.from_dict({"source": text, "target": text}), tokenizer, name="race")
    assert len(tokens) == 16_000
    assert tokens[15_999]["input_ids"] == token_ids(tokenizer, text[-1:])[0]
    assert len(published(cache)) == 1
    assert leftovers(cache) == []


def test_the_cache_is_found_from_the_notebooks_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("HYPERLAB_CACHE")
    monkeypatch.chdir(PROJECT / "nbs")
    assert cache_root() == PROJECT / "data_cache"
    (tmp_path / "data_cache").mkdir()
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "deeper")
    assert cache_root() == tmp_path / "data_cache"
    monkeypatch.chdir("/")  # above which there is none, whatever lies beside the temporary folder
    assert cache_root() == Path("/data_cache")
    monkeypatch.setenv("HYPERLAB_CACHE", "~/elsewhere")
    assert cache_root() == Path.home().resolve() / "elsewhere"


ODD = ["", " ", "\n\t", "\0", "é e\u0301", "\u202eright to left\u202c", "日本語", "🦜👩‍👩‍👧", "\ufeffbom",
       "a" * 100_000, "the cat " * 12_500]  # fmt: skip


def test_texts_of_every_kind(tokenizer, caplog: pytest.LogCaptureFixture):
    data = Dataset.from_dict({"source": ODD, "target": ODD[::-1]})
    tokens = tokenize(data, tokenizer, max_source_length=128, max_target_length=16, name="odd")
    assert len(tokens) == len(ODD)
    assert all(0 < len(ids) <= 128 and ids[-1] == tokenizer.eos_token_id for ids in tokens["input_ids"])
    report = truncation(tokens)
    assert report["sources_cut"] == 2
    assert report["longest_source"] > 12_500
    assert report["targets_cut"] >= 2
    assert "2 of 11 sources are longer than 128 tokens" in caplog.text
    assert tokens[0]["input_ids"] == [tokenizer.eos_token_id]


def test_an_empty_split_gives_no_tokens(tokenizer, cache: Path):
    tokens = tokenize(rows(5).select([]), tokenizer)
    assert len(tokens) == 0
    assert tokens.features == token_features()
    assert truncation(tokens)["longest_source"] == 0
    assert published(cache) == []


def test_what_cannot_be_tokenised_is_explained(tokenizer):
    with pytest.raises(ValueError, match=r"missing \['target'\]"):
        tokenize(rows(3).remove_columns("target"), tokenizer)
    with pytest.raises(ValueError, match="row 1 has no target"):
        tokenize(Dataset.from_dict({"source": ["a", "b"], "target": ["1", None]}), tokenizer)
    with pytest.raises(ValueError, match="at least 2, received 1"):
        tokenize(rows(3), tokenizer, max_source_length=1)
    open_ended = tiny_tokenizer()
    from tokenizers import processors
    open_ended.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    with pytest.raises(ValueError, match="closes a text with '</s>'"):
        tokenize(rows(3), open_ended)


def question(words: int, at: int) -> dict:
    text = sentences(400, 3)
    context = " ".join(" ".join(text).split()[:words])
    start = sum(len(w) + 1 for w in context.split()[:at])
    answer = " ".join(context.split()[at : at + 2])
    return {"source": f"question: which one ? context: {context}", "target": answer, "context": context,
            "answers": {"text": [answer], "answer_start": [start]}}


@pytest.mark.parametrize("overlap", [0, 16, 32])
def test_chunks_hold_everything_and_fit(tokenizer, overlap: int):
    rows = Dataset.from_list([question(900, 500), question(10, 3), question(61, 59), question(0, 0)])
    chunks = chunk_rows(rows, tokenizer, max_length=64, overlap=overlap)
    lengths = [len(ids) for ids in token_ids(tokenizer, chunks["source"][:])]
    assert max(lengths) <= 64
    for example in range(4):
        own = chunks.filter(lambda e, example=example: e == example, input_columns="example")
        texts = [source.split("context: ")[1] for source in own["source"]]
        context, covered = rows[example]["context"], 0
        for text in texts:
            begin = context.find(text, max(0, covered - len(text)))
            assert 0 <= begin <= covered + 1, "a chunk leaves something out"
            covered = begin + len(text)
        assert covered == len(context)
    assert list(chunks["chunk"])[:3] == [0, 1, 2]
    assert max(chunks["example"]) == 3


def test_a_chunk_has_the_answer_only_where_it_lies(tokenizer):
    row = question(900, 500)
    chunks = chunk_rows(Dataset.from_list([row]), tokenizer, max_length=64, overlap=32)
    start = row["answers"]["answer_start"][0]
    covered = 0
    for source, target in zip(chunks["source"], chunks["target"], strict=True):
        text = source.split("context: ")[1]
        begin = row["context"].find(text, max(0, covered - len(text)))
        covered = begin + len(text)
        assert (target == row["target"]) == (begin <= start and start + len(row["target"]) <= covered)
    assert 0 < sum(t != "" for t in chunks["target"]) < len(chunks)


def test_a_context_without_spaces_is_chunked_too(tokenizer):
    row = {"source": "context: " + "a" * 100_000, "target": "", "context": "a" * 100_000, "answers": []}
    chunks = chunk_rows(Dataset.from_list([row]), tokenizer, max_length=512, overlap=128)
    assert sum(len(s) for s in chunks["source"]) >= 100_000
    assert max(len(ids) for ids in token_ids(tokenizer, chunks["source"][:])) <= 512


def test_chunks_that_cannot_be_are_explained(tokenizer):
    with pytest.raises(ValueError, match="row 0: the question leaves no room"):
        chunk_rows(Dataset.from_list([question(9, 1)]), tokenizer, max_length=5, overlap=1)
    with pytest.raises(ValueError, match="row 0: the source must hold the context"):
        chunk_rows(Dataset.from_list([question(9, 1) | {"source": "?"}]), tokenizer)
    with pytest.raises(ValueError, match=r"missing \['context'\]"):
        chunk_rows(rows(2), tokenizer)


def test_the_likeliest_answer_that_is_not_empty():
    examples = [0, 0, 0, 0, 1, 1, 2, 3, 3]
    answers = ["", "a", "b", "", "", " ", "c", "d", "e"]
    scores = [-0.1, -3.0, -2.0, -0.01, -9.0, -0.2, float("-inf"), -5.0, -5.0]
    assert best_answers(examples, answers, scores) == ["b", "", "c", "d"]
    with pytest.raises(ValueError, match="no likelihood"):
        best_answers([0], ["a"], [float("nan")])
    with pytest.raises(ValueError, match="none for"):
        best_answers([1], ["a"], [0.0])
    with pytest.raises(ValueError, match="shorter|longer"):
        best_answers([0, 0], ["a"], [0.0])
