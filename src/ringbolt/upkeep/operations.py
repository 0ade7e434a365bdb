# pyright: reportPrivateUsage=false
"""Upkeep: tasks that nobody works on are paused, told of, put away or tidied, in plain sight.

Each change is one event of the task, with the rule and the reason, and can be undone; nothing is deleted, and
nothing is ever called completed. Rules find what they are about by reading; what they change is written a few
tasks at a time, each only if it still stands as it was read. So a run may be broken off anywhere and done
again, several may run at once, and no writer waits for long.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ..ledger.base import Base, Draft
from ..ledger.observed_time import KIND, Ages, Look, observe
from ..model import rules, validate
from ..model.errors import RingboltError
from ..model.operation import operation
from ..model.results import UpkeepChange, UpkeepReport
from ..store import distilled, jobs
from ..store.schema import OWN_AGENT
from ..store.tx import Row, Tx
from ..waits.looking import boot
from ..waits.records import steady
from . import queries
from . import rules as upkeep_rules
from .rules import Finding, Run

ALL = tuple(upkeep_rules.RULES)
# What a worker does unasked; the others are for who asks, or for a job of the operator's.
AUTOMATIC = ("lease", "resume", "pause", "stuck", "archive")
HYGIENE = ("duplicate", "failed")
BATCH = 100  # tasks that are written at once
MOST_LISTED = 1000
MOST_ALERTS = 50  # of one run: each has a packet; the next run goes on
PACKET = 600  # tokens


def machine() -> tuple[str, float]:
    """Which start of which machine this is, and the seconds since: a clock that nobody sets."""

    return boot(), steady()


class Upkeep(Base):
    """Operations that look after tasks nobody looks after."""

    _machine = staticmethod(machine)

    @operation(scope="write", repeatable=True, example={"dry_run": True})
    def upkeep_run(
        self,
        *,
        rules: Sequence[str] | str = "automatic",
        workspace: str | None = None,
        dry_run: bool = False,
        older_than: str | None = None,
        trust_clock: bool = False,
    ) -> UpkeepReport:
        """Pause idle tasks, archive old ones, report stuck ones, and release expired claims.

        With rules `all` also: tasks whose session is gone, duplicates, and failed tasks that nobody took up.
        All of it can be undone. Time counts only while the clock is trusted, so setting the clock does
        nothing to any task.

        Args:
            rules: `automatic` (lease, resume, pause, stuck, archive), `all` (also reconcile, duplicate,
                failed), or some of these.
            workspace: Only the tasks of this workspace. `None`: all workspaces.
            dry_run: Report what would be done, and change nothing.
            older_than: How long a task must have been idle to be tidied up, such as `7d`. Default: the
                setting `stale_threshold`.
            trust_clock: Trust the clock at once, even if it was just set.
        """
        chosen = _chosen(rules)
        older = self._older(older_than)
        seen = self._observe(write=not dry_run, trust=bool(trust_clock))
        return self._run(chosen, workspace, dry_run, seen, older, {})

    @operation(scope="write", repeatable=True)
    def tasks_reconcile(
        self, *, workspace: str | None = "", dry_run: bool = True, grace: str | None = None
    ) -> UpkeepReport:
        """Find open tasks whose session is gone: those with work done need review, the others are abandoned.

        A session is gone if it ended and the grace period is over, or if it has written nothing for very
        long, unless a claim, a wait or a sub-task is alive. No task becomes completed.

        Args:
            workspace: `""`: the workspace of this memory. `None` (`*` where null means "not given"):
                everywhere.
            dry_run: Report what would be done, and change nothing.
            grace: How long to leave a task alone after its session has ended. Default: the setting
                `session_grace`.
        """
        limits = {} if grace is None else {"grace": _seconds("grace", grace)}
        seen = self._observe(write=False, trust=True)
        here = self.workspace if workspace == "" else workspace
        return self._run(("reconcile",), here, dry_run, seen, self._older(None), limits)

    @operation(scope="write", repeatable=True, example={"older_than": "7d"})
    def tasks_hygiene(
        self, *, workspace: str | None = "", dry_run: bool = True, older_than: str | None = None
    ) -> UpkeepReport:
        """Find duplicates, to be superseded by the one that is kept, and failed tasks that nobody took up.

        Duplicates have the same label or title in one workspace. The one kept is open, alive and most
        recently worked on, in this order.

        Args:
            workspace: `""`: the workspace of this memory. `None` (`*` where null means "not given"):
                everywhere.
            dry_run: Report what would be done, and change nothing.
            older_than: How long a task must have been idle to be tidied up, such as `7d`. Default: the
                setting `stale_threshold`.
        """
        seen = self._observe(write=False, trust=True)
        here = self.workspace if workspace == "" else workspace
        return self._run(HYGIENE, here, dry_run, seen, self._older(older_than), {})

    # --- running ----------------------------------------------------------------------------------

    def _upkeep_some(self, most: int) -> UpkeepReport:
        """The automatic rules, for a worker that has other jobs too: about so many changes each at most."""
        seen = self._observe(write=True, trust=False)
        return self._run(AUTOMATIC, None, False, seen, self._older(None), {}, most)

    def _observe(self, write: bool, trust: bool) -> tuple[Ages, dict[str, int]]:
        """Look at the clocks, and where the tasks that ended begin; keep what was seen for the next run."""
        boot, passed = self._machine()
        now = self._clock()

        def work(tx: Tx) -> tuple[Ages, dict[str, int]]:
            look = Look(boot=boot, steady=passed, wall=now, position=tx.last_position())
            seen, state = distilled.get(tx, "", KIND)
            clocks, ages = observe(state, look, trust)
            ended = queries.first_kept(tx, upkeep_rules.ARCHIVED, state.get("ended", {}), look.position)
            # Not further than the run before has seen: someone may still be writing what comes earlier.
            ended = {status: min(place, seen) for status, place in ended.items()}
            if write:
                state = {**clocks, "ended": ended}
                distilled.put(tx, "", KIND, max(seen, look.position), validate.stamp(now), state)
            return ages, ended

        return self.store.write(work) if write else self.store.read(work)

    def _run(
        self,
        chosen: tuple[str, ...],
        workspace: str | None,
        dry_run: bool,
        observed: tuple[Ages, dict[str, int]],
        older: tuple[str, float],
        limits: dict[str, float],
        most: int = sys.maxsize,
    ) -> UpkeepReport:
        validate.optional("workspace", workspace, 4000)
        ages, ended = observed
        known, shown = self._limits()
        run = upkeep_rules.Run(
            store=self.store,
            ages=ages,
            workspace=workspace,
            until=self.store.read(lambda tx: tx.last_position(), once=True),
            ended_after=ended,
            limits={**known, "older": older[1], **limits},
            shown={**shown, "older": older[0]},
        )
        rounds = _Rounds(self, run, dry_run, most)
        for rule in chosen:
            if rule in run.limits or rule not in _SWITCHES:
                rounds.go(rule)
        return UpkeepReport(
            dry_run=dry_run,
            at=self._now(),
            workspace=workspace,
            rules=chosen,
            counts=rounds.counts,
            changes=tuple(rounds.changes),
            left_out=sum(rounds.counts.values()) - len(rounds.changes),
            skipped=rounds.skipped,
            clock_sure=ages.sure,
            as_of=None if ages.as_of is None else validate.stamp(ages.as_of),
            clock_jumped=ages.jumped,
            failures=rounds.failures,
            warnings=_warnings(ages),
        )

    def _limits(self) -> tuple[dict[str, float], dict[str, str]]:
        """From when on things are too old, in seconds and in words; what is off is not there."""
        said = {name: str(getattr(self.settings, setting)) for name, setting in _SETTINGS.items()}
        said = {name: value for name, value in said.items() if value != "off"}
        limits = {name: _seconds(_SETTINGS[name], value) for name, value in said.items()}
        return {**limits, "lease": self.settings.lease_seconds}, said

    def _older(self, given: str | None) -> tuple[str, float]:
        said = self.settings.stale_threshold if given is None else given
        seconds = _seconds("older_than", said)
        return str(said), seconds


_SETTINGS = {
    "pause": "pause_after",
    "archive": "archive_after",
    "stuck": "stuck_after",
    "cooldown": "stuck_cooldown",
    "grace": "session_grace",
    "silence": "session_silence",
}
_SWITCHES = ("pause", "archive", "stuck")


class _Rounds:
    """The rounds of one run, a rule each: what was found is written, or only counted."""

    def __init__(self, memory: Upkeep, run: Run, dry_run: bool, most: int) -> None:
        self._memory = memory
        self._most = most
        # The channel of what Ringbolt says itself, and in no session: no sign that anyone is at work.
        self._scribe = memory.acting_as(agent=OWN_AGENT, channel="system", session="")
        self._run = run
        self._dry = dry_run
        self.counts: dict[str, int] = {}
        self.changes: list[UpkeepChange] = []
        self.failures: dict[str, str] = {}
        self.skipped = 0
        self._found: set[str] = set()

    def go(self, rule: str) -> None:
        """Go through one rule; what goes wrong is kept, and the next rule is gone through all the same."""
        self.counts[rule] = 0
        try:
            for page in upkeep_rules.RULES[rule](self._run):
                for batch in self._batches(rule, page):
                    if not self._keep(rule, batch):
                        return
        except RingboltError as error:
            self.failures[rule] = str(error)

    def _batches(self, rule: str, page: list[Finding]) -> Iterator[list[Finding]]:
        size = 1 if rule == "stuck" else BATCH
        return (page[start : start + size] for start in range(0, len(page), size))

    def _keep(self, rule: str, batch: list[Finding]) -> bool:
        """Write a few findings down, or only count them; whether to go on."""
        if self._dry:  # what a rule would change, the next one would not find
            batch = [one for one in batch if rule == "lease" or one.task_id not in self._found]
            self._found.update(one.task_id for one in batch)
        seqs = {} if self._dry else self._write(rule, batch)
        done = [one for one in batch if self._dry or (one.task_id, one.data.get("item_id")) in seqs]
        self.skipped += len(batch) - len(done)
        self.counts[rule] += len(done)
        for one in done[: MOST_LISTED - len(self.changes)]:
            self.changes.append(
                UpkeepChange(
                    rule=rule,
                    task_id=one.task_id,
                    name=one.name,
                    before=one.before,
                    after=one.after,
                    reason=one.reason,
                    seq=seqs.get((one.task_id, one.data.get("item_id"))),
                )
            )
        return self.counts[rule] < (MOST_ALERTS if rule == "stuck" else self._most)

    def _write(self, rule: str, batch: list[Finding]) -> dict[tuple[str, Any], int]:
        """Write a few findings in one transaction, those whose task still stands as it was read."""
        drafts = {one.task_id: self._alert(one) for one in batch} if rule == "stuck" else {}

        def work(tx: Tx) -> dict[tuple[str, Any], int]:
            names = {name for one in batch for name in (one.task_id, *one.links)}
            heads = queries.locked_heads(tx, sorted(names))
            now = self._memory._now()
            seqs: dict[tuple[str, Any], int] = {}
            for one in batch:
                head = heads.get(one.task_id)
                if head is None or not self._stands(tx, one, head, heads):
                    continue
                if rule == "stuck":
                    draft = self._told(tx, head, drafts[one.task_id].copy())
                elif rule == "lease":
                    draft = _reclaimed(one)
                else:
                    draft = _changed(one, head, now)
                seq = self._scribe._append(tx, head, draft, now, "upkeep_run").seq
                seqs[one.task_id, one.data.get("item_id")] = seq
                if rule == "stuck":
                    self._call(tx, one.task_id, seq, now)
            return seqs

        return self._memory._commit(work, tasks=lambda seqs: {name for name, _ in seqs})

    def _stands(self, tx: Tx, one: Finding, head: Row, heads: dict[str, Row]) -> bool:
        """Whether a task, and what it gives way to, is still as it was when the rule found it."""
        if one.rule == "lease":
            wanted = {name: one.data[name] for name in ("item_id", "token", "expires_at")}
            return any(
                claim["status"] == "held" and wanted.items() <= claim.items()
                for claim in tx.claims(one.task_id)
            )
        others = [heads.get(name) for name in one.links]
        kept = all(other and other["status"] in (*rules.OPEN, "failed") for other in others)
        return kept and head["last_seq"] == one.last_seq

    # --- alerts -----------------------------------------------------------------------------------

    def _alert(self, one: Finding) -> Draft:
        """The alert about a stuck task, with all that is needed to go on with it."""
        snapshot: Any = self._memory
        packet = snapshot.task_resume(one.task_id, budget=PACKET)
        task = snapshot.task_get(one.task_id)
        current = next((step for step in task.items if step.id == task.current), None)
        following = task.next_step or (current and current.title) or "say how it stands, or finish it"
        progress = {
            "completed": task.done,
            "current": task.current,
            "remaining": task.total - task.done,
            "pct": round(100 * task.done / task.total) if task.total else None,
        }
        return Draft(
            "task.stuck",
            text=f"Stuck: {one.reason}, and it waits for nothing.",
            data={
                **one.data,
                "progress": progress,
                "wait": task.metadata.get("last_wait_state"),
                "suggested": following,
                "packet": packet.text,
            },
        )

    def _told(self, tx: Tx, head: Row, draft: Draft) -> Draft:
        metadata = dict(tx.extras(head["task_id"])["metadata"])
        metadata["last_stuck_alert_at"] = round(self._memory._clock(), 3)
        draft.sets["extras"] = {"metadata": metadata}
        return draft

    def _call(self, tx: Tx, task_id: str, seq: int, now: str) -> None:
        if self._memory.settings.callbacks == "on" and tx.callback_url(task_id):
            jobs.add(tx, "webhook", task_id, str(seq), {}, jobs.NOW, now)


def _changed(one: Finding, head: Row, now: str) -> Draft:
    """The event of a change: what it sets, by which rule, and why."""
    heads = {name: now if value == "" else value for name, value in one.heads.items()}
    sets: dict[str, Any] = {"heads": {name: value for name, value in heads.items() if head[name] != value}}
    if one.links:
        seq = head["last_seq"] + 1
        sets["links"] = [
            {"kind": "related", "target": name, "seq": seq, "status": "active"} for name in one.links
        ]
    return Draft("task.upkeep", text=f"{one.after.capitalize()}: {one.reason}.", data=one.data, sets=sets)


def _reclaimed(one: Finding) -> Draft:
    row = {**one.data, "status": "released", "reason": "lease expired"}
    return Draft(
        "claim.reclaimed",
        text=f"Released: {one.reason}.",
        data={"rule": "lease", "holder": row["holder"], "token": row["token"]},
        sets={"claims": [row]},
        item=row["item_id"] or None,
    )


def _chosen(given: Any) -> tuple[str, ...]:
    groups = {"automatic": AUTOMATIC, "all": ALL, "hygiene": HYGIENE}
    words = groups.get(given, given) if isinstance(given, str) else given
    named = {validate.choice("rule", word, ALL) for word in validate.text_list("rules", words)}
    return tuple(rule for rule in ALL if rule in named)


def _seconds(what: str, value: Any) -> float:
    return 60.0 * rules.parse_duration(what, value)


def _warnings(ages: Ages) -> tuple[str, ...]:
    if ages.sure:
        return ()
    until = "nothing counts as old yet" if ages.as_of is None else "time counts up to the last run alone"
    mend = "a run an hour from now will believe it, or say that it is right (trust_clock)"
    return (f"this machine's clock was not seen before, or not for long: {until}; {mend}",)
