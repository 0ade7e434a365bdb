"""The text of the running summary, from a task's state: three to five sentences in a token budget. Pure.

It says what a person would tell a colleague: what the task is and how far it has come, what was decided and
found that matters, what to keep in mind, what is in the way, and what comes next. All of it comes from the
ledger's state as it is now, never from an earlier summary, so that errors cannot build up and what was
undone, superseded or fixed is gone. Recorded text is in quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ledger.trust import least_trusted
from ..model.lazy_regex import lazy_regex
from ..model.types import Channel, Entry, Event, Name, Snapshot, Source, Step, Value, is_dict
from ..model.validate import dumps
from ..packet import encode, tokens
from ..signals.words import COMMON_WORDS, stem

BUDGET = 500  # tokens
# Characters of a text, and how many of each kind, from the fullest form to the shortest.
FORMS = ((120, 4), (90, 3), (60, 2), (40, 2), (24, 1), (16, 1), (0, 0))
# The kinds of names that count as details; there are too many identifiers.
DETAILS = {"version": "version", "url": "", "path": "", "ticket": "", "commit": "commit"}
LINE = 200  # characters of a line about one event
_SURE = 0.5  # the confidence of an inferred entry that is shown here
_OPEN = ("active", "waiting", "paused")
_FINDINGS = ("discovery", "artifact")


class Text(Value, frozen=True, kw_only=True):
    """A text and the least trusted channel that something in it came from."""

    text: str
    channel: Channel


# The channels that the texts of a summary came through; None for a text whose source is unknown.
_Channels = set[str | None]


def compose(task: Snapshot, budget: int = BUDGET, count: Callable[[str], int] = tokens.estimate) -> Text:
    """The summary of a task as it stands, in at most `budget` tokens."""
    found = Text(text="", channel="agent")
    for characters, most in FORMS:
        channels: _Channels = set()
        write = _Sentences(task, characters, most, channels)
        parts = [write.where(), write.learned(), write.details(), write.in_the_way(), write.following()]
        if sum(map(bool, parts)) < 5:
            parts.insert(3, write.last_report())
        found = Text(text=" ".join(f"{part}." for part in parts if part), channel=least_trusted(channels))
        if count(found.text) <= budget:
            break
    return found


def says_enough(text: str, task: Snapshot) -> bool:
    """Whether a summary that a model wrote can take the place of ours: it names the work at hand.

    A true but empty sentence ("The work is going on.") says less than no summary.
    """
    if len(text) < 60 or len(re.findall(r"[.!?。！？](?:\s|$)", text)) < 2:
        return False
    said = {stem(word) for word in _words(text)}
    if task.status not in _OPEN:
        return task.status in text.lower() or bool(said & {stem(word) for word in _words(task.answer or "")})
    subjects = [task.current_title or task.next_title or task.next_step or task.name, *task.blockers[:1]]
    return all(_is_named(subject, said) for subject in subjects)


def _is_named(subject: str, said: set[str]) -> bool:
    wanted = {stem(word) for word in _words(subject)}
    return not wanted or 2 * len(wanted & said) >= len(wanted)


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in COMMON_WORDS]


_WORD = lazy_regex(r"\w[\w.-]*\w|\w")


# --- sentences --------------------------------------------------------------------------------------


def _quote(text: str, characters: int) -> str:
    return encode.quoted(encode.clip(encode.one_line(text), characters))


def _joined(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


class _Sentences:
    """The sentences of one form of the summary: so many characters of a text, so many of a kind."""

    def __init__(self, task: Snapshot, characters: int, most: int, channels: _Channels) -> None:
        self._task = task
        self._characters = characters
        self._most = most
        self._channels = channels
        self._live = [item for item in task.steps if item.dropped_in is None]
        self._quoted_texts = ""  # what was quoted so far, so that nothing is repeated

    def where(self) -> str:
        """What the task is, how it stands, and how far it has come."""
        task = self._task
        name = self._quoted(task.name, task.sources.get("name"))
        if task.status not in _OPEN:
            end = f"The task {name} is {task.status}" if name else f"The task is {task.status}"
            if task.answer and self._characters:
                return f"{end}: {self._quoted(task.answer, task.sources.get('answer'), 2)}"
            if task.error and self._characters:
                return f"{end}: {self._quoted(task.error.message, task.sources.get('answer'), 2)}"
            return end
        rest = {"waiting": "it is waiting", "paused": "it is paused"}.get(task.status, "")
        if rest and task.reason:
            rest += f" ({encode.name(encode.clip(task.reason, 40))})"
        parts = [f"The task is {name}" if name else f"The task is {task.status}", rest, self._progress()]
        return "; ".join(part for part in parts if part)

    def _progress(self) -> str:
        if not self._live:
            return "it has no plan"
        task = self._task
        done = [item for item in self._live if item.status == "completed"]
        verb = "is" if task.done == 1 else "are"
        said = (
            f"{task.done} of {task.total} steps {verb} done"
            if done
            else f"none of {task.total} steps is done"
        )
        inferred = sum(item.basis == "inferred" for item in done)
        if inferred:
            said += f" ({inferred} inferred)" if inferred < len(done) else " (inferred)"
        if done and self._characters:
            last = max(done, key=lambda item: item.version)
            said += f", last {self._titled(last)}"
        current = next((item for item in self._live if item.id == task.current), None)
        if current is not None:
            sure = " (inferred)" if current.basis == "inferred" else ""
            what = self._titled(current) or f"step {self._live.index(current) + 1}"
            said += f", and {what} is in progress{sure}"
        return said

    def learned(self) -> str:
        """What was decided, found and ruled out."""
        if not self._characters:
            return ""
        said: list[str] = []
        chosen = _telling(self._task.decisions, self._most)
        if chosen:
            said.append(f"it was decided {_joined([self._decision(entry) for entry in chosen])}")
        room = max(1, self._most - len(chosen))
        if ruled_out := _telling(self._task.exclusions, room):
            said.append(_joined([self._exclusion(entry) for entry in ruled_out]))
        notes = [one for one in self._task.notes if one.type in _FINDINGS and not one.data.get("inferred")]
        if found := _telling(notes, room):
            said.append(f"the work found {_joined([self._entry(one, one.summary) for one in found])}")
        return _capital("; ".join(said))

    def _decision(self, entry: Entry) -> str:
        choice = str(entry.data.get("choice") or entry.summary)
        title = entry.data.get("title")
        text = f"{title}: {choice}" if title and title != choice else choice
        return self._entry(entry, text, entry.data.get("reasoning"))

    def _exclusion(self, entry: Entry) -> str:
        why = entry.data.get("why") or entry.data.get("symptom")
        because = f" because {_quote(str(why), self._characters)}" if why else ""
        self._channels.add(entry.origin.channel)
        self._quoted_texts += f"{entry.summary}\n"
        return f"{_quote(entry.summary, self._characters)} was ruled out{because} (#{entry.seq})"

    def details(self) -> str:
        """Values, versions, addresses and paths that the work is likely to need again."""
        if not self._most:
            return ""
        said: list[str] = []
        values: list[str] = []
        for entry in self._task.values[-self._most :]:
            value = entry.data.get("value")
            shown = value if isinstance(value, str) else dumps(value)
            values.append(shown)
            name = encode.name(encode.clip(entry.key or "", 40))
            self._channels.add(entry.origin.channel)
            said.append(f"{name} = {_quote(shown, self._characters)} (#{entry.seq})")
        shown_already = "\n".join([*values, self._quoted_texts])
        for name in useful_names(self._task.names, self._most, shown_already):
            self._channels.add(name.channel)
            word = f"{DETAILS[name.kind]} " if DETAILS[name.kind] else ""
            shown = encode.name(encode.clip(name.name, max(self._characters, 40)))
            said.append(f"{word}{shown} (#{name.seq})")
        return f"Worth keeping: {', '.join(said)}" if said else ""

    def in_the_way(self) -> str:
        """What is in the way: blockers, issues, failed steps, open errors, questions, unknown effects."""
        task, said = self._task, list[str]()
        named = task.sources.get("blockers")
        for blocker in task.blockers[: self._most or 1]:
            said.append(self._quoted(blocker, named) or f"{len(task.blockers)} blockers")
        for number, item in enumerate(self._live, 1):
            if item.status == "failed" or (item.active_issue and item.status == "active"):
                said.append(self._trouble(number, item))
        said = said[: self._most + 2]
        if errors := task.errors:
            last = f": {self._entry(errors[-1], errors[-1].summary)}" if self._characters else ""
            said.append(f"{len(errors)} open error{'s' if len(errors) > 1 else ''}{last}")
        if questions := task.questions:
            last = f": {self._entry(questions[-1], questions[-1].summary)}" if self._characters else ""
            said.append(f"{len(questions)} open question{'s' if len(questions) > 1 else ''}{last}")
        waiting = [one for one in task.approvals if one.status == "pending"]
        said += [f"#{one.seq} waits for the user" for one in waiting[: self._most or 1]]
        if task.unknown:
            said.append(f"{task.unknown} side effect{'s' if task.unknown > 1 else ''} to verify")
        if task.status not in _OPEN:
            return f"Left open: {'; '.join(said)}" if said else "Nothing was left open"
        return f"In the way: {'; '.join(said)}" if said else "Nothing is known to be in the way"

    def _trouble(self, number: int, item: Step) -> str:
        words = "failed" if item.status == "failed" else "has an issue"
        what = item.active_issue or item.note
        why = self._quoted(what or "", item.sources.get("active_issue" if item.active_issue else "note"))
        return f"step {number} {words}" + (f": {why}" if what and why else "")

    def following(self) -> str:
        """What comes next."""
        task = self._task
        if task.status not in _OPEN:
            left = task.total - task.done
            return f"{left} of {task.total} steps were not completed" if left else "Nothing is left to do"
        if task.next_step and self._characters:
            return f"Next: {self._quoted(task.next_step, task.sources.get('next_step'))}"
        item = next((one for one in self._live if one.id == (task.next or task.current)), None)
        if item is None:
            return "All steps are over" if self._live else "What comes next is not recorded"
        return f"Next: step {self._live.index(item) + 1} {self._titled(item)}".rstrip()

    def last_report(self) -> str:
        """The last message."""
        said = next(
            (moment for moment in self._task.recent if moment.type in _MESSAGES and moment.text), None
        )
        if said is None or not self._characters or self._task.status not in _OPEN:
            return ""
        self._channels.add(said.channel)
        return f"The last report was {_quote(said.text, 2 * self._characters)} (#{said.seq})"

    # --- pieces -----------------------------------------------------------------------------------

    def _quoted(self, text: str, source: Source | None, longer: int = 1) -> str:
        if not self._characters or not text:
            return ""
        self._channels.add(source.channel if source else None)
        self._quoted_texts += f"{text}\n"
        return _quote(text, longer * self._characters)

    def _titled(self, item: Step) -> str:
        return self._quoted(item.title, item.sources.get("title"))

    def _entry(self, entry: Entry, text: str, why: Any = None) -> str:
        self._channels.add(entry.origin.channel)
        self._quoted_texts += f"{text}\n"
        because = f" because {_quote(str(why), self._characters)}" if why else ""
        return f"{_quote(text, self._characters)}{because} (#{entry.seq})"


def _telling(entries: Sequence[Entry], most: int) -> list[Entry]:
    """The entries that say most: what the user said or someone recorded, the newest of these; in order."""
    sure = [
        one for one in entries if not one.data.get("inferred") or one.data.get("confidence", 1.0) >= _SURE
    ]
    best = sorted(sure, key=lambda one: (one.origin.channel == "user", not one.data.get("inferred"), one.seq))
    return sorted(best[-most:] if most else [], key=lambda one: one.seq)


def useful_names(names: Iterable[Name], most: int, shown_already: str = "") -> list[Name]:
    """The names that matter most: a few of each kind, one of a series of look-alikes, none shown already."""
    shown: dict[str, int] = {}
    families: set[str] = set()
    best: list[Name] = []
    for name in names:
        family = f"{name.kind} {_family(name)}"
        if name.kind not in DETAILS or family in families or name.name in shown_already:
            continue
        if shown.get(name.kind, 0) < max(1, most // 2):
            shown[name.kind] = shown.get(name.kind, 0) + 1
            families.add(family)
            best.append(name)
    return best[:most]


_VARYING = lazy_regex(r"[0-9a-f]{7,}|\d+", re.I)
_HOST = lazy_regex(r"^\w+://[^/?#]+")


def _family(name: Name) -> str:
    """What a name has in common with its look-alikes: addresses of one host, paths of one folder, numbers."""
    if name.kind == "url" and (host := _HOST.match(name.name)):
        return host[0].lower()
    if name.kind == "path" and "/" in name.name:
        folder, _, file = name.name.rpartition("/")
        return f"{_VARYING.sub('#', folder)}/{_VARYING.sub('#', file)}"
    return _VARYING.sub("#", name.name.lower())


# --- what happened since ----------------------------------------------------------------------------

_MESSAGES = ("message", "task.updated", "step.updated", "task.finished")
_SILENT = ("task.focused", "claim.taken", "claim.released", "log")


def event_line(event: Event) -> str:
    """An event in one line; empty if it is of no interest here."""
    if event.type in _SILENT:
        return ""
    cite = f"#{event.seq}{encode.CLASS[event.origin.channel]}"
    moved = [
        f"{item} {row['status']}" for item, row in event.sets.get("steps", {}).items() if row.get("status")
    ]
    sure = " (inferred)" if moved and event.data.get("inferred") else ""
    steps = f" {encode.clip(', '.join(moved), 80)}{sure}" if moved else ""
    word = "" if event.type in (*_MESSAGES, "step.inferred") else f" {event.type}"
    about = f" {event.step}" if event.step and not moved else ""
    text = f" {_quote(event.text, LINE)}" if event.text else ""
    failed = " failed" if event.type.startswith("action") and _failed(event.sets) else ""
    return f"{cite}{word}{failed}{about}{steps}{text}" if word or steps or text else ""


def _failed(sets: Any) -> bool:
    return any(
        is_dict(row) and row.get("status") == "failed"
        for table in ("records", "+records")
        for row in sets.get(table, {}).values()
    )
