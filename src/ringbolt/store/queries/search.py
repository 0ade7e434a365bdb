"""The queries of recall: which events contain which terms, and what surrounds them.

Only the syntax of the full-text index differs between the engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...model.rules import ENTRY_TYPES
from ...signals.terms import Term
from ..database import placeholders
from ..event_texts import SILENT
from ..schema import EVENT_FROM, EVENT_NAMES, EVENT_ROW, RECORDS, quoted
from ..tx import Row, Tx

Groups = Sequence[Sequence[Term]]

LONGEST_LINE = 1000
AT_ONCE = 500  # ids per query: every engine allows that many parameters
SEARCHABLE = ["id", *EVENT_NAMES, "workspace_path", "name", "status", "replaced_by", "changed"]
_SELECT = (
    f"{EVENT_ROW.replace('SELECT ', 'SELECT e.id, ', 1)}, h.workspace_path, h.name, r.status, r.ref_seq,"
    f" r.version{EVENT_FROM} JOIN heads h ON h.task_id = e.task_id"
    " LEFT JOIN records r ON r.task_id = e.task_id AND r.seq = e.seq"
)
_RELEVANT = (
    f"SELECT {', '.join(f'r.{name}' for name in RECORDS)} FROM records r WHERE r.task_id = :task_id"
    f" AND r.type IN ({quoted(ENTRY_TYPES)}) AND r.status <> 'invalidated'"
    " AND (r.item_id = :item OR r.type IN ('decision', 'error', 'user_instruction') OR EXISTS"
    " (SELECT 1 FROM labels l WHERE l.task_id = r.task_id AND l.seq = r.seq AND l.kind = 'item'"
    " AND l.value = :item))"
    # Its own entries first: the newest decisions of others must not crowd them out.
    " ORDER BY CASE WHEN r.item_id = :item OR EXISTS (SELECT 1 FROM labels l WHERE l.task_id = r.task_id"
    " AND l.seq = r.seq AND l.kind = 'item' AND l.value = :item) THEN 0 ELSE 1 END, r.seq DESC LIMIT :limit"
)
# Follows an entry to the one that replaced it, and so on to the last.
_LINE = (
    "WITH RECURSIVE line(seq, status, next, size) AS ("
    " SELECT seq, status, ref_seq, 0 FROM records WHERE task_id = :task_id AND seq = :seq"
    " UNION ALL SELECT r.seq, r.status, r.ref_seq, l.size + 1 FROM line l JOIN records r"
    " ON r.task_id = :task_id AND r.seq = l.next AND r.seq > l.seq"
    f" WHERE l.status IN ('superseded', 'invalidated') AND l.size < {LONGEST_LINE})"
    " SELECT e.id FROM line l JOIN events e ON e.task_id = :task_id AND e.seq = l.seq"
    " WHERE l.size > 0 ORDER BY l.size DESC LIMIT 1"
)


class Search:
    """The queries of recall in one transaction."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._database = tx.database

    def matching(
        self,
        wanted: Sequence[Groups],
        low: int,
        high: int,
        limit: int,
        since: str | None = None,
        until: str | None = None,
    ) -> list[list[int]]:
        """For each search, the events that contain one term of each group, newest first."""
        sql = self._matching(_times(since, until))
        shared = {"low": low, "high": high, "limit": limit, "since": since, "until": until}
        queries = [(sql, {**shared, "match": self._database.matching(groups)}) for groups in wanted]
        return [[row[0] for row in rows] for rows in self._database.query_fresh(queries)]

    def _matching(self, timed: str) -> str:
        column, matches = self._database.word_id, self._database.matches
        source = self._database.words.format(most="NULL" if timed else ":limit")
        if timed:
            source += f" JOIN events e ON e.id = w.{column}"
        return f"SELECT w.{column} FROM {source} WHERE {matches}{timed} ORDER BY w.{column} DESC LIMIT :limit"

    def in_scope(
        self, groups: Groups, low: int, high: int, limit: int, since: str | None, until: str | None
    ) -> tuple[str, dict[str, Any]]:
        """A query for the newest events that match filters only, with its parameters."""
        timed = _times(since, until)
        params = {"low": low, "high": high, "limit": limit, "since": since, "until": until}
        if not groups:
            sql = f"SELECT e.id FROM events e WHERE e.id BETWEEN :low AND :high{timed}"
            return f"{sql} ORDER BY e.id DESC LIMIT :limit", params
        return self._matching(timed), {**params, "match": self._database.matching(groups)}

    def count(self, groups: Groups) -> int:
        """How many events contain one term of each group."""
        sql = (
            f"SELECT count(*) FROM {self._database.words.format(most='NULL')} WHERE {self._database.matches}"
        )
        params = {"match": self._database.matching(groups), "low": 0, "high": 1 << 62}
        return self._database.query_fresh([(sql, params)])[0][0][0]

    def id_range(self, since: str | None = None, until: str | None = None) -> tuple[int, int]:
        """The lowest and highest id of the events in a period; (0, -1) if there are none."""
        if timed := _times(since, until):
            sql = f"SELECT min(e.id), max(e.id) FROM events e WHERE e.id > 0{timed}"
        else:  # two subqueries: asked together, SQLite would scan every row
            sql = "SELECT (SELECT min(id) FROM events), (SELECT max(id) FROM events)"
        ((low, high),) = self._database.query(sql, {"since": since, "until": until} if timed else {})
        return (0, -1) if low is None else (low, high)

    def event_id(self, task_id: str, seq: int) -> int:
        """The id of an event in this store; 0 if it does not exist."""
        sql = "SELECT id FROM events WHERE task_id = :task_id AND seq = :seq"
        return self._tx.cell(sql, task_id=task_id, seq=seq) or 0

    def texts(self, ids: Sequence[int]) -> list[Row]:
        """Events by their ids, with their origin, the workspace and name of their task, and their record."""
        return self._some(ids, SEARCHABLE, f"{_SELECT} WHERE e.id IN ({{}})")

    def texts_after(self, after: int, limit: int) -> list[Row]:
        """Events after an id, oldest first."""
        sql = f"{_SELECT} WHERE e.id > :after ORDER BY e.id LIMIT :limit"
        return self._tx.rows(SEARCHABLE, sql, after=after, limit=limit)

    def around(self, ids: Sequence[int], reach: int) -> list[tuple[str, int, int, str]]:
        """Task, seq, id and time of events and their neighbours within `reach`, in order."""
        found: set[tuple[str, int, int, str]] = set()
        for asked, places in _in_pieces(
            ids,
            "SELECT n.task_id, n.seq, n.id, n.timestamp FROM events e JOIN events n"
            " ON n.task_id = e.task_id AND n.seq BETWEEN e.seq - :reach AND e.seq + :reach"
            f" WHERE e.id IN ({{}}) AND n.forgotten IS NULL"
            f" AND (n.text IS NOT NULL OR n.event_type NOT IN ({quoted(SILENT)}))",
        ):
            found.update(self._database.query(asked, {**places, "reach": reach}))
        return sorted(found)

    def known_of(self, ids: Sequence[int]) -> list[Row]:
        """Author, time, type and last character of events, and the events that replaced them."""
        names = "id task_id seq agent timestamp event_type last status changed_seq changed_at replaced_by"
        return self._some(
            ids,
            names.split(),
            "SELECT e.id, e.task_id, e.seq, o.agent, e.timestamp, e.event_type,"
            " substr(rtrim(e.text), length(rtrim(e.text)), 1), r.status, c.seq, c.timestamp, n.id"
            f"{EVENT_FROM} LEFT JOIN records r ON r.task_id = e.task_id AND r.seq = e.seq"
            " LEFT JOIN events c ON c.task_id = r.task_id AND c.seq = r.version"
            " LEFT JOIN events n ON n.task_id = r.task_id AND n.seq = r.ref_seq WHERE e.id IN ({})",
        )

    def marked(self, ids: Sequence[int]) -> list[Row]:
        """The columns of events that filters need; `sets` only if it has labels."""
        return self._some(
            ids,
            "id task_id seq event_type timestamp item_id text forgotten sets workspace_path".split(),
            "SELECT e.id, e.task_id, e.seq, e.event_type, e.timestamp, e.item_id, substr(e.text, 1, 1),"
            """ e.forgotten, CASE WHEN e.sets LIKE '%"+labels"%' THEN e.sets END, h.workspace_path"""
            " FROM events e JOIN heads h ON h.task_id = e.task_id WHERE e.id IN ({})",
        )

    def ends_of_lines(self, over: Iterable[Row]) -> dict[int, int]:
        """The id of the currently valid entry for each replaced entry, by id."""
        ends: dict[int, int] = {}
        for row in sorted(over, key=lambda row: -row["id"]):
            if (by := row["replaced_by"]) is None:
                continue
            if by in ends:
                ends[row["id"]] = ends[by]
            elif found := self._database.query(_LINE, {"task_id": row["task_id"], "seq": row["seq"]}):
                ends[row["id"]] = found[0][0]
        return ends

    def settling(self, task_id: str, after: int, until: int) -> list[tuple[int, str]]:
        """The `sets` of the events between two seqs that changed the status of earlier events."""
        sql = (
            "SELECT seq, sets FROM events WHERE task_id = :task_id AND seq > :after AND seq <= :until"
            """ AND sets LIKE '%"records"%' ORDER BY seq"""
        )
        rows = self._database.query(sql, {"task_id": task_id, "after": after, "until": until})
        return [(row[0], row[1]) for row in rows]

    def relevant(self, task_id: str, item: str, limit: int) -> list[Row]:
        """Entries of a step, entries that matter for it, and all decisions, errors and instructions."""
        params = {"task_id": task_id, "item": item, "limit": limit}
        return self._tx.records_with_events(f"({_RELEVANT}) r", params)

    def _some(self, ids: Sequence[int], names: Sequence[str], sql: str) -> list[Row]:
        found: list[Row] = []
        for asked, places in _in_pieces(ids, sql):
            found += self._tx.rows(names, asked, **places)
        return found


def _in_pieces(ids: Sequence[int], sql: str) -> Iterator[tuple[str, dict[str, int]]]:
    """Split a query about many ids into several with their parameters."""
    for begin in range(0, len(ids), AT_ONCE):
        places, params = placeholders("id", ids[begin : begin + AT_ONCE])
        yield sql.format(places), params


def _times(since: str | None, until: str | None) -> str:
    """The SQL conditions for a period, each after an AND."""
    low = " AND e.timestamp >= :since" if since is not None else ""
    return low + (" AND e.timestamp <= :until" if until is not None else "")
