"""Render ACTIVE-TASKS.md: the rows of tasks as a file for people and agents.

The text depends on the rows alone, never on the time of rendering. An unknown time is shown as Unknown and
counts as stale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..model import foreign_statuses, validate
from ..model.errors import RingboltError
from ..model.lazy_regex import lazy_regex
from ..model.results import ActiveRow, ActiveTaskList, Projection
from ..model.types import Value, is_dict, is_list
from ..model.validate import blake2b
from ..packet import encode

HEADINGS = {"active": "Active", "stale": "Stale — revisit", "completed": "Completed"}
FLAT_HEADING = "Active Tasks"
EMPTY = "No active tasks."
UNKNOWN = "Unknown"
# The lines of a row, in order: the field of the row, and its name in the file.
FIELDS = {
    "branch": "Branch",
    "status": "Status",
    "stash_commit": "Stash/Commit",
    "subagent": "Subagent",
    "next": "Next",
    "evidence": "Evidence",
    "unknown": "Outcome unknown",
    "related_goal": "Related goal",
    "handoff": "Handoff",
    "started": "Started",
    "updated": "Updated",
}
# The facts with the times of a row: the first readable one counts, otherwise the time of the ledger.
STARTED = ("started", "task_started", "created_at")
UPDATED = ("task_updated", "updated", "updated_at")

GENERIC_TITLE = "project task"
_NO_NEXT = frozenset(
    ("", "-", "–", "—", "…", "...", "tbd", "todo", "n/a", "na", "none", "unknown", "next", "next:")
)
_NEXT_PREFIX = lazy_regex(r"\s*task\s+\[?[^\]\n]*?\]?\s+next\s*:\s*", re.IGNORECASE)
_SESSION_KEY = lazy_regex(r"(?:^|:)subagent:|^agent:[^:\s]+:|^session:", re.IGNORECASE)
_NOT_WORDS = lazy_regex(r"[\W_]+")
_UNDERSCORE = lazy_regex(r"_([a-z0-9])")
_OUR_TIME = lazy_regex(
    r"(?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z"
)
_STAMP = lazy_regex(
    r"^<!-- ringbolt: active-tasks(?: store-position=(\d{1,18}))? content=([0-9a-f]{16}) -->\s*$",
    re.MULTILINE,
)
NOT_SHOWN = "_Not shown: "
_OVER = ("completed", "cancelled", "abandoned", "superseded")
_WORDS = {word: status in _OVER for word, status, _, _ in foreign_statuses.TASK_WORDS["active-tasks"]}


class Selection(Value, frozen=True, kw_only=True):
    """The rows to show, by section, and the number of omitted rows by reason."""

    active: tuple[ActiveRow, ...]
    stale: tuple[ActiveRow, ...]
    completed: tuple[ActiveRow, ...]
    omitted: Mapping[str, int]
    suppressed: tuple[ActiveRow, ...] = ()
    collapsed: int = 0

    @property
    def shown(self) -> int:
        """The number of rows to show."""
        return len(self.active) + len(self.stale) + len(self.completed)


# --- rows -------------------------------------------------------------------------------------------


def known_moment(value: Any) -> str | None:
    """A time in our format; None if the value is not a time."""
    if isinstance(value, str) and _OUR_TIME.fullmatch(value):
        return value
    try:
        return None if value in (None, "") else validate.moment("the time", value)
    except RingboltError:
        return None


def resolved(facts: Mapping[str, Any], keys: Sequence[str], default: str | None) -> str | None:
    """The first of these facts that is a time, otherwise the default."""
    for key in keys:
        if key in facts and (moment := known_moment(facts[key])):
            return moment
    return default


def is_stale(updated: str | None, now: float, threshold_minutes: int) -> bool:
    """Whether a row has had no update for too long; an unknown time counts as too long."""
    return updated is None or now - validate.seconds_of(updated) > threshold_minutes * 60


def is_completed(status: str) -> bool:
    """Whether a status word means that nothing is left to do; a failed task needs attention, so it is
    open."""
    return _WORDS[status] if status in _WORDS else foreign_statuses.means(status, "active-tasks") in _OVER


def real_next(row: ActiveRow) -> str | None:
    """The next step; None if it is only a placeholder."""
    text = _NEXT_PREFIX.sub("", row.next or "", count=1).strip()
    return None if text.casefold() in _NO_NEXT else text


def is_bookkeeping(row: ActiveRow) -> bool:
    """Whether a row only names a sub-agent session, with nothing to do."""
    names = (row.label, row.title)
    keyed = any(_SESSION_KEY.search(name) or name == row.subagent for name in names)
    return keyed and not row.completed and real_next(row) is None


def normalized(title: str) -> str:
    """A title for comparison, without case and punctuation."""
    return _NOT_WORDS.sub(" ", title.casefold()).strip()


# --- selecting --------------------------------------------------------------------------------------


def select(rows: Sequence[ActiveRow], projection: Projection) -> Selection:
    """The rows that a projection shows, by section and in order."""
    omitted: dict[str, int] = {}
    suppressed: list[ActiveRow] = []
    kept: list[ActiveRow] = []
    for row in rows:
        reason = _unreadable(row, projection) if projection.mode == "readable" else None
        if reason is None:
            kept.append(row)
        else:
            omitted[reason] = omitted.get(reason, 0) + 1
            suppressed.append(row)
    before = len(kept)
    if projection.mode == "readable":
        kept = _deduplicated(kept, projection.dedupe_by)
    if collapsed := before - len(kept):
        omitted["duplicates"] = collapsed
    sections: dict[str, list[ActiveRow]] = {"active": [], "stale": [], "completed": []}
    for row in sorted(kept, key=newest_first):
        sections["completed" if row.completed else "stale" if row.stale else "active"].append(row)
    limit = projection.max_rows
    for name, section in sections.items():
        if limit and len(section) > limit:
            omitted[f"{name} over the limit of {limit}"] = len(section) - limit
            del section[limit:]
    shown = {name: tuple(section) for name, section in sections.items()}
    return Selection(**shown, omitted=omitted, suppressed=tuple(suppressed), collapsed=collapsed)


def _unreadable(row: ActiveRow, projection: Projection) -> str | None:
    """Why a readable list omits a row; None if it does not."""
    title = row.title.strip()
    if projection.exclude_generic_title and title.casefold() == GENERIC_TITLE:
        return "with a placeholder title"
    if len(title) < projection.title_min_chars:
        return "with a short title"
    return "of sub-agents with no next step" if is_bookkeeping(row) else None


def _deduplicated(rows: list[ActiveRow], by: str) -> list[ActiveRow]:
    """Keep only the most recently updated of equal rows; in a tie, the completed one."""
    if by == "none":
        return rows
    best: dict[str, ActiveRow] = {}
    for row in rows:
        # A title that consists of punctuation equals no other.
        name = row.label if by == "label" else normalized(row.title) or f"\n{row.label}"
        other = best.get(name)
        if other is None or _weight(row) > _weight(other):
            best[name] = row
    return list(best.values())


def _weight(row: ActiveRow) -> tuple[str, bool]:
    return row.updated or "", row.completed


def newest_first(row: ActiveRow) -> tuple[float, str]:
    """The key to sort rows by their last update, newest first."""
    return -validate.seconds_of(row.updated) if row.updated else 0.0, row.label


# --- rendering --------------------------------------------------------------------------------------


def row_lines(row: ActiveRow) -> list[str]:
    """The lines of a row, without empty fields; unknown times are shown as Unknown."""
    title = encode.markdown_row(row.title)
    lines = [f"### [{encode.markdown_row(row.label, bracketed=True)}]: {title}".rstrip(" ")]
    for field, name in FIELDS.items():
        value: str | None = getattr(row, field)
        if value is None and field in ("started", "updated"):
            value = UNKNOWN
        if value and (shown := encode.markdown_row(value)):
            lines.append(f"- **{name}:** {shown}")
    return lines


def rendered(selection: Selection, projection: Projection, position: int | None = None) -> str:
    """The file, with a stamp in its last line: the position of the store that it shows, and a digest."""
    rows = (selection.active, selection.stale, selection.completed)
    sections = dict(zip(HEADINGS.values(), rows, strict=True))
    if not projection.sectioned:
        sections = {FLAT_HEADING: selection.active + selection.stale + selection.completed}
    parts = ["# Active tasks"]
    for heading, section in sections.items():
        if section:
            parts.append(f"## {heading}")
            parts += ["\n".join(row_lines(row)) for row in section]
    if len(parts) == 1:
        parts.append(f"## {next(iter(sections))}\n\n{EMPTY}")
    if selection.omitted:
        counts = ", ".join(f"{count} {reason}" for reason, count in selection.omitted.items())
        parts.append(f"{NOT_SHOWN}{counts}._")
    body = "\n\n".join(parts) + "\n"
    place = "" if position is None else f" store-position={position}"
    return f"{body}\n<!-- ringbolt: active-tasks{place} content={_digest(body)} -->\n"


def read_stamp(text: str) -> tuple[int | None, bool] | None:
    """The position of the store that a file shows, and whether the rest is unchanged since it was rendered.

    None if the file was not rendered by Ringbolt.
    """
    stamps = list(_STAMP.finditer(text))
    if not stamps:
        return None
    last = stamps[-1]
    as_rendered = not text[last.end() :].strip() and last[2] == _digest(text[: last.start()])
    return int(last[1]) if last[1] else None, as_rendered


def is_stamp(line: str) -> bool:
    """Whether a line is the stamp of a rendered file."""
    return _STAMP.match(line) is not None


def _digest(body: str) -> str:
    # Git and editors change line endings and trailing blanks on their own.
    plain = "\n".join(line.rstrip() for line in body.strip("\n\r\ufeff ").splitlines()).rstrip()
    return blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


# --- gateways ---------------------------------------------------------------------------------------


def answer(listed: ActiveTaskList) -> dict[str, Any]:
    """The list as JSON with the camel-case names that gateways use."""
    return _camel(listed.to_dict())


def _camel(value: Any) -> Any:
    if is_dict(value):
        return {_UNDERSCORE.sub(lambda m: m[1].upper(), name): _camel(part) for name, part in value.items()}
    return [_camel(inner) for inner in value] if is_list(value) else value
