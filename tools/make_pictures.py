"""Draw the pictures of the page from what the package ships. Needs Chrome or Chromium and `pip install kaleido`.

    python tools/make_pictures.py
"""

from pathlib import Path

import hyperlab as hl
from hyperlab.firstrun import nano_adapted, score_picture

FOLDER = Path(__file__).resolve().parents[1] / "nbs" / "images"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    before, after = hl.task_view(nano_adapted("hyperformer++")), hl.task_view(hl.load("nano"))
    hl.task_map(before, after).write_image(FOLDER / "task_map.svg", width=1100, height=460)
    score_picture().write_image(FOLDER / "nano_scores.svg", width=1000, height=420)


if __name__ == "__main__":
    main()
