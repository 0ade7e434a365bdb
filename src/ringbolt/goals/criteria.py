"""Validate the criteria of a goal."""

from __future__ import annotations

from typing import Any

from ..model import validate
from ..model.errors import InvalidInput, shown
from ..model.types import is_dict, is_list
from .checks import read_target

STATUSES = ("open", "met", "failed", "waived")
# The kinds of checks, with the names that other projects use.
_KINDS = {
    "manual": "manual", "person": "manual",
    "file": "file", "file_exists": "file",
    "command": "command", "command_exit_zero": "command",
    "http": "http", "http_ok": "http",
}  # fmt: skip
MOST_CRITERIA = 200


def read_criteria(criteria: Any, folder: str | None) -> list[tuple[str, dict[str, Any]]]:
    """Read criteria as (text, check) pairs; a plain text is a criterion that a person decides."""
    if criteria is None:
        return []
    rows: Any = [criteria] if isinstance(criteria, str) or is_dict(criteria) else criteria
    if not is_list(rows):
        raise _refused(criteria)
    check_count(len(rows))
    return [_criterion(row, folder) for row in rows]


def check_count(count: int) -> None:
    """Raise if a goal would have too many criteria."""
    if count > MOST_CRITERIA:
        raise InvalidInput(
            "too_large",
            f"The goal would have {count} criteria; the limit is {MOST_CRITERIA}.",
            "Use fewer, or several goals.",
            limit=MOST_CRITERIA,
        )


def accepted(acceptance: list[Any] | None) -> list[str]:
    """The acceptance list of a task as criteria; values other than texts become JSON."""
    return [row if isinstance(row, str) else validate.dumps(row)[:2000] for row in acceptance or []]


def _criterion(row: Any, folder: str | None) -> tuple[str, dict[str, Any]]:
    if isinstance(row, str):
        return validate.line("a criterion", row, 2000), {"check": "manual"}
    if not is_dict(row):
        raise _refused(row)
    word = row.get("check") or row.get("verification_type") or "manual"
    kind = _KINDS.get(word.strip().lower()) if isinstance(word, str) else None
    if kind is None or not set(row) <= {
        "text", "description", "check", "target", "verification_type", "verification_target",
    }:  # fmt: skip
        raise _refused(row)
    target = row.get("target", row.get("verification_target"))
    text = row.get("text") or row.get("description")
    if kind == "manual":
        return validate.line("a criterion", text or target, 2000), {"check": "manual"}
    target = read_target(kind, target, folder)
    text = validate.line("a criterion", text or f"{kind}: {target}"[:2000], 2000)
    return text, {"check": kind, "target": target}


def _refused(row: Any) -> InvalidInput:
    return InvalidInput(
        "invalid_argument",
        f"{shown(row)} is not a criterion.",
        'Pass a text, or an object such as {"text": "the page is up", "check": "http", "target":'
        ' "https://…"}; checks are file (a path), command (a list of arguments), http (a URL) and manual.',
    )
