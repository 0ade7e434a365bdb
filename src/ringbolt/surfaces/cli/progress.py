"""Bars on standard error for long work, where a terminal is there to show them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ...memory import TaskMemory
from .console import is_terminal
from .rich_console import draw_bar


@contextmanager
def bar(what: str) -> Generator[Callable[[int, int], None] | None]:
    """Something to tell how much of how much is done; None where nobody would see it."""
    if not is_terminal(sys.stderr):
        yield None
        return

    with draw_bar(what) as tell:
        yield tell


@contextmanager
def progress(memory: TaskMemory, what: str) -> Generator[None]:
    """Show how far long work of a memory has come."""
    with bar(what) as memory.progress:
        yield
