"""Whether the system clock is synchronised with a time server."""

from __future__ import annotations

import ctypes
import sys

_ERROR = 5  # adjtimex: the clock is not synchronised
_SIZE = 512  # more than the kernel's struct timex needs, whose first word is `modes`: 0 only reads


def is_synchronised() -> bool:
    """Whether the kernel says so; False where it cannot be asked."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        state: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_SIZE))
    except (OSError, AttributeError):
        return False
    return 0 <= state < _ERROR
