"""What one clause of a report does (finished, begun, failed, …), and the words it does it with."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from .steps import step_numbers_in
from .tokens import COLON, COPULAS, TITLE, Lookup, Token, is_past, with_particle
from .trade_words import concepts

Act = Literal[
    "finished", "begun", "failed", "partly", "planned", "asked", "denied", "reopened", "reported",
    "skipped", "none",
]  # fmt: skip


class Clause(Struct):
    """What one clause does, and with which words.

    `verbs` are the words that carry the act, if they name an action ("bought"), `details` those after a
    preposition or in an addition, and `words` all others. `titles` and `numbers` name steps outright.
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
    joined: bool = False  # names several things: "the docs and the tests"
    numbered: bool = False  # names one of several things: "chapter 3", "batch A", "the first part"
    located: bool = False  # says where something is: "the dump is in s3://…"
    also: bool = False  # says the rest of something
    goes_on: bool = False  # says that something is still to be done: "two tests still fail"
    deferred: bool = False  # only names a later time: "B and C tomorrow"
    text: str = ""

    @property
    def bare(self) -> bool:
        """Whether it names nothing."""
        named = self.words or self.verbs or self.details or self.numbers or self.titles
        return not named and not self.states


ACTIVE = frozenset(
    "deferred going_on done state begun failed partly planned condition unfinished reopened skipped guessed"
    " negation".split()
)
_NOW_WORDS = frozenset(
    "now already jetzt nun bereits maintenant déjà ahora ya agora já ora adesso già nu al".split()
)
_WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())


def read_clause(tokens: list[Token], lookup: Lookup) -> Clause:
    _mark_short_state(tokens, lookup)
    _unmark_places(tokens, lookup)
    tokens, conditional = _main_part(tokens, lookup)
    clause = Clause("none", lookup.table.language, text=" ".join(token.text for token in tokens))
    _take_words(clause, tokens, lookup)
    tokens = _stated_part(tokens, lookup)
    marks = {token.mark for token in tokens if token.mark}
    past = [token for token in tokens if is_past(token, tokens, lookup)]
    part = _tells_part(tokens, lookup)
    going = _tells_progress(tokens, lookup)
    clause.guessed = "guessed" in marks
    clause.plain_done = "done" in marks
    clause.whole = _is_whole(tokens, lookup, clause)
    clause.act = "planned" if conditional else _act_of(marks, bool(past), part, going, tokens, lookup)
    clause.deferred = "deferred" in marks and "planned" not in marks
    clause.also = not lookup.also.isdisjoint(token.low for token in tokens)
    if clause.act == "none" and _tells_place(tokens, lookup):
        clause.act, clause.located = "finished", True
    if clause.act == "none" and tokens and tokens[0].low in _NOW_WORDS:
        clause.act = "begun"  # "Now the tests."
    clause.goes_on = not lookup.still.isdisjoint(token.low for token in tokens)
    if clause.act == "none" and clause.goes_on:
        clause.act = "begun"  # "The casing still prints."
    stands = clause.act in ("skipped", "begun") or (clause.act == "finished" and clause.plain_done)
    if not stands and not any(token.low in lookup.steps or token.low in lookup.ordinals for token in tokens):
        clause.numbers = []  # a number alone may count anything
    return clause


def _mark_short_state(tokens: Sequence[Token], lookup: Lookup) -> None:
    """ "Rails up", "invites out": a state without a verb."""
    words = [token for token in tokens if token.text[0].isalnum()]
    if (
        2 <= len(words) <= 4
        and words[-1].low in ("up", "out", "off", "on", "in")
        and not any(one.mark for one in words)
        and not lookup.forms.is_past(words[-2].low)
        and not lookup.forms.is_progressing(words[-2].low)
    ):
        words[-1].mark = "state"


def _unmark_places(tokens: Sequence[Token], lookup: Lookup) -> None:
    """ "Is in" says that it is submitted or installed, "is in the oven" only where it is."""
    for place, token in enumerate(tokens):
        if token.mark == "state" and token.low in ("in", "on") and _place_follows(tokens, place, lookup):
            token.mark = ""
            if place and tokens[place - 1].mark == "state" and tokens[place - 1].low in COPULAS:
                tokens[place - 1].mark = ""


def _tells_place(tokens: Sequence[Token], lookup: Lookup) -> bool:
    """ "The dump is in s3://backups", "reads are at ENA"."""
    if not lookup.still.isdisjoint(token.low for token in tokens):
        return False
    return any(
        one.low in COPULAS and follows.low in _PLACES and not follows.mark
        for one, follows in itertools.pairwise(tokens)
    )


