"""Ranking: score the texts that match a query.

A term counts once per text. Most of the quality comes from the neighbourhood: an answer often has none of
the words of the question that precedes it. So a text is scored by its own terms and, with falling weight, by
those of the four texts before and after it in the same task, added up before they are saturated (BM25F over
a kernel). The constants were measured on a plateau; docs/explanation/recall.md says how, and what did not
help.

Scoring runs in stages, each on fewer texts than the one before: `_gather` reads the postings, the best texts
by their own terms become seeds, `_spread` scores the neighbourhoods of the seeds, and `_weigh` adjusts the
best of these by author, time and type.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import repeat
from operator import sub
from typing import Protocol

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from ..model.validate import seconds_of
from ..signals.terms import Query, Term, stems
from ..store.event_texts import QUIET

Near = tuple[str, int, int, str]  # task, seq, id and time of a text


class Postings(Protocol):
    """The texts in scope and their terms, from one snapshot of an engine."""

    def total(self) -> int:
        """About how many texts are in scope."""
        ...

    def lists(self, terms: Sequence[Term], limit: int) -> list[list[int]]:
        """For each term the ids of the texts that have it, newest first."""
        ...

    def ids(self, all_of: Sequence[Sequence[Term]], limit: int) -> list[int]:
        """The ids of the texts with one term of each group, newest first."""
        ...

    def windows(self, ids: Sequence[int], reach: int) -> list[Near]:
        """Texts and their neighbours in their tasks, in order."""
        ...

    def about(self, ids: Sequence[int]) -> Mapping[int, About]:
        """Facts about texts besides their words."""
        ...

    def passing(self, ids: Sequence[int]) -> set[int]:
        """The neighbours that are in scope themselves."""
        ...


class Likeness(Protocol):
    """How close texts are to a query in meaning."""

    def closest(self, weights: Mapping[str, float], total: int) -> Sequence[int]:
        """The closest texts in scope."""
        ...

    def of(self, texts: Sequence[int]) -> Mapping[int, float]:
        """How close these texts are, at most 1."""
        ...


class About(Value, frozen=True, kw_only=True):
    """Facts about a text besides its words: speaker, time, type, whether it asks a question; whether it is
    outdated (`over`), which text replaced it, and which text is valid now (`instead`)."""

    speaker: str
    at: str
    type: str
    asks: bool
    seq: int
    over: bool = False
    replaced_by: int | None = None
    instead: int | None = None


BEFORE = (0.6, 0.36, 0.22, 0.13)  # weight of a term 1, 2, 3, 4 texts earlier
AFTER = (0.3, 0.18, 0.11, 0.065)  # and later: half of that, since answers follow questions
REACH = len(BEFORE)
WIDTH = 2 * REACH + 1
# The distances at which a term of this text counts, with their weights.
WINDOW = [(0, 1.0), *enumerate(BEFORE, 1), *((-place, weight) for place, weight in enumerate(AFTER, 1))]
FULL = sum(weight for _, weight in WINDOW)
SATURATION, LENGTH = 1.0, 0.75
SPEAKER = 0.2  # bonus if the query names the speaker, and no other
ANSWER = 0.1  # bonus for a text after one that ends with a question mark
ASKING = 0.15  # penalty for a text that ends with a question mark: it is seldom the answer
MONTH, DAY = 1.5, 3.0  # bonus for the month and the day that the query names
LIKENESS = 1.0  # weight of the likeness against the score of words, whose best is 1
# The likeness of a text is smoothed over its neighbourhood, with these weights.
SMOOTH = [(0, 1.0), (-1, 0.5), (-2, 0.25), (-3, 0.125), (1, 0.25), (2, 0.125), (3, 0.06)]
RECENCY = 0.03  # bonus for the newest result, less for older ones
PAUSE = 3600  # seconds; a longer gap ends a neighbourhood
# Small factors for important types, too small to bury a text that matches better.
IMPORTANCE = {
    "decision": 1.1,
    "exclusion": 1.1,
    "user_instruction": 1.1,
    "error": 1.05,
    "task.registered": 1.05,
    "log": 0.95,
    "snapshot": 0.9,
}

CAP = 1000  # newest texts that are read for one term
MANY_TERMS, LEAST_CAP = 8, 300  # with more terms, fewer texts for each, so that the time is limited
SEEDS = 120  # best texts by their own terms, whose neighbourhoods are scored; then the next, …
QUIET_SEEDS = 40  # reserved for rare types, so that logs cannot take all
KEEP = 100  # best texts of the neighbourhoods in one part
OVER = 0.5  # factor for the score of an outdated text
BELOW = 0.99  # an outdated text gets at most this share of its replacement's score
TERMS = 24  # rarest terms of a query that are used


class RankedPart(Value, frozen=True, kw_only=True):
    """Scores by id, and each text's own terms; a text without any has them in its neighbourhood."""

    scores: Mapping[int, float]
    own: Mapping[int, tuple[str, ...]]
    idf: Mapping[str, float]
    places: Mapping[int, int]
    instead: Mapping[int, int]  # texts included because they replaced another one, with its seq


