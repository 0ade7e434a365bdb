"""A report, clause by clause: what each clause does (finished, begun, failed, …), and the words it does it with.

The words that carry an act are in `act_tables`, one table per language; nothing here knows a trade or a plan,
except the titles of its steps, which a report may quote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from msgspec import Struct, field

from ..model.lazy_regex import lazy_regex
from .act_tables import LANGUAGES, ActTable, table
from .trade_words import base_words, concepts
from .word_roots import Forms, forms, plain

Act = Literal[
    "finished", "begun", "failed", "partly", "planned", "asked", "denied", "reopened", "reported", "skipped", "none"
]  # fmt: skip

MOST_CHARACTERS = 4000
MOST_CLAUSES = 24
UNSPACED = ("zh", "ja")

# A quoted title, as a private character for its place.
TITLE = "\ue000"
_TOKEN = lazy_regex(
    r"\ue000\d+|\[[ xX]\]|[^\W_]+(?:(?:['’_./@:-]|(?<=\d)[,–](?=\d))+[^\W_]+)*'?|\.{2,}|…|!(?=\s|$)|[.?;:,()\n–—#&+%✓✔✅☑✗✘❌？！。；，、]"
    r"|(?<=\s)-(?=\s)|\"|“|”"
)
_ELIDED = lazy_regex(r"(?:l|d|qu|s|m|t|dell|all|nell|sull|un|dall)['’](?=\w)")
_FENCE = lazy_regex(r"```.*?(?:```|$)", re.S)
_QUOTE_LINE = lazy_regex(r"(?m)^\s*>.*$")
_KANA = lazy_regex(r"[\u3040-\u30ff]")
_HAN = lazy_regex(r"[\u3400-\u9fff]")
_LIST_ITEM = lazy_regex(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_ABBREVIATIONS = frozenset(
    "no nr e.g i.e etc approx ca vs mr mrs ms dr fig z.b d.h p st sr sra inc n.º art resp".split()
)
_SENTENCE_ENDS = frozenset(".!?…\n？！。")
_CLAUSE_ENDS = frozenset(";()–—-；:")
_TICKS = frozenset("✓✔✅☑")
_CROSSES = frozenset("✗✘❌")
_UNITS = frozenset(
    "s sec secs min mins minute minutes h hr hrs hour hours day days week weeks month months % gb mb kb tb ms eur usd"
    " euro euros dollars km m cm kg g ng ul ml l x pm am uhr stunden tage minuten heures jours horas días dias ore giorni"
    " uur dagen people pages lines rows files times"
    .split()
)  # fmt: skip
_NOT_BEFORE_NUMBER = frozenset("in at after by for of as to from on than v version about around".split())
_COLON = ":"


class Clause(Struct):
    """What one clause does, and with which words.

    `verbs` are the words that carry the act if they name an action ("bought"), `words` the others, and
    `details` those behind a preposition or in an addition. `titles` and `numbers` name steps outright.
    """

    act: Act
    language: str
    words: list[str] = field(default_factory=list[str])
    verbs: list[str] = field(default_factory=list[str])
    details: list[str] = field(default_factory=list[str])
    after: int = 0  # how many of `words` stand before the verb; they may be who did it
    has_object: bool = False  # "it" or a word behind the verb
    states: list[str] = field(default_factory=list[str])  # "up", "green"
    numbers: list[int] = field(default_factory=list[int])
    titles: list[int] = field(default_factory=list[int])
    plain_done: bool = False  # a word that says only that it is done
    whole: bool = False  # about the whole plan
    tail: bool = False  # an addition to the clause before it: ", all finished"
    guessed: bool = False
    last: bool = False  # "the last step"
    results: bool = False  # has a figure or an id
    copula: bool = False  # says what something is: "the cause is …"
    now: bool = False  # says how it is now
    text: str = ""

    @property
    def bare(self) -> bool:
        """Whether it names nothing."""
        named = self.words or self.verbs or self.details or self.numbers or self.titles
        return not named and not self.states


# --- tables ready for use ---------------------------------------------------------------------------

# The marks in the order of precedence for a phrase that stands under several.
_MARKS = (
    "harmless", "reopened", "skipped", "unfinished", "failed", "partly", "begun", "state", "done", "guessed", "deferred",
    "planned", "condition", "says", "negation",
)  # fmt: skip


class _Lookup:
    """A table with its phrases by their first word."""

    def __init__(self, one: ActTable) -> None:
        self.table = one
        self.forms: Forms = forms(one.language)
        self.common = frozenset(one.common.split())
        self.phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for mark in reversed(_MARKS):
            for phrase in _split(getattr(one, mark)):
                self._add(phrase, mark)
        for found in self.phrases.values():
            found.sort(key=lambda pair: -len(pair[0]))
        self.all = [tuple(phrase.split()) for phrase in _split(one.all)]
        self.repairs = frozenset(_split(one.repairs))
        self.steps = frozenset(_split(one.steps))
        self.ordinals = {word: place for place, word in enumerate(_split(one.ordinals), 1)}
        self.numbers = {word: place for place, word in enumerate(_split(one.numbers), 1)}
        self.last = frozenset(_split(one.last))
        self.joins = frozenset(_split(one.joins))
        self.contrasts = frozenset(phrase for phrase in _split(one.contrasts) if " " not in phrase)
        self.into = frozenset(_split(one.into))
        self.self_words = frozenset(_split(one.self_words))
        self.asks = frozenset(_split(one.asks))
        self.hypothesis = frozenset(_split(one.hypothesis))
        self.of = frozenset(_split(one.of))
        self.maybe_past = frozenset(one.maybe_past.split())
        self.helpers = frozenset(one.helpers.split())
        known = {phrase.split()[0] for mark in _MARKS for phrase in _split(getattr(one, mark))}
        # By these words the language is recognised.
        pasts = {pair.partition(":")[0] for pair in one.past_words.split()}
        self.known = (
            self.common
            | base_words(one.language)
            | pasts
            | {word for word in known if word.isalpha()}
            | self.steps
        )

    def _add(self, phrase: str, mark: str) -> None:
        words = tuple(phrase.split())
        found = self.phrases.setdefault(words[0], [])
        found[:] = [pair for pair in found if pair[0] != words]
        found.append((words, mark))


def _split(phrases: str) -> list[str]:
    return [phrase for one in phrases.split(",") if (phrase := one.strip())]


@cache
def _lookup(language: str) -> _Lookup:
    return _Lookup(table(language))


def language_of(text: str, default: str = "en") -> str:
    """The language of a text: by its script, or by its most frequent words; `default` in doubt."""
    if not text.isascii():
        if _KANA.search(text):
            return "ja"
        if _HAN.search(text):
            return "ja" if default == "ja" else "zh"
    words = [found.lower().replace("’", "'") for found in _TOKEN.findall(text[:600])]
    best, most = default, 0.0
    for language in LANGUAGES:
        if language in UNSPACED:
            continue
        lookup = _lookup(language)
        hits = sum(word in lookup.known for word in words) + 0.5 * (language == default)
        if hits > most + (0.25 if language != default else 0.0):
            best, most = language, hits
    return best


def common_words(language: str) -> frozenset[str]:
    """Words of a language that say nothing about a step."""
    return _lookup(language).common


# --- reading ----------------------------------------------------------------------------------------


def read_clauses(text: str, titles: Sequence[str] = (), default: str = "en") -> list[Clause]:
    """The clauses of a report in order. `titles` are those of the plan, `default` its language."""
    text = (
        _QUOTE_LINE.sub("\n", _FENCE.sub("\n", text[:MOST_CHARACTERS]))
        if "`" in text or ">" in text
        else text
    )
    text = _with_titles(text[:MOST_CHARACTERS], titles)
    language = language_of(text, default)
    if language in UNSPACED:
        return _unspaced_clauses(text, language)
    lookup = _lookup(language)
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
            elif number.isdigit() and any(one.act == "finished" and one.plain_done for one in clauses):
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


class _Token(Struct):
    text: str
    low: str
    mark: str = ""
    first: bool = False  # of a phrase with a mark


def _tokens(line: str, lookup: _Lookup) -> list[_Token]:
    found: list[_Token] = []
    for text in _TOKEN.findall(line):
        low = text.lower().replace("’", "'")
        if (
            lookup.table.language in ("fr", "it")
            and (elided := _ELIDED.match(low))
            and low not in lookup.phrases
        ):
            text, low = text[elided.end() :], low[elided.end() :]
        found.append(_Token(text, low))
    if lookup.table.language == "en":
        found = _uncontracted(found)
    _mark(found, lookup)
    return found


def _uncontracted(tokens: list[_Token]) -> list[_Token]:
    """ "The map's here" as "the map is here"; "HR's share" stays."""
    found: list[_Token] = []
    for place, token in enumerate(tokens):
        follows = tokens[place + 1].low if place + 1 < len(tokens) else ""
        if token.low.endswith("'s") and len(token.low) > 4 and follows in _PREDICATES:
            found += [_Token(token.text[:-2], token.low[:-2]), _Token("is", "is")]
        else:
            found.append(token)
    return found


_PREDICATES = frozenset(
    "here there up out in off on done finished ready complete live online green fine ok over back gone with not still being"
    " now almost half nearly clear clean set".split()
)


def _mark(tokens: list[_Token], lookup: _Lookup) -> None:
    at = 0
    while at < len(tokens):
        for words, mark in lookup.phrases.get(tokens[at].low, ()):
            if len(words) == 1 or tuple(one.low for one in tokens[at : at + len(words)]) == words:
                for one in tokens[at : at + len(words)]:
                    one.mark = mark
                tokens[at].first = True
                at += len(words) - 1
                break
        at += 1


def _line_clauses(line: str, lookup: _Lookup) -> list[Clause]:
    found: list[Clause] = []
    sentence: list[_Token] = []
    spoken = False  # a colon after a verb of saying: the rest of the line is somebody else's
    for place, token in enumerate(tokens := _tokens(line, lookup)):
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


def _sentence_clauses(sentence: list[_Token], lookup: _Lookup, found: list[Clause], spoken: bool) -> bool:
    """Read a sentence; whether what follows it on the line is somebody else's speech."""
    if not sentence:
        return spoken
    asked = sentence[-1].text in "?？" or _begins_question(sentence, lookup)
    reported, says_on = _reported_from(sentence, lookup)
    open_condition = sentence[0].mark == "condition"
    for start, segment in _segments(sentence, lookup):
        clause = _read_segment(segment, lookup)
        if open_condition and clause.act == "finished":
            # "Once the tests passed, I merged it" is past; "if it works, we are done" is not so yet.
            if sentence[0].low in lookup.hypothesis or not any(
                _is_past(one, segment, lookup) for one in segment
            ):
                clause.act = "planned"
        if asked:
            clause.act = "asked"
        elif spoken or (reported is not None and start + len(segment) > reported):
            clause.act = "reported"
        clause.tail = start > 0
        found.append(clause)
    return spoken or says_on


