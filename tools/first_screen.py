"""Store what the dashboard of the shipped model shows first, so that its page can show it before its kernel can.

    python tools/first_screen.py
"""

import json
from pathlib import Path

import hyperlab as hl
from hyperlab.core.files import publish
from hyperlab.widgets.panel import saved_state


def first_states() -> dict[str, dict[str, object]]:
    "The states of the header and the map of the shipped model, as its dashboard starts."
    board = hl.dashboard("nano")
    return {"header": saved_state(board.header), "map": saved_state(board.panels[1])}


if __name__ == "__main__":
    path = Path(hl.__file__).parent / "widgets" / "front" / "first_screen.json"
    publish(path, (json.dumps(first_states(), ensure_ascii=False) + "\n").encode())