class Ranking:
    """The texts that match a query by words or meaning, in parts: first the best ones, then the next, …

    A part does not depend on how much of it is read, so that pages do not overlap.
    """

    def __init__(self, query: Query, postings: Postings, likeness: Likeness | None = None) -> None:
        self._query = query
        self._postings = postings
        self._likeness = likeness
        total = postings.total()
        self.has, self.idf = _gather(query, postings, total)
        self._closest = likeness.closest(self.idf, total) if likeness else ()
        self._top = 0.0  # the best score of words
        weights = self.idf
        own = [(sum([weights[term] for term in terms]), text) for text, terms in self.has.items()]
        order = [text for _, text in sorted(own, reverse=True)]
        self._seeds = _dealt(order, self._quiet() if len(order) > SEEDS else set())
        self._span = (min(order, default=0), max(order, default=0))
        self._returned: set[int] = set()
        self._left: list[int] = []  # seeds of the last part that were not among the best
        self._scores: dict[int, float] = {}
        self._places: dict[int, int] = {}

    def _quiet(self) -> set[int]:
        terms = [term for term in self._query.terms if term.stem in self.idf]
        if not terms:
            return set()
        return set(self._postings.ids([[Term(word=QUIET, stem=QUIET)], terms], CAP))

    def part(self, number: int) -> RankedPart | None:
        """A part of the results; ask for them in order. None if there are no more.

        The first part includes the texts closest in meaning.
        """
        if number % 2:  # the seeds that were not among the best texts around them
            return self._ranked([text for text in self._left if text not in self._returned])
        begin = number // 2 * SEEDS
        seeds = self._seeds[begin : begin + SEEDS]
        also = () if number else self._closest
        if not seeds and not also:
            return None
        self._places = _places(self._postings.windows([*seeds, *also], REACH))
        self._scores = _spread(self.has, self.idf, self._places)
        self._left = [text for text in seeds if text in self._scores]
        best = dict.fromkeys(text for text in self._best(self._scores) if text not in self._returned)
        best |= dict.fromkeys(text for text in also if text in self._places)
        return self._ranked(list(best))

    def _ranked(self, texts: list[int]) -> RankedPart:
        self._returned.update(texts)
        scores = {text: self._scores.get(text, 0.0) for text in texts}
        about = _weigh(self._query, self._postings, scores, self._places, self._span)
        if self._likeness is not None:
            self._top = self._top or max(scores.values(), default=0.0) or 1.0
            scores = _fused(scores, self._top, self._likeness, self._places)
        instead = self._settle(scores, about)
        return RankedPart(
            scores=scores,
            own={text: tuple(self.has.get(text, ())) for text in scores},
            idf=self.idf,
            places=self._places,
            instead=instead,
        )

    def _settle(self, scores: dict[int, float], about: Mapping[int, About]) -> dict[int, int]:
        """Rank outdated texts below their replacements, adding missing ones; returns the added texts."""
        over = [text for text in sorted(scores, reverse=True) if text in about and about[text].over]
        absent = {about[text].instead or 0 for text in over} - {0} - {*scores} - self._returned
        coming = self._postings.passing([*absent])
        self._returned.update(coming)
        instead: dict[int, int] = {}
        for text in over:
            known, score = about[text], scores[text]
            now = known.instead or 0
            if now not in coming and now not in scores:
                continue
            if now not in self.has:
                instead[now] = known.seq
            scores[now] = max(score, scores.get(now, 0.0))
        for text in over:  # newest first, so that a replacement has its score before the text it replaced
            by = scores.get(about[text].replaced_by or 0)
            scores[text] = min(OVER * scores[text], scores[text] if by is None else BELOW * by)
        return instead

    def _best(self, scores: Mapping[int, float]) -> list[int]:
        """The best texts in scope; a text with terms is in scope, a neighbour may not be."""
        if self._query.exact:  # a query for an identifier or a phrase wants texts that contain it
            own = [text for text in scores if text in self.has]
            return nlargest(KEEP, own, key=lambda text: (scores[text], text))
        best: list[int] = []
        order = sorted(scores, key=lambda text: (scores[text], text), reverse=True)
        for begin in range(0, len(order), KEEP):
            page = order[begin : begin + KEEP]
            passing = self._postings.passing([text for text in page if text not in self.has])
            best += [text for text in page if text in self.has or text in passing]
            if len(best) >= KEEP:
                break
        return best[:KEEP]