def _begins_question(sentence: Sequence[_Token], lookup: _Lookup) -> bool:
    """ "Should I mark step 2 done" without its mark."""
    words = [token.low for token in sentence[:2]]
    return len(words) == 2 and words[0] in ("should", "shall", "may", "can", "could", "would", "do") and words[1] in (
        "i", "we", "you",
    ) and not (words[0] in ("can", "could", "would", "do") and words[1] != "you")  # fmt: skip


def _reported_from(sentence: Sequence[_Token], lookup: _Lookup) -> tuple[int | None, bool]:
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
        colon = any(one.text == _COLON for one in rest[:2])
        speaks = any(
            one.mark in ("done", "state", "failed", "negation", "unfinished") or one.low in lookup.steps or one.text.startswith(TITLE)
            or lookup.forms.is_past(one.low) for one in rest
        )  # fmt: skip
        if subject in _INSTRUMENTS and not any(
            (one.mark == "done"
            and one.low not in _RESULT_WORDS)
            or one.low in lookup.steps
            or one.text.startswith(TITLE)
            for one in rest
        ):
            continue  # what a check prints is the agent's own result
        if colon or speaks:
            return place, colon
    return None, False


_SOURCES = frozenset("according laut zufolge selon d'après según segundo secondo volgens".split())
# Programs whose word is the result of the agent's own check.
_INSTRUMENTS = frozenset(
    "ci pytest linter ruff mypy pyright eslint compiler tsc cargo tests suite test build pipeline gate checker"
    " validator scanner profiler benchmark curl ping".split()
)
_RESULT_WORDS = frozenset("works worked succeeded successful successfully passed passes".split())


