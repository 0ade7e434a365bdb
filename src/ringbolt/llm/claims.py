# ruff: noqa: E501 - patterns
"""Whether what a model claims is what the cited events say: the same objects, numbers, times, steps and polarity.

A definite answer of the ledger may be worded differently, but not changed: its verdict, numbers and steps stay,
and nothing is added from other events. Where the ledger has no answer, each sentence must be carried by the
events that it cites. When in doubt a claim is refused. The phrases are English; what is said in other languages
is refused unless the question was asked in that language and the claim has the words of its sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ..model.lazy_regex import lazy_regex
from ..model.types import Step, Value
from ..signals.terms import stems, telling_stems
from ..signals.text_layout import clauses
from .faithful import Plan, cites

Sign = Literal["+", "-", "?"]

_UNKNOWN = lazy_regex(
    r"(?i)\b(?:unknown|unclear|uncertain|unsure|not (?:known|recorded|clear|certain|sure)|nothing recorded|no record|whether"
    r"|verify|might|perhaps|possibly|cannot (?:say|tell))\b"
)
_NEGATIVE = lazy_regex(
    r"(?i)n['’]t\b|\b(?:not|no|never|none|nothing|nobody|neither|nor|cannot|without|forbid\w*|forbade|prohibit\w*|banned|off limits"
    r"|against|instead|rather than|opposed|except|denied|refused|reject\w*|declin\w*|fail\w*|error\w*|broke\w*|crash\w*|ruled out|unsuccessful\w*|lacks?|lacking|avoid|leave"
    r"|still|yet|pending|open|in progress|remain\w*|left|dropped|cancelled|skipped|unfinished|incomplete|until|nicht|kein\w*"
    r"|nein|non|pas|ne|nao|não|niet|geen|nee)\b|不|没|ない|ません"
)
_PASSES = lazy_regex(
    r"(?i)\b(?:0|no|zero|without(?: any)?) (?:fail\w*|errors?|problems?)\b|\bnot? (?:longer )?(?:fail\w*|block\w*)\b"
)
_VERDICT: tuple[tuple[Sign, str], ...] = (
    ("?", r"unknown|unbekannt|inconnu|desconocido|desconhecido|sconosciuto|onbekend|未知|不明"),
    ("-", r"no\b|nein|non\b|não|nee\b|不是|いいえ|it was tried and ruled out"),
    ("+", r"yes|probably|ja\b|oui|sí|sim\b|sì|是|はい"),
)
_CITE = lazy_regex(r"\(?#\d{1,12}(?:,? #\d{1,12})*\)?")
_NUMBER = lazy_regex(r"\d+(?:[.,:/-]\d+)*%?")
_STEP_NUMBERS = lazy_regex(
    r"(?i)\b(?:steps?|items?)\s*#?\d{1,4}(?:(?:\s*(?:,|and|&|-|–|to|through))+\s*#?\d{1,4}\b)*|\b\d{1,4} (?:of|out of) \d{1,4}\b"
)
_WORD_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
    if number != 1
}
# What an answer is worded with; these words claim nothing by themselves.
_WORDING = frozenset(
    stems(
        "answer according record recorded records event events task step steps plan user asked said says say told state states"
        " stated note noted done complete completed finished finish next current currently now still left remain remaining open"
        " pending progress already yet yes no unknown so far first last latest recent decided decision chose chosen choose choice"
        " because reason due since picked selected use used using value set equals number total there here also both all only just"
        " happened happen was were is are be been has have had will would should must may can could need needs not never nothing"
        " none neither nor allowed permitted forbidden forbade forbid prohibited instruction instructions wants want wanted request"
        " requested currently works working work made make get got take took began started start ended end in order make sure that"
        " it them they this these those which who what when where why how whether if and or but with without for from to of on at by"
        " agent ledger outcome result known unclear verified verify confirm confirmed passed pass passing failed fail failing run ran"
        " successfully success successful sent out after before until follow follows following remains being waiting wait blocked"
        " blocking one two three four five six seven eight nine ten several"
    )
)
_LEAST_SHARE, _LEAST_OVERLAP = 0.6, 0.5


class Ledger(Value, frozen=True, kw_only=True):
    """The ledger's own answer: its text, the events it cites, and whether it is definite.

    A definite answer is one from the records; `source` says where it comes from. `language` is the question's.
    """

    text: str
    cites: tuple[int, ...] = ()
    definite: bool = True
    language: str = "en"


def check_claims(
    text: str, question: str, ledger: Ledger, plan: Plan, sources: Mapping[int, Sequence[str]]
) -> None:
    """Raise ValueError if a model's answer says anything else than the ledger or the events that it cites."""
    claim = _CITE.sub(" ", text)
    if len(telling_stems(claim)) < 1 or len(re.findall(r"\w+", claim)) < 2:
        raise ValueError("it says nothing")
    _check_verdict(claim, ledger)
    _check_next(claim, plan, ledger)
    everything = set(stems(" ".join(part for texts in sources.values() for part in texts)))
    for sentence in clauses(text):
        cited = cites(sentence) or cites(text)
        if ledger.definite:
            own = [ledger.text, *(part for seq in cited for part in _step_texts(plan, seq))]
        else:
            own = [part for seq in cited for part in (*sources.get(seq, ()), *_step_texts(plan, seq))]
            _check_subject(question, own)
        _check_sentence(_CITE.sub(" ", sentence), question, own, everything, ledger, plan)


