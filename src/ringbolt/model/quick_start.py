"""Load msgspec without what it does not need, in our own short processes: hooks and the command line.

msgspec imports two names from typing_extensions if it is installed, otherwise from typing, which has had them
since Python 3.11. Other packages often install typing_extensions, and it loads more slowly than msgspec
itself. msgspec also imports uuid, which loads the module platform for the name of the system alone. A program
that uses Ringbolt as a library loads msgspec as usual.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any


def load_msgspec() -> None:
    """Load msgspec; typing_extensions and platform can be imported as usual afterwards."""
    modules: dict[str, Any] = sys.modules
    # Importing a module that is None fails as if it were not installed.
    replaced: dict[str, Any] = {"typing_extensions": None}
    if sys.platform == "linux":
        replaced["platform"] = SimpleNamespace(system=lambda: os.uname().sysname)
    replaced = {name: module for name, module in replaced.items() if name not in modules}
    modules.update(replaced)
    try:
        import_module("uuid")
    except (ImportError, AttributeError):  # a version of uuid that needs more of platform
        modules.pop("platform", None)
    try:
        import_module("msgspec")
    finally:
        for name, module in replaced.items():
            if modules.get(name, module) is module:
                modules.pop(name, None)