def _subject(sentence: Sequence[_Token], place: int, lookup: _Lookup) -> str | None:
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


def _segments(sentence: list[_Token], lookup: _Lookup) -> list[tuple[int, list[_Token]]]:
    """A sentence cut into clauses: at marks of punctuation and conjunctions, where both sides say something."""
    pieces: list[tuple[int, list[_Token]]] = []
    start = 0
    for place, token in enumerate(sentence):
        if place == 0:
            continue
        joins = token.low in lookup.joins and not token.mark and place + 1 < len(sentence)
        if (token.text in _CLAUSE_ENDS and token.text != _COLON) or token.text == "," or (
            token.low in lookup.contrasts and not token.mark
        ) or (joins and _starts_act(sentence, place + 1, lookup)):  # fmt: skip
            pieces.append((start, sentence[start:place]))
            start = place + 1 if token.text in _CLAUSE_ENDS or token.text == "," or joins else place
    pieces.append((start, sentence[start:]))
    merged: list[tuple[int, list[_Token]]] = []
    waiting: list[_Token] = []
    for at, piece in pieces:
        if not piece:
            continue
        if _is_active(piece, lookup):
            merged.append((at, [*waiting, *piece]))
            waiting = []
        elif merged:
            merged[-1][1].extend([_Token(",", ","), *piece])
        else:
            waiting += piece
    if waiting:
        merged.append((0, waiting))
    return merged


