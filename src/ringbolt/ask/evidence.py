# ruff: noqa: E501 - tables and patterns
"""The evidence for an answer: the sentences of the newest events, and of older ones that a search finds, that
are about the subject of a question."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from ..model.lazy_regex import lazy_regex
from ..model.types import Channel, is_dict, is_list
from ..signals.calls.tools import only_looked
from ..signals.text_layout import clauses
from ..store.tx import Row, Tx
from . import queries
from .topic_match import FITS, Subject

WINDOW = 300  # newest events that are read for a question with a subject
_DATA = 3000  # characters of the data of an event
_LINES = 60  # lines of an output
_OUTPUT_FITS = 0.75
_SPOKEN = 0.95  # what the own words of an event are worth at least
_TOGETHER = 0.85  # what a sentence is worth if the subject is shared out between it and those beside it
_OWN = 0.25  # of a subject that an event of a step must have itself
# Types of events that state nothing about the work.
NO_EVIDENCE = frozenset(
    "question snapshot claim.taken claim.released claim.reclaimed task.focused model.used log link.added link.removed"
    " entry.closed task.stuck wait.checked undo".split()
)
_FIELDS = (
    "choice title reasoning risks if_wrong why symptom detail value outcome answer reason note command description"
    " output error".split()
)


class Evidence:
    """An event as evidence: its text, the texts of its data, and what became of it (`status`).

    Its data is parsed only if somebody looks at it: of hundreds of events few are about a subject.
    """

    def __init__(self, row: Row, about: str = "", topic: str = "") -> None:
        self.seq: int = row["seq"]
        self.kind: str = row["type"]
        self.at: str = row["at"]
        self.text: str = f"{about}: {row['text']}" if about and row["text"] else row["text"] or ""
        self.channel: Channel = row["channel"]
        self.status: str | None = row["status"]
        self.item: str | None = row["item_id"]
        self.agent: str = row["agent"] or ""
        self.topic = topic  # the question that it answers
        self._data: str = row["data"] or "{}"
        self._sets: str = row["sets"] or ""

    @cached_property
    def lower(self) -> str:
        """All that the event has, in lower case, for a first look."""
        return f"{self.topic} {self.text} {self._data} {self._sets}".lower()

    @cached_property
    def data(self) -> dict[str, Any]:
        """The data of the event."""
        try:
            data: Any = json.loads(self._data)
        except ValueError:  # it was cut
            data = _cut_data(self._data)
        return data if is_dict(data) else {}

    @cached_property
    def details(self) -> tuple[str, ...]:
        """The texts of its data that people read."""
        return (*_texts(self.data), *self.troubles, *_next_step(self._sets))

    @property
    def clears_blockers(self) -> bool:
        """Whether it recorded that nothing is in the way any more."""
        return _CLEARS.search(self._sets) is not None

    @cached_property
    def troubles(self) -> tuple[str, ...]:
        """What it recorded as being in the way: blockers, and what holds a step up."""
        return (
            tuple(_troubles(self._sets)) if "blockers" in self._sets or "active_issue" in self._sets else ()
        )


class Sentence(NamedTuple):
    """A sentence of an event, and how much of the subject it has."""

    text: str
    score: float
    source: Evidence


def read_window(tx: Tx, task_id: str, seqs: Iterable[int] = ()) -> tuple[Evidence, ...]:
    """The newest events of a task, and some others, in order."""
    rows = queries.newest_events(tx, task_id, WINDOW, _DATA)
    known = {row["seq"] for row in rows}
    rows += queries.events_of(tx, task_id, [seq for seq in seqs if seq not in known], _DATA)
    return _in_order(rows)


_SETTLES = lazy_regex(r'"(\d+)":\{"status":"resolved"')


def _in_order(rows: list[Row]) -> tuple[Evidence, ...]:
    """Rows as evidence; an outcome comes with the action that led to it, an answer with its question."""
    texts = {row["seq"]: row["text"] or "" for row in rows}
    questions = {row["seq"] for row in rows if row["type"] == "question"}
    found: list[Evidence] = []
    for row in sorted(rows, key=lambda row: row["seq"]):
        about = texts.get(row["ref"] or 0, "") if row["type"] == "outcome" else ""
        settled = (int(seq) for seq in _SETTLES.findall(row["sets"] or ""))
        topic = next((texts[seq] for seq in settled if seq in questions), "")
        found.append(Evidence(row, about, topic))
    return tuple(found)


def read_period(tx: Tx, task_id: str, after: int, until: int) -> tuple[Evidence, ...]:
    """The events after one and up to another, in order; the newest ones of a long time."""
    return _in_order(queries.events_between(tx, task_id, after, until, WINDOW, _DATA))


_CUT_FIELD = lazy_regex(r'"(command|output|error|file_path|tool|type)":\s*"((?:[^"\\]|\\.)*)')


def _cut_data(text: str) -> dict[str, Any]:
    """What can be read of JSON that was cut off."""
    found: dict[str, Any] = {}
    for name, value in _CUT_FIELD.findall(text):
        found.setdefault(name, value.replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"'))
    if "command" in found:
        found["input"] = {"command": found.pop("command")}
    return found


_NEXT = lazy_regex(r'"next_step":\s*("(?:[^"\\]|\\.)+")')


def _next_step(sets: str) -> Iterable[str]:
    """What an event recorded as to be done next."""
    return (json.loads(found) for found in _NEXT.findall(sets))


_TROUBLE = lazy_regex(r'"(?:active_issue|attention)":\s*("(?:[^"\\]|\\.)+")|"blockers":\s*"?(\[.*?\])')


_CLEARS = lazy_regex(r'"blockers":\s*(?:null|"?\[\])|"active_issue":\s*(?:""|null)')


def _troubles(sets: str) -> Iterable[str]:
    """What an event recorded as being in the way."""
    for issue, blockers in _TROUBLE.findall(sets):
        try:
            found: Any = json.loads(issue or blockers.replace('\\"', '"'))
        except ValueError:
            continue
        yield from (text for text in (found if is_list(found) else [found]) if isinstance(text, str) and text)


def _texts(data: dict[str, Any]) -> Iterable[str]:
    """The texts of an event's data that people read."""
    arguments = data.get("input")
    fields: list[Any] = [data.get(name) for name in _FIELDS]
    if is_dict(arguments):
        fields += [arguments.get(name) for name in ("command", "description", "file_path", "prompt")]
    elif isinstance(arguments, str):
        fields.append(arguments)
    for value in fields:
        for text in value if is_list(value) else (value,):
            if isinstance(text, str) and text:
                yield text
            elif isinstance(text, (int, float)) and not isinstance(text, bool):
                yield str(text)


