# pyright: reportPrivateUsage=false
"""Waits: a task goes on when a file, process, port, URL, log, screen, time, task or person is as wanted.

A wait is a record of its task and a job of kind `wait`, which is due when it is to be looked at next. Whoever
blocks on it looks itself, and keeps the job ahead of the workers for as long as it lives; else a worker looks
(see watching.py). Only who turns the record from `watching` into something else, in one transaction with the
event, has ended the wait: there is one wake, whoever looks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ledger.base import Draft
from ..model import rules, validate
from ..model.errors import Conflict, InvalidInput
from ..model.operation import operation
from ..model.results import WaitResult
from ..store import jobs
from ..store.tx import Row, Tx
from ..system import http_client
from . import Surroundings, Verdict, Watch, look
from .bounded import bounded, place_of
from .conditions import read_argv
from .reading import no_commands
from .records import (
    KIND,
    LONGEST,
    MOST_LISTED,
    MOST_SECONDS,
    NOTICE,
    SHORTEST,
    Live,
    ahead,
    as_result,
    check_watching,
    has,
    leaves,
    next_delay,
    next_interval,
    task_sets,
    watch_of,
)  # fmt: skip
from .waking import Waking, is_told

Settle = Callable[[Tx], None]


class Waiting(Waking):
    """Operations that wait."""

    @operation(
        scope="write",
        core=("target", "until", "timeout", "task_id"),
        example={"target": "time:1s", "timeout": 5},
    )
    def smart_wait(
        self,
        target: str,
        *,
        until: str | None = None,
        timeout: float = 300,
        poll_interval: float = 2.0,
        task_id: str | None = None,
        message: str | None = None,
        block: bool = True,
        callback_url: str | None = None,
        command: Sequence[str] | None = None,
        key: str | None = None,
    ) -> WaitResult:
        """Wait for a file, process, port, URL, log, time, task or person. Costs no tokens.

        The wait belongs to a task and survives restarts: if the caller dies, a worker continues it. Checks
        become less frequent while nothing changes. When the wait ends, in whatever way, its callback URL is
        called and its command runs, if the operator allows commands.

        Args:
            target: file:PATH, log:PATH, process:PID, port:HOST:PORT, a URL, time:5m, task:ID, manual: (a
                person); any(a, b), all(a, b). Also `not(…)`, a point in time, `task:ID/STEP`,
                `command:["…"]`, `terminal:PANE`, `screen:` and `window:TITLE`.
            until: exists, gone, changed, stable, contains X, exits, open, closed, status 200, completed, …
                Each kind of target has a default. A configured model judges conditions that no rule
                understands.
            timeout: Maximum seconds to wait.
            poll_interval: Seconds between checks. Grows up to eightfold while nothing changes, except for
                files, logs and processes.
            task_id: Task id or a unique prefix; default: the current task.
            message: Message to record when the wait starts.
            block: Wait here until it ends. False: leave it to a worker and return at once.
            callback_url: URL that gets a POST when the wait ends. Default: that of the task.
            command: Command (a list of words) that a worker runs when the wait ends. Only if the operator
                allows commands.
            key: Idempotency key, at most 200 bytes. Repeating the call with the same key writes nothing and
                returns the first answer.
        """
        timeout = validate.number("timeout", timeout, 0, MOST_SECONDS)
        interval = validate.number("poll_interval", poll_interval, SHORTEST, LONGEST)
        message = self._text("message", message)
        watch = self._watch(target, until, task_id)
        calls = self._calls(callback_url, command)
        data = {**self._first_data(watch, interval, 0), **calls}
        spec = {
            "target_type": watch.kind,
            "target": watch.target,
            "until": watch.until,
            "timeout": timeout,
            "poll_interval": interval,
            "callback_url": calls.get("callback_url"),
            "command": calls.get("command"),
        }

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            if head["status"] in rules.ENDED:
                raise Conflict(
                    "illegal_transition",
                    f"Task {head['task_id']} is {head['status']}: it waits for nothing.",
                    "Make it active again, or wait with another task.",
                )
            if any(leaf.kind == "task" and leaf.value == head["task_id"] for leaf in leaves(watch)):
                raise InvalidInput(
                    "dependency_cycle",
                    f"Task {head['task_id']} would wait for itself.",
                    "Wait for one of its steps (task:ID/STEP), or with another task.",
                )
            seq = head["last_seq"] + 1
            due = validate.stamp(self._clock() + ahead(interval)) if block else jobs.NOW
            jobs.add(tx, KIND, head["task_id"], str(seq), data, due, now)
            status = "waiting" if head["status"] == "active" else None
            return Draft(
                "wait.started",
                text=message or f"Waiting for {watch.criteria}",
                data=spec,
                sets=task_sets(tx, head, now, status, f"{head['task_id']}#{seq}", "watching"),
                record={"type": "wait", "status": "watching"},
            )

        arguments = [spec, message]
        done = self._write("smart_wait", task_id, decide, key=key, arguments=arguments)
        return self._wait_for(done.task_id, done.seq) if block else self._result(done.task_id, done.seq)

    @operation(scope="read")
    def wait_status(self, wait_id: str | None = None) -> tuple[WaitResult, ...]:
        """Show a wait, or all unresolved waits of this workspace. Nothing is checked.

        A wait that is `due` should have been checked already: no worker is running.

        Args:
            wait_id: Id of a wait: `task#seq`, or `#seq` for the current task.
        """
        if wait_id is not None:
            return (self._result(*self._named(wait_id)),)
        now = self._now()

        def work(tx: Tx) -> tuple[WaitResult, ...]:
            found = jobs.of_workspace(tx, KIND, self.workspace, MOST_LISTED)
            return tuple(as_result(self._read_live(tx, task_id, int(key)), now) for task_id, key in found)

        return self.store.read(work)

    @operation(scope="write", example={"wait_id": "7#2", "message": "approved"})
    def wait_update(
        self,
        wait_id: str,
        until: str | None = None,
        timeout: float | None = None,
        message: str | None = None,
    ) -> WaitResult:
        """Change the condition or timeout of a wait, or decide a `manual:` wait.

        Args:
            wait_id: Id of a wait: `task#seq`, or `#seq` for the current task.
            until: The new condition.
            timeout: Maximum seconds to wait, counted from its start.
            message: The decision that a `manual:` wait is waiting for; for other waits, a remark.
        """
        task_id, seq = self._named(wait_id)
        message = self._text("message", message)
        if timeout is not None:
            timeout = validate.number("timeout", timeout, 0, MOST_SECONDS)
        if until is None and timeout is None and not message:
            raise InvalidInput(
                "invalid_argument", "There is nothing to change.", "Give until, timeout or message."
            )
        live = self._live(task_id, seq)
        watch = watch_of(live)
        if until is not None:
            if watch.parts:
                hint = "Cancel it, and wait for another target."
                raise InvalidInput("invalid_argument", "A group has its conditions in its target.", hint)
            watch = self._watch(watch.target, until, task_id)
        new = self._first_data(watch, live.spec["poll_interval"], self._waited(live))

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            fresh = self._read_live(tx, task_id, seq)
            check_watching(fresh)
            spec = {**fresh.spec, "until": watch.until}
            if timeout is not None:
                spec["timeout"] = timeout
            if message and has(watch, "manual"):
                spec["decided"] = message
            # One that came from elsewhere becomes one of here; and another condition has another beginning.
            data: Mapping[str, Any] = new
            if fresh.data is not None:
                kept = {"said": None, "interval": spec["poll_interval"]}
                data = {**fresh.data, **(new if until is not None else {}), **kept}
            jobs.add(tx, KIND, task_id, str(seq), data, jobs.NOW, now)
            return Draft("wait.updated", text=message, data=spec, ref=seq)

        self._write("wait_update", task_id, decide)
        self._look(self._live(task_id, seq))
        return self._result(task_id, seq)

    @operation(scope="write", example={"wait_id": "7#2", "reason": "not needed any more"})
    def wait_cancel(self, wait_id: str, reason: str | None = None) -> WaitResult:
        """Cancel a wait. A wait that has ended stays as it is.

        Args:
            wait_id: Id of a wait: `task#seq`, or `#seq` for the current task.
            reason: Why nobody waits any more.
        """
        task_id, seq = self._named(wait_id)
        reason = self._text("reason", reason) or "cancelled"

        def work(tx: Tx) -> None:
            head = self._find(tx, task_id, lock=True)
            live = self._read_live(tx, task_id, seq)
            if live.state == "watching":
                self._end(tx, head, live, "cancelled", reason, self)

        self._commit(work, tasks=lambda _: (task_id,))
        return self._result(task_id, seq)

    def _first_data(self, watch: Watch, interval: float, waited: float) -> dict[str, Any]:
        """What the next look needs to know when a target was not looked at yet."""
        return {
            "state": self._first_state(watch), "said": None, "interval": interval, "changes": 0,
            "folder": self.workspace, **self._mark(waited),
        }  # fmt: skip

    def _calls(self, callback_url: Any, command: Any) -> dict[str, Any]:
        """What is to follow the end of a wait, checked."""

        found: dict[str, Any] = {}
        if callback_url is not None:
            url = validate.line("callback_url", callback_url, 2000)
            try:
                http_client.read_url(url, "the callback_url")
            except ValueError as error:
                why = f"Nobody can be called there: {error}."
                raise InvalidInput("invalid_argument", why, "Give an http:// or https:// URL.") from None
            found["callback_url"] = url
        if command is not None:
            if self.settings.wait_commands == "off":
                raise no_commands()
            found["command"] = read_argv(self._list("command", command))
        return found

    # --- looking ----------------------------------------------------------------------------------

    def _wait_for(self, task_id: str, seq: int) -> WaitResult:
        """Look until the wait is over, whoever ends it."""
        pause = threading.Event()
        live = self._live(task_id, seq)
        interval: float | None = None
        while live.state == "watching":
            delay, interval = self._look(live, waiter=True, interval=interval)
            until = time.monotonic() + delay
            version = live.version
            live = self._live(task_id, seq)
            while (
                live.state == "watching"
                and live.version == version
                and (left := until - time.monotonic()) > 0
            ):
                pause.wait(min(left, NOTICE))
                live = self._live(task_id, seq)
        return as_result(live, self._now())

    def _look_for(self, task_id: str, seq: int, settle: Settle) -> None:
        """Look once, for a worker that looks at what is due and ends."""
        live = self._live(task_id, seq)
        if live.state == "watching":
            self._look(live, settle=settle)
        else:
            self.store.write(settle)

    def _look(
        self,
        live: Live,
        *,
        settle: Settle | None = None,
        waiter: bool = False,
        interval: float | None = None,
    ) -> tuple[float, float]:
        """Look once at a wait, and write what follows; the seconds until the next look, and its interval."""
        waited = self._waited(live)
        watch = watch_of(live)
        around = self._surroundings(live, waited)
        ended, said, state = self._judged(live, watch, around, bound=True)
        old = live.data or {"state": None, "said": None, "interval": live.spec["poll_interval"], "changes": 0}
        changed = said != old["said"] or state != old["state"]
        interval = next_interval(watch, live.spec["poll_interval"], interval or old["interval"], changed)
        delay = next_delay(watch, around, interval, live.spec["timeout"])
        tell = is_told(old, said)
        data = {
            **old, "state": state, "said": said, "interval": interval, "changes": old["changes"] + tell,
            **self._mark(self._waited(live)),
        }  # fmt: skip
        due = validate.stamp(self._clock() + (ahead(delay) if waiter else delay))
        near = live.due is None or live.due < validate.stamp(self._clock() + ahead(delay) / 2)

        def work(tx: Tx) -> None:
            head = self._find(tx, live.task_id, lock=True)
            if settle is not None:
                settle(tx)
            fresh = self._read_live(tx, live.task_id, live.seq)
            if fresh.state != "watching":
                return
            if fresh.version != live.version:  # it was changed meanwhile: what was seen may not count
                if settle is not None:
                    jobs.add(tx, KIND, live.task_id, str(live.seq), fresh.data or data, jobs.NOW, self._now())
            elif ended is not None:
                self._end(tx, head, live, ended, said, self.acting_as(channel="tool"))
            elif live.data is not None:
                if tell:
                    self._tell(tx, head, live, said)
                if settle is not None:
                    jobs.add(tx, KIND, live.task_id, str(live.seq), data, due, self._now())
                else:
                    jobs.postpone(tx, KIND, live.task_id, str(live.seq), data, due)

        if settle is not None or ended is not None or changed or not waiter or near:
            self._commit(work, tasks=lambda _: (live.task_id,) if tell or ended else ())
        return delay, interval

    def _judged(
        self, live: Live, watch: Watch, around: Surroundings, *, bound: bool
    ) -> tuple[str | None, str, Any]:
        """How a wait ends, if it does; what was seen, and the state for the next look. With `bound` whatever
        hangs is left behind; without, the caller sees to that."""

        if live.task_status in rules.ENDED:
            return "cancelled", f"the task is {live.task_status}", None
        late = around.waited >= live.spec["timeout"]
        if live.data is None:  # it came from elsewhere: nothing here is looked at for it
            return ("timeout" if late else None), "it is watched elsewhere", None
        state = live.data["state"]
        try:
            if bound:
                verdict, state = bounded(
                    place_of(watch), lambda: look(watch, state, around), self._look_seconds(watch)
                )
            else:
                verdict, state = look(watch, state, around)
        except TimeoutError as error:
            verdict = Verdict(met=False, said=str(error))
        if verdict.met:
            return "resolved", verdict.said, state
        if verdict.failed:
            return "error", verdict.said, state
        said = f"not within {live.spec['timeout']:g} s: {verdict.said}" if late else verdict.said
        return ("timeout" if late else None), said, state

    def _surroundings(self, live: Live, waited: float) -> Surroundings:

        def status_of(name: str) -> str | None:
            task_id, _, item = name.partition("/")

            def work(tx: Tx) -> str | None:
                head = tx.head(task_id)
                if head is None or not item:
                    return None if head is None else head["status"]
                return next((row["status"] for row in tx.steps(task_id) if row["item_id"] == item), None)

            return self.store.read(work)

        folder = (live.data or {}).get("folder")
        return Surroundings(
            now=self._clock(),
            waited=waited,
            status_of=status_of,
            folder=folder,
            private=self.settings.wait_private == "on",
            commands=self.settings.wait_commands == "on",
            decided=live.spec.get("decided"),
            readable=lambda path: self._may_read(path, folder),
            judge=(lambda words, seen: self._judge(live.task_id, words, seen)) if self._has_judge() else None,
        )
