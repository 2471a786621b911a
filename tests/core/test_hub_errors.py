"""The real `datasets` and `transformers` clients against a hub that works, breaks off, loses files or is not asked."""

import json
from pathlib import Path

import pytest
from local_hub import LocalHub, run, write_data_set, write_model

pytestmark = pytest.mark.slow  # each test asks the hub from processes of its own
LOADERS = """
import json
from huggingface_hub import constants
from hyperlab.core.errors import explain_hub_errors

constants.DOWNLOAD_CHUNK_SIZE = 1_000  # a broken download goes on after its last whole chunk; 10 MB is all we have

def data(name="tests/pairs", config="tiny", **options):
    from datasets import load_dataset
    with explain_hub_errors(f"data set {name!r} ({config})"): return load_dataset(name, config, **options)

def model(name="tests/t5"):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
    with explain_hub_errors(f"model {name!r}"):
        return AutoModelForSeq2SeqLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)

def task():
    import hyperlab as hl
    return hl.task("rte").load("train")

def failure(load, *args, **options):
    try: load(*args, **options)
    except Exception as error: return type(error).__name__, str(error)
    return "loaded", ""
"""
FACTS = """
rows, (t5, tokenizer) = data(), model()
weights = float(sum(p.double().abs().sum() for p in t5.parameters()))
print(json.dumps([{k: v[:] for k, v in rows.items()}, weights, tokenizer("the cat").input_ids]))
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hub")
    write_data_set(root, "tests/pairs", "tiny", train=640, validation=16)
    write_model(root, "tests/t5")
    return root


@pytest.fixture
def hub(root: Path):
    with LocalHub(root) as hub:
        yield hub


def answer(code: str, environment: dict[str, str]):
    "What the code prints as JSON"
    done = run(LOADERS + code, environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def true_rows(root: Path) -> dict:
    import pandas as pd

    folder = root / "datasets/tests/pairs/tiny"
    return {f.stem: pd.read_parquet(f).to_dict("list") for f in sorted(folder.glob("*.parquet"))}


def test_loads_and_then_serves_from_the_cache_offline(hub: LocalHub, root: Path, tmp_path: Path):
    online = answer(FACTS, hub.environment(tmp_path))
    assert online[0] == true_rows(root)
    asked = len(hub.requests)
    assert asked > 0
    assert answer(FACTS, hub.environment(tmp_path, HF_HUB_OFFLINE="1")) == online
    assert len(hub.requests) == asked, "offline mode asked the hub"


def test_offline_with_a_cold_cache_says_so(hub: LocalHub, tmp_path: Path):
    code = "print(json.dumps([failure(data), failure(model)]))"
    failures = answer(code, hub.environment(tmp_path, HF_HUB_OFFLINE="1"))
    for (kind, message), name in zip(failures, ("tests/pairs", "tests/t5"), strict=True):
        assert kind == "HubError"
        assert name in message
        assert "offline mode is on" in message
        assert str(tmp_path) in message
    assert not hub.requests


def test_a_connection_dropped_in_mid_file_is_resumed(hub: LocalHub, root: Path, tmp_path: Path):
    hub.drop("train.parquet", at=5_000)
    hub.drop("model.safetensors", at=7_000)
    rows, _, _ = answer(FACTS, hub.environment(tmp_path))
    assert rows == true_rows(root)
    assert [left for _, left in hub.drops.values()] == [0, 0], "nothing was dropped"
    spans = {r.path.rsplit("/")[-1]: r.span for r in hub.requests if r.span and r.method == "GET"}
    assert spans["train.parquet"].startswith("bytes=5000-")
    assert spans["model.safetensors"].startswith("bytes=7000-")


def test_a_hub_that_always_breaks_off_is_explained_and_a_second_run_loads(hub: LocalHub, root: Path, tmp_path: Path):
    hub.drop("train.parquet", at=3_000, times=1_000)
    ((kind, message),) = answer("print(json.dumps([failure(data)]))", hub.environment(tmp_path))
    assert kind == "HubError"
    assert "broke off" in message
    assert hub.endpoint in message
    assert "tests/pairs" in message
    hub.drops.clear()
    rows = answer("print(json.dumps({k: v[:] for k, v in data().items()}))", hub.environment(tmp_path))
    assert rows == true_rows(root)


def test_what_is_not_there_is_named(hub: LocalHub, tmp_path: Path):
    hub.lose("validation.parquet")
    hub.lose("model.safetensors")
    code = """
print(json.dumps([failure(data), failure(model), failure(data, "tests/pears"), failure(model, "tests/t6"),
                  failure(data, revision="v9"), failure(data, config="tyni"), failure(task)]))"""
    file, weights, no_data, no_model, revision, config, task = answer(code, hub.environment(tmp_path))
    assert file[0] == "HubError"
    assert "file" in file[1]
    assert "validation.parquet" in file[1]
    assert weights[0] == "HubError"
    assert "file" in weights[1]
    assert "model.safetensors" in weights[1]
    for kind, message in (no_data, no_model):
        assert kind == "HubError"
        assert "no such repository" in message
        assert hub.endpoint in message
    assert "tests/pears" in no_data[1]
    assert "tests/t6" in no_model[1]
    assert revision[0] == "HubError"
    assert "revision" in revision[1]
    assert config[0] == "ValueError", "an error that is clear already was changed"
    assert "'tiny'" in config[1]
    assert task[0] == "HubError"  # the library's own way of loading explains itself too
    assert "nyu-mll/glue" in task[1]
