"""Find what came from a source: its own events, and later events that repeat what they say.

Removing only the source's own events would not forget anything: a summary, an undo, a wait's result or a copy
of the metadata says the same again, written by someone else. Such events "carry along" what is forgotten, and
so may events that repeat those. The search therefore continues until it finds no more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..extract.known_entries import AGENT
from ..model import validate
from ..model.errors import InvalidInput, NotFound, shown
from ..model.types import is_dict, is_list
from ..store import forgetting
from ..store.tombstones import WAIT_STATE, all_texts, has_content, set_texts, strings, tombstone
from ..store.tx import Row, Tx
from ..waits.state import KIND as WAIT
from ..waits.state import REASON

ORIGINS = forgetting.ORIGINS
KINDS = (*ORIGINS, "host", "correlation", "task", "event", "import", "file", "url", "text")
# Characters: shorter texts are too common to conclude that one was copied from the other.
TELLING = 6
AUDIT = "forgotten"  # the type of the event that records a forgetting

# What hosts call the id of a session.
_SESSION_FIELDS = ("session_id", "conversation_id", "sessionId", "session")


class Source:
    """A source as callers write it: `session:S1`, `agent:codex`, `task:7k3m`, `text:hunter2`, …"""

    def __init__(self, source: Any) -> None:
        kind, separator, value = validate.line("source", source, 2000).partition(":")
        self.kind = kind.strip().lower()
        self.value = value.strip() if self.kind != "text" else value
        if not separator or self.kind not in KINDS or not self.value.strip():
            raise InvalidInput(
                "invalid_argument",
                f"{shown(source)} is not a source.",
                f"Use KIND:NAME, for example session:S1; the kinds are {', '.join(KINDS)}.",
                allowed=list(KINDS),
            )
        if self.kind == "text" and len(self.value) < TELLING:
            raise InvalidInput(
                "invalid_argument",
                f"A text of {len(self.value)} characters would match too much.",
                f"Give at least {TELLING} characters of what to forget.",
            )

    def events(self, tx: Tx, find: Callable[[str], str]) -> list[Row]:
        """All events that came from it, including those that were forgotten before."""
        kind, value = self.kind, self.value
        if kind in ORIGINS or kind == "host":
            return forgetting.events_by_origin(tx, "agent" if kind == "host" else kind, value)
        if kind == "correlation":
            return forgetting.events_by_correlation(tx, value)
        if kind in ("task", "event"):
            return self._of_task(tx, find)
        if kind == "import":
            return [
                row
                for task in forgetting.tasks_with_tag(tx, value)
                for row in forgetting.events_of_task(tx, task)
            ]
        return [row for row in forgetting.events_containing(tx, value) if self._in(all_texts(row))]

    def _of_task(self, tx: Tx, find: Callable[[str], str]) -> list[Row]:
        name, separator, number = self.value.partition("#")
        rows = forgetting.events_of_task(tx, find(name))
        if self.kind == "task":
            return rows
        if not separator or not number.isdecimal():
            raise InvalidInput(
                "invalid_argument",
                f"{shown(self.value)} is not an event.",
                "Use TASK#SEQ, for example 7k3m#12.",
            )
        found = [row for row in rows if row["seq"] == int(number[:18])]
        if not found:
            raise NotFound(
                "record_not_found", f"There is no event {shown(self.value)}.", "task_thread lists events."
            )
        return found

    def _in(self, texts: Iterable[str]) -> bool:
        """Whether one of the texts is the path of the file, or contains the URL or words."""
        return any(text == self.value if self.kind == "file" else self.value in text for text in texts)

    def is_of(self, line: Mapping[str, Any]) -> bool:
        """Whether an event that waits in the journal, in the host's own form, came from it."""
        told: Any = line.get("told")
        if self.kind in ("agent", "host"):
            return line.get("host") == self.value
        if self.kind == "session":
            return self.value in _sessions(told)
        if self.kind in ("file", "url", "text"):
            return self._in(strings(line))
        return False


def _sessions(told: Any) -> set[str]:
    """The session that an event names, by itself and with the sub-agent that it is about."""
    if not is_dict(told):
        return set()
    names = {str(told[field]) for field in _SESSION_FIELDS if told.get(field)}
    return names | {f"{name}/{told['agent_id']}" for name in names if told.get("agent_id")}


def unknown_source(source: Source) -> NotFound:
    """The error for a source that wrote nothing."""
    return NotFound(
        "record_not_found",
        f"Nothing here came from the {source.kind} {shown(source.value)}.",
        "task_event shows who wrote an event, from which session and through which channel.",
    )


