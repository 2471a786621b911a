"""Real benchmark rows through the real client, when a folder of them is beside the project."""

import json

import pytest
from local_hub import PROJECT, LocalHub, run

BESIDE = PROJECT.parent / "shared" / "hub"
# A clone may lie deeper than the project itself, so look further up too
REAL = next((p / "shared/hub" for p in PROJECT.parents if (p / "shared/hub/datasets").is_dir()), BESIDE)

pytestmark = pytest.mark.skipif(
    not (REAL / "datasets").is_dir(), reason=f"no folder of real data at {REAL}: nothing to check against"
)

CODE = """
import json
import datasets
import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast
import hyperlab as hl
from hyperlab.data.tokens import token_ids

datasets.disable_progress_bars()
loaded = {name: hl.task(name).load("train", max_examples=3_000) for name in hl.tasks("glue")}

# A tokenizer of T5's kind, trained on the texts themselves: real words have real lengths
core = Tokenizer(models.Unigram())
core.normalizer, core.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
special = ["<pad>", "</s>", "<unk>"]
trainer = trainers.UnigramTrainer(vocab_size=4_000, special_tokens=special, unk_token="<unk>", show_progress=False)
core.train_from_iterator([s for rows in loaded.values() for s in rows["source"][:800]], trainer)
core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")

tokens = {name: hl.data.tokenize(rows, tokenizer, name=name) for name, rows in loaded.items()}
lengths = {name: t["input_length"][:] for name, t in tokens.items()}
cost = {mixed: hl.data.padding_cost(hl.data.BatchPlan(lengths, 32, mixed=bool(mixed)), 500) for mixed in (0, 1)}
dynamic = hl.data.padding_cost(hl.data.BatchPlan(lengths, 32, by_length=False), 500)

squad = hl.task("squad_v1").load("test").select(range(0, 10_000, 25))
chunks = hl.data.chunk_rows(squad, tokenizer, max_length=128, overlap=32)
longest = max(len(ids) for ids in token_ids(tokenizer, chunks["source"][:]))
# A reader that knows the answer but is unsure of it, and sure of every empty one
scores = [-5.0 if target else -0.01 for target in chunks["target"]]
answers = hl.data.best_answers(chunks["example"], chunks["target"], scores)
score = hl.task("squad_v1").score(answers, squad)
print(json.dumps(dict(rows={n: len(r) for n, r in loaded.items()}, cost=cost, dynamic=dynamic, questions=len(squad),
                      chunks=len(chunks), longest=longest, empty=sum(t == "" for t in chunks["target"]), score=score)))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict:
    with LocalHub(REAL) as hub:
        home = tmp_path_factory.mktemp("home")
        done = run(CODE, hub.environment(home, HYPERLAB_CACHE=str(home / "tokens")), timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_glue_task_loads_and_tokenises(found: dict):
    assert set(found["rows"]) == {"cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte"}
    assert all(2_000 < rows <= 3_000 for rows in found["rows"].values())


def test_padding_on_real_lengths_is_at_most_a_twentieth(found: dict):
    assert max(found["cost"].values()) <= 1.05
    assert found["dynamic"] > 1.4  # what is saved


def test_real_contexts_are_chunked_and_answers_found_again(found: dict):
    assert found["longest"] <= 128
    assert found["chunks"] > 1.5 * found["questions"]
    assert found["empty"] > 0
    assert found["score"]["squad_em"] == 100, "a reader that knows the answers did not get them all"
