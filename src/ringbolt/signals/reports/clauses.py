"""A report, clause by clause: where clauses begin, who speaks, and what is asked.

The words that carry an act are in `act_tables`, one table per language; `acts` reads a clause with
them. Nothing here knows a trade or a plan, except the titles of its steps, which a report may quote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...model.lazy_regex import lazy_regex
from .acts import ACTIVE, NO_THING, Act, Clause, read_clause
from .tokens import (
    COLON,
    TITLE,
    UNSPACED,
    Lookup,
    Token,
    is_past,
    language_of,
    lookup_for,
    read_tokens,
)
from .unspaced import unspaced_clauses

MOST_CHARACTERS = 4000
MOST_CLAUSES = 24
_FENCE = lazy_regex(r"```.*?(?:```|$)", re.S)
_QUOTE_LINE = lazy_regex(r"(?m)^\s*>.*$")
_LIST_ITEM = lazy_regex(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_ABBREVIATIONS = frozenset(
    "no nr e.g i.e etc approx ca vs mr mrs ms dr fig z.b d.h p st sr sra inc n.º art resp".split()
)
_SENTENCE_ENDS = frozenset(".!?…\n？！。")
_CLAUSE_ENDS = frozenset(";()–—-；:")


def read_clauses(text: str, titles: Sequence[str] = (), default: str = "en") -> list[Clause]:
    """The clauses of a report in order. `titles` are those of the plan, `default` its language."""
    text = (
        _QUOTE_LINE.sub("\n", _FENCE.sub("\n", text[:MOST_CHARACTERS]))
        if "`" in text or ">" in text
        else text
    )
    text = _with_titles(text[:MOST_CHARACTERS].replace(TITLE, " "), titles)
    language = language_of(text, default)
    if language in UNSPACED:
        return unspaced_clauses(text, language)
    lookup = lookup_for(language)
    found: list[Clause] = []
    heading: Act | None = None
    for line in text.split("\n"):
        item = _LIST_ITEM.match(line)
        if item:
            clauses = _line_clauses(line[item.end() :], lookup)
            number = line[: item.end()].strip(" .)\t")
            if heading and all(one.act == "none" for one in clauses):
                for one in clauses:
                    one.act = heading
            elif number.isdecimal() and any(one.act == "finished" and one.plain_done for one in clauses):
                pass
        else:
            clauses = _line_clauses(line, lookup)
            alone = [one for one in clauses if one.bare]
            heading = (
                alone[0].act if line.rstrip().endswith(":") and len(alone) == len(clauses) == 1 else None
            )
        found += clauses
        if len(found) > MOST_CLAUSES:
            break
    return found[:MOST_CLAUSES]


def _with_titles(text: str, titles: Sequence[str]) -> str:
    """A text with the titles that it quotes replaced by their places."""
    low = text.lower()
    for place, title in sorted(enumerate(titles), key=lambda pair: -len(pair[1])):
        name = title.strip().rstrip(".").lower()
        if len(name) < 6 or (" " not in name and name.isascii()):
            continue
        start = low.find(name)
        while start >= 0:
            end = start + len(name)
            whole = (
                not (low[start - 1 : start].isalnum() or low[end : end + 1].isalnum()) or not name.isascii()
            )
            if whole:
                mark = f" {TITLE}{place} "
                text, low = text[:start] + mark + text[end:], low[:start] + mark + low[end:]
                end = start + len(mark)
            start = low.find(name, end)
    return text


def _line_clauses(line: str, lookup: Lookup) -> list[Clause]:
    found: list[Clause] = []
    sentence: list[Token] = []
    spoken = False  # a colon after a verb of saying: the rest of the line is somebody else's
    for place, token in enumerate(tokens := read_tokens(line, lookup)):
        before = tokens[place - 1].low if place else ""
        if token.text in _SENTENCE_ENDS or token.text.startswith(".."):
            if token.text == "." and before in _ABBREVIATIONS:
                tokens[place - 1].mark = ""  # "no. 12" denies nothing
                continue
            if token.text in "?？":
                sentence.append(token)
            spoken = _sentence_clauses(sentence, lookup, found, spoken)
            sentence = []
        else:
            sentence.append(token)
    _sentence_clauses(sentence, lookup, found, spoken)
    return found


def _sentence_clauses(sentence: list[Token], lookup: Lookup, found: list[Clause], spoken: bool) -> bool:
    """Read a sentence into `found`; return whether the rest of the line is somebody else's speech."""
    if not sentence:
        return spoken
    asked = sentence[-1].text in "?？" or _begins_question(sentence, lookup)
    reported, says_on = _reported_from(sentence, lookup)
    for token in sentence[:reported]:
        if token.mark == "says":
            token.mark = ""  # "wrote the report" is the reporter's own act
    open_condition = sentence[0].mark == "condition"
    for start, segment in _segments(sentence, lookup):
        clause = read_clause(segment, lookup)
        # "Once the tests passed, I merged it" is past; "if it works, we are done" is not so yet.
        unreal = sentence[0].low in lookup.hypothesis or not any(
            is_past(one, segment, lookup) for one in segment
        )
        if open_condition and unreal and clause.act == "finished":
            clause.act = "planned"
        if asked:
            clause.act = "asked"
        elif spoken or (
            reported is not None and start + len(segment) > reported and segment[0].low not in _HENCE
        ):
            clause.act = "reported"
        clause.tail = start > 0
        found.append(clause)
    return spoken or says_on


