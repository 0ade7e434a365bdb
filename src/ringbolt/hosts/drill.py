# pyright: reportPrivateUsage=false
"""The recovery drill: simulates a compaction of a task and scores what is recovered.

The task's events up to the cut are copied to a temporary store and distilled there, as before a compaction.
So nothing that happened later can help, and the task itself is only read. What comes back (the resume packet,
answers to questions) is compared with what was recorded before the cut, with what was said then (as a person
or a model understood it), and with the names that the work used after it. The host's own summary of the same
compaction is scored by the same rules on the same items.
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
from ..model.results import DrillLoss, DrillResult, DrillRow
from ..model.types import Entry, Event, Snapshot
from ..signals.text_layout import layout, one_line, sentences
from ..store.tx import Tx
from . import drill_truth
from .drill_truth import Narrated
from .row_match import RowText, significant_words
from .transcripts.session import AFTER_COMPACTION

Build = Callable[[Snapshot, int], str]

SMALL, USUAL = 500, 1500  # tokens of a packet
NEXT_ACTIONS = 30
PAGE = 500
MOST_CUTS = 5  # compactions of one task that are drilled, the newest
MOST_REQUEST = 1500  # characters of a request that must be recovered
MOST_INSTRUCTIONS = 10  # the newest ones
MOST_LOSSES = 40  # of one row that are listed
NARRATED_WANTED = 80  # per cent of what was said
_SHOWN = 200  # characters of something that was lost
_ENDED = ("completed", "failed", "skipped")
_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)


class Truth(NamedTuple):
    """Something to be recovered: texts that must all be in one row, and the event that recorded it."""

    parts: tuple[str, ...]
    seq: int | None = None


class _Kind(NamedTuple):
    """A kind of thing that must be recovered, and how to ask for it."""

    name: str
    wanted: int | None  # per cent
    questions: Sequence[str]
    truths: Callable[[Snapshot], list[Truth]]
    match: Callable[[RowText, Truth], bool]
    ours: bool = False  # in our own terms, which no host knows


def run(
    memory: TaskMemory,
    task_id: str | None = None,
    *,
    at: int | None = None,
    keep: bool = True,
    truth: str | None = None,
    model: bool = False,
) -> tuple[DrillResult, ...]:
    """Drill a task at each of its last compactions, else after 60 % of its events, or only after event `at`.

    `truth` is a file in which a person wrote what was said before the cut (see `drill_truth.read_truth`);
    with `model` the configured model finds that out. The scores are kept in the task's ledger as an event
    `drill.scored`, unless they are there already.
    """
    task, last = _task(memory, task_id)
    cuts = _cuts(memory, task, last, at)
    if truth is not None:
        cuts = cuts[-1:]  # a person wrote down what was said until the last one
    found = tuple(_drilled(memory, task, last, *cut, truth=truth, model=model) for cut in cuts)
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
    memory: TaskMemory,
    task: str,
    last: int,
    cut: int,
    because: str,
    build: Build | None = None,
    *,
    truth: str | None = None,
    model: bool = False,
) -> DrillResult:
    build = build or (lambda state, budget: past.task_resume(state.id, budget=budget).text)
    with _as_of(memory, task, cut) as (past, before):
        past.task_distill(task)
        state = past._snapshot(task)
        narrated = drill_truth.read_truth(truth) if truth is not None else []
        if model:
            narrated += drill_truth.truth_of_model(memory, task, _narration(memory, task, cut))
        used = _names_used_next(memory, task, cut, before)
        kinds = (*KINDS, *_narrated_kinds(narrated), _names_kind(used))
        texts = [RowText(build(state, budget)) for budget in (SMALL, USUAL)]
        summary = _hosts_summary(memory, task, cut)
        host = None if summary is None else RowText(summary)
        rows = tuple(_row(past, kind, state, texts, host) for kind in kinds)
    missed = tuple(row.name for row in rows if row.missed())
    sources = [name for name, used in (("a file", truth is not None), ("a model", model)) if used]
    return DrillResult(
        task_id=task,
        name=state.name,
        cut=cut,
        last=last,
        because=because,
        rows=rows,
        ok=not missed,
        missed=missed,
        truth=" and ".join(sources),
    )


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
        same[0].replace(**{name: sum(getattr(row, name) for row in same) for name in sums}, lost=())
        for same in zip(*(one.rows for one in drills), strict=True)
    ]
    missed = {name for one in drills for name in one.missed}
    return DrillResult(
        task_id=None,
        name=f"{len(drills)} drills of {len({one.task_id for one in drills})} tasks",
        cut=sum(one.cut for one in drills),
        last=sum(one.last for one in drills),
        because="all",
        rows=tuple(rows),
        ok=all(one.ok for one in drills),
        missed=tuple(row.name for row in rows if row.name in missed),
        truth=drills[0].truth,
    )


# --- the cut ----------------------------------------------------------------------------------------


def _cuts(memory: TaskMemory, task: str, last: int, at: int | None) -> list[tuple[int, str]]:
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


def _narration(memory: TaskMemory, task: str, cut: int) -> list[Event]:
    """What the agent and its user said before the cut."""
    found: list[Event] = []
    after = 0
    while rows := memory.store.read(lambda tx, a=after: tx.events(task, a, PAGE, cut)):
        events = map(read_event, rows)
        found += [event for event in events if event.type in ("message", "user_instruction") and event.text]
        after = rows[-1]["seq"]
    return found


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
    past: TaskMemory, kind: _Kind, state: Snapshot, packets: Sequence[RowText], host: RowText | None
) -> DrillRow:
    truths = kind.truths(state)
    answers = RowText(
        "\n".join(past.task_ask(state.id, question).text for question in kind.questions if truths)
    )
    summary = None if kind.ours else host
    found = [
        DrillLoss(
            seq=truth.seq,
            text=one_line(": ".join(truth.parts), _SHOWN),
            small=kind.match(packets[0], truth),
            usual=kind.match(packets[1], truth),
            asked=kind.match(answers, truth),
            host=None if summary is None else kind.match(summary, truth),
        )
        for truth in truths
    ]
    lost = [one for one in found if not one.usual or one.host is False]
    lost.sort(key=lambda one: one.usual)  # what the packet has lost comes first
    return DrillRow(
        name=kind.name,
        wanted=kind.wanted,
        count=len(found),
        small=sum(one.small for one in found),
        usual=sum(one.usual for one in found),
        asked=sum(one.asked for one in found),
        host=sum(bool(one.host) for one in found),
        host_count=0 if summary is None else len(found),
        lost=tuple(lost[:MOST_LOSSES]),
    )


def _holds(text: RowText, truth: Truth) -> bool:
    return text.holds(*truth.parts)


def _names(text: RowText, truth: Truth) -> bool:
    return text.names(*truth.parts)


def _states(text: RowText, truth: Truth) -> bool:
    """Whether a text has each part somewhere: they are separate facts."""
    return all(text.names(part) for part in truth.parts)


def _names_or_holds(text: RowText, truth: Truth) -> bool:
    return text.names(*truth.parts) or text.holds(*truth.parts)


def _requests(task: Snapshot) -> list[Truth]:
    """Each sentence and each item of a list of what the user asked for and what is not finished."""
    asked = [(one.text, one.seq) for one in task.requests if one.status != "finished"]
    return [
        Truth((part,), seq)
        for text, seq in asked or [(task.request or task.goal or task.name, None)]
        for part in statements(text[:MOST_REQUEST])
    ]


def statements(text: str) -> list[str]:
    """The sentences and list items of a text that say something; if there is none, the whole text."""
    lines = [line.text for line in layout(text, quotes=True) if line.kind not in ("blank", "code", "lead")]
    found = [part.strip() for line in lines for part in sentences(line)]
    return [part for part in found if len(significant_words(part)) > 1] or [text.strip()]


def _instructions(task: Snapshot) -> list[Truth]:
    begun = {one.seq for one in task.requests}
    since = [entry for entry in task.instructions if entry.seq not in begun]
    return [Truth((entry.summary,), entry.seq) for entry in since[-MOST_INSTRUCTIONS:]]


def _progress(task: Snapshot) -> list[Truth]:
    steps = (f"{task.done} of {task.total}",) if task.total else ()
    return [Truth((task.phase, *steps))]


def _recorded(entries: Sequence[Entry]) -> list[Entry]:
    """The entries that were recorded, without inferred ones, which may be wrong."""
    return [entry for entry in entries if not entry.data.get("inferred")]


def _parts(entry: Entry, what: str, why: str) -> Truth:
    parts = (entry.data.get(what) or entry.summary, entry.data.get(why))
    return Truth(tuple(part for part in parts if isinstance(part, str) and part.strip()), entry.seq)


def _decisions(task: Snapshot) -> list[Truth]:
    return [_parts(entry, "choice", "reasoning") for entry in _recorded(task.decisions)[-3:]]


def _exclusions(task: Snapshot) -> list[Truth]:
    return [_parts(entry, "what", "why") for entry in _recorded(task.exclusions)]


def _variables(task: Snapshot) -> list[Truth]:
    entries = _recorded(task.values)
    return [Truth((entry.key or "", _shown(entry.data.get("value"))), entry.seq) for entry in entries]


def _unknown(task: Snapshot) -> list[Truth]:
    return [Truth((one.what,), one.seq) for one in task.effects if one.status in ("intended", "unknown")]


def _blockers(task: Snapshot) -> list[Truth]:
    return [Truth((text,)) for text in task.blockers]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else validate.dumps(value)


def _ended_steps(task: Snapshot) -> list[Truth]:
    return [Truth((item.title,)) for item in task.items if item.status in _ENDED and item.dropped_in is None]


def _step(field: str) -> Callable[[Snapshot], list[Truth]]:
    return lambda task: [Truth((title,))] if (title := getattr(task, field)) else []


def _files(task: Snapshot) -> list[Truth]:
    found = {file.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]: file.seq for file in task.files}
    return [Truth((name,), seq) for name, seq in found.items() if name]


def _narrated_kinds(narrated: Sequence[Narrated]) -> list[_Kind]:
    """A row for each kind of thing that is said; empty where nobody says what was."""

    def of(kind: str) -> Callable[[Snapshot], list[Truth]]:
        truths = [Truth((one.text,), one.seq) for one in narrated if one.kind == kind]
        return lambda task: truths

    return [
        _Kind(
            f"said: {kind}",
            NARRATED_WANTED,
            [question],
            of(kind),
            _holds,
        )
        for kind, question in _QUESTIONS.items()
    ]


def _names_kind(used: Sequence[str]) -> _Kind:
    question = "Which files, names, versions, tickets and commits does the work need now?"
    truths = [Truth((name,)) for name in used]

    def of(task: Snapshot) -> list[Truth]:
        return truths

    return _Kind("names used next", None, [question], of, _names)


_QUESTIONS = {
    "decision": "What was decided, and why?",
    "dead end": "What was tried and failed, and why?",
    "value": "Which variables are set?",
    "constraint": "What must not be done?",
    "blocker": "What blocks it?",
    "question": "Which questions are open?",
    "fact": "What was found out?",
    "next": "What is the next step?",
}
KINDS = (
    _Kind("request, each sentence", 100, ["What did the user ask for?"], _requests, _holds),
    _Kind("instructions since", 90, ["What did the user say since?"], _instructions, _holds),
    _Kind("phase and progress", 100, ["Which phase is it in?", "How far is it?"], _progress, _states, True),
    _Kind("last 3 decisions, reasons", 100, ["What were the last 3 decisions, and why?"], _decisions, _holds),
    _Kind("variables", 95, ["Which variables are set?"], _variables, _names_or_holds),
    _Kind("exclusions", 90, ["What was tried and failed, and why?"], _exclusions, _holds),
    _Kind(
        "unknown side effects",
        100,
        ["Which side effects have an unknown outcome?"],
        _unknown,
        _holds,
    ),
    _Kind("blockers", 100, ["What blocks it?"], _blockers, _holds),
    _Kind("step history", 70, ["Which plan steps are completed?"], _ended_steps, _holds),
    _Kind("current step", None, ["What is the current step?"], _step("current_title"), _holds),
    _Kind("next step", None, ["What is the next step?"], _step("next_title"), _holds),
    _Kind("files modified", None, ["Which files were modified?"], _files, _names),
)
