"""Plan progress: which items of a plan are over, judged from what the agent says and does. No model, no I/O.

Agents mostly work through a plan in order, so the question is where in the plan the work is. `Progress` keeps
a belief about that place, as in a hidden Markov model: a probability for each item that the work is there,
and how likely that item is finished. Each observation moves the belief. What the agent announces or does is
compared with the titles, by words weighted by their rarity and by the sort of work (tests, docs, commit …).
An item is over if the work is past it, or if the agent says so by number or by name. Nothing that tools and
people say completes an item; a tool's output can only deny a success.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from ..model.lazy_regex import lazy_regex
from ..model.types import Value, is_list
from ..signals import phrases
from ..signals.calls import tools
from ..signals.calls.commands import mentions_check, shares_work
from ..signals.calls.failures import counts_failures
from ..signals.step_numbers import NOUNS, STEP_NOUNS, step_numbers
from ..signals.text_layout import sentences
from ..signals.words import HUMP, weighted_words
from .report_matching import MOVED_ON, PlanWords, ReportReader, Verdict

Kind = Literal["agent", "report", "user", "question", "action", "outcome"]

Sort = Literal["change", "tests", "docs", "verify", "commit", "explore", "delegate"]

Status = Literal["completed", "suggested", "open"]

Ended = Literal["failed", "skipped"]

# Levels of confidence. From SETTLED on the work has moved on or the agent said so: safe to store.
SETTLED, HIGH, MEDIUM = 0.9, 0.55, 0.3

# How strongly an observation with all words of a title speaks for that item (natural logarithm of the odds).
# Halving or doubling any of them hardly changes the results: they are orders of magnitude, not fitted.
ANNOUNCED, NUMBERED, EDITED, DELEGATED, COMMAND, LOOKED = 8.0, 8.0, 5.0, 5.0, 3.0, 3.0
OF_THE_SORT = 1.0
SAYS_NOTHING = 0.2  # an observation that separates the items by less is ignored

# The chance that the work leaves an open or a finished item, that it skips one more, that it goes back.
LEAVES_OPEN, LEAVES_FINISHED, SKIPS, RETURNS = 0.06, 0.55, 0.4, 0.02

# How likely the item in work is finished after …
AFTER_FAILURE, AFTER_CHECK, AFTER_CHANGE, AFTER_RUN, AFTER_WORD = 0.1, 0.5, 0.75, 0.85, 0.92

# How likely an item is over that the work has jumped across, as a report says, but that nobody called done.
JUMPED = 0.5

CLEAR, CLOSE = 0.6, 0.3  # share of a title's words: surely meant, perhaps meant
CHARACTERS = 3000  # of each text of an action, and of both ends of a message
SENTENCES = 8  # at each end of a message
MOST_RUNNING = 64  # actions without an outcome yet


class Observation(Value, frozen=True, kw_only=True):
    """Something that happened; findings cite it by its number `at`.

    `agent`, `report`, `user` and `question` have a text: a `report` is written for the plan, what an `agent`
    says is overheard. An `action` has a tool and its input, and `ok` once it has
    ended; otherwise an `outcome` follows that names it in `of`. The `text` of an ended action is the end of
    its output. A report may be `about` an item that its caller has named; `is_set` if the caller has set its
    status as well.
    """

    at: int
    kind: Kind
    about: int | None = None
    is_set: bool = False
    text: str = ""
    tool: str = ""
    input: Mapping[str, Any] | None = None
    ok: bool | None = None
    of: int | None = None


class Finding(Value, frozen=True, kw_only=True):
    """What is believed about one item, and the observation that caused the last change."""

    item: int
    status: Status
    confidence: float
    settled: bool
    cause: int | None


# --- sorts of work ----------------------------------------------------------------------------------

_LABEL = lazy_regex(rf"(?i)\W*(?:({NOUNS})\s*#?)?(\d{{1,3}})\s*[:.)–-]\s+")
# A title has the first sort that it matches; anything else is a change.
_TITLES: tuple[tuple[Sort, re.Pattern[str]], ...] = (
    ("verify", lazy_regex(r"(?i)(?:run|verify|test|lint|build|check|format|fmt|validate|ensure|final)\b")),
    ("verify", lazy_regex(r"(?i)re-?run\b|.*\bverification$")),
    ("commit", lazy_regex(r"(?i)(?:commit|push|merge|release|submit)\b|.*\b(?:pull request|PR)\b")),
    (
        "explore",
        lazy_regex(
            r"(?i)(?:read|review|investigate|explore|research|understand|analy[sz]e|find|determine|plan"
            r"|design|look|identify|audit|present|synthesi[sz]e)\b"
        ),
    ),
    ("docs", lazy_regex(r"(?i).*(?:\b(?:docs?|documentation|document|readme|changelog)\b|\.md\b)")),
    ("tests", lazy_regex(r".*(?:\b[Tt]est|_tests?\b|Tests?\b|\bcoverage\b)")),
)
_NEW_TEXT = ("new_string", "new_str", "new", "content", "file_text", "edits", "changes", "patch", "input")
_TEST_PARTS = frozenset(("test", "tests", "spec", "specs", "e2e"))
_DOC_ENDS = (".md", ".rst", ".txt", ".adoc")


class _Deed(Value, frozen=True, kw_only=True):
    """An action: its sort, its words, and the unchanged words around an edit."""

    sort: Sort
    words: Mapping[str, float]
    around: Mapping[str, float]


def _unlabelled(title: str) -> str:
    """A title without a number in front, as in "Task 3: …" or "3. …"."""
    return title[label.end() :] if (label := _LABEL.match(title)) else title


def title_sort(title: str) -> Sort:
    """The sort of work that a title asks for."""
    plain = _unlabelled(title).lstrip("*-# ")
    for sort, pattern in _TITLES:
        if pattern.match(plain):
            return sort
    return "change"


def _field(arguments: Mapping[str, Any], *names: str) -> str:
    """The first of some input fields that is set, as a text of bounded length."""
    value: Any = next((arguments[name] for name in names if arguments.get(name)), "")
    if is_list(value):
        value = " ".join(str(part)[:CHARACTERS] for part in value[:50])
    return str(value)[:CHARACTERS]


def read_action(tool: str, arguments: Mapping[str, Any]) -> _Deed:
    """Classify an action by its tool and input."""
    path = _field(arguments, *tools.PATH_FIELDS)
    place = "/".join(path.split("/")[-2:])
    if tools.delegates(tool):
        brief = f"{_field(arguments, 'description')} {_field(arguments, 'prompt', 'task')[:200]}"
        return _Deed(sort="delegate", words=weighted_words(brief), around={})
    if tools.is_shell(tool):
        command = _field(arguments, "command", "cmd", "script")
        return _Deed(
            sort=_command_sort(command),
            words=weighted_words(f"{command[:600]} {_field(arguments, 'description')}"),
            around={},
        )
    if tools.may_edit(tool) and (path or "patch" in tool.lower()):
        old = weighted_words(_field(arguments, "old_string", "old_str", "old"))
        new = weighted_words(_field(arguments, *_NEW_TEXT))
        changed = dict.fromkeys(old.keys() ^ new.keys(), 1.0)
        both = dict.fromkeys(old.keys() & new.keys(), 1.0)
        return _Deed(sort=_path_sort(path), words=weighted_words(place) | changed, around=both)
    return _Deed(
        sort="explore",
        words=weighted_words(f"{place} {_field(arguments, 'pattern', 'query')[:400]}"),
        around={},
    )


def _command_sort(command: str) -> Sort:
    if shares_work(command):
        return "commit"
    return "verify" if mentions_check(command) else "explore"


def _path_sort(path: str) -> Sort:
    if path.lower().endswith(_DOC_ENDS):
        return "docs"
    parts = {part.lower() for name in path.split("/")[-3:] for part in HUMP.findall(name)}
    return "change" if parts.isdisjoint(_TEST_PARTS) else "tests"


# --- sentences --------------------------------------------------------------------------------------

_QUOTED = lazy_regex(r"```.*?(?:```|\Z)|^[ \t]*>[^\n]*", re.S | re.M)
_LIST_LINE = lazy_regex(r"\s*(?:[-*•|]|\d{1,3}[.)])\s")


def statements_of(text: str) -> list[str]:
    """The statements at both ends of a message, without quotations and questions."""
    if len(text) > 2 * CHARACTERS:
        text = f"{text[:CHARACTERS]}\n{text[-CHARACTERS:]}"
    lines = [line for line in _QUOTED.sub(" ", text).splitlines() if line.strip()]
    # A list line stays whole, because its tick may be at its end.
    parts = [part for line in lines for part in ([line] if _LIST_LINE.match(line) else sentences(line))]
    if len(parts) > 2 * SENTENCES:
        parts = parts[:SENTENCES] + parts[-SENTENCES:]
    return [
        part for part in parts if not phrases.is_question(part) and not phrases.BEGINS_QUESTION.match(part)
    ]


# --- the belief -------------------------------------------------------------------------------------

_CHANGES = ("change", "tests", "docs")


def _strength(deed: Sort, title: Sort, match: float) -> float:
    """How strongly an action speaks for an item, from the sorts of both and the share of matching words."""
    if deed in _CHANGES:
        if title in ("verify", "commit"):
            return 0.0  # fixing what a check found is part of checking, not a step back
        return EDITED * match + (OF_THE_SORT if deed == title else -OF_THE_SORT if title in _CHANGES else 0.0)
    if deed == "verify":
        # Tests run after every item, so only an item that asks for them is meant.
        return OF_THE_SORT + COMMAND * match if title == "verify" else 0.0
    if deed == "commit":
        return COMMAND if title == "commit" else 0.0
    if deed == "delegate":
        return DELEGATED * match
    return LOOKED * match if title == "explore" else 0.0  # looking at something is not working on it


class Progress:
    """The belief about where the work is. An observation costs the same however many came before."""

    def __init__(self, items: Sequence[str], state: Mapping[str, Any] | None = None) -> None:
        self._items = items
        self._titles = [weighted_words(_unlabelled(title)[:400]) for title in items]
        self._sorts: list[Sort] = [title_sort(title) for title in items]
        self._labels, self._nouns = _labels(items)
        count = len(items)
        kept = state or {}
        # For each item: the probability that the work is there, and that the item is then finished.
        self._here: list[float] = list(kept.get("here") or [1.0] + [0.0] * (count - 1))[:count]
        self._over: list[float] = list(kept.get("over") or [0.0] * count)
        self._stated: list[float] = list(kept.get("stated") or [0.0] * count)
        self._causes: list[int | None] = list(kept.get("causes") or [None] * count)
        # Whether any observation has placed the work: at first it is only assumed to begin at the top.
        self.placed: bool = kept.get("placed", False)
        self._running: dict[int, Sort] = {int(at): sort for at, sort in kept.get("running", {}).items()}
        self._texts: int = kept.get("texts", 0)
        self._seen: dict[str, int] = dict(kept.get("seen", {}))
        # Items that a report has jumped across, and how those ended that were not completed.
        self._jumped: set[int] = set(kept.get("jumped", ()))
        self._ended: dict[int, Ended] = {int(at): how for at, how in kept.get("ended", {}).items()}
        self._reader: ReportReader | None = None
        self.verdicts: list[Verdict] = []  # of the last observation, if it was a report
        self._rarity = _rarity(self._titles)
        self._sure = self._reckoned()  # between observations

    def state(self) -> dict[str, Any]:
        """All that must be kept to continue later with the same items: plain data, as large as the plan."""
        return {
            "here": list(self._here),
            "over": list(self._over),
            "stated": list(self._stated),
            "causes": list(self._causes),
            "placed": self.placed,
            "running": dict(self._running),
            "texts": self._texts,
            "seen": dict(self._seen),
            "jumped": sorted(self._jumped),
            "ended": dict(self._ended),
        }

    def observe(self, seen: Observation) -> None:
        """Read one observation."""
        if not self._titles:
            return
        before = self._sure
        self.verdicts = []
        if seen.kind == "agent":
            self._hear(seen.text)
        elif seen.kind == "report":
            self._take_report(seen)
        elif seen.kind == "action":
            self._act(seen)
        elif seen.kind == "outcome" and seen.of is not None:
            self._end(self._running.pop(seen.of, "explore"), seen)
        self._note(seen.at, before)

    def _note(self, cause: int | None, before: Sequence[float]) -> None:
        """Recompute the confidence, and note the cause for each item that reached another level."""
        self._sure = self._reckoned()
        for item, (old, now) in enumerate(zip(before, self._sure, strict=True)):
            if old != now and (level := _level(now)) != _level(old):
                self._causes[item] = cause if level else None

    def confidence(self) -> list[float]:
        """How likely each item is over: the work is past it, or at it and finished, or it was stated."""
        return list(self._sure)

    def _reckoned(self) -> list[float]:
        found: list[float] = []
        behind = 1.0
        for here, over, stated in zip(self._here, self._over, self._stated, strict=True):
            behind -= here
            sure = behind + here * over if behind > 0.0 else here * over
            if self._jumped and len(found) in self._jumped and sure > JUMPED:
                sure = JUMPED
            found.append(sure if sure > stated else stated)
        return found

    def findings(self) -> list[Finding]:
        """What is believed about each item."""
        return [self._finding(item, sure) for item, sure in enumerate(self._sure)]

    def clear(self, over: Collection[int]) -> list[Finding]:
        """The findings to act on: settled ones, and items in `over` that now look open again."""
        return [
            self._finding(item, sure)
            for item, sure in enumerate(self._sure)
            if (sure < MEDIUM if item in over else sure >= SETTLED)
        ]

    def _finding(self, item: int, sure: float) -> Finding:
        # "That was added" settles nothing while it is unknown what was worked on.
        firm = sure if self.placed else max(self._stated[item], 1.0 - sum(self._here[: item + 1]))
        firm = min(firm, sure)
        return Finding(
            item=item,
            status=("open", "suggested", "completed", "completed")[_level(sure)],
            confidence=round(sure, 3),
            settled=firm >= SETTLED,
            cause=self._causes[item],
        )

    @property
    def current(self) -> int | None:
        """The item in work: the most likely place or the next open item after it; None if all are over."""
        is_open = [sure < HIGH for sure in self._sure]
        if True not in is_open:
            return None
        place = max(range(len(is_open)), key=self._here.__getitem__)
        return is_open.index(True, place) if True in is_open[place:] else is_open.index(True)

    @property
    def place(self) -> tuple[int, float]:
        """The most likely item in work, and its probability."""
        place = max(range(len(self._here)), key=self._here.__getitem__)
        return place, self._here[place]

    def set_status(self, item: int, status: str, cause: int | None = None) -> None:
        """Accept a status that was set explicitly; it says nothing about other items."""
        if status == "active":
            self.placed = True
            self._here = [float(one == item) for one in range(len(self._here))]
            self._over = [0.0] * len(self._over)
        self._stated[item] = 0.0 if status in ("active", "pending") else 1.0
        self._over[item] = self._stated[item]
        self._jumped.discard(item)
        self._ended.pop(item, None)
        self._note(cause, self._sure)

    def turn_to(self, item: int, cause: int, unfinished: int | None = None) -> None:
        """The work has turned to an open item, as an edited file shows; another was left `unfinished`.

        Items before it that nothing has spoken for stay open.
        """
        before = self._sure
        self._stand_at(item)
        if unfinished is not None:
            self._jumped.add(unfinished)
        self._note(cause, before)

    def ended(self, item: int) -> Ended | Literal["completed"]:
        """How an item that is over has ended."""
        return self._ended.get(item, "completed")

    # --- what is reported

    def _take_report(self, seen: Observation) -> None:
        """Read a report: a message that the agent wrote for its plan.

        It says which items are over, so nothing follows for the items before them.
        """
        if self._reader is None:
            self._reader = ReportReader(
                PlanWords([_unlabelled(title) for title in self._items]), self._labels
            )
        over = [sure >= HIGH and self._ended.get(item) != "failed" for item, sure in enumerate(self._sure)]
        current = self.current
        if (about := seen.about) is not None:
            current = about
            over[about] = over[about] and seen.is_set
        verdicts = self._reader.read(seen.text, over, current)
        if seen.is_set and about is not None:
            # What the caller has set stands, and the message is about that step first: another one moves only
            # if it would move while that step was still open.
            before = self._reader.read(seen.text, [*over[:about], False, *over[about + 1 :]], about)
            others = {one.step for one in before if one.step != about}
            # Nor does the work move on to a step that nobody spoke of.
            verdicts = [one for one in verdicts if one.step in others and one.confidence != MOVED_ON]
        self.verdicts = verdicts
        for verdict in self.verdicts:
            self._judge(verdict)
        self._count(weighted_words(seen.text[:CHARACTERS]))

    def _judge(self, verdict: Verdict) -> None:
        item = verdict.step
        if verdict.effect in ("completed", "failed", "skipped"):
            if item == self.current:
                self._stand_at(item)
            self._stated[item] = AFTER_WORD
            self._jumped.discard(item)
            self._ended.pop(item, None)
            if verdict.effect != "completed":
                self._ended[item] = verdict.effect
        elif verdict.effect in ("active", "reopened"):
            self._stated[item] = 0.0
            self._ended.pop(item, None)
            self._stand_at(item)
        self._sure = self._reckoned()

    def _stand_at(self, item: int) -> None:
        """The work is at an item. Those before it stay open unless something has spoken for their end."""
        self.placed = True
        self._jumped |= {one for one in range(item) if self._sure[one] < HIGH}
        self._jumped.discard(item)
        self._here = [float(one == item) for one in range(len(self._here))]
        self._over = [0.0] * len(self._over)

    # --- what is said

    def _hear(self, text: str) -> None:
        for sentence in statements_of(text):
            self._read(sentence)
        self._count(weighted_words(text[:CHARACTERS]))

    def _read(self, sentence: str) -> None:
        done = phrases.DONE.search(sentence)
        announces = phrases.ANNOUNCES.search(sentence)
        denied = phrases.DENIES_DONE.search(sentence)
        stands = done and not denied and (not announces or phrases.IS_DONE.search(sentence))
        if phrases.ALL_DONE.match(sentence) and not denied:
            self._stated = [AFTER_WORD] * len(self._stated)
        elif _LIST_LINE.match(sentence):
            # A list restates the plan, so only ticked lines count.
            if phrases.TICKED.search(sentence) and (item := self._meant(sentence)) is not None:
                self._stated[item] = AFTER_WORD
        elif done and phrases.NOT_DONE.search(sentence):
            self._reopen(sentence)
        elif stands or phrases.KEEPS_LIST.search(sentence):
            self._claim(sentence)
        elif announces and not phrases.POSTPONES.search(sentence):
            self._announce(sentence)

    def _claim(self, sentence: str) -> None:
        """Something is done: what the sentence names, or else the item in work; then what comes next."""
        turn = phrases.MOVES_ON.match(sentence) or phrases.ANNOUNCES.search(
            sentence, len(sentence) - len(sentence.lstrip("*_ ")) + 1
        )
        said, follows = (sentence[: turn.start()], sentence[turn.end() :]) if turn else (sentence, "")
        named = self._numbered(said)
        if not named and (item := self._meant(said)) is not None:
            named = [item]
        sure = self._reckoned()
        # An item that is over already is only mentioned again. A list with gaps says which items are open;
        # without gaps the work has reached the last one named.
        if any(sure[item] < HIGH for item in named) and named == list(range(named[0], named[-1] + 1)):
            self._go(named[-1])
            self._over[named[-1]] = AFTER_WORD
        elif not named and not step_numbers(said, self._nouns):
            self._over = [AFTER_WORD] * len(self._over)
        for item in named:
            self._stated[item] = AFTER_WORD
        if after := self._numbered(follows):
            self._go(after[0])
            self._over[after[0]] = 0.0

    def _announce(self, sentence: str) -> None:
        """Something is about to be done: earlier items are over, this one is not."""
        match = self._match(weighted_words(sentence[:400]))
        strengths = [ANNOUNCED * one for one in match]
        named = self._numbered(sentence)
        if named:
            strengths[named[0]] += NUMBERED
            self._stated[named[0]] = 0.0
        self._move(strengths)
        if named or max(match) > CLOSE:
            self._over = [0.0] * len(self._over)

    def _reopen(self, sentence: str) -> None:
        """Something is said to be unfinished."""
        for item in self._numbered(sentence) or [self._meant(sentence)]:
            if item is not None:
                self._stated[item] = 0.0
                self._go(item)
                self._over[item] = 0.0

    def _numbered(self, sentence: str) -> list[int]:
        """The items that a sentence names by number; none if one of the numbers is from another list."""
        named = step_numbers(sentence, self._nouns)
        return [self._labels[one] for one in named] if all(one in self._labels for one in named) else []

    def _meant(self, sentence: str) -> int | None:
        """The one item whose title a sentence clearly mentions."""
        match = self._match(weighted_words(sentence[:400]))
        first, *rest = sorted(match, reverse=True)
        return match.index(first) if first >= CLEAR and first - max(rest, default=0.0) >= CLOSE else None

    # --- what is done

    def _act(self, seen: Observation) -> None:
        deed = read_action(seen.tool, seen.input or {})
        match = self._match(deed.words, deed.around)
        self._move([_strength(deed.sort, s, m) for s, m in zip(self._sorts, match, strict=True)])
        self._count(deed.words)
        if deed.sort in (*_CHANGES, "delegate"):
            self._over = [0.0] * len(self._over)
        if seen.ok is not None:
            self._end(deed.sort, seen)
        elif deed.sort != "explore":
            self._running[seen.at] = deed.sort
            if len(self._running) > MOST_RUNNING:
                del self._running[next(iter(self._running))]

    def _end(self, sort: Sort, seen: Observation) -> None:
        """An action has ended, so the item it was for may be finished."""
        if sort == "explore":
            return
        if not seen.ok or (sort == "verify" and counts_failures(seen.text[-CHARACTERS:])):
            self._over = [AFTER_FAILURE] * len(self._over)
        elif sort == "verify":
            self._over = [
                AFTER_RUN if title == "verify" else max(over, AFTER_CHECK)
                for over, title in zip(self._over, self._sorts, strict=True)
            ]
        elif sort == "commit":
            self._over = [AFTER_RUN] * len(self._over)
        else:
            self._over = [
                over if title in ("verify", "commit") else AFTER_CHANGE
                for over, title in zip(self._over, self._sorts, strict=True)
            ]

    # --- arithmetic

    def _match(self, said: Mapping[str, float], around: Mapping[str, float] | None = None) -> list[float]:
        """The share of each title found in some words, weighted by rarity in the plan and the session."""
        found: list[float] = []
        for title in self._titles:
            whole, hit = 1e-9, 0.0  # so that a title without words matches nothing
            for word, worth in title.items():
                weight = worth * self._rarity[word] * (1 - 0.7 * self._seen.get(word, 0) / (self._texts + 4))
                whole += weight
                hit += weight * (1.0 if word in said else 0.3 if around and word in around else 0.0)
            found.append(hit / whole)
        return found

    def _count(self, said: Mapping[str, float]) -> None:
        """Count the words of titles in texts; only those, so that the state cannot grow."""
        self._texts += 1
        for word in self._rarity.keys() & said.keys():
            self._seen[word] = self._seen.get(word, 0) + 1

    def _go(self, item: int) -> None:
        self._move([NUMBERED * (one == item) for one in range(len(self._here))])

    def _move(self, strengths: Sequence[float]) -> None:
        """Move the belief by one step of the Markov chain, then weigh it by the strength of the observation.

        Most of the probability stays, some moves on (more if the item is finished), a little moves back.
        """
        strongest = max(strengths)
        if strongest - min(strengths) < SAYS_NOTHING:
            return
        self.placed = True
        last = len(self._here) - 1
        later, arriving = 1.0, 0.0
        moved: list[float] = []
        for item, (here, over) in enumerate(zip(self._here, self._over, strict=True)):
            later -= here
            going = here * (LEAVES_OPEN + (LEAVES_FINISHED - LEAVES_OPEN) * over) if item < last else 0.0
            staying = here - going - here * RETURNS * (item > 0)
            stopping = arriving if item == last else arriving * (1 - SKIPS)
            new = max(1e-9, staying + stopping + max(0.0, later) * RETURNS / max(1, last))
            arriving += going - stopping
            self._over[item] = over * min(1.0, max(0.0, staying) / new)  # what arrives is unfinished
            moved.append(new * math.exp(strengths[item] - strongest))
        total = sum(moved)
        self._here = [share / total for share in moved]


def _level(sure: float) -> int:
    return (sure >= MEDIUM) + (sure >= HIGH) + (sure >= SETTLED)


def _labels(items: Sequence[str]) -> tuple[dict[int, int], frozenset[str]]:
    """Which number means which item, and after which nouns.

    Numbers are those in the titles if every title has its own, otherwise the order. "Step 4" and "task 4" are
    items of the plan; "phase 4" is only if the titles say "phase".
    """
    own = [label for title in items if (label := _LABEL.match(title))]
    taken = [int(label[2]) for label in own]
    nouns = STEP_NOUNS.union(label[1].lower() for label in own if label[1])
    if len(set(taken)) < len(items):
        taken = list(range(1, len(items) + 1))
    return {number: item for item, number in enumerate(taken)}, nouns


def _rarity(titles: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The weight of each word of a plan: the fewer titles have it, the more."""
    count: dict[str, int] = {}
    for title in titles:
        for word in title:
            count[word] = count.get(word, 0) + 1
    return {word: math.log1p(len(titles) / times) - 0.4 for word, times in count.items()}
