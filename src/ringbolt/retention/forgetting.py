"""Find everything from a source: its own events, and later events that repeat their content.

Removing only the source's own events would forget nothing: a summary, an undo, a wait's result or a copy of
the metadata repeats the content under another author. Such events "carry" forgotten content, and other events
may repeat them in turn. So the search continues until it finds no more.
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
SHORTEST_MATCH = 6
AUDIT = "forgotten"  # the type of the event that records a forgetting

# The names that hosts use for the id of a session.
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
        if self.kind == "text" and len(self.value) < SHORTEST_MATCH:
            raise InvalidInput(
                "invalid_argument",
                f"A text of {len(self.value)} characters would match too much.",
                f"Use at least {SHORTEST_MATCH} characters.",
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
        matches = [row for row in rows if row["seq"] == int(number[:18])]
        if not matches:
            raise NotFound(
                "record_not_found", f"There is no event {shown(self.value)}.", "task_thread lists events."
            )
        return matches

    def _in(self, texts: Iterable[str]) -> bool:
        """Whether one of the texts is the path of the file, or contains the URL or words."""
        return any(text == self.value if self.kind == "file" else self.value in text for text in texts)

    def is_of(self, line: Mapping[str, Any]) -> bool:
        """Whether an event in the journal, in the host's own format, came from it."""
        event: Any = line.get("payload")
        if self.kind in ("agent", "host"):
            return line.get("host") == self.value
        if self.kind == "session":
            return self.value in _sessions(event)
        if self.kind in ("file", "url", "text"):
            return self._in(strings(line))
        return False


def _sessions(event: Any) -> set[str]:
    """The session of a host's event, by itself and with its sub-agent."""
    if not is_dict(event):
        return set()
    names = {str(event[field]) for field in _SESSION_FIELDS if event.get(field)}
    return names | {f"{name}/{event['agent_id']}" for name in names if event.get("agent_id")}


def unknown_source(source: Source) -> NotFound:
    """The error for a source that wrote nothing."""
    return NotFound(
        "record_not_found",
        f"This store has nothing from the {source.kind} {shown(source.value)}.",
        "task_event shows who wrote an event, from which session and through which channel.",
    )