def _check_subject(question: str, own: Sequence[str]) -> None:
    """What a model finds by itself must rest on events about the subject of the question."""
    wanted = _content(question)
    has = set(stems("\n".join(own)))
    if wanted and sum(word in has for word in wanted) < _LEAST_SHARE * len(wanted):
        raise ValueError("the events that it cites are not about the question")


def _step_texts(plan: Plan, seq: int) -> list[str]:
    """What an event says about steps: the states that it set."""
    live = [item for item in plan.steps if item.dropped_in is None]
    return [
        f"Step {number} {item.title} is {_STATES.get(item.status, item.status)}."
        for number, item in enumerate(live, 1)
        if item.cause == seq
    ]


_STATES = {"completed": "completed, done", "active": "in progress, current", "pending": "pending, open, next"}


def _check_verdict(claim: str, ledger: Ledger) -> None:
    """A verdict of the ledger (yes, no, unknown) stays what it is."""
    if not ledger.definite:
        return
    wanted = verdict(ledger.text)
    if wanted is None:
        if verdict(claim) is not None:
            raise ValueError("the ledger gives no verdict")
        return
    claimed = verdict(claim) or sign(claim)
    if claimed != wanted:
        names = {"+": "yes", "-": "no", "?": "unknown"}
        raise ValueError(f"the ledger says {names[wanted]}, and it says {names[claimed]}")


def verdict(text: str) -> Sign | None:
    """The verdict that a text begins with; None if it gives none."""
    for name, words in _VERDICT:
        if re.match(rf"(?i)\W*(?:{words})", text):
            return name
    return None


def sign(text: str) -> Sign:
    """Whether a sentence affirms, denies, or leaves something open."""
    if _UNKNOWN.search(text):
        return "?"
    return "-" if _NEGATIVE.search(_PASSES.sub(" ", text)) else "+"


_IS_NEXT = lazy_regex(
    r"(?i)\bstep (\d{1,4})\b(?:(?!\bstep\b)[^.;]){0,80}\bis (?:the )?next\b|\bnext\b(?:(?!\bstep \d)[^.;\d]){0,25}\bstep (\d{1,4})\b"
)
_IS_CURRENT = lazy_regex(
    r"(?i)\bstep (\d{1,4})\b(?:(?!\bstep\b)[^.;]){0,80}\bis (?:the |now )?(?:current|in progress|active|under way)\b"
    r"|\bcurrent\w*\b(?:(?!\bstep \d)[^.;\d]){0,25}\bstep (\d{1,4})\b|\b(?:on|at) step (\d{1,4})\b"
)


def _check_next(claim: str, plan: Plan, ledger: Ledger) -> None:
    """What is called next or current must be the step that the plan has there."""
    live = [item for item in plan.steps if item.dropped_in is None]
    active = [item for item in live if item.status == "active"]
    for word, pattern, wanted in (("next", _IS_NEXT, _next_steps(live)), ("current", _IS_CURRENT, active)):
        for match in pattern.finditer(claim):
            number = int(next(group for group in match.groups() if group))
            if not 0 < number <= len(live) or live[number - 1] not in wanted:
                raise ValueError(f"step {number} is not {word}")


def _next_steps(live: Sequence[Step]) -> list[Step]:
    """The steps that may be called next: the active ones, and the first that is pending."""
    return [item for item in live if item.status == "active"] + [
        item for item in live if item.status == "pending"
    ][:1]


