# pyright: reportPrivateUsage=false
"""Operations that look after tasks nobody works on: pause, report, archive and tidy them, in plain sight.

Each change is one event of the task, with its rule and reason, and can be undone. Nothing is deleted, and no
task is ever marked completed. Rules find their tasks by reading; changes are written a few tasks at a time,
each only if the task is still as it was read. So a run can be interrupted anywhere and repeated, several runs
can overlap, and no writer waits for long.
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
from ..waits.state import steady
from ..waits.targets import boot_id
from . import queries
from . import rules as upkeep_rules
from .rules import Finding, Run

ALL = tuple(upkeep_rules.RULES)
# The rules that a worker applies by itself; the others run only when someone calls for them.
AUTOMATIC = ("lease", "resume", "pause", "stuck", "archive")
HYGIENE = ("duplicate", "failed")
BATCH = 100  # tasks that are changed in one transaction
MOST_LISTED = 1000
MOST_ALERTS = 50  # in one run, because each carries a packet; the next run continues
PACKET = 600  # tokens


def machine() -> tuple[str, float]:
    """The id of this boot of this machine, and the seconds since then: a clock that nobody can set."""
    return boot_id(), steady()


class Upkeep(Base):
    """Operations that look after tasks nobody works on."""

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
            older_than: How long a task must have been idle to be tidied up, such as `7d`. Default: the
                setting `stale_threshold`.
        """
        seen = self._observe(write=False, trust=True)
        here = self.workspace if workspace == "" else workspace
        return self._run(HYGIENE, here, dry_run, seen, self._older(older_than), {})

    # --- running ----------------------------------------------------------------------------------

    def _upkeep_some(self, most: int) -> UpkeepReport:
        """Apply the automatic rules, about `most` changes each, for a worker that has other jobs as well."""
        seen = self._observe(write=True, trust=False)
        return self._run(AUTOMATIC, None, False, seen, self._older(None), {}, most)

    def _observe(self, write: bool, trust: bool) -> tuple[Ages, dict[str, int]]:
        """Read the clocks and where the ended tasks begin; with `write`, keep both for the next run.

        Ages are counted by observation: see ledger.observed_time for why the wall clock alone will not do.
        """
        boot, passed = self._machine()
        now = self._clock()

        def work(tx: Tx) -> tuple[Ages, dict[str, int]]:
            look = Look(boot=boot, steady=passed, wall=now, position=tx.last_position())
            seen, state = distilled.get(tx, "", KIND)
            clocks, ages = observe(state, look, trust)
            ended = queries.first_kept(tx, upkeep_rules.ARCHIVED, state.get("ended", {}), look.position)
            # Not beyond what the run before saw: an event with an earlier position may still be uncommitted.
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
        """The age limits, in seconds and as they were set; a rule that is off has none."""
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
_LISTED = ("rule", "task_id", "name", "before", "after", "reason")  # of a finding, in the report


class _Changes:
    """Applies the rules of one run: writes what they find, or only counts it in a dry run."""

    def __init__(self, memory: Upkeep, run: Run, dry_run: bool, most: int) -> None:
        self._memory = memory
        self._most = most
        # Our own channel and no session, so that upkeep does not count as activity on a task.
        self._scribe = memory.acting_as(agent=OWN_AGENT, channel="system", session="")
        self._run = run
        self._dry_run = dry_run
        self.counts: dict[str, int] = {}
        self.listed: list[UpkeepChange] = []
        self.failures: dict[str, str] = {}
        self.skipped = 0
        self._found: set[str] = set()

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
        """Write a few findings, or only count them; False if the rule has changed enough."""
        if self._dry_run:  # a later rule would not find what this one would have changed
            batch = [one for one in batch if rule == "lease" or one.task_id not in self._found]
            self._found.update(one.task_id for one in batch)
        seqs = {} if self._dry_run else self._write(rule, batch)
        done = [one for one in batch if self._dry_run or (one.task_id, one.data.get("item_id")) in seqs]
        self.skipped += len(batch) - len(done)
        self.counts[rule] += len(done)
        for one in done[: MOST_LISTED - len(self.listed)]:
            fields = {name: getattr(one, name) for name in _LISTED}
            seq = seqs.get((one.task_id, one.data.get("item_id")))
            self.listed.append(UpkeepChange(**fields, seq=seq))
        return self.counts[rule] < (MOST_ALERTS if rule == "stuck" else self._most)

    def _write(self, rule: str, batch: list[Finding]) -> dict[tuple[str, Any], int]:
        """Write findings in one transaction, leaving out tasks that changed since they were read."""
        drafts = {one.task_id: self._alert(one) for one in batch} if rule == "stuck" else {}

        def work(tx: Tx) -> dict[tuple[str, Any], int]:
            names = {name for one in batch for name in (one.task_id, *one.links)}
            heads = queries.locked_heads(tx, sorted(names))
            now = self._memory._now()
            seqs: dict[tuple[str, Any], int] = {}
            for one in batch:
                head = heads.get(one.task_id)
                if head is None or not self._is_unchanged(tx, one, head, heads):
                    continue
                if rule == "stuck":
                    draft = self._with_alert_time(tx, head, drafts[one.task_id].copy())
                elif rule == "lease":
                    draft = _claim_release(one)
                else:
                    draft = _task_change(one, head, now)
                seq = self._scribe._append(tx, head, draft, now, "upkeep_run").seq
                seqs[one.task_id, one.data.get("item_id")] = seq
                if rule == "stuck":
                    self._add_webhook(tx, one.task_id, seq, now)
            return seqs

        return self._memory._commit(work, tasks=lambda seqs: {name for name, _ in seqs})

    def _is_unchanged(self, tx: Tx, one: Finding, head: Row, heads: dict[str, Row]) -> bool:
        """Whether a task, and the one that supersedes it, are still as the rule found them."""
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
        """The alert about a stuck task, with everything needed to continue it."""
        snapshot: Any = self._memory
        packet = snapshot.task_resume(one.task_id, budget=PACKET)
        task = snapshot.task_get(one.task_id)
        current = next((step for step in task.items if step.id == task.current), None)
        following = task.next_step or (current and current.title) or "report where it stands, or finish it"
        progress = {
            "completed": task.done,
            "current": task.current,
            "remaining": task.total - task.done,
            "pct": round(100 * task.done / task.total) if task.total else None,
        }
        return Draft(
            "task.stuck",
            text=f"Stuck: {one.reason}, and it is not waiting.",
            data={
                **one.data,
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


def _task_change(one: Finding, head: Row, now: str) -> Draft:
    """The event of a change: what it sets, by which rule, and why."""
    heads = {name: now if value == "" else value for name, value in one.heads.items()}
    sets: dict[str, Any] = {"heads": {name: value for name, value in heads.items() if head[name] != value}}
    if one.links:
        seq = head["last_seq"] + 1
        sets["links"] = [
            {"kind": "related", "target": name, "seq": seq, "status": "active"} for name in one.links
        ]
    return Draft("task.upkeep", text=f"{one.after.capitalize()}: {one.reason}.", data=one.data, sets=sets)


def _claim_release(one: Finding) -> Draft:
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
    until = "nothing counts as old yet" if ages.as_of is None else "time counts only up to the last run"
    remedy = "a run an hour from now will trust it, or pass trust_clock now"
    return (f"this machine's clock has not been observed for long enough: {until}; {remedy}",)
