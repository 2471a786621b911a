"""Execute notebooks and keep what they show: text, tables and static figures, the same bytes each time.

    python tools/outputs.py                           all of them
    python tools/outputs.py nbs/core/02_sites.ipynb   one, or several, or a folder

A notebook runs in a process of its own, as the tests run it, in a temporary folder that is removed. Outputs are written back where
they say something else than before: numbers that differ in their last digits only do not count, and in a cell marked
`#| volatile` (seconds, bytes per second) no number does. A panel needs a kernel; a cell marked `#| picture: images/mixer.png` keeps
that picture in its place.
"""

import argparse
import base64
import hashlib
import json
import multiprocessing
import os
import re
import socket
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEY = "outputs"  # of a notebook's metadata: what its outputs were made from
LIMIT = 250_000  # bytes of outputs in a notebook
SECONDS = 900  # for a notebook
TOLERANCE = 2e-3  # two numbers that differ by less, relatively, say the same
SETTINGS = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONHASHSEED": "0", "IN_TEST": "1", "COLUMNS": "100",
            "PLOTLY_RENDERER": "plotly_mimetype", "TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "PYTHONWARNINGS": "ignore", "NO_COLOR": "1"}  # fmt: skip
IMAGES = ("image/svg+xml", "image/png", "image/jpeg")
KEPT = ("text/html", "text/markdown", "text/latex", *IMAGES, "text/plain")
PRELOADED = ["hyperlab.core.model", "hyperlab.training.trainer", "hyperlab.nano.tasks", "pandas", "IPython"]
PROCESSES = multiprocessing.get_context("forkserver")  # forked from one that has imported what notebooks import
Cell = dict[str, Any]
Output = dict[str, Any]


# What a notebook is made from


def notebooks(paths: list[str]) -> list[Path]:
    "The notebooks that are named or lie in a named folder; all of nbs/ if none is."
    places = [Path(p).resolve() for p in paths] or [ROOT / "nbs"]
    found = [book for place in places for book in (sorted(place.rglob("*.ipynb")) if place.is_dir() else [place])]
    return [book for book in found if not {".ipynb_checkpoints", "_proc", "runs"} & set(book.relative_to(ROOT).parts)]


