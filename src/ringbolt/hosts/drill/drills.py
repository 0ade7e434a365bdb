# pyright: reportPrivateUsage=false
"""The recovery drill: simulates a compaction of a task and scores what is recovered.

The task's events up to the cut are copied to a temporary store and distilled there, as before a compaction.
So nothing that happened later can help, and the task itself is only read. What comes back (the resume packet,
answers to questions) is compared with what was recorded before the cut, with what was said then (as a person
or a model understood it), and with the names that the work used after it. The host's own summary of the same
compaction is scored by the same rules on the same items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.drill_results import SCORED
from ...memory import TaskMemory
from ...model.errors import InvalidInput
from ...model.results import DrillLoss, DrillResult, DrillRow
from ...model.types import Snapshot
from ...signals.text_layout import one_line
from ...store.tx import Tx
from . import narrated_truth as drill_truth
from .kinds import KINDS, Kind, names_kind, narrated_kinds
from .past import as_of, cuts, hosts_summary, names_used_next, narration
from .row_match import RowText

Build = Callable[[Snapshot, int], str]
SMALL, USUAL = 500, 1500  # tokens of a packet
MOST_LOSSES = 40  # of one row that are listed, and as many that were kept
_SHOWN = 200  # characters of something that was lost


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
    places = cuts(memory, task, last, at)
    if truth is not None:
        places = places[-1:]  # a person wrote down what was said until the last one
    found = tuple(_drilled(memory, task, last, *cut, truth=truth, model=model) for cut in places)
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
    return _drilled(memory, task, last, *cuts(memory, task, last, at)[-1], build)


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
    with as_of(memory, task, cut) as (past, before):
        past.task_distill(task)
        state = past._snapshot(task)
        narrated = drill_truth.read_truth(truth) if truth is not None else []
        if model:
            narrated += drill_truth.truth_of_model(memory, task, narration(memory, task, cut))
        used = names_used_next(memory, task, cut, before)
        kinds = (*KINDS, *narrated_kinds(narrated), names_kind(used))
        texts = [RowText(build(state, budget)) for budget in (SMALL, USUAL)]
        summary = hosts_summary(memory, task, cut)
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


def _row(
    past: TaskMemory, kind: Kind, state: Snapshot, packets: Sequence[RowText], host: RowText | None
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
        kept=tuple(one for one in found if one.usual and one.host is not False)[:MOST_LOSSES],
    )
