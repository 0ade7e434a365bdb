"""Plan updates: an agent's words and actions move steps whose status was not set explicitly.

The belief is stored as `progress` in `distilled`. What is beyond doubt becomes an event `step.inferred`,
which sets statuses like any other event. A status that was set explicitly is never changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..ledger.access import append_event
from ..ledger.base import Base, Draft
from ..ledger.step_changes import begun_phase, item_changes
from ..ledger.trust import AGENT, least_trusted
from ..model import rules
from ..model.operation import operation
from ..model.results import ProgressReport, StepProgress
from ..model.types import StepMove, Value
from ..model.validate import blake2b
from ..signals.step_numbers import number_ranges
from ..signals.text_layout import cut
from ..store import jobs
from ..store.queries import distilled
from ..store.tx import Row, Tx
from .observations import changes_plan, observation, sets_of
from .plan_progress import HIGH, Finding, Progress

KIND = "progress"
PAGE = 200  # events that are read at once
UNSAVED = 10  # events that another process may have to read again
MOST_CACHED = 64
REPORT = "report"  # the job that lets a model judge a message; its key is the message's number
MOST_ASKED = 2  # steps that a reply asks about one by one
MOST_ITEMS = 200  # a longer plan is not followed, since each update costs time in proportion to it


class PlanUpdate:
    """The result of reading new events: events to write, and the belief to store.

    `position` holds the columns of the task's row that will change with them; `moved` and `asks` are for the
    reply to the message.
    """

    def __init__(self, reading: _Reading, progress: Progress, seq: int) -> None:
        self._look = reading
        self._progress = progress
        self._seq = seq
        self.drafts: list[tuple[str, Draft]] = []
        self.position: dict[str, Any] = {}
        self.moved: tuple[StepMove, ...] = ()
        self.asks: tuple[str, ...] = ()
        # The message that a model is to judge, and the steps in question.
        self.unsure: tuple[int, tuple[str, ...]] | None = None

    def write(self, memory: Base, tx: Tx, head: Row, now: str) -> None:
        """Write what was inferred, and the belief if it is time to."""
        for channel, draft in self.drafts:
            itself = memory.acting_as(agent=AGENT, channel=channel)
            append_event(itself, tx, head, draft, now, "infer")
        settings = memory.settings
        if self.unsure is not None and (settings.model_local_url or settings.model_remote_url):
            cause, steps = self.unsure
            jobs.add(tx, REPORT, head["task_id"], str(cause), {"steps": list(steps)}, jobs.NOW, now)
        reading, seq = self._look, self._seq
        whole = seq == head["last_seq"] - len(self.drafts)
        if whole:
            seq = head["last_seq"]  # our own events say nothing new
        if self.drafts or not reading.known or seq - reading.mark >= UNSAVED:
            state = {**self._progress.state(), "plan": reading.plan}
            distilled.put(tx, head["task_id"], KIND, seq, now, state)
            reading.mark = seq
        if whole:
            while len(_cache) >= MOST_CACHED:
                _cache.pop(next(iter(_cache)), None)
            _cache[head["task_id"]] = _CachedBelief(
                seq=seq,
                hash=head["last_hash"],
                mark=reading.mark,
                plan=reading.plan,
                steps=reading.steps,
                progress=self._progress,
            )


class _CachedBelief(Value, frozen=True, kw_only=True):
    """A belief cached in this process: the last event it has read, and how far it is stored."""

    seq: int
    hash: bytes
    mark: int
    plan: str
    steps: list[Row]
    progress: Progress


# By task. The hash of the last event stands for the whole history; a belief that does not fit is not used.
_cache: dict[str, _CachedBelief] = {}


def foresee(memory: Base, tx: Tx, head: Row, draft: Draft, now: str) -> PlanUpdate | None:
    """What a message that is about to be written leads to; None if the task's plan is not followed."""
    after = {**head, **draft.sets.get("heads", {})}
    if not _is_followed(after):
        return None
    reading = _Reading(tx, after, kept=_cache.pop(head["task_id"], None))
    seq = head["last_seq"] + 1
    for name, row in draft.sets.get("steps", {}).items():
        reading.change(name, {**row, "version": seq})
    if not reading.more:
        reading.rows.append(
            {
                "seq": seq,
                "event_type": draft.kind,
                "item_id": draft.item,
                "text": draft.text,
                "data": json.dumps(draft.data),
                "sets": draft.sets,
                "channel": memory.origin.channel,
                "agent": memory.origin.agent,
            }
        )
    return reading.outcome(tx, now, seq)


def catch_up(memory: Base, tx: Tx, head: Row, now: str) -> int:
    """Read the next events of a task whose row is locked; returns how many, 0 if none is left."""
    if not _is_followed(head):
        return 0
    reading = _Reading(tx, head)
    if not reading.rows:
        return 0
    reading.outcome(tx, now, head["last_seq"]).write(memory, tx, head, now)
    return len(reading.rows)


class Progressing(Base):
    """The operation that reports the progress of a plan."""

    @operation(scope="read")
    def task_progress(self, task_id: str | None = None) -> ProgressReport:
        """Show the plan with each step's status, and what the agent's words and actions suggest.

        A status that is likely but not certain is a `suggestion`: it is reported, never written. `cause` is
        the event behind a status or suggestion. At most the last 1,000 new events are considered.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
        """

        def work(tx: Tx) -> ProgressReport:
            head = self._find(tx, task_id)
            reading = _Reading(tx, head, 1000)
            progress = reading.observe() if reading.live and head["total"] <= MOST_ITEMS else None
            return reading.report(progress)

        return self.store.read(work)


def _is_followed(head: Row) -> bool:
    return head["status"] in rules.OPEN and 0 < head["total"] <= MOST_ITEMS


class _Reading:
    """A task's plan and belief, with the events that the belief does not include yet."""

    def __init__(self, tx: Tx, head: Row, most: int = PAGE, kept: _CachedBelief | None = None) -> None:
        self.head = head
        start = head["plan_seq"] or 0
        self.state: dict[str, Any] = {}
        self.rows: list[Row] = []
        self.known = kept if kept and self._follows(tx, kept, most) else None
        if self.known is None:
            self.mark, self.state, self.rows, self.steps = tx.events_since_distilled(
                head["task_id"], KIND, start, most
            )
        self.more = len(self.rows) == most
        self.live = [row for row in self.steps if row["dropped_in"] is None]
        self._places = {row["item_id"]: place for place, row in enumerate(self.live)}
        self._channels: dict[int, str] = {}
        self._start = max(self.mark, start)
        self._last = 0  # the last event that was an observation

    def _follows(self, tx: Tx, kept: _CachedBelief, most: int) -> bool:
        """Continue from a cached belief, if the history continues from there with the same plan."""
        self.mark, self.plan, self.steps = kept.mark, kept.plan, kept.steps
        if kept.hash == self.head["last_hash"]:
            return True
        _, _, rows, self.steps = tx.events_since_distilled(self.head["task_id"], "", kept.seq - 1, most)
        self.rows = rows[1:]
        goes_on = 0 < len(rows) < most and rows[0]["hash"] == kept.hash
        return goes_on and not any(map(changes_plan, self.rows))

    def change(self, item: str, columns: Mapping[str, Any]) -> None:
        """Change a step here as an event about to be written will change it."""
        self.live[self._places[item]].update(columns)

    def observe(self) -> Progress:
        """Read the events."""
        progress, rows = (self.known.progress, self.rows) if self.known else self._resumed()
        for row in rows:
            self._take(progress, row)
        return progress

    def _resumed(self) -> tuple[Progress, list[Row]]:
        """The stored belief, or a new one for a new plan, and the events that it has to read."""
        titles = [row["title"] for row in self.live]
        self.plan = blake2b(json.dumps([*self._places, *titles]).encode(), digest_size=8).hexdigest()
        if self.state.get("plan") == self.plan:
            return Progress(titles, self.state), self.rows
        # Events before the last change of the plan say nothing about the plan as it stands.
        rows = self.rows
        changes = [row["seq"] for row in rows if changes_plan(row)]
        if changes:
            self._start = changes[-1]
        elif self.mark > (self.head["plan_seq"] or 0) and self.more:
            rows, self.plan = [], self.state.get("plan", "")  # the change is on a later page
        return Progress(titles, self._beginning()), [row for row in rows if row["seq"] > self._start]

    def _beginning(self) -> dict[str, Any]:
        """The first belief about a plan: the work is at the first step that was not over by then."""
        over = [
            row["status"] not in rules.ITEM_OPEN and (row["cause_seq"] or 0) <= self._start
            for row in self.live
        ]
        place = over.index(False) if False in over else len(over) - 1
        return {
            "here": [float(one == place) for one in range(len(over))],
            "stated": [float(one) for one in over],
        }

    def _take(self, progress: Progress, row: Row) -> None:
        if row["agent"] == AGENT:
            return
        sets = sets_of(row)
        for item, columns in sets.get("steps", {}).items():
            if "status" in columns and item in self._places:
                progress.set_status(self._places[item], columns["status"])
        if (seen := observation(row, sets)) is not None:
            if (item := row["item_id"]) in self._places and seen.kind == "report":
                is_set = "status" in sets.get("steps", {}).get(item, {})
                seen = seen.replace(about=self._places[item], is_set=is_set)
            self._channels[row["seq"]] = row["channel"]
            self._last = row["seq"]
            progress.observe(seen)

    def outcome(self, tx: Tx, now: str, last: int) -> PlanUpdate:
        """What follows from the events; `last` is the task's last event, which may not be written yet."""
        progress = self.observe()
        found = PlanUpdate(self, progress, self.rows[-1]["seq"] if self.more else last)
        causes = self._conclusions(progress) if self._last else {}
        if causes:
            claimed = {row["item_id"] for row in tx.claims(self.head["task_id"]) if row["status"] == "held"}
            for cause, statuses in sorted(causes.items()):
                if free := {item: status for item, status in statuses.items() if item not in claimed}:
                    self._add(found, tx, now, last, cause, free, progress.confidence())
        if found.drafts:
            found.position.update(rules.plan_position(self.steps))
            found.moved = self._moved(found.drafts)
        found.asks = tuple(open_questions(self.live, progress))
        unsure = [one.step for one in progress.verdicts if one.effect in ("ask", "unsure")]
        steps = [self.live[step] for step in unsure]
        asked = tuple(
            row["item_id"] for row in steps if row["status"] in rules.ITEM_OPEN and row["basis"] != "explicit"
        )
        if asked and self._last:
            found.unsure = self._last, asked
        return found

    def _moved(self, drafts: Sequence[tuple[str, Draft]]) -> tuple[StepMove, ...]:
        """The steps with a new status, in the order of the plan."""
        changed = {
            item: columns["status"]
            for _, draft in drafts
            for item, columns in draft.sets["steps"].items()
            if "status" in columns
        }
        return tuple(
            StepMove(step=row["item_id"], number=number, title=row["title"], status=changed[row["item_id"]])
            for number, row in enumerate(self.live, 1)
            if row["item_id"] in changed
        )

    def _conclusions(self, progress: Progress) -> dict[int, dict[str, str]]:
        """The statuses that steps should get, grouped by the event that each follows from.

        There will be one event for each cause, so that each can be traced and undone by itself.
        """
        causes: dict[int, dict[str, str]] = {}
        rows = self.live
        over = {place for place, row in enumerate(rows) if row["status"] not in rules.ITEM_OPEN}
        for finding in progress.clear(over):
            row = rows[finding.item]
            if finding.item in over and row["basis"] == "inferred":
                causes.setdefault(self._last, {})[row["item_id"]] = "pending"
            elif (
                finding.settled and finding.cause and finding.item not in over and row["basis"] != "explicit"
            ):
                causes.setdefault(finding.cause, {})[row["item_id"]] = progress.ended(finding.item)
        for verdict in progress.verdicts:
            # A step that failed or was skipped by inference may end otherwise after all.
            row = rows[verdict.step]
            ends = verdict.effect in rules.ITEM_OVER and verdict.effect != row["status"]
            if verdict.step in over and row["basis"] == "inferred" and ends:
                causes.setdefault(self._last, {})[row["item_id"]] = verdict.effect
        if (begun := self._begun(progress)) is not None:
            causes.setdefault(self._last, {})[begun] = "active"
        return causes

    def _begun(self, progress: Progress) -> str | None:
        """The step in work, if that is clear and no active step was set explicitly."""
        if not self.live:  # every step was dropped
            return None
        place, share = progress.place
        row = self.live[place]
        if not progress.placed or share < HIGH or row["basis"] == "explicit" or progress.current != place:
            return None
        if any(one["status"] == "active" and one["basis"] == "explicit" for one in self.live):
            return None
        denied = row["status"] in rules.ITEM_OVER and row["basis"] == "inferred"
        return row["item_id"] if row["status"] == "pending" or denied else None

    def _add(
        self,
        found: PlanUpdate,
        tx: Tx,
        now: str,
        last: int,
        cause: int,
        statuses: Mapping[str, str],
        confidence: Sequence[float],
    ) -> None:
        """Draft the event that gives some steps a status."""
        seq = last + len(found.drafts) + 1
        steps: dict[str, dict[str, Any]] = {}
        for item, status in statuses.items():
            row = self.live[self._places[item]]
            changes, _ = item_changes(tx, self.head, self.steps, row, now, status=status, basis="inferred")
            changes[item]["cause_seq"] = cause
            for name, columns in changes.items():
                self.change(name, {**columns, "version": seq})
                steps.setdefault(name, {}).update(columns)
        sets: dict[str, Any] = {"steps": steps}
        if (phase := begun_phase({**self.head, **found.position})) is not None:
            sets["heads"] = {"phase": phase, **rules.phase_stamps(self.head, phase, now)}
            found.position["phase"] = phase
        draft = Draft(
            "step.inferred",
            data={
                "inferred": True,
                "from": [cause],
                "confidence": {
                    item: round(confidence[self._places[item]], 3)
                    for item, status in statuses.items()
                    if status == "completed"
                }
                or None,
            },
            sets=sets,
            item=next(iter(statuses)) if len(statuses) == 1 else None,
        )
        found.drafts.append((self._trust(tx, cause), draft))

    def _trust(self, tx: Tx, cause: int) -> str:
        """The channel of what follows from an event, never more trusted than the event itself."""
        channel = self._channels.get(cause)
        if channel is None:  # read by an earlier update
            row = tx.event(self.head["task_id"], cause)
            channel = row["channel"] if row else "import"
        return least_trusted([channel])

    def report(self, progress: Progress | None) -> ProgressReport:
        """The steps with what is believed about each."""
        findings = progress.findings() if progress else []
        current = progress.current if progress else None
        items = [
            _reported(row, finding, place == current)
            for place, (row, finding) in enumerate(
                zip(self.live, findings or [None] * len(self.live), strict=True)
            )
        ]
        return ProgressReport(
            task_id=self.head["task_id"],
            seq=self.head["last_seq"],
            current=None if current is None else self.live[current]["item_id"],
            steps=tuple(items),
        )


