"""What AdapterHub's library makes of `model.export(task, folder, format="adapters")`: the logits of both sides, compared.

The library asks for an older transformers than hyperlab, so each side runs in an environment of its own:

    python -m venv peers && peers/bin/pip install torch adapters
    python benchmarks/adapterhub_exchange.py write exchanged
    peers/bin/python benchmarks/adapterhub_exchange.py compare exchanged [--json hyperlab/assets/exchange/results/adapterhub.json]

The backbone is a tiny T5 of random weights, and so are the adapters: each is far enough from zero for a mistake to show.
"""

import argparse
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

METHODS = {  # name of the folder: method and options
    "adapter": ("adapter", {"train_norms": False}),
    "adapter-dagger": ("adapter-dagger", {"train_norms": False}),
    "pfeiffer": ("pfeiffer", {"train_norms": False}),
    "adapterdrop": ("adapterdrop", {"train_norms": False, "dropped": 1}),
    "compacter": ("compacter", {"train_norms": False, "n": 4}),
    "compacter++": ("compacter++", {"train_norms": False, "n": 4}),
}
LIMITS = {"float32": 1e-4, "float64": 1e-5}  # T5's norms take their mean in float32 whatever the weights are


def write(folder: Path) -> None:
    "Export a task of every method, with the logits that hyperlab computes for it."
    from transformers import T5Config, T5ForConditionalGeneration

    import hyperlab as hl
    from hyperlab.exchange.certificates import make_probe

    torch.manual_seed(0)
    shape = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 100}
    backbone = T5ForConditionalGeneration(T5Config(**shape, decoder_start_token_id=0)).eval()
    backbone.save_pretrained(folder / "backbone")
    for name, (method, options) in METHODS.items():
        plain = T5ForConditionalGeneration.from_pretrained(folder / "backbone")
        model = hl.adapt(plain, method, ["rte", "mrpc"], reduction_factor=8, **options).eval()
        with torch.no_grad():
            for value in model.rule.parameters():
                value.add_(torch.randn_like(value) * 0.1)
        print(model.export("rte", folder / name, format="adapters"))
        probe = make_probe(model)
        logits = {"float32": probe.logits(lambda model=model, **inputs: model(**inputs, task="rte"))}
        exact = model.materialize("rte").eval().double()  # the two share their backbone, so this comes second
        logits["float64"] = probe.logits(lambda exact=exact, **inputs: exact(**inputs))
        tensors = {key: value.contiguous() for key, value in {**logits, **probe.inputs, "real": probe.real}.items()}
        save_file(tensors, folder / f"{name}.safetensors")


def difference(folder: Path, name: str, precision: str) -> float:
    "The largest difference of a logit between AdapterHub's library and hyperlab."
    import adapters
    from transformers import T5ForConditionalGeneration

    stored = load_file(folder / f"{name}.safetensors")
    model = T5ForConditionalGeneration.from_pretrained(folder / "backbone")
    adapters.init(model)
    model.set_active_adapters(model.load_adapter(str(folder / name), with_head=False, use_safetensors=True))
    model = model.to(getattr(torch, precision)).eval()
    with torch.no_grad():
        found = model(**{k: stored[k] for k in ("input_ids", "attention_mask", "decoder_input_ids")}).logits
    return float((found[stored["real"]].double() - stored[precision]).abs().max())


def compare(folder: Path, path: Path | None) -> int:
    "Print the largest differences, and keep them in a file; returns 1 if one is too large."
    from importlib.metadata import version

    names = [name for name in METHODS if (folder / name).is_dir()]
    found = {name: {precision: difference(folder, name, precision) for precision in LIMITS} for name in names}
    for name, each in found.items():
        print(f"{name:16}", *(f"{precision} {value:.1e}" for precision, value in each.items()))
    record = {"differences": found, "limits": LIMITS, "versions": {n: version(n) for n in ("adapters", "transformers", "torch")}}
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record, indent=1) + "\n")
    return int(not found or any(value > LIMITS[precision] for each in found.values() for precision, value in each.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", choices=("write", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sys.exit(write(given.folder) if given.side == "write" else compare(given.folder, given.json))