def _begins_question(sentence: Sequence[Token], lookup: Lookup) -> bool:
    """ "Should I mark step 2 done" without its mark."""
    words = [token.low for token in sentence[:2]]
    if len(words) < 2 or words[1] not in ("i", "we", "you"):
        return False
    return words[0] in ("should", "shall", "may") or (
        words[0] in ("can", "could", "would", "do") and words[1] == "you"
    )


def _reported_from(sentence: Sequence[Token], lookup: Lookup) -> tuple[int | None, bool]:
    """Where somebody else's words begin in a sentence, and whether they go on behind it."""
    for place, token in enumerate(sentence):
        if token.mark != "says" or not token.first:
            continue
        subject = _subject(sentence, place, lookup)
        if token.low in _SOURCES:
            return 0, False
        if subject is None:
            continue
        rest = [one for one in sentence[place + 1 :] if one.text not in (",", ".")]
        colon = any(one.text == COLON for one in rest[:2])
        speaks = any(
            one.mark in ("done", "state", "failed", "negation", "unfinished")
            or one.low in lookup.steps
            or one.text.startswith(TITLE)
            or lookup.forms.is_past(one.low) for one in rest
        )  # fmt: skip
        if subject in _INSTRUMENTS and not any(
            (one.mark == "done" and one.low not in _RESULT_WORDS)
            or one.low in lookup.steps
            or one.text.startswith(TITLE)
            for one in rest
        ):
            continue  # what a check prints is the agent's own result
        if colon or speaks:
            return place, colon
    return None, False


# What follows from somebody else's words is the reporter's own act: "Legal says …, so we drop it".
_HENCE = frozenset("so therefore hence also deshalb daher donc así entonces então quindi dus".split())
_SOURCES = frozenset("according laut zufolge selon d'après según segundo secondo volgens".split())
# Programs whose word is the result of the agent's own check.
_INSTRUMENTS = frozenset(
    "ci pytest linter ruff mypy pyright eslint compiler tsc cargo tests suite test build pipeline gate"
    " checker validator scanner profiler benchmark curl ping".split()
)
_RESULT_WORDS = frozenset("works worked succeeded successful successfully passed passes".split())


def _subject(sentence: Sequence[Token], place: int, lookup: Lookup) -> str | None:
    """Who speaks, before a verb of saying; None if it is the reporter."""
    before = [one for one in sentence[:place] if one.text not in (",", '"', "“", "”")]
    for one in reversed(before):
        if one.text in _CLAUSE_ENDS or one.text == ",":
            break
        if one.low in lookup.self_words:
            return None
    words = [one.low for one in before]
    # The subject begins after the last clause.
    tail = words[-4:]
    if not tail or all(word in lookup.joins for word in tail):
        return None
    if lookup.forms.is_past(tail[-1]) and tail[-1] not in lookup.common:
        return None  # "checked and reported"
    return tail[-1]


def _segments(sentence: list[Token], lookup: Lookup) -> list[tuple[int, list[Token]]]:
    """A sentence cut into clauses at punctuation and conjunctions, where both sides say something."""
    pieces: list[tuple[int, list[Token]]] = []
    start = 0
    for place, token in enumerate(sentence):
        if place == 0:
            continue
        joins = token.low in lookup.joins and not token.mark and place + 1 < len(sentence)
        if (token.text in _CLAUSE_ENDS and token.text != COLON) or token.text == "," or (
            token.low in lookup.contrasts and not token.mark
        ) or (joins and _starts_act(sentence, place + 1, lookup)):  # fmt: skip
            pieces.append((start, sentence[start:place]))
            start = place + 1 if token.text in _CLAUSE_ENDS or token.text == "," or joins else place
    pieces.append((start, sentence[start:]))
    merged: list[tuple[int, list[Token]]] = []
    waiting: list[Token] = []
    for at, piece in pieces:
        if not piece:
            continue
        explains = bool(merged) and piece[0].low in NO_THING  # "it is clean, no misuse anywhere"
        if _is_active(piece, lookup) and not explains:
            merged.append((at, [*waiting, *piece]))
            waiting = []
        elif merged:
            merged[-1][1].extend([Token(",", ","), *piece])
        else:
            waiting += piece
    if waiting:
        merged.append((0, waiting))
    return merged


def _starts_act(sentence: Sequence[Token], place: int, lookup: Lookup) -> bool:
    """Whether a clause with an act of its own begins here: "… and pushed it", "… and now the docs"."""
    for token in sentence[place : place + 3]:
        if token.mark in ("begun", "planned", "deferred", "negation", "unfinished", "failed"):
            return True
        if is_past(token, sentence, lookup):
            return True
        if lookup.forms.is_progressing(token.low):
            return True
        if token.low not in lookup.common and not token.mark:
            return False
    return False


def _is_active(piece: Sequence[Token], lookup: Lookup) -> bool:
    return any(
        token.mark in ACTIVE
        or is_past(token, piece, lookup)
        or (place < 2 and lookup.forms.is_progressing(token.low))
        for place, token in enumerate(piece)
    )