def text_of(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def code_fingerprint(notebook: dict[str, Any]) -> str:
    "Of all code cells, comments left out."
    code = [text_of(cell["source"]).splitlines() for cell in notebook["cells"] if cell["cell_type"] == "code"]
    kept = [line.rstrip() for lines in code for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:12]


def package_fingerprint() -> str:
    "Of all modules of the package."
    digest = hashlib.sha256()
    for module in sorted((ROOT / "hyperlab").rglob("*.py")):
        digest.update(module.read_bytes() if module.name != "_modidx.py" else b"")
    return digest.hexdigest()[:12]


def stale_outputs() -> tuple[list[str], int]:
    "Notebooks whose code is newer than their outputs, and how many others saw an earlier package."
    stale, earlier, package = [], 0, package_fingerprint()
    for path in notebooks([]):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        made = notebook["metadata"].get(KEY, {})
        if made and made["code"] != code_fingerprint(notebook):
            stale.append(str(path.relative_to(ROOT)))
        else:
            earlier += made.get("package", package) != package
    return stale, earlier


def output_bytes(notebook: dict[str, Any]) -> int:
    return sum(len(json.dumps(cell["outputs"], ensure_ascii=False).encode()) for cell in notebook["cells"] if cell.get("outputs"))


# What is volatile


def without_returns(text: str) -> str:
    "What a terminal would show of a text: a line that is written over is gone, and so are colours."
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return re.sub(r"^[^\n]*\r(?=[^\n])", "", text.replace("\r\n", "\n"), flags=re.M)


def numbered_ids(text: str, pattern: str, name: str) -> str:
    "Every random id that `pattern` finds becomes a number, in order of appearance."
    known: dict[str, str] = {}
    return re.sub(pattern, lambda m: known.setdefault(m[0], f"{name}{len(known)}"), text)


def still(text: str, scratch: str = "") -> str:
    "A text without what differs from run to run and from machine to machine: temporary paths, addresses, random ids."
    for folder in {scratch, os.path.realpath(scratch)} if scratch else ():
        text = text.replace(f"{folder}/work/", "")
        text = re.sub(re.escape(folder) + r"(/tmp[a-z0-9_]{8})?", "tmp", text)
    if scratch:
        text = re.sub(rf"\b{os.getpid()}\b", "1234", text).replace(f"on {socket.gethostname()}", "on this machine")
    text = re.sub(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "2026-01-01T00:00:00", text)
    text = re.sub(r"\b(127\.0\.0\.1|localhost):\d{4,5}\b", r"\1:8000", text)  # a free port
    text = text.replace(f"{ROOT}/", "").replace(str(Path.home()), "~")
    text = re.sub(r"\b0x[0-9a-f]{6,}", "0x…", text)
    text = re.sub(r"<style scoped>.*?</style>\n?", "", text, flags=re.S)  # a table looks like its page
    return numbered_ids(text, r"\bT_[0-9a-f]{5}(?=[_\b\" ])", "T_")


def still_output(output: Output, scratch: str = "") -> Output | None:
    "An output as it is kept; None if nothing of it is."
    if output["output_type"] == "stream":
        text = still(without_returns(text_of(output["text"])), scratch)
        return None if output["name"] != "stdout" or not text.strip() else {**output, "text": text.splitlines(True)}
    data = {kind: text_of(output["data"][kind]) for kind in KEPT if kind in output["data"]}
    if "<script" in data.get("text/html", ""):
        del data["text/html"]
    panel, figure = set(output["data"]) - set(KEPT), data.get("text/plain", "").startswith("Figure: ")
    if (panel or set(IMAGES) & set(data)) and not figure:
        data.pop("text/plain", None)  # only the name of an object
    if not data:
        return None
    lines = {kind: value.rstrip() if kind in IMAGES[1:] else still(value, scratch).splitlines(True) for kind, value in data.items()}
    count = {"execution_count": None} if output["output_type"] == "execute_result" else {}
    return {"output_type": output["output_type"], "data": lines, "metadata": {}} | count


def as_markdown(output: Output) -> Output:
    "Printed markdown as what it means, so that a table is a table."
    if "text" not in output:
        return output
    return {"output_type": "display_data", "data": {"text/markdown": output["text"]}, "metadata": {}}


# Whether two outputs say the same

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def same_number(a: str, b: str) -> bool:
    "Equal, or fractions that differ by less than the tolerance."
    if a == b or not {".", "e"} & {*a, *b}:
        return a == b
    x, y = float(a.replace(",", "")), float(b.replace(",", ""))
    return abs(x - y) <= TOLERANCE * max(abs(x), abs(y)) or max(abs(x), abs(y)) < 1e-6


def same_text(a: str, b: str, volatile: bool = False) -> bool:
    "Whether two texts agree in words, and in numbers up to the tolerance; a volatile one in words alone."
    words_a, words_b = (["".join(part.split()) for part in NUMBER.split(text)] for text in (a, b))
    if words_a != words_b:
        return False
    return volatile or all(map(same_number, NUMBER.findall(a), NUMBER.findall(b)))


def same_outputs(a: list[Output], b: list[Output], volatile: bool = False) -> bool:
    "Whether two lists of outputs say the same."

    def parts(outputs: list[Output]) -> list[tuple[str, str]]:
        return [(out["output_type"] + kind, text_of(lines)) for out in outputs
                for kind, lines in sorted(out.get("data", {"": out.get("text", "")}).items())]  # fmt: skip

    mine, others = parts(a), parts(b)
    if [kind for kind, _ in mine] != [kind for kind, _ in others]:
        return False
    return all(x == y or (not kind.endswith(("png", "jpeg")) and same_text(x, y, volatile)) or (volatile and kind.endswith("png"))
               for (kind, x), (_, y) in zip(mine, others, strict=True))  # fmt: skip


# Running


def is_run(cell: Cell) -> bool:
    "As the tests do: cells that are marked as not to be evaluated, or as slow, stay as they are."
    source = text_of(cell["source"])
    left_out = re.search(r"^#\|\s*(eval:\s*false|slow\b)|nbdev_export\(", source, re.M)
    return cell["cell_type"] == "code" and not left_out


def make_shell() -> Any:
    "A shell that records text and displays of a cell in the order in which they come."
    import io

    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    outputs: list[Output] = []

    class Page(io.TextIOBase):
        def write(self, text: str) -> int:
            if outputs and outputs[-1]["output_type"] == "stream":
                outputs[-1]["text"] += text
            else:
                outputs.append({"output_type": "stream", "name": "stdout", "text": text})
            return len(text)

    class Publisher(DisplayPublisher):
        def publish(self, data: dict, metadata: dict | None = None, *, update: bool = False, **told: Any) -> None:
            name = (told.get("transient") or {}).get("display_id")
            places = [i for i, out in enumerate(outputs) if update and name is not None and out.get("id") == name]
            made = {"output_type": "display_data", "data": data, "metadata": {}, "id": name}
            for place in places:
                outputs[place] = made
            if not update:
                outputs.append(made)

        def clear_output(self, wait: bool = False) -> None:
            outputs.clear()

    class Hook(DisplayHook):
        def quiet(self) -> bool:
            return False

        def write_output_prompt(self) -> None: ...

        def log_output(self, format_dict: dict) -> None: ...

        def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
            if format_dict:
                outputs.append({"output_type": "execute_result", "data": dict(format_dict), "metadata": {}})

    class Recorder(InteractiveShell):
        displayhook_class = Hook
        display_pub_class = Publisher

        def enable_gui(self, gui: Any = None) -> None: ...

        def record(self, source: str) -> list[Output]:
            outputs.clear()
            stdout, sys.stdout = sys.stdout, Page()
            try:
                result = self.run_cell(source, store_history=False)
            finally:
                sys.stdout = stdout
            result.raise_error()
            return [{k: v for k, v in out.items() if k != "id"} for out in outputs]

    shell = Recorder.instance()
    shell.display_formatter.active = True
    return shell


def run_notebook(path: Path, scratch: str, answer: str, log: str) -> None:
    "In a process of its own: write the outputs of each cell that ran, or exit with 1."
    os.environ |= SETTINGS | {"TMPDIR": scratch, "HYPERLAB_CACHE": f"{scratch}/cache"}
    tempfile.tempdir = scratch
    handle = os.open(log, os.O_WRONLY | os.O_CREAT)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.makedirs(f"{scratch}/work")
    os.chdir(f"{scratch}/work")
    multiprocessing.set_start_method("fork", force=True)  # what a notebook starts knows the notebook's classes, as in a kernel
    sys.path[:0] = [str(path.parent), str(ROOT)]
    shell, found = make_shell(), {}
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in filter(is_run, notebook["cells"]):
        try:
            recorded = shell.record(text_of(cell["source"]))
        except BaseException:
            print(f"in cell {cell['id']} of {path}:\n{text_of(cell['source'])}", flush=True)
            os._exit(1)
        quiet = text_of(cell["source"]).rstrip().endswith(";")
        kept = [still_output(out, scratch) for out in recorded if not (quiet and out["output_type"] == "execute_result")]
        if shown := re.search(r"^#\|\s*picture:\s*(\S+)", text_of(cell["source"]), re.M):
            drawn = base64.b64encode((path.parent / shown[1]).read_bytes()).decode()
            kept.append({"output_type": "display_data", "data": {"image/png": drawn}, "metadata": {}})
        if re.search(r"^#\|\s*readme\b", text_of(cell["source"]), re.M):  # it prints a page's markdown
            kept = [out and as_markdown(out) for out in kept]
        found[cell["id"]] = [out for out in kept if out is not None]
    Path(answer).write_text(json.dumps(found), encoding="utf-8")
    os._exit(0)


def executed(path: Path) -> dict[str, list[Output]]:
    "The outputs of each cell of a notebook, by its id."
    with tempfile.TemporaryDirectory(prefix="outputs-") as folder:
        os.mkdir(scratch := f"{folder}/scratch")
        answer, log = f"{folder}/answer.json", f"{folder}/log"
        process = PROCESSES.Process(target=run_notebook, args=(path, scratch, answer, log))
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            raise RuntimeError(f"{path.name} takes longer than {SECONDS} s")
        if process.exitcode != 0:
            raise RuntimeError(f"{path.name} failed\n" + Path(log).read_text(errors="replace")[-3000:])
        found: dict[str, list[Output]] = json.loads(Path(answer).read_text(encoding="utf-8"))
        return found


# Writing back


def refreshed(notebook: dict[str, Any], found: dict[str, list[Output]], package: str) -> None:
    "Put the outputs in where they say something new, and note what they were made from."
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            volatile = bool(re.search(r"^#\|\s*volatile\b", text_of(cell["source"]), re.M))
            made = found.get(cell["id"], [] if is_run(cell) else cell["outputs"])
            if not same_outputs(cell["outputs"], made, volatile):
                cell["outputs"] = made
    notebook["metadata"][KEY] = {"code": code_fingerprint(notebook), "package": package}


def refresh(path: Path, package: str) -> str:
    "Execute a notebook and write its outputs back; what there is to say about it."
    from execnb.nbio import dict2nb, nb2str
    from nbdev.clean import _nbdev_clean

    before = path.read_text(encoding="utf-8")
    notebook = json.loads(before)
    refreshed(notebook, executed(path), package)
    size = output_bytes(notebook)
    if size > LIMIT:
        raise RuntimeError(f"{path.name} has {size:,} bytes of outputs, expected at most {LIMIT:,}: show less, or smaller figures")
    nb = dict2nb(notebook)
    _nbdev_clean(nb)
    after = nb2str(nb)
    if after == before:
        return ""
    path.write_text(after, encoding="utf-8")
    return f"{path.relative_to(ROOT)}: {size:,} bytes of outputs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="notebooks or folders; all if none is named")
    parser.add_argument("-n", "--workers", type=int, default=2, help="how many notebooks run at a time")
    asked = parser.parse_args()
    failed, package = [], package_fingerprint()

    def one(path: Path) -> None:
        try:
            said = refresh(path, package)
        except RuntimeError as error:
            failed.append(path)
            said = str(error)
        if said:
            print(said, flush=True)

    with ThreadPoolExecutor(asked.workers) as pool:
        list(pool.map(one, notebooks(asked.paths)))
    print(f"{len(failed)} notebooks failed" if failed else "outputs are fresh")
    return bool(failed)


if __name__ == "__main__":
    os.environ |= SETTINGS
    PROCESSES.set_forkserver_preload(PRELOADED)
    sys.exit(main())
