"""How the turns after a prompt differ from those before it.

A prompt alone often does not say whether it begins another piece of work. The course of the work does: which
words and files the next turns share with the turns before, and how the agent went about it. A word counts
the less, the more of the recent turns have it, since the words of the whole project say nothing about which
part of it is meant.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from ..signals import prompt_phrases
from ..signals.words import weighted_words

BEFORE, AFTER = 30, 3  # turns that are read
_NEAR = 3  # of those before, the ones that are compared
_PROMPT, _MESSAGE, _MESSAGES = 1500, 1200, 20
_ACTIONS, _ACTION = 60, 300
_PATH = lazy_regex(r"[\w-]+(?:/[\w.-]+)*\.[A-Za-z]\w{0,4}\b")
_EXPLORES = lazy_regex(
    r"(?:Read|Grep|Glob|LS|Task|Agent|WebFetch|WebSearch)\b|\w+: (?:cd \S+ *&& *)?(?:ls|cat|grep|rg|find"
    r"|sed -n|git (?:log|status|diff|show|branch)|gh|head|tail)\b",
    re.I,
)
_LAUNCHES = lazy_regex(r"(?:Task|Agent)\b")

Bag = Mapping[str, float]


class Turn(Value, frozen=True, kw_only=True):
    """A prompt with what the agent said and did until the next one; an action is "Tool: what it is about"."""

    prompt: str
    said: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


def everyday_less(text: str) -> dict[str, float]:
    """The stems of a text with what each is worth for distinguishing one piece of work from another."""
    everyday = prompt_phrases.EVERYDAY_STEMS
    return {word: worth / 4 if word in everyday else worth for word, worth in weighted_words(text).items()}


def files_of(actions: Sequence[str]) -> list[str]:
    """The names of the files in a turn's actions, without their folders."""
    paths = (path for action in actions[:_ACTIONS] for path in _PATH.findall(action[:_ACTION]))
    return [path.rsplit("/", 1)[-1] for path in paths]


def turn_features(before: Sequence[Turn], after: Sequence[Turn]) -> dict[str, float]:
    """The features of the turns around a prompt; `after` begins with the turn of the prompt itself."""
    before, after = before[-BEFORE:], after[:AFTER]
    return _of_words(before, after) | _of_files(before, after) | _of_manner(before, after)


def _of_words(before: Sequence[Turn], after: Sequence[Turn]) -> dict[str, float]:
    old, new = [_bag(turn) for turn in before], [_bag(turn) for turn in after]
    alike = _similarity(old)
    turn = new[0]
    last: Bag = old[-1] if old else {}
    near = _sum(old[-_NEAR:])
    to_last = alike(turn, last)
    earlier = alike(last, old[-2]) if len(old) > 1 else to_last
    following = alike(new[1], turn) if len(new) > 1 else to_last
    leaves = following - alike(new[1], last) if len(new) > 1 else 0.0
    to_recent = max((alike(turn, one) for one in old[-8:]), default=0.0)
    long = much(len(after[0].prompt[:_PROMPT].split()), 60)
    return {
        "the prompt is about the last turn": alike(everyday_less(after[0].prompt[:_PROMPT]), last),
        "the turn is about the last turn": to_last,
        "the turn is about a recent turn": to_recent,
        "is long and about no recent turn": long * (1 - to_recent),
        "the next turns are about the last ones": alike(_sum(new), near),
        "the last turns were closer to each other": earlier - to_last,
        "the next turns are closer to each other": following - to_last,
        "the next turn is closer to this one than to the last": leaves,
    }


def _of_files(before: Sequence[Turn], after: Sequence[Turn]) -> dict[str, float]:
    known = {name for turn in before[-_NEAR - 1 :] for name in files_of(turn.actions)}
    edited_before = {name for turn in before[-_NEAR - 1 :] for name in _edited(turn)}
    return {
        "the next turns are on known files": _known(
            {name for turn in after for name in files_of(turn.actions)}, known
        ),
        "the next turns edit what was edited": _known(
            {name for turn in after for name in _edited(turn)}, edited_before
        ),
    }


def _of_manner(before: Sequence[Turn], after: Sequence[Turn]) -> dict[str, float]:
    """How the agent went about the prompt, and how busy it had been."""
    turn = after[0]
    explored = edits = 0
    for action in turn.actions:
        if prompt_phrases.EDITS.match(action):
            edits = 1
            break
        explored += _EXPLORES.match(action) is not None
    return {
        "the agent explored first": much(explored, 20),
        "the agent explored and then edited": much(explored, 20) * edits,
        "the agent did much": much(len(turn.actions), 90),
        "the agent said much": much(sum(map(len, turn.said)), 8000),
        "the agent had done much": much(len(before[-1].actions), 90) if before else 0.0,
        "the agent launched a helper": float(any(_LAUNCHES.match(action) for action in turn.actions[:4])),
    }


def _bag(turn: Turn) -> Bag:
    texts = (turn.prompt[:_PROMPT], *(text[:_MESSAGE] for text in turn.said[-_MESSAGES:]))
    actions = " ".join(action[:_ACTION] for action in turn.actions[:_ACTIONS])
    return _sum([everyday_less(text) for text in (*texts, actions)])


def _sum(bags: Sequence[Bag]) -> Bag:
    found: dict[str, float] = {}
    for bag in bags:
        for word, worth in bag.items():
            found[word] = found.get(word, 0.0) + worth
    return found


def _similarity(recent: Sequence[Bag]) -> Callable[[Bag, Bag], float]:
    """The cosine of two bags; rare words count more, by how many of the recent turns have them."""
    total = len(recent) + 1
    weights: dict[str, float] = {}

    def weight(word: str) -> float:
        found = weights.get(word)
        if found is None:
            found = math.log((total + 1) / (1 + sum(word in bag for bag in recent))) ** 2
            weights[word] = found
        return found

    def size(bag: Bag) -> float:
        return sum(worth * weight(word) for word, worth in bag.items())

    def alike(one: Bag, other: Bag) -> float:
        shared = sum(
            math.sqrt(worth * other[word]) * weight(word) for word, worth in one.items() if word in other
        )
        return shared / math.sqrt(size(one) * size(other)) if shared else 0.0

    return alike


def _edited(turn: Turn) -> list[str]:
    return files_of([action for action in turn.actions if prompt_phrases.EDITS.match(action)])


def _known(names: set[str], known: set[str]) -> float:
    """The share of names that are known; in between where there are none."""
    return len(names & known) / len(names) if names else 0.5


def much(count: int, most: int) -> float:
    """A count as a share of what is very many, on a scale on which the first few count most."""
    return min(1.0, math.log1p(count) / math.log1p(most))
