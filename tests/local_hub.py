"""A hub on loopback for the tests: serves a folder to the real clients (`datasets`, `transformers`), fails on request.

The folder holds datasets/OWNER/NAME/CONFIG/SPLIT.parquet and models/OWNER/NAME/*.

    with LocalHub(folder) as hub:
        hub.drop("train.parquet", at=100)             # the next answer with that file breaks off at its byte 100
        hub.lose("validation.parquet")                # listed, but not there when it is asked for
        run(code, hub.environment(home))              # a process of its own, with a client cache of its own
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

PROJECT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Request:
    "One request as the hub saw it."

    method: str
    path: str
    span: str | None  # the Range header, as a client sends it when it goes on with a file


@dataclass
class Repository:
    "The files of one repository; a data set without a README gets one that names its configurations and splits."

    kind: str
    name: str
    folder: Path

    def files(self) -> dict[str, bytes]:
        found = {str(p.relative_to(self.folder)): p.read_bytes() for p in sorted(self.folder.rglob("*")) if p.is_file()}
        if self.kind == "datasets":
            found.setdefault("README.md", self.card().encode())
        return found

    def card(self) -> str:
        lines = ["---", "configs:"]
        for config in sorted(p for p in self.folder.iterdir() if p.is_dir()):
            lines += [f"- config_name: {config.name}", "  data_files:"]
            for file in sorted(config.glob("*.parquet")):
                lines += [f"  - split: {file.stem}", f"    path: {config.name}/{file.name}"]
        return "\n".join([*lines, "---", ""])

    def commit(self) -> str:
        "The revision follows the content, so that an edited file is a new revision."
        digest = hashlib.sha1()
        for name, body in self.files().items():
            digest.update(name.encode() + b"\0" + hashlib.sha1(body).digest())
        return digest.hexdigest()

    def description(self) -> dict[str, Any]:
        return {
            "_id": self.name,
            "id": self.name,
            "sha": self.commit(),
            "lastModified": "2026-01-01T00:00:00.000Z",
            "private": False,
            "gated": False,
            "disabled": False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "siblings": [{"rfilename": name, "size": len(body)} for name, body in self.files().items()],
        }

    def tree(self, under: str, recursive: bool) -> list[dict[str, Any]]:
        rows: dict[str, dict[str, Any]] = {}
        prefix = f"{under}/" if under else ""
        for name, body in self.files().items():
            if not name.startswith(prefix):
                continue
            head, _, rest = name[len(prefix) :].partition("/")
            if rest:
                rows[prefix + head] = {"type": "directory", "path": prefix + head, "size": 0, "oid": "0" * 40}
            if recursive or not rest:
                rows[name] = {"type": "file", "path": name, "size": len(body), "oid": hashlib.sha1(body).hexdigest()}
        return list(rows.values())


@dataclass
class LocalHub:
    "The server, its log of requests and the faults it has been asked for."

    root: Path
    requests: list[Request] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    drops: dict[str, list[int]] = field(default_factory=dict)  # file name -> [byte of the file, breaks left]

    def __enter__(self) -> LocalHub:
        handler = type("Handler", (_Handler,), {"hub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def drop(self, file: str, at: int, times: int = 1) -> None:
        "Break the connection `at` a byte of `file`, for the next `times` answers."
        self.drops[file] = [at, times]

    def lose(self, file: str) -> None:
        "Go on listing `file`, but answer 404 when it is asked for."
        self.lost.add(file)

    def repository(self, kind: str, name: str) -> Repository | None:
        folder = self.root / kind / name
        return Repository(kind, name, folder) if folder.is_dir() else None

    def environment(self, home: Path, **extra: str) -> dict[str, str]:
        "What a client process needs to use this hub and the cache in `home`, and nothing else."
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
        path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH", "")]))
        return {
            **kept,
            "PYTHONPATH": path,
            "HF_ENDPOINT": self.endpoint,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "TOKENIZERS_PARALLELISM": "false",
            **extra,
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: LocalHub

    def log_message(self, *_: object) -> None: ...

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        url = urlparse(self.path)
        self.hub.requests.append(Request(self.command, url.path, self.headers.get("Range")))
        parts = [unquote(p) for p in url.path.strip("/").split("/")]
        api = parts[0] == "api"
        parts = parts[1:] if api else parts
        kind = parts.pop(0) if parts and parts[0] in ("datasets", "models") else "models"
        words = 1 if parts[1:2] and parts[1] in ("resolve", "revision", "tree") else 2  # t5-base has no owner
        repository, rest = self.hub.repository(kind, "/".join(parts[:words])), parts[words:]
        if repository is None:
            self.refuse("RepoNotFound", "Repository not found")
        elif len(rest) > 1 and rest[1] not in ("main", repository.commit()):
            self.refuse("RevisionNotFound", f"Invalid rev id: {rest[1]}")
        elif api and (not rest or rest[0] == "revision"):
            self.send_json(repository.description())
        elif api and rest[0] == "tree":
            recursive = parse_qs(url.query).get("recursive", ["false"])[0].lower() == "true"
            self.send_json(repository.tree("/".join(rest[2:]), recursive))
        elif not api and rest[:1] == ["resolve"]:
            self.send_file(repository, "/".join(rest[2:]))
        else:
            self.refuse("EntryNotFound", "Entry not found")

    def refuse(self, code: str, message: str) -> None:
        self.send(404, json.dumps({"error": message}).encode(), {"X-Error-Code": code, "X-Error-Message": message})

    def send_json(self, answer: object) -> None:
        self.send(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def send_file(self, repository: Repository, name: str) -> None:
        body = repository.files().get(name)
        if body is None or Path(name).name in self.hub.lost:
            self.refuse("EntryNotFound", "Entry not found")
            return
        headers = {
            "ETag": f'"{hashlib.sha1(body).hexdigest()}"',
            "X-Repo-Commit": repository.commit(),
            "Accept-Ranges": "bytes",
        }
        span = self.headers.get("Range")
        if span and self.command == "GET":
            first, _, last = span.removeprefix("bytes=").partition("-")
            begin, end = int(first), int(last) if last else len(body) - 1
            headers["Content-Range"] = f"bytes {begin}-{end}/{len(body)}"
            self.send(206, body[begin : end + 1], headers, Path(name).name, begin)
        else:
            self.send(200, body, headers, Path(name).name)

    def send(self, status: int, body: bytes, headers: dict[str, str], file: str = "", begin: int = 0) -> None:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "GET":
            return
        drop = self.hub.drops.get(file)
        if drop and drop[1] > 0:
            drop[1] -= 1
            self.wfile.write(body[: max(0, drop[0] - begin)])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self.wfile.write(body)


def run(code: str, environment: dict[str, str], timeout: float = 120) -> subprocess.CompletedProcess[str]:
    "Run `code` in a Python process of its own."
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


CORPUS = "the a old new cat dog bird house tree river runs sleeps sings sees under over red green small big"


def sentences(count: int, seed: int) -> list[str]:
    "Generated English-like sentences of 3 to 24 words."
    import numpy as np

    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(CORPUS.split(), size=int(rng.integers(3, 25)))) for _ in range(count)]


def tiny_tokenizer() -> Any:
    "A unigram tokenizer of T5's kind (words marked by a leading bar, </s> at the end) with a vocabulary of 300 pieces."
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.Unigram())
    core.pre_tokenizer, core.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    core.train_from_iterator(
        ["premise: hypothesis: question: context: sentence1: 0 1 2", *sentences(300, seed=0)], trainer
    )
    core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def write_data_set(root: Path, name: str, config: str, **rows: int) -> Path:
    "A generated pair-classification data set: `write_data_set(root, 'owner/name', 'tiny', train=64, validation=16)`."
    import pandas as pd

    folder = root / "datasets" / name / config
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (split, count) in enumerate(rows.items()):
        first, second = sentences(count, 2 * seed + 1), sentences(count, 2 * seed + 2)
        table = pd.DataFrame(
            {"premise": first, "hypothesis": second, "label": [i % 3 for i in range(count)], "idx": range(count)}
        )
        table.to_parquet(folder / f"{split}.parquet")
    return folder


def write_model(root: Path, name: str, width: int = 16) -> Path:
    "A T5 of one layer with its tokenizer, as `save_pretrained` writes them."
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    folder = root / "models" / name
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=320,
        d_model=width,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder
