"The nano tasks across chapters: true labels, no leaks, the same everywhere, and the backbone that is shipped."

import hashlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from datasets import disable_progress_bars
from transformers import AutoTokenizer

import hyperlab as hl
from hyperlab.core.backbones import place_of
from hyperlab.training.evaluation import baseline
from hyperlab.data.splits import SPLITS
from hyperlab.nano.tasks import ROW_MAKERS, WORLD_TASKS, inference, nano_data, paws, similarity, some_event, texts_of
from hyperlab.nano.pretraining_texts import Text, all_tokens, correction, nano_tokenizer, some_text
from hyperlab.nano.pretraining import Pretraining, pretrain
from hyperlab.nano.grammar import KIND_OF, Draw, Event, Thing, an_event, near_miss, part_of, say

disable_progress_bars()
BACKBONE = Path(place_of("nano"))
shipped = pytest.mark.skipif(not BACKBONE.exists(), reason="the nano backbone has not been made: run nbs/pretrain.ipynb")
# Rows of rte and paws as every machine makes them
DIGESTS = {"rte": "bb0c2aa46817b305", "paws": "075cfd29c3f9bcdb"}


def describes(general: Thing, special: Thing) -> bool:
    "Whether whatever `special` says of something, `general` says too"
    noun = general.noun in (special.noun, KIND_OF.get(special.noun))
    return noun and general.count == special.count and general.quality in ("", special.quality)


def follows(hypothesis: Event, premise: Event) -> bool:
    "A slow judge of its own: whether the hypothesis happened if the premise did"
    same = all(getattr(hypothesis, slot) in ("", getattr(premise, slot)) for slot in ("time", "place"))
    roles = all(describes(getattr(hypothesis, role), getattr(premise, role)) for role in ("agent", "patient"))
    return same and roles and hypothesis.verb == premise.verb


def judged(premise: Event, hypothesis: Event) -> str:
    "The label that logic gives"
    covered = follows(hypothesis, premise) if premise.happened else follows(premise, hypothesis)
    if not covered:
        return "neutral"
    return "entailment" if premise.happened == hypothesis.happened else "contradiction"


@pytest.mark.parametrize("label", ["entailment", "neutral", "contradiction"])
def test_inference_is_true_by_logic(label):
    draw = Draw("logic", label)
    pairs = [inference(draw, "train", label) for _ in range(500)]
    assert all(judged(premise, hypothesis) == label for premise, hypothesis in pairs)


def test_similarity_is_the_weight_of_shared_slots():
    event = Event(Thing("cook"), "help", Thing("doctor"), "on_monday", "in_the_park")
    assert similarity(event, event) == 5.0
    assert similarity(event, replace(event, agent=event.patient, patient=event.agent)) == 2.6
    assert similarity(event, replace(event, time="", verb="hit")) == 3.0


def test_near_misses_stay_in_their_split_and_differ():
    draw = Draw("misses")
    for _ in range(300):
        event = some_event(draw, "test")
        other = near_miss(draw, event)
        assert other != event and part_of(event.key) == "test"


def test_paws_gives_nothing_away_by_its_words():
    draw = Draw("paws")
    function = {"was", "were", "by"}
    for _ in range(200):
        row = paws(draw, "train")
        bags = [Counter(w for w in row[name].strip(".").split() if w not in function) for name in ("sentence1", "sentence2")]
        assert bags[0] == bags[1]


@pytest.mark.parametrize("name", list(ROW_MAKERS))
def test_splits_share_no_sentence(name):
    seen = {split: {text for row in rows for text in texts_of(row)} for split, rows in nano_data(name).items()}
    for one, other in (("train", "validation"), ("train", "test"), ("validation", "test")):
        assert not seen[one] & seen[other]


@pytest.mark.parametrize("name", list(WORLD_TASKS))
def test_every_class_occurs_and_every_word_is_known(name):
    task, tokenizer = hl.task(name), nano_tokenizer()
    rows = task.load("test", name_in_prompt=True)
    ids = tokenizer(list(rows["source"]) + list(rows["target"]))["input_ids"]
    assert not any(tokenizer.unk_token_id in row for row in ids)
    assert all(len(row) == 2 for row in ids[len(rows):])               # an answer is one token and the closing sign
    assert set(rows["target"]) >= set(task.labels)
    assert task.score(list(rows["target"]), rows)[task.metrics[0]] == pytest.approx(100)


