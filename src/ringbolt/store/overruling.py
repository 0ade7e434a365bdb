"""The rule of trust: an event may hide only what came through its own channel or a less trusted one.

The rule looks at the rows that an event sets, so it holds for every operation, import and job alike. An event
that closes no record, replaces no text and ends no task is passed without a query.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..model import rules
from ..model.trust import HIDING_STATUSES, Overruled, hides, may_overrule
from .database import Row, placeholders
from .queries.steps import Steps
from .schema import EVENT_FROM, SOURCES

_DISPOSED = ("cancelled", "abandoned", "superseded")  # ends by which a request is given up, not answered
_KEPT_STATUSES = ("paused", *rules.ENDED)  # a status that the user chose stays until the user changes it
_DRAFT = "draft"  # in the metadata of a task that hooks began: its name was derived from the prompt
_HIDING_TABLES = frozenset(("records", "+records", "heads", "extras", "steps"))


class Overruling(Steps):
    """The part of a transaction that applies the rule of trust."""

    def channels_of(self, task_id: str, seqs: Iterable[int]) -> dict[int, str]:
        """The channel of some events of a task."""
        places, named = placeholders("seq", seqs)
        if not named:
            return {}
        sql = f"SELECT e.seq, o.channel{EVENT_FROM} WHERE e.task_id = :task_id AND e.seq IN ({places})"
        return {row[0]: row[1] for row in self._query(sql, {"task_id": task_id, **named})}

    def check_trust(self, head: Row, seq: int, channel: str, sets: Mapping[str, Any]) -> None:
        """Raise Overruled if an event of this channel would hide something of a more trusted one."""
        if channel == "user" or seq == 1 or _HIDING_TABLES.isdisjoint(sets):
            return
        self._check_records(head, seq, channel, sets)
        self._check_variables(head, channel, sets)
        heads: Mapping[str, Any] = sets.get("heads", {})
        if "status" in heads or heads.get("archived_at"):
            self._check_status(head, channel, heads)
        texts = self._kept_texts(head, channel, sets)
        steps = self._kept_steps(head, channel, sets.get("steps", {}))
        if texts or steps:
            names = [column.replace("_", " ") for _, column in texts]
            names += dict.fromkeys(f"step {item}" for item, _ in steps)
            raise Overruled(head["task_id"], f"{', '.join(names)}", whole=False, texts=texts, steps=steps)

    def _check_records(self, head: Row, seq: int, channel: str, sets: Mapping[str, Any]) -> None:
        """No entry, message or wait of a more trusted channel may be closed."""
        ends = {
            int(number): row["status"]
            for name in ("records", "+records")
            for number, row in sets.get(name, {}).items()
            if row.get("status") in HIDING_STATUSES and int(number) != seq
        }
        if not ends:
            return
        places, named = placeholders("seq", ends)
        sql = (
            f"SELECT e.seq, o.channel, r.type{EVENT_FROM}"
            " LEFT JOIN records r ON r.task_id = e.task_id AND r.seq = e.seq"
            f" WHERE e.task_id = :task_id AND e.seq IN ({places}) ORDER BY e.seq"
        )
        for number, author, kind in self._query(sql, {"task_id": head["task_id"], **named}):
            # Without a record yet, it is a message that is taken back.
            hidden = hides(kind, ends[number]) if kind else True
            if hidden and not may_overrule(channel, author):
                raise Overruled(head["task_id"], f"#{number}", author=author)

    def _check_variables(self, head: Row, channel: str, sets: Mapping[str, Any]) -> None:
        """No variable of a more trusted channel may get a second value: views show the newest."""
        for row in sets.get("+records", {}).values():
            if row.get("type") != "variable" or row.get("status") != "active":
                continue
            sql = (
                f"SELECT e.seq, o.channel{EVENT_FROM}"
                " JOIN records r ON r.task_id = e.task_id AND r.seq = e.seq"
                " WHERE e.task_id = :task_id AND r.type = 'variable' AND r.status = 'active' AND r.key = :key"
            )
            for number, author in self._query(sql, {"task_id": head["task_id"], "key": row.get("key")}):
                if not may_overrule(channel, author):
                    raise Overruled(head["task_id"], f"#{number}", author=author)

    def _check_status(self, head: Row, channel: str, heads: Mapping[str, Any]) -> None:
        """Only the user may replace a status that the user set, or give up a task that the user asked for."""
        old, new = head["status"], heads.get("status", head["status"])
        task_id = head["task_id"]
        if channel == "system":
            return  # upkeep rests, archives and ends tasks by age; that can be undone and hides no words
        if new != old and old in _KEPT_STATUSES and (cite := head.get("status_seq")):
            author = self.channels_of(task_id, [cite]).get(cite)
            if not _goes_on(head, author, heads) and not may_overrule(channel, author):
                raise Overruled(task_id, f"the status {old}", author=author or "user")
        gives_up = new in _DISPOSED and old not in rules.ENDED
        archives = bool(heads.get("archived_at")) and new in rules.OPEN
        if gives_up or archives:
            author = self.channels_of(task_id, [1]).get(1)
            if not may_overrule(channel, author):
                raise Overruled(task_id, "the request", author=author or "user")

    def _kept_texts(self, head: Row, channel: str, sets: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The texts of a task that an event may not replace, as table and column."""
        task_id = head["task_id"]
        cites: dict[tuple[str, str], int] = {}
        heads: Mapping[str, Any] = sets.get("heads", {})
        for column, cite in SOURCES["heads"].items():
            # Without its source, a text could be replaced through any channel.
            changes = heads.get(column, head.get(column)) != head.get(column) or cite in heads
            if changes and column != "status" and head.get(column) and head.get(cite):
                cites["heads", column] = head[cite]
        if not {"goal", "goal_seq"}.isdisjoint(sets.get("extras", {})):
            row = self._query("SELECT goal, goal_seq FROM extras WHERE task_id = :id", {"id": task_id})
            if row and row[0][0] and row[0][1]:
                cites["extras", "goal"] = row[0][1]
        cites = {name: seq for name, seq in cites.items() if _may_be_above(head, channel, seq)}
        authors = self.channels_of(task_id, cites.values())
        kept = [name for name, seq in cites.items() if not may_overrule(channel, authors.get(seq))]
        review = ("heads", "attention")
        if review in kept and _goes_on(head, authors.get(cites[review]), heads):
            kept.remove(review)
        if ("heads", "name") in kept and self._is_draft(task_id):
            kept.remove(("heads", "name"))
        return kept

    def _is_draft(self, task_id: str) -> bool:
        rows = self._query("SELECT metadata FROM extras WHERE task_id = :id", {"id": task_id})
        return bool(rows) and _DRAFT in json.loads(rows[0][0] or "{}")

    def _kept_steps(
        self, head: Row, channel: str, changes: Mapping[str, Mapping[str, Any]]
    ) -> list[tuple[str, str]]:
        """The texts of steps that an event may not replace, and the steps that it may not drop."""
        cites = SOURCES["steps"]
        texts = {**{name: name for name in cites}, **{cite: name for name, cite in cites.items()}}
        wanted = {
            item: columns
            for item, row in changes.items()
            if (columns := [name for name in row if name in texts or _drops(name, row[name])])
        }
        if not wanted or not _may_be_above(head, channel, 1):
            return []
        names = ("item_id", *cites, *cites.values())
        places, named = placeholders("item", wanted)
        rows = self.rows(
            names,
            f"SELECT {', '.join(names)} FROM steps WHERE task_id = :task_id AND item_id IN ({places})",
            task_id=head["task_id"],
            **named,
        )
        found: dict[tuple[str, str], int] = {}
        for row in rows:
            for column in wanted[row["item_id"]]:
                text = texts.get(column, "title")
                if row[text] and row[cites[text]] and changes[row["item_id"]][column] != row.get(column):
                    found[row["item_id"], column] = row[cites[text]]
        found = {name: seq for name, seq in found.items() if _may_be_above(head, channel, seq)}
        authors = self.channels_of(head["task_id"], found.values())
        return [name for name, seq in found.items() if not may_overrule(channel, authors.get(seq))]


def _drops(column: str, value: Any) -> bool:
    """Whether a change of a step takes it off the plan."""
    return (column == "dropped_in" and value is not None) or (column == "status" and value == "cancelled")


def _goes_on(head: Row, author: str | None, heads: Mapping[str, Any]) -> bool:
    """Whether an event shows work on a task that upkeep had paused for being idle.

    That pause was only an observation, so a sign of work through any channel may end it.
    """
    found_idle = author == "system" and head["status"] == "paused" and head["reason"] in rules.RESTING
    return found_idle and heads.get("status") == "active" and not heads.get("attention")


def _may_be_above(head: Row, channel: str, seq: int) -> bool:
    """Whether the event that set a text may have come through a more trusted channel.

    Above an agent there is only the user, and `user_seq` is the last event with which the user set a text.
    """
    return seq <= head["user_seq"] if channel in ("agent", "system") else True
