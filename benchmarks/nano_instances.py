"""Instance embeddings of a Hyperdecoder on the nano world, as Figures 2 to 4 of the paper draw them; trains one if there is none.

    python benchmarks/nano_instances.py --run runs/hyperdecoder
"""

import argparse
from pathlib import Path

import datasets
import torch

import hyperlab as hl
from hyperlab.core.files import asset
from hyperlab.analysis.probes import save_instances

SHIPPED = asset("nano", "results", "instances.safetensors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, default=Path("runs/hyperdecoder"), help="the run; made, or gone on with, if unfinished")
    parser.add_argument("--examples", type=int, default=100, help="validation examples of each task")
    parser.add_argument("--file", type=Path, default=SHIPPED, help="where the embeddings go")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    datasets.disable_progress_bars()
    if not (chosen.run / "result.json").exists():
        hl.nano_run("hyperdecoder", run_dir=chosen.run, report_to="none")
    model = hl.load(chosen.run)
    how = {"max_examples": chosen.examples, "name_in_prompt": model.method.keeps_task_name}
    texts = {name: list(hl.task(name).load("validation", **how)["source"]) for name in model.tasks}
    print(save_instances(hl.instances(model, texts, max_new_tokens=8), chosen.file))


if __name__ == "__main__":
    main()
