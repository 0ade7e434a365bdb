# pyright: reportPrivateUsage=false
"""Finding a wait and reading it from the store, and how long it has lasted."""

from __future__ import annotations

import json

from .. import checks
from ..errors import InvalidInput, NotFound, shown
from ..store import jobs
from .base import Base, find_item
from .wait_records import KIND, LONGEST, Live, as_result, has, sound_spec, steady

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..store.tx import Tx
    from ..types import WaitResult
    from ..waits import Watch


class WaitReading(Base):
    """What operations on waits share."""

    # --- reading ----------------------------------------------------------------------------------

    def _watch(self, target: str, until: str | None) -> Watch:
        """What a caller waits for, with tasks and steps by their ids."""
        from ..waits import read_watch

        watch = self._resolved(read_watch(target, until, self.workspace))
        if self.settings.wait_commands == "off" and has(watch, "command"):
            raise InvalidInput(
                "invalid_argument",
                "Waits may not run commands here.",
                "Wait for what the command makes; or the operator allows it: wait_commands.",
            )
        return watch

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
        name, mark, number = checks.line("wait_id", wait_id, 200).strip().rpartition("#")
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
        return as_result(self._live(task_id, seq))

    def _is_due(self, live: Live) -> bool:
        """Whether nobody has looked when it was time; also if the clock was set back since."""
        if live.due is None or live.due <= self._now():
            return True
        return live.due > checks.stamp(self._clock() + 2 * LONGEST)

    # --- time -------------------------------------------------------------------------------------

    def _mark(self, waited: float) -> dict[str, Any]:
        """How long was waited until this moment, and the moment: by a clock that nobody sets, and by ours."""
        from ..waits.looking import boot

        return {"waited": waited, "boot": boot(), "at": steady(), "wall": self._clock()}

    def _waited(self, live: Live) -> float:
        """How long a wait has lasted; a clock that is set back or forward does not change it.

        Only where the machine itself was started anew, or is another, its own clock is asked.
        """
        from ..waits.looking import boot

        data = live.data
        if data is None:
            return max(self._clock() - checks.seconds_of(live.started_at), 0)
        passed = steady() - data["at"] if data["boot"] == boot() else self._clock() - data["wall"]
        return data["waited"] + max(passed, 0)
