"""Question answering over chunks and summaries with beams, end to end: data, training, generation, scores.

Rows are made up in the form in which tasks load them, and real ones when a folder of them is beside the project.
"""

from pathlib import Path

import pytest
import torch
from conftest import SEED, margin, tiny_backbone
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

import hyperlab as hl
from hyperlab.data.tokens import chunk_rows
from hyperlab.data.metrics import rouge2, squad_f1
from hyperlab.training.evaluation import answer_questions

HUB = next((p / "shared/hub" for p in Path(__file__).resolve().parents if (p / "shared/hub/datasets").is_dir()), None)


ROWS = ["made up", pytest.param("real", marks=pytest.mark.skipif(HUB is None, reason="no folder of datasets beside the project"))]
UPDATES, RATE = 120, 1e-2


def made_up(kind: str) -> Dataset:
    "Six rows whose answer lies in the middle of a context of a hundred words."
    rows = []
    for i in range(6):
        filler = " ".join(f"word{(7 * i + j) % 20}" for j in range(50))
        place, person = f"Place{i}", f"Person{i}"
        context = f"{filler} {person} lives in {place} . {filler}"
        if kind == "qa":
            source, target = f"question: Where does {person} live? context: {context}", place
        else:
            source, target = f"summarize: {person} lives in {place} . {filler}", f"{person} lives in {place} and likes it ."
        answers = {"text": [place], "answer_start": [context.index(place)]}
        rows.append({"source": source, "target": target, "context": context, "answers": answers})
    return Dataset.from_list(rows)


def rows_of(kind: str, origin: str) -> Dataset:
    if origin == "made up":
        return made_up(kind)
    name = {"qa": "squad_v1", "summary": "xsum"}[kind]
    return hl.task(name).load("test", path=HUB, max_examples=6)


def word_tokenizer(rows: Dataset) -> PreTrainedTokenizerFast:
    "One token for each word of these rows."
    words = dict.fromkeys(w for column in ("source", "target") for text in rows[column] for w in text.split())
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(["<pad>", "</s>", "<unk>", *words]))}
    core = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=core, model_max_length=80, **special)


def learn(model: hl.AdaptedModel, sources: list[str], targets: list[str]) -> None:
    "All rows in every update and a rate that falls to zero: without noise between updates the last one is the best."
    inputs = model.tokenizer(sources, return_tensors="pt", padding=True, truncation=True)
    labels = model.tokenizer(targets, return_tensors="pt", padding=True)["input_ids"]
    labels[labels == 0] = -100
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=RATE)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 - update / UPDATES)
    losses = []
    for _ in range(UPDATES):
        loss = model(**inputs, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        falling.step()
        losses.append(loss.item())
    # Not to zero: logits of a frozen random backbone are bounded by the length of its embeddings, about sqrt(48)
    margin("last loss, as a share of the first", losses[-1] / losses[0], 0.4)


def made_model(rows: Dataset) -> hl.AdaptedModel:
    tokenizer = word_tokenizer(rows)
    backbone = tiny_backbone(vocab_size=len(tokenizer), pad_token_id=0, eos_token_id=1)
    torch.manual_seed(SEED)
    sizes = {"encoder_size": 16, "decoder_size": 16, "hypernetwork_width": 32}
    return hl.adapt(backbone, "hyperdecoder", tokenizer=tokenizer, **sizes).train()


@pytest.mark.margins
@pytest.mark.parametrize("origin", ROWS)
def test_questions_over_chunks(origin: str) -> None:
    "Answers are found behind the first chunk, and a chunk that lacks the answer says so."
    rows = rows_of("qa", origin)
    model = made_model(rows)
    size = {"max_length": 40, "overlap": 8} if origin == "made up" else {"max_length": 64, "overlap": 16}
    chunks = chunk_rows(rows, model.tokenizer, **size)
    first = [target for target, chunk in zip(chunks["target"], chunks["chunk"], strict=True) if chunk == 0]
    assert len(chunks) > len(rows) and (set(first) == {""} if origin == "made up" else "" in first)
    learn(model, chunks["source"][:], chunks["target"][:])
    answers = answer_questions(model.eval(), rows, **size, max_new_tokens=8)
    assert len(answers) == len(rows)
    margin("what F1 lacks", 1 - squad_f1(answers, [a["text"] for a in rows["answers"]]) / 100, 0.5)


@pytest.mark.margins
@pytest.mark.parametrize("origin", ROWS)
def test_summaries_with_beams(origin: str) -> None:
    rows = rows_of("summary", origin)
    model = made_model(rows)
    targets = [" ".join(t.split()[:12]) for t in rows["target"]]
    learn(model, rows["source"][:], targets)
    options = {"num_beams": 4, "max_new_tokens": 16, "min_new_tokens": 4}
    written = model.eval().generate(rows["source"][:], **options)
    margin("what ROUGE-2 lacks", 1 - rouge2(written, targets) / 100, 0.5)
    alone = [model.generate(text, **options) for text in rows["source"][:]]
    assert written == alone
