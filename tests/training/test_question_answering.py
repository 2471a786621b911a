"""Question answering over chunks and summaries with beams, end to end: data, training, generation, scores.

Rows are made up in the form in which tasks load them, and real ones when a folder of them is beside the project.
"""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from conftest import SEED, margin, tiny_backbone
from datasets import Dataset, DatasetDict, concatenate_datasets
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

import hyperlab as hl
from hyperlab.data import benchmarks
from hyperlab.data.tokens import chunk_rows, load_task_split
from hyperlab.data.metrics import rouge2, squad_f1
from hyperlab.training.evaluation import answer_questions, scored_answers

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


def mrqa_rows(subset: str, size: int) -> Dataset:
    "Rows as MRQA has them."
    rows = []
    for i in range(size):
        place, person = f"Place{i % 7}", f"Person{i % 7}"
        context = f"word{i} word{i + 1} {person} lives in {place} ."
        start = context.index(place)
        spans = {"start": [start], "end": [start + len(place) - 1]}
        found = {"text": [place], "char_spans": [spans], "token_spans": [{"start": [5], "end": [5]}]}
        question = {"subset": subset, "question": f"Where does {person} live?", "context": context}
        rows.append(question | {"answers": [place], "detected_answers": found})
    return Dataset.from_list(rows)


@pytest.fixture
def mrqa(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    "Three sets of MRQA with rows of their own: two to train on, and one to test on."
    names = {"squad": "SQuAD", "newsqa": "NewsQA", "bioasq": "BioASQ"}
    for name, subset in names.items():
        files = {"train": mrqa_rows(subset, 24), "validation": mrqa_rows(subset, 6), "test": mrqa_rows(subset, 5)}
        own = replace(hl.task(name), data=DatasetDict(files))
        monkeypatch.setitem(benchmarks._TASKS, name, own)
    return list(names)


def reader(method: str, tasks: list[str], **options: object) -> hl.AdaptedModel:
    "A tiny model that knows the words of these rows."
    made = [hl.task(name).load("test") for name in ("squad", "bioasq")]
    tokenizer = word_tokenizer(concatenate_datasets([rows.select_columns(["source", "target"]) for rows in made]))
    backbone = tiny_backbone(vocab_size=len(tokenizer), pad_token_id=0, eos_token_id=1)
    torch.manual_seed(SEED)
    return hl.adapt(backbone, method, tasks, tokenizer=tokenizer, **options)


SIZES = {"encoder_size": 8, "decoder_size": 8, "hypernetwork_width": 8}


@pytest.mark.filterwarnings("ignore:a train file of")
@pytest.mark.parametrize("protocol", ["clean", "paper", "released"])
def test_mrqa_is_trained_under_every_protocol(protocol: str, mrqa: list[str], tmp_path: Path) -> None:
    "The paper trains for four epochs and tests the last weights: it holds nothing out, and needs no validation."
    model = reader("hyperdecoder", mrqa[:2], **SIZES)
    settings = {"steps": 3} if protocol == "clean" else {}
    run = hl.train(model, protocol=protocol, batch_size=8, run_dir=tmp_path, progress=False, report_to="none", **settings)
    result = run.result
    assert set(result["tasks"]) == {"squad", "newsqa"} and set(result["split"].values()) == {"test"}
    if protocol != "clean":
        assert result["steps"] == 2 * 4 * 3  # tasks × epochs × batches of 8 in 24 rows; released code loses a row of each
        assert result["selection"] == {"rule": "last", "steps": dict.fromkeys(("average", "squad", "newsqa"), 24)}
        assert result["validation"] == {} and "validation" not in set(run.log.get("split", []))
        assert run.config["data"]["validation"] == {}
    assert (
        hl.train(model, protocol=protocol, batch_size=8, run_dir=tmp_path, progress=False, report_to="none", **settings).result
        == result
    )


def test_choosing_by_validation_needs_its_rows(mrqa: list[str], tmp_path: Path) -> None:
    model = reader("hyperdecoder", mrqa[:2], **SIZES)
    with pytest.raises(ValueError, match="squad, newsqa: no rows for validation.*selection='last'"):
        hl.train(model, 2, protocol="paper", selection="average", run_dir=tmp_path, progress=False, report_to="none")
    with pytest.raises(ValueError, match="bioasq: no rows for train"):
        hl.train(reader("hyperdecoder", ["bioasq"], **SIZES), 2, run_dir=tmp_path, progress=False, report_to="none")


def test_tasks_out_of_domain_are_evaluated_by_name(mrqa: list[str]) -> None:
    "Hyperdecoders, Tables 5 and 15: methods conditioned on the input answer directly, others as a task or as the mean of all."
    direct = reader("hyperdecoder", mrqa[:2], **SIZES)
    found = hl.evaluate(direct, "bioasq")
    assert (
        set(found.tasks) == {"bioasq"}
        and len(found.predictions["bioasq"]) == 5
        and set(found.tasks["bioasq"]) == {"squad_f1", "squad_em"}
    )
    assert hl.evaluate(direct, "bioasq", as_task="newsqa").predictions == found.predictions
    told = reader("task-hypernet", mrqa[:2], **SIZES)
    with pytest.raises(ValueError, match="bioasq: expected one of the model's tasks .squad, newsqa.*as_task='mean'"):
        hl.evaluate(told, ["bioasq"])
    rows = load_task_split("bioasq", "test", told)
    for as_task, mixture in (("newsqa", "newsqa"), ("mean", {"squad": 0.5, "newsqa": 0.5})):
        wanted = [
            text for text, _ in scored_answers(told.eval(), rows.rows["source"][:], mixture, max_new_tokens=rows.answer_length)
        ]
        assert hl.evaluate(told, "bioasq", as_task=as_task).predictions["bioasq"] == wanted
    alone = reader("task-hypernet", ["squad"], **SIZES)
    assert set(hl.evaluate(alone, "bioasq,squad", max_examples=2).tasks) == {"bioasq", "squad"}


@pytest.mark.parametrize("method", ["full", "parallel-adapter", "hyperdecoder", "hypergrid"])
def test_only_methods_with_something_per_task_ask_which(method: str, mrqa: list[str]) -> None:
    options = {"rows": 4, "columns": 4} if method == "hypergrid" else {}
    assert not reader(method, mrqa[:2], **options).weights_follow_task
    if options:
        assert reader(method, mrqa[:2], global_part="task", **options).weights_follow_task
