"""The guard: warns before a tool call that failed or was rejected before, for a reason that still holds.

It advises, and never blocks. The same call is the same command, or the same tool on the same file. A command
that failed a moment ago is warned about only if nothing but reading has happened since: most repetitions have
a reason, and a false alarm is worse than none.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ..journal.names import folded
from ..ledger.step_changes import EDIT
from ..memory import TaskMemory
from ..model import rules, validate
from ..model.types import is_dict
from ..packet import encode
from ..signals.tools import first_text, is_read_only
from ..store.tx import Row, Tx
from .capture_hook import COMMANDS, call_key

_MOST = 200  # entries compared, the newest first
_MOST_SINCE = 30  # events compared between a failure and its repetition
_SHOWN = 240
# The host or the user refused; the command itself did not fail.
_REFUSALS = (
    "The user doesn't want",
    "<tool_use_error>",
    "[Request interrupted",
    "[Tool call interrupted",
    "Permission",
    "This command requires",
)


def advice(memory: TaskMemory, task_id: str, tool: str, given: Any) -> str:
    """A line about an earlier attempt at the same call, if there was one; else an empty text."""
    command, attempt = _command(given), _call(tool, given)
    if not attempt:
        return ""
    now = validate.stamp(time.time())
    for row in memory.store.read(lambda tx: tx.records(task_id, "exclusion", ("active",), _MOST)):
        data = json.loads(row["data"])
        if data.get("until") and data["until"] <= now:
            continue  # it may be tried again
        if not command and data.get("inferred"):
            continue  # another edit of the same file is another attempt
        known = (row["text"], data.get("what"), row["key"])
        if not any(isinstance(one, str) and _same(attempt, one) for one in known):
            continue
        if not data.get("worked") or _still_holds(memory, task_id, tool, attempt, data):
            return _warning(row, data)
    return _repeated(memory, task_id, tool, attempt) if command else ""


def _command(given: Any) -> str:
    return first_text(given, COMMANDS) if is_dict(given) else ""


def _call(tool: str, given: Any) -> str:
    return call_key(tool, given if is_dict(given) else {})


def _still_holds(memory: TaskMemory, task_id: str, tool: str, attempt: str, data: Mapping[str, Any]) -> bool:
    """Whether the reason of an inferred failure still holds: no edit since, and the call has not worked."""
    failed = min((seq for seq in data.get("from") or () if isinstance(seq, int)), default=0)

    def work(tx: Tx) -> tuple[list[Row], list[Row]]:
        edits = tx.records(task_id, "action", ("completed",), 1, key=EDIT)
        return edits, tx.records(task_id, "action", ("completed",), _MOST)

    edits, done = memory.store.read(work)
    if edits and edits[0]["seq"] > failed:
        return False
    return not any(row["seq"] > failed and _is_call(json.loads(row["data"]), tool, attempt) for row in done)


def _is_call(data: Mapping[str, Any], tool: str, attempt: str) -> bool:
    """Whether an action was exactly this command."""
    return data.get("tool") == tool and folded(_command(data.get("input"))) == attempt


def _repeated(memory: TaskMemory, task_id: str, tool: str, attempt: str) -> str:
    """A line about the same command, if it failed and nothing since could have changed that."""
    for row in memory.store.read(lambda tx: tx.thread(task_id, _MOST_SINCE, None)):
        if row["channel"] == "user":
            return ""
        if row["event_type"] != "action":
            continue
        data = json.loads(row["data"])
        error = data.get("error")
        if error is None and is_read_only(str(data.get("tool") or "")):
            continue
        # Anything else may have changed something, also a call that failed.
        if error is None or not _is_call(data, tool, attempt) or str(error).startswith(_REFUSALS):
            return ""
        return "" if _others_at_work(memory, row) else _failed(row, attempt, error)
    return ""


def _others_at_work(memory: TaskMemory, since: Row) -> bool:
    """Whether the task that changed last in this workspace is another one: it may have changed anything."""
    statuses = (*rules.OPEN, *rules.ENDED)
    found = memory.store.read(lambda tx: tx.cards(statuses, 1, workspace=memory.workspace))
    return any(head["task_id"] != since["task_id"] for head in found)


def _failed(row: Row, attempt: str, error: Any) -> str:
    what = f"{_quoted(attempt)} failed at {row['timestamp'][11:16]} UTC"
    return f"Task memory, #{row['seq']}: {what}, and nothing was changed since; it said {_quoted(error)}."


def _quoted(text: Any) -> str:
    return encode.quoted(encode.clip(str(text), _SHOWN))


def calls_of_interest(tx: Tx, task_id: str) -> Iterator[Any]:
    """The texts of calls that `advice` may warn about: what was rejected, and what failed lately."""
    for row in tx.records(task_id, "exclusion", ("active",), _MOST):
        yield from (row["text"], json.loads(row["data"]).get("what"), row["key"])
    for row in tx.thread(task_id, _MOST_SINCE, None):
        if row["event_type"] == "action":
            data = json.loads(row["data"])
            if data.get("error") is not None:
                yield _call(str(data.get("tool") or ""), data.get("input"))


def _same(attempt: str, known: str) -> bool:
    known = folded(known)
    if known.endswith("…"):  # it was too long to be kept whole
        return len(known) > 100 and attempt.startswith(known[:-1])
    return attempt == known


def _warning(row: Row, data: Mapping[str, Any]) -> str:
    outcome = "rejected before" if data.get("rejected") else "tried before and did not work"
    parts = [f"Task memory, #{row['seq']}: {_quoted(data.get('what') or row['text'])} was {outcome}"]
    for name, word in (("symptom", "symptom"), ("why", "reason"), ("worked", "what worked instead")):
        if (text := data.get(name)) and isinstance(text, str):
            parts.append(f"{word}: {_quoted(text)}")
    return "; ".join(parts) + "."
