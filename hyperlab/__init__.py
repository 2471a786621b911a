"""hyperlab: a workbench for hypernetworks and adapters in multi-task sequence-to-sequence models."""

__version__ = "0.1.0"

import lazy_loader as _lazy

# The public names are listed once, in __init__.pyi; a module is imported when one of its names is first used.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