class Selection:
    """The events of one task that will be forgotten: `own` of the source, and those `carried` along.

    `carried` is the closure of "repeats what is forgotten": each event found adds its texts to what the
    others are compared with.
    """

    def __init__(self, tx: Tx, task_id: str, seqs: Iterable[int]) -> None:
        self.task_id = task_id
        self.rows = {row["seq"]: row for row in forgetting.iterate_events(tx, task_id)}
        self.own = {seq for seq in seqs if has_content(self.rows[seq])}
        # Events that were forgotten earlier have no text to compare, but others still cite their numbers.
        self._known = set(seqs)
        self.texts: list[str] = []
        self._whole: set[str] = set()
        self._metadata: dict[str, set[str]] = {}
        # Who set a piece of metadata first. Metadata are written as a whole, so every later change repeats
        # all of it; only the first event tells where a piece came from.
        self._first: dict[tuple[str, str], int] = {}
        for seq, row in self.rows.items():
            for pair in _metadata(row):
                self._first.setdefault(pair, seq)
        for seq in sorted(self.own):
            self._note(self.rows[seq])
        self.carried: set[int] = set()
        while found := [seq for seq in self._rest() if self._carries(self.rows[seq])]:
            for seq in found:
                self.carried.add(seq)
                self._known.add(seq)
                self._note(self.rows[seq])

    @property
    def seqs(self) -> list[int]:
        """The numbers of all events to forget, in order."""
        return sorted(self.own | self.carried)

    def tombstones(self) -> dict[int, Row]:
        """The tombstone of each event."""
        return {seq: tombstone(self.rows[seq]) for seq in self.seqs}

    def holds(self, texts: Iterable[str]) -> bool:
        """Whether one of the texts was copied from what is forgotten, or contains a part of it."""
        return any(
            len(text) >= TELLING
            and any(text in own or (len(own) >= TELLING and own in text) for own in self.texts)
            for text in texts
        )

    def _note(self, row: Row) -> None:
        others: set[str] = set()
        for name, value in _metadata(row):
            if self._first[name, value] in self.own:
                self._metadata.setdefault(name, set()).add(value)
            else:
                others.update((name, *strings(json.loads(value))))
        self.texts += [text for text in all_texts(row, keys=False) if text not in others]
        self._whole.update(text for text in set_texts(_sets(row)) if text not in others)

    def _rest(self) -> list[int]:
        return [
            seq
            for seq, row in self.rows.items()
            if seq not in self.own and seq not in self.carried and has_content(row)
        ]

    def _carries(self, row: Row) -> bool:
        """Whether someone else's event repeats what is forgotten, because it was derived from it."""
        if row["event_type"] == AUDIT:
            return False
        data = json.loads(row["data"])
        cited: Any = data.get("from")
        if is_list(cited) and self._known.intersection(one for one in cited if isinstance(one, int)):
            return True
        # The result of a wait repeats its target and condition.
        if row["ref_seq"] in self._known and row["event_type"].startswith("wait."):
            return True
        # An undo restores whole texts.
        if row["event_type"] == "undone" and not self._whole.isdisjoint(set_texts(_sets(row))):
            return True
        if row["agent"] == AGENT and self.holds([row["text"] or ""]):
            return True
        # Metadata are written as a whole: a change of one name repeats the others.
        return any(self._is_gone(name, value) for name, value in _metadata(row))

    def _is_gone(self, name: str, value: str) -> bool:
        return value in self._metadata.get(name, ())

    def spared(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """The metadata of a task without what is forgotten."""
        return {
            name: value for name, value in metadata.items() if not self._is_gone(name, validate.dumps(value))
        }


def _sets(row: Row) -> dict[str, Any]:
    return json.loads(row["sets"]) if row["sets"] else {}


def _metadata(row: Row) -> list[tuple[str, str]]:
    """The metadata that an event sets, as names and JSON values; without what waits keep there."""
    if not row["sets"] or '"metadata"' not in row["sets"]:
        return []
    sets = _sets(row)
    extras: dict[str, Any] = sets.get("+extras") or sets.get("extras") or {}
    found: Any = extras.get("metadata")
    found = json.loads(found) if isinstance(found, str) else found
    if not is_dict(found):
        return []
    return [(name, validate.dumps(value)) for name, value in found.items() if name not in WAIT_STATE]


def patterns_from(tx: Tx, selection: Selection) -> list[Row]:
    """The patterns that were learned from what is forgotten."""
    return [
        row
        for row in forgetting.patterns_of(tx, selection.task_id)
        if (data := json.loads(row["data"])).get("seq") in selection.seqs
        or selection.holds(strings(data, keys=False))
    ]


def jobs_about(tx: Tx, selection: Selection) -> list[int]:
    """The jobs that are about forgotten events."""
    gone = {str(seq) for seq in selection.seqs}
    return [
        row["id"]
        for row in forgetting.jobs_of(tx, selection.task_id)
        if row["key"] in gone or selection.holds(strings([row["data"], row["error"]], keys=False))
    ]


# --- waits ------------------------------------------------------------------------------------------


def resumed(tx: Tx, head: Row) -> dict[str, Any]:
    """The changes of a waiting task whose waits are all forgotten: it becomes active."""
    waits = head["status"] == "waiting" and head["reason"] == REASON
    if not waits or tx.record_count(head["task_id"], WAIT, "watching", 1):
        return {}
    return {"status": "active", "reason": None}


def without_waits(metadata: Mapping[str, Any], selection: Selection, now: str) -> dict[str, Any]:
    """The metadata of a task without active waits that are forgotten."""
    gone = [f"{selection.task_id}#{seq}" for seq in selection.seqs]
    known: Any = metadata.get("active_wait_ids")
    left = [one for one in known if one not in gone] if is_list(known) else known
    if left == known:
        return dict(metadata)
    ended = {"last_wait_state": "cancelled", "last_wait_event_at": now}
    return {**metadata, "active_wait_ids": left, **ended}
