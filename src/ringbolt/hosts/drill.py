# pyright: reportPrivateUsage=false
"""The recovery drill: simulates a compaction of a task and scores what is recovered.

The task's events up to the cut are copied to a temporary store and distilled there, as before a compaction.
So nothing that happened later can help, and the task itself is only read. What comes back (the resume packet,
answers to questions) is compared with what was recorded before the cut, and with the names that the work used
after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ..config import changed
from ..core.drill_results import SCORED
from ..core.transfer import Merge
from ..extract.names import find_names
from ..ledger.values import read_event, read_origin
from ..memory import TaskMemory
from ..model import validate
from ..model.errors import InvalidInput
from ..model.results import DrillResult, DrillRow
from ..model.types import Entry, Event, Snapshot
from ..store.tx import Tx
from .transcripts.session import AFTER_COMPACTION

Build = Callable[[Snapshot, int], str]
# Texts that must all come back for one thing to count as recovered.
Truth = tuple[str, ...]

SMALL, USUAL = 500, 1500  # tokens of a packet
NEXT_ACTIONS = 30
HOST_SUMMARY_WITHIN = 5  # events after the cut
OPENING = 300  # characters of a long text that say what it is about
ENOUGH = 0.8  # share of the words of a text that must come back
PAGE = 500
MOST_CUTS = 5  # compactions of one task that are drilled, the newest
_WORD = re.compile(r"\w+")
_SMALL_WORDS = frozenset(
    "the and for with from this that was were has have had not but you can will should would could does did"
    " into out all any there then when what which how are its our their please".split()
)
_ENDED = ("completed", "failed", "skipped")


class _Kind(NamedTuple):
    """A kind of thing that must be recovered, and how to ask for it."""

    name: str
    wanted: int | None  # per cent
    questions: Sequence[str]
    truths: Callable[[Snapshot], list[Truth]]
    match: Callable[[str, str], bool]
    ours: bool = False  # in our own terms, which no host knows


def run(
    memory: TaskMemory, task_id: str | None = None, *, at: int | None = None, keep: bool = True
) -> tuple[DrillResult, ...]:
    """Drill a task at each of its last compactions, else after 60 % of its events, or only after event `at`.

    The scores are kept in the task's ledger as an event `drill.scored`, unless they are there already.
    """
    task, last = _task(memory, task_id)
    found = tuple(_drilled(memory, task, last, *cut) for cut in _cuts(memory, task, last, at))
    for result in found if keep else ():
        memory._keep_drill(result)
    return found


def drill(
    memory: TaskMemory, task_id: str | None = None, *, at: int | None = None, build: Build | None = None
) -> DrillResult:
    """Simulate a compaction of a task: at its last one, else after 60 % of its events, or after event `at`.

    `build` makes the text for a fresh context; by default that is the resume packet. Nothing is written.
    """
    task, last = _task(memory, task_id)
    return _drilled(memory, task, last, *_cuts(memory, task, last, at)[-1], build)


def _drilled(
    memory: TaskMemory, task: str, last: int, cut: int, because: str, build: Build | None = None
) -> DrillResult:
    build = build or (lambda state, budget: past.task_resume(state.id, budget=budget).text)
    with _as_of(memory, task, cut) as (past, before):
        past.task_distill(task)
        state = past._snapshot(task)
        texts = [build(state, budget) for budget in (SMALL, USUAL)]
        host = _hosts_summary(memory, task, cut)
        used = _names_used_next(memory, task, cut, before)
        rows = tuple(_row(past, kind, state, texts, host) for kind in (*KINDS, _names_kind(used)))
    # Everything that must be recovered in full is in the usual packet.
    ok = all(row.usual == row.count for row in rows if row.wanted == 100)
    return DrillResult(task_id=task, name=state.name, cut=cut, last=last, because=because, rows=rows, ok=ok)


def _task(memory: TaskMemory, task_id: str | None) -> tuple[str, int]:
    """A task, and the last event of its work: scores of drills are not counted."""

    def work(tx: Tx) -> tuple[str, int]:
        head = memory._find(tx, task_id)
        last = int(head["last_seq"])
        while last > 1 and tx.events(head["task_id"], last - 1, 1)[0]["event_type"] == SCORED:
            last -= 1
        return str(head["task_id"]), last

    return memory.store.read(work)


def total(drills: Sequence[DrillResult]) -> DrillResult:
    """The sum of many drills, for each kind of thing."""
    if not drills:
        raise InvalidInput(
            "invalid_argument", "There are no tasks to drill.", "Capture or register a task first."
        )
    sums = ("count", "small", "usual", "asked", "host", "host_count")
    rows = [
        same[0].replace(**{name: sum(getattr(row, name) for row in same) for name in sums})
        for same in zip(*(one.rows for one in drills), strict=True)
    ]
    return DrillResult(
        task_id=None,
        name=f"{len(drills)} drills of {len({one.task_id for one in drills})} tasks",
        cut=sum(one.cut for one in drills),
        last=sum(one.last for one in drills),
        because="all",
        rows=tuple(rows),
        ok=all(one.ok for one in drills),
    )


# --- the cut ----------------------------------------------------------------------------------------


def _cuts(memory: TaskMemory, task: str, last: int, at: int | None) -> list[tuple[int, str]]:
    """The cuts, each with its reason: as asked, else at the last compactions, else after 60 %."""
    if at is not None:
        return [(validate.whole("at", at, 1, last), "asked")]
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
    compactions = [(cut, "compaction") for cut in sorted(found)[-MOST_CUTS:]]
    return compactions or [(max(1, last * 60 // 100), "60 %")]


@contextmanager
def _as_of(memory: TaskMemory, task: str, cut: int) -> Generator[tuple[TaskMemory, set[str]]]:
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


def _hosts_summary(memory: TaskMemory, task: str, cut: int) -> str | None:
    """The host's own summary of the context at the cut, if it is stored."""

    def work(tx: Tx) -> str | None:
        for row in tx.events(task, cut, HOST_SUMMARY_WITHIN):
            if row["event_type"] == "snapshot" and f'"{AFTER_COMPACTION}"' in row["data"]:
                return row["text"]
        return None

    return memory.store.read(work)