def _check_sentence(
    sentence: str, question: str, own: Sequence[str], everything: set[str], ledger: Ledger, plan: Plan
) -> None:
    """A sentence must have its objects and numbers from its sources, and agree with them."""
    claimed = _content(sentence)
    texts = "\n".join(own)
    if _EXTREME.search(sentence) and not _EXTREME.search(texts) and not _is_true_extreme(sentence, plan):
        raise ValueError("the events that it cites do not say so of all or none")
    if not claimed:
        return
    for pair in _OPPOSITES:
        for one, other in (pair, pair[::-1]):
            if one in words_of(sentence) and one not in words_of(texts) and other in words_of(texts):
                raise ValueError(f"the events that it cites say “{other}”, and it says “{one}”")
    has = set(stems(texts)) | (set(stems(question)) if ledger.definite else set[str]())
    if ledger.language != "en":
        has |= _WORDING
    foreign = [word for word in claimed if word not in has]
    if swapped := [word for word in foreign if word in everything]:
        raise ValueError(f"“{swapped[0]}” is not in the events that it cites")
    if len(foreign) > (1 - _LEAST_SHARE) * len(claimed):
        raise ValueError(f"“{foreign[0]}” is not in the events that it cites")
    pieces = [piece for part in own for piece in _pieces(part)]
    best = _closest(claimed, pieces)
    numbers = _numbers(_STEP_NUMBERS.sub(" ", sentence))
    allowed = _numbers(ledger.text if ledger.definite else best) | _numbers(question)
    if ledger.definite and _OF_STEPS.search(sentence):
        allowed |= {str(number) for number in _counts(plan)}
    if wrong := numbers - allowed:
        raise ValueError(f"{sorted(wrong)[0]} is not the number in the events that it cites")
    _check_counted(sentence, pieces)
    _check_owned(sentence, pieces)
    _check_part(sentence, texts)
    _check_side(sentence, texts)
    of_plan = re.search(r"(?i)\b(?:steps?|plan|tasks?)\b", sentence)
    if (
        _numbers(sentence)
        and not of_plan
        and _LEFT_OVER.search(sentence)
        and not _LEFT_OVER.search(best or texts)
    ):
        raise ValueError("the events that it cites do not say that it is left")
    if verdict(ledger.text) is not None and ledger.definite:
        return  # its verdict was compared
    if ledger.definite and _state_words(sentence):
        return  # what is done and open was compared with the plan
    if best and sign(sentence) != sign(best):
        raise ValueError("it does not agree with the events that it cites")


_EXTREME = lazy_regex(r"(?i)\b(?:nothing|none|nobody|no one|everything|all|everybody|every|always|only)\b")
_OPPOSITES = tuple(
    (one, other)
    for one, other in (
        pair.split()
        for pair in "before after|until after|more less|above below|increase decrease|raise lower|raised lowered|up down|first"
        " last|start stop|started stopped|open close|add remove|added removed|enable disable|enabled disabled|on off|in out|read"
        " write|buy sell|accept reject|accepted rejected|allow forbid|local remote|old new|morning afternoon|today"
        " tomorrow|today yesterday|minimum maximum|most least".split("|")
    )
)


def words_of(text: str) -> set[str]:
    """The words of a text in lower case."""
    return set(re.findall(r"[a-z]+", text.lower()))


def _is_true_extreme(sentence: str, plan: Plan) -> bool:
    """Whether "all" or "nothing" is said of the steps, and is so."""
    live = [item for item in plan.steps if item.dropped_in is None]
    done = all(item.status == "completed" for item in live)
    return (
        bool(live)
        and done
        and re.search(r"(?i)\b(?:steps?|plan|task|left|done|open)\b", sentence) is not None
    )


def _check_counted(sentence: str, pieces: Sequence[str]) -> None:
    """A number stays with what it counts: not "120 connections" of "50 connections, 120 in all"."""
    tokens = re.findall(r"[\w.,:%/-]+", _STEP_NUMBERS.sub(" ", sentence))
    quoted = [span for piece in pieces for span in re.findall(r'"((?:[^"\\]|\\.)+)"', piece)]
    spans = [(_numbers(piece), set(stems(piece))) for piece in quoted or pieces]
    for at, token in enumerate(tokens):
        for number in _numbers(token):
            near = [
                stem
                for word in (*tokens[at + 1 : at + 3], *tokens[max(0, at - 2) : at])
                for stem in _content(word)
            ]
            if not near or not any(number in numbers for numbers, _ in spans):
                continue
            own = any(number in numbers and near[0] in words for numbers, words in spans)
            others = any(numbers and number not in numbers and near[0] in words for numbers, words in spans)
            if others and not own:
                raise ValueError(f"{number} does not count that in the events that it cites")


