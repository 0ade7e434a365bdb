"""A memory on SQLite and one on PostgreSQL behind one face: whatever they do not share is a failure."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ringbolt import RingboltError, TaskMemory
from ringbolt.model.types import TaskCard, TaskPage

NAMES = ("SQLite", "PostgreSQL")


class Differs(AssertionError):
    """The two engines gave different answers to the same call."""


def _outcome(call: Callable[[], Any]) -> tuple[str, Any, RingboltError | None]:
    """What came of a call, as a text to compare; its result; its error.

    Texts tell more apart than values: 1, 1.0 and True, a list and a tuple, the order in a mapping.
    """
    try:
        result = call()
    except RingboltError as error:
        return f"{type(error).__name__}({error.to_dict()!r})", None, error
    if isinstance(result, Iterator):
        result = list(result)
    # The one thing that may differ: a cursor of task_list is the number of an event in its database, and
    # PostgreSQL counts in other tenants, and in transactions that were rolled back, too.
    shown = result.replace(cursor=result.cursor is not None) if isinstance(result, TaskPage) else result
    return repr(shown), result, None


def _difference(left: str, right: str) -> str:
    pairs = zip(left, right, strict=False)
    start = max(0, next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right))) - 60)
    return "\n".join(
        f"  {name:10} gave {'…' if start else ''}{text[start : start + 400]!a}"
        for name, text in zip(NAMES, (left, right), strict=True)
    )


class Both:
    """Calls both memories, compares, and answers what the first did."""

    def __init__(self, *memories: TaskMemory, ticks: list[int]) -> None:
        self._memories = memories
        self._ticks = ticks

    @property
    def each(self) -> tuple[TaskMemory, ...]:
        """Both memories, for what is compared with something else."""
        return self._memories

    @property
    def first(self) -> TaskMemory:
        """The memory on SQLite."""
        return self._memories[0]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._same(f"{name}{(args, kwargs)!a}", lambda m: getattr(m, name)(*args, **kwargs))

        return call

    def _same(self, what: str, work: Callable[[TaskMemory], Any]) -> Any:
        self._ticks[0] += 1
        (left, result, error), (right, _, _) = (_outcome(lambda m=m: work(m)) for m in self._memories)
        if left != right:
            raise Differs(f"{what:.2000}\n{_difference(left, right)}")
        if error is not None:
            raise error
        return result

    def pages(self, **filters: Any) -> list[tuple[TaskCard, ...]]:
        """All pages of task_list, each memory following its own cursors."""

        def walk(memory: TaskMemory) -> list[tuple[TaskCard, ...]]:
            pages, cursor = [], None
            while True:
                page = memory.task_list(**filters, cursor=cursor)
                pages.append(page.tasks)
                if (cursor := page.cursor) is None:
                    return pages

        return self._same(f"pages({filters!a})", walk)

    def export_events(self, path: Path, task_id: str | None = None) -> int:
        """Export both and compare the files; the first one's is left at the path."""
        path = Path(path)
        paths = iter((path, path.with_suffix(".second")))
        count = self._same("export_events()", lambda m: m.export_events(next(paths), task_id))
        left, right = path.read_bytes(), path.with_suffix(".second").read_bytes()
        if left != right:
            raise Differs(f"export_events()\n{_difference(left.decode(), right.decode())}")
        return count

    def acting_as(self, **who: Any) -> Both:
        return Both(*(memory.acting_as(**who) for memory in self._memories), ticks=self._ticks)

    def close(self) -> None:
        for memory in self._memories:
            memory.close()


def open_both(*urls: str | Path) -> Both:
    """Memories on fresh stores that count the same seconds and draw the same ids."""
    memories = []
    ticks = [0]  # calls of both: what only the first is asked must not move its clock
    for url in urls:
        numbers = random.Random(0)
        memories.append(
            TaskMemory.open(
                url,
                workspace="/w",
                session="S",
                agent="machine",
                # It goes backwards now and then: order must not depend on it.
                clock=lambda: 1_700_000_000 + (7919 * ticks[0]) % 100_000 / 10,
                random=numbers.randbytes,
                synchronous="off",
                reserve_bytes=0,
            )
        )
    return Both(*memories, ticks=ticks)