class Selection:
    """The events of one task that will be forgotten: `own` of the source, and `carried` ones that repeat
    them.

    `carried` is a closure: each event that is found adds its texts to those that the others are compared
    with.
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
        # The first event that set each piece of metadata. Metadata is written as a whole, so every later
        # change repeats all of it; only the first event tells where a piece came from.
        self._first: dict[tuple[str, str], int] = {}
        for seq, row in self.rows.items():
            for pair in _metadata(row):
                self._first.setdefault(pair, seq)
        for seq in sorted(self.own):
            self._note(self.rows[seq])
        self.carried: set[int] = set()
        while carried := [seq for seq in self._rest() if self._carries(self.rows[seq])]:
            for seq in carried:
                self.carried.add(seq)
                self._known.add(seq)
                self._note(self.rows[seq])

    @property
    def known(self) -> frozenset[int]:
        """The numbers of all events to forget, and of those that were forgotten before."""
        return frozenset(self._known)

    @property
    def seqs(self) -> list[int]:
        """The numbers of all events to forget, in order."""
        return sorted(self.own | self.carried)

    def tombstones(self) -> dict[int, Row]:
        """The tombstone of each event."""
        return {seq: tombstone(self.rows[seq]) for seq in self.seqs}

    def holds(self, texts: Iterable[str]) -> bool:
        """Whether one of the texts was copied from forgotten content, or contains a part of it."""
        return any(
            len(text) >= SHORTEST_MATCH
            and any(text in own or (len(own) >= SHORTEST_MATCH and own in text) for own in self.texts)
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
        """Whether an event of another source was derived from forgotten content and repeats it."""
        if row["event_type"] == AUDIT:
            return False
        data = json.loads(row["data"])
        cited: Any = data.get("from")
        if is_list(cited) and self._known.intersection(seq for seq in cited if isinstance(seq, int)):
            return True
        # The result of a wait repeats its target and condition.
        if row["ref_seq"] in self._known and row["event_type"].startswith("wait."):
            return True
        # An undo restores whole texts.
        if row["event_type"] == "undone" and not self._whole.isdisjoint(set_texts(_sets(row))):
            return True
        if row["agent"] == AGENT and self.holds([row["text"] or ""]):
            return True
        # Metadata is written as a whole: a change of one name repeats the others.
        return any(self._is_gone(name, value) for name, value in _metadata(row))

    def _is_gone(self, name: str, value: str) -> bool:
        return value in self._metadata.get(name, ())

    def spared(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """The metadata of a task without forgotten values."""
        return {
            name: value for name, value in metadata.items() if not self._is_gone(name, validate.dumps(value))
        }


def copies(tx: Tx, selection: Selection) -> dict[str, set[int]]:
    """The events of other tasks that copy what is forgotten of a task, by task."""
    found: dict[str, set[int]] = {}
    gone = {f"{selection.task_id}#{seq}" for seq in selection.known}
    for row in forgetting.copied_from(tx, selection.task_id):
        cited: Any = json.loads(row["data"]).get("from")
        # Copied steps name the task only: several events may have written them.
        copied = cited in gone or (cited == selection.task_id and selection.holds(set_texts(_sets(row))))
        if isinstance(cited, str) and copied:
            found.setdefault(row["task_id"], set()).add(row["seq"])
    return found


def originals(tx: Tx, copied: Mapping[str, Iterable[int]]) -> list[tuple[str, int]]:
    """The events of other tasks that some events are copies of."""
    found: list[tuple[str, int]] = []
    for task_id, seqs in copied.items():
        for row in (tx.event(task_id, seq) for seq in seqs):
            cited: Any = json.loads(row["data"]).get("from") if row else None
            name, _, number = cited.partition("#") if isinstance(cited, str) else ("", "", "")
            if number.isdecimal() and tx.event(name, int(number[:18])):
                found.append((name, int(number[:18])))
    return found


def _sets(row: Row) -> dict[str, Any]:
    return json.loads(row["sets"]) if row["sets"] else {}


def _metadata(row: Row) -> list[tuple[str, str]]:
    """The metadata that an event sets, as names and JSON values; without the state of waits."""
    if not row["sets"] or '"metadata"' not in row["sets"]:
        return []
    sets = _sets(row)
    extras: dict[str, Any] = sets.get("+extras") or sets.get("extras") or {}
    metadata: Any = extras.get("metadata")
    metadata = json.loads(metadata) if isinstance(metadata, str) else metadata
    if not is_dict(metadata):
        return []
    return [(name, validate.dumps(value)) for name, value in metadata.items() if name not in WAIT_STATE]


def patterns_from(tx: Tx, selection: Selection) -> list[Row]:
    """The patterns that were learned from forgotten events."""
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
    """The changes to a waiting task whose waits are all forgotten: it becomes active."""
    waits = head["status"] == "waiting" and head["reason"] == REASON
    if not waits or tx.record_count(head["task_id"], WAIT, "watching", 1):
        return {}
    return {"status": "active", "reason": None}


def without_waits(metadata: Mapping[str, Any], selection: Selection, now: str) -> dict[str, Any]:
    """The metadata of a task without active waits that are forgotten."""
    gone = [f"{selection.task_id}#{seq}" for seq in selection.seqs]
    known: Any = metadata.get("active_wait_ids")
    left = [wait_id for wait_id in known if wait_id not in gone] if is_list(known) else known
    if left == known:
        return dict(metadata)
    ended = {"last_wait_state": "cancelled", "last_wait_event_at": validate.seconds_of(now)}
    return {**metadata, "active_wait_ids": left, **ended}
