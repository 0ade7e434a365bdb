"""How recall searches: arguments to a scope, a ranking, and hits that a reader can judge."""

from __future__ import annotations

from .. import checks, rules
from ..errors import InvalidInput
from ..recall import snippets
from ..recall.postings import Scope, StorePostings
from ..recall.ranking import REACH, rank
from ..recall.terms import has_phrase, read_query, scope_term, stems
from ..recall.texts import full_text
from ..store.search import Search
from ..types import Hit, Recall
from .anchors import read_anchors
from .base import find_item
from .reading import read_origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..recall.ranking import Found, Likeness
    from ..recall.terms import Query
    from ..store.tx import Row, Tx
    from .base import Base

# What a caller may call the kinds of events; the entry types are words of their own.
TYPES: dict[str, tuple[str, ...]] = {
    **{kind: (kind,) for kind in rules.ENTRY_TYPES},
    "message": ("message", "task.updated", "item.updated", "task.finished"),
    "action": ("action", "action.ended"),
    "log": ("log",),
    "snapshot": ("snapshot",),
    "answer": ("task.finished",),
    "request": ("task.registered",),
    "plan": ("task.registered", "plan.replaced", "plan.appended"),
    "effect": ("intent", "outcome"),
}
WAITING_AT_MOST = 200  # texts that a search looks at itself before it asks for them to be indexed
MOST_LIMIT = 100
LOOKED_AT = 150  # texts that are read in full for one page, at most
READ_AT_ONCE = 25
# Of a source that repeats itself (the logs of one action, the calls of one tool) so many a page, then others.
CHATTY_SHARE = 0.3


def recall(
    memory: Base,
    find: Callable[[Tx, str | None], Row],
    query: str | None,
    task_id: str | None,
    item: str | int | None,
    types: str | Sequence[str] | None,
    tags: str | Sequence[str] | None,
    since: Any,
    until: Any,
    at: Any,
    workspace: str | None,
    limit: int,
    cursor: int | None,
    titles: bool,
) -> Recall:
    """Find the best texts for a query within the filters."""
    asked = None if query is None else checks.text("query", query, 1 << 20)
    limit = checks.whole("limit", limit, 1, MOST_LIMIT)
    offset = 0 if cursor is None else checks.whole("cursor", cursor, 0, 10_000)
    kinds = _kinds(types)
    wanted = [[scope_term("g", tag)] for tag in checks.words("tags", tags)]
    begin = None if since is None else checks.moment("since", since)
    end = None if until is None else checks.moment("until", until)
    here = memory.workspace if workspace == "" else checks.optional("workspace", workspace, 4000)
    if kinds:
        wanted.append([scope_term("k", kind) for kind in kinds])

    meaning = None
    if memory.settings.embedder != "none" and asked is not None and asked.strip():
        from .meaning import meaning_of

        meaning = meaning_of(memory).prepared(memory.store, read_query(asked))

    def work(tx: Tx) -> Recall | None:
        groups, last_seq, until_then, head = list(wanted), None, end, None
        if task_id is not None or item is not None or isinstance(at, int):
            head = find(tx, task_id)
            groups.append([scope_term("t", head["task_id"])])
        elif here is not None:
            groups.append([scope_term("w", here)])
        if item is not None and head is not None:
            groups.append([scope_term("i", find_item(tx.steps(head["task_id"]), item)["item_id"])])
        if isinstance(at, int) and not isinstance(at, bool) and head is not None:
            last_seq = checks.whole("at", at, 1, head["last_seq"])
        elif at is not None:
            until_then = min(filter(None, (end, checks.moment("at", at))))
        scope = Scope(
            groups,
            since=begin,
            until=until_then,
            task_id=head["task_id"] if head else None,
            last_seq=last_seq,
        )
        waiting = memory.store.waiting(tx)
        if len(waiting) > WAITING_AT_MOST:
            return None
        postings = StorePostings(tx, scope, waiting)
        likeness = meaning.likeness(tx, postings) if meaning else None
        return _Search(tx, scope, postings, titles, likeness).page(asked, limit, offset)

    found = memory.store.read(work)
    if found is None:
        # Much was written before there was an index, or another process is behind: index it first.
        memory.store.index()
        found = memory.store.read(work)
    found = found or Recall(query=asked, hits=())
    return found.replace(warnings=meaning.warnings) if meaning else found


