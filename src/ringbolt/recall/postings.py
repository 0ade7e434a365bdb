"""Postings: the texts in scope with each term, in one snapshot, the same on every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..signals.terms import LONGEST_TERM, MARK, Term
from ..store.event_texts import index_terms, is_silent, scopes
from ..store.queries.search import Groups, Search
from ..store.tx import Row, Tx
from .ranking import About, Near

EVERYTHING = 1 << 62
# Terms that all events of a task share: the task, and its workspace.
WIDE = (f"{MARK}t", f"{MARK}w")


class Scope:
    """The texts to search: those with one term of each group, within a period."""

    def __init__(
        self,
        groups: Sequence[Sequence[str]] = (),
        *,
        since: str | None = None,
        until: str | None = None,
        task_id: str | None = None,
        last_seq: int | None = None,
        as_of: str | None = None,
    ) -> None:
        self.groups = [[Term(word=term, stem=term) for term in group] for group in groups]
        self.since = since
        self.until = until
        # A search in the past: events of one task up to a number, or all up to a time, as they were then.
        self.task_id = task_id
        self.last_seq = last_seq
        self.as_of = as_of

        # Whether some texts of a task can be in scope and others not.
        self.narrow = any(limit is not None for limit in (since, until, last_seq)) or any(
            not term.startswith(WIDE) for group in groups for term in group
        )

    def later(self, seq: int | None, at: str | None) -> bool:
        """Whether something happened after the searched time."""
        return (self.last_seq is not None and seq is not None and seq > self.last_seq) or (
            self.as_of is not None and at is not None and at > self.as_of
        )

    def passes(self, event: Mapping[str, Any], terms: frozenset[str] | set[str]) -> bool:
        """Whether an event with these terms is in the scope."""
        return self.has_groups(terms) and self.in_time(event)

    def has_groups(self, terms: frozenset[str] | set[str]) -> bool:
        """Whether the terms include one of each group."""
        return all(any(term.stem in terms for term in group) for group in self.groups)

    def in_time(self, event: Mapping[str, Any]) -> bool:
        """Whether an event is within the searched period."""
        return (
            (self.since is None or event["timestamp"] >= self.since)
            and (self.until is None or event["timestamp"] <= self.until)
            and (self.last_seq is None or event["seq"] <= self.last_seq)
        )


class StorePostings:
    """The postings of one snapshot: the engine's index, and texts that are not indexed yet."""

    def __init__(self, tx: Tx, scope: Scope, waiting: Sequence[Row]) -> None:
        self._search = search = Search(tx)
        self._scope = scope
        self._must: Groups = ()
        self._low, self._high = 0, EVERYTHING
        if scope.since is not None or scope.until is not None:
            self._low, self._high = search.id_range(scope.since, scope.until)
        if scope.last_seq is not None and scope.task_id is not None:
            last = search.event_id(scope.task_id, scope.last_seq)
            self._high = min(self._high, last)
        self._tail: list[tuple[int, set[str]]] = []
        self._tail_total = 0  # of any time, like the count of the index
        for event in waiting:
            terms: set[str] = set() if is_silent(event) else {*index_terms(event)}
            if terms and scope.has_groups(terms):
                self._tail_total += 1
                if scope.in_time(event):
                    self._tail.append((event["id"], terms))
        self._tail.sort(reverse=True)

    def require(self, groups: Groups) -> None:
        """From now on consider only texts with one term of each of these groups."""
        self._must = groups

    def total(self) -> int:
        if self._scope.groups:
            return self._search.count(self._scope.groups) + self._tail_total
        low, high = (self._low, self._high) if self._high < EVERYTHING else self._search.id_range()
        return max(0, high - low + 1)

    def lists(self, terms: Sequence[Term], limit: int) -> list[list[int]]:
        indexed = self._matching([[[term]] for term in terms], limit)
        return [self._with_tail(ids, [[term]], limit) for term, ids in zip(terms, indexed, strict=True)]

    def ids(self, all_of: Sequence[Sequence[Term]], limit: int) -> list[int]:
        (indexed,) = self._matching([all_of], limit)
        return self._with_tail(indexed, all_of, limit)

    def newest(self, limit: int) -> list[int]:
        """The newest texts in scope, with any terms; the scope must have groups."""
        return self.ids([], limit)

    def all_in_scope(self, limit: int) -> tuple[tuple[str, Mapping[str, Any]], list[int]] | None:
        """A query for the newest texts in scope, and the unindexed ones it misses; None if there are none."""
        if self._high < self._low:
            return None
        scope = self._scope
        query = self._search.in_scope(scope.groups, self._low, self._high, limit, scope.since, scope.until)
        return query, [text for text, _ in self._tail]

    def _matching(self, wanted: Sequence[Sequence[Sequence[Term]]], limit: int) -> list[list[int]]:
        if not wanted or self._high < self._low:
            return [[] for _ in wanted]
        asked = [[*self._scope.groups, *self._must, *groups] for groups in wanted]
        return self._search.matching(
            asked, self._low, self._high, limit, self._scope.since, self._scope.until
        )

    def _with_tail(self, ids: list[int], all_of: Sequence[Sequence[Term]], limit: int) -> list[int]:
        all_of = [*self._must, *all_of]
        own = [
            text
            for text, terms in self._tail
            if all(any(_has(terms, term) for term in group) for group in all_of)
        ]
        if not own:
            return ids
        return sorted({*own, *ids}, reverse=True)[:limit]

    def windows(self, ids: Sequence[int], reach: int) -> list[Near]:
        """Texts and their neighbours; a search of the past includes only those that existed then."""
        last, until = self._scope.last_seq, self._scope.until
        return [
            row
            for row in self._search.around(ids, reach)
            if (last is None or row[1] <= last) and (until is None or row[3] <= until)
        ]

    def passing(self, ids: Sequence[int]) -> set[int]:
        """The neighbours that pass the filters themselves."""
        if not ids or not self._scope.narrow:
            return set(ids)
        return {
            row["id"]
            for row in self._search.marked(ids)
            if not is_silent(row) and self._scope.passes(row, frozenset(scopes(row)))
        }

    def about(self, ids: Sequence[int]) -> dict[int, About]:
        rows = self._search.known_of(ids)
        over = {row["id"]: row for row in rows if self._is_over(row)}
        instead = self._search.ends_of_lines(over.values())
        return {
            row["id"]: About(
                speaker=row["agent"] or "",
                at=row["timestamp"],
                type=row["event_type"],
                asks=row["last"] == "?",
                seq=row["seq"],
                over=row["id"] in over,
                replaced_by=row["replaced_by"] if row["id"] in over else None,
                instead=instead.get(row["id"]),
            )
            for row in rows
        }

    def _is_over(self, row: Row) -> bool:
        return row["status"] in ("superseded", "invalidated") and not self._scope.later(
            row["changed_seq"], row["changed_at"]
        )


def _has(terms: set[str], term: Term) -> bool:
    if not term.prefix:
        return term.stem in terms
    short = min(LONGEST_TERM, len(term.stem))
    return any(
        stem.startswith(term.stem) or (4 <= len(stem) < short and term.stem.startswith(stem))
        for stem in terms
    )