def _starts_act(sentence: Sequence[_Token], place: int, lookup: _Lookup) -> bool:
    """Whether a clause with an act of its own begins here: "… and pushed it", "… and now the docs"."""
    for token in sentence[place : place + 3]:
        if token.mark in ("begun", "planned", "deferred", "negation", "unfinished", "failed"):
            return True
        if _is_past(token, sentence, lookup):
            return True
        if lookup.forms.is_progressing(token.low):
            return True
        if token.low not in lookup.common and not token.mark:
            return False
    return False


def _is_past(token: _Token, sentence: Sequence[_Token], lookup: _Lookup) -> bool:
    if token.mark not in ("", "harmless"):
        return False
    if not lookup.forms.is_past(token.low):
        weak = lookup.forms.weak_past_endings
        return bool(weak) and token.low.endswith(weak) and _names_action(token.low, lookup)
    if lookup.table.language != "en" and _names_thing(token.low, lookup.table.language):
        return False
    if token.low in lookup.maybe_past:
        for place, one in enumerate(sentence):
            if one is token:
                if place and sentence[place - 1].text[0].isdigit():
                    return False  # "4 left"
                return (
                    place == 0
                    or sentence[place - 1].low in lookup.helpers
                    or sentence[place - 1].low in lookup.joins
                )
    return True


@lru_cache(maxsize=1 << 12)
def _names_thing(word: str, language: str) -> bool:
    """Whether a word is a thing of the thesaurus and no action: Italian "inviti" has the form of a past."""
    known = concepts(word, language)
    return bool(known) and not any(one[0] == "#" for one in known)


def _names_action(word: str, lookup: _Lookup) -> bool:
    known = concepts(word, lookup.table.language)
    return (
        word not in lookup.common
        and any(one[0] == "#" for one in known)
        and not any(one[0] == "=" for one in known)
    )


_ACTIVE = frozenset(
    "deferred done state begun failed partly planned condition unfinished reopened skipped guessed negation".split()
)


def _is_active(piece: Sequence[_Token], lookup: _Lookup) -> bool:
    return any(
        token.mark in _ACTIVE
        or _is_past(token, piece, lookup)
        or (place < 2 and lookup.forms.is_progressing(token.low))
        for place, token in enumerate(piece)
    )


# --- one clause -------------------------------------------------------------------------------------


def _read_segment(tokens: list[_Token], lookup: _Lookup) -> Clause:
    _mark_short_state(tokens, lookup)
    tokens, conditional = _main_part(tokens, lookup)
    clause = Clause("none", lookup.table.language, text=" ".join(token.text for token in tokens))
    _take_words(clause, tokens, lookup)
    marks = {token.mark for token in tokens if token.mark}
    past = [token for token in tokens if _is_past(token, tokens, lookup)]
    part = _tells_part(tokens, lookup)
    going = _tells_progress(tokens, lookup)
    clause.guessed = "guessed" in marks
    clause.plain_done = "done" in marks
    clause.whole = _is_whole(tokens, lookup, clause)
    clause.act = "planned" if conditional else _act_of(marks, bool(past), part, going, tokens, lookup)
    if clause.act == "none" and tokens and tokens[0].low in _NOW_WORDS:
        clause.act = "begun"  # "Now the tests."
    stands = clause.act in ("skipped", "begun") or (clause.act == "finished" and clause.plain_done)
    if not stands and not any(token.low in lookup.steps or token.low in lookup.ordinals for token in tokens):
        clause.numbers = []  # a number alone may count anything
    return clause


def _mark_short_state(tokens: Sequence[_Token], lookup: _Lookup) -> None:
    """ "Rails up", "invites out": a state without a verb."""
    words = [token for token in tokens if token.text[0].isalnum()]
    if (
        2 <= len(words) <= 4
        and words[-1].low in ("up", "out", "off", "on", "in")
        and not any(one.mark for one in words)
    ):
        if not lookup.forms.is_past(words[-2].low):
            words[-1].mark = "state"


