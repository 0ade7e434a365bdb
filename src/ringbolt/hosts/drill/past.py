# pyright: reportPrivateUsage=false
"""A task as it was at an event, in a temporary memory, and what happened before and after that."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from ...config import changed
from ...core.transfer import Merge
from ...extract.names import find_names
from ...ledger.values import read_event, read_origin
from ...memory import TaskMemory
from ...model import validate
from ...model.types import Event
from ..transcripts.session import AFTER_COMPACTION
from .kinds import shown

NEXT_ACTIONS = 30
PAGE = 500
MOST_CUTS = 5  # compactions of one task that are drilled, the newest
_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)


def cuts(memory: TaskMemory, task: str, last: int, at: int | None) -> list[tuple[int, str]]:
    """The cuts, each with its reason: as asked, else at the last compactions, else after 60 %."""
    if at is not None:
        return [(validate.whole("at", at, 1, last), "asked")]
    compactions = [(cut, "compaction") for cut in _compactions(memory, task)[-MOST_CUTS:]]
    return compactions or [(max(1, last * 60 // 100), "60 %")]


def _compactions(memory: TaskMemory, task: str) -> list[int]:
    """The last event before each of the task's compactions, oldest first."""
    snapshots = memory.store.read(lambda tx: tx.records(task, "snapshot", ("active",), 50))
    found: set[int] = set()
    begun: int | None = None  # a compaction that the host announced
    for row in reversed(snapshots):
        label, seq = (row["key"] or "").lower(), int(row["seq"])
        if label == AFTER_COMPACTION:
            found.add(begun or max(1, seq - 1))
            begun = None
        elif "compact" in label:
            found.update(() if begun is None else (begun,))
            begun = seq
    found.update(() if begun is None else (begun,))
    return sorted(found)


@contextmanager
def as_of(memory: TaskMemory, task: str, cut: int) -> Generator[tuple[TaskMemory, set[str]]]:
    """The task as of an event, in a temporary memory; and all names in its texts."""
    names: set[str] = set()
    now = 0.0
    with TemporaryDirectory(prefix="ringbolt-drill-") as folder:
        settings = changed(
            memory.settings,
            store=f"{folder}/past.db",
            synchronous="off",
            reserve_bytes=0,
            mirrors="",
            embedder="none",
            model_local_url="",
            model_remote_url="",
        )
        with type(memory).open(workspace=None, settings=settings, clock=lambda: now) as past:
            after = 0
            while after < cut:
                rows = memory.store.read(lambda tx, a=after: tx.events(task, a, PAGE, cut))
                batch = [(row["seq"], {**row, "root_id": task}, read_origin(row)) for row in rows]
                past.store.write(lambda tx, b=batch: Merge({task: task}).add_all(tx, b))
                for row in rows:
                    names.update(name for text in _texts(read_event(row)) for _, name in find_names(text))
                after, now = rows[-1]["seq"], validate.seconds_of(rows[-1]["timestamp"])
            yield past, names


def hosts_summary(memory: TaskMemory, task: str, cut: int) -> str | None:
    """The host's own summary of the context at the cut, if it compacted there and the summary is stored.

    A host gives it some time after the cut, and meanwhile much may have been written; but never after it has
    announced the next compaction.
    """
    if cut not in _compactions(memory, task):
        return None
    snapshots = memory.store.read(lambda tx: tx.records(task, "snapshot", ("active",), 50))
    for row in sorted(snapshots, key=lambda row: int(row["seq"])):
        label = (row["key"] or "").lower()
        if int(row["seq"]) <= cut:
            continue
        if label != AFTER_COMPACTION:
            if "compact" in label:
                return None
            continue
        (event,) = memory.store.read(lambda tx, seq=int(row["seq"]): tx.events(task, seq - 1, 1))
        text = str(event["text"] or "")
        found = _SUMMARY.search(text)  # the rest is the model thinking aloud, which the host drops
        return found[1] if found else text
    return None


def narration(memory: TaskMemory, task: str, cut: int) -> list[Event]:
    """What the agent and its user said before the cut."""
    found: list[Event] = []
    after = 0
    while rows := memory.store.read(lambda tx, a=after: tx.events(task, a, PAGE, cut)):
        events = map(read_event, rows)
        found += [event for event in events if event.type in ("message", "user_instruction") and event.text]
        after = rows[-1]["seq"]
    return found


def names_used_next(memory: TaskMemory, task: str, cut: int, before: set[str]) -> list[str]:
    """The names that the next actions used and that were known before the cut."""
    used: dict[str, None] = {}
    actions, after = 0, cut
    while rows := memory.store.read(lambda tx, a=after: tx.events(task, a, PAGE)):
        for event in map(read_event, rows):
            if event.type == "action" and "inferred" not in event.data:
                actions += 1
                text = f"{event.text or ''}\n{shown(event.data.get('input'))}"
                used.update(dict.fromkeys(sorted(name for _, name in find_names(text) if name in before)))
                if actions == NEXT_ACTIONS:
                    return list(used)
        after = rows[-1]["seq"]
    return list(used)


def _texts(event: Event) -> list[str]:
    """The texts of an event."""
    return [event.text or "", *map(shown, event.data.values())]