def _kinds(types: Any) -> list[str]:
    kinds: list[str] = []
    for word in checks.words("types", types):
        name = checks.word("type", word, TYPES)
        kinds += TYPES[name]
    return list(dict.fromkeys(kinds))


class _Search:
    """One search on one snapshot."""

    def __init__(
        self, tx: Tx, scope: Scope, postings: StorePostings, titles: bool, likeness: Likeness | None
    ) -> None:
        self._tx = tx
        self._scope = scope
        self._postings = postings
        self._titles = titles
        self._likeness = likeness

    def page(self, asked: str | None, limit: int, offset: int) -> Recall:
        """The hits from an offset on."""
        query = read_query(asked) if asked and asked.strip() else None
        if query is None or not query.terms:
            return self._newest(asked, limit, offset)
        found = rank(query, self._postings, 3 * (offset + limit) + 50, self._likeness)
        order = sorted(found.scores, key=lambda text: (-found.scores[text], -text))
        rows = self._readable(query, order, offset + limit + 1)
        hits = self._hits(query, found, rows)
        hits = _settled(hits)
        hits = _spread_sources(hits, limit)
        page = self._cut(asked, [hit for hit, _ in hits], limit, offset)
        return page.replace(semantic=True) if self._likeness else page

    def _newest(self, asked: str | None, limit: int, offset: int) -> Recall:
        if not self._scope.groups:
            raise InvalidInput(
                "invalid_argument", "There is nothing to look for.", "Give a query, a task or a filter."
            )
        if asked and asked.strip():  # nothing in it is a word
            return Recall(query=asked, hits=())
        ids = self._postings.newest(offset + limit + 1)
        rows = sorted(Search(self._tx).texts(ids), key=lambda row: -row["id"])
        hits = [self._hit(row, full_text(row), 0.0, "newest", ()) for row in rows]
        return self._cut(None, hits, limit, offset)

    def _cut(self, asked: str | None, hits: list[Hit], limit: int, offset: int) -> Recall:
        more = len(hits) > offset + limit
        return Recall(
            query=asked, hits=tuple(hits[offset : offset + limit]), cursor=offset + limit if more else None
        )

    def _readable(self, query: Query, order: Sequence[int], wanted: int) -> list[tuple[Row, str, int]]:
        """The best texts with their words, how many are like each, until enough are found."""
        found: list[tuple[Row, str, int]] = []
        places: dict[tuple[str, str], int] = {}
        begun = [term.word for term in query.terms if term.prefix]
        for begin in range(0, min(len(order), LOOKED_AT + wanted), READ_AT_ONCE):
            some = order[begin : begin + READ_AT_ONCE]
            rows = {row["id"]: row for row in Search(self._tx).texts(some)}
            for text_id in some:
                row = rows.get(text_id)
                if row is None or row["forgotten"] is not None:
                    continue
                text = full_text(row)
                if query.phrases and not has_phrase(text, query.phrases):
                    continue
                if begun and not _begins(text, begun):
                    continue
                same = (row["task_id"], snippets.fingerprint(text))
                if same in places:
                    row_before, text_before, alike = found[places[same]]
                    found[places[same]] = (row_before, text_before, alike + 1)
                    continue
                places[same] = len(found)
                found.append((row, text, 0))
            if len(found) >= wanted + READ_AT_ONCE:
                break
        return found

    def _hits(self, query: Query, found: Found, rows: list[tuple[Row, str, int]]) -> list[tuple[Hit, Row]]:
        words = {term.stem: term.word for term in query.terms}
        having = {at: text for text, at in found.places.items() if found.own.get(text)}
        seqs = {row["id"]: row["seq"] for row, _, _ in rows}
        hits: list[tuple[Hit, Row]] = []
        for row, text, alike in rows:
            own = found.own.get(row["id"], ())
            why = _why(own, words, row["id"], found.places, having, seqs)
            hit = self._hit(row, text, found.scores[row["id"]], why, own, alike)
            hits.append((hit, row))
        return hits

    def _hit(self, row: Row, text: str, score: float, why: str, own: Sequence[str], alike: int = 0) -> Hit:
        status, replaced_by = row["status"], row["replaced_by"]
        if self._scope.last_seq is not None and replaced_by and replaced_by > self._scope.last_seq:
            status, replaced_by = "active", None  # it still was, then
        return Hit(
            task_id=row["task_id"],
            task_name=row["name"],
            seq=row["seq"],
            type=row["event_type"],
            at=row["timestamp"],
            origin=read_origin(row),
            item=row["item_id"],
            status=status,
            replaced_by=replaced_by if status in ("superseded", "invalidated", "resolved") else None,
            title=snippets.title(row["text"] or text),
            snippet=None if self._titles else snippets.snippet(text, set(own)),
            score=round(score, 4),
            why=why,
            alike=alike,
            anchors=() if self._titles else read_anchors(row),
        )