def _main_part(tokens: list[_Token], lookup: _Lookup) -> tuple[list[_Token], bool]:
    """A clause without the subordinate one behind it; whether it is one itself."""
    for place, token in enumerate(tokens):
        if token.mark == "condition" and token.first:
            before = [
                one for one in tokens[:place] if one.low not in lookup.joins and one.text not in (",", _COLON)
            ]
            if not before:
                return tokens, True
            if any(one.mark in _ACTIVE or lookup.forms.is_past(one.low) for one in before):
                return tokens[:place], False
    return tokens, False


def _act_of(
    marks: set[str], past: bool, part: bool, going: bool, tokens: Sequence[_Token], lookup: _Lookup
) -> Act:
    finished = past or bool(marks & {"done", "state"})
    if "skipped" in marks and "negation" not in marks:
        return "skipped"
    if "reopened" in marks:
        return "reopened"
    if "negation" in marks or "unfinished" in marks:
        return "denied"
    if "planned" in marks or ("deferred" in marks and not past):
        now = "begun" in marks or (tokens[0].low in ("now", "so", "ok", "okay") and "planned" in marks)
        return "begun" if now and "deferred" not in marks else "planned"
    repaired = any(token.low in lookup.repairs for token in tokens)
    if "failed" in marks and not repaired and not _is_expected(tokens):
        return "failed"
    if part and not ("state" in marks and "partly" not in marks):
        return "partly"
    if going or ("begun" in marks and not finished):
        return "begun"
    return "finished" if finished else "none"


def _is_expected(tokens: Sequence[_Token]) -> bool:
    """ "fails as expected"."""
    words = [token.low for token in tokens]
    return "expected" in words or "intended" in words or "wanted" in words


def _tells_progress(tokens: Sequence[_Token], lookup: _Lookup) -> bool:
    """Whether a clause says that something is going on: "writing the tests", "is being drained"."""
    words = [token.low for token in tokens]
    if "being" in words:
        return True
    if any(token.mark == "done" for token in tokens):
        return False
    for place, token in enumerate(tokens[:5]):
        # "Building the image" is an act, "the building is closed" is none.
        opens = (
            token.low in lookup.forms.not_progress
            and token.low.endswith("ing")
            and _opens(tokens, place, lookup)
        )
        if (opens or lookup.forms.is_progressing(token.low)) and token.mark in ("", "begun"):
            lead = tokens[:place]
            rest = [_is_past(one, tokens, lookup) or one.mark == "state" for one in tokens[place + 1 :]]
            if all(
                one.low in lookup.common or one.mark or one.text in (",", _COLON, "#") or one.low in lookup.steps
                or one.text[0].isdigit() for one in lead
            ):  # fmt: skip
                return not any(rest)
            if lead and lead[-1].low in (
                "am",
                "is",
                "are",
                "i'm",
                "we're",
                "still",
                "estoy",
                "sto",
                "está",
                "estou",
            ):
                return not any(rest)
    return False


def _opens(tokens: Sequence[_Token], place: int, lookup: _Lookup) -> bool:
    """Whether a word stands where the verb of a clause does, with an object behind it."""
    lead = tokens[:place]
    follows = tokens[place + 1] if place + 1 < len(tokens) else None
    return (
        all(one.low in lookup.steps or one.text[0].isdigit() or one.text in (_COLON, "#") for one in lead)
        and follows is not None
        and follows.text[0].isalnum()
        and not follows.mark
        and follows.low not in ("is", "are", "was", "were", "has")
        and any(one[0] == "#" for one in concepts(tokens[place].low, lookup.table.language))
    )


