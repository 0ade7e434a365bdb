# pyright: reportPrivateUsage=false
"""Operations on idle tasks: pause, report, archive and tidy them.

Each change is one event of the task, with its rule and reason, and can be undone. Nothing is deleted, and no
task is ever marked completed. Rules only read; changes are written a few tasks at a time, and only if the
task has not changed since it was read. So a run can be interrupted anywhere and repeated, several runs can
overlap, and no writer waits for long.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ..ledger.base import Base, Draft
from ..ledger.drafts import link_row
from ..ledger.observed_time import KIND, TRUSTED_AFTER, Ages, Observation, observe
from ..model import rules, validate
from ..model.errors import RingboltError
from ..model.operation import operation
from ..model.results import UpkeepChange, UpkeepReport
from ..store import jobs
from ..store.queries import distilled
from ..store.schema import OWN_AGENT
from ..store.tx import Row, Tx
from ..system.clock import is_synchronised
from ..system.os_calls import boot_id, steady
from . import queries
from . import rules as upkeep_rules
from .rules import Finding, Run

ALL = tuple(upkeep_rules.RULES)
# The rules that a worker applies automatically; the others run only on request.
AUTOMATIC = ("lease", "pause", "stuck", "archive")
HYGIENE = ("duplicate", "failed")
BATCH = 100  # tasks per transaction
MOST_LISTED = 1000
MOST_ALERTS = 50  # in one run, because each carries a packet; the next run continues
PACKET = 600  # tokens


def machine() -> tuple[str, float]:
    """The id of the current boot, and the seconds since then: a clock that cannot be set."""
    return boot_id(), steady()


class Upkeep(Base):
    """Operations on idle tasks."""

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

        With rules `all` also: tasks whose session is gone, duplicates, and failed tasks that were not
        resumed. All of it can be undone. Time counts only while the clock is trusted, so setting the clock
        does nothing to any task.

        Args:
            rules: `automatic` (lease, pause, stuck, archive), `all` (also reconcile, duplicate,
                failed), or a list of rules.
            workspace: Only the tasks of this workspace. `None`: all workspaces.
            older_than: How long a task must have been idle to be tidied up, such as `7d`. Default: the
                setting `stale_threshold`.
            trust_clock: Trust the clock at once, even if it was just set.
        """
        chosen = _chosen(rules)
        older = self._older(older_than)
        observed = self._observe(write=not dry_run, trust=bool(trust_clock))
        return self._run(chosen, workspace, dry_run, observed, older, {})

    @operation(scope="write", repeatable=True)
    def tasks_reconcile(
        self, *, workspace: str | None = "", dry_run: bool = True, grace: str | None = None
    ) -> UpkeepReport:
        """Find open tasks whose session is gone: mark those with work for review, and abandon the others.

        A session is gone if it ended and the grace period is over, or if it has written nothing for very
        long, unless a claim, a wait or a sub-task is alive. No task becomes completed.

        Args:
            grace: How long to leave a task alone after its session has ended. Default: the setting
                `session_grace`.
        """
        limits = {} if grace is None else {"grace": _seconds("grace", grace)}
        observed = self._observe(write=False, trust=True)
        here = self.workspace if workspace == "" else workspace
        return self._run(("reconcile",), here, dry_run, observed, self._older(None), limits)

    @operation(scope="write", repeatable=True, example={"older_than": "7d"})
    def tasks_hygiene(
        self, *, workspace: str | None = "", dry_run: bool = True, older_than: str | None = None
    ) -> UpkeepReport:
        """Supersede duplicate tasks, and abandon failed tasks that were not resumed.

        Duplicates have the same label or title in one workspace. The task that is kept is open, alive and
        most recently changed, in this order.

        Args:
            older_than: How long a task must have been idle to be tidied up, such as `7d`. Default: the
                setting `stale_threshold`.
        """
        observed = self._observe(write=False, trust=True)
        here = self.workspace if workspace == "" else workspace
        return self._run(HYGIENE, here, dry_run, observed, self._older(older_than), {})

    # --- running ----------------------------------------------------------------------------------

    def _run_automatic(self, most: int) -> UpkeepReport:
        """Apply the automatic rules, about `most` changes each, for a worker that has other jobs too."""
        observed = self._observe(write=True, trust=False)
        return self._run(AUTOMATIC, None, False, observed, self._older(None), {}, most)

    def _observe(self, write: bool, trust: bool) -> tuple[Ages, dict[str, int]]:
        """Read the clocks and the position of the first ended tasks; with `write`, store both for the next
        run.

        Ages are counted by observation: ledger.observed_time explains why the wall clock is not enough.
        """
        boot, passed = self._machine()
        now = self._clock()
        # The kernel knows only about the system's clock, not about one that a caller passed.
        synchronised = self._clock is time.time and is_synchronised()

        def work(tx: Tx) -> tuple[Ages, dict[str, int]]:
            new = Observation(
                boot=boot, steady=passed, wall=now, position=tx.last_position(), synchronised=synchronised
            )
            seen, state = distilled.get(tx, "", KIND)
            clocks, ages = observe(state, new, trust)
            ended = queries.first_kept(tx, upkeep_rules.ARCHIVED, state.get("ended", {}), new.position)
            # Not beyond the previous run: an event with an earlier position may still be uncommitted.
            ended = {status: min(place, seen) for status, place in ended.items()}
            if write:
                state = {**clocks, "ended": ended}
                distilled.put(tx, "", KIND, max(seen, new.position), validate.stamp(now), state)
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
        changes = _Changes(self, run, dry_run, most)
        for rule in chosen:
            if rule in run.limits or rule not in _SWITCHES:
                changes.apply(rule)
        return UpkeepReport(
            dry_run=dry_run,
            at=self._now(),
            workspace=workspace,
            rules=chosen,
            counts=changes.counts,
            changes=tuple(changes.listed),
            left_out=sum(changes.counts.values()) - len(changes.listed),
            skipped=changes.skipped,
            clock_sure=ages.sure,
            as_of=None if ages.as_of is None else validate.stamp(ages.as_of),
            clock_jumped=ages.jumped,
            failures=changes.failures,
            warnings=_warnings(ages),
        )

    def _limits(self) -> tuple[dict[str, float], dict[str, str]]:
        """The age limits, in seconds and as written in the settings; a rule that is off has none."""
        texts = {name: str(getattr(self.settings, setting)) for name, setting in _SETTINGS.items()}
        texts = {name: text for name, text in texts.items() if text != "off"}
        limits = {name: _seconds(_SETTINGS[name], text) for name, text in texts.items()}
        return {**limits, "lease": self.settings.lease_seconds}, texts

    def _older(self, older_than: str | None) -> tuple[str, float]:
        text = self.settings.stale_threshold if older_than is None else older_than
        seconds = _seconds("older_than", text)
        return str(text), seconds


