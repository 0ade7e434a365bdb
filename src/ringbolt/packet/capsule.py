"""The hand-off capsule: a task in one bounded file that any agent can read and any Ringbolt can import.

Markdown for the reader (the resume packet), and one JSON block for the machine. The request is never cut;
other long texts are clipped, and long lists lose their oldest entries until the file is within its bound.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..model.errors import InvalidInput
from ..model.types import Snapshot, is_dict, is_list
from ..model.validate import check_storable, dumps
from . import encode, tokens
from .resume import USUAL, resume_packet

FORMAT = {"ringbolt": "capsule", "version": 1}
USUAL_BYTES = 256 << 10
TITLE = "# Hand-off: "
LONGEST_TEXT = 20_000
_OPENING, _CLOSING = "```json ringbolt-capsule\n", "\n```\n"
ENTRIES = ("instructions", "reported", "decisions", "exclusions", "errors", "questions", "values", "notes")
# Lists that are shortened when a capsule would be too large, the least important first.
_GIVEN_UP = "notes files errors effects values exclusions questions decisions reported instructions".split()
_STEP = (
    "id title status stage basis evidence note active_issue depends_on detail plan_version dropped_in"
    " replaced_by started_at completed_at duration_seconds"
).split()
_TASK = (
    "id name status phase reason attention next_step blockers goal request context acceptance approval_mode"
    " metadata tags workspace repository session plan_version answer created_at updated_at seq"
).split()


def capsule(
    task: Snapshot,
    *,
    budget: int = USUAL,
    most_bytes: int = USUAL_BYTES,
    count: Callable[[str], int] = tokens.estimate,
) -> str:
    """A task as one Markdown file with a JSON block, at most `most_bytes` long."""
    packet = resume_packet(task, budget, count=count)
    title = encode.prompt(encode.clip(encode.one_line(task.name), 120))
    head = (
        f"{TITLE}{title}\n\n"
        "A task handed over by Ringbolt. The first block is for reading; Ringbolt imports the second.\n"
        "Both were recorded by the agents, tools and people who worked on the task.\n\n"
        f"{packet.text}\n"
    )
    content = _content(task)
    while True:
        # `<` and backticks occur only inside JSON strings; escaped like this they cannot close a fence.
        body = dumps(content).replace("<", "\\u003c").replace("`", "\\u0060")
        text = f"{head}{_OPENING}{body}{_CLOSING}"
        size = len(text.encode())
        if size <= most_bytes:
            return text
        if not _give_up(content, size / most_bytes):
            raise InvalidInput(
                "too_large",
                f"The request and the plan alone need {size:,} bytes; the limit is {most_bytes:,}.",
                "Raise the limit, or move the whole task with export_events.",
                size=size,
                limit=most_bytes,
            )


def _content(task: Snapshot) -> dict[str, Any]:
    values = task.to_dict()
    content: dict[str, Any] = {**FORMAT, "task": {name: values[name] for name in _TASK}}
    content["error"] = values["error"]
    content["steps"] = [_given(step, _STEP) for step in values["steps"]]
    for name in ENTRIES:
        content[name] = [_entry(entry) for entry in values[name]]
    content["effects"] = values["effects"]
    content["files"] = [{"path": file["path"], "change": file["change"]} for file in values["files"]]
    content["links"] = values["links"]
    content["left_out"] = dict(task.left_out)
    return content


def _given(row: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: row[name] for name in names if row[name] not in (None, [], {})}


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    kept = _given(entry, "seq at type summary detail step key tags relevance_to data".split())
    for name in ("summary", "detail"):
        if len(kept.get(name) or "") > LONGEST_TEXT:
            kept[name] = encode.clip(kept[name], LONGEST_TEXT)
    return {**kept, "by": entry["origin"]["channel"], "agent": entry["origin"]["agent"]}


def _give_up(content: dict[str, Any], over: float) -> bool:
    """Drop the older part of the least important list; False if nothing is left to drop."""
    for name in _GIVEN_UP:
        rows = content[name]
        if not rows:
            continue
        # Files come newest first, all others oldest first.
        dropped = max(1, min(len(rows), int(len(rows) * (1 - 1 / over)) + 1))
        content[name] = rows[:-dropped] if name == "files" else rows[dropped:]
        content["left_out"][name] = content["left_out"].get(name, 0) + dropped
        return True
    return False


# --- reading ----------------------------------------------------------------------------------------


def read_capsule(text: str) -> dict[str, Any]:
    """The content of a capsule's JSON block; raises InvalidInput if it cannot be read."""
    _, opening, rest = text.replace("\r\n", "\n").partition(_OPENING)
    body, closing, _ = rest.partition(_CLOSING.rstrip("\n"))
    if not opening or not closing:
        raise _unreadable("it has no JSON block of a capsule")
    try:
        content = json.loads(body)
        check_storable(content)
    except (ValueError, RecursionError) as error:
        raise _unreadable(str(error) or "nested too deeply") from None
    if not is_dict(content) or content.get("ringbolt") != FORMAT["ringbolt"]:
        raise _unreadable("the JSON block is not a capsule")
    if content.get("version") != FORMAT["version"]:
        raise _unreadable(f"this is version {content.get('version')!r:.20} of the format")
    if not is_dict(content.get("task")) or not isinstance(content["task"].get("name"), str):
        raise _unreadable("it names no task")
    for name in ("steps", *ENTRIES, "effects", "files"):
        if not is_list(content.setdefault(name, [])) or not all(is_dict(row) for row in content[name]):
            raise _unreadable(f"{name} is not a list of objects")
    return content


def _unreadable(reason: str) -> InvalidInput:
    return InvalidInput(
        "import_invalid",
        f"This capsule cannot be imported: {reason}.",
        "Pass the file that task_handoff made, complete and unchanged. Nothing was written.",
    )
