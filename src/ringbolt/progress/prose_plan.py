"""The plan that nobody wrote as a to-do list, read from what was said and done. No model, no I/O.

Two things make up such a plan. A list in prose: in the user's request, in a plan that the user approved, in a
plan file, or in a message of the agent (`plan_lists`); its progress is believed as that of any plan
(`plan_progress`). And announcements ("Now let me add the tests for X"): where no step of the list is meant,
each is a step of its own, which ends with its report or, once something was done for it, with the next one.

`ProsePlan` reads what happened in order and keeps a state of bounded size. It says little where it is not
sure: a step counts as completed only after a success, and a check counts until the next change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from ..model.lazy_regex import lazy_regex
from ..model.types import Channel, Value
from ..signals import phrases
from ..signals.announcements import announcements, sequence
from ..signals.calls import tools
from ..signals.calls.failures import counts_failures
from ..signals.plan_words import is_verb
from ..signals.text_layout import one_line, plain, sentences
from ..signals.words import weighted_words
from .plan_lists import (
    MOST_TITLE,
    ListItem,
    PlanList,
    Source,
    plan_lists,
    reported_work,
    shortened,
    unlabelled,
)
from .plan_progress import HIGH, Observation, Progress, Sort, read_action, title_sort

Status = Literal["pending", "active", "completed"]

MOST_STEPS = 40  # of a list
MOST_SAID = 22  # announced steps that are kept
SAME = 0.6  # share of the words of a title that a sentence must have to mean it
PARTLY = 0.4  # … and of the words of the sentence that the title must have
ALIKE = 0.75  # share of the words of two titles that makes them one step
SPOKEN = 0.5  # the score of "First …, then …, finally …"
PART = 1.0  # the score of a list of the agent that is followed as a part of the plan
MOST_RUNNING = 64  # actions without an outcome yet
MOST_BEFORE = 20  # steps of earlier requests that are kept
PATIENCE = 30  # events after which something announced for later is forgotten

_PLAN_FILE = lazy_regex(r"(?i)(?:plan|todo|roadmap|tasks?|spec|proposal|design|checklist|milestones?)")
_DOCUMENT_ENDS = (".md", ".mdx", ".txt", ".rst")
_SECTION = lazy_regex(
    r"(?im)^(?:#{1,6}\s*|\*\*)(?:\d+[.)]\s*)?(?:verif\w+|validation|test(?:ing)?(?: plan| steps"
    r"| strategy)?|how to (?:test|verify)|acceptance)\b[^\n]{0,30}$(?P<body>(?:\n(?!#{1,6}\s).*){0,30})"
)
_CHECKS: tuple[tuple[str, Any], ...] = (
    ("build", lazy_regex(r"(?i)\b(?:build|compile)\b")),
    ("fmt", lazy_regex(r"(?i)\b(?:fmt|gofmt|format(?:ting|ter)?|prettier)\b")),
    ("lint", lazy_regex(r"(?i)\b(?:lint|eslint|ruff|clippy|vet|biome)\b")),
    ("typecheck", lazy_regex(r"(?i)\b(?:type-?check|tsc|mypy|pyright)\b")),
    ("tests", lazy_regex(r"(?i)\b(?:tests?|pytest|jest|vitest)\b")),
)
_BRIEF = lazy_regex(r"(?i)\b(?:task|step|phase|part)\s*#?\d{1,3}\s*[:.–—-]\s*(?P<what>[^\n.]{8,120})")
# To look at something is not a step that is done.
_LOOKS = lazy_regex(
    r"(?i)(?:(?:double-)?check|verify|confirm|ensure|make sure|trace|re-?read|inspect|look|search|grep|list"
    r"|view|show|study|examine|see|dig|pull up|get the|fetch|find|open|redo|re-?check)\b"
)
# Steps whose files only help to do them: written is not run.
_IS_RUN = lazy_regex(
    r"(?i)(?:back-?fill|benchmark|compare|deploy|export|import|ingest|load|measure|migrate|publish|release|replay"
    r"|restore|roll|rotate|run|seed|send|ship|switch|sync|test|upload|validate|verify|warm)\b"
)
_PARTS = lazy_regex(r"&&|\|\||[;|\n]")
_NO_CHECK = lazy_regex(
    r"\s*(?:\w+=\S*\s+)*(?:rtk\s+)?(?:git|ls|cat|head|tail|rg|grep|sed|awk|echo|cd|find|wc|mkdir|rm|cp|mv|gh|jq"
    r"|diff|bd|sleep|printf|touch|curl)\b"
)
_QUOTED = lazy_regex(r"\"[^\"]*(?:\"|$)|'[^']*(?:'|$)")
_REMAINS = lazy_regex(
    r"(?i)\b(?:remain\w*|left to do|still (?:need|to|open|fail)\w*|not (?:yet|done|implemented|finished)"
    r"|to-?do|next steps?|follow-?ups?|skipped|deferred|later|pending|unfinished|blocked|fail(?:s|ed|ing))\b"
)
_CHANGES = ("change", "tests", "docs")


class Step(Value, frozen=True, kw_only=True):
    """A step of an inferred plan, with the event it was read from and the one its status follows from.

    `note` is what the agent called it when it turned to it, if that says more than the title. An `earlier`
    one was done for a request before the present one; a `derived` one was never said.
    """

    title: str
    status: Status
    seq: int
    cause: int | None = None
    channel: Channel = "agent"
    note: str | None = None
    earlier: bool = False
    derived: bool = False


class _Said(msgspec.Struct):
    """An announced step."""

    title: str
    seq: int
    sort: str
    after: int  # the step of the list that was in work
    status: Status = "active"
    worked: int = 0  # successful actions for it
    ended: int = 0  # the event with which the agent turned to something else
    passed: bool = False  # something else was announced, and nothing done for this
    major: bool = False  # a step of the agent's plan ("Step 3: …"), of which others are parts
    cause: int | None = None


class _Check(msgspec.Struct):
    """The check that the changes need: the checks that are run here, and those passed since the last change.

    What is usually run is kept from one request to the next.
    """

    kinds: list[str] = []
    passed: list[str] = []
    command: str = ""
    seq: int = 0
    cause: int | None = None
    changed: bool = False  # since the request
    running: bool = False
    failed: bool = False

    def begin(self) -> None:
        """A new request: what was changed before is not its matter."""
        self.changed = self.running = self.failed = False
        self.passed, self.cause = [], None

    def announce(self, seq: int, kinds: Sequence[str]) -> None:
        self._know(kinds)
        self.seq, self.running = seq, True

    def change(self) -> None:
        self.changed, self.passed, self.cause, self.running = True, [], None, False

    def run(self, seq: int, command: str, failed: bool) -> None:
        kinds = _run_by(command)
        if not kinds:
            return
        self._know(kinds)
        self.seq, self.failed, self.running = seq, failed, failed
        if len(kinds) >= len(_run_by(self.command)):
            self.command = one_line(command, MOST_TITLE)
        if failed:
            self.passed = [one for one in self.passed if one not in kinds]
        else:
            self.passed = [*dict.fromkeys((*self.passed, *kinds))]
            self.cause = seq

    def vouch(self, seq: int) -> None:
        """The agent reports that all is done, which stands unless a check says otherwise."""
        if self.kinds and not self.failed:
            self.passed, self.cause, self.running = list(self.kinds), seq, False

    def _know(self, kinds: Sequence[str]) -> None:
        self.kinds = [name for name, _ in _CHECKS if name in kinds or name in self.kinds]

    @property
    def status(self) -> Status:
        if self.kinds and all(one in self.passed for one in _needed(self.kinds)):
            return "completed"
        return "active" if self.running or self.failed or self.passed else "pending"

    def step(self) -> Step | None:
        """The check as a step; None while there is nothing to check."""
        if not self.kinds or not (self.changed or self.passed or self.running or self.failed):
            return None
        return Step(
            title=check_title(self.kinds),
            status=self.status,
            seq=self.seq,
            cause=self.cause if self.status == "completed" else None,
            note=self.command or None,
            derived=True,
        )

    def judged(self, step: Step) -> Step:
        """A step of the plan that asks for checks: done when they have passed, whatever was said."""
        status = step.status
        if all(one in self.passed for one in _needed(checks_in(step.title))):
            status = "completed"
        elif self.passed or self.failed or self.running:
            status = "active"
        elif status == "completed" and self.changed:
            status = "pending"
        cause = self.cause if status == "completed" else None
        return step.replace(status=status, cause=cause, note=self.command or step.note)


class _List:
    """A list that is followed, with the belief about its progress."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.titles: list[str] = list(state["titles"])
        self.seq: int = state["seq"]
        self.source: Source = state["source"]
        self.channel: Channel = state["channel"]
        self.progress = Progress(self.titles, state.get("progress"))
        self.words = [_words_of(unlabelled(title)) for title in self.titles]
        self.files: list[list[str]] = state.get("files") or [[] for _ in self.titles]  # that items name
        self.at: int | None = state.get("at")  # the step whose file was edited last
        self.notes: dict[int, str] = {int(place): note for place, note in state.get("notes", {}).items()}

    def state(self) -> dict[str, Any]:
        return {
            "titles": self.titles,
            "seq": self.seq,
            "source": self.source,
            "channel": self.channel,
            "progress": self.progress.state(),
            "files": self.files,
            "at": self.at,
            "notes": {str(place): note for place, note in self.notes.items()},
        }

    @property
    def is_over(self) -> bool:
        return self.progress.current is None

    @property
    def place(self) -> int:
        current = self.progress.current
        return len(self.titles) - 1 if current is None else current

    def named(self, title: str) -> int | None:
        """The step of the list that a title means; None if it means none of them."""
        said = _words_of(title)
        shares = [(_share(own, said), _share(said, own)) for own in self.words]
        sums = [sum(pair) if max(pair) >= SAME and min(pair) >= PARTLY else 0.0 for pair in shares]
        best = max(sums, default=0.0)
        return sums.index(best) if best else None

    def edit(self, seq: int, name: str) -> None:
        """A file was edited: if one open step alone names it, the work is at that step.

        It is over at the step whose file was edited before, unless that step is done by running something.
        """
        sure = self.progress.confidence()
        places = [place for place, files in enumerate(self.files) if name in files]
        if len(places) != 1 or (places[0] != self.at and sure[places[0]] >= HIGH):
            return
        left, self.at = self.at, places[0]
        unfinished = None
        if left is not None and left != self.at:
            if _IS_RUN.match(self.titles[left]):
                unfinished = left
            else:
                self.progress.set_status(left, "completed", seq)
        if unfinished is not None or self.at != self.progress.place[0]:
            self.progress.turn_to(self.at, seq, unfinished)

    def note(self, place: int, title: str) -> None:
        """Remember what the agent calls a step, beside a title without a verb or that says less."""
        if (not _begins_with_verb(self.titles[place]) and _begins_with_verb(title)) or _share(
            _words_of(title), self.words[place]
        ) < ALIKE:
            self.notes[place] = title

    def steps(self) -> list[Step]:
        findings = self.progress.findings()
        over = [finding.settled and finding.status == "completed" for finding in findings]
        current = self.progress.place[0]
        if over[current]:
            current = self.progress.current
        if not self.progress.placed:
            current = None
        found: list[Step] = []
        for place, finding in enumerate(findings):
            status: Status = "pending"
            if over[place]:
                status = "completed"
            elif place == current:
                status = "active"
            found.append(
                Step(
                    title=self.titles[place],
                    status=status,
                    seq=self.seq,
                    cause=finding.cause if status == "completed" else None,
                    channel=self.channel,
                    note=self.notes.get(place),
                )
            )
        return found