def _tells_part(tokens: Sequence[_Token], lookup: _Lookup) -> bool:
    """Whether a clause tells a part of a whole: "half", "at 40 %", "12 of 40"."""
    if any(token.mark == "partly" for token in tokens):
        return True
    values = [_number(token, lookup) for token in tokens]
    for place, token in enumerate(tokens):
        if "/" in token.text and (pair := token.text.split("/"))[0].isdigit() and pair[-1].isdigit():
            before = tokens[place - 1].low if place else ""
            if before not in lookup.steps and int(pair[-1]) > 0 and int(pair[0]) < int(pair[-1]):
                return True
        value = values[place]
        if value is None:
            continue
        for width in (1, 2, 3):
            words = " ".join(one.low for one in tokens[place + 1 : place + 1 + width])
            after = place + 1 + width
            if words in lookup.of and after < len(tokens):
                # "two walls out of four", "12 of the 40 quizzes"
                whole = values[after] if values[after] is not None else None
                if whole is not None and value < whole:
                    return True
        if place + 3 < len(tokens) and values[place + 1] is None:
            for width in (1, 2):
                words = " ".join(one.low for one in tokens[place + 2 : place + 2 + width])
                after = place + 2 + width
                if (
                    words in lookup.of
                    and after < len(tokens)
                    and (whole := values[after]) is not None
                    and value < whole
                ):
                    return True
        if place + 1 < len(tokens) and tokens[place + 1].low in (
            "left",
            "remaining",
            "missing",
            "outstanding",
        ):
            return True
        percent = place + 1 < len(tokens) and tokens[place + 1].text == "%"
        if percent and value < 100:
            near = {one.low for one in tokens[max(0, place - 1) : place]}
            follows = {one.low for one in tokens[place + 2 : place + 4]}
            if near & {"at", "about", "roughly", "bei", "zu", "à", "al", "op"} or follows & {
                "done", "complete", "through", "finished", "of", "there", "fertig", "erledigt", "hecho", "feito", "klaar", "terminé",
            }:  # fmt: skip
                return True
            return not any(
                one.mark in ("done", "state") or _is_past(one, tokens, lookup) for one in tokens
            ) and any(lookup.forms.is_progressing(one.low) for one in tokens)
    return False


def _number(token: _Token, lookup: _Lookup) -> float | None:
    if token.text[0].isdigit():
        digits = token.text.replace(",", "")
        return float(digits) if digits.replace(".", "", 1).isdigit() else None
    return lookup.numbers.get(token.low)


def _is_whole(tokens: Sequence[_Token], lookup: _Lookup, clause: Clause) -> bool:
    """Whether a clause speaks of the whole plan, and of nothing else."""
    if clause.verbs or clause.titles or clause.numbers:
        return False
    words = [token.low for token in tokens]
    for phrase in lookup.all:
        for place in range(len(words) - len(phrase) + 1):
            if tuple(words[place : place + len(phrase)]) == phrase:
                rest = [
                    one for one in (*tokens[:place], *tokens[place + len(phrase) :])
                    if not one.mark and one.low not in lookup.common and one.low not in lookup.steps and one.text not in (",", _COLON)
                ]  # fmt: skip
                return not rest
    return False


def _take_words(clause: Clause, tokens: list[_Token], lookup: _Lookup) -> None:
    """Sort the words of a clause into verbs, words and details; find steps that are named."""
    detail = False
    for place, token in enumerate(tokens):
        text, low = token.text, token.low
        if text.startswith(TITLE):
            clause.titles.append(int(text[1:]))
            continue
        if text == "," or text == _COLON:
            # What follows a complete statement adds details.
            detail = detail or bool(clause.words or clause.verbs)
            continue
        if low in lookup.into and place and not token.mark:
            detail = True
            continue
        if low in lookup.last and place + 1 < len(tokens) and tokens[place + 1].low in (*lookup.steps, "one"):
            clause.last = True
        if text[0].isdigit() or (any(map(str.isdigit, text)) and not text.isalpha()):
            clause.results = True
        if low in _COPULAS:
            clause.copula = True
        if low in ("it", "them", "this", "that", "these") and clause.verbs:
            clause.has_object = True
        if low in _NOW_WORDS:
            clause.now = True
        if not text[0].isalnum() or text[0].isdigit() or low in lookup.steps:
            continue
        if low in _WEEKDAYS:
            clause.details.append(low)
            continue
        if (
            detail
            and clause.verbs
            and _is_past(token, tokens, lookup)
            and tokens[place - 1].low in lookup.into
        ):
            clause.details.append(low)  # "by registered mail"
        elif _is_past(token, tokens, lookup) or (lookup.forms.is_progressing(low) and not token.mark):
            clause.verbs.append(_with_particle(tokens, place))
        elif token.mark == "state":
            if low not in _COPULAS and not (low == "in" and _place_follows(tokens, place, lookup)):
                clause.states.append(low)
        elif token.mark in (
            "done",
            "begun",
            "guessed",
            "deferred",
            "planned",
            "negation",
            "partly",
            "condition",
            "harmless",
        ):
            pass  # it says how things stand, not which
        elif token.mark in ("failed", "skipped", "reopened", "unfinished", "says"):
            if token.mark == "says":
                clause.verbs.append(low)
        elif low not in lookup.common and low not in lookup.numbers and low not in lookup.ordinals:
            if clause.verbs and not detail:
                clause.has_object = True
            elif not detail:
                clause.after = len(clause.words) + 1
            is_detail = detail or "/" in text or any(map(str.isdigit, text))
            (clause.details if is_detail else clause.words).append(_with_particle(tokens, place))
    clause.numbers = _step_numbers(tokens, lookup)


