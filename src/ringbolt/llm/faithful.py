"""Whether a text that a model wrote agrees with the records.

Three checks: every citation exists, every name and number was in the prompt, and no step is called done that
is not. When in doubt a text is refused, because there is always an answer from the ledger to take its place.
The phrases are English, so a text in another language is refused too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ..model.lazy_regex import lazy_regex
from ..model.types import Step, Value
from ..signals.phrases import DONE
from ..signals.reports.clauses import read_clauses
from ..signals.step_numbers import step_numbers
from ..signals.terms import stem_places, stems, stop_terms
from ..signals.text_layout import clauses

_CITE = lazy_regex(r"#(\d{1,12})\b")
_OPEN = lazy_regex(
    r"(?i)\b(?:next|pending|current(?:ly)?|in progress|remain(?:s|ing|ed)?|left|open|active|ongoing"
    r"|working on|start(?:s|ed|ing)?|began|begun|begins?|under ?way|to ?do|ahead|later|now|failed|fails"
    r"|blocked|waiting|waits|stuck|skipped|cancelled|dropped|will|should|must|needs?|still|upcoming|planned"
    r"|outstanding|unfinished|incomplete|follows?|before|until)\b"
)
# A negation counts if it is in the same clause, at most a few words before.
_DENIED = lazy_regex(
    r"(?i)(?:(?:n['’]t|\b(?:not|no|none|nothing|never|neither|nor|yet|until|before|when|once|if|unless"
    r"|cannot|without|half|partly|partially|almost|nearly|needs?|awaits?))\b(?: (?!and\b|but\b|so\b"
    r"|while\b)[\w-]+){0,4}|\b(?:to|will|must|should|can|could|may|might) be(?: \w+ly)?) *$"
)
_ALL = lazy_regex(
    r"(?i)\b(?:all|every|everything|each|both)\b|\b(?:the|this|your|our) (?:\w+ )?(?:task|plan|project|job)\b"
)
_BREAK = lazy_regex(r"(?i)[,()–—]|\b(?:and|but|while|whereas|so|then|which|with)\b")
_LINK = lazy_regex(r"(?i)[\s,;:&()\"'“”–—-]*(?:(?:and|or|plus)\b)?[\s\"'“(]*")
_WORD_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_PLACES = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_NUMBER = rf"(?:\d{{1,4}}|{'|'.join(_WORD_NUMBERS)})"
_OF = lazy_regex(rf"(?i)\b({_NUMBER})\s*(?:/|of|out of)\s*(?:the\s+|its\s+|all\s+)?({_NUMBER})\b")
_SO_MANY = lazy_regex(rf"(?i)\b({_NUMBER})\s+(?:\w+\s+)?(?:steps?|items?)\b")
_NUMBERED = lazy_regex(
    rf"(?i)\b(?:steps?|items?)\s*#?{_NUMBER}(?:(?:\s*(?:,|and|&|/|-|–|to|through))+\s*#?{_NUMBER}\b)*"
)
_PLACED = lazy_regex(rf"(?i)\b({'|'.join(_PLACES)}|last|final)\s+(?:step|item)\b")
_IRREGULAR = {
    "built": "build", "ran": "run", "wrote": "write", "written": "write", "made": "make", "sent": "send",
    "found": "find", "took": "take", "taken": "take", "chose": "choose", "chosen": "choose", "drew": "draw",
    "brought": "bring", "gave": "give", "given": "give", "did": "do", "got": "get", "went": "go",
}  # fmt: skip
_SAME_PAST = frozenset("set put cut read let".split())
_CHUNK = lazy_regex(r"[\w./:@+-]+")
_NAME = lazy_regex(r"\d|_|://|/[\w.-]+[/.]")
_ENGLISH = frozenset(
    "the is are to of and it on for has have been be with no not step steps next by at as".split()
)
# A text of this many words or more must contain some of these.
_LONG = 8
_LEAST_QUOTE = 4  # characters


class Plan(Value, frozen=True, kw_only=True):
    """The steps of a task as they stand, and whether the task itself is over."""

    steps: tuple[Step, ...] = ()
    over: bool = False


_MOST_SENTENCE = 10_000  # a model is asked for fewer words in all


def cites(text: str) -> list[int]:
    """The events that a text cites, each once, in order."""
    return list(dict.fromkeys(int(number) for number in _CITE.findall(text)))


def check(text: str, plan: Plan, seqs: Iterable[int], seen: str) -> None:
    """Raise ValueError if a text does not agree with the events and texts that it was made from."""
    known = set(seqs)
    if foreign := [seq for seq in cites(text) if seq not in known]:
        raise ValueError(f"it cites #{foreign[0]}, which is not among the facts")
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(words) >= _LONG and sum(word in _ENGLISH for word in words) < 2:
        raise ValueError("it is not in English")
    if foreign := _foreign_name(text, plan, seen.lower()):
        raise ValueError(f"“{foreign[:60]}” is not in the facts")
    for sentence in clauses(text):
        if len(sentence) > _MOST_SENTENCE:
            raise ValueError("a sentence is too long to be checked")
        if false := _false_claim(sentence, plan):
            raise ValueError(f"it says that {false} done, which the facts do not say")


def check_quote(quote: str, texts: Iterable[str]) -> None:
    """Raise ValueError if none of the texts has the quoted words, whatever their case and spacing."""
    words = _quotable(quote)
    if len(words) < _LEAST_QUOTE:
        raise ValueError("it quotes nothing of what it cites")
    if not any(words in _quotable(text) for text in texts):
        raise ValueError(f"“{quote[:60]}” is not in the events that it cites")


def check_stated(quote: str, text: str) -> None:
    """Raise ValueError if a quotation is not part of something that its author states as done or as so."""
    words = _quotable(quote)
    spoken = [clause for clause in read_clauses(text) if _overlaps(words, _quotable(clause.text))]
    unsaid = [clause.act for clause in spoken if clause.act not in ("finished", "none") or clause.guessed]
    if unsaid or not spoken:
        raise ValueError(
            f"“{quote[:60]}” is {unsaid[0] if unsaid else 'no statement'}, so it finishes nothing"
        )


def _overlaps(quote: str, clause: str) -> bool:
    return bool(clause) and (quote in clause or clause in quote)


def _quotable(text: str) -> str:
    return " ".join("".join(letter if letter.isalnum() else " " for letter in text.casefold()).split())


def _foreign_name(text: str, plan: Plan, seen: str) -> str | None:
    """A name, path, version or number that was not in the prompt; small numbers may count steps."""
    ids = {item.id.lower() for item in plan.steps}
    for found in filter(_NAME.search, _CHUNK.findall(_CITE.sub(" ", text))):
        name = found.strip("./:@+-").lower()
        small = all(part.isdecimal() and int(part[:9]) <= len(plan.steps) for part in re.split("[-–/]", name))
        if name and not small and name not in seen and name not in ids:
            return found
    return None


# --- steps that are called done ---------------------------------------------------------------------


class _Mark(Value, frozen=True, kw_only=True):
    """A span of a sentence: a mention of steps (with what is wrong if they are called done), or a state."""

    start: int
    end: int
    kind: Literal["step", "done", "open"]
    false: str | None = None


def _false_claim(sentence: str, plan: Plan) -> str | None:
    """What a sentence wrongly calls done, as the start of a clause ("step s4 is"); None if nothing.

    Mentions of steps and words for a state are found separately, because they can be anywhere in the
    sentence. Each group of mentions is then judged by the states in its own clause, or in clauses beside it
    that mention no other step.
    """
    plain, mentions = _mentions(sentence, plan)
    if not any(mention.false for mention in mentions):
        return None
    states = list(_states(plain)) + _past_verbs(sentence, plan)
    states.sort(key=lambda mark: mark.start)
    breaks = [
        found.start()
        for found in _BREAK.finditer(plain)
        if not any(mention.start <= found.start() < mention.end for mention in mentions)
    ]
    groups = _groups(plain, mentions, states)
    for place, group in enumerate(groups):
        false = next((mention.false for mention in group if mention.false), None)
        before = groups[place - 1][-1].end if place else 0
        after = groups[place + 1][0].start if place + 1 < len(groups) else len(plain)
        if false and _called_done(group, states, breaks, before, after):
            return false
    return None


def _called_done(
    group: Sequence[_Mark], states: Sequence[_Mark], breaks: Sequence[int], before: int, after: int
) -> bool:
    """Whether a sentence says of a group of mentions that they are done."""
    start, end = group[0].start, group[-1].end
    clause_start = max((place for place in breaks if place < start), default=0)
    clause_end = min((place for place in breaks if place >= end), default=after)
    own = [mark.kind for mark in states if clause_start <= mark.start < clause_end]
    if "done" in own:
        return True
    # Following clauses that name no other step are about this one: "step 4, which was next, is done".
    if any(mark.kind == "done" and clause_end <= mark.start < after for mark in states):
        return True
    earlier = [mark.kind for mark in states if mark.start < start]
    return not own and bool(earlier) and earlier[-1] == "done"


def _groups(plain: str, mentions: Sequence[_Mark], states: Sequence[_Mark]) -> list[list[_Mark]]:
    """Mentions that are listed together, with only commas and the like between them."""
    groups: list[list[_Mark]] = []
    for mention in mentions:
        if groups:
            last = groups[-1][-1]
            apart = any(last.end <= mark.start < mention.start for mark in states)
            if not apart and _LINK.fullmatch(plain, last.end, max(last.end, mention.start)):
                groups[-1].append(mention)
                continue
        groups.append([mention])
    return groups


def _states(plain: str) -> Iterator[_Mark]:
    """The words for done and open; a denied word for done counts as open."""
    plain = plain[:_MOST_SENTENCE]  # `check` refuses longer ones
    for found in DONE.finditer(plain):
        denied = _DENIED.search(plain, max(0, found.start() - 60), found.start())
        yield _Mark(start=found.start(), end=found.end(), kind="open" if denied else "done")
    for found in _OPEN.finditer(plain):
        yield _Mark(start=found.start(), end=found.end(), kind="open")


def _mentions(sentence: str, plan: Plan) -> tuple[str, list[_Mark]]:
    """The sentence with titles blanked out, since they may contain any words, and the mentions of steps."""
    live = [item for item in plan.steps if item.dropped_in is None]
    plain, found = sentence, list[_Mark]()

    def add(start: int, end: int, false: str | None) -> None:
        if not any(mark.start < end and start < mark.end for mark in found):
            found.append(_Mark(start=start, end=end, kind="step", false=false))

    for item in sorted(plan.steps, key=lambda item: -len(item.title)):
        if DONE.sub("", _OPEN.sub("", item.title)).strip():
            for match in re.finditer(rf"(?<!\w){re.escape(item.title)}(?!\w)", plain, re.I):
                add(*match.span(), _not_done(item))
                plain = plain[: match.start()] + " " * len(match[0]) + plain[match.end() :]
    for match in _NUMBERED.finditer(plain):
        picked = [live[number - 1] for number in _numbers(match[0]) if 0 < number <= len(live)]
        add(*match.span(), next(filter(None, map(_not_done, picked)), None))
    for match in _PLACED.finditer(plain):
        word = match[1].lower()
        place = next((at for at, name in enumerate(_PLACES) if name == word), len(live) - 1)
        if 0 <= place < len(live):
            add(*match.span(), _not_done(live[place]))
    for item in plan.steps:
        for match in re.finditer(rf"(?<![\w-]){re.escape(item.id)}(?![\w-])", plain, re.I):
            add(*match.span(), _not_done(item))
        if span := _title_span(plain, item):
            add(*span, _not_done(item))
    for start, end, false in _counts(plain, plan, live):
        add(start, end, false)
    return plain, sorted(found, key=lambda mark: mark.start)


def _not_done(item: Step) -> str | None:
    return None if item.status == "completed" else f"step {item.id} is"


def _numbers(text: str) -> list[int]:
    """The numbers of "steps 1-3", "step two"."""
    return step_numbers(re.sub(r"[a-z]+", lambda word: _as_digits(word[0]), text.lower()))


def _as_digits(word: str) -> str:
    return next((str(number) for number, name in enumerate(_WORD_NUMBERS) if name == word), word)


def _counts(plain: str, plan: Plan, live: Sequence[Step]) -> Iterator[tuple[int, int, str | None]]:
    """Where a sentence speaks of all steps, or of a number of them."""
    done = sum(item.status == "completed" for item in live)
    opened = [item for item in live if item.status in ("pending", "active", "failed")]
    for match in _OF.finditer(plain):
        claimed = [int(_as_digits(word.lower())) for word in match.groups()]
        yield *match.span(), None if claimed == [done, len(live)] else f"{match[0]} steps are"
    for match in _SO_MANY.finditer(plain):
        yield *match.span(), None if int(_as_digits(match[1].lower())) == done else f"{match[0]} are"
    for match in _ALL.finditer(plain):
        over = not opened if live else plan.over
        yield *match.span(), None if over else f"“{match[0]}” is"


def _title_span(plain: str, item: Step) -> tuple[int, int] | None:
    """Where a sentence has the words of a title, inflected and in any order."""
    wanted = {stem for stem in stems(item.title) if stem not in stop_terms()}
    found: dict[str, tuple[int, int]] = {}
    for start, end, stem in _stemmed(plain):
        if stem in wanted:
            found.setdefault(stem, (start, end))
    least = len(wanted) if len(wanted) < 4 else -(-3 * len(wanted) // 4)
    if not wanted or len(found) < least:
        return None
    return min(start for start, _ in found.values()), max(end for _, end in found.values())


def _past_verbs(sentence: str, plan: Plan) -> list[_Mark]:
    """Past forms of the verbs of titles: "the image was built" says that "Build the image" is done."""
    verbs = {stem for item in plan.steps for stem in stems(item.title)[:1]}
    found: list[_Mark] = []
    for start, end, stem in _stemmed(sentence):
        word = sentence[start:end].lower()
        past = word.endswith("ed") or word in _IRREGULAR or word in _SAME_PAST
        if stem in verbs and past and not _DENIED.search(sentence, max(0, start - 60), start):
            found.append(_Mark(start=start, end=end, kind="done"))
    return found


def _stemmed(text: str) -> Iterator[tuple[int, int, str]]:
    for start, end, stem in stem_places(text):
        word = text[start:end].lower()
        yield start, end, stems(_IRREGULAR[word])[0] if word in _IRREGULAR else stem