def _names_used_next(memory: TaskMemory, task: str, cut: int, before: set[str]) -> list[str]:
    """The names that the next actions used and that were known before the cut."""
    used: dict[str, None] = {}
    actions, after = 0, cut
    while rows := memory.store.read(lambda tx, a=after: tx.events(task, a, PAGE)):
        for event in map(read_event, rows):
            if event.type == "action" and "inferred" not in event.data:
                actions += 1
                text = f"{event.text or ''}\n{_shown(event.data.get('input'))}"
                used.update(dict.fromkeys(sorted(name for _, name in find_names(text) if name in before)))
                if actions == NEXT_ACTIONS:
                    return list(used)
        after = rows[-1]["seq"]
    return list(used)


def _texts(event: Event) -> list[str]:
    """The texts of an event."""
    return [event.text or "", *map(_shown, event.data.values())]


# --- the rows ---------------------------------------------------------------------------------------


def _row(
    past: TaskMemory, kind: _Kind, state: Snapshot, packets: Sequence[str], host: str | None
) -> DrillRow:
    truths = kind.truths(state)
    answers = "\n".join(past.task_ask(state.id, question).text for question in kind.questions if truths)

    def recovered(text: str) -> int:
        return sum(all(kind.match(part, text) for part in truth) for truth in truths)

    small, usual = map(recovered, packets)
    return DrillRow(
        name=kind.name,
        wanted=kind.wanted,
        count=len(truths),
        small=small,
        usual=usual,
        asked=recovered(answers),
        host=0 if host is None or kind.ours else recovered(host),
        host_count=0 if host is None or kind.ours else len(truths),
    )


def covers(truth: str, text: str) -> bool:
    """Whether a text has most words of the beginning of a truth, or all of a truth without words."""
    opening = truth if len(truth) <= OPENING else truth[:OPENING].rsplit(None, 1)[0]
    wanted = _significant_words(opening)
    if not wanted:
        return has_exactly(truth, text)
    return len(wanted & _significant_words(text)) >= ENOUGH * len(wanted)


def has_exactly(truth: str, text: str) -> bool:
    """Whether a text has a truth letter by letter, as a whole word."""
    return re.search(rf"(?<!\w){re.escape(truth)}(?!\w)", text) is not None


def _has_or_covers(truth: str, text: str) -> bool:
    return has_exactly(truth, text) or covers(truth, text)


def _significant_words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) > 2} - _SMALL_WORDS


def _goal(task: Snapshot) -> list[Truth]:
    return [(task.request or task.goal or task.name,)]


def _progress(task: Snapshot) -> list[Truth]:
    steps = (f"{task.done} of {task.total}",) if task.total else ()
    return [(task.phase, *steps)]


def _recorded(entries: Sequence[Entry]) -> list[Entry]:
    """The entries that were recorded, without inferred ones, which may be wrong."""
    return [entry for entry in entries if not entry.data.get("inferred")]


def _parts(entry: Entry, what: str, why: str) -> Truth:
    parts = (entry.data.get(what) or entry.summary, entry.data.get(why))
    return tuple(part for part in parts if isinstance(part, str) and part.strip())


def _decisions(task: Snapshot) -> list[Truth]:
    return [_parts(entry, "choice", "reasoning") for entry in _recorded(task.decisions)[-3:]]


def _exclusions(task: Snapshot) -> list[Truth]:
    return [_parts(entry, "what", "why") for entry in _recorded(task.exclusions)]


def _variables(task: Snapshot) -> list[Truth]:
    return [(entry.key or "", _shown(entry.data.get("value"))) for entry in _recorded(task.values)]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else validate.dumps(value)


def _ended_steps(task: Snapshot) -> list[Truth]:
    return [(item.title,) for item in task.items if item.status in _ENDED and item.dropped_in is None]


def _step(field: str) -> Callable[[Snapshot], list[Truth]]:
    return lambda task: [(title,)] if (title := getattr(task, field)) else []


def _files(task: Snapshot) -> list[Truth]:
    found = dict.fromkeys(file.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] for file in task.files)
    return [(name,) for name in found if name]


def _names_kind(used: Sequence[str]) -> _Kind:
    question = "Which files, names, versions, tickets and commits does the work need now?"
    truths: list[Truth] = [(name,) for name in used]

    def of(task: Snapshot) -> list[Truth]:
        return truths

    return _Kind("names used next", None, [question], of, has_exactly)


KINDS = (
    _Kind("goal", 100, ["What is the goal?"], _goal, covers),
    _Kind(
        "phase and progress", 100, ["Which phase is it in?", "How far is it?"], _progress, has_exactly, True
    ),
    _Kind("last 3 decisions, reasons", 100, ["What were the last 3 decisions, and why?"], _decisions, covers),
    _Kind("variables", 95, ["Which variables are set?"], _variables, _has_or_covers),
    _Kind("exclusions", 90, ["What was tried and failed, and why?"], _exclusions, covers),
    _Kind("step history", 70, ["Which plan steps are completed?"], _ended_steps, covers),
    _Kind("current step", None, ["What is the current step?"], _step("current_title"), covers),
    _Kind("next step", None, ["What is the next step?"], _step("next_title"), covers),
    _Kind("files modified", None, ["Which files were modified?"], _files, has_exactly),
)
