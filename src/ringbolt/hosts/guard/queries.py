"""SQL of the guard, portable like that in store/tx.py."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import rules
from ...store.tx import Row, Tx

_STATUSES = (*rules.OPEN, *rules.ENDED)
# Tasks of the repository that count besides the session's own.
MOST_OTHERS = 8
_CHANGED = ("task_id", "last_seq", "position")
_ENTRY = ("seq", "type", "text", "data", "channel")
_RULE = ("seq", "type", "status", "key", "timestamp", "text", "data", "channel")
_WORDS = ("seq", "timestamp", "text")
_SPOKEN = "('user_instruction', 'message', 'task.registered', 'decision')"


def changed_tasks(tx: Tx, workspace: str | None, repository: str | None, after: int, most: int) -> list[Row]:
    """The tasks of a workspace or repository that changed after a position, the last ones first.

    One branch per status, in the order of the index: the cost is that of what changed since.
    """
    here = "(workspace_path = :workspace OR repository = :repository)"
    branches = " UNION ALL ".join(
        f"SELECT task_id, last_seq, position FROM heads WHERE status = '{status}'"
        f" AND position > :after AND {here}"
        for status in _STATUSES
    )
    return tx.rows(
        _CHANGED,
        f"SELECT task_id, last_seq, position FROM ({branches}) h ORDER BY position DESC LIMIT :most",
        workspace=workspace,
        repository=repository or "",
        after=after,
        most=most,
    )


def new_entries(tx: Tx, task_id: str, after: int, most: int) -> list[Row]:
    """What may rule calls out after an event of a task: exclusions, words of the user, failed actions."""
    wanted = (("exclusion", "active"), ("user_instruction", "active"), ("action", "failed"))
    branches = " UNION ALL ".join(
        f"SELECT task_id, seq, type FROM records WHERE task_id = :task_id AND type = '{kind}'"
        f" AND status = '{status}' AND seq > :after"
        for kind, status in wanted
    )
    return tx.rows(
        _ENTRY,
        f"SELECT e.seq, r.type, e.text, e.data, o.channel FROM ({branches}) r"
        " JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq JOIN origins o ON o.id = e.origin_id"
        " WHERE e.forgotten IS NULL ORDER BY e.seq DESC LIMIT :most",
        task_id=task_id,
        after=after,
        most=most,
    )


def rule_rows(tx: Tx, task_id: str, seqs: Sequence[int]) -> list[Row]:
    """Events of a task with their records, as they stand now; forgotten ones are left out."""
    places = {f"seq{number}": seq for number, seq in enumerate(seqs)}
    return tx.rows(
        _RULE,
        "SELECT e.seq, r.type, r.status, r.key, e.timestamp, e.text, e.data, o.channel FROM events e"
        " JOIN origins o ON o.id = e.origin_id"
        " LEFT JOIN records r ON r.task_id = e.task_id AND r.seq = e.seq"
        f" WHERE e.task_id = :task_id AND e.seq IN ({', '.join(f':{name}' for name in places)})"
        " AND e.forgotten IS NULL",
        task_id=task_id,
        **places,
    )


def user_words(tx: Tx, task_id: str, since: str, most: int = 50) -> list[Row]:
    """What the user said on a task after a time, the newest first."""
    return tx.rows(
        _WORDS,
        "SELECT e.seq, e.timestamp, e.text FROM events e JOIN origins o ON o.id = e.origin_id"
        f" WHERE e.task_id = :task_id AND e.event_type IN {_SPOKEN} AND o.channel = 'user'"
        " AND e.timestamp > :since AND e.text IS NOT NULL ORDER BY e.seq DESC LIMIT :most",
        task_id=task_id,
        since=since,
        most=most,
    )
