"""Postings: what a snapshot of a store says about the texts in a scope, whatever the engine."""

from __future__ import annotations

from ..store.search import Search
from .ranking import About
from .terms import LONGEST_TERM, Term
from .texts import index_terms, is_silent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..store.tx import Row, Tx
    from .ranking import Near

EVERYTHING = 1 << 62


class Scope:
    """Which texts are looked at: those that have one term of each group, in a time."""

    def __init__(
        self,
        groups: Sequence[Sequence[str]] = (),
        *,
        since: str | None = None,
        until: str | None = None,
        task_id: str | None = None,
        last_seq: int | None = None,
    ) -> None:
        self.groups = [[Term(word=term, stem=term) for term in group] for group in groups]
        self.since = since
        self.until = until
        # The past of one task: events up to a number.
        self.task_id = task_id
        self.last_seq = last_seq

    def passes(self, event: Mapping[str, Any], terms: frozenset[str] | set[str]) -> bool:
        """Whether an event with these terms is in the scope."""
        return (
            all(any(term.stem in terms for term in group) for group in self.groups)
            and (self.since is None or event["timestamp"] >= self.since)
            and (self.until is None or event["timestamp"] <= self.until)
            and (self.last_seq is None or event["seq"] <= self.last_seq)
        )


class StorePostings:
    """The postings of one snapshot: the engine's index, and what waits to be in it."""

    def __init__(self, tx: Tx, scope: Scope, waiting: Sequence[Row]) -> None:
        self._search = search = Search(tx)
        self._scope = scope
        self._low, self._high = 0, EVERYTHING
        if scope.since is not None or scope.until is not None:
            self._low, self._high = search.id_range(scope.since, scope.until)
        if scope.last_seq is not None and scope.task_id is not None:
            last = search.event_id(scope.task_id, scope.last_seq)
            self._high = min(self._high, last)
        self._tail: list[tuple[int, set[str]]] = []
        for event in waiting:
            if not is_silent(event):
                terms = set(index_terms(event))
                if scope.passes(event, terms):
                    self._tail.append((event["id"], terms))
        self._tail.sort(reverse=True)

    def total(self) -> int:
        if self._scope.groups:
            return self._search.count(self._scope.groups) + len(self._tail)
        low, high = (self._low, self._high) if self._high < EVERYTHING else self._search.id_range()
        return max(0, high - low + 1)

    def lists(self, terms: Sequence[Term], limit: int) -> list[list[int]]:
        found = self._matching([[[term]] for term in terms], limit)
        return [self._with_tail(ids, [[term]], limit) for term, ids in zip(terms, found, strict=True)]

    def ids(self, all_of: Sequence[Sequence[Term]], limit: int) -> list[int]:
        (found,) = self._matching([all_of], limit)
        return self._with_tail(found, all_of, limit)

    def newest(self, limit: int) -> list[int]:
        """The newest texts in scope, whatever their terms; only of a scope that has groups."""
        return self.ids([], limit)

    def all_in_scope(self, limit: int) -> tuple[tuple[str, Mapping[str, Any]], list[int]] | None:
        """A query for the newest texts in scope, and those that it does not find; None if there are none."""
        if self._high < self._low:
            return None
        scope = self._scope
        query = self._search.in_scope(scope.groups, self._low, self._high, limit, scope.since, scope.until)
        return query, [text for text, _ in self._tail]

    def _matching(self, wanted: Sequence[Sequence[Sequence[Term]]], limit: int) -> list[list[int]]:
        if not wanted or self._high < self._low:
            return [[] for _ in wanted]
        asked = [[*self._scope.groups, *groups] for groups in wanted]
        return self._search.matching(
            asked, self._low, self._high, limit, self._scope.since, self._scope.until
        )

    def _with_tail(self, ids: list[int], all_of: Sequence[Sequence[Term]], limit: int) -> list[int]:
        own = [
            text
            for text, terms in self._tail
            if all(any(_has(terms, term) for term in group) for group in all_of)
        ]
        if not own:
            return ids
        return sorted({*own, *ids}, reverse=True)[:limit]

    def windows(self, ids: Sequence[int], reach: int) -> list[Near]:
        near = self._search.around(ids, reach)
        if self._scope.last_seq is None:
            return near
        return [row for row in near if row[1] <= (self._scope.last_seq or 0)]

    def about(self, ids: Sequence[int]) -> dict[int, About]:
        return {
            row["id"]: About(
                speaker=row["agent"] or "",
                at=row["timestamp"],
                type=row["event_type"],
                asks=row["last"] == "?",
            )
            for row in self._search.known_of(ids)
        }


def _has(terms: set[str], term: Term) -> bool:
    if not term.prefix:
        return term.stem in terms
    short = min(LONGEST_TERM, len(term.stem))
    return any(
        one.startswith(term.stem) or (4 <= len(one) < short and term.stem.startswith(one)) for one in terms
    )
