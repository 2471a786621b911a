"""Hundreds of values for the parameters of a run: each ends in a plan, or in an error that names it and says what was expected.

What is right is said here a second time, by tables that know nothing of the library's checks. `HYPERLAB_LONG=1` draws thousands.
"""

import math
import os
import random
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import pytest

import hyperlab as hl

datasets.disable_progress_bars()
LONG = bool(os.environ.get("HYPERLAB_LONG"))
NAN, INF = math.nan, math.inf
BASE = {"method": "adapter-dagger", "backbone": "toy", "tasks": "toy", "steps": 2, "batch_size": 4, "report_to": "none"}
STRANGE = [
    "",
    "3",
    "many",
    b"1",
    [],
    {},
    [1],
    {"a": 1},
    (),
    1.5,
    NAN,
    INF,
    -INF,
    True,
    False,
    10**12,
    -(10**12),
    10**400,
    0,
    -1,
    1,
    2,
    3,
    64,
    1e-3,
]


def whole(low: int, high: int = 2**31 - 1) -> Callable[[Any], bool]:
    return lambda v: v is None or (type(v) is int and low <= v <= high)


def real(low: float, below: float = INF, above: bool = False) -> Callable[[Any], bool]:
    "A finite number; whole numbers end where all whole numbers do."
    return lambda v: (
        v is None
        or (
            type(v) in (int, float) and v == v and low <= v < below and (type(v) is float or v < 2**31) and not (above and v == low)
        )
    )


def one_of(*known: Any) -> Callable[[Any], bool]:
    return lambda v: v is None or any(type(v) is type(k) and v == k for k in known)


def rates(v: Any) -> bool:
    return v is None or (isinstance(v, dict) and all(type(k) is str and k and real(0)(x) and x is not None for k, x in v.items()))


def warmups(v: Any) -> bool:
    return v is None or (isinstance(v, dict) and all(type(k) is str and k and whole(0)(x) and x is not None for k, x in v.items()))


def epochs(v: Any) -> bool:
    positive = real(0, above=True)
    return v is None or (
        set(v) == {"toy-mood", "toy-pet"} and all(positive(x) for x in v.values()) if isinstance(v, dict) else positive(v)
    )


