"""Queries of the web page: few columns, limited results, and SQL that both engines run (see store/tx.py)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...model import rules
from ...store.tx import Row, Tx

# Characters of text in one line of a list.
LINE = 300
_COUNTS = ("waits", "questions", "effects", "decisions", "met", "criteria", "claimed_until")
_TEXTS = ("repository", "asks", "decides", "doing")
_MOMENT = (
    "seq", "at", "type", "text", "letters", "step", "ref", "agent", "channel", "status", "replaced_by",
    "sets",
)  # fmt: skip
_RECORD = (
    "seq", "at", "status", "text", "data", "step", "ended_at", "ref", "channel", "agent", "end_text",
    "end_data",
)  # fmt: skip


def _placeholders(params: dict[str, Any], name: str, values: Sequence[Any]) -> str:
    """Add the values of a list to the parameters; returns their placeholders for an IN (…) clause."""
    params.update({f"{name}{number}": value for number, value in enumerate(values)})
    return ", ".join(f":{name}{number}" for number in range(len(values)))


def cards(tx: Tx, statuses: Sequence[str], limit: int) -> list[Row]:
    """Rows of tasks, then of goals, with one of these statuses; the most recently changed first."""
    return tx.cards(statuses, limit, kind="task") + tx.cards(statuses, limit, kind="goal")


def card_details(tx: Tx, task_ids: Sequence[str]) -> dict[str, Row]:
    """Details for lists besides the card itself, by task id: last writer, tags, open waits, questions,
    effects and decisions, criteria met, the end of a claim, repository and branch, what a person is asked,
    and what was said or done last."""
    details: dict[str, Row] = {}
    for begin in range(0, len(task_ids), 500):
        params: dict[str, Any] = {
            "manual": "%manual:%",
            "ended": f"{rules.SESSION_ENDED}%",
            "goes_on": f"{rules.SESSION_CONTINUES}%",
        }
        ids = _placeholders(params, "id", task_ids[begin : begin + 500])
        for row in tx.rows(
            ("task_id", "agent", "channel", "first_agent", *_COUNTS, *_TEXTS),
            "SELECT h.task_id, o.agent, o.channel, fo.agent,"
            " (SELECT count(*) FROM records r WHERE r.task_id = h.task_id AND r.type = 'wait'"
            " AND r.status = 'watching'),"
            " (SELECT count(*) FROM records r WHERE r.task_id = h.task_id AND r.type = 'question'"
            " AND r.status = 'active'),"
            " (SELECT count(*) FROM records r WHERE r.task_id = h.task_id AND r.type = 'effect'"
            " AND r.status IN ('intended', 'unknown')),"
            # A wait for a person has a target that starts with manual:.
            " (SELECT count(*) FROM records r JOIN events w ON w.task_id = r.task_id AND w.seq = r.seq"
            " WHERE r.task_id = h.task_id AND r.type = 'wait' AND r.status = 'watching'"
            " AND w.data LIKE :manual),"
            " (SELECT count(*) FROM records r WHERE r.task_id = h.task_id AND r.type = 'criterion'"
            " AND r.status IN ('met', 'waived')),"
            " (SELECT count(*) FROM records r WHERE r.task_id = h.task_id AND r.type = 'criterion'"
            " AND r.status <> 'invalidated'),"
            " (SELECT max(c.expires_at) FROM claims c WHERE c.task_id = h.task_id AND c.status = 'held'),"
            f" h.repository, {_open_text('question', 'active')},"
            f" {_open_text('wait', 'watching', manual=True)},"
            # The end of a long history says what is going on; its start need not be searched.
            f" (SELECT substr(d.text, 1, {LINE}) FROM events d JOIN origins p ON p.id = d.origin_id"
            " WHERE d.task_id = h.task_id AND d.seq > h.last_seq - 50"
            " AND d.event_type IN ('message', 'action') AND d.text <> ''"
            " AND p.channel IN ('agent', 'tool') AND d.text NOT LIKE :ended AND d.text NOT LIKE :goes_on"
            " ORDER BY d.seq DESC LIMIT 1)"
            " FROM heads h JOIN events e ON e.id = h.position JOIN origins o ON o.id = e.origin_id"
            " JOIN events f ON f.task_id = h.task_id AND f.seq = 1 JOIN origins fo ON fo.id = f.origin_id"
            f" WHERE h.task_id IN ({ids})",
            **params,
        ):
            details[row["task_id"]] = {**row, "tags": [], "branch": None}
        for row in tx.rows(
            ("task_id", "value"),
            "SELECT task_id, value FROM labels WHERE kind = 'tag' AND seq = 0"
            f" AND task_id IN ({ids}) ORDER BY task_id, value",
            **params,
        ):
            details[row["task_id"]]["tags"].append(row["value"])
        for row in tx.rows(
            ("task_id", "state"),
            f"SELECT task_id, state FROM distilled WHERE kind = 'work_tree' AND task_id IN ({ids})",
            **params,
        ):
            shown: dict[str, Any] | None = json.loads(row["state"])["shown"]
            details[row["task_id"]]["branch"] = shown.get("branch") if shown else None
    return details


def _open_text(kind: str, status: str, manual: bool = False) -> str:
    """A sub-query for the text of a task's newest record of a kind that is still open."""
    target = " AND q.data LIKE :manual" if manual else ""
    return (
        f"(SELECT substr(q.text, 1, {LINE}) FROM records r JOIN events q ON q.task_id = r.task_id"
        f" AND q.seq = r.seq WHERE r.task_id = h.task_id AND r.type = '{kind}'"
        f" AND r.status = '{status}'{target}"
        " ORDER BY r.seq DESC LIMIT 1)"
    )


