"""Tables and progress bars on a terminal. Imported only if there is one."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text


def draw_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw a table on standard output; its cells are plain text, safe for a terminal."""
    bold = "" if os.environ.get("NO_COLOR") else "bold"
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style=bold)
    for heading in headings:
        drawn.add_column(Text(heading), overflow="fold")
    for row in rows:
        drawn.add_row(*map(Text, row))
    Console().print(drawn)


@contextmanager
def draw_bar(what: str) -> Generator[Callable[[int, int], None]]:
    """Draw a bar on standard error; call the function with the count and the total."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, wanted: progress.update(task, completed=done, total=wanted)
