"""Lark Bitable: one row for each task, in a table that people may sort, group and extend with columns."""

from __future__ import annotations

from functools import cached_property

from ..model.errors import InvalidInput
from ..model.settings import Settings
from ..model.types import Task
from .lark_api import Json, LarkApi, LarkError, once
from .sink import Lag, Ledger, Mark, Reply

_TEXT, _NUMBER = 1, 2
_ID = "Task id"
_COLUMNS = {
    _ID: _TEXT, "Name": _TEXT, "Status": _TEXT, "Phase": _TEXT, "Steps done": _NUMBER, "Steps": _NUMBER,
    "Current step": _TEXT, "Next": _TEXT, "Blockers": _TEXT, "Goal": _TEXT, "Result": _TEXT, "Updated": _TEXT,
    "Event": _NUMBER,
}  # fmt: skip
_NO_RECORD = (1254043, 1254006)


class LarkTable:
    """Publishes tasks as rows."""

    name = "lark"
    replies = 0.0

    def __init__(self, api: LarkApi, settings: Settings) -> None:
        app, _, table = settings.lark_table.partition("/")
        if not app or not table or "/" in table:
            raise InvalidInput(
                "sink_setup",
                "lark_table must be APP_TOKEN/TABLE_ID.",
                "Both are in the address of the table.",
            )
        self._api = api
        self._table = table
        self._path = f"bitable/v1/apps/{app}/tables/{table}"

    def probe(self, lag: Lag) -> bool:
        """Check that the table can be read."""
        self._api.call("GET", f"{self._path}/fields", {"page_size": 1})
        return True

    def collect(self, mark: Mark) -> tuple[list[Reply], Mark]:
        """Nothing: rows are read by people, and not read back."""
        return [], mark

    def publish(self, ledger: Ledger, mark: Mark) -> Mark:
        """Bring the row of a task up to date; make it if it is missing."""
        _ = self._columns
        record: str = mark.get("record") or self._find(ledger.task_id)
        while True:
            task = ledger.task()
            try:
                return {"seq": task.seq, "record": self._put(record, task)}
            except LarkError as error:
                if not record or error.code not in _NO_RECORD:
                    raise
                record = ""

    def remove(self, task_id: str, mark: Mark) -> None:
        """Delete the row of a task."""
        if record := mark.get("record") or self._find(task_id):
            try:
                self._api.call("DELETE", f"{self._path}/records/{record}", writes=self._table)
            except LarkError as error:
                if error.code not in _NO_RECORD:
                    raise

    def _put(self, record: str, task: Task) -> str:
        body = {"fields": _fields(task)}
        if record:
            self._api.call("PUT", f"{self._path}/records/{record}", None, body, writes=self._table)
            return record
        query = {"client_token": once(self._path, task.id, task.seq)}
        data = self._api.call("POST", f"{self._path}/records", query, body, writes=self._table)
        return data["record"]["record_id"]

    def _find(self, task_id: str) -> str:
        condition = {"field_name": _ID, "operator": "is", "value": [task_id]}
        body = {"filter": {"conjunction": "and", "conditions": [condition]}}
        found = self._api.pages("POST", f"{self._path}/records/search", {"page_size": 20}, body)
        return next((each["record_id"] for each in found), "")

    @cached_property
    def _columns(self) -> frozenset[str]:
        """The columns of the table; those that are missing are added."""
        have = {
            each["field_name"] for each in self._api.pages("GET", f"{self._path}/fields", {"page_size": 100})
        }
        for name, kind in _COLUMNS.items():
            if name not in have:
                body = {"field_name": name, "type": kind}
                query = {"client_token": once(self._path, "column", name)}
                self._api.call("POST", f"{self._path}/fields", query, body, writes=self._table)
        return frozenset(have | {*_COLUMNS})


def _fields(task: Task) -> Json:
    return {
        _ID: task.id,
        "Name": task.name,
        "Status": task.status,
        "Phase": task.phase,
        "Steps done": task.done,
        "Steps": task.total,
        "Current step": task.current_title or "",
        "Next": task.next_step or task.next_title or "",
        "Blockers": "\n".join(task.blockers),
        "Goal": task.goal or "",
        "Result": task.answer or "",
        "Updated": task.updated_at,
        "Event": task.seq,
    }