_CONJUNCTION = lazy_regex(r"(?i)[;,](?!\d)|\b(?:and|but|while|whereas|because|since|und|et|y|e|en)\b")


def _check_owned(sentence: str, pieces: Sequence[str]) -> None:
    """A number stays with its owner: not "B asks 5" of "A asks 5 and B asks 7"."""
    spans = [span for piece in pieces for span in _CONJUNCTION.split(piece)]
    owned = [(numbers, set(stems(span))) for span in spans if (numbers := _numbers(span))]
    for part in _CONJUNCTION.split(_STEP_NUMBERS.sub(" ", sentence)):
        words = _content(part)
        for number in _numbers(part):
            own = [sum(word in has for word in words) for numbers, has in owned if number in numbers]
            others = [sum(word in has for word in words) for numbers, has in owned if number not in numbers]
            if own and others and max(others) > max(own):
                raise ValueError(f"{number} belongs to something else in the events that it cites")


_PART = lazy_regex(r"(?i)\b(\d[\d,.]*) (?:of|out of|von|sur|de|di|van) (?:the |all )?(\d[\d,.]*)\b")
_TOTAL = lazy_regex(r"(?i)\b(?:total|in all|altogether|overall|of|insgesamt)\b")


def _check_part(sentence: str, texts: str) -> None:
    """Of "14 of 20 boxes", 20 is not how many there are of what was done."""
    claimed = _numbers(sentence)
    for part, whole in _PART.findall(texts):
        one, all_of = _numbers(part), _numbers(whole)
        if one != all_of and all_of <= claimed and not one & claimed and not _TOTAL.search(sentence):
            raise ValueError(f"{whole} is the total in the events that it cites")


_EARLY = lazy_regex(
    r"(?i)\b(?:before|until|till|no later than|by (?=\d|the \d|noon|midnight|tomorrow|(?-i:[A-Z])))"
)
_LATE = lazy_regex(r"(?i)\b(?:after|or later|not before)\b")
_LEFT_OVER = lazy_regex(r"(?i)\b(?:left|remain\w*|outstanding|still|to go|missing)\b")


def _check_side(sentence: str, texts: str) -> None:
    """What is to happen before a time is not what happens after it: not "after 31 August" of "by 31 August"."""
    for claimed, said in ((_EARLY, _LATE), (_LATE, _EARLY)):
        if claimed.search(sentence) and not claimed.search(texts) and said.search(texts):
            raise ValueError("it is on the other side of a time than in the events that it cites")


_OF_STEPS = lazy_regex(r"(?i)\b(?:steps?|items?|plan|tasks?|of|percent|remain\w*|left)\b|%")


def _state_words(sentence: str) -> bool:
    """Whether a sentence tells the state of steps, which `faithful` compares with the plan."""
    return _STEP_NUMBERS.search(sentence) is not None


def _counts(plan: Plan) -> set[int]:
    live = [item for item in plan.steps if item.dropped_in is None]
    done = sum(item.status == "completed" for item in live)
    return {done, len(live), len(live) - done}


def _content(sentence: str) -> list[str]:
    """The stems of a sentence that claim something."""
    words = [stem for stem in telling_stems(sentence) if stem not in _WORDING and len(stem) > 1]
    return list(dict.fromkeys(words))


def _pieces(text: str) -> list[str]:
    return [
        piece
        for clause in clauses(text)
        for piece in re.split(r"(?<=[\"”]): |; | — ", clause)
        if piece.strip()
    ]


def _closest(claimed: Sequence[str], pieces: Iterable[str]) -> str:
    """The piece of the sources that has most of a claim; empty if none has a fair part of it."""
    best, most = "", 0.0
    for piece in pieces:
        has = set(stems(piece))
        share = sum(word in has for word in claimed) / len(claimed)
        if share > most:
            best, most = piece, share
    return best if most >= _LEAST_OVERLAP / 2 else ""


def _numbers(text: str) -> set[str]:
    """The numbers of a text, also those in words; citations do not count."""
    plain = _CITE.sub(" ", text)
    found = {number.strip(".,:/-").replace(",", "") for number in _NUMBER.findall(plain)}
    found |= {_WORD_NUMBERS[word] for word in re.findall(r"[a-z]+", plain.lower()) if word in _WORD_NUMBERS}
    return {number for number in found if number}