_PLACES = frozenset(
    "in on at under im in am auf bei dans sur chez en à au in sul nel nella su no na em op bij".split()
)


def _stated_part(tokens: list[Token], lookup: Lookup) -> list[Token]:
    """A clause without what only explains or describes it: "queue checked: 4,100 mails stuck", "laid without
    wrinkles", "proofread, no typos left"."""
    says = False
    for place, token in enumerate(tokens):
        if says and (token.text == COLON or (token.mark == "negation" and token.low in NO_THING)):
            return tokens[:place]
        says = says or token.mark in ("done", "state", "failed") or is_past(token, tokens, lookup)
    return tokens


_STILL_THERE = frozenset("left remaining open outstanding".split())  # "no typos left"
NO_THING = frozenset(
    "no without none nothing keine kein ohne sans aucun aucune sin ningún sem senza geen".split()
)


# What follows these is asked, never stated: "she asks whether we have shipped".
WHETHER = frozenset("whether ob of".split())


def _main_part(tokens: list[Token], lookup: Lookup) -> tuple[list[Token], bool]:
    """A clause without the subordinate one behind it; whether it is one itself."""
    for place, token in enumerate(tokens):
        if token.mark == "condition" and token.first:
            before = [
                one for one in tokens[:place] if one.low not in lookup.joins and one.text not in (",", COLON)
            ]
            if not before:
                return tokens, True
            if token.low in WHETHER or any(
                one.mark in ACTIVE or lookup.forms.is_past(one.low) for one in before
            ):
                return tokens[:place], False
    return tokens, False


def _act_of(
    marks: set[str], past: bool, part: bool, going: bool, tokens: Sequence[Token], lookup: Lookup
) -> Act:
    finished = past or bool(marks & {"done", "state"})
    if "skipped" in marks and "negation" not in marks:
        return "skipped"
    if "reopened" in marks:
        return "reopened"
    if ("negation" in marks or "unfinished" in marks) and not _fails_first(tokens):
        words = {token.low for token in tokens}
        return "none" if words & NO_THING and words & _STILL_THERE else "denied"
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


def _fails_first(tokens: Sequence[Token]) -> bool:
    """ "failed: no permission" is a failure, whatever it explains itself by."""
    marks = [token.mark for token in tokens if token.mark in ("failed", "negation", "unfinished")]
    return marks[:1] == ["failed"]


def _is_expected(tokens: Sequence[Token]) -> bool:
    """ "fails as expected"."""
    words = [token.low for token in tokens]
    return "expected" in words or "intended" in words or "wanted" in words


def _tells_progress(tokens: Sequence[Token], lookup: Lookup) -> bool:
    """Whether a clause says that something is going on: "writing the tests", "is being drained"."""
    if any(token.mark == "going_on" for token in tokens):
        return True
    if any(token.mark == "done" for token in tokens):
        return False
    for place, token in enumerate(tokens[:5]):
        # "Building the image" is an act, "the building is closed" is not.
        opens = (
            token.low in lookup.forms.not_progress
            and token.low.endswith("ing")
            and _opens(tokens, place, lookup)
        )
        if place and token.low.endswith("ing") and tokens[place - 1].low in _AM:
            opens = True  # "we're recording"
        if (opens or lookup.forms.is_progressing(token.low)) and token.mark in ("", "begun"):
            lead = tokens[:place]
            if place == 0 and lookup.table.language != "en" and not any(one.mark for one in tokens):
                return True  # "limpiando duplicados"
            if not opens and not (place and lead[-1].low in _AM) and _is_subject(tokens[place + 1 :]):
                return False  # "the billing export is in BigQuery"
            rest = [is_past(one, tokens, lookup) or one.mark == "state" for one in tokens[place + 1 :]]
            if all(
                one.low in lookup.common
                or one.low in lookup.steps
                or one.mark
                or one.text in (",", COLON, "#")
                or one.text[0].isdecimal()
                for one in lead
            ):
                return not any(rest)
            if lead and lead[-1].low in _AM:
                return not any(rest)
    return False


def _is_subject(follows: Sequence[Token]) -> bool:
    """Whether a verb follows, so that the word before it is not the verb."""
    words = [one.low for one in follows]
    before = words[: words.index(",")] if "," in words else words
    return not COPULAS.isdisjoint(before)


