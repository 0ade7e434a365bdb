"""Whether a prompt begins a new request or goes on with the present one.

A few rules decide what is beyond doubt, and boosted trees over features of the prompt and of the moment in
which it came the rest. The trees are in `request_trees`, written by `bench/request_training.py`;
`bench/request_boundaries.py` measures them. A wrong "new" hides work that is still open, while a missed one
only leaves the new request among the instructions of the old one, so the threshold is set for precision.

The verdict is given when the prompt comes, and again when the agent has answered it and whenever a further
turn has ended (`turns`). The second look is the better one. What is read of each text is bounded, and so is
the time: about half a millisecond for the first look, 5 ms for the second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ..model.types import Value
from ..signals import phrases, prompt_phrases
from ..signals.reports.tokens import language_of
from ..signals.text_layout import layout, sentences
from ..signals.words import HUMP
from .completion import says_done
from .request_trees import FIRST_LOOK, SECOND_LOOK
from .turns import Turn, everyday_less, files_of, much, turn_features

# What is read of each text. Its subject stands at the start, the verdict of an agent at either end.
PROMPT_CHARACTERS, PROSE_CHARACTERS = 4000, 1200
REQUEST_CHARACTERS = 2000
MESSAGE_CHARACTERS = 2000
INSTRUCTIONS, INSTRUCTION_CHARACTERS = 6, 400
RECENT_CHARACTERS, RECENT_TEXT = 4000, 1000
EVERYTHING_CHARACTERS, NAMES = 40_000, 12
REPLY_CHARACTERS, FIRST_ACTIONS = 800, 15
FILES = 40
ACTIONS, ACTION_CHARACTERS = 40, 300
SCENE_CHARACTERS, TURN_CHARACTERS = 60, 160

USUAL_SILENCE = 150.0  # seconds between an answer and the next prompt, where they are not known
REASONS = 4

_GAPS = str.maketrans(dict.fromkeys("!\"#$%&'()*+,:;<=>?@[\\]^`{|}~“”‘’…—–•", " "))


class Moment(Value, frozen=True, kw_only=True):
    """What is known when a prompt comes.

    `instructions` are the prompts since the request, oldest first. `message` is what the agent said last, ""
    if nothing since the last prompt; `recent` is what it said and did since the request, a line or a message
    each, oldest first. `stopped` says that its turn had ended, `interrupted` that the user ended it. Steps
    and files (those it read or changed) are those of the present request. `actions` are those since the last
    prompt, a line each that begins with the tool ("Bash: git push"), oldest first.

    For the second look, `before` are the turns before the prompt, also those of earlier requests, and `after`
    those since, beginning with the turn of the prompt; empty if the agent has not answered yet.
    """

    request: str
    prompt: str
    instructions: tuple[str, ...] = ()
    message: str = ""
    recent: tuple[str, ...] = ()
    stopped: bool = True
    interrupted: bool = False
    steps_done: int = 0
    steps_total: int = 0
    files: tuple[str, ...] = ()
    idle_seconds: float | None = None
    actions: tuple[str, ...] = ()
    before: tuple[Turn, ...] = ()
    after: tuple[Turn, ...] = ()


class Boundary(Value, frozen=True, kw_only=True):
    """The verdict on a prompt: new where the score is above 0, with the features that counted most for it.

    Where the rules are unsure they say no. That is the time to ask a model, if one is configured.
    """

    is_new: bool
    is_unsure: bool
    score: float
    reasons: tuple[str, ...]


BEYOND_DOUBT = 9.0  # the score of a prompt that the rules decide, or its negative
OPENING = 400  # characters of a prompt in which the rules look


def judge(moment: Moment) -> Boundary:
    """Whether the prompt of a moment begins a new request."""
    if reason := _why_it_goes_on(moment):
        return Boundary(is_new=False, is_unsure=False, score=-BEYOND_DOUBT, reasons=(reason,))
    if reason := _why_it_begins(_prose(moment.prompt)):
        return Boundary(is_new=True, is_unsure=False, score=BEYOND_DOUBT, reasons=(reason,))
    trees = SECOND_LOOK if moment.after else FIRST_LOOK
    score, shares = trees.score(features(moment))
    sign = 1 if score > 0 else -1
    ranked = sorted(((sign * share, name) for name, share in shares.items()), reverse=True)
    reasons = tuple(name for share, name in ranked[:REASONS] if share > 0.02)
    unsure = -trees.doubt < score <= 0
    return Boundary(is_new=score > 0, is_unsure=unsure, score=round(score, 3), reasons=reasons)


def _why_it_goes_on(moment: Moment) -> str:
    """What rules a new request out, whatever else the prompt says; "" if nothing does."""
    opening = _prose(moment.prompt)[:OPENING]
    start = moment.prompt[:200]
    if start and any(one[:200] == start for one in (moment.request, *moment.instructions[-2:])):
        return "was sent before"
    if prompt_phrases.RESUMES.search(opening):
        return "says to go on"
    if prompt_phrases.CHANGES_TOPIC.search(opening):
        return ""
    if prompt_phrases.CONSENTS.match(moment.prompt[:OPENING]):
        return "gives leave"
    return "says that nothing has changed" if prompt_phrases.PERSISTS.match(opening) else ""


def _why_it_begins(prose: str) -> str:
    """What makes a prompt a new request, whatever came before; "" if nothing does."""
    if prompt_phrases.HANDS_OVER_PLAN.match(prose):
        return "hands over a plan"
    return "declares a new request" if prompt_phrases.DECLARES_REQUEST.match(prose) else ""


# --- features ---------------------------------------------------------------------------------------


def features(moment: Moment) -> dict[str, float]:
    """The features of a moment; their names are the reasons that a verdict gives."""
    prose = _prose(moment.prompt[:PROMPT_CHARACTERS].strip())
    context = _Context(moment)
    found = _of_moment(moment) | _of_form(moment, prose) | _of_words(prose, context)
    answered = found["the agent had reported completion"]
    found["own subject after completion"] = answered * found["asks for work with a subject of its own"]
    found["scene set after completion"] = answered * found["sets a scene of its own"]
    if moment.after:
        found |= _of_reply(moment, context) | turn_features(moment.before, moment.after)
    return found


def _of_moment(moment: Moment) -> dict[str, float]:
    """How the present request stands."""
    opening, end = moment.message[:150], moment.message[-300:]
    asked = phrases.is_question((sentences(end.replace("\n", ". ")) or [""])[-1]) or phrases.is_question(end)
    done = phrases.DONE.search(opening) or phrases.ALL_DONE.search(opening)
    done = done or (language_of(opening) != "en" and says_done(moment.message))
    return {
        "the agent had reported completion": float(moment.stopped and bool(done)),
        "the agent had asked something": float(moment.stopped and asked),
        "the agent was at work": float(not moment.stopped and not moment.interrupted),
        "all steps were done": float(0 < moment.steps_total <= moment.steps_done),
        "the work was committed": _any(prompt_phrases.COMMITS.search, moment.actions[-ACTIONS:]),
        "the agent had said much at last": much(len(moment.message), 8000),
        "the agent had acted much at last": much(len(moment.actions), 150),
        "the agent had edited at last": much(
            sum(prompt_phrases.EDITS.match(one) is not None for one in moment.actions), 20
        ),
        "many instructions came before": much(len(moment.instructions), 20),
        "a silence before it": min(1.0, math.log1p(moment.idle_seconds or USUAL_SILENCE) / 9),
    }


def _of_form(moment: Moment, prose: str) -> dict[str, float]:
    """How the prompt is worded."""
    first = _first_sentence(prose)
    count = len(prose.split())
    usual = max(
        len(one[:PROSE_CHARACTERS].split()) for one in (moment.request, *moment.instructions[-INSTRUCTIONS:])
    )
    refers = prompt_phrases.REFERS_BACK.search(first)
    points = prompt_phrases.POINTS.search(first[:SCENE_CHARACTERS])
    scene = prompt_phrases.INTRODUCES.match(prose) is not None and refers is None and points is None
    return {
        "says that it is something else": _has(prompt_phrases.CHANGES_TOPIC.search(prose[:TURN_CHARACTERS])),
        "announces a question": _has(prompt_phrases.OPENS_QUESTION.match(prose)),
        "sets a scene of its own": float(scene),
        "asks for work": _has(prompt_phrases.ASKS_FOR_WORK.match(prose)),
        "wishes something": _has(prompt_phrases.WISHES.match(prose)),
        "asks whether the agent can": _has(prompt_phrases.ASKS_WHETHER.match(prose)),
        "reports a try": _has(prompt_phrases.REPORTS_TRY.search(prose[:300])),
        "is about feedback": _has(prompt_phrases.FEEDBACK.search(prose[:300])),
        "has many lines": much(moment.prompt[:PROMPT_CHARACTERS].count("\n"), 50),
        "describes trouble": _has(prompt_phrases.DESCRIBES_TROUBLE.search(prose[:300])),
        "has a slash command": _has(prompt_phrases.SLASH_COMMAND.search(moment.prompt[:100])),
        "opens like an answer": _has(prompt_phrases.OPENS_ANSWER.match(prose)),
        "opens like a follow-up": _has(prompt_phrases.OPENS_FOLLOW_UP.match(prose)),
        "refers back": _has(refers),
        "points before it names anything": float(_points_early(first)),
        "opens with something known": _has(prompt_phrases.OPENS_WITH_KNOWN.match(prose)),
        "asks for tests": _has(prompt_phrases.ASKS_FOR_TESTS.search(first)),
        "has a few words only": float(count <= 4),
        "is short": float(count <= 9),
        "is long": min(1.0, math.log1p(count) / 4),
        "is longer than the prompts before": max(0.0, min(1.0, math.log((count + 1) / (usual + 1)))),
    }


def _of_words(prose: str, context: _Context) -> dict[str, float]:
    """What the prompt is about, compared with the request and the work on it."""
    words = everyday_less(prose)
    mass = sum(words.values()) or 1.0
    novel = {word: worth for word, worth in words.items() if not context.knows(word)}
    names = sorted(word for word in words if "." in word or "_" in word or len(HUMP.findall(word)) > 1)[
        :NAMES
    ]
    familiar = sum(name in context.everything for name in names)
    first = _first_sentence(prose)
    own = sum(worth for word, worth in everyday_less(first).items() if word in novel)
    asks = prompt_phrases.ASKS_FOR_WORK.match(prose) is not None and not _points_early(first)
    links = prompt_phrases.LINK.findall(prose)
    return {
        "much is new": min(1.0, math.log1p(sum(novel.values())) / 3),
        "most of it is new": sum(novel.values()) / mass,
        "new names": min(1.0, math.log1p(len(names) - familiar) / 2),
        "known names": min(1.0, math.log1p(familiar) / 2),
        "a new link": float(any(link.lower() not in context.everything for link in links)),
        "asks for work with a subject of its own": float(asks and own >= 1.5),
        "words of the request": _share(words, context.request) / mass,
        "words of the last message": _share(words, context.message) / mass,
        "words of the instructions": _share(words, context.instructions) / mass,
        "quotes the agent": min(1.0, max(0, _longest_run(prose, context.message + context.recent) - 2) / 5),
    }


def _of_reply(moment: Moment, context: _Context) -> dict[str, float]:
    """What the agent did with the prompt at once."""
    turn = moment.after[0]
    reply = turn.said[0][:REPLY_CHARACTERS] if turn.said else ""
    before = {path.replace("\\", "/").rsplit("/", 1)[-1] for path in moment.files[-FILES:]}
    opened = files_of(turn.actions[:FIRST_ACTIONS])
    after = set(opened[:FILES])
    words = everyday_less(reply)
    novel = sum(worth for word, worth in words.items() if not context.knows(word))
    return {
        "the agent announced work": _has(prompt_phrases.PROMISES.match(reply)),
        "the reply takes up the prompt": _has(prompt_phrases.TAKES_UP.match(reply)),
        "the reply sets out": _has(prompt_phrases.SETS_OUT.match(reply)),
        "the reply sees a cause": _has(prompt_phrases.SEES_CAUSE.match(reply)),
        "the agent edited at once": _any(prompt_phrases.EDITS.match, turn.actions[:2]),
        "the first file is another one": float(bool(opened) and opened[0] not in before),
        "the agent turned to other files": min(1.0, math.log1p(len(after - before)) / 2),
        "the agent stayed with its files": len(after & before) / len(after) if after else 0.0,
        "the agent used no files": float(not after),
        "the reply is about something new": novel / (sum(words.values()) or 1.0),
    }


# --- texts ------------------------------------------------------------------------------------------


class _Context:
    """The texts that a prompt is compared with, as words in lower case with a space before each.

    To look for the few stems of a prompt in them is ten times as fast as to stem them all.
    """

    def __init__(self, moment: Moment) -> None:
        instructions = (one[:INSTRUCTION_CHARACTERS] for one in moment.instructions[-INSTRUCTIONS:])
        self.request = _spaced(moment.request[:REQUEST_CHARACTERS])
        self.instructions = _spaced("\n".join(instructions))
        self.message = _spaced(_ends(moment.message, MESSAGE_CHARACTERS))
        self.recent = _spaced(_newest(moment.recent))
        self._near = self.request + self.instructions + self.message + self.recent
        self._near += _spaced("\n".join(moment.files[-FILES:]))
        texts = (moment.request[:REQUEST_CHARACTERS], *moment.instructions, *moment.recent, moment.message)
        self.everything = "\n".join(texts)[-EVERYTHING_CHARACTERS:].lower()

    def knows(self, stem: str) -> bool:
        """Whether a stem is in the request or in the recent work."""
        return _has_stem(self._near, stem)


def _prose(prompt: str) -> str:
    """What the user wrote: no code, quotations or logs; the start of the text if nothing else is there."""
    kept = [
        line.text for line in layout(prompt) if line.text and not prompt_phrases.PASTED_LINE.match(line.text)
    ]
    return "\n".join(kept)[:PROSE_CHARACTERS] or prompt[:200]


def _first_sentence(prose: str) -> str:
    return (sentences(prose.split("\n", 1)[0]) or [""])[0][:300]


def _points_early(sentence: str) -> bool:
    """Whether "it", "this" and the like come before anything that they could stand for."""
    found = prompt_phrases.POINTS.search(sentence)
    return found is not None and sum(everyday_less(sentence[: found.start()]).values()) < 1.0


def _newest(texts: tuple[str, ...]) -> str:
    """The newest texts, as many as are read."""
    kept: list[str] = []
    left = RECENT_CHARACTERS
    for text in reversed(texts):
        kept.append(_ends(text, min(left, RECENT_TEXT)))
        left -= len(kept[-1])
        if left <= 0:
            break
    return "\n".join(reversed(kept))


def _ends(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-(most // 2) :]}"


def _longest_run(prompt: str, said: str) -> int:
    """The most words in a row, up to seven, that a prompt has in common with a spaced text."""
    words = _spaced(prompt).split()[:120]
    best = 0
    for start in range(len(words)):
        while (
            best < 7
            and start + best < len(words)
            and f" {' '.join(words[start : start + best + 1])} " in said
        ):
            best += 1
    return best


def _spaced(text: str) -> str:
    return f" {' '.join(text.lower().translate(_GAPS).split())} "


def _has_stem(spaced: str, stem: str) -> bool:
    """Whether a spaced text has a word that begins with a stem, or a long stem anywhere."""
    return f" {stem}" in spaced or (len(stem) > 4 and stem in spaced)


def _share(words: Mapping[str, float], spaced: str) -> float:
    return sum(worth for word, worth in words.items() if _has_stem(spaced, word))


def _any(matches: Callable[[str], object], actions: tuple[str, ...]) -> float:
    return float(any(matches(action[:ACTION_CHARACTERS]) is not None for action in actions))


def _has(found: object) -> float:
    return float(found is not None)
