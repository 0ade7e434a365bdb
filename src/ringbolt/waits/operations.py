# pyright: reportPrivateUsage=false
"""The operations that wait: start a wait, show, change and cancel it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..ledger.base import Draft, find_item
from ..ledger.looking import check_callback, check_patience, gate_of, refused_look
from ..model import rules, validate
from ..model.capabilities import LOCAL
from ..model.errors import Conflict, InvalidInput, NotAllowed, shown
from ..model.operation import operation
from ..model.results import WaitResult
from ..model.trust import Overruled, may_overrule
from ..store import jobs
from ..store.tx import Row, Tx
from ..system import http_client
from ..system.gate import LookRefused
from .bounded import bounded, resource_of
from .conditions import JUDGED, Place, Watch, checked_argv, not_understood, read_watch
from .loop import CALLER_LEASE_SECONDS, Watcher
from .state import (
    KIND,
    LONGEST,
    MOST_LISTED,
    MOST_SECONDS,
    SHORTEST,
    Wait,
    check_watching,
    clear_text,
    task_changes,
)
from .targets import State, begin
from .wake import WaitRecords


class Waiting(WaitRecords):
    """Operations that wait."""

    @operation(
        scope="write",
        core=("target", "until", "timeout", "task_id"),
        powers={
            "target": ("files", "displays", "commands", "egress"),
            "callback_url": ("egress",),
            "command": ("commands",),
        },
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
            message: Message to record when the wait starts.
            block: Wait here until it ends. False: leave it to a worker and return at once.
            callback_url: URL that gets a POST when the wait ends. Default: that of the task.
            command: Command (a list of words) that a worker runs when the wait ends. Only if the operator
                allows commands.
        """
        timeout = validate.number("timeout", timeout, 0, MOST_SECONDS)
        interval = validate.number("poll_interval", poll_interval, SHORTEST, LONGEST)
        message = self._text("message", message)
        calls = self._calls(callback_url, command)
        watch = self._watch(target, until, task_id)
        data = {**self._first_data(watch, interval, 0), **calls}
        watcher = Watcher(self, jobs.new_holder(), lease_seconds=CALLER_LEASE_SECONDS) if block else None
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
                    f"Task {head['task_id']} is {head['status']} and cannot wait.",
                    "Make it active again, or wait with another task.",
                )
            if any(leaf.kind == "task" and leaf.value == head["task_id"] for leaf in watch.leaves):
                raise InvalidInput(
                    "dependency_cycle",
                    f"Task {head['task_id']} would wait for itself.",
                    "Wait for one of its steps (task:ID/STEP), or with another task.",
                )
            self._check_quota(tx)
            seq = head["last_seq"] + 1
            jobs.add(tx, KIND, head["task_id"], str(seq), data, jobs.NOW, now)
            if watcher is not None:  # in the same transaction, so that no worker takes it first
                jobs.take(
                    tx, KIND, head["task_id"], str(seq), watcher.holder, self._clock(), watcher.lease_seconds
                )
            status = "waiting" if head["status"] == "active" else None
            return Draft(
                "wait.started",
                text=message or f"Waiting for {watch.criteria}",
                data=spec,
                sets=task_changes(tx, head, now, status, f"{head['task_id']}#{seq}", "watching"),
                record={"type": "wait", "status": "watching"},
            )

        arguments = [spec, message]
        done = self._write("smart_wait", task_id, decide, key=key, arguments=arguments)
        if watcher is None:
            return self._result(done.task_id, done.seq)
        return watcher.run_until_over(done.task_id, done.seq, timeout).as_result(self._now())

    @operation(scope="read")
    def wait_status(self, wait_id: str | None = None) -> tuple[WaitResult, ...]:
        """Show a wait, or all unresolved waits of this workspace. Nothing is checked.

        A wait that is `due` should have been checked already: no worker is running.
        """
        if wait_id is not None:
            return (self._result(*self._parsed_wait_id(wait_id)),)
        now = self._now()

        def work(tx: Tx) -> tuple[WaitResult, ...]:
            waits = jobs.of_workspace(tx, KIND, self.workspace, MOST_LISTED)
            return tuple(self._read_wait(tx, task_id, int(key)).as_result(now) for task_id, key in waits)

        return self.store.read(work)

    @operation(
        scope="write",
        powers={"until": ("files", "displays", "commands", "egress")},
        example={"wait_id": "7#2", "message": "approved"},
    )
    def wait_update(
        self, wait_id: str, until: str | None = None, timeout: float | None = None, message: str | None = None
    ) -> WaitResult:
        """Change the condition or timeout of a wait, or decide a `manual:` wait.

        Args:
            until: The new condition.
            timeout: Maximum seconds to wait, counted from its start.
            message: For a `manual:` wait, the decision, which only the user can make: that of an agent is
                recorded as a proposal. For other waits, a remark.
        """
        task_id, seq = self._parsed_wait_id(wait_id)
        message = self._text("message", message)
        if timeout is not None:
            timeout = validate.number("timeout", timeout, 0, MOST_SECONDS)
        if until is None and timeout is None and not message:
            raise InvalidInput(
                "invalid_argument", "There is nothing to change.", "Pass until, timeout or message."
            )
        wait = self._wait(task_id, seq)
        watch = wait.watch
        if until is not None:
            if watch.parts:
                hint = "Cancel it, and wait for another target."
                raise InvalidInput("invalid_argument", "The conditions of a group are in its target.", hint)
            watch = self._watch(watch.target, until, task_id)
        new = self._first_data(watch, wait.spec["poll_interval"], self._waited(wait))

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            fresh = self._read_wait(tx, task_id, seq)
            check_watching(fresh)
            self._check_author(tx, fresh, changes=until is not None or timeout is not None)
            spec = {**fresh.spec, "until": watch.until}
            if timeout is not None:
                spec["timeout"] = timeout
            if message and watch.has("manual"):
                if self._authority != "user":  # it waits for a person
                    raise Overruled(task_id, f"wait #{seq}, which a person decides")
                spec["decided"] = message
            # From now on this store checks an imported wait; a new condition starts with a new state.
            data: Mapping[str, Any] = new
            if fresh.data is not None:
                kept = {"detail": None, "interval": spec["poll_interval"]}
                data = {**fresh.data, **(new if until is not None else {}), **kept}
            jobs.add(tx, KIND, task_id, str(seq), data, jobs.NOW, now)
            return Draft("wait.updated", text=message, data=spec, ref=seq)

        self._write("wait_update", task_id, decide)
        self._check_once(self._wait(task_id, seq))
        return self._result(task_id, seq)

    def _check_author(self, tx: Tx, wait: Wait, *, changes: bool) -> None:
        """Raise if another condition or time would end what a more trusted channel waits for."""
        started = tx.event(wait.task_id, wait.seq)
        if changes and started is not None and not may_overrule(self._authority, started["channel"]):
            raise Overruled(wait.task_id, f"wait #{wait.seq}")

    @operation(scope="write", example={"wait_id": "7#2", "reason": "not needed any more"})
    def wait_cancel(self, wait_id: str, reason: str | None = None) -> WaitResult:
        """Cancel a wait. A wait that has already ended is left unchanged.

        Args:
            reason: Why the wait is no longer needed.
        """
        task_id, seq = self._parsed_wait_id(wait_id)
        reason = self._text("reason", reason) or "cancelled"

        def work(tx: Tx) -> None:
            head = self._find(tx, task_id, lock=True)
            wait = self._read_wait(tx, task_id, seq)
            if wait.state == "watching":
                self._end_wait(tx, head, wait, "cancelled", reason, self)

        self._commit(work, tasks=lambda _: (task_id,))
        return self._result(task_id, seq)

    # --- targets ----------------------------------------------------------------------------------

    def _watch(self, target: str, until: str | None, task_id: str | None) -> Watch:
        """Parse a target and its condition, resolve ids of tasks and steps, and pass the gate."""
        check_patience(self)
        judge = self._has_judge()
        # A caller that may not see displays does not learn whether there is one.
        display = self._display(target, task_id) if "displays" in self.grant.powers else ":0"
        place = Place(folder=self.workspace, display=display, judge=judge)
        watch = self._with_task_ids(read_watch(target, until, place))
        for leaf in watch.leaves:
            if leaf.word == JUDGED and not judge:
                raise not_understood(leaf.kind, leaf.argument)
        if watch.has("command"):
            self._check_commands()
        gate = gate_of(self)
        if not all(gate.admits(leaf.kind) for leaf in watch.leaves):
            raise refused_look(self, watch.target)
        return watch

    def _check_commands(self) -> None:
        """Raise unless the operator lets waits run commands, and the caller may do so."""
        if "commands" not in self.grant.powers:
            raise refused_look(self, "a command")
        if self.settings.wait_commands == "off":
            raise InvalidInput(
                "invalid_argument",
                "Waits may not run commands here.",
                "Wait for the command's result, such as a file, or ask the operator to set wait_commands.",
            )

    def _check_quota(self, tx: Tx) -> None:
        """Raise if a caller that comes through a server has too many open waits."""
        name, most = self.grant.name, self.settings.caller_waits
        if name != LOCAL.name and jobs.count_with(tx, KIND, "by", name) >= most:
            raise NotAllowed(
                "too_many_waits",
                f"This caller already has {most} open waits.",
                "Cancel some of them (wait_status lists them), or ask the operator to raise caller_waits.",
            )

    def _display(self, target: Any, task_id: str | None) -> str | None:
        """The display that a task works on, otherwise that of this process."""
        if not isinstance(target, str) or not ("screen:" in target or "window:" in target):
            return None
        metadata = self.store.read(lambda tx: tx.extras(self._find(tx, task_id)["task_id"])["metadata"])
        return str(metadata.get("display") or os.environ.get("DISPLAY") or "") or None

    def _with_task_ids(self, watch: Watch) -> Watch:
        if watch.parts:
            return watch.replace(parts=tuple(self._with_task_ids(part) for part in watch.parts))
        if watch.kind not in ("task", "step"):
            return watch
        name, _, item = watch.value.partition("/")

        def work(tx: Tx) -> str:
            task_id = self._find(tx, name)["task_id"]
            return f"{task_id}/{find_item(tx.steps(task_id), item)['item_id']}" if item else task_id

        return watch.replace(value=self.store.read(work))

    def _first_data(self, watch: Watch, interval: float, waited: float) -> dict[str, Any]:
        """The data of a wait before its first check."""
        return {
            "state": self._first_state(watch), "detail": None, "interval": interval, "changes": 0,
            "folder": self.workspace, "powers": list(self.grant.powers), "anywhere": self.grant.anywhere,
            "clear": clear_text(watch), "by": self.grant.name, **self._time_mark(waited),
        }  # fmt: skip

    def _first_state(self, watch: Watch) -> State:
        """The state of a target when the wait starts."""
        gate = gate_of(self)
        try:
            return bounded(resource_of(watch), lambda: begin(watch, gate), self._check_seconds(watch))
        except LookRefused:
            raise refused_look(self, watch.target) from None
        except TimeoutError as error:
            raise InvalidInput(
                "invalid_argument", f"{watch.target} hangs: {error}.", "Choose another target."
            ) from None

    def _calls(self, callback_url: Any, command: Any) -> dict[str, Any]:
        """Validate the callback and the command of a wait."""
        calls: dict[str, Any] = {}
        if callback_url is not None:
            url = validate.line("callback_url", callback_url, 2000)
            try:
                http_client.read_url(url, "the callback_url")
            except ValueError as error:
                why = f"The callback_url cannot be called: {error}."
                raise InvalidInput("invalid_argument", why, "Use an http:// or https:// URL.") from None
            check_callback(self, url)
            calls["callback_url"] = url
        if command is not None:
            self._check_commands()
            calls["command"] = checked_argv(self._list("command", command))
        return calls

    # --- finding ----------------------------------------------------------------------------------

    def _parsed_wait_id(self, wait_id: Any) -> tuple[str, int]:
        """The task and number of a wait: `task#seq`, or `#seq` of the current task."""
        name, mark, number = validate.line("wait_id", wait_id, 200).strip().rpartition("#")
        if not mark or not (number.isascii() and number.isdecimal() and len(number) < 16):
            raise InvalidInput(
                "invalid_argument",
                f"{shown(wait_id)} is not the id of a wait.",
                "Use `task#seq`, as smart_wait returned it.",
            )
        return self.store.read(lambda tx: self._find(tx, name or None)["task_id"]), int(number)

    def _result(self, task_id: str, seq: int) -> WaitResult:
        return self._wait(task_id, seq).as_result(self._now())
