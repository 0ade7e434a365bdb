# pyright: reportPrivateUsage=false
"""The end of a wait, which is its one wake: the event, the task that goes on, and whoever is to be told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from ..ledger.base import Base, Draft
from ..model.errors import NotFound
from ..model.results import Job
from ..store import jobs
from ..store.tx import Row, Tx
from ..system.commands import run
from .reading import WaitReading
from .records import KIND, MOST_CHANGES, REASON, Live, task_sets

WAKE = "wake"  # kind of the jobs that run a command when a wait is over
COMMAND_SECONDS = 50.0  # less than a worker's lease
_MOST_OUTPUT = 64 << 10


class Waking(WaitReading):
    """How waits end, and how changes on the way are told."""

    def _end(self, tx: Tx, head: Row, live: Live, state: str, result: str, writer: Base) -> None:
        """End a wait that is still watched: the one wake. The task goes on if it waits for nothing else."""
        now = self._now()
        status = None
        if head["status"] == "waiting" and head["reason"] == REASON:
            others = tx.record_count(live.task_id, KIND, "watching", 2) - 1
            status = None if others else "active"
        sets = task_sets(tx, head, now, status, live.wait_id, state)
        seq = head["last_seq"] + 1
        ended = {"status": state, "ref_seq": seq, "ended_at": now}
        draft = Draft(
            "wait.ended",
            text=f"[Wait {state}] {live.criteria} → {result}",
            data={"state": state, "result": result},
            sets={**sets, "records": {str(live.seq): ended}},
            ref=live.seq,
        )
        jobs.drop(tx, KIND, live.task_id, str(live.seq))
        writer._append(tx, head, draft, now, "smart_wait")
        if live.data is not None:  # what came with an import calls nobody
            self._call(tx, live.task_id, str(seq), live.data, now)

    def _call(self, tx: Tx, task_id: str, key: str, data: Mapping[str, Any], now: str) -> None:
        """Ask for what is to follow the end of a wait, in its own transaction."""
        if self.settings.callbacks == "on" and (url := data.get("callback_url") or tx.callback_url(task_id)):
            jobs.add(tx, "webhook", task_id, key, {"url": url}, jobs.NOW, now)
        if command := data.get("command"):
            jobs.add(tx, WAKE, task_id, key, {"command": command, "folder": data["folder"]}, jobs.NOW, now)

    def _conclude(self, live: Live, state: str, result: str) -> bool:
        """End a wait as it was when it was looked at; False if it is over, or was changed meanwhile."""
        writer = self.acting_as(channel="tool")
        return self._unless_changed(
            live, lambda tx, head, now: self._end(tx, head, now, state, result, writer)
        )

    def _tell_change(self, live: Live, said: str) -> bool:
        """Write down what a look has found; False if the wait is over, or was changed meanwhile."""
        return self._unless_changed(live, lambda tx, head, now: self._tell(tx, head, now, said))

    def _unless_changed(self, live: Live, write: Callable[[Tx, Row, Live], None]) -> bool:
        """Write about a wait, unless it is not what it was any more."""

        def work(tx: Tx) -> bool:
            head = self._find(tx, live.task_id, lock=True)
            fresh = self._read_live(tx, live.task_id, live.seq)
            if fresh.state != "watching" or fresh.version != live.version:
                return False
            write(tx, head, fresh)
            return True

        return self._commit(work, tasks=lambda done: (live.task_id,) if done else ())

    def _tell(self, tx: Tx, head: Row, live: Live, said: str) -> None:
        """Write down what a look has found, when that is not what was found before."""
        text = f"[Wait] {live.criteria} → {said}"
        draft = Draft("wait.changed", text=text, data={"said": said}, ref=live.seq)
        self.acting_as(channel="tool")._append(tx, head, draft, self._now(), "smart_wait")

    def _end_dead_waits(self) -> None:
        """End the waits that nobody could look at, however often it was tried."""
        dead = self.store.read(lambda tx: jobs.dead(tx, 1000))
        for job in (job for job in dead if job.kind == KIND):

            def work(tx: Tx, job: Job = job) -> None:
                try:
                    head = self._find(tx, job.task_id, lock=True)
                    live = self._read_live(tx, job.task_id, int(job.key))
                except NotFound:
                    jobs.drop(tx, KIND, job.task_id, job.key)
                    return
                if live.state == "watching":
                    result = f"nobody could look: {job.error or 'its worker was lost every time'}"
                    self._end(tx, head, live, "error", result[:500], self.acting_as(channel="tool"))
                else:
                    jobs.drop(tx, KIND, job.task_id, job.key)

            self._commit(work, tasks=lambda _, job=job: (job.task_id,))

    def _run_command(self, job: Job) -> None:
        """Run the command that a wait was to run when it is over; an OSError says why that did not work."""
        if self.settings.wait_commands == "off":  # it was on when this was asked for
            return

        event = self.store.read(lambda tx: tx.event(job.task_id, int(job.key)))
        if event is None:
            return
        told = json.loads(event["data"])
        wake = {
            "RINGBOLT_TASK_ID": job.task_id,
            "RINGBOLT_WAIT_ID": f"{job.task_id}#{event['ref_seq']}",
            "RINGBOLT_WAIT_STATE": str(told.get("state")),
            "RINGBOLT_WAIT_RESULT": str(told.get("result"))[:2000],
        }
        code, _ = run(
            job.data["command"], job.data["folder"], COMMAND_SECONDS, _MOST_OUTPUT, {**os.environ, **wake}
        )
        if code:
            raise OSError(f"the command ended with exit code {code}")


def is_told(old: Mapping[str, Any], said: str) -> bool:
    """Whether what a look has found is to be written down: not the first time, and not for ever."""
    return old["said"] is not None and said != old["said"] and old["changes"] < MOST_CHANGES
