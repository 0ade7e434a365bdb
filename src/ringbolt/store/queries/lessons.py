"""The learned patterns shown to a task when it began, by their keys."""

from __future__ import annotations

from collections.abc import Sequence

from ..tx import Row, Tx

_NAMES = ("type", "key", "repository", "data", "frequency", "last_seen")


def patterns_with(tx: Tx, keys: Sequence[Sequence[str]]) -> list[Row]:
    """The patterns with these types, keys and repositories that are still there."""
    params: dict[str, str] = {}
    for number, key in enumerate(keys):
        params |= {f"{name}{number}": value for name, value in zip(_NAMES, key, strict=False)}
    where = " OR ".join(
        f"(pattern_type = :type{number} AND pattern_key = :key{number} AND repository = :repository{number})"
        for number in range(len(keys))
    )
    return tx.rows(
        _NAMES,
        "SELECT pattern_type, pattern_key, repository, data, frequency, last_seen FROM learned_patterns"
        f" WHERE {where} ORDER BY pattern_type, pattern_key",
        **params,
    )