def _dealt(order: Sequence[int], quiet: set[int]) -> list[int]:
    """Deal the seeds so that every part of SEEDS has QUIET_SEEDS places for rare types.

    Without them, a busy log that repeats the words of a query would fill the first part, and the one decision
    about it would come on a later page.
    """
    if not quiet:
        return [*order]
    dealt: dict[int, None] = {}
    plain, calm = iter(order), iter([text for text in order if text in quiet])
    while len(dealt) < len(order):
        part: dict[int, None] = {}
        for source, size in ((plain, SEEDS - QUIET_SEEDS), (calm, SEEDS), (plain, SEEDS)):
            for text in source:
                if text not in dealt:
                    part[text] = None
                if len(part) >= size:
                    break
        dealt.update(part)
    return list(dealt)


def _fused(
    scores: Mapping[int, float], top: float, likeness: Likeness, places: Mapping[int, int]
) -> dict[int, float]:
    """The sum of both scores; merging the two rankings instead was worse than words alone.

    The cosine of a text is averaged with those of its neighbours, for the same reason as its terms.
    """
    near = likeness.of(list(places))
    at_place = {places[text]: cosine for text, cosine in near.items()}
    fused: dict[int, float] = {}
    for text, score in scores.items():
        around = [(weight, at_place.get(places[text] + place)) for place, weight in SMOOTH]
        known = [(weight, cosine) for weight, cosine in around if cosine is not None]
        mass = sum(weight for weight, _ in known) or 1.0
        fused[text] = score / top + LIKENESS * sum(weight * cosine for weight, cosine in known) / mass
    return {text: score for text, score in fused.items() if score > 0}