_SETTINGS = {
    "pause": "pause_after",
    "archive": "archive_after",
    "stuck": "stuck_after",
    "cooldown": "stuck_cooldown",
    "grace": "session_grace",
    "silence": "session_silence",
}
_SWITCHES = ("pause", "archive", "stuck")
_LISTED = ("rule", "task_id", "name", "before", "after", "reason")  # of a finding, in the report


class _Changes:
    """Applies the rules of one run: writes their findings, or only counts them in a dry run."""

    def __init__(self, memory: Upkeep, run: Run, dry_run: bool, most: int) -> None:
        self._memory = memory
        self._most = most
        # Our own channel and no session, so that upkeep does not count as activity on a task.
        self._writer = memory.acting_as(agent=OWN_AGENT, channel="system", session="")
        self._run = run
        self._dry_run = dry_run
        self.counts: dict[str, int] = {}
        self.listed: list[UpkeepChange] = []
        self.failures: dict[str, str] = {}
        self.skipped = 0
        self._counted: set[str] = set()

    def apply(self, rule: str) -> None:
        """Apply one rule; an error is kept in `failures`, so that the next rule still runs."""
        self.counts[rule] = 0
        try:
            for page in upkeep_rules.RULES[rule](self._run):
                for batch in self._batches(rule, page):
                    if not self._apply_batch(rule, batch):
                        return
        except RingboltError as error:
            self.failures[rule] = str(error)

    def _batches(self, rule: str, page: list[Finding]) -> Iterator[list[Finding]]:
        size = 1 if rule == "stuck" else BATCH
        return (page[start : start + size] for start in range(0, len(page), size))

    def _apply_batch(self, rule: str, batch: list[Finding]) -> bool:
        """Write a few findings, or only count them; False if the rule has made enough changes."""
        if self._dry_run:  # a later rule would not see a task that this one would have changed
            batch = [finding for finding in batch if rule == "lease" or finding.task_id not in self._counted]
            self._counted.update(finding.task_id for finding in batch)
        seqs = {} if self._dry_run else self._write(rule, batch)
        done = [finding for finding in batch if self._dry_run or finding.key in seqs]
        self.skipped += len(batch) - len(done)
        self.counts[rule] += len(done)
        for finding in done[: MOST_LISTED - len(self.listed)]:
            fields = {name: getattr(finding, name) for name in _LISTED}
            self.listed.append(UpkeepChange(**fields, seq=seqs.get(finding.key)))
        return self.counts[rule] < (MOST_ALERTS if rule == "stuck" else self._most)

    def _write(self, rule: str, batch: list[Finding]) -> dict[tuple[str, Any], int]:
        """Write findings in one transaction, leaving out tasks that changed since they were read."""
        drafts = {finding.task_id: self._alert(finding) for finding in batch} if rule == "stuck" else {}

        def work(tx: Tx) -> dict[tuple[str, Any], int]:
            names = {name for finding in batch for name in (finding.task_id, *finding.links)}
            heads = queries.locked_heads(tx, sorted(names))
            now = self._memory._now()
            seqs: dict[tuple[str, Any], int] = {}
            for finding in batch:
                head = heads.get(finding.task_id)
                if head is None or not self._is_unchanged(tx, finding, head, heads):
                    continue
                if rule == "stuck":
                    draft = self._with_alert_time(tx, head, drafts[finding.task_id].copy())
                elif rule == "lease":
                    draft = _claim_release(finding)
                else:
                    draft = _task_change(finding, head, now)
                seq = self._writer._append(tx, head, draft, now, "upkeep_run").seq
                seqs[finding.key] = seq
                if rule == "stuck":
                    self._add_webhook(tx, finding.task_id, seq, now)
            return seqs

        return self._memory._commit(work, tasks=lambda seqs: {name for name, _ in seqs})

    def _is_unchanged(self, tx: Tx, finding: Finding, head: Row, heads: dict[str, Row]) -> bool:
        """Whether a task, and the task that supersedes it, are unchanged since the rule read them."""
        if finding.rule == "lease":
            wanted = {name: finding.data[name] for name in ("item_id", "token", "expires_at")}
            return any(
                claim["status"] == "held" and wanted.items() <= claim.items()
                for claim in tx.claims(finding.task_id)
            )
        others = [heads.get(name) for name in finding.links]
        kept = all(other and other["status"] in (*rules.OPEN, "failed") for other in others)
        return kept and head["last_seq"] == finding.last_seq

    # --- alerts -----------------------------------------------------------------------------------

    def _alert(self, finding: Finding) -> Draft:
        """The alert about a stuck task, with everything needed to continue it."""
        memory: Any = self._memory
        packet = memory.task_resume(finding.task_id, budget=PACKET)
        task = memory.task_get(finding.task_id)
        current = next((step for step in task.steps if step.id == task.current), None)
        following = task.next_step or (current and current.title) or "report its status, or finish it"
        progress = {
            "completed": task.done,
            "current": task.current,
            "remaining": task.total - task.done,
            "pct": round(100 * task.done / task.total) if task.total else None,
        }
        return Draft(
            "task.stuck",
            text=f"Stuck: {finding.reason}, and it is not waiting.",
            data={
                **finding.data,
                "progress": progress,
                "wait": task.metadata.get("last_wait_state"),
                "suggested": following,
                "packet": packet.text,
            },
        )

    def _with_alert_time(self, tx: Tx, head: Row, draft: Draft) -> Draft:
        metadata = dict(tx.extras(head["task_id"])["metadata"])
        metadata["last_stuck_alert_at"] = round(self._memory._clock(), 3)
        draft.sets["extras"] = {"metadata": metadata}
        return draft

    def _add_webhook(self, tx: Tx, task_id: str, seq: int, now: str) -> None:
        if self._memory.settings.callbacks == "on" and tx.callback_url(task_id):
            jobs.add(tx, "webhook", task_id, str(seq), {}, jobs.NOW, now)


