"""Load msgspec without typing_extensions, in our own short processes: hooks and the command line.

msgspec imports two names from typing_extensions if it is installed, otherwise from typing, which has had them
since Python 3.11. Other packages often install typing_extensions, and it loads more slowly than msgspec
itself. A program that uses Ringbolt as a library loads msgspec as usual.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_NAME = "typing_extensions"


def load_msgspec() -> None:
    """Load msgspec; typing_extensions can be imported as usual afterwards."""
    modules: dict[str, Any] = sys.modules
    if _NAME in modules:
        return
    modules[_NAME] = None  # importing it now fails as if it were not installed
    try:
        import_module("msgspec")
    finally:
        del modules[_NAME]