def open_questions(rows: Sequence[Row], progress: Progress) -> Iterator[str]:
    """What a report leaves open: the steps that it may have finished, and those that it jumped across."""
    asked = [
        verdict.step
        for verdict in progress.verdicts
        if verdict.effect in ("ask", "completed") and rows[verdict.step]["status"] in rules.ITEM_OPEN
    ]
    for step in asked[:MOST_ASKED]:
        yield f"Did this finish step {step + 1}, {cut(rows[step]['title'], 80)}? It stays open."
    if len(asked) > MOST_ASKED:
        yield f"{len(asked) - MOST_ASKED} more steps stay open as well."
    begun = [verdict.step for verdict in progress.verdicts if verdict.effect == "active"]
    if begun:
        before = [
            step + 1
            for step, row in enumerate(rows[: begun[-1]])
            if row["status"] in rules.ITEM_OPEN and step not in asked and step not in begun
        ]
        if before:
            many = len(before) > 1
            yield (
                f"{'Are steps' if many else 'Is step'} {number_ranges(before)} finished?"
                f" {'They stay' if many else 'It stays'} open."
            )


def _reported(row: Row, finding: Finding | None, is_current: bool) -> StepProgress:
    suggestion = None
    if finding is not None and row["status"] in rules.ITEM_OPEN:
        if finding.status != "open":
            suggestion = "completed"
        elif is_current and row["status"] == "pending":
            suggestion = "active"
    cause = row["cause_seq"]
    if finding is not None and suggestion == "completed":
        cause = finding.cause
    return StepProgress(
        id=row["item_id"],
        title=row["title"],
        status=row["status"],
        basis=row["basis"],
        confidence=finding.confidence if finding else None,
        suggestion=suggestion,
        cause=cause,
    )
