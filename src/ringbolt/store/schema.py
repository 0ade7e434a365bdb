"""The tables as the code sees them: columns, keys, and which event set which text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model import rules
from ..model.types import Origin


def _columns(names: str) -> list[str]:
    return names.split()


HEADS = _columns(
    "task_id root_id last_seq last_hash position version kind name status phase reason attention"
    " next_step blockers done total current_item next_item plan_version plan_seq workspace_path"
    " repository session_id focus parent_id finish_seq messages actions created_at updated_at"
    " plan_generated_at replanned_at execution_started_at synthesis_started_at completed_at"
    " archived_at name_seq next_seq blockers_seq attention_seq status_seq user_seq"
)
EXTRAS = _columns("task_id goal context acceptance approval_mode callback_url metadata goal_seq callback_seq")
STEPS = _columns(
    "task_id item_id ordinal title status stage basis evidence cause_seq note active_issue"
    " depends_on detail plan_version dropped_in replaced_by started_at completed_at"
    " duration_seconds version title_seq note_seq issue_seq"
)
RECORDS = _columns("task_id seq type status item_id key ref_seq ended_at version channel")
LABELS = _columns("task_id seq kind value")
FILES = _columns("task_id path change seq at")
LINKS = _columns("task_id kind target seq status")
CLAIMS = _columns("task_id item_id holder token status reason expires_at")
KEYS = _columns("task_id key operation arguments seq result")
EVENTS = _columns(
    "task_id seq event_type timestamp item_id ref_seq text data sets origin_id correlation_id hash forgotten"
)
ORIGINS = _columns("principal agent channel session claimed")

# The state tables that events change, with the columns that, after task_id, identify a row.
STATE: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "heads": (HEADS, ()),
    "extras": (EXTRAS, ()),
    "steps": (STEPS, ("item_id",)),
    "records": (RECORDS, ("seq",)),
    "labels": (LABELS, ("seq", "kind", "value")),
    "files": (FILES, ("path",)),
    "links": (LINKS, ("kind", "target")),
    "claims": (CLAIMS, ("item_id",)),
    "keys": (KEYS, ("key",)),
}
# The texts of the state that views show, each with the column that names the event that set it, so that a
# view can say who wrote it and through which channel.
SOURCES: dict[str, dict[str, str]] = {
    "heads": {
        "name": "name_seq",
        "next_step": "next_seq",
        "blockers": "blockers_seq",
        "attention": "attention_seq",
        "status": "status_seq",
    },
    "extras": {"goal": "goal_seq", "callback_url": "callback_seq"},
    "steps": {"title": "title_seq", "note": "note_seq", "active_issue": "issue_seq"},
}
# Columns of the state that hold whole numbers.
NUMBERS = frozenset(
    "seq ref_seq token ordinal cause_seq plan_version dropped_in plan_seq focus finish_seq version last_seq"
    " position done total messages actions user_seq".split()
) | {cite for cites in SOURCES.values() for cite in cites.values()}
# Columns of heads that `append` maintains itself; no event may set them.
MAINTAINED = frozenset(
    "task_id last_seq last_hash position version done total current_item next_item messages"
    " actions updated_at user_seq".split()
)
# Columns that change without an event, so folding the events again does not restore them: `position` differs
# between stores, and heartbeats move `expires_at`.
NOT_FOLDED = {"heads": {"position"}, "claims": {"expires_at"}}

# Events about a task that are not work on it: they do not move `updated_at` and are not shown as recent.
BOOKKEEPING = ("model.used", "drill.scored", "task.upkeep", "task.stuck", "claim.reclaimed", "forgotten")
# The agent name of Ringbolt's own events outside any session. They do not mean that someone works on the
# task.
OWN_AGENT = "ringbolt"
MESSAGE_TYPES = frozenset(("message", "task.updated", "step.updated", "task.finished"))


def is_activity(event_type: str, origin: Origin) -> bool:
    """Whether an event shows that someone works on its task; `updated_at` is the time of the last one."""
    return event_type not in BOOKKEEPING and (origin.agent != OWN_AGENT or origin.session != "")


def row_key(table: str, row: Mapping[str, Any]) -> str:
    """The key of a task's row in a state table, as one text."""
    return "\n".join(str(row[column]) for column in STATE[table][1])


# --- pieces of SQL ----------------------------------------------------------------------------------


def insert(table: str, columns: Sequence[str], tail: str = "") -> str:
    """The INSERT of a row whose cells are parameters."""
    names = ", ".join(columns)
    values = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({values}){tail}"


def quoted(words: Sequence[str]) -> str:
    """Our own words as a list of SQL literals."""
    return ", ".join(f"'{word}'" for word in words)


def escape_like(text: str) -> str:
    """A text for a LIKE pattern with `ESCAPE '!'`."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


# After an alias too: f"h.{IS_OPEN}".
IS_OPEN = f"status IN ({quoted(rules.OPEN)})"
# `is_activity` of an event `e` and its origin `o`.
ACTIVITY = f"e.event_type NOT IN ({quoted(BOOKKEEPING)}) AND NOT (o.agent = '{OWN_AGENT}' AND o.session = '')"
EVENT_ROW = f"SELECT {', '.join(f'e.{name}' for name in EVENTS)}, " + ", ".join(
    f"o.{name}" for name in ORIGINS
)
EVENT_FROM = " FROM events e JOIN origins o ON o.id = e.origin_id"
EVENT_NAMES = [*EVENTS, *ORIGINS]
