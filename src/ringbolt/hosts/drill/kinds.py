"""What must be recovered after a compaction: a row of the drill for each kind of thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...model import validate
from ...model.types import Entry, Snapshot
from ...signals.text_layout import layout, sentences
from .narrated_truth import Narrated
from .row_match import RowText, significant_words

MOST_REQUEST = 1500  # characters of a request that must be recovered
MOST_INSTRUCTIONS = 10  # the newest ones
NARRATED_WANTED = 80  # per cent of what was said
_ENDED = ("completed", "failed", "skipped")


class Truth(NamedTuple):
    """Something to be recovered: texts that must all be in one row, and the event that recorded it."""

    parts: tuple[str, ...]
    seq: int | None = None


class Kind(NamedTuple):
    """A kind of thing that must be recovered, and how to ask for it."""

    name: str
    wanted: int | None  # per cent
    questions: Sequence[str]
    truths: Callable[[Snapshot], list[Truth]]
    match: Callable[[RowText, Truth], bool]
    ours: bool = False  # in our own terms, which no host knows


def _holds(text: RowText, truth: Truth) -> bool:
    return text.holds(*truth.parts)


def _names(text: RowText, truth: Truth) -> bool:
    return text.names(*truth.parts)


def _states(text: RowText, truth: Truth) -> bool:
    """Whether a text has each part somewhere: they are separate facts."""
    return all(text.names(part) for part in truth.parts)


def _names_or_holds(text: RowText, truth: Truth) -> bool:
    return text.names(*truth.parts) or text.holds(*truth.parts)


def _requests(task: Snapshot) -> list[Truth]:
    """Each sentence and each item of a list of what the user asked for and what is not finished."""
    asked = [(one.text, one.seq) for one in task.requests if one.status != "finished"]
    return [
        Truth((part,), seq)
        for text, seq in asked or [(task.request or task.goal or task.name, None)]
        for part in statements(text[:MOST_REQUEST])
    ]


def statements(text: str) -> list[str]:
    """The sentences and list items of a text that say something; if there is none, the whole text."""
    lines = [line.text for line in layout(text, quotes=True) if line.kind not in ("blank", "code", "lead")]
    found = [part.strip() for line in lines for part in sentences(line)]
    return [part for part in found if len(significant_words(part)) > 1] or [text.strip()]


def _instructions(task: Snapshot) -> list[Truth]:
    begun = {one.seq for one in task.requests}
    since = [entry for entry in task.instructions if entry.seq not in begun]
    return [Truth((entry.summary,), entry.seq) for entry in since[-MOST_INSTRUCTIONS:]]


def _progress(task: Snapshot) -> list[Truth]:
    steps = (f"{task.done} of {task.total}",) if task.total else ()
    return [Truth((task.phase, *steps))]


def _recorded(entries: Sequence[Entry]) -> list[Entry]:
    """The entries that were recorded, without inferred ones, which may be wrong."""
    return [entry for entry in entries if not entry.data.get("inferred")]


def _parts(entry: Entry, what: str, why: str) -> Truth:
    parts = (entry.data.get(what) or entry.summary, entry.data.get(why))
    return Truth(tuple(part for part in parts if isinstance(part, str) and part.strip()), entry.seq)


def _decisions(task: Snapshot) -> list[Truth]:
    return [_parts(entry, "choice", "reasoning") for entry in _recorded(task.decisions)[-3:]]


def _exclusions(task: Snapshot) -> list[Truth]:
    return [_parts(entry, "what", "why") for entry in _recorded(task.exclusions)]


def _variables(task: Snapshot) -> list[Truth]:
    entries = _recorded(task.values)
    return [Truth((entry.key or "", shown(entry.data.get("value"))), entry.seq) for entry in entries]


def _unknown(task: Snapshot) -> list[Truth]:
    return [Truth((one.what,), one.seq) for one in task.effects if one.status in ("intended", "unknown")]


def _blockers(task: Snapshot) -> list[Truth]:
    return [Truth((text,)) for text in task.blockers]


def shown(value: Any) -> str:
    return value if isinstance(value, str) else validate.dumps(value)


def _ended_steps(task: Snapshot) -> list[Truth]:
    return [Truth((item.title,)) for item in task.steps if item.status in _ENDED and item.dropped_in is None]


def _step(field: str) -> Callable[[Snapshot], list[Truth]]:
    return lambda task: [Truth((title,))] if (title := getattr(task, field)) else []


def _files(task: Snapshot) -> list[Truth]:
    found = {file.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]: file.seq for file in task.files}
    return [Truth((name,), seq) for name, seq in found.items() if name]


def narrated_kinds(narrated: Sequence[Narrated]) -> list[Kind]:
    """A row for each kind of statement; rows without truths are empty."""

    def of(kind: str) -> Callable[[Snapshot], list[Truth]]:
        truths = [Truth((one.text,), one.seq) for one in narrated if one.kind == kind]
        return lambda task: truths

    return [
        Kind(
            f"said: {kind}",
            NARRATED_WANTED,
            [question],
            of(kind),
            _holds,
        )
        for kind, question in _QUESTIONS.items()
    ]


def names_kind(used: Sequence[str]) -> Kind:
    question = "Which files, names, versions, tickets and commits does the work need now?"
    truths = [Truth((name,)) for name in used]

    def of(task: Snapshot) -> list[Truth]:
        return truths

    return Kind("names used next", None, [question], of, _names)


_QUESTIONS = {
    "decision": "What was decided, and why?",
    "dead end": "What was tried and failed, and why?",
    "value": "Which variables are set?",
    "constraint": "What must not be done?",
    "blocker": "What blocks it?",
    "question": "Which questions are open?",
    "fact": "What was found out?",
    "next": "What is the next step?",
}
KINDS = (
    Kind("request, each sentence", 100, ["What did the user ask for?"], _requests, _holds),
    Kind("instructions since", 90, ["What did the user say since?"], _instructions, _holds),
    Kind("phase and progress", 100, ["Which phase is it in?", "How far is it?"], _progress, _states, True),
    Kind("last 3 decisions, reasons", 100, ["What were the last 3 decisions, and why?"], _decisions, _holds),
    Kind("variables", 95, ["Which variables are set?"], _variables, _names_or_holds),
    Kind("exclusions", 90, ["What was tried and failed, and why?"], _exclusions, _holds),
    Kind(
        "unknown side effects",
        100,
        ["Which side effects have an unknown outcome?"],
        _unknown,
        _holds,
    ),
    Kind("blockers", 100, ["What blocks it?"], _blockers, _holds),
    Kind("step history", 70, ["Which plan steps are completed?"], _ended_steps, _holds),
    Kind("current step", None, ["What is the current step?"], _step("current_title"), _holds),
    Kind("next step", None, ["What is the next step?"], _step("next_title"), _holds),
    Kind("files modified", None, ["Which files were modified?"], _files, _names),
)