# by parameter: whether a value is right, and values that are drawn besides the strange ones
RIGHT: dict[str, tuple[Callable[[Any], bool], list[Any]]] = {
    "steps": (whole(1), []),
    "batch_size": (whole(1, 2**16), [2**16, 2**16 + 1]),
    "accumulate": (whole(1), []),
    "seed": (whole(0, 2**32 - 1), [2**32 - 1, 2**32]),
    "warmup": (whole(0, 1), [0, 1, 2]),
    "max_examples": (whole(1), []),
    "eval_examples": (whole(1), []),
    "eval_every": (whole(1), []),
    "eval_batch_size": (whole(1), []),
    "beams": (whole(1, 256), [256, 257]),
    "patience": (whole(1), []),
    "save_every": (whole(1), []),
    "keep": (whole(1), []),
    "log_every": (whole(1), []),
    "learning_rate": (real(0), [0.0, 1e-300, 3e38]),
    "weight_decay": (real(0), []),
    "weight_penalty": (real(0), [1e-3, -1e-3]),
    "clip": (real(0, above=True), [0.0, 1e9]),
    "label_smoothing": (real(0, 1), [0.1, 1.0, 0.999]),
    "temperature": (
        lambda v: (
            v is None or v in ("equal", "proportional") or (type(v) in (int, float) and v > 0 and (type(v) is float or v < 2**31))
        ),
        ["equal", "proportional", "even", 0.5],
    ),
    "rates": (rates, [{"layer_norm": 1e-3}, {"layer_norm": NAN}, {"": 1.0}, {3: 1.0}, {"layer_norm": -1}, {"layer_norm": "1"}]),
    "warmups": (warmups, [{"layer_norm": 2}, {"layer_norm": 0.5}, {"": 1}, {3: 1}, {"layer_norm": -1}]),
    "epochs": (
        epochs,
        [0.5, {"toy-mood": 1, "toy-pet": 2}, {"toy-mood": 1}, {"toy-mood": 1, "toy-pet": NAN}, {"toy-mood": 0, "toy-pet": 1}],
    ),
    "protocol": (lambda v: v in ("clean", "paper", "released"), ["clean", "paper", "released", "papers", None]),
    "paper": (one_of("hyperformer", "compacter", "hyperdecoders", "hypergrid"), ["compacter", "compactor"]),
    "optimizer": (one_of("adamw", "adafactor"), ["adamw", "adafactor", "sgd"]),
    "schedule": (one_of("constant", "linear"), ["constant", "cosine"]),
    "loss": (one_of("mean", "sum"), ["sum", "max"]),
    "selection": (one_of("average", "per-task", "last"), ["last", "first"]),
    "average": (one_of("metrics", "tasks"), ["tasks", "all"]),
    "precision": (one_of("fp32", "bf16"), ["bf16", "fp16", "int8"]),
    "mixed": (one_of(True, False), [None]),
    "gradient_checkpointing": (one_of(True, False), [None]),
    "cache_encoder": (one_of(True, False), [None]),
    "method": (
        lambda v: isinstance(v, str) and v in hl.available_methods(),
        ["full", "bitfit", "hyperformer++", "hyperfomer", None],
    ),
    "backbone": (
        lambda v: v in ("toy", "nano", "t5-base", "google/t5-v1_1-base", "mine/model"),
        ["toy", "nano", "t5-base", "google/t5-v1_1-base", "mine/model", "t5-bass", "a/b/c", "a\0b", "x" * 5000, " / ", None],
    ),
    "tasks": (
        lambda v: v in ("toy", "toy-mood", "toy-mood, toy-pet", ["toy-pet"], ("toy-mood", "toy-pet")),
        [
            "toy",
            "toy-mood",
            "toy-mood, toy-pet",
            ["toy-pet"],
            ("toy-mood", "toy-pet"),
            "toy-mood,",
            " , ",
            "toy-moood",
            ["toy-mood"] * 2,
            {"toy-mood"},
            [["toy-mood"]],
            ["toy-mood", None],
            None,
            "\0",
        ],
    ),
    "options": (
        lambda v: (
            v is None
            or (
                isinstance(v, str | dict)
                and v in ("", {}, "mixed=False", {"mixed": False}, "reduction_factor=8", "keep=3, beams=2", "steps=2")
            )
        ),
        [
            None,
            "mixed=False",
            {"mixed": False},
            "reduction_factor=8",
            "keep=3, beams=2",
            "steps=2",
            "steps=3",
            "steps=3)(mixed=False",
            "keep=3, keep=4",
            "**{'keep': 3}",
            "keep",
            "keep=",
            "keep=x",
            "nowhere=1",
            "clip=-1",
            "reduction_factor='two'",
            {3: 4},
            "(" * 500,
            "keep=" + "(" * 200 + ")" * 200,
            "keep=3\0",
            "keep=3 #",
        ],
    ),
    "run_dir": (
        lambda v: v is None or isinstance(v, Path) or (isinstance(v, str) and "\0" not in v and len(v) < 255),
        [None, "", "runs/mine", Path("runs"), "a\0b", "x" * 300],
    ),
    "report_to": (
        lambda v: v is None or (isinstance(v, str | list | tuple) and v in ("auto", "none", [], (), ["none"])),
        ["auto", "none", ["none"], None, "nologger", ["nologger"], [3]],
    ),
}
EXPECTED = re.compile(r"expected|known are|must differ|is refused|installed are", re.I)
RECEIVED = re.compile(r"received|unknown .*'|is refused|is not installed", re.I | re.S)


@dataclass(frozen=True)
class Verdict:
    "How a value ended: accepted, clear, or what is wrong about it."

    name: str
    value: Any
    kind: str
    message: str = ""


def asked(name: str, value: Any) -> dict[str, Any]:
    "The parameters of a run with one of them changed."
    return {k: v for k, v in (BASE | {name: value}).items() if not (name == "epochs" and value is not None and k == "steps")}


def names_it(name: str, value: Any, message: str) -> bool:
    "Whether a message says which parameter it is about; for options that may be the option."
    inside = (
        re.findall(r"\w+(?==)", value) if isinstance(value, str) else [str(k) for k in value] if isinstance(value, dict) else []
    )
    return any(word in message for word in [name, name.rstrip("s"), *(inside if name == "options" else [])])