def activity(tx: Tx, since: str, letters: int) -> dict[str, int]:
    """Count events since a time, grouped by the first `letters` characters of their timestamps."""
    rows = tx.rows(
        ("at", "count"),
        f"SELECT substr(timestamp, 1, {letters:d}), count(*) FROM events WHERE timestamp >= :since"
        f" GROUP BY substr(timestamp, 1, {letters:d})",
        since=since,
    )
    return {row["at"]: row["count"] for row in rows}


_MOMENTS = (
    f"SELECT e.seq, e.timestamp, e.event_type, substr(e.text, 1, {LINE}), length(e.text), e.item_id,"
    " e.ref_seq, o.agent, o.channel, r.status, r.ref_seq,"
    # An event without text is described by its changes, if they are few.
    " CASE WHEN coalesce(e.text, '') = '' AND length(e.sets) < 2000 THEN e.sets END"
    " FROM events e JOIN origins o ON o.id = e.origin_id"
    " LEFT JOIN records r ON r.task_id = e.task_id AND r.seq = e.seq WHERE e.task_id = :task_id"
)


def moments(tx: Tx, task_id: str, after: int, limit: int) -> list[Row]:
    """Events of a task after a number, in order, one line each."""
    return tx.rows(
        _MOMENT,
        f"{_MOMENTS} AND e.seq > :after ORDER BY e.seq LIMIT :limit",
        task_id=task_id,
        after=after,
        limit=limit,
    )


def some_moments(tx: Tx, task_id: str, seqs: Sequence[int]) -> list[Row]:
    """The events of a task with these numbers, one line each."""
    params: dict[str, Any] = {"task_id": task_id}
    numbers = _placeholders(params, "seq", seqs)
    return tx.rows(_MOMENT, f"{_MOMENTS} AND e.seq IN ({numbers}) ORDER BY e.seq", **params)


def matching(
    tx: Tx, task_id: str, *, types: Sequence[str] = (), channel: str = "", step: str = "", pattern: str = ""
) -> list[int]:
    """The numbers of a task's events that match every given filter; `pattern` is for LIKE, escaped with !."""
    params: dict[str, Any] = {"task_id": task_id, "channel": channel, "step": step, "pattern": pattern}
    where = f" AND e.event_type IN ({_placeholders(params, 'type', types)})" if types else ""
    where += " AND o.channel = :channel" if channel else ""
    where += " AND e.item_id = :step" if step else ""
    where += " AND lower(e.text) LIKE lower(:pattern) ESCAPE '!'" if pattern else ""
    rows = tx.rows(
        ("seq",),
        "SELECT e.seq FROM events e JOIN origins o ON o.id = e.origin_id WHERE e.task_id = :task_id"
        f"{where} ORDER BY e.seq",
        **params,
    )
    return [row["seq"] for row in rows]


def type_counts(tx: Tx, task_id: str) -> dict[str, int]:
    """The number of a task's events by type."""
    rows = tx.rows(
        ("type", "count"),
        "SELECT event_type, count(*) FROM events WHERE task_id = :task_id GROUP BY event_type"
        " ORDER BY event_type",
        task_id=task_id,
    )
    return {row["type"]: row["count"] for row in rows}


def spending(tx: Tx, since: str) -> list[Row]:
    """Calls, tokens and cost by day and model, since a day."""
    return tx.rows(
        ("day", "model", "calls", "tokens_in", "tokens_out", "cost"),
        "SELECT day, model, sum(calls), sum(tokens_in), sum(tokens_out), sum(cost) FROM spending"
        " WHERE day >= :since GROUP BY day, model ORDER BY day, model",
        since=since,
    )


def sizes(tx: Tx) -> Row:
    """The number of tasks and events in the store."""
    return tx.rows(("tasks", "events"), "SELECT count(*), coalesce(sum(last_seq), 0) FROM heads")[0]


def all_records(tx: Tx, task_id: str, kind: str, limit: int) -> list[Row]:
    """A task's records of a kind that changes over time (effect, wait), including ended ones, newest
    first."""
    return tx.rows(
        _RECORD,
        "SELECT r.seq, e.timestamp, r.status, e.text, e.data, e.item_id, r.ended_at, r.ref_seq, o.channel,"
        " o.agent, x.text, x.data FROM records r"
        " JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq JOIN origins o ON o.id = e.origin_id"
        " LEFT JOIN events x ON x.task_id = r.task_id AND x.seq = r.ref_seq"
        " WHERE r.task_id = :task_id AND r.type = :kind ORDER BY r.seq DESC LIMIT :limit",
        task_id=task_id,
        kind=kind,
        limit=limit,
    )
