"""The guard: a tool call that failed or was rejected before, for a reason that still holds, is told so.

It advises, and never blocks. What counts as the same is cheap to tell: the same command, or the same tool on
the same file. A command that failed a moment ago is told only while nobody did anything since but looking:
most repetitions have a reason, and a false alarm is worse than none.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ..journal.names import call_key, command_of, folded
from ..ledger.step_changes import EDIT
from ..memory import TaskMemory
from ..model import rules, validate
from ..packet import encode
from ..signals.tools import is_read_only
from ..store.tx import Row, Tx

# Entries that are looked at, the newest first.
_MOST = 200
_SHOWN = 240
_LEAST = 6
# Events between a failure and its repetition that are looked at.
_MOST_SINCE = 30
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
    """A line about an earlier attempt at the same, if there was one; else nothing."""
    command, attempt = command_of(given), call_key(tool, given)
    if len(attempt) < _LEAST:
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
            return _told(row, data)
    return _repeated(memory, task_id, tool, attempt) if command else ""


def _still_holds(memory: TaskMemory, task_id: str, tool: str, attempt: str, data: Mapping[str, Any]) -> bool:
    """Whether the reason of an inferred failure holds: nothing was edited, nor did it work since."""
    failed = min((seq for seq in data.get("from") or () if isinstance(seq, int)), default=0)

    def work(tx: Tx) -> tuple[list[Row], list[Row]]:
        edits = tx.records(task_id, "action", ("completed",), 1, key=EDIT)
        return edits, tx.records(task_id, "action", ("completed",), _MOST)

    edits, done = memory.store.read(work)
    if edits and edits[0]["seq"] > failed:
        return False
    return not any(row["seq"] > failed and _is_call(json.loads(row["data"]), tool, attempt) for row in done)


def _is_call(data: Mapping[str, Any], tool: str, attempt: str) -> bool:
    """Whether an action was just this command."""
    return data.get("tool") == tool and folded(command_of(data.get("input"))) == attempt


def _repeated(memory: TaskMemory, task_id: str, tool: str, attempt: str) -> str:
    """A line about the same command, if it failed and nothing was done since that could change that."""
    for row in memory.store.read(lambda tx: tx.thread(task_id, _MOST_SINCE, None)):
        if row["channel"] == "user":
            return ""
        if row["event_type"] != "action":
            continue
        data = json.loads(row["data"])
        used = str(data.get("tool") or "")
        if data.get("error") is None:
            if is_read_only(used):
                continue
            return ""
        if not _is_call(data, tool, attempt):
            return ""  # what failed may have changed something, too
        refused = str(data["error"]).startswith(_REFUSALS)
        return "" if refused or _others_at_work(memory, row) else _failed(row, attempt, data["error"])
    return ""


def _others_at_work(memory: TaskMemory, since: Row) -> bool:
    """Whether another session or a helper wrote in this workspace since: it may have changed anything.

    Then another task is the one that changed last.
    """
    statuses = (*rules.OPEN, *rules.ENDED)
    found = memory.store.read(lambda tx: tx.cards(statuses, 1, workspace=memory.workspace))
    return any(head["task_id"] != since["task_id"] for head in found)


def _failed(row: Row, attempt: str, error: Any) -> str:

    what, why = (encode.quoted(encode.clip(str(text), _SHOWN)) for text in (attempt, error))
    at = row["timestamp"][11:16]
    told = f"{what} failed at {at} UTC, and nothing was changed since; it said {why}"
    return f"Task memory, #{row['seq']}: {told}."


def calls_of_interest(tx: Tx, task_id: str) -> Iterator[Any]:
    """The texts of calls that `advice` may be about: what was ruled out, and what failed lately."""
    for row in tx.records(task_id, "exclusion", ("active",), _MOST):
        yield from (row["text"], json.loads(row["data"]).get("what"), row["key"])
    for row in tx.thread(task_id, _MOST_SINCE, None):
        if row["event_type"] == "action":
            data = json.loads(row["data"])
            if data.get("error") is not None:
                yield call_key(str(data.get("tool") or ""), data.get("input"))


def _same(attempt: str, known: str) -> bool:
    known = folded(known)
    if known.endswith("…"):  # it was too long to be kept whole
        return len(known) > 100 and attempt.startswith(known[:-1])
    return attempt == known


def _told(row: Row, data: Mapping[str, Any]) -> str:

    what = encode.quoted(encode.clip(str(data.get("what") or row["text"]), _SHOWN))
    parts = [f"Task memory, #{row['seq']}: {what} was "]
    parts.append("rejected before" if data.get("rejected") else "tried before and did not work")
    for name, words in (("symptom", "symptom"), ("why", "reason"), ("worked", "what worked instead")):
        if (found := data.get(name)) and isinstance(found, str):
            parts.append(f"; {words}: {encode.quoted(encode.clip(found, _SHOWN))}")
    return "".join(parts) + "."
