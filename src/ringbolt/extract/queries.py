"""SQL of extraction and of learned patterns, portable like that in tx.py."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.rules import ENTRY_TYPES
from ..model.validate import dumps
from ..store.schema import escape_like
from ..store.tx import Row, Tx

_PATTERN = ("type", "key", "repository", "data", "frequency", "last_seen")
_SELECT = (
    "SELECT pattern_type, pattern_key, repository, data, frequency, last_seen FROM learned_patterns WHERE"
)
_KEEP = (
    "INSERT INTO learned_patterns"
    " (pattern_type, pattern_key, repository, data, frequency, last_seen, created_at)"
    " VALUES (:type, :key, :repository, :data, 1, :now, :now)"
    " ON CONFLICT (pattern_type, pattern_key, repository) DO UPDATE SET"
    " data = excluded.data, last_seen = excluded.last_seen, frequency = learned_patterns.frequency + 1"
)
_ENTRY = ("seq", "type", "status", "key", "text", "agent", "channel")
_ENTRY_TYPES = ", ".join(f"'{name}'" for name in ENTRY_TYPES)
_KEYS = [f"key{number}" for number in range(200)]
MOST = 1000  # patterns that are ranked for one answer


def span(tx: Tx, task_id: str, item: str) -> tuple[int, int]:
    """The range of a step's events: the seq before its first, and its last; (0, 0) if it has none."""
    rows = tx.database.query(
        "SELECT min(seq), max(seq) FROM events WHERE task_id = :task_id AND item_id = :item",
        {"task_id": task_id, "item": item},
    )
    first, last = rows[0]
    return (first - 1, last) if first else (0, 0)


def origins(tx: Tx, task_id: str, seqs: Sequence[int]) -> list[tuple[int, str, str | None]]:
    """The seq, the channel and the step of some events."""
    places = {f"seq{number}": seq for number, seq in enumerate(seqs)}
    rows = tx.database.query(
        "SELECT e.seq, o.channel, e.item_id FROM events e JOIN origins o ON o.id = e.origin_id"
        f" WHERE e.task_id = :task_id AND e.seq IN ({', '.join(f':{name}' for name in places)})",
        {"task_id": task_id, **places},
    )
    return [(row[0], row[1], row[2]) for row in rows]


def entries(tx: Tx, task_id: str, after: int, statuses: Sequence[str], most: int) -> list[Row]:
    """The entries of a task after an event that have one of some statuses, newest first."""
    return tx.rows(
        _ENTRY,
        "SELECT r.seq, r.type, r.status, r.key, e.text, o.agent, o.channel FROM records r"
        " JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq JOIN origins o ON o.id = e.origin_id"
        f" WHERE r.task_id = :task_id AND r.seq > :after AND r.type IN ({_ENTRY_TYPES})"
        " AND e.forgotten IS NULL"
        f" AND r.status IN ({', '.join(f':status{number}' for number in range(len(statuses)))})"
        " ORDER BY r.seq DESC LIMIT :most",
        task_id=task_id,
        after=after,
        most=most,
        **{f"status{number}": status for number, status in enumerate(statuses)},
    )


def keep(tx: Tx, rows: Sequence[Row]) -> None:
    """Count patterns that were seen, keeping the newest example of each.

    Always in the same order, so that two workers storing the same patterns cannot deadlock.
    """
    if rows:
        tx.database.run_many(
            _KEEP, sorted(rows, key=lambda row: (row["type"], row["key"], row["repository"]))
        )


def prune(tx: Tx, before: str) -> None:
    """Forget the patterns that were seen only once, and before `before`."""
    tx.database.run(
        "DELETE FROM learned_patterns WHERE frequency = 1 AND last_seen < :before", {"before": before}
    )


def with_keys(tx: Tx, keys: Sequence[str], types: Sequence[str], repository: str | None) -> list[Row]:
    """The patterns with these keys, of a repository or (None) of all."""
    # Padded to one of a few lengths, because a statement that the engine has already prepared costs half.
    filled = [*keys, *[keys[-1] for _ in range(-len(keys) % 8)]]
    params = dict(zip(_KEYS, filled, strict=False))
    where = f"AND pattern_key IN ({', '.join(f':{name}' for name in params)})"
    return _some(tx, types, where, params, repository)


def with_words(tx: Tx, words: Sequence[str], types: Sequence[str], repository: str | None) -> list[Row]:
    """The patterns with one of these words anywhere in their keys. A scan: for people, not for writes."""
    params = {f"word{number}": f"%{word}%" for number, word in enumerate(words)}
    where = f"AND ({' OR '.join(f'pattern_key LIKE :{name}' for name in params)})"
    return _some(tx, types, where, params, repository)


def most_frequent(tx: Tx, types: Sequence[str], repository: str | None) -> list[Row]:
    """The most frequent patterns."""
    return _some(tx, types, "", {}, repository, "ORDER BY frequency DESC, last_seen DESC, pattern_key")


def of_commands(tx: Tx, heads: Sequence[str], repository: str) -> list[Row]:
    """What is known of the failures of some commands, by their heads."""
    params = {f"head{number}": f"command:{escape_like(head)}:%" for number, head in enumerate(heads)}
    where = " OR ".join(f"pattern_key LIKE :{name} ESCAPE '!'" for name in params)
    return _some(tx, ("model_failure",), f"AND ({where})", params, repository) if params else []


def with_texts(tx: Tx, texts: Sequence[str], repository: str) -> list[Row]:
    """The failures with one of these texts, under all of their keys."""
    params = {f"text{number}": f"%{escape_like(dumps(text))}%" for number, text in enumerate(texts)}
    where = " OR ".join(f"data LIKE :{name} ESCAPE '!'" for name in params)
    return _some(tx, ("model_failure",), f"AND ({where})", params, repository) if params else []


def _some(
    tx: Tx, types: Sequence[str], where: str, params: dict[str, str], repository: str | None, order: str = ""
) -> list[Row]:
    kinds = {f"type{number}": kind for number, kind in enumerate(types)}
    here = "" if repository is None else " AND repository = :repository"
    sql = f"{_SELECT} pattern_type IN ({', '.join(f':{name}' for name in kinds)}) {where}{here} {order}"
    return tx.rows(_PATTERN, f"{sql} LIMIT :most", **kinds, **params, repository=repository, most=MOST)
