"""Write a finished run, a killed one and what became of it, with the release of hyperlab that is on the path:

    PYTHONPATH=<tree of 0.1.0> python tests/golden/write_runs.py tests/golden/runs-0.1.0
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import T5Config, T5ForConditionalGeneration

import hyperlab as hl
from hyperlab.toy import toy_tasks, toy_tokenizer

SHAPE = {"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.1}
SHAPE |= {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
OPTIONS = {"reduction_factor": 8, "task_width": 4, "embedding_width": 4, "projector_width": 8}
LEARNED = {"steps": 900, "batch_size": 32, "learning_rate": 0.02, "eval_every": 300, "eval_examples": 40, "keep": 1}
LEARNED["log_every"] = 50
SHORT = {"steps": 24, "batch_size": 8, "learning_rate": 0.02, "eval_every": 12, "save_every": 4, "eval_examples": 8, "log_every": 2}
KILLED_IN_STEP = 19


def model(folder: Path) -> hl.AdaptedModel:
    "A model on the backbone that lies in the folder, which has no name."
    backbone = T5ForConditionalGeneration(T5Config(**SHAPE))
    backbone.load_state_dict(load_file(folder / "backbone.safetensors"), strict=False)
    torch.manual_seed(0)
    return hl.adapt(backbone, "hyperformer++", toy_tasks(), tokenizer=toy_tokenizer(), **OPTIONS)


def write(folder: Path, name: str, settings: dict, kill: int | None = None) -> hl.Run:
    "A run; with `kill`, the process ends in that step as if the power had failed."
    made, steps = model(folder), []
    plain = type(made).forward

    def forward(self: hl.AdaptedModel, *args: object, **kwargs: object) -> object:
        steps.extend([1] if self.training else [])
        if len(steps) == kill:
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(self, *args, **kwargs)

    type(made).forward = forward
    return hl.train(made, run_dir=folder / name, progress=False, report_to="none", **settings)


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    backbone = T5ForConditionalGeneration(T5Config(**SHAPE)).state_dict()
    tied = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"}
    save_file({k: v for k, v in backbone.items() if k not in tied}, folder / "backbone.safetensors")
    write(folder, "finished", LEARNED)
    if not (child := os.fork()):
        write(folder, "killed", SHORT, KILLED_IN_STEP)
    os.waitpid(child, 0)
    shutil.copytree(folder / "killed", folder / "resumed")
    resumed = write(folder, "resumed", SHORT)
    (file,) = (resumed.path / "checkpoints" / f"step-{SHORT['steps']:08d}").glob("weights-*")
    shutil.copy(file, folder / "resumed.safetensors")
    torch.manual_seed(0)
    facts = {k: resumed.result[k] for k in ("last_weights_sha256", "steps", "tasks", "validation", "selection")}
    facts |= {"losses": resumed.log["loss"].dropna().tolist(), "random": torch.bernoulli(torch.full((64,), 0.5)).int().tolist()}
    (folder / "resumed.json").write_text(json.dumps(facts, indent=1) + "\n")
    shutil.rmtree(resumed.path)
    for path in folder.glob("*/.lock"):
        path.unlink()
    for path in [*folder.glob("*/*.json"), *folder.glob("*/*.jsonl")]:  # the name of the machine is nobody's business
        path.write_text(path.read_text().replace(f'"{os.uname().nodename}"', '"a-host"').replace(os.uname().release, "release"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
