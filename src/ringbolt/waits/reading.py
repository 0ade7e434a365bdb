# pyright: reportPrivateUsage=false
"""Finding a wait and reading it from the store, and how long it has lasted."""

from __future__ import annotations

import json
import os
from typing import Any

from ..ledger.base import find_item
from ..llm.calls import Modelling
from ..llm.judging import judgement_request
from ..model import validate
from ..model.errors import InvalidInput, NotFound, shown
from ..model.results import WaitResult
from ..store import jobs
from ..store.tx import Tx
from . import Place, Watch, begin, read_watch
from .bounded import FILE_SECONDS, bounded, place_of
from .conditions import JUDGED, not_understood
from .looking import LOOK_SECONDS, boot
from .records import KIND, Live, as_result, has, leaves, sound_spec, steady
from .verdicts import State

# Looks that read what stands in a file.
_CONTENT = ("contains ", "matches ", "judged: ")
_QUICK = ("file", "log", "process", "time", "task", "item", "manual")


def is_quick(watch: Watch) -> bool:
    """Whether a look takes no longer than to ask this machine about a file, a process or a task."""
    return all(leaf.kind in _QUICK and leaf.word != "judged: " for leaf in leaves(watch))


def no_commands() -> InvalidInput:
    """The error where the operator allows no commands."""
    return InvalidInput(
        "invalid_argument",
        "Waits may not run commands here.",
        "Wait for what the command makes; or the operator allows it: wait_commands.",
    )


