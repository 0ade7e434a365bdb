"""What a message says, function by function: decisions, dead ends, values, constraints, questions, blockers,
plans, causes, and what the user takes back.

Sentences are judged by `signals.speech.sentences.model`; sections under a heading ("Blockers", "Next steps",
"Decisions") by their heading. What the reader is sure of has a confidence of at least SURE; what it decides
or rules out with less is only probable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from ..model.lazy_regex import lazy_regex
from ..signals.phrases import DONE, is_question
from ..signals.speech import model as speech_model
from ..signals.speech import sentences as speech
from ..signals.speech.lexicon import headings
from ..signals.speech.model import SURE, confidence
from ..signals.speech.sentences import FUNCTIONS, Function, Sentence, Tokens
from ..signals.text_layout import layout, plain
from .decisions import Decided, announces_decisions, decisions
from .slots import has_content, is_substantial, split_choice, split_dead_end, stated_values, without_lead

MOST_OF_A_KIND = 8
MOST_STEPS = 10
MOST_WORDS = 300

# Of what a sentence does, only the likeliest of these is taken. A value, an announcement and a report of
# what is done may stand beside it: "I'm deleting the copy, since the other one has the same content".
_RIVALS: tuple[Function, ...] = (
    "decision", "dead_end", "constraint", "question", "blocker", "cause", "rejection",
)  # fmt: skip
_PLACES = {name: place for place, name in enumerate(FUNCTIONS)}


_TURN = lazy_regex(
    r"(?i);\s+(?=(?:so |and |but )?(?:(?:I|we)(?:['’](?:ll|m|re|d)| will| am| are)|let['’]s)\b)"
)


class DeadEnd(Struct):
    what: str
    why: str
    confidence: float


class Remark(Struct):
    """A sentence that is kept as it is."""

    text: str
    confidence: float


class Message(Struct):
    """What one message says. `question` is the one it ends with."""

    decisions: list[Decided] = field(default_factory=list[Decided])
    dead_ends: list[DeadEnd] = field(default_factory=list[DeadEnd])
    values: list[tuple[str, str, float]] = field(default_factory=list[tuple[str, str, float]])
    constraints: list[Remark] = field(default_factory=list[Remark])
    blockers: list[Remark] = field(default_factory=list[Remark])
    discoveries: list[Remark] = field(default_factory=list[Remark])
    rejections: list[Remark] = field(default_factory=list[Remark])
    steps: list[str] = field(default_factory=list[str])
    done: bool = False
    nothing_blocks: bool = False  # a section about blockers says that there are none
    question: str = ""

    def probable(self) -> tuple[list[Decided], list[DeadEnd]]:
        """What the message probably decides and rules out."""
        return (
            [one for one in self.decisions if one.confidence < SURE],
            [one for one in self.dead_ends if one.confidence < SURE],
        )

    def sure(self) -> Message:
        """The message with only what the reader is sure of."""
        return Message(
            decisions=[one for one in self.decisions if one.confidence >= SURE],
            dead_ends=[one for one in self.dead_ends if one.confidence >= SURE],
            values=[one for one in self.values if one[2] >= SURE],
            constraints=[one for one in self.constraints if one.confidence >= SURE],
            blockers=[one for one in self.blockers if one.confidence >= SURE],
            discoveries=[one for one in self.discoveries if one.confidence >= SURE],
            rejections=[one for one in self.rejections if one.confidence >= SURE],
            steps=self.steps,
            done=self.done,
            nothing_blocks=self.nothing_blocks,
            question=self.question,
        )


def read_message(text: str, *, user: bool = False, after_failure: bool = False) -> Message:
    """Read a message of the agent, or of the user."""
    lines = list(layout(text))
    sentences = [part for one in speech.split(text, lines) for part in _parts(one)]
    message = Message(decisions=decisions(lines))
    reader = _Reader(message, sentences, user, after_failure)
    for at in range(len(sentences)):
        reader.read(at)
    return message


def _parts(sentence: Sentence) -> Iterator[Sentence]:
    """What a sentence says before and after a semicolon with which the speaker turns to what to do."""
    turn = _TURN.search(sentence.text) if ";" in sentence.text else None
    if turn is None or sentence.kind in ("heading", "row"):
        yield sentence
        return
    before, after = sentence.text[: turn.start()], sentence.text[turn.end() :]
    yield replace(sentence, text=before, last=False)
    yield replace(sentence, text=after, first=False, label=False, previous=before)


class _Reader:
    def __init__(
        self, message: Message, sentences: Sequence[Sentence], user: bool, after_failure: bool
    ) -> None:
        self._message = message
        self._sentences = sentences
        self._user = user
        self._after_failure = after_failure
        self._structured = {one.line for one in message.decisions}
        self._section = ""
        self._announced = False  # a cause was announced whose content follows
        self._last_cause: str = ""  # of the sentence before, as a reason for what follows

    def read(self, at: int) -> None:
        sentence = self._sentences[at]
        self._message.question = ""
        if sentence.kind in ("heading", "lead"):
            section = section_of(sentence.text)
            self._section = section or (
                "" if sentence.kind == "heading" or sentence.text.endswith(":") else self._section
            )
            self._announced = section == "found"
            if section or sentence.kind == "heading":
                return
        if sentence.kind == "row":
            return
        if (text := _labelled_blocker(sentence.text)) and not is_question(sentence.text):
            _add(self._message.blockers, text, 0.8)
            return
        if self._section in ("next", "blocked", "needed") and sentence.kind in ("item", "prose"):
            self._in_section(sentence)
            return
        if self._section == "decided" and sentence.line in self._structured:
            return
        self._judge(at, sentence)

    def _in_section(self, sentence: Sentence) -> None:
        text = plain(sentence.text).rstrip(" :")
        words = [word.strip(".,:;") for word in text.lower().split()] or ["none"]
        nothing = words[0] in ("none", "n/a", "nothing") or (
            words[0] == "no" and bool(_NOTHING.intersection(words[1:3]))
        )
        if self._section in ("blocked", "needed"):
            nothing_blocks = nothing and self._section == "blocked"
            self._message.nothing_blocks = self._message.nothing_blocks or nothing_blocks
            if not nothing:
                _add(self._message.blockers, text, 0.8)
        elif sentence.kind == "item" and not (nothing or sentence.ticked or DONE.search(text)):
            _add_step(self._message, text)

    def _judge(self, at: int, sentence: Sentence) -> None:
        tokens = Tokens(sentence.text)
        scores = speech_model.scores(sentence, tokens, self._user, self._after_failure)
        table = speech_model.model()
        text = plain(sentence.text, MOST_WORDS).rstrip(" :")
        asks = is_question(sentence.text)
        announced, self._announced = self._announced, _announces_cause(tokens, sentence, asks)
        if self._announced:
            return
        reason, self._last_cause = self._last_cause, ""
        if asks:
            self._message.question = text
        else:
            self._progress(scores, sentence, tokens)
        name = max(_RIVALS, key=lambda one: scores[_PLACES[one]] - table.likely[_PLACES[one]])
        sure = 0.0
        moves_on = scores[_PLACES["next"]] >= table.sure[_PLACES["next"]] or tokens.has("look")
        if announced and not asks and sentence.kind != "lead" and not moves_on:
            name, sure = "cause", 0.6
        elif scores[_PLACES[name]] >= table.likely[_PLACES[name]] and not speech.is_unreal(name, tokens):
            sure = confidence(scores[_PLACES[name]], _PLACES[name])
        if sure and name in ("cause", "dead_end"):
            self._last_cause = text
        self._values(scores, sentence, asks)
        if sure and (not asks or name == "question"):
            self._take(name, text, sentence, sure, at, reason)

    def _take(self, name: Function, text: str, sentence: Sentence, sure: float, at: int, reason: str) -> None:
        message = self._message
        if name == "decision":
            if sentence.line not in self._structured and len(message.decisions) < MOST_OF_A_KIND * 2:
                self._decide(sentence, sure, at, reason)
        elif name == "dead_end":
            what, why = split_dead_end(sentence.text, sentence.previous)
            if len(message.dead_ends) < MOST_OF_A_KIND and len(what) >= 4:
                message.dead_ends.append(DeadEnd(what, why, sure))
        elif name == "cause":
            _add(message.discoveries, text, sure)
        elif name in ("constraint", "blocker", "rejection"):
            kept = {
                "constraint": message.constraints,
                "blocker": message.blockers,
                "rejection": message.rejections,
            }
            _add(kept[name], text, sure)

    def _progress(self, scores: Sequence[float], sentence: Sentence, tokens: Tokens) -> None:
        """Note what is done and what comes next; `prose_plan` reads other announcements."""
        sure = speech_model.model().sure
        if scores[_PLACES["done"]] >= sure[_PLACES["done"]]:
            self._message.done = True
        ahead = scores[_PLACES["next"]] >= sure[_PLACES["next"]] and "next" in tokens.words[:2]
        if ahead and sentence.kind != "heading":
            _add_step(self._message, without_lead(sentence.text))

    def _decide(self, sentence: Sentence, sure: float, at: int, before: str) -> None:
        one = split_choice(sentence.text)
        named = is_substantial(one.choice) or (self._user and Tokens(one.choice).has("~way"))
        if len(one.choice) < 4 or not named or one.choice.lower().startswith(_IDIOMS):
            return
        reason = one.reason or self._following_reason(at) or before
        self._message.decisions.append(
            Decided(
                choice=one.choice, reason=reason, instead=one.instead, confidence=sure, line=sentence.line
            )
        )

    def _following_reason(self, at: int) -> str:
        """The next sentence of the same line, if it gives the reason."""
        if at + 1 >= len(self._sentences) or self._sentences[at + 1].line != self._sentences[at].line:
            return ""
        text = self._sentences[at + 1].text
        words = Tokens(text).words
        begins = bool(_BEGINS_REASON.intersection(words[:1]))
        return plain(text, 600) if begins and not is_question(text) else ""

    def _values(self, scores: Sequence[float], sentence: Sentence, asks: bool) -> None:
        place = _PLACES["value"]
        if asks or scores[place] < speech_model.model().likely[place]:
            return
        sure = confidence(scores[place], place)
        for name, value in stated_values(sentence.text):
            if len(self._message.values) < MOST_OF_A_KIND:
                self._message.values.append((name, value, sure))


def section_of(heading: str) -> str:
    """What stands under a heading: next, blocked, found, decided, or "" for anything else."""
    words = [word.strip("*_:.,()#?!’'") for word in heading.lower().split()]
    words = [word for word in words if word and not word.rstrip(".)").isdecimal()]
    if not words or len(words) > 5:
        return ""
    known = headings()
    kinds = [known.get(word, ()) for word in words]
    # Every word must belong, so that "Next.js settings" and "the plan of phase two" are other things.
    for kind, section in (("blocker", "blocked"), ("next", "next"), ("cause", "found")):
        if any(kind in names for names in kinds) and all(
            kind in names or word in _FILLS for word, names in zip(words, kinds, strict=True)
        ):
            if kind == "next" and not _AHEAD.intersection(words):
                continue
            if kind == "cause" and not _FINDS.intersection(words):
                continue
            return section
    if any(need <= set(words) for need in _NEEDS):
        return "needed"
    return "decided" if announces_decisions(heading) else ""


def _labelled_blocker(text: str) -> str:
    """The text after a label such as "Blocked by:" or "**Blockers for phase 2:**"; "" if there is none."""
    found = _BLOCKER_LABEL.match(text)
    rest = plain(text[found.end() :], MOST_WORDS).strip(" *:") if found else ""
    first = rest.lower().split(maxsplit=1)[:1]
    return "" if not first or first[0].strip(".,;-") in ("none", "no", "n/a", "nothing") else rest


_BLOCKER_LABEL = lazy_regex(
    r"(?i)\W{0,4}(?:blockers?|blocked(?: by| on)?|waiting (?:for|on)|still waiting (?:for|on)|awaiting"
    r"|needed from you)\b[^:.\n]{0,40}:\**\s+(?=\S)"
)
# Headings of sections that say what somebody else has to do first.
_NEEDS = tuple(
    frozenset(words.split())
    for words in (
        "setup required", "action required", "needed you", "need you", "waiting for", "waiting on",
        "input needed", "needs your", "required you",
    )
)  # fmt: skip
_BEGINS_REASON = frozenset("it this that otherwise because reason they these since".split())
_IDIOMS = ("keep in mind", "keep going", "keep me", "go ahead", "go on", "take a look", "leave it to")
_NOTHING = frozenset("blocker blockers issue issues concern concerns known open current".split())
_FILLS = frozenset(
    "current known open and & or the my our immediate what is what's whats still to do up work items item"
    " root real actual key main found concerns blockers/concerns left".split()
)
_AHEAD = frozenset(
    "next remaining todo todos upcoming outstanding follow-up follow-ups followups left do remains".split()
)
_FINDS = frozenset("cause causes finding findings discovery discoveries insight insights".split())


_POINTS = frozenset(
    "issue problem bug cause culprit reason insight found clear clearly now root real actual see it".split()
)


def _announces_cause(tokens: Tokens, sentence: Sentence, asks: bool) -> bool:
    """ "I see the issue." announces a cause; the next sentence says it."""
    return (
        not asks
        and len(tokens.words) <= 9
        and tokens.has("~cause", "~reveals")
        and sentence.kind != "item"
        and not has_content(tokens, (0, len(tokens.words)), _POINTS)
    )


def _add(found: list[Remark], text: str, sure: float) -> None:
    if len(text) >= 4 and len(found) < MOST_OF_A_KIND and all(one.text != text for one in found):
        found.append(Remark(text, sure))


def _add_step(message: Message, text: str) -> None:
    if len(text) >= 4 and len(message.steps) < MOST_STEPS and text not in message.steps:
        message.steps.append(text)
