"""All rows that views of a task show, read in one batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import sessions
from ..database import Row
from ..schema import (
    BOOKKEEPING,
    CLAIMS,
    EVENT_FROM,
    EVENT_NAMES,
    EVENT_ROW,
    EXTRAS,
    FILES,
    HEADS,
    LABELS,
    LINKS,
    RECORDS,
    SOURCES,
    STEPS,
    quoted,
)
from . import distilled
from .claims_keys import SELECT_CLAIMS
from .heads import SELECT_EXTRAS, SELECT_HEAD
from .records import SELECT_RECORDS, Records, join_events
from .steps import SELECT_STEPS

TaskRows = dict[str, list[Row]]

SELECT_LINKS = (
    f"SELECT {', '.join(LINKS)} FROM links WHERE task_id = :task_id AND status = 'active'"
    " ORDER BY seq, kind, target"
)
_SELECT_FILES = (
    f"SELECT {', '.join(FILES)} FROM files WHERE task_id = :task_id AND change <> 'undone'"
    " ORDER BY seq DESC, path LIMIT :files"
)
_SELECT_LABELS = "SELECT seq, kind, value FROM labels WHERE task_id = :task_id AND seq "
_SELECT_CHANNELS = f"SELECT e.seq, o.channel{EVENT_FROM} WHERE e.task_id = :task_id AND e.seq "
# UNION, not UNION ALL: the titles of thousands of steps come from a few events.
_SOURCE_SEQS = " UNION ".join(
    f"SELECT {cite} FROM {table} WHERE task_id = :task_id AND {cite} IS NOT NULL"
    for table, cites in SOURCES.items()
    for cite in cites.values()
)
_RECENT = ("seq", "type", "at", "text", "channel", "step", "status")
_SELECT_RECENT = (
    "SELECT e.seq, e.event_type, e.timestamp, substr(e.text, 1, 1000), o.channel, e.item_id, r.status"
    " FROM (SELECT seq, event_type, timestamp, text, item_id, origin_id, task_id, ref_seq FROM events"
    f" WHERE task_id = :task_id AND event_type NOT IN ({quoted(BOOKKEEPING)})"
    " ORDER BY seq DESC LIMIT :recent) e"
    " JOIN origins o ON o.id = e.origin_id"
    " LEFT JOIN records r ON r.task_id = e.task_id AND r.seq = e.seq ORDER BY e.seq DESC"
)
_GOALS = ("target", "name", "status", "reason", "channel", "met", "total")
_SELECT_GOALS = (
    "SELECT g.target, h.name, h.status, h.reason, o.channel,"
    " (SELECT count(*) FROM records r WHERE r.task_id = h.task_id AND r.type = 'criterion'"
    " AND r.status IN ('met', 'waived')),"
    " (SELECT count(*) FROM records r WHERE r.task_id = h.task_id AND r.type = 'criterion'"
    " AND r.status <> 'invalidated')"
    " FROM links g LEFT JOIN heads h ON h.task_id = g.target AND h.kind = 'goal'"
    " LEFT JOIN events e ON e.task_id = h.task_id AND e.seq = h.name_seq"
    " LEFT JOIN origins o ON o.id = e.origin_id"
    " WHERE g.task_id = :task_id AND g.kind = 'goal' AND g.status = 'active' ORDER BY g.seq, g.target LIMIT 5"
)
# Instructions that began new requests, and the state of the request before each.
_REQUESTS = ("seq", "at", "text", "channel", "before")
_SELECT_REQUESTS = (
    "SELECT e.seq, e.timestamp, e.text, o.channel,"
    " (SELECT min(t.value) FROM labels t WHERE t.task_id = e.task_id AND t.seq = e.seq AND t.kind = 'tag'"
    " AND substr(t.value, 1, 9) = 'previous ')"
    " FROM labels l JOIN records r ON r.task_id = l.task_id AND r.seq = l.seq AND r.status = 'active'"
    " JOIN events e ON e.task_id = l.task_id AND e.seq = l.seq JOIN origins o ON o.id = e.origin_id"
    " WHERE l.task_id = :task_id AND l.seq > 0 AND l.kind = 'tag' AND l.value = 'request'"
    " AND r.type = 'user_instruction' ORDER BY e.seq DESC LIMIT 20"
)
_HELPERS = ("task_id", "name", "session_id", "created_at", "updated_at", "channel")
_SELECT_HELPERS = (
    "SELECT h.task_id, h.name, h.session_id, h.created_at, h.updated_at, o.channel FROM heads h"
    " LEFT JOIN events e ON e.task_id = h.task_id AND e.seq = h.name_seq"
    " LEFT JOIN origins o ON o.id = e.origin_id"
    " WHERE h.parent_id = :task_id AND h.status = 'active' AND h.kind = 'task' AND h.session_id IS NOT NULL"
    " AND h.archived_at IS NULL ORDER BY h.created_at, h.task_id LIMIT 20"
)
# The session of a task, and the others of its workspace that have not ended, each with its own open task.
_SESSIONS = (*sessions.NAMES, "task_id", "name", "step", "channel")
_SELECT_SESSIONS = (
    f"SELECT {', '.join(f's.{name}' for name in sessions.NAMES)}, h.task_id, h.name, c.title, o.channel"
    " FROM heads t JOIN sessions s ON s.session_id = t.session_id"
    " OR (s.workspace_path = t.workspace_path AND s.ended_at IS NULL)"
    " LEFT JOIN heads h ON h.task_id = (SELECT task_id FROM heads WHERE session_id = s.session_id"
    " AND kind = 'task' AND root_id = task_id AND status IN ('active', 'waiting') AND archived_at IS NULL"
    " ORDER BY focus DESC, task_id LIMIT 1)"
    " LEFT JOIN steps c ON c.task_id = h.task_id AND c.item_id = h.current_item"
    " LEFT JOIN events e ON e.task_id = h.task_id AND e.seq = h.name_seq"
    " LEFT JOIN origins o ON o.id = e.origin_id"
    " WHERE t.task_id = :task_id ORDER BY s.seen_at DESC, s.session_id LIMIT 30"
)
_SELECT_SESSION = (
    f"SELECT {', '.join(sessions.NAMES)} FROM sessions"
    " WHERE session_id = (SELECT session_id FROM heads WHERE task_id = :task_id)"
)
_SELECT_INFERRED_PLAN = f"{distilled.SELECT} AND kind = 'inferred_plan'"


# The messages that completed the last steps: in the event that did it, or in the one it was inferred from.
_REPORTS = ("step", "seq", "type", "at", "text", "channel")
_SELECT_REPORTS = (
    "SELECT s.item_id, coalesce(m.seq, e.seq), coalesce(m.event_type, e.event_type),"
    " coalesce(m.timestamp, e.timestamp), substr(coalesce(m.text, e.text), 1, 1000), o.channel"
    " FROM (SELECT item_id, cause_seq FROM steps WHERE task_id = :task_id AND status = 'completed'"
    " AND dropped_in IS NULL AND cause_seq IS NOT NULL ORDER BY cause_seq DESC LIMIT 30) s"
    " JOIN events e ON e.task_id = :task_id AND e.seq = s.cause_seq"
    " LEFT JOIN events m ON m.task_id = e.task_id AND m.seq = e.ref_seq AND e.event_type = 'step.inferred'"
    " JOIN origins o ON o.id = coalesce(m.origin_id, e.origin_id)"
    " WHERE coalesce(m.text, e.text) IS NOT NULL"
)


class TaskReads(Records):
    """Reading a whole task."""

    def task_rows(
        self, task_id: str, wanted: Sequence[tuple[str, str, int]], files: int, recent: int = 0
    ) -> TaskRows:
        """Every row that views of a task show, by the name of its table.

        `wanted` selects records as (type, status, maximum number); the newest are returned, oldest first,
        each with its event and the text of the event that settled it. `recent` adds that many of the last
        events, newest first and cut short, and the rows that only snapshots need: goals, channels of files,
        distilled texts, requests, helpers and sessions.
        """
        params: dict[str, Any] = {"task_id": task_id, "files": files, "recent": recent}
        chosen: list[str] = []
        settling: list[str] = []
        for number, (kind, status, most) in enumerate(wanted):
            params.update({f"type{number}": kind, f"status{number}": status, f"most{number}": most})

            # Only the needed column: preparing these queries takes longer than running them.
            def newest(column: str, alias: str, by: str = "", number: int = number) -> str:
                # With the column of its order: only then can the past of `records` use its indexes.
                columns = "seq" if column == "seq" else f"{column}, seq"
                return (
                    f"SELECT {column} FROM (SELECT {columns} FROM records"
                    f" WHERE task_id = :task_id AND type = :type{number} AND status = :status{number}{by}"
                    f" ORDER BY seq DESC LIMIT :most{number}) {alias}{number}"
                )

            # The newest of all, and as many of the user's, so that other channels cannot crowd those out.
            chosen += [newest("seq", "b"), newest("seq", "u", " AND channel = 'user'")]
            if kind in ("effect", "approval") or status == "resolved":
                settling.append(f"{newest('ref_seq', 's')} WHERE ref_seq IS NOT NULL")
        ending = "SELECT finish_seq FROM heads WHERE task_id = :task_id AND finish_seq IS NOT NULL"
        of_records = f"seq {self._one_of(' UNION ALL '.join(chosen))} ORDER BY seq"
        of_events = f"e.seq {self._one_of(' UNION ALL '.join((*chosen, 'SELECT 1', ending, *settling)))}"
        tagged = self._one_of(" UNION ALL ".join((*chosen, "SELECT 0")))
        queries: dict[str, tuple[Sequence[str], str]] = {
            "records": (
                RECORDS,
                f"{SELECT_RECORDS} WHERE task_id = :task_id AND {of_records}",
            ),
            "events": (
                EVENT_NAMES,
                f"{EVENT_ROW}{EVENT_FROM} WHERE e.task_id = :task_id AND {of_events}",
            ),
            "heads": (HEADS, SELECT_HEAD),
            "extras": (EXTRAS, SELECT_EXTRAS),
            "steps": (STEPS, SELECT_STEPS),
            "labels": (LABELS[1:], _SELECT_LABELS + tagged + " ORDER BY seq, kind, value"),
            "files": (FILES, _SELECT_FILES),
            "links": (LINKS, SELECT_LINKS),
            "claims": (CLAIMS, SELECT_CLAIMS),
            "channels": (("seq", "channel"), _SELECT_CHANNELS + self._one_of(_SOURCE_SEQS)),
        }
        if not recent:
            queries["sessions"] = (sessions.NAMES, _SELECT_SESSION)
            queries["distilled"] = (distilled.NAMES, _SELECT_INFERRED_PLAN)
        else:
            touched = self._one_of(f"SELECT seq FROM ({_SELECT_FILES}) f")
            queries |= {
                "goals": (_GOALS, _SELECT_GOALS),
                "recent": (_RECENT, _SELECT_RECENT),
                "requests": (_REQUESTS, _SELECT_REQUESTS),
                "helpers": (_HELPERS, _SELECT_HELPERS),
                "sessions": (_SESSIONS, _SELECT_SESSIONS),
                "reports": (_REPORTS, _SELECT_REPORTS),
                "distilled": (distilled.NAMES, distilled.SELECT_SHOWN),
                "file_channels": (("seq", "channel"), _SELECT_CHANNELS + touched),
            }
        return _assembled(queries, self._query_all([(sql, params) for _, sql in queries.values()]))

    def file(self, task_id: str, path: str) -> Row | None:
        """The row of one file that a task touched."""
        sql = f"SELECT {', '.join(FILES)} FROM files WHERE task_id = :task_id AND path = :path"
        return self.row(FILES, sql, task_id=task_id, path=path)

    def file_count(self, task_id: str) -> int:
        """The number of files that a task touched."""
        sql = "SELECT count(*) FROM files WHERE task_id = :task_id AND change <> 'undone'"
        return self.cell(sql, task_id=task_id)


def _assembled(queries: Mapping[str, tuple[Sequence[str], str]], results: list[list[Any]]) -> TaskRows:
    """Name the columns of query results, and join records with their events."""
    rows = {
        name: [dict(zip(names, row, strict=True)) for row in result]
        for (name, (names, _)), result in zip(queries.items(), results, strict=True)
    }
    events = {row["seq"]: row for row in rows.pop("events")}
    rows["first"] = [events[1]] if 1 in events else []
    finish_seq = rows["heads"][0]["finish_seq"] if rows["heads"] else None
    rows["finish"] = [events[finish_seq]] if finish_seq in events else []
    rows["records"] = join_events(rows["records"], events)
    return rows