class ProsePlan:
    """Reads events one by one. `state()` is all it must remember between them, as JSON of bounded size."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        self._lists = [_List(one) for one in state.get("lists", ())]  # the plan, and perhaps a part of it
        self._said = [msgspec.convert(one, _Said) for one in state.get("said", ())]
        self._before = [msgspec.convert(one, Step) for one in state.get("before", ())]
        self._check = msgspec.convert(state.get("check") or {}, _Check)
        self._next: dict[str, Any] | None = state.get("next")
        self._running: dict[int, tuple[str, str]] = {
            int(at): (one[0], one[1]) for at, one in state.get("running", {}).items()
        }

    def state(self) -> dict[str, Any]:
        """What must be kept to continue later."""
        return {
            "lists": [one.state() for one in self._lists],
            "said": [msgspec.to_builtins(one) for one in self._said],
            "before": [one.to_dict() for one in self._before],
            "check": msgspec.to_builtins(self._check),
            "next": self._next,
            "running": {str(at): list(one) for at, one in self._running.items()},
        }

    # --- the result

    def steps(self) -> list[Step]:
        """What was done for earlier requests, and the plan as it stands: the list with announced steps where
        they were made.

        Only where steps were announced one by one is the usual check a step too: a list is complete.
        """
        return [*self._before, *self._steps()]

    def _steps(self) -> list[Step]:
        if not self._lists:
            found = [_as_step(one) for one in self._said]
        else:
            main, *parts = self._lists
            found = [_as_step(one) for one in self._said if one.after < 0]
            place = main.place
            for at, step in enumerate(main.steps()):
                found.append(step)
                found += [_as_step(one) for one in self._said if one.after == at]
                if at == place:
                    found += [step for part in parts for step in part.steps()]
        asked = [at for at, step in enumerate(found) if _asks_for_checks(step.title)]
        for at in asked:
            found[at] = self._check.judged(found[at])
        if found and not asked and not self._lists and (step := self._check.step()) is not None:
            found.append(step)
        return found

    @property
    def next_step(self) -> tuple[str, int] | None:
        """What the agent said it would do next, and the event."""
        return (self._next["title"], self._next["seq"]) if self._next else None

    # --- what is said

    def hear_user(self, seq: int, text: str, *, new_request: bool) -> None:
        """The user asked for something, or said more about it."""
        if new_request:
            over = [one for one in self._steps() if one.status == "completed" and not one.derived]
            self._before = [*self._before, *(one.replace(earlier=True) for one in over)][-MOST_BEFORE:]
            self._lists, self._said, self._next = [], [], None
            self._check.begin()
        self._next = None
        self._consider(seq, text, "user", "user")

    def hear_approved(self, seq: int, plan: str) -> None:
        """The user approved a plan."""
        self._consider(seq, plan, "approved", "user")

    def hear(self, seq: int, text: str) -> None:
        """The agent said something."""
        for one in self._lists:
            one.progress.observe(Observation(at=seq, kind="agent", text=text))
        self._consider(seq, text, "agent", "agent")
        says_done = any(_reports(part) for part in sentences(text[:400])[:2])
        if says_done:
            self._report(seq)
        if done := reported_work(text):
            whole = says_done and not _REMAINS.search(text) and not phrases.is_question(text.rstrip())
            self._reported(seq, done, whole=whole)
        for one in announcements(text):
            title = shortened(one.title)
            if one.when == "next":
                self._next = {"title": title, "seq": seq}
            else:
                self._begin(seq, title, labelled=one.labelled)
        if self._next and seq - self._next["seq"] > PATIENCE:
            self._next = None
        if self._lists and len(self._lists) > 1 and self._lists[-1].is_over:
            self._lists.pop()

    def _consider(self, seq: int, text: str, source: Source, channel: Channel) -> None:
        """Follow the best list of a text, if it is a plan."""
        found = [one for one in plan_lists(text, source) if one.score > 0]
        if not found and (parts := sequence(text)):
            items = tuple(ListItem(text=part) for part in parts)
            found = [PlanList(form="numbers", heading="", lead="", items=items, score=SPOKEN)]
        if not found:
            return
        best = max(found, key=lambda one: one.score + 0.1 * min(len(one.items), 10))
        titles = _titles(best)
        if source != "user" and all(map(_asks_for_checks, titles)):
            return  # how to verify the work, not the work
        if source != "agent" and not any(map(_asks_for_checks, titles)):
            titles += _verification(text)
        if len(titles) < 2:
            return
        done = [item.done for item in best.items] + [False] * (len(titles) - len(best.items))
        files = [
            list(item.files) for item, title in zip(best.items, best.titles, strict=True) if len(title) > 3
        ]
        files = files[:MOST_STEPS] + [[] for _ in titles[len(files[:MOST_STEPS]) :]]
        new = _List({"titles": titles, "seq": seq, "source": source, "channel": channel, "files": files})
        for place, is_done in enumerate(done[: len(titles)]):
            if is_done:
                new.progress.set_status(place, "completed")
        main = self._lists[0] if self._lists else None
        if main is None or main.is_over or source != "agent":
            self._lists = [new]
        elif sum(main.named(title) is not None for title in titles) * 2 >= len(titles):
            return  # the plan again, in other words
        elif main.source == "agent":
            self._lists = [new]
        elif best.score > PART:
            self._lists = [main, new]
        for one in self._said:
            one.after = -1 if self._lists[0] is new else one.after

    def _reported(self, seq: int, titles: Sequence[str], *, whole: bool) -> None:
        """A report of what was done takes the place of the announcements that led to it.

        With a report on the `whole` work, which mentions nothing open, the list is done too.
        """
        for one in self._lists:
            named = range(len(one.titles)) if whole else {one.named(title) for title in titles}
            for place in named:
                if place is not None:
                    one.progress.set_status(place, "completed")
        if whole:
            self._check.vouch(seq)
        over = [one for one in self._said if one.status == "completed" and not one.major]
        rest = [one for one in self._said if one not in over]
        after = self._lists[0].place if self._lists else 0
        new = [
            _Said(title, seq, "change", after, status="completed", cause=seq)
            for title in titles
            if all(one.named(title) is None for one in self._lists)
        ]
        # What the report does not mention stays while there is room.
        unmentioned = [one for one in over if all(_alike(one.title, title) < SAME for title in titles)]
        room = max(0, MOST_SAID - len(new))
        self._said = [*unmentioned[len(unmentioned) - room :], *new, *rest] if room else [*new, *rest]

    def _begin(self, seq: int, title: str, labelled: bool = False) -> None:
        """The agent turns to something: a step of the list, or one that nobody has written down."""
        if self._next and _alike(self._next["title"], title) >= SAME:
            self._next = None
        sort = title_sort(title)
        if sort == "verify" and (kinds := checks_in(title)):
            self._check.announce(seq, kinds)
            if not labelled:
                return
        elif _LOOKS.match(title):
            sort = "explore"
        elif sort == "verify":
            sort = "change"
        if sort == "explore":
            self._said = [one for one in self._said if one.sort != "explore"]
        else:
            self._end(seq, major=labelled)
        for one in reversed(self._lists):
            place = one.named(title)
            if place is not None and (not labelled or _alike(one.titles[place], title) >= ALIKE):
                if sort != "explore":
                    one.note(place, title)
                return
        self._said = [one for one in self._said if _alike(one.title, title) < ALIKE]
        after = self._lists[0].place if self._lists else 0
        if self._lists and _asks_for_checks(self._lists[0].titles[after]):
            after = max(0, after - 1)  # the check comes last
        for one in self._said:
            one.major = one.major or one.seq == seq  # "Let me do X. First, Y": Y is a part of X
        self._said.append(_Said(title, seq, sort, after, major=labelled))
        over = [one for one in self._said if one.status == "completed"]
        if len(over) > MOST_SAID:
            self._said.remove(over[0])

    def _end(self, seq: int, major: bool) -> None:
        """Something else begins. What was in work is dropped if nothing was done for it; it is taken to be
        done once something is done for what follows."""
        for one in [one for one in self._said if one.status == "active" and not one.ended]:
            if one.seq == seq or (one.major and not major):
                continue
            if one.worked:
                one.ended = seq
            elif one.sort == "explore" or one.passed:
                self._said.remove(one)
            else:
                one.passed = True  # "Now the parser. First a helper": the helper may be a part of it

    def _report(self, seq: int) -> None:
        """The agent says that something is done: what it was at."""
        for one in self._said:
            if one.status == "active" and one.worked and one.sort != "explore":
                one.status, one.cause = "completed", seq

    # --- what is done

    def act(self, seen: Observation) -> None:
        """The agent did something; an `outcome` ends an action that was seen before."""
        if seen.kind == "outcome":
            for one in self._lists:
                one.progress.observe(seen)
            self._ended(seen, *self._running.pop(seen.of or -1, ("explore", "")))
            return
        arguments = seen.input or {}
        deed = read_action(seen.tool, arguments)
        path = tools.first_text(arguments, tools.PATH_FIELDS)
        for one in self._lists:
            if deed.sort in _CHANGES and seen.ok is not False:
                one.edit(seen.at, path.replace("\\", "/").rpartition("/")[2])
            one.progress.observe(seen)
        if path.lower().endswith(_DOCUMENT_ENDS) and deed.sort in _CHANGES:
            self._read_file(seen, path, arguments)
        if deed.sort == "delegate":
            self._delegated(seen, arguments)
        if deed.sort in _CHANGES:
            for one in self._said:  # what looked passed over is in work after all
                one.passed = one.passed and _share(_words_of(one.title), deed.words) < PARTLY
        command = tools.first_text(arguments, ("command", "cmd", "script"))[:400]
        if seen.ok is None:
            if deed.sort != "explore":
                self._running[seen.at] = deed.sort, command
                if len(self._running) > MOST_RUNNING:
                    del self._running[next(iter(self._running))]
            return
        self._ended(seen, deed.sort, command)

    def _ended(self, seen: Observation, sort: Sort | str, command: str) -> None:
        if sort == "explore":
            return
        failed = not seen.ok or (sort == "verify" and counts_failures(seen.text[-3000:]))
        if sort == "verify":
            self._check.run(seen.at, command, failed)
        if failed:
            return
        if sort in _CHANGES:
            self._check.change()
            # Who changes something has looked long enough.
            self._said = [one for one in self._said if one.sort != "explore" or one.major]
        settled = sort in ("verify", "commit")
        for one in self._said:
            if one.status == "active" and not one.ended and not one.passed:
                one.worked += 1
                settled = settled or one.sort != "explore"
        for one in list(self._said):
            if one.status == "active" and one.ended and settled:
                if one.sort == "explore" and not one.major:
                    self._said.remove(one)
                one.status, one.cause = "completed", one.ended

    def _read_file(self, seen: Observation, path: str, arguments: Mapping[str, Any]) -> None:
        """A plan in a file that the agent writes."""
        name = path.rsplit("/", 2)[-2:]
        text = arguments.get("content") or arguments.get("new_string") or ""
        if isinstance(text, str) and len(text) > 200 and _PLAN_FILE.search("/".join(name)):
            self._consider(seen.at, text, "approved", "agent")

    def _delegated(self, seen: Observation, arguments: Mapping[str, Any]) -> None:
        brief = str(arguments.get("prompt") or "")[:300]
        named = _BRIEF.search(brief)
        title = plain(named["what"] if named else str(arguments.get("description") or ""))
        if len(title.split()) < 2 or title_sort(title) in ("explore", "verify"):
            return
        self._begin(seen.at, shortened(title))


def _as_step(one: _Said) -> Step:
    return Step(title=one.title, status=one.status, seq=one.seq, cause=one.cause)


def _titles(found: PlanList) -> list[str]:
    return [title for title in found.titles if len(title) > 3][:MOST_STEPS]


def _verification(text: str) -> list[str]:
    """The step that a section about checking asks for, in words."""
    section = _SECTION.search(text)
    return [check_title(checks_in(section["body"]))] if section else []


def check_title(kinds: Sequence[str]) -> str:
    """The title of a step that runs some checks."""
    if not kinds:
        return "Verify the changes"
    listed = kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} and {kinds[-1]}"
    return f"Run {listed} to verify the changes"


def _needed(kinds: Sequence[str]) -> Sequence[str]:
    """The checks that must have passed: tests that run were built, and who lints has formatted."""
    return [one for one in kinds if one not in ("build", "fmt")] or kinds


def checks_in(text: str) -> list[str]:
    """The checks that a text or a command speaks of: build, lint, tests …"""
    return [name for name, pattern in _CHECKS if pattern.search(text)]


def _run_by(command: str) -> list[str]:
    """The checks that a command runs; the names of files say nothing."""
    plain_command = _QUOTED.sub(" ", command)
    parts = [part for part in _PARTS.split(plain_command) if not _NO_CHECK.match(part)]
    words = " ; ".join(parts).split()
    return checks_in(" ".join(word for word in words if not {"/", "."} & set(word)))


def _asks_for_checks(title: str) -> bool:
    return title_sort(title) == "verify" and bool(checks_in(title))


def _begins_with_verb(title: str) -> bool:
    return is_verb(title.split(None, 1)[0].strip("*`:,.")) if title.strip() else False


def _reports(sentence: str) -> bool:
    return bool(
        phrases.DONE.search(sentence)
        and not phrases.DENIES_DONE.search(sentence)
        and not phrases.is_question(sentence)
    )


@lru_cache(maxsize=1 << 10)
def _words_of(title: str) -> Mapping[str, float]:
    """The words of a title, which is compared with many others."""
    return weighted_words(title)


def _share(wanted: Mapping[str, float], words: Mapping[str, float]) -> float:
    """The share of some words that are among others."""
    whole = sum(wanted.values())
    return sum(worth for word, worth in wanted.items() if word in words) / whole if whole else 0.0


def _alike(first: str, second: str) -> float:
    one, other = _words_of(first), _words_of(second)
    return min(_share(one, other), _share(other, one))