_AM = frozenset("am is are i'm we're still estoy sto está estou".split())


def _opens(tokens: Sequence[Token], place: int, lookup: Lookup) -> bool:
    """Whether a word stands where the verb of a clause does, with an object behind it."""
    lead = tokens[:place]
    follows = tokens[place + 1] if place + 1 < len(tokens) else None
    return (
        all(one.low in lookup.steps or one.text[0].isdecimal() or one.text in (COLON, "#") for one in lead)
        and follows is not None
        and follows.text[0].isalnum()
        and not follows.mark
        and follows.low not in ("is", "are", "was", "were", "has")
        and any(one[0] == "#" for one in concepts(tokens[place].low, lookup.table.language))
    )


def _tells_part(tokens: Sequence[Token], lookup: Lookup) -> bool:
    """Whether a clause says that part of something is done: "half", "at 40 %", "12 of 40"."""
    if any(token.mark == "partly" for token in tokens):
        return True
    values = [_number(token, lookup) for token in tokens]
    for place, token in enumerate(tokens):
        # "120 billets vendus sur 300"
        if token.low in _OUT_OF and place + 1 < len(tokens) and (whole := values[place + 1]) is not None:
            parts = [one for one in values[max(0, place - 4) : place] if one is not None]
            if parts and parts[-1] < whole:
                return True
        # "23 items in suspense, cleared 17 of them"
        if token.low in _OF_THEM:
            near = [one for one in values[max(0, place - 2) : place + 2] if one is not None]
            if near and any(one is not None and one > near[0] for one in values[:place]):
                return True
        if "/" in token.text and (pair := token.text.split("/"))[0].isdecimal() and pair[-1].isdecimal():
            before = tokens[place - 1].low if place else ""
            if before not in lookup.steps and int(pair[-1]) > 0 and int(pair[0]) < int(pair[-1]):
                return True
        value = values[place]
        if value is None:
            continue
        # "two walls out of four", "12 of the 40 quizzes", "three chapters of nine"
        ends = [_whole_after(tokens, values, place + 1, 3, lookup)]
        if place + 3 < len(tokens) and values[place + 1] is None:
            ends.append(_whole_after(tokens, values, place + 2, 2, lookup))
        if any(whole is not None and value < whole for whole in ends):
            return True
        if place + 1 < len(tokens) and tokens[place + 1].low in _LEFT_OVER:
            return True
        percent = place + 1 < len(tokens) and tokens[place + 1].low in _PERCENT
        if percent and value < 100:
            near = {one.low for one in tokens[max(0, place - 1) : place]}
            follows = {one.low for one in tokens[place + 2 : place + 4]}
            if near & _REACHES or follows & _OF_THE_WHOLE:
                return True
            return not any(
                one.mark in ("done", "state") or is_past(one, tokens, lookup) for one in tokens
            ) and any(lookup.forms.is_progressing(one.low) for one in tokens)
    return False


def _whole_after(
    tokens: Sequence[Token], values: Sequence[float | None], start: int, most: int, lookup: Lookup
) -> float | None:
    """The number after "of", "out of the" and the like, which begins at `start`; None if there is none."""
    for end in range(start + 1, min(start + most + 1, len(tokens))):
        if " ".join(one.low for one in tokens[start:end]) in lookup.of and values[end] is not None:
            return values[end]
    return None


_LEFT_OVER = frozenset("left remaining missing outstanding".split())
_PERCENT = frozenset("% percent prozent procent".split())
_OUT_OF = frozenset("of sur von su van".split())
_OF_THEM = frozenset("them those these davon eux elles ellos ellas deles delas essi ervan daarvan".split())
_REACHES = frozenset("at about roughly bei zu à al op".split())
_OF_THE_WHOLE = frozenset(
    "done complete through finished of de do da dos das du des del dei delle der von van there fertig"
    " erledigt hecho feito klaar terminé".split()
)


def _number(token: Token, lookup: Lookup) -> float | None:
    if token.text[0].isdecimal():
        digits = token.text.replace(",", "").replace("–", "-").rpartition("-")[2]  # "chapters 1-3 of 9"
        return float(digits) if digits.replace(".", "", 1).isdecimal() else None
    return lookup.numbers.get(token.low)


