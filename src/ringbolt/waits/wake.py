# pyright: reportPrivateUsage=false
"""Read waits, check them, and record the outcomes; a wait ends exactly once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Self

from ..ledger.access import with_rights
from ..ledger.base import Base, Draft
from ..ledger.looking import make_gate
from ..llm.calls import Modelling
from ..llm.prompts import judgement_request
from ..model import rules, validate
from ..model.errors import NotFound
from ..model.results import Job
from ..store import jobs
from ..store.tx import Row, Tx
from ..system.commands import run
from ..system.os_calls import boot_id, steady
from .bounded import FILE_SECONDS, bounded, resource_of
from .conditions import JUDGED, Watch
from .state import (
    KIND,
    REASON,
    SHORTEST,
    Outcome,
    Wait,
    checked_spec,
    is_quick,
    latest_check,
    next_interval,
    task_changes,
)
from .targets import CHECK_SECONDS, CheckContext, Verdict, check

Settle = Callable[[Tx], None]

WAKE = "wake"  # kind of the jobs that run a command when a wait is over
COMMAND_SECONDS = 50.0  # less than a worker's lease
_MOST_OUTPUT = 64 << 10


class WaitRecords(Modelling):
    """The base of the operations on waits and of the loop that checks them."""

    # --- reading ----------------------------------------------------------------------------------

    def _wait(self, task_id: str, seq: int) -> Wait:
        return self.store.read(lambda tx: self._read_wait(tx, task_id, seq))

    def _read_wait(self, tx: Tx, task_id: str, seq: int) -> Wait:
        head = self._find(tx, task_id)
        record, event = tx.record(task_id, seq), tx.event(task_id, seq)
        if record is None or event is None or record["type"] != KIND:
            raise NotFound(
                "record_not_found", f"Task {task_id} has no wait #{seq}.", "wait_status lists the waits."
            )
        updates = tx.thread(task_id, 1, None, types=("wait.updated",), refs=(seq,))
        updated: dict[str, Any] = json.loads(updates[0]["data"]) if updates else {}
        if updates and updates[0]["channel"] == "import":
            updated.pop("decided", None)  # a file decides nothing here
        ended = tx.event(task_id, record["ref_seq"]) if record["ref_seq"] else None
        job = jobs.find(tx, KIND, task_id, str(seq))
        return Wait(
            task_id=task_id,
            seq=seq,
            state=record["status"],
            task_status=head["status"],
            spec=checked_spec(json.loads(event["data"]), updated),
            version=updates[0]["seq"] if updates else 0,
            started_at=event["timestamp"],
            ended_at=record["ended_at"],
            result=json.loads(ended["data"]).get("result") if ended else None,
            data=job.data if job else None,
            due=job.due_at if job else None,
        )

    def _time_mark(self, waited: float) -> dict[str, Any]:
        """How long a wait has lasted, and the time on both clocks, so that another process can continue."""
        return {"waited": waited, "boot": boot_id(), "at": steady(), "wall": self._clock()}

    def _waited(self, wait: Wait) -> float:
        """How long a wait has lasted.

        Measured with the monotonic clock, so that a jump of the wall clock ends no wait. That clock restarts
        at every boot and differs between machines; only then does the wall clock count.
        """
        data = wait.data
        if data is None:
            return max(self._clock() - validate.seconds_of(wait.started_at), 0)
        same_boot = data["boot"] and data["boot"] == boot_id()
        passed = steady() - data["at"] if same_boot else self._clock() - data["wall"]
        return data["waited"] + max(passed, 0)

    # --- checking ---------------------------------------------------------------------------------

    def _check_wait(self, wait: Wait, watch: Watch, waited: float, *, limited: bool) -> Outcome:
        """Check a wait once; nothing is recorded.

        With `limited`, a check that hangs is abandoned; otherwise the caller must handle that.
        """
        if wait.task_status in rules.ENDED:
            return Outcome(wait=wait, ended="cancelled", detail=f"the task is {wait.task_status}", state=None)
        timeout: float = wait.spec["timeout"]
        late = "timeout" if waited >= timeout else None
        if wait.data is None:
            return Outcome(wait=wait, ended=late, detail="it is watched elsewhere", state=None)
        state = wait.data["state"]
        context = self._check_context(wait, waited)
        try:
            if limited:
                limit = self._check_seconds(watch)
                verdict, state = bounded(resource_of(watch), lambda: check(watch, state, context), limit)
            else:
                verdict, state = check(watch, state, context)
        except TimeoutError as error:
            verdict = Verdict(met=False, detail=str(error))
        ended = "resolved" if verdict.met else "error" if verdict.failed else late
        detail = f"not within {timeout:g} s: {verdict.detail}" if ended == "timeout" else verdict.detail
        return Outcome(wait=wait, ended=ended, detail=detail, state=state)

    def _check_context(self, wait: Wait, waited: float) -> CheckContext:
        def status_of(name: str) -> str | None:
            task_id, _, item = name.partition("/")

            def work(tx: Tx) -> str | None:
                head = tx.head(task_id)
                if head is None or not item:
                    return None if head is None else head["status"]
                return next((row["status"] for row in tx.steps(task_id) if row["item_id"] == item), None)

            return self.store.read(work)

        data = wait.data or {}
        folder = data.get("folder")
        # The rights of the caller that started the wait, not of the worker that checks it.
        return CheckContext(
            now=self._clock(),
            waited=waited,
            status_of=status_of,
            folder=folder,
            gate=make_gate(self, folder, data.get("powers", ()), data.get("anywhere", False)),
            decided=wait.spec.get("decided"),
            judge=(lambda words, seen: self._judge(wait.task_id, words, seen)) if self._has_judge() else None,
        )

    def _check_seconds(self, watch: Watch) -> float:
        """The time limit for a check of all parts."""
        if is_quick(watch):
            return FILE_SECONDS
        parts = watch.leaves
        judged = sum(leaf.word == JUDGED for leaf in parts) * self.settings.model_timeout
        return CHECK_SECONDS * (len(parts) + 1) + judged

    def _has_judge(self) -> bool:
        """Whether a model is configured that can judge conditions."""
        return bool(self.settings.model_local_url or self.settings.model_remote_url)

    def _judge(self, task_id: str, words: str, seen: str | bytes) -> tuple[bool | None, str]:
        """Ask a model whether a condition is met; None and a reason if it does not answer."""
        role = "local" if self.settings.model_local_url else "remote"
        answer, reason = self._asked([role], task_id, judgement_request(words, seen))
        if answer is None:
            return None, f"no model could judge it: {reason}"
        return answer[0], f"{answer[1]} says {'yes' if answer[0] else 'no'}"

    # --- recording --------------------------------------------------------------------------------

    def _check_once(self, wait: Wait, settle: Settle | None = None) -> None:
        """Check a wait that no loop holds, once, and record the outcome.

        `settle` ends the job of a worker in the same transaction; the next check is a new job.
        """
        watch, spec, key = wait.watch, wait.spec, str(wait.seq)
        outcome = self._check_wait(wait, watch, self._waited(wait), limited=True)
        waited = self._waited(wait)
        interval = next_interval(watch, spec["poll_interval"], outcome.before["interval"], outcome.changed)
        latest = latest_check(watch, self._check_context(wait, waited), spec["timeout"])
        due = validate.stamp(self._clock() + max(SHORTEST, min(interval, latest)))
        data = {**outcome.data, "interval": interval, **self._time_mark(waited)}

        def work(tx: Tx) -> None:
            head = self._find(tx, wait.task_id, lock=True)
            if settle is not None:
                settle(tx)
            fresh = self._read_wait(tx, wait.task_id, wait.seq)
            if fresh.state != "watching":
                return
            if fresh.version != wait.version:  # the outcome is for an old condition
                if settle is not None:
                    jobs.add(tx, KIND, wait.task_id, key, fresh.data or data, jobs.NOW, self._now())
                return
            self._record_check_in(tx, head, wait, outcome)
            if outcome.ended is not None or wait.data is None:
                return
            if settle is not None:
                jobs.add(tx, KIND, wait.task_id, key, data, due, self._now())
            else:
                jobs.postpone(tx, KIND, wait.task_id, key, data, due)

        self._commit(work, tasks=lambda _: (wait.task_id,) if outcome.ended or outcome.is_news else ())

    def _record_check(self, outcome: Outcome) -> bool:
        """Record the outcome of a check; False if the wait is over, or was changed since it was read."""
        wait = outcome.wait

        def work(tx: Tx) -> bool:
            head = self._find(tx, wait.task_id, lock=True)
            fresh = self._read_wait(tx, wait.task_id, wait.seq)
            if fresh.state != "watching" or fresh.version != wait.version:
                return False
            self._record_check_in(tx, head, fresh, outcome)
            return True

        return self._commit(work, tasks=lambda done: (wait.task_id,) if done else ())

    def _record_check_in(self, tx: Tx, head: Row, wait: Wait, outcome: Outcome) -> None:
        """Write the end of a wait, or a change that belongs in the history."""
        writer = self._checker()
        if outcome.ended is not None:
            self._end_wait(tx, head, wait, outcome.ended, outcome.detail, writer)
        elif wait.data is not None and outcome.is_news:
            text = f"[Wait] {wait.criteria} → {outcome.detail}"
            draft = Draft("wait.changed", text=text, data={"detail": outcome.detail}, ref=wait.seq)
            writer._append(tx, head, draft, self._now(), "smart_wait")

    def _end_wait(self, tx: Tx, head: Row, wait: Wait, state: str, result: str, writer: Base) -> None:
        """End a wait, in the caller's transaction; the task continues if it was its last wait."""
        now = self._now()
        status = None
        if head["status"] == "waiting" and head["reason"] == REASON:
            others = tx.record_count(wait.task_id, KIND, "watching", 2) - 1
            status = None if others else "active"
        seq = head["last_seq"] + 1
        ended = {"status": state, "ref_seq": seq, "ended_at": now}
        draft = Draft(
            "wait.ended",
            text=f"[Wait {state}] {wait.criteria} → {result}",
            data={"state": state, "result": result},
            sets={
                **task_changes(tx, head, now, status, wait.wait_id, state),
                "records": {str(wait.seq): ended},
            },
            ref=wait.seq,
        )
        jobs.drop(tx, KIND, wait.task_id, str(wait.seq))
        writer._append(tx, head, draft, now, "smart_wait")
        if wait.data is not None:  # an imported wait calls no one
            self._add_followups(tx, wait.task_id, str(seq), wait.data, now)

    def _checker(self) -> Self:
        """The memory that ends a wait by the result of a check, as a tool and not as the caller."""
        return with_rights(self.acting_as(channel="tool"), "user")

    def _add_followups(self, tx: Tx, task_id: str, key: str, data: Mapping[str, Any], now: str) -> None:
        """Queue the callback and the command of a wait that has ended."""
        if self.settings.callbacks == "on" and ("callback_url" in data or tx.callback_url(task_id)):
            own = {"url": data["callback_url"]} if "callback_url" in data else {}
            jobs.add(tx, "webhook", task_id, key, own, jobs.NOW, now)
        if command := data.get("command"):
            jobs.add(tx, WAKE, task_id, key, {"command": command, "folder": data["folder"]}, jobs.NOW, now)

    # --- jobs of a worker -------------------------------------------------------------------------

    def _check_for_worker(self, task_id: str, seq: int, settle: Settle) -> None:
        """Check a wait once, as a job of a worker that does the due jobs and exits."""
        wait = self._wait(task_id, seq)
        if wait.state == "watching":
            self._check_once(wait, settle)
        else:
            self.store.write(settle)

    def _end_dead_waits(self) -> None:
        """End the waits whose jobs failed too often."""
        dead = self.store.read(lambda tx: jobs.dead(tx, 1000))
        for job in (job for job in dead if job.kind == KIND):

            def work(tx: Tx, job: Job = job) -> None:
                try:
                    head = self._find(tx, job.task_id, lock=True)
                    wait = self._read_wait(tx, job.task_id, int(job.key))
                except NotFound:
                    jobs.drop(tx, KIND, job.task_id, job.key)
                    return
                if wait.state == "watching":
                    result = f"it could not be checked: {job.error or 'every worker that tried it was lost'}"
                    self._end_wait(tx, head, wait, "error", result[:500], self._checker())
                else:
                    jobs.drop(tx, KIND, job.task_id, job.key)

            self._commit(work, tasks=lambda _, job=job: (job.task_id,))

    def _run_wake_command(self, job: Job) -> None:
        """Run the command of a wait that has ended; OSError if it fails."""
        if self.settings.wait_commands == "off":  # it was on when the wait started
            return
        event = self.store.read(lambda tx: tx.event(job.task_id, int(job.key)))
        if event is None:
            return
        data = json.loads(event["data"])
        wake = {
            "RINGBOLT_TASK_ID": job.task_id,
            "RINGBOLT_WAIT_ID": f"{job.task_id}#{event['ref_seq']}",
            "RINGBOLT_WAIT_STATE": str(data.get("state")),
            "RINGBOLT_WAIT_RESULT": str(data.get("result"))[:2000],
        }
        code, _ = run(
            job.data["command"], job.data["folder"], COMMAND_SECONDS, _MOST_OUTPUT, {**os.environ, **wake}
        )
        if code:
            raise OSError(f"the command ended with exit code {code}")
