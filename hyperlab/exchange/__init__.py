"""To and from other libraries: PEFT, plain checkpoints, AdapterHub; hypernetworks distilled from adapters."""

import lazy_loader as _lazy

# The names are listed in __init__.pyi; a module is imported when one of its names is first used.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
