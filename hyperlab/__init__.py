"""hyperlab: a workbench for hypernetworks and adapters in multi-task language models."""

__version__ = "0.2.0"

from typing import Any as _Any

import lazy_loader as _lazy

from .core.old_names import find_old_name as _find_old_name, watch_old_modules as _watch_old_modules

# What people type is listed once, in __init__.pyi; a module is imported when one of its names is first used.
_find, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
_watch_old_modules()


def __getattr__(name: str) -> _Any:
    "A public name, or one of version 0.1, which comes with a warning that says the new one."
    return _find(name) if name.startswith("_") or name in __all__ else _find_old_name(name)
