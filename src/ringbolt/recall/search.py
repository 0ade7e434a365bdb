# pyright: reportPrivateUsage=false
"""Run a search: from arguments to a scope, a ranking, and hits with snippets and reasons."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from ..ledger.base import Base, find_item
from ..ledger.looking import gate_of
from ..ledger.values import read_origin
from ..model import rules, validate
from ..model.errors import Conflict, InvalidInput, NotFound
from ..model.lazy_regex import lazy_regex
from ..model.results import Hit, Recall
from ..model.types import is_dict
from ..signals.terms import JOIN, QUERY_CHARACTERS, Query, has_phrase, has_words, read_query, scope_term
from ..store.event_texts import full_text, is_silent
from ..store.queries.search import Search
from ..store.tx import Row, Tx
from ..system.gate import Gate
from . import snippets
from .anchors import read_anchors
from .postings import Scope, StorePostings
from .ranking import REACH, Likeness, RankedPart, Ranking
from .semantic import semantic_index
from .spelling import spelt_as_recorded

# Names for kinds of events in the argument `types`; every entry type is also a name.
TYPES: dict[str, tuple[str, ...]] = {
    **{kind: (kind,) for kind in rules.ENTRY_TYPES},
    "message": ("message", "task.updated", "step.updated", "task.finished"),
    "action": ("action", "action.ended"),
    "log": ("log",),
    "snapshot": ("snapshot",),
    "answer": ("task.finished",),
    "request": ("task.registered",),
    "plan": ("task.registered", "plan.replaced", "plan.appended"),
    "effect": ("intent", "outcome"),
    "fact": ("fact",),
}
WAITING_AT_MOST = 200  # unindexed texts that a search reads itself; with more it indexes them first
MOST_LIMIT = 100
MOST_READ = 1500  # texts that are read for one search: phrases may be hard to find
READ_AT_ONCE = 25
MOST_CITED = 8000  # characters of an event that was requested by its number
_CITATION = lazy_regex(r"#(\d{1,12})[a-z]?")
# Hits from one repetitive source (the logs of an action, the calls of a tool) before other hits come first.
CHATTY = 3
_OVER = ("superseded", "invalidated")
MOST_SPELLINGS = 300  # texts whose words a misspelt query is compared with


def recall(
    memory: Base,
    query: str | None,
    *,
    task_id: str | None = None,
    item: str | int | None = None,
    types: str | Sequence[str] | None = None,
    tags: str | Sequence[str] | None = None,
    since: Any = None,
    until: Any = None,
    at: Any = None,
    workspace: str | None = "",
    limit: int = 10,
    cursor: int | None = None,
    titles: bool = False,
    near: bool = True,
    repository: bool = False,
) -> Recall:
    """Find the best texts for a query within the filters.

    `near`: also texts that have none of the words and stand next to one that has.
    """
    asked = None if query is None else _asked(query)
    limit = validate.whole("limit", limit, 1, MOST_LIMIT)
    offset = 0 if cursor is None else validate.whole("cursor", cursor, 0, 10_000)
    filters = _Filters(
        groups=_filter_terms(types, tags),
        task_id=task_id,
        item=item,
        since=None if since is None else validate.moment("since", since),
        until=None if until is None else validate.moment("until", until),
        at=at,
        workspace=memory.workspace if workspace == "" else validate.optional("workspace", workspace, 4000),
        repository=memory._own_repository() if repository else None,
    )
    meaning = None
    if memory.settings.embedder != "none" and asked is not None and asked.strip():
        meaning = semantic_index(memory).prepared(memory.store, read_query(asked))

    def gate(folder: str | None) -> Gate:
        return gate_of(memory, folder)

    def work(tx: Tx) -> Recall | None:
        scope = _scope(memory, tx, filters)
        waiting = memory.store.waiting(tx)
        if len(waiting) > WAITING_AT_MOST:
            return None
        postings = StorePostings(tx, scope, waiting)
        likeness = meaning.likeness(tx, postings) if meaning else None
        search = _Search(tx, scope, postings, titles, likeness, near, gate)
        page = search.page(asked, limit, offset)
        if not page.hits and asked is not None and not offset and not read_query(asked).phrases:
            again = spelt_as_recorded(asked, search.newest_texts())
            if again is not None:
                postings = StorePostings(tx, scope, waiting)
                found = _Search(tx, scope, postings, titles, None, near, gate).page(again, limit, 0)
                page = found.replace(query=asked, warnings=(f"Nothing has these words; searched: {again}",))
        cited = None if offset or asked is None else _cited(memory, tx, asked, task_id)
        if cited is None:
            return page
        others = tuple(hit for hit in page.hits if (hit.task_id, hit.seq) != (cited.task_id, cited.seq))
        return page.replace(hits=(cited, *others)[:limit])

    result = memory.store.read(work)
    if result is None:
        # Many texts were written without an index, or another process lags behind: index them first.
        memory.store.index()
        result = memory.store.read(work)
    result = result or Recall(query=asked, hits=())
    return result.replace(warnings=(*result.warnings, *meaning.warnings)) if meaning else result


class _Filters(Struct, frozen=True, kw_only=True):
    """What limits a search, validated; `groups` are the terms of types and tags."""

    groups: list[list[str]]
    task_id: str | None
    item: str | int | None
    since: str | None
    until: str | None
    at: Any
    workspace: str | None
    repository: str | None


def _filter_terms(types: str | Sequence[str] | None, tags: str | Sequence[str] | None) -> list[list[str]]:
    names = [validate.choice("type", word, TYPES) for word in validate.text_list("types", types)]
    kinds = dict.fromkeys(kind for name in names for kind in TYPES[name])
    groups = [[scope_term("g", tag.casefold())] for tag in validate.text_list("tags", tags)]
    return [*groups, [scope_term("k", kind) for kind in kinds]] if kinds else groups


def _scope(memory: Base, tx: Tx, filters: _Filters) -> Scope:
    """The texts that the filters let through, in one snapshot."""
    groups, at = list(filters.groups), filters.at
    last_seq, as_of, head = None, None, None
    if filters.task_id is not None or filters.item is not None or isinstance(at, int):
        head = memory._find(tx, filters.task_id)
        groups.append([scope_term("t", head["task_id"])])
    elif filters.repository is not None:
        groups.append([scope_term("w", each) for each in tx.worktrees(filters.repository)])
    elif filters.workspace is not None:
        groups.append([scope_term("w", filters.workspace)])
    if filters.item is not None and head is not None:
        groups.append([scope_term("i", find_item(tx.steps(head["task_id"]), filters.item)["item_id"])])
    if isinstance(at, int) and not isinstance(at, bool) and head is not None:
        last_seq = validate.whole("at", at, 1, head["last_seq"])
    elif at is not None:
        as_of = validate.moment("at", at)
    return Scope(
        groups,
        since=filters.since,
        until=min(filter(None, (filters.until, as_of)), default=None),
        task_id=head["task_id"] if head else None,
        last_seq=last_seq,
        as_of=as_of,
    )


def _cited(memory: Base, tx: Tx, asked: str, task_id: str | None) -> Hit | None:
    """The event of a task that a query like `#42` or `#42a` cites, in full; None if it cites none."""
    number = _CITATION.fullmatch(asked.strip())
    if number is None:
        return None
    try:
        head = memory._find(tx, task_id)
    except (NotFound, Conflict):  # no task is at hand: the query is an ordinary one
        return None
    event = tx.event(head["task_id"], int(number[1]))
    if event is None:
        return None
    text = full_text(event)
    return Hit(
        task_id=head["task_id"],
        task_name=head["name"],
        seq=event["seq"],
        type=event["event_type"],
        at=event["timestamp"],
        origin=read_origin(event),
        step=event["item_id"],
        title=snippets.title(event["text"] or text),
        snippet=text[:MOST_CITED],
        score=1.0,
        why=f"event #{event['seq']}",
    )


def _asked(query: Any) -> str:
    """Validate a query. It is not stored, so any characters will do."""
    if not isinstance(query, str):
        raise InvalidInput("invalid_argument", "The query must be a text.", "Pass the words to search for.")
    return query[:QUERY_CHARACTERS].encode("utf-8", "replace").decode()


class _Search:
    """One search on one snapshot."""

    def __init__(
        self,
        tx: Tx,
        scope: Scope,
        postings: StorePostings,
        titles: bool,
        likeness: Likeness | None,
        near: bool,
        gate_of_folder: Callable[[str | None], Gate],
    ) -> None:
        self._tx = tx
        self._gate_of_folder = gate_of_folder
        self._search = Search(tx)
        self._scope = scope
        self._postings = postings
        self._titles = titles
        self._likeness = likeness
        self._near = near
        self._read_count = 0
        # Hits by their normalised text.
        self._by_text: dict[tuple[str, str], _Draft] = {}
        # How many hits of each repetitive source, and those beyond its share.
        self._counts: dict[tuple[Any, ...], int] = {}
        self._later: list[_Draft] = []

    def page(self, asked: str | None, limit: int, offset: int) -> Recall:
        """The hits from an offset on."""
        query = read_query(asked) if asked and asked.strip() else None
        if query is None or not query.terms:
            return self._newest(asked, limit, offset)
        self._postings.require(query.must)
        ranking = Ranking(query, self._postings, self._likeness)
        hits: list[_Draft] = []
        number = 0
        while (part := ranking.part(number)) is not None:
            self._add(hits, query, part, offset + limit + 1)
            number += 1
            if len(hits) > offset + limit or self._read_count >= MOST_READ:
                break
            if number % 2 == 0:  # two parts cover the same texts
                hits += self._flush()
        hits += self._flush()
        shown = [self._hit(draft) for draft in hits[offset : offset + limit]]
        more = len(hits) > offset + limit
        return Recall(
            query=asked,
            hits=tuple(shown),
            cursor=offset + limit if more else None,
            semantic=self._likeness is not None,
        )

    def newest_texts(self) -> list[str]:
        """The newest texts within the filters, for comparing their spelling."""
        if not self._scope.groups:
            return []
        rows = self._search.texts(self._postings.newest(MOST_SPELLINGS))
        return [full_text(row)[:2000] for row in rows]

    def _newest(self, asked: str | None, limit: int, offset: int) -> Recall:
        if asked and (asked.strip() or not self._scope.groups):  # a query without a word
            return Recall(query=asked, hits=())
        if not self._scope.groups:
            raise InvalidInput(
                "invalid_argument", "Nothing to search for.", "Pass a query, a task or a filter."
            )
        ids = self._postings.newest(offset + limit + 1)
        rows = sorted(self._search.texts(ids[offset : offset + limit]), key=lambda row: -row["id"])
        hits = [self._hit(_Draft(row, full_text(row), 0.0, "newest")) for row in rows]
        more = len(ids) > offset + limit
        return Recall(query=asked, hits=tuple(hits), cursor=offset + limit if more else None)

    def _add(self, hits: list[_Draft], query: Query, part: RankedPart, wanted: int) -> None:
        """Add the hits of a part, best first; repetitive sources come after the others."""
        order = sorted(part.scores, key=lambda text: (-part.scores[text], -text))
        counts = self._counts
        why = _Reasons(query, part)
        for row, text in self._read(order):
            if row["id"] not in part.instead and not _matches(query, text):
                continue
            source = _source(row)
            # Texts of a repetitive source that differ only in numbers count as the same.
            same = (row["task_id"], snippets.fingerprint(text, numbers=source is None))
            if row["status"] not in _OVER and same in self._by_text:
                self._by_text[same].alike += 1
                continue
            reason = why.of(row)
            if not self._near and reason.startswith(_NEAR):
                continue
            draft = _Draft(row, text, part.scores[row["id"]], reason, part.own[row["id"]])
            if row["status"] not in _OVER:
                self._by_text[same] = draft
            if source is not None:
                counts[source] = counts.get(source, 0) + 1
                if counts[source] > CHATTY:
                    self._later.append(draft)
                    continue
            hits.append(draft)
            if len(hits) >= wanted:
                return

    def _flush(self) -> list[_Draft]:
        """The hits of repetitive sources beyond their share, which then starts again."""
        later, self._later = self._later, []
        self._counts = {}
        return later

    def _read(self, order: Sequence[int]) -> Iterator[tuple[Row, str]]:
        """Texts in order with their full text, read a few at a time."""
        for begin in range(0, len(order), READ_AT_ONCE):
            page = order[begin : begin + READ_AT_ONCE]
            rows = {row["id"]: row for row in self._search.texts(page)}
            self._read_count += len(page)
            for text_id in page:
                row = rows.get(text_id)
                if row is not None and not is_silent(row):
                    yield self._as_it_was(row), full_text(row)
            if self._read_count >= MOST_READ:
                return

    def _as_it_was(self, row: Row) -> Row:
        """A row with its status at the searched time."""
        last, as_of = self._scope.last_seq, self._scope.as_of
        if row["changed"] is None or (last is None and as_of is None):
            return row
        if last is None:
            last = self._tx.seq_at(row["task_id"], as_of or "")
        if row["changed"] <= last:
            return row
        was = {"status": _first_status(row), "replaced_by": None}
        own = str(row["seq"])
        for _, sets in self._search.settling(row["task_id"], row["seq"], last):
            changes = json.loads(sets).get("records", {}).get(own)
            if is_dict(changes):
                was["status"] = changes.get("status", was["status"])
                was["replaced_by"] = changes.get("ref_seq", was["replaced_by"])
        return {**row, **was}

    def _hit(self, draft: _Draft) -> Hit:
        row, status = draft.row, draft.row["status"]
        return Hit(
            task_id=row["task_id"],
            task_name=row["name"],
            seq=row["seq"],
            type=row["event_type"],
            at=row["timestamp"],
            origin=read_origin(row),
            step=row["item_id"],
            status=status,
            replaced_by=row["replaced_by"] if status in (*_OVER, "resolved") else None,
            title=snippets.title(row["text"] or draft.text),
            snippet=None if self._titles else snippets.snippet(draft.text, set(draft.own)),
            score=round(draft.score, 4),
            why=draft.why,
            alike=draft.alike,
            anchors=() if self._titles else read_anchors(row, self._gate_of_folder),
        )


_NEAR = "near "


class _Draft(Struct):
    """A hit before it is returned; only returned hits get snippets and anchors."""

    row: Row
    text: str
    score: float
    why: str
    own: Sequence[str] = ()  # the terms of the query that the text has
    alike: int = 0


def _matches(query: Query, text: str) -> bool:
    """Whether a text has the phrases and prefixes of a query."""
    return (not query.phrases or has_phrase(text, query.phrases)) and (
        not query.prefixes or has_words(text, query.prefixes)
    )


class _Reasons:
    """Explains hits: by their own words, or near a text with these words."""

    def __init__(self, query: Query, part: RankedPart) -> None:
        self._words = {term.stem: term.word + "*" * term.prefix for term in query.terms}
        self._part = part
        self._having = {at for text, at in part.places.items() if part.own.get(text)}

    def of(self, row: Row) -> str:
        own = self._part.own[row["id"]]
        if own:
            return "has " + ", ".join(self._words[stem].replace(JOIN, ".") for stem in own)
        if (old := self._part.instead.get(row["id"])) is not None:
            return f"replaced #{old}"
        at = self._part.places[row["id"]]
        for distance in range(1, REACH + 1):
            for way in (-distance, distance):  # positions in a task are as far apart as its events
                if at + way in self._having:
                    return f"{_NEAR}#{row['seq'] + way}"
        return "like the query"


def _first_status(row: Row) -> str | None:
    """The status a record had when it was written; a message has none."""
    added: Any = json.loads(row["sets"] or "{}").get("+records")
    own = added.get(str(row["seq"])) if is_dict(added) else None
    return own.get("status") if is_dict(own) else None


def _source(row: Row) -> tuple[Any, ...] | None:
    """The repetitive source of a hit: an action's logs or a tool's calls; None for other hits."""
    kind = row["event_type"]
    if kind == "log":
        return row["task_id"], kind, row["ref_seq"]
    if kind in ("action", "action.ended"):
        data = json.loads(row["data"])
        return row["task_id"], kind, str(data.get("tool") or data.get("type"))
    return None