def _is_whole(tokens: Sequence[Token], lookup: Lookup, clause: Clause) -> bool:
    """Whether a clause speaks of the whole plan, and of nothing else."""
    if clause.verbs or clause.titles or clause.numbers:
        return False
    words = [token.low for token in tokens]
    if lookup.all_firsts.isdisjoint(words):
        return False
    for phrase in lookup.all:
        for place in range(len(words) - len(phrase) + 1):
            if tuple(words[place : place + len(phrase)]) == phrase:
                rest = [
                    one for one in (*tokens[:place], *tokens[place + len(phrase) :])
                    if not (one.mark or one.low in lookup.common or one.low in lookup.steps)
                    and one.text not in (",", COLON)
                ]  # fmt: skip
                return not rest
    return False


def _take_words(clause: Clause, tokens: list[Token], lookup: Lookup) -> None:
    """Sort the words of a clause into verbs, words and details; find steps that are named."""
    detail = False
    for place, token in enumerate(tokens):
        text, low = token.text, token.low
        if text.startswith(TITLE):
            clause.titles.append(int(text[1:]))
        elif text in (",", COLON):
            # What follows a complete statement adds details.
            detail = detail or bool(clause.words or clause.verbs)
        elif low in lookup.into and place and not token.mark:
            detail = True
        else:
            _take_signs(clause, tokens, place, lookup)
            if low in _WEEKDAYS:
                clause.details.append(low)
            elif text[0].isalnum() and not text[0].isdecimal() and low not in lookup.steps:
                _take_word(clause, tokens, place, detail, lookup)
    clause.numbers = step_numbers_in(tokens, lookup)


def _take_signs(clause: Clause, tokens: list[Token], place: int, lookup: Lookup) -> None:
    """Note what a word tells about its clause, whichever thing it names."""
    text, low = tokens[place].text, tokens[place].low
    follows = tokens[place + 1].low if place + 1 < len(tokens) else ""
    if low in lookup.last and (follows in lookup.steps or follows == "one"):
        # "rewrote the last one" is the last of its things
        clause.last = follows != "one" or not any(is_past(one, tokens, lookup) for one in tokens)
    if text[0].isdecimal() or (any(map(str.isdecimal, text)) and not text.isalpha()):
        clause.results = True
    if low in COPULAS:
        clause.copula = True
    if low in ("it", "them", "this", "that", "these") and clause.verbs:
        clause.has_object = True
    if low in _NOW_WORDS:
        clause.now = True
    is_label = bool(place) and _is_label(text) and _is_thing(tokens[place - 1], lookup)
    if lookup.ordinals.get(low) == 1 or low == "one" or is_label:
        clause.numbered = True
    if low in lookup.joins and place:
        clause.joined = True


# Marks of words that say how things stand, not which.
_STANDING = frozenset(
    "done begun guessed deferred planned negation partly condition harmless failed skipped reopened"
    " unfinished".split()
)


def _take_word(clause: Clause, tokens: list[Token], place: int, detail: bool, lookup: Lookup) -> None:
    """Put a word where it belongs; `detail` says that it stands behind a preposition or in an addition."""
    token = tokens[place]
    text, low = token.text, token.low
    past = is_past(token, tokens, lookup)
    if detail and clause.verbs and past and tokens[place - 1].low in lookup.into:
        clause.details.append(low)  # "by registered mail"
    elif past or (lookup.forms.is_progressing(low) and not token.mark):
        clause.verbs.append(with_particle(tokens, place))
    elif token.mark == "state":
        if low not in COPULAS and not (low == "in" and _place_follows(tokens, place, lookup)):
            clause.states.append(low)
    elif token.mark == "says":
        clause.verbs.append(low)
    elif (
        token.mark not in _STANDING
        and low not in lookup.common
        and low not in lookup.numbers
        and low not in lookup.ordinals
    ):
        if clause.verbs and not detail:
            clause.has_object = True
        elif not detail:
            clause.after = len(clause.words) + 1
        is_detail = detail or "/" in text or any(map(str.isdecimal, text))
        (clause.details if is_detail else clause.words).append(with_particle(tokens, place))


def _is_label(text: str) -> bool:
    return (text[0].isdecimal() and len(text) <= 5 and text.replace("-", "").isdecimal()) or (
        len(text) == 1 and text.isupper() and text != "I"
    )


def _is_thing(token: Token, lookup: Lookup) -> bool:
    return (
        not token.mark
        and token.text.isalpha()
        and token.low not in lookup.common | lookup.into | lookup.steps
    )


def _place_follows(tokens: Sequence[Token], place: int, lookup: Lookup) -> bool:
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