@pytest.mark.parametrize("name", list(DIGESTS))
def test_rows_are_the_same_on_every_machine(name):
    rows = [list(row.values()) for split in SPLITS for row in nano_data(name)[split]]
    assert hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16] == DIGESTS[name]


# In cb the verb tells neutral from the rest, which is worth two thirds
MOST = {"nano-mrpc": 66, "nano-rte": 60, "nano-cb": 72, "nano-paws": 58, "nano-boolq": 58}


@pytest.mark.parametrize(("name", "most"), MOST.items())
def test_words_alone_do_not_give_the_answer(name, most):
    assert baseline(name, "words")["accuracy"] < most


def test_groups_and_mirrors():
    assert len(hl.tasks("nano")) == 8 and len(hl.tasks("nano-fewshot")) == 7
    for name in hl.tasks("nano") + hl.tasks("nano-fewshot"):
        task = hl.task(name)
        mirrored = hl.task({"yelp": "yelp_polarity"}.get(name[5:], name[5:]))
        assert all(getattr(task, what) == getattr(mirrored, what) for what in ("family", "prompt", "answer", "metrics"))
    with pytest.raises(ValueError, match="choose another"):
        hl.register_task(hl.task("nano-rte"))


def test_pretraining_reads_no_sentence_of_a_test_split():
    draw = Draw("texts")
    held_out = {text for name in ("mrpc", "mnli", "qnli", "cola") for row in nano_data(name)["test"] for text in texts_of(row)}
    read = [" ".join(segment[1:]) for _ in range(3000) for segment in some_text(draw).segments]   # a question names one being only
    said = {text.replace(" ,", ",").replace(" .", ".").replace(" ?", "?") for text in read}
    assert not {text for text in held_out & said if not text.endswith("?")}


def test_corrections_say_what_was_changed():
    draw = Draw("mistakes")
    tokens = set(all_tokens())
    for _ in range(500):
        event = an_event(draw)
        text = Text((("sentence1:", *say(draw, event)[:-1].replace(",", " ,").split(), "."),) * 2, True)
        source, wrong = correction(draw, text) or ([], [])
        assert set(source) | set(wrong) <= tokens
        if len(wrong) == 3:
            assert wrong[1] in source and wrong[2] in source


def test_pretraining_repeats_itself(tmp_path):
    how = Pretraining(steps=4, pool=200, warmup=2, copying=2)
    first, second = (pretrain(how, tmp_path / name, report_every=2) for name in "ab")
    assert all(torch.equal(p, q) for p, q in zip(first.parameters(), second.parameters(), strict=True))


@shipped
def test_the_backbone_is_what_its_card_says():
    card = (BACKBONE / "README.md").read_text()
    weights = BACKBONE / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() in card
    assert weights.stat().st_size < 8_000_000
    model = hl.adapt("nano", "adapter-dagger", tasks=["nano-rte"], reduction_factor=8)
    assert 1_000_000 < sum(p.numel() for p in model.backbone.parameters()) < 4_000_000
    assert model.backbone.dtype == torch.float32
    assert model.tokenizer.get_vocab() == nano_tokenizer().get_vocab() == AutoTokenizer.from_pretrained(BACKBONE).get_vocab()


@shipped
def test_a_model_on_the_backbone_is_saved_by_its_name(tmp_path):
    model = hl.adapt("nano", "hyperformer++", tasks=["nano-rte", "nano-mrpc"], reduction_factor=8).eval()
    model.save(tmp_path / "model")
    again = hl.load(tmp_path / "model")
    texts = ["sentence1: the cook helped the doctor. sentence2: the doctor was helped by the cook."]
    assert again.source.name == "nano"
    assert again.generate(texts, task="nano-rte") == model.generate(texts, task="nano-rte")