def _begins(text: str, begun: Sequence[str]) -> bool:
    import re

    lowered = text.lower()
    return all(re.search(rf"(?<!\w){re.escape(word)}", lowered) for word in begun)


def _why(
    own: Sequence[str],
    words: Mapping[str, str],
    text: int,
    places: Mapping[int, int],
    having: Mapping[int, int],
    seqs: Mapping[int, int],
) -> str:
    if own:
        from ..recall.terms import JOIN

        shown = [words.get(stem, stem).replace(JOIN, ".") for stem in own]
        return "has " + ", ".join(dict.fromkeys(shown))
    at = places[text]
    for distance in range(1, REACH + 1):
        for near in (at - distance, at + distance):
            if near in having:
                seq = seqs.get(having[near])
                return f"near #{seq}" if seq is not None else "near texts that have the words"
    return "like the query"


_OVER = ("superseded", "invalidated")


def _settled(hits: list[tuple[Hit, Row]]) -> list[tuple[Hit, Row]]:
    """Hits in order, with what was superseded or invalidated after what replaced it."""
    place = {(hit.task_id, hit.seq): score for hit, _ in hits for score in (hit.score,)}

    def weight(hit: Hit) -> float:
        if hit.status not in _OVER:
            return hit.score
        replaced = place.get((hit.task_id, hit.replaced_by or 0), hit.score)
        return min(hit.score, replaced) * 0.5

    return sorted(hits, key=lambda pair: -weight(pair[0]))


def _spread_sources(hits: list[tuple[Hit, Row]], limit: int) -> list[tuple[Hit, Row]]:
    """Hits in order, with those of a chatty source after the others once it has had its share."""
    most = max(2, round(limit * CHATTY_SHARE))
    counts: dict[tuple[Any, ...], int] = {}
    first: list[tuple[Hit, Row]] = []
    later: list[tuple[Hit, Row]] = []
    for pair in hits:
        source = _source(*pair)
        if source is not None:
            counts[source] = counts.get(source, 0) + 1
            if counts[source] > most:
                later.append(pair)
                continue
        first.append(pair)
    return first + later


def _source(hit: Hit, row: Row) -> tuple[Any, ...] | None:
    """What a hit comes from, if that is something which repeats itself: an action's logs, a tool's calls."""
    if hit.type == "log":
        return hit.task_id, "log", row["ref_seq"]
    if hit.type in ("action", "action.ended") and hit.origin.channel in ("tool", "system", "web"):
        return hit.task_id, hit.type, hit.origin.channel, stems(hit.title)[:1] and stems(hit.title)[0]
    return None
