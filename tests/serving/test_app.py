"""The app in front of real models: right answers in mixed batches, and a reason for everything it refuses."""

import json
import threading
import time
from collections.abc import Iterator

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

import hyperlab as hl
from hyperlab.serving.app import make_app
from hyperlab.serving.batching import Batcher, Job
from hyperlab.serving.requests import Limits
from toy_runs import toy_model

TEXTS = [f"sentence: the {who} {what} the apples ." for who in ("old farmer", "dog", "queen") for what in ("eats", "see", "likes")]
MODEL = hl.load("nano")
MODEL.cache_weights()


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    toy = toy_model().eval()
    app = make_app({"nano": Batcher(MODEL), "toy": Batcher(toy)}, Limits(seconds=30))
    with TestClient(app, raise_server_exceptions=False) as made:
        yield made


def ask(client: TestClient, text: object, task: object = "nano-cola", **more: object) -> tuple[int, dict]:
    found = client.post("/generate", json={"text": text, "task": task, "model": "nano", **more})
    return found.status_code, found.json()


def test_requests_of_all_tasks_share_batches_and_get_their_own_answers() -> None:
    "64 jobs of eight tasks and mixtures, submitted by 16 threads."
    batcher = Batcher(MODEL)
    parts = [*MODEL.tasks, {"nano-cola": 0.25, "nano-rte": 0.75}]
    asked = [(text, part) for text in TEXTS[:7] for part in parts]
    expected = [MODEL.generate(text, task=part, max_new_tokens=8) for text, part in asked]
    jobs = [Job(MODEL.tokenizer(text).input_ids, part, max_new_tokens=8) for text, part in asked]
    threads = [threading.Thread(target=batcher.submit, args=(jobs[i::16],)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    batcher.close()
    assert [job.answer.result()[0] for job in jobs] == expected
    assert batcher.counts.jobs == len(jobs) and batcher.counts.batches < len(threads), batcher.counts  # callers share them


def test_kinds_of_tasks_and_decoding(client: TestClient) -> None:
    status, found = ask(client, TEXTS[:2], ["nano-cola", {"nano-sst2": 0.5, "nano-cola": 0.5}])
    wanted = [MODEL.generate(t, task=k) for t, k in zip(TEXTS, ["nano-cola", {"nano-sst2": 0.5, "nano-cola": 0.5}], strict=False)]
    assert (status, found["answers"], found["model"]) == (200, wanted, "nano")
    assert ask(client, TEXTS[0], num_beams=3)[1]["answers"] == [MODEL.generate(TEXTS[0], task="nano-cola", num_beams=3)]
    drawn = [ask(client, TEXTS[0], do_sample=True, temperature=30.0, seed=seed)[1]["answers"] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2], "a seed draws the same sample again"
    assert ask(client, TEXTS[0], max_new_tokens=1)[1]["tokens"] == [1]


def test_an_embedding_takes_the_place_of_its_task(client: TestClient) -> None:
    z = MODEL.task_embeddings(["nano-sst2"])
    assert z is not None
    for text in TEXTS[:3]:
        assert ask(client, text, None, embedding=z[0].tolist())[1]["answers"] == ask(client, text, "nano-sst2")[1]["answers"]
    beyond = (4 * z[0] - 1).tolist()  # a place that no task has, in one request with a text of its own each
    assert ask(client, TEXTS[:2], None, embedding=beyond)[0] == 200
    toy = {"text": "a b c", "model": "toy", "embedding": [0.5]}
    assert client.post("/generate", json=toy).status_code == 422


def test_an_answer_has_at_least_so_many_tokens(client: TestClient) -> None:
    asked = {"min_new_tokens": 6, "max_new_tokens": 9}
    found = ask(client, TEXTS[0], **asked)[1]
    assert 6 <= found["tokens"][0] <= 9 and found["answers"] == [MODEL.generate(TEXTS[0], task="nano-cola", **asked)]


def test_two_models_behind_one_server(client: TestClient) -> None:
    tasks = client.get("/tasks").json()["models"]
    assert set(tasks) == {"nano", "toy"}
    for name in tasks:
        found = client.post("/generate", json={"text": "a b c", "task": tasks[name][0], "model": name})
        assert found.status_code == 200 and found.json()["model"] == name
    assert ask(client, "a", model="nanoo")[0] == 404
    assert client.post("/generate", json={"text": "a", "task": "nano-cola"}).status_code == 422  # which of the two?


@pytest.mark.parametrize(
    ("status", "said", "body"),
    [
        (404, "did you mean 'nano-cola'", {"task": "nano-colla"}),
        (404, "unknown task 'mlni'", {"task": {"mlni": 1.0}}),
        (422, "adds up to 1, this one to 0.7", {"task": {"nano-cola": 0.5, "nano-rte": 0.2}}),
        (422, "say which", {"task": None}),
        (422, "one for each of 1", {"task": ["nano-cola", "nano-rte"]}),
        (422, "max_new_tokens", {"max_new_tokens": 10**6}),
        (422, "num_beams", {"num_beams": 0}),
        (422, "min_new_tokens", {"min_new_tokens": 9, "max_new_tokens": 8}),
        (422, "received 2", {"task": None, "embedding": [0.5, 0.5]}),
        (422, "received both", {"embedding": [0.5, 0.5]}),
        (422, "less than or equal to 1000", {"task": {"nano-cola": 1e30, "nano-rte": -1e30, "nano-sst2": 1.0}}),
        (422, "Extra inputs", {"max_tokens": 5}),
        (422, "stream", {"stream": True, "num_beams": 2}),
        (422, "text", {"text": ["fine", 5]}),
        (422, "text", {"text": []}),
        (413, "at most 64 texts", {"text": ["a"] * 65}),
        (413, "at most 512 tokens", {"text": "farmer " * 1000}),
        (413, "bytes in a request", {"text": "x" * 10**7}),
    ],
)
def test_what_can_not_be_answered_is_refused_with_a_reason(client: TestClient, status: int, said: str, body: dict) -> None:
    found = client.post("/generate", json={"text": TEXTS[0], "task": "nano-cola", "model": "nano", **body})
    assert found.status_code == status and said in found.json()["error"], found.text[:500]
    assert found.json()["id"] == found.headers["X-Request-ID"]


def test_nearest_names_come_with_an_unknown_task(client: TestClient) -> None:
    assert ask(client, TEXTS[0], "nano-mrcp")[1]["nearest"][0] == "nano-mrpc"


NO_REQUESTS = [b"", b"{", b"[1]", b'{"text": NaN}', b'{"text": "\\ud800", "task": "nano-cola"}', b"9" * 5000, b"[" * 5000]


@pytest.mark.parametrize("body", NO_REQUESTS)
def test_what_is_no_request_is_refused(client: TestClient, body: bytes) -> None:
    found = client.post("/generate", content=body, headers={"Content-Type": "application/json"})
    assert found.status_code in (400, 422) and found.json()["error"], found.text


def test_an_answer_is_streamed_as_it_grows(client: TestClient) -> None:
    options = {"do_sample": True, "temperature": 50.0, "seed": 3, "max_new_tokens": 12, "model": "nano"}
    with client.stream("POST", "/generate", json={"text": TEXTS[0], "task": "nano-cola", "stream": True, **options}) as found:
        events = [json.loads(line.removeprefix("data: ")) for line in found.iter_lines() if line]
    assert found.headers["Content-Type"].startswith("text/event-stream") and events[-1]["done"]
    pieces = [event["text"] for event in events[:-1]]
    assert len(pieces) >= 2 and events[-1]["answer"].startswith("".join(pieces))
    assert events[-1]["answer"] == ask(client, TEXTS[0], **{k: v for k, v in options.items() if k != "model"})[1]["answers"][0]


def test_ids_token_and_host_names() -> None:
    app = make_app({"nano": Batcher(MODEL)}, token="secret", hosts=["localhost"])
    with TestClient(app, base_url="http://localhost") as made:
        assert made.get("/tasks").status_code == 401 and made.get("/health").status_code == 200
        assert made.get("/tasks", headers={"Authorization": "Bearer wrong"}).status_code == 401
        right = made.get("/tasks", headers={"Authorization": "Bearer secret", "X-Request-ID": "my-own.1"})
        assert right.status_code == 200 and right.headers["X-Request-ID"] == "my-own.1"
        strange = made.get("/health", headers={"X-Request-ID": "a b\tc"})
        assert len(strange.headers["X-Request-ID"]) == 32
        assert made.get("/health", headers={"Host": "evil.example"}).status_code == 403


def test_a_full_queue_a_timeout_and_a_closed_batcher_say_so() -> None:
    batcher = Batcher(MODEL, max_queue=4)
    with TestClient(make_app({"nano": batcher})) as made:
        with MODEL.lock:  # the model is busy
            waits = [threading.Thread(target=ask, args=(made, TEXTS[0]), kwargs={"timeout": 20}) for _ in range(5)]
            for thread in waits:
                thread.start()
            end = time.monotonic() + 20
            while len(batcher.waiting) < 4 and time.monotonic() < end:
                time.sleep(0.01)
            full = made.post("/generate", json={"text": TEXTS[0], "task": "nano-cola"})
            assert full.status_code == 503 and full.headers["Retry-After"] == "1"
        for thread in waits:
            thread.join()
        with MODEL.lock:
            assert ask(made, TEXTS[0], timeout=0.2)[0] == 504
        assert ask(made, TEXTS[0])[0] == 200
        batcher.close()
        assert ask(made, TEXTS[0])[0] == 503


def test_metrics_count_requests_batches_and_kept_weights(client: TestClient) -> None:
    ask(client, TEXTS[0]), ask(client, TEXTS[0])
    numbers = dict(line.rsplit(" ", 1) for line in client.get("/metrics").text.splitlines() if not line.startswith("#"))
    assert float(numbers['hyperlab_weights_total{model="nano",what="hits"}']) > 0
    assert float(numbers['hyperlab_jobs_total{model="nano"}']) >= 2 and float(numbers['hyperlab_failed_total{model="nano"}']) == 0
    assert float(numbers['hyperlab_requests_total{path="/generate",status="200"}']) >= 2


# The description that the app gives of itself: whatever schemathesis makes of it, valid or not, gets a documented answer
FUZZED = make_app({"nano": Batcher(MODEL)}, Limits(new_tokens=8, seconds=30))
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", FUZZED)


@SCHEMA.parametrize()
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_schemathesis_finds_no_server_error(case: schemathesis.Case) -> None:
    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    if case.path == "/ready":
        checks.remove(not_a_server_error)  # 503 until the app has started, as documented
    case.call_and_validate(checks=checks)
