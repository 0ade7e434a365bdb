"""Loads msgspec without typing_extensions, for our own short processes: hooks and the command line.

msgspec takes two names from typing_extensions if it can, and else from typing, which has them since 3.11.
typing_extensions is often installed, as other packages need it, and takes longer to load than msgspec itself.
A program that uses Ringbolt as a library loads msgspec as usual.
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