def _place_follows(tokens: Sequence[_Token], place: int, lookup: _Lookup) -> bool:
    """ "Is in the folder" says where it is, "is in" that it is submitted, merged or installed."""
    follows = tokens[place + 1] if place + 1 < len(tokens) else None
    return (
        follows is not None
        and follows.text[0].isalnum()
        and (
            follows.low in ("the", "a", "my", "our", "their")
            or (follows.low not in lookup.common and follows.low not in lookup.into)
        )
    )


_NOW_WORDS = frozenset(
    "now already jetzt nun bereits maintenant déjà ahora ya agora já ora adesso già nu al".split()
)
_COPULAS = frozenset("is are was were ist sind war est sont es son está están é são è sono zijn".split())
_WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_PARTICLES = frozenset("up out off over back down in through on together with for around away".split())


def _with_particle(tokens: Sequence[_Token], place: int) -> str:
    """A verb with the particle behind it: "picked up" as "picked-up"."""
    for one in tokens[place + 1 : place + 3]:
        if one.low in _PARTICLES:
            return f"{tokens[place].low}-{one.low}"
        if one.low not in ("it", "them", "this", "that"):
            break
    return tokens[place].low


def _step_numbers(tokens: Sequence[_Token], lookup: _Lookup) -> list[int]:
    """The steps that a clause names by number: "step 3", "steps 1-3 and 5", "done with 5", "the second step"."""
    found: list[int] = []
    for place, token in enumerate(tokens):
        follows = tokens[place + 1].low if place + 1 < len(tokens) else ""
        if token.low in lookup.ordinals and follows in lookup.steps:
            found.append(lookup.ordinals[token.low])
        if token.low not in lookup.steps or token.low in ("no", "part", "point", "number"):
            continue
        found += _listed_numbers(tokens[place + 1 :], lookup)
    ends = next(
        (place for place, token in enumerate(tokens) if token.text == "," and not _lists(tokens, place)),
        len(tokens),
    )
    if not found and not any(_is_content(token, tokens, lookup) for token in tokens[:ends]):
        for place, token in enumerate(tokens[:ends]):
            before = tokens[place - 1].low if place else ""
            if token.text[0].isdigit() and before not in _NOT_BEFORE_NUMBER:
                follows = tokens[place + 1].low if place + 1 < len(tokens) else ""
                if follows not in _UNITS and "/" not in token.text:
                    found += _span(token.text)
    return list(dict.fromkeys(found))