def judge(name: str, value: Any, work: Callable[[dict[str, Any]], Any]) -> Verdict:
    "What became of a value, beside what should have."
    try:
        right = RIGHT[name][0](value)
    except (TypeError, OverflowError):
        right = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work(asked(name, value))
    except Exception as error:
        message = str(error)
        clear = isinstance(error, ValueError | TypeError) and names_it(name, value, message)
        clear = clear and bool(EXPECTED.search(message) and RECEIVED.search(message)) and len(message) < 2000
        kind = "wrongly refused" if right else "clear" if clear else "unclear"
        return Verdict(name, value, kind, f"{type(error).__name__}: {message[:200]}")
    return Verdict(name, value, "accepted" if right else "wrongly accepted")


def draws(seed: int, count: int) -> Iterator[tuple[str, Any]]:
    "Names of parameters and values for them; every parameter in turn."
    chance = random.Random(seed)
    for number in range(count):
        name = list(RIGHT)[number % len(RIGHT)]
        own = RIGHT[name][1]
        yield name, chance.choice(own if own and chance.random() < 0.5 else STRANGE)


def faults(found: list[Verdict]) -> list[Verdict]:
    print(dict(Counter(verdict.kind for verdict in found)))
    return [verdict for verdict in found if verdict.kind not in ("accepted", "clear")]


def test_every_value_is_planned_or_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *a: pytest.fail("asked the network"))
    found = [judge(name, value, lambda given: hl.plan_run(**given)) for name, value in draws(0, 8000 if LONG else 800)]
    assert not faults(found), "\n".join(map(str, faults(found)[:20]))
    assert {verdict.kind for verdict in found} == {"accepted", "clear"}


def every_value() -> list[tuple[str, Any]]:
    return [(name, value) for name, (_, own) in RIGHT.items() for value in [*own, *STRANGE]]


def test_every_listed_value_once() -> None:
    found = [judge(name, value, lambda given: hl.plan_run(**given)) for name, value in every_value()]
    assert not faults(found), "\n".join(map(str, faults(found)[:20]))


# What a run itself may refuse besides: it meets the machine, the method and the rows
LATER = {
    "rates": "no trained parameter has",
    "warmups": "no trained parameter that is left has",
    "weight_penalty": "is not finite",
    "cache_encoder": "changes what the encoder computes",
    "accumulate": "batch_size: expected a multiple",
    "learning_rate": "is not finite",
    "weight_decay": "is not finite",
    "beams": "beams",
}
SLOW = {"backbone", "epochs", "method", "report_to", "run_dir"}  # other worlds, or many steps
TOO_MUCH = {"steps": 100, "batch_size": 100, "accumulate": 100, "beams": 8}


def runs_quickly(name: str, value: Any) -> bool:
    return (
        name not in SLOW
        and not (type(value) is int and value > TOO_MUCH.get(name, 2**40))
        and not (name == "options" and "beams" in str(value))
    )


@pytest.mark.parametrize("number", range(40 if LONG else 6))
def test_a_run_ends_or_leaves_its_folder_free(number: int, tmp_path: Path) -> None:
    "A few values of a seed go through hl.train, all in one folder; at the end a plain run is made in that folder."
    settings = {"run_dir": str(tmp_path / "run"), "max_examples": 8, "eval_examples": 4, "eval_every": 2}
    quick = [(name, value) for name, value in draws(100 + number, 400) if runs_quickly(name, value)]
    chosen = random.Random(number).sample(quick, 5)

    def work(given: dict[str, Any]) -> None:
        if (tmp_path / "run" / "result.json").exists():
            (tmp_path / "run").rename(tmp_path / f"done-{len(list(tmp_path.iterdir()))}")
        hl.plan_run(**(settings | given)).train(progress=False)

    for name, value in chosen:
        verdict = judge(name, value, work)
        later = verdict.kind in ("wrongly refused", "unclear") and LATER.get(name, "no such message") in verdict.message
        assert later or verdict.kind in ("accepted", "clear"), verdict
        assert "holds another run" not in verdict.message
    work(BASE)
    assert hl.Run(tmp_path / "run").finished