class WaitReading(Modelling):
    """What operations on waits share."""

    # --- reading ----------------------------------------------------------------------------------

    def _watch(self, target: str, until: str | None, task_id: str | None) -> Watch:
        """What a caller waits for, with tasks and steps by their ids; refused if it is not allowed here."""

        judge = self._has_judge()
        place = Place(folder=self.workspace, display=self._display(target, task_id), judge=judge)
        watch = self._resolved(read_watch(target, until, place))
        if self.settings.wait_commands == "off" and has(watch, "command"):
            raise no_commands()
        for leaf in leaves(watch):
            if leaf.word == JUDGED and not judge:
                raise not_understood(leaf.kind, leaf.argument)
            if leaf.kind in ("file", "log") and leaf.word in _CONTENT:
                self._check_readable(leaf)
        return watch

    def _display(self, target: Any, task_id: str | None) -> str | None:
        """The display of a task that works on one, else that of this process."""
        if not isinstance(target, str) or not ("screen:" in target or "window:" in target):
            return None
        metadata = self.store.read(lambda tx: tx.extras(self._find(tx, task_id)["task_id"])["metadata"])
        return str(metadata.get("display") or os.environ.get("DISPLAY") or "") or None

    def _check_readable(self, leaf: Watch) -> None:

        try:
            real = bounded(place_of(leaf), lambda: os.path.realpath(leaf.value), FILE_SECONDS)
        except TimeoutError:
            return  # each look finds out for itself
        if not self._may_read(real, self.workspace):
            raise InvalidInput(
                "invalid_argument",
                f"Waits may not look into {shown(leaf.value)}: it is not below the workspace.",
                "Wait until it exists or has changed; or the operator allows its folder: wait_folders.",
            )

    def _may_read(self, path: str, workspace: str | None) -> bool:
        """Whether the content of a file may be looked into. A workspace that is everything, or all that a
        user has, opens nothing: anyone could name it."""
        folders = [name.strip() for name in self.settings.wait_folders.split(",") if name.strip()]
        for name in folders:
            folder = workspace if name == "workspace" else name
            real = os.path.realpath(folder) if folder else None
            if real is None or (name == "workspace" and real in ("/", os.path.expanduser("~"))):
                continue
            if path == real or path.startswith(real.rstrip("/") + "/"):
                return True
        return False

    def _first_state(self, watch: Watch) -> State:
        """How a target stands when the wait begins."""

        try:
            return bounded(place_of(watch), lambda: begin(watch), self._look_seconds(watch))
        except TimeoutError as error:
            raise InvalidInput(
                "invalid_argument", f"{watch.target} hangs: {error}.", "Wait for something else."
            ) from None

    def _look_seconds(self, watch: Watch) -> float:
        """The most that a look may take, all parts together."""

        quick = is_quick(watch)
        parts = leaves(watch)
        asked = sum(leaf.word == JUDGED for leaf in parts) * self.settings.model_timeout
        return FILE_SECONDS if quick else LOOK_SECONDS * (len(parts) + 1) + asked

    def _has_judge(self) -> bool:
        """Whether a model is set that may judge what no rule reads."""
        return bool(self.settings.model_local_url or self.settings.model_remote_url)

    def _judge(self, task_id: str, words: str, seen: str | bytes) -> tuple[bool | None, str]:
        """Whether a model finds some words to be true of what is seen; None and why if it does not say."""

        role = "local" if self.settings.model_local_url else "remote"
        found, reason = self._asked([role], task_id, judgement_request(words, seen))
        if found is None:
            return None, f"no model could judge it: {reason}"
        return found[0], f"{found[1]} says {'yes' if found[0] else 'no'}"

    def _resolved(self, watch: Watch) -> Watch:
        if watch.parts:
            return watch.replace(parts=tuple(self._resolved(part) for part in watch.parts))
        if watch.kind not in ("task", "item"):
            return watch
        name, _, item = watch.value.partition("/")

        def work(tx: Tx) -> str:
            found = self._find(tx, name)["task_id"]
            return f"{found}/{find_item(tx.steps(found), item)['item_id']}" if item else found

        return watch.replace(value=self.store.read(work))

    def _named(self, wait_id: Any) -> tuple[str, int]:
        """The task and number of a wait: `task#seq`, or `#seq` of the current task."""
        name, mark, number = validate.line("wait_id", wait_id, 200).strip().rpartition("#")
        if not mark or not (number.isascii() and number.isdecimal() and len(number) < 16):
            raise InvalidInput(
                "invalid_argument",
                f"{shown(wait_id)} is no id of a wait.",
                "It is `task#seq`, as smart_wait answered it.",
            )
        return self.store.read(lambda tx: self._find(tx, name or None)["task_id"]), int(number)

    def _live(self, task_id: str, seq: int) -> Live:
        return self.store.read(lambda tx: self._read_live(tx, task_id, seq))

    def _read_live(self, tx: Tx, task_id: str, seq: int) -> Live:
        head = self._find(tx, task_id)
        record, event = tx.record(task_id, seq), tx.event(task_id, seq)
        if record is None or event is None or record["type"] != KIND:
            raise NotFound(
                "record_not_found", f"#{seq} is no wait of task {task_id}.", "wait_status lists the waits."
            )
        updates = tx.thread(task_id, 1, None, types=("wait.updated",), refs=(seq,))
        ended = tx.event(task_id, record["ref_seq"]) if record["ref_seq"] else None
        job = jobs.find(tx, KIND, task_id, str(seq))
        return Live(
            task_id=task_id,
            seq=seq,
            state=record["status"],
            task_status=head["status"],
            spec=sound_spec(json.loads(event["data"]), json.loads(updates[0]["data"]) if updates else {}),
            version=updates[0]["seq"] if updates else 0,
            started_at=event["timestamp"],
            ended_at=record["ended_at"],
            result=json.loads(ended["data"]).get("result") if ended else None,
            data=job.data if job else None,
            due=job.due_at if job else None,
        )

    def _result(self, task_id: str, seq: int) -> WaitResult:
        return as_result(self._live(task_id, seq), self._now())

    # --- time -------------------------------------------------------------------------------------

    def _mark(self, waited: float) -> dict[str, Any]:
        """How long was waited until this moment, and the moment: by a clock that nobody sets, and by ours."""

        return {"waited": waited, "boot": boot(), "at": steady(), "wall": self._clock()}

    def _waited(self, live: Live) -> float:
        """How long a wait has lasted; a clock that is set back or forward does not change it.

        Only where the machine itself was started anew, or is another, its own clock is asked.
        """

        data = live.data
        if data is None:
            return max(self._clock() - validate.seconds_of(live.started_at), 0)
        passed = steady() - data["at"] if data["boot"] == boot() else self._clock() - data["wall"]
        return data["waited"] + max(passed, 0)