def _lists(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a comma stands between two numbers."""
    return (
        place + 1 < len(tokens)
        and tokens[place + 1].text[0].isdigit()
        and place > 0
        and tokens[place - 1].text[0].isdigit()
    )


def _is_content(token: _Token, tokens: Sequence[_Token], lookup: _Lookup) -> bool:
    """Whether a word names something besides numbers and how things stand."""
    if not token.text[0].isalpha() and not token.text.startswith(TITLE):
        return False
    return not token.mark and token.low not in lookup.common and token.low not in lookup.joins


def _listed_numbers(tokens: Sequence[_Token], lookup: _Lookup) -> list[int]:
    found: list[int] = []
    to = False
    for token in tokens:
        text = token.text
        if text in "#," or token.low in lookup.joins or token.low in ("und", "et", "y", "e", "en"):
            continue
        if token.low in ("to", "through", "bis", "à", "a", "al", "tot", "–", "-"):
            to = True
            continue
        value = text.split("/")[0]  # "2/5" is the second of five
        numbers = (
            _span(value)
            if value[:1].isdigit()
            else [lookup.numbers[token.low]]
            if token.low in lookup.numbers
            else []
        )
        if not numbers:
            break
        if to and found:
            found += range(found[-1] + 1, numbers[-1] + 1)
        else:
            found += numbers
        to = False
        if "/" in text:
            break
    return found[:100]


def _span(text: str) -> list[int]:
    first, dash, last = text.replace("–", "-").partition("-")
    if not first.isdigit() or len(first) > 3:
        return []
    if dash:
        return (
            list(range(int(first), min(int(last), int(first) + 99) + 1))
            if last.isdigit() and len(last) <= 3
            else []
        )
    return [int(first)]


# --- Chinese and Japanese ---------------------------------------------------------------------------

_UNSPACED_CLAUSE = lazy_regex(r"[。！!；;，,、\n]|(?<=[？?])")
_COUNTED = lazy_regex(
    r"第?\s*(\d+|[一二三四五六七八九十]+)\s*(?:步|项|番目|個目|つ目)|(?:步骤|ステップ|手順|タスク|任务|項目|工程)\s*(\d+|[一二三四五六七八九十]+)"
)
_UNSPACED_ORDER = (
    "harmless", "reopened", "skipped", "unfinished", "partly", "failed", "begun", "done", "state", "guessed", "deferred",
    "condition", "negation", "planned",
)  # fmt: skip


def _unspaced_clauses(text: str, language: str) -> list[Clause]:
    one = table(language)
    found: list[Clause] = []
    said = [phrase for phrase in _split(one.says) if phrase in text]
    foreign = bool(said) and any(who in text[: text.find(said[0]) + 1] for who in _split(one.others))
    foreign = foreign or (language == "ja" and bool(said))
    for part in _UNSPACED_CLAUSE.split(text):
        if not part or not part.strip():
            continue
        clause = _unspaced_clause(part.strip(), one)
        if part.rstrip().endswith(("？", "?", "吗", "呢", "か")):
            clause.act = "asked"
        elif foreign:
            clause.act = "reported"
        if clause.act == "none" and found:
            found[-1].details += clause.words  # an addition: "机票订好了，CA1502"
            continue
        clause.tail = bool(found)
        found.append(clause)
    return found


def _unspaced_clause(part: str, one: ActTable) -> Clause:
    rest = part
    marks: set[str] = set()
    for mark in _UNSPACED_ORDER:
        for phrase in sorted(_split(getattr(one, mark)), key=len, reverse=True):
            if phrase in rest:
                marks.add(mark)
                rest = rest.replace(phrase, " ")
    clause = Clause("none", one.language, text=part)
    clause.titles = [int(place) for place in re.findall(rf"{TITLE}(\d+)", part)]
    rest = re.sub(rf"{TITLE}\d+", " ", rest)
    for found in _COUNTED.finditer(part):
        number = found[1] or found[2]
        names = _split(one.numbers)
        clause.numbers.append(
            int(number) if number.isdigit() else names.index(number) + 1 if number in names else 0
        )
    clause.words = [part]
    clause.guessed = "guessed" in marks
    clause.plain_done = "done" in marks
    clause.results = any(map(str.isdigit, part))
    whole = any(phrase in part for phrase in _split(one.all))
    left = [letter for letter in rest if letter.isalnum() and letter not in one.common]
    clause.whole = (
        whole
        and not [letter for letter in left if letter not in "".join(_split(one.all))]
        and not clause.numbers
    )
    finished = bool(marks & {"done", "state"})
    if "skipped" in marks:
        clause.act = "skipped"
    elif "reopened" in marks:
        clause.act = "reopened"
    elif marks & {"unfinished", "negation"}:
        clause.act = "denied"
    elif (
        "condition" in marks
        or ("deferred" in marks and not finished)
        or ("planned" in marks and not finished)
    ):
        clause.act = "planned"
    elif "partly" in marks:
        clause.act = "partly"
    elif "failed" in marks and not any(word in part for word in _split(one.repairs)):
        clause.act = "failed"
    elif "begun" in marks and "done" not in marks:
        clause.act = "begun"
    elif finished or "failed" in marks:
        clause.act = "finished" if finished else "none"
    return clause


_ARTICLES = frozenset(
    "a an the der die das ein eine le la les un une el los las o os as il lo i gli de het een".split()
)


def plain_words(text: str, language: str) -> tuple[list[str], int]:
    """The words of a title, lower-case, particles joined to their verbs, common words left out; and how many of
    them stand before the first preposition."""
    lookup = _lookup(language)
    tokens = [_Token(found, found.lower().replace("’", "'")) for found in _TOKEN.findall(text)]
    if language in ("fr", "it"):
        for token in tokens:
            if elided := _ELIDED.match(token.low):
                token.low = token.low[elided.end() :]
    found: list[str] = []
    main: int | None = None
    for place, token in enumerate(tokens):
        if token.low in lookup.into and len(found) >= 2 and main is None:
            main = len(found)
        if token.low in lookup.numbers or not token.text[0].isalnum():
            continue
        if token.low not in lookup.common or (place == 0 and token.low not in _ARTICLES):
            found.append(_with_particle(tokens, place))
    return found, len(found) if main is None else main


__all__ = ["Act", "Clause", "common_words", "language_of", "plain", "plain_words", "read_clauses"]