def sentences(
    subject: Subject,
    evidence: Iterable[Evidence],
    wanted: Callable[[str], float] | None = None,
    kinds: Callable[[Evidence], float] | None = None,
    least: float = FITS,
    steps: Mapping[str, str] | None = None,
) -> list[Sentence]:
    """The sentences with at least so much of a subject, the best first; `wanted` says how well a sentence is of
    the right sort (0: not at all), `kinds` what an event is worth (0: it is not considered). `steps` are the
    titles of steps: an event of a step is about what the step is about."""
    found: list[Sentence] = []
    of_steps = {item for item, title in (steps or {}).items() if subject.coverage(title) >= 0.9}
    for one in evidence:
        worth = 0.0 if one.kind in NO_EVIDENCE else 1.0 if kinds is None else kinds(one)
        if one.kind == "action" and only_looked(one.text):
            continue  # what was read is not what was done or found
        if not worth or not (one.item in of_steps or subject.may_fit(one.lower)):
            continue
        best: Sentence | None = None
        for text, share in _pieces(one):
            if one.item not in of_steps and not subject.may_fit(f"{one.topic} {text}".lower()):
                continue
            sort = 1.0 if wanted is None else wanted(text)
            if not sort:
                continue
            score = subject.coverage(text)
            if share < _SPOKEN:  # an output is about what was run, and has words of all sorts
                choice = one.data.get("choice") or ""
                score = min(subject.coverage(f"{one.text}. {choice}. {text}"), 0.9) if score else 0.0
                score = score if score >= _OUTPUT_FITS else 0.0
            elif score < least and (title := one.topic or (steps or {}).get(one.item or "")):
                of_step = subject.coverage(f"{title}. {text}")
                own = bool(one.topic) or score >= _OWN
                score = 0.95 * of_step if own else 0.7 * of_step if of_step >= 0.9 else 0.0
            if share >= _SPOKEN and score < least and (score >= _OWN or subject.beside(text)):
                score = max(score, _TOGETHER * subject.coverage(one.text[:1000]))
            whole = score * share * worth * sort * (1 + 0.1 * subject.beside(text))
            if score >= least and (best is None or whole > best.score):
                best = Sentence(text=text, score=whole, source=one)
        if best is not None:
            found.append(best)
    # Of equally good ones the newest counts: what was said later replaces what was said before.
    return sorted(found, key=lambda sentence: (-round(sentence.score, 2), -sentence.source.seq))


_SHORTENED = lazy_regex(
    r"\b(?:Dr|Mr|Mrs|Ms|Mme|M|Prof|St|No|Nr|approx|ca|vs|e\.g|i\.e|z\.B|bzw|Hr|Fr|Sr|Sra|Dott)\.$"
)


def whole_clauses(text: str) -> list[str]:
    """The clauses of a text; one that was cut after an abbreviation is put together again."""
    found: list[str] = []
    for piece in clauses(text):
        if found and _SHORTENED.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        else:
            found.append(piece)
    return found


_REPLIES = lazy_regex(r"(?i)(?:yes|no|nein|ja|non|oui|s[ií]|n[ãa]o|nee)\b")


def _statements(pieces: list[str]) -> list[str]:
    """The pieces of a text that state something; a question that the text answers itself belongs to its answer."""
    found: list[str] = []
    asked = ""
    for piece in pieces:
        if piece.rstrip(" \"'").endswith("?"):
            asked = piece
            continue
        found.append(f"{asked} {piece}" if asked and _REPLIES.match(piece) else piece)
        asked = ""
    return found


_PRONOUN = lazy_regex(
    r"(?i)(?:it|they|he|she|this|that|these|es|er|sie|das|il|elle|ils|ce|ello|esto|ele|ela|isso|lo|zij|het)\b|[它他她这]"
)


def _pieces(one: Evidence) -> Iterable[tuple[str, float]]:
    """The sentences of an event with what each is worth: its own words more than the output of a tool."""
    pieces = _statements(whole_clauses(one.text[:3000]))
    for piece in pieces:
        yield piece, 1.0
    for first, second in pairwise(pieces):
        if _PRONOUN.match(second) and not first.rstrip().endswith(
            (".", "!")
        ):  # "the fridge is old; it stays cold for 3 hours"
            yield f"{first}; {second}", 0.97
    for text in one.details:
        lines = [line for line in text.splitlines() if line.strip()]
        for line in lines[:_LINES] + lines[-_LINES // 2 :] if len(lines) > _LINES else lines:
            for piece in clauses(line[:600])[:6]:
                yield piece, 0.9
