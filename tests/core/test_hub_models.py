"""Backbones and checkpoints by their names on a hub, through the real clients."""

import json
from pathlib import Path

import torch
from conftest import awaken
from local_hub import LocalHub, run, write_model

import hyperlab as hl

PROGRAM = """
import json, torch
import hyperlab as hl
model = hl.adapt("tests/t5", "hyperformer++", "rte,cola", reduction_factor=4)
again = hl.load("tests/adapted")
ids = torch.arange(3, 9).view(1, 6)
with torch.no_grad():
    logits = again(input_ids=ids, decoder_input_ids=ids[:, :2], task="rte").logits.double().sum().item()
known = dict(tasks=again.tasks, name=again.source.name, revision=again.source.revision, logits=logits)
try: hl.adapt("tests/t6", "hyperformer++", "rte")
except ValueError as error: known["missing"] = str(error)
print(json.dumps(known | dict(text=type(model.generate("the cat", task="rte")).__name__, own=model.source.revision)))
"""


def test_adapt_and_load_by_name(tmp_path: Path) -> None:
    root = tmp_path / "hub"
    write_model(root, "tests/t5")
    model = hl.adapt(str(root / "models/tests/t5"), "hyperformer++", ["rte", "cola"], reduction_factor=4)
    awaken(model).eval()
    ids = torch.arange(3, 9).view(1, 6)
    with torch.no_grad():
        expected = model(input_ids=ids, decoder_input_ids=ids[:, :2], task="rte").logits.double().sum().item()
    folder = model.save(root / "models/tests/adapted")
    record = json.loads((folder / "config.json").read_text())
    with LocalHub(root) as hub:
        revision = hub.repository("models", "tests/t5").commit()
        record["hyperlab"]["backbone"] |= {"name": "tests/t5", "revision": revision}  # as if it had been trained from there
        (folder / "config.json").write_text(json.dumps(record))
        done = run(PROGRAM, hub.environment(tmp_path / "home"))
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout.splitlines()[-1])
    assert found["tasks"] == ["rte", "cola"] and found["name"] == "tests/t5"
    assert found["revision"] == found["own"] == revision
    assert abs(found["logits"] - expected) < 1e-4 and found["text"] == "str"
    assert found["missing"].startswith("no backbone 'tests/t6', neither as a folder nor on the hub")