def _task_change(finding: Finding, head: Row, now: str) -> Draft:
    """The event of a change, with its rule and reason."""
    heads = {name: now if value == "" else value for name, value in finding.heads.items()}
    sets: dict[str, Any] = {"heads": {name: value for name, value in heads.items() if head[name] != value}}
    if finding.links:
        sets["links"] = [link_row("related", name, head["last_seq"] + 1) for name in finding.links]
    text = f"{finding.after.capitalize()}: {finding.reason}."
    return Draft("task.upkeep", text=text, data=finding.data, sets=sets)


def _claim_release(finding: Finding) -> Draft:
    row = {**finding.data, "status": "released", "reason": "lease expired"}
    return Draft(
        "claim.reclaimed",
        text=f"Released: {finding.reason}.",
        data={"rule": "lease", "holder": row["holder"], "token": row["token"]},
        sets={"claims": [row]},
        item=row["item_id"] or None,
    )


def _chosen(requested: Any) -> tuple[str, ...]:
    groups = {"automatic": AUTOMATIC, "all": ALL, "hygiene": HYGIENE}
    words = groups.get(requested, requested) if isinstance(requested, str) else requested
    named = {validate.choice("rule", word, ALL) for word in validate.text_list("rules", words)}
    return tuple(rule for rule in ALL if rule in named)


def _seconds(what: str, value: Any) -> float:
    return 60.0 * rules.parse_duration(what, value)


def _warnings(ages: Ages) -> tuple[str, ...]:
    if ages.sure:
        return ()
    until = "nothing counts as old yet" if ages.as_of is None else "time counts only up to the last run"
    remedy = f"run upkeep again in {TRUSTED_AFTER:g} seconds, or pass trust_clock now"
    return (f"this machine's clock has not been observed for long enough: {until}; {remedy}",)