def _gather(query: Query, postings: Postings, total: int) -> tuple[dict[int, list[str]], dict[str, float]]:
    """The terms of each text that has any, and the weight of each term."""
    cap = CAP if len(query.terms) <= MANY_TERMS else max(LEAST_CAP, MANY_TERMS * CAP // len(query.terms))
    lists = zip(query.terms, postings.lists(query.terms, cap + 1), strict=True)
    rarest = sorted(((term, ids) for term, ids in lists if ids), key=lambda pair: len(pair[1]))[:TERMS]
    idf = {term.stem: _idf(ids, total, cap) for term, ids in rarest}
    has: dict[int, list[str]] = {}
    for term, ids in rarest:
        for text in ids[:cap]:
            has.setdefault(text, []).append(term.stem)
    frequent = [term for term, ids in rarest if len(ids) > cap]
    rare = [term for term, ids in rarest if len(ids) <= cap]
    _look_up_frequent(frequent, rare, idf, postings, has)
    return has, idf


def _idf(ids: Sequence[int], total: int, cap: int) -> float:
    """The weight of a term, by the neighbourhoods that contain it: words that come in bursts weigh more."""
    # Each text covers WIDTH places; where two are closer than that, the overlap counts once.
    near: float = WIDTH + sum(map(min, map(sub, ids, ids[1:]), repeat(WIDTH)))
    if len(ids) > cap:  # only the newest were read: extrapolate to the whole scope
        near *= total / (ids[0] - ids[-1] + 1)
    share = min(near, total)
    return math.log(1 + (total - share + 0.5) / (share + 0.5))


def _look_up_frequent(
    frequent: list[Term],
    rare: Sequence[Term],
    idf: Mapping[str, float],
    postings: Postings,
    has: dict[int, list[str]],
) -> None:
    """Find frequent terms, which were read only for the newest texts, beside rarer terms and each other."""

    def add(ids: Iterable[int], terms: Iterable[Term]) -> None:
        for text in ids:
            known = has.setdefault(text, [])
            known += [term.stem for term in terms if term.stem not in known]

    if rare:
        for term in frequent:
            add(postings.ids([[term], rare], CAP), [term])
    # Texts of any age with several frequent terms: all of them, then all but the most frequent, …
    frequent.sort(key=lambda term: idf[term.stem], reverse=True)
    for size in range(min(len(frequent), 6), 1, -1):
        ids = postings.ids([[term] for term in frequent[:size]], SEEDS)
        add(ids, frequent[:size])
        if len(ids) == SEEDS:
            break


def _places(near: Sequence[Near]) -> dict[int, int]:
    """Positions of texts on one line: neighbours are adjacent, other tasks and times are out of reach."""
    places: dict[int, int] = {}
    at, last_task, last_seq, last_time = 0, "", 0, ""
    for task, seq, text, time in near:
        together = task == last_task and not _pause(last_time, time)
        at += min(seq - last_seq, REACH + 1) if together else REACH + 1
        places[text] = at
        last_task, last_seq, last_time = task, seq, time
    return places


def _pause(before: str, after: str) -> bool:
    return before[:13] != after[:13] and abs(seconds_of(after) - seconds_of(before)) > PAUSE


def _spread(
    has: Mapping[int, Sequence[str]], idf: Mapping[str, float], places: Mapping[int, int]
) -> dict[int, float]:
    """The score of every place: its terms and those around it, saturated and normalised by length."""
    size = max(places.values(), default=0) + REACH + 1
    counts: dict[str, list[float]] = {}
    mass = [0.0] * size
    for text, at in places.items():
        rows = [mass]
        for term in has.get(text, ()):
            if (row := counts.get(term)) is None:
                row = counts[term] = [0.0] * size
            rows.append(row)
        for row in rows:
            for distance, weight in WINDOW:
                row[at + distance] += weight
    norm = [SATURATION * (1 - LENGTH + LENGTH * part / FULL) for part in mass]
    total = [0.0] * size
    for term, row in counts.items():
        weight = idf[term] * (SATURATION + 1)
        for at, number in enumerate(row):
            if number:
                total[at] += weight * number / (number + norm[at])
    return {text: total[at] for text, at in places.items() if total[at]}


def _weigh(
    query: Query,
    postings: Postings,
    scores: dict[int, float],
    places: Mapping[int, int],
    span: tuple[int, int],
) -> Mapping[int, About]:
    """Adjust scores by speaker, time, type, and whether a text asks or answers."""
    at_place = {at: text for text, at in places.items()}
    before = {text: at_place.get(places[text] - 1) for text in scores}
    about = postings.about([*{*scores, *(text for text in before.values() if text is not None)}])
    speakers = {about[text].speaker for text in scores if text in about} - {""}
    wanted = {term.stem for term in query.terms}
    named = [speaker for speaker in speakers if not wanted.isdisjoint(stems(speaker))]
    dates = _dates(query.text)
    oldest, newest = span
    for text in scores:
        known = about.get(text)
        if known is None:
            continue
        scores[text] *= 1 + RECENCY * max(0.0, min(1.0, (text - oldest) / max(1, newest - oldest)))
        scores[text] += _date_bonus(dates, known.at)
        scores[text] *= IMPORTANCE.get(known.type, 1.0)
        if len(named) == 1 and known.speaker == named[0]:
            scores[text] *= 1 + SPEAKER
        if known.asks:
            scores[text] *= 1 - ASKING
        previous = about.get(before[text] or 0)
        if previous is not None and previous.asks:
            scores[text] *= 1 + ANSWER
    return about


# --- dates ------------------------------------------------------------------------------------------

_NAMES = "january february march april may june july august september october november december".split()
_MONTHS = {name: number for number, full in enumerate(_NAMES, 1) for name in (full, full[:3])} | {"sept": 9}
_WORD = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = lazy_regex(
    r"(?i)\b(?P<y1>\d{4})-(?P<m1>\d\d)(?:-(?P<d1>\d\d))?\b"
    rf"|\b(?:(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<m2>{_WORD})\b\.?,?"
    r"(?: (?P<d3>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (?P<y2>\d{4})\b)?"
)
_BEFORE_MONTH = ("in", "of", "last", "since", "during", "until", "by")


def _dates(text: str) -> list[tuple[str | None, int, int | None]]:
    """Year, month and day of the dates in a query; a bare word like "may" is not a date."""
    dates: list[tuple[str | None, int, int | None]] = []
    for match in _DATE.finditer(text[:1000]):
        year, day = match["y1"] or match["y2"], match["d1"] or match["d2"] or match["d3"]
        month = int(match["m1"]) if match["m1"] else _MONTHS[match["m2"].lower()]
        words = text[: match.start()].lower().split()
        if year or day or (words and words[-1] in _BEFORE_MONTH):
            dates.append((year, month, int(day) if day else None))
    return dates[:4]


def _date_bonus(dates: Iterable[tuple[str | None, int, int | None]], at: str) -> float:
    best = 0.0
    for year, month, day in dates:
        if at[5:7] == f"{month:02}" and (year is None or at[:4] == year):
            best = max(best, MONTH + DAY * (day is not None and at[8:10] == f"{day:02}"))
    return best
