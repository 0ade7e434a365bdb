"""Progress bars on standard error for long work, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ...ledger.base import Base
from .console import is_terminal


@contextmanager
def bar(what: str) -> Generator[Callable[[int, int], None] | None]:
    """A function to report how much of how much is done; None where nobody would see it."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from .rich_console import draw_bar  # rich is slow to load

    with draw_bar(what) as report:
        yield report


@contextmanager
def progress(memory: Base, what: str) -> Generator[None]:
    """Show the progress of long work of a memory."""
    with bar(what) as memory.progress:
        yield
