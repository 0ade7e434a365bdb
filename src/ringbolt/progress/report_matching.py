"""Which steps a report moves: its clauses matched to the titles of the plan, by number, name, and meaning.

A message of `task_update` is the agent's report about its own plan. So a clause that says that something is
finished is about the step in work, its neighbours, or the step that its words name; what it says about
anything else moves nothing. Words meet by their roots and by the thesaurus of `signals/reports`.
What is likely but not sure becomes a question in the reply.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from ..model.lazy_regex import lazy_regex
from ..signals.reports.acts import Clause
from ..signals.reports.clauses import read_clauses
from .report_decisions import decision_features, probability
from .report_weights import ABOUT, DECIDES, FINISHES
from .title_words import SAME_ROOT, PlanWords, Said, clause_features, compare, likeness

# `ask` is a question for the reply; `unsure` only one for a model.
Effect = Literal["completed", "active", "failed", "skipped", "reopened", "ask", "unsure"]

# How likely a step must be to be completed, by a clause that says so or by one that only states something; to
# be asked about; and to be the one in work.
COMPLETES, STATES, ASKS, MOVES = 0.57, 0.75, 0.25, 0.5
# How likely the whole message must finish a step that it does not name outright. Chosen by
# `report_training.py --check`: with weights of other plans, about one message in fifty moves something wrong.
SURE = 0.8
# How likely it must be where no clause finishes the step; and what is likely enough for the work to have
# moved on.
SURER = 0.8
MAY_FINISH = 0.5
NAMED = 0.6  # the share of a title that names a second step
LONGEST_REMARK = 200  # characters
MOVED_ON = 0.6  # the confidence that the work is at a step because the one before it is over
MOST_JUMPED = 2  # steps that a report may leave out


class Verdict(Struct):
    """What a report does to a step."""

    step: int
    effect: Effect
    confidence: float


def _is_short(clause: Clause) -> bool:
    return not (clause.words or clause.verbs or clause.details or clause.plain_done)


def _is_outright(clause: Clause) -> bool:
    return bool(clause.titles or clause.numbers or clause.whole or clause.last)


_OF_ANOTHER = lazy_regex(
    r"(?i)\b(?:of|for|from|in|on) (?:the other|another|somebody else's|someone else's)\b"
)
_GREETS = frozenset("ok fine good right yes great".split())
_FAILS = ("fail", "crash", "break", "hang", "error", "raise", "abort")
_HANDS_ON = frozenset("#send #give #submit #notify".split())
_WAITS = ("wait", "await", "warte", "attend", "esper", "aspett", "wacht")
_ENDS = ("cancel", "reject", "declin", "terminat", "revok", "abort", "postpon", "delay")


class ReportReader:
    """Reads the reports about one plan. `is_over` and `current` are the plan as it stands."""

    def __init__(self, plan: PlanWords, numbers: dict[int, int]) -> None:
        self._plan = plan
        self._numbers = numbers

    def read(self, text: str, over: Sequence[bool], current: int | None) -> list[Verdict]:
        """What a report does to the steps, in order."""
        reading = Reading(self._plan, self._numbers, list(over), current)
        reading.is_long = len(text) > LONGEST_REMARK
        for clause in read_clauses(text, self._plan.titles, self._plan.language):
            reading.take(clause)
        reading.decide()
        return reading.verdicts()


class Reading:
    """One report as it is read, clause by clause."""

    def __init__(
        self, plan: PlanWords, numbers: dict[int, int], over: list[bool], current: int | None
    ) -> None:
        self.is_long = False  # a long text says what it reports; only a short remark may leave it out
        self._plan = plan
        self._numbers = numbers
        self._over = over
        self._was_over = list(over)
        self._current = current if current is not None else self._first_open()
        self._began_at = self._current
        self._found: dict[int, Verdict] = {}
        self._last: Said | None = None
        self._said: list[Said] = []
        self._chances: dict[int, float] = {}  # how likely a clause finishes each step, by itself
        self._outright: set[int] = set()  # steps that are named, or the one in work for "Done."
        self._evidence: dict[int, float] = {}  # how likely each step is finished by the clauses so far
        self._denied: set[int] = set()  # steps that a clause of this report calls unfinished
        self._unplaced = False  # a clause says that something is done, but nothing says to which step
        self._specific = False  # a clause of this report has finished a step that it names

    def _first_open(self) -> int | None:
        return self._over.index(False) if False in self._over else None

    def verdicts(self) -> list[Verdict]:
        if self._unplaced:
            near = [
                step for step in range(len(self._over)) if self._is_near(step) and step not in self._found
            ]
            return [*self._found.values(), *(Verdict(step, "unsure", 0.0) for step in near)]
        return list(self._found.values())

    # --- the message as a whole

    def _weigh(self, said: Said) -> None:
        if said.clause.act not in ("finished", "none"):
            return
        first = len(self._said) == 1
        steps, options = choices(self._plan, said, self._began_at, self._was_over, True, first)
        for step, chance in zip(steps, _chances(FINISHES, options)[1:], strict=True):
            self._chances[step] = max(self._chances.get(step, 0.0), chance)

    def candidates(self) -> list[tuple[int, dict[str, float]]]:
        """The steps that this message may finish without naming them outright, with their features."""
        steps = {step for step, one in self._found.items() if one.effect == "completed"}
        steps.update(() if self._began_at is None else (self._began_at,))
        if self._chances:
            steps.add(max(self._chances, key=self._chances.__getitem__))
        if not any(one.every for one in self._said) or any(_is_outright(one.clause) for one in self._said):
            return []
        return [
            (step, self._features(step))
            for step in sorted(steps - self._outright)
            if not self._was_over[step]
        ]

    def _features(self, step: int) -> dict[str, float]:
        outcome = (
            self._found[step].effect if step in self._found else "unsure" if self._unplaced else "nothing"
        )
        return decision_features(
            self._plan, self._said, step, self._began_at, self._was_over, outcome, self._chances
        )

    def decide(self) -> None:
        """Let the whole message decide: ask about a step that a clause has completed but the message does not
        surely finish, and complete one that no clause finishes by itself.

        What is likelier than not moves the work on to the next step, although it only asks.
        """
        if sum(one.effect == "completed" for one in self._found.values()) > 1:
            return  # steps that are finished together are no rivals
        guessed = any(one.clause.guessed for one in self._said)
        found = [(probability(DECIDES, features), step) for step, features in self.candidates()]
        for sure, step in sorted(found, reverse=True):
            if _OF_ANOTHER.search(" ".join(one.clause.text for one in self._said)):
                sure = min(sure, MAY_FINISH - 0.01)  # "all tests of the other project are done"
            is_done = (verdict := self._found.get(step)) is not None and verdict.effect == "completed"
            if is_done and sure < SURE:
                self._doubt(step, sure)
            elif not is_done and sure >= MAY_FINISH and not guessed and not self._completes():
                if sure >= SURER and step not in self._denied:
                    self._found.pop(step, None)
                    self._put(Verdict(step, "completed", 0.9))
                    self._over[step] = True
                    self._move_on(step, False)
                elif self._tells_of(step):
                    self._lean(step, sure)
                elif not self.is_long:
                    self._ask(step, sure)
            elif not is_done and sure >= ASKS and not self.is_long:
                self._ask(step, sure)

    def _tells_of(self, step: int) -> bool:
        """Whether the message says that something is finished, or more of the step than a name."""
        return any(
            one.clause.act == "finished" or (not one.clause.copula and likeness(self._plan, one, step).shares)
            for one in self._said
        )

    def _completes(self) -> bool:
        return any(one.effect == "completed" for one in self._found.values())

    def _lean(self, step: int, sure: float) -> None:
        """Ask about a step, and take the work to be at the next one."""
        self._found.pop(step, None)
        self._ask(step, sure)
        following = next((one for one in range(step + 1, len(self._over)) if not self._over[one]), None)
        if following is not None and not any(one.effect == "active" for one in self._found.values()):
            self._put(Verdict(following, "active", MOVED_ON))
            self._current = following

    def _doubt(self, step: int, sure: float) -> None:
        """Leave a step open that a clause has completed: the work is still where it was."""
        self._over[step] = False
        follows = [
            one.step for one in self._found.values() if one.effect == "active" and one.confidence == MOVED_ON
        ]
        for one in (step, *follows):
            self._found.pop(one, None)
        self._current = self._began_at
        if sure >= MAY_FINISH:
            self._lean(step, sure)
        else:
            self._ask(step, sure)

    # --- clauses

    def take(self, clause: Clause) -> None:
        named = self._named(clause)
        if named is None:
            return  # a number of another list
        said = Said(clause)
        self._said.append(said)
        self._weigh(said)
        if clause.act == "failed" and self._current is not None and self._wants_failure(clause, named):
            self._complete(named[0] if named else self._current, 0.91, clause, outright=True)
            return
        if clause.act == "finished":
            self._finish(clause, said, named)
        elif (
            (clause.act in ("partly", "denied", "planned") or self._is_open_end(said))
            and clause.tail
            and not named
            and self._continues(said)
        ):
            pass
        elif clause.act in ("begun", "partly", "failed"):
            if clause.act == "failed" and clause.tail and not named:
                self._take_back(said)
            if not (clause.act == "begun" and clause.tail and self._waits(clause)):
                self._work(clause, said, named)
        elif clause.act in ("denied", "reopened"):
            self._deny(clause, said, named)
        elif clause.act == "skipped":
            self._skip(clause, said, named)
        elif clause.act == "planned":
            self._take_back(said)
        elif clause.act == "none":
            self._state(clause, said, named)
        self._last = said

    def _wants_failure(self, clause: Clause, named: list[int]) -> bool:
        """Whether the step is to see something fail ("Reproduce the crash"), or asks for what sounds like a
        failure ("Cancel the contract")."""
        step = named[0] if named else self._current
        if step is None:
            return False
        title = self._plan.titles[step].lower()
        words = clause.text.lower().split()
        if "#reproduce" in self._plan.actions(step) or "failing" in title:
            return any(word.startswith(_FAILS) for word in words)
        verb = next((stem for stem in _ENDS if title.startswith(stem)), None)
        return verb is not None and any(word.startswith(verb) for word in words)

    def _named(self, clause: Clause) -> list[int] | None:
        """The steps that a clause names by number or title; None if a number is not one of the plan's."""
        found = list(clause.titles)
        for number in clause.numbers:
            if number not in self._numbers:
                return None
            found.append(self._numbers[number])
        if clause.last:
            found.append(len(self._over) - 1)
        return list(dict.fromkeys(found))

    def _finish(self, clause: Clause, said: Said, named: list[int]) -> None:
        if clause.whole:
            self._finish_all(clause)
        elif named:
            for step in named:
                self._complete(step, 0.97, clause, named=True)
        elif clause.states and _GREETS.issuperset(clause.states) and _is_short(clause):
            return  # "ok" alone reports nothing
        elif clause.bare:
            # "Done." is about the step in work; after a clause that named its step it adds nothing.
            if self._current is not None and not self._specific and not clause.tail:
                self._complete(self._current, 0.92, clause, outright=True)
        else:
            self._settle(clause, said)

    def _settle(self, clause: Clause, said: Said) -> None:
        """Complete the step that a clause most likely finishes, or ask about it."""
        step, chance = self._likely(said, finishes=True)
        self._unplaced = self._unplaced or chance < COMPLETES
        if step is None:
            return
        if clause.act == "finished":
            # Several clauses that each perhaps speak of a step together surely do.
            before = self._evidence.get(step, 0.0)
            chance = self._evidence[step] = 1.0 - (1.0 - before) * (1.0 - chance)
        if self._is_handed_on(said, step):
            self._work_at(step)
            return
        part = clause.numbered and not clause.also and not self._plan.is_numbered(step)
        if part and any(self._plan.is_plural(step, word) for word in (*clause.words, *clause.details)):
            self._put(Verdict(step, "active", 0.92))  # "the first prototype is soldered"
            return
        if self._is_elsewhere(said, step) or self._is_echo(said, step):
            chance = min(chance, COMPLETES - 0.01)
        if clause.located and not self._plan.puts_somewhere(step):
            self._ask(step, chance)  # "the layers are in the oven"
        elif clause.act == "finished" and chance >= COMPLETES:
            for one in (step, *self._also(said, step)):
                self._complete(one, 0.9 + 0.06 * chance, clause)
        elif chance >= STATES and (clause.now or (clause.results and self._plan.asks_for_value(step))):
            self._complete(step, 0.9, clause)
        elif chance >= ASKS:
            self._ask(step, chance)

    def _is_elsewhere(self, said: Said, step: int) -> bool:
        """A similar action was done to something else: "the cache was updated" for "Add the model"."""
        like = likeness(self._plan, said, step)
        return like.known_strays > 0 and 0 < like.acts < SAME_ROOT and not like.things

    def _is_echo(self, said: Said, step: int) -> bool:
        """A step that is over explains the clause better: "the MR is up" once "Open the MR" is done."""
        if likeness(self._plan, said, step).acts:
            return False
        over = [likeness(self._plan, said, one) for one, is_over in enumerate(self._was_over) if is_over]
        return any(one.acts and one.covered for one in over)

    def _is_handed_on(self, said: Said, step: int) -> bool:
        """ "Sent it to legal for review": the review is still to come."""
        own = self._plan.actions(step)
        if not said.actions & _HANDS_ON or own & _HANDS_ON:
            return False
        return any(own & one for one in said.details)

    def _also(self, said: Said, step: int) -> list[int]:
        """Other steps that a clause names with words of their own: "grading and mix are both finished"."""
        spoken = range(len(said.words) + len(said.verbs))
        if len(spoken) < 2 or not said.clause.joined:
            return []
        used = likeness(self._plan, said, step).met
        found: list[int] = []
        for other in sorted(self._plan.sharing(said.every)):
            like = likeness(self._plan, said, other)
            names = like.covered >= NAMED or like.acts == SAME_ROOT
            own = like.met and not used & like.met and all(place in spoken for place in like.met)
            if names and own and not self._over[other]:
                found.append(other)
                used = used | like.met
        return found

    def _finish_all(self, clause: Clause) -> None:
        left = [step for step, over in enumerate(self._over) if not over]
        if clause.guessed or (clause.tail and self._specific):
            # "Handbook drafted, all finished" speaks of the handbook.
            for step in left:
                self._ask(step, 0.5)
            return
        for step in left:
            self._complete(step, 0.93, clause, outright=True)

    def _work(self, clause: Clause, said: Said, named: list[int]) -> None:
        """Something begins, goes on, is partly done, or failed for now: its step is the one in work."""
        step = named[0] if named else None
        if step is None and not clause.bare:
            best, chance = self._likely(said)
            if best is not None and chance >= MOVES and not self._over[best]:
                step = best
        if step is None:
            return
        if clause.act == "failed" and named and not clause.guessed:
            self._put(Verdict(step, "failed", 0.93))
            self._over[step] = True
            return
        if self._over[step]:
            if not named or clause.act == "begun":
                return  # an echo of what is over
            self._put(Verdict(step, "reopened", 0.92))
        self._work_at(step)

    def _deny(self, clause: Clause, said: Said, named: list[int]) -> None:
        steps = named
        if not steps and not clause.bare:
            best, chance = self._likely(said)
            if best is not None and chance >= MOVES:
                steps = [best]
        if not steps:
            self._take_back(said)
        self._denied.update(steps)
        for step in steps:
            if self._over[step] and not self._was_over[step]:
                self._over[step] = False
                self._put(Verdict(step, "active", 0.92))
            elif self._over[step]:
                self._put(Verdict(step, "reopened", 0.92))
                self._over[step] = False
                self._current = step
            elif (found := self._found.get(step)) is not None and found.effect in ("completed", "ask"):
                del self._found[step]

    def _is_open_end(self, said: Said) -> bool:
        """ "Parser ported, but two tests still fail"."""
        return said.clause.act in ("begun", "failed") and said.clause.goes_on

    def _continues(self, said: Said) -> bool:
        """ "9 boxes packed, 30 to go": the addition turns the step just finished into one in work."""
        done = [one.step for one in self._found.values() if one.effect == "completed"]
        if not done:
            return False
        before = {
            name for one in (self._last.every if self._last else []) for name in one if name[0] not in "#~=$"
        }
        planned = said.clause.act == "planned"
        fragment = said.clause.deferred and not said.clause.verbs
        if planned and not fragment and not any(before & one for one in said.every):
            return False  # it is about something else
        best, chance = self._likely(said, at=done[-1])
        if chance >= (ASKS if planned else MOVES) and best != done[-1]:
            return False
        self._work_at(done[-1])
        return True

    def _waits(self, clause: Clause) -> bool:
        """ "Application submitted, waiting for the board": unless submitting was the step, it goes on."""
        done = [one.step for one in self._found.values() if one.effect == "completed"]
        first = clause.text.lower().split()[:3]
        if not done or self._last is None or not any(word.startswith(_WAITS) for word in first):
            return False
        step = done[-1]
        if likeness(self._plan, self._last, step).acts < SAME_ROOT:
            self._work_at(step)
        return True

    def _take_back(self, said: Said) -> None:
        """What this report called finished is not, if more of it is to come: "one interview held, the second
        is on Monday"."""
        ended = [one.step for one in self._found.values() if one.effect == "completed"]
        best, chance = self._likely(said, at=ended[-1]) if ended else (None, 0.0)
        done = self._found.get(best) if best is not None else None
        if best is None or done is None or not likeness(self._plan, said, best).shares:
            return
        if done.effect == "completed" and chance >= MOVES:
            self._work_at(best)

    def _skip(self, clause: Clause, said: Said, named: list[int]) -> None:
        steps = named
        if not steps and clause.bare and self._current is not None:
            steps = [self._current]
        if not steps:
            best, chance = self._likely(said)
            if best is not None and chance >= MOVES:
                steps = [best]
        for step in steps:
            if not self._over[step]:
                self._put(Verdict(step, "skipped", 0.92))
                self._over[step] = True
                self._move_on(step, bool(named))

    def _state(self, clause: Clause, said: Said, named: list[int]) -> None:
        """A clause without a verb of its own: a title, a value that a step asked for, a result."""
        if named:
            open_steps = [step for step in named if not self._over[step]]
            if len(open_steps) == 1 and len(named) == 1:
                self._work_at(open_steps[0])
            return
        if self.is_long:
            return
        # A model may know better what a short remark means.
        self._unplaced = self._unplaced or not clause.bare
        if not clause.bare and (clause.results or clause.copula or clause.now):
            self._settle(clause, said)

    # --- effects

    def _complete(
        self, step: int, sure: float, clause: Clause, named: bool = False, outright: bool = False
    ) -> None:
        if self._over[step]:
            return
        if named or outright:
            self._outright.add(step)
        if not named and self._is_check_ahead(step):
            self._ask(step, 0.6)
            return
        if clause.guessed or (step in self._denied and not named):
            self._ask(step, 0.6)
            return
        self._put(Verdict(step, "completed", sure))
        self._over[step] = True
        self._specific = True
        self._move_on(step, named)

    def _is_check_ahead(self, step: int) -> bool:
        """Whether a step is a check that is not due yet: tests are run after every change, not only once."""
        ahead = self._current is not None and step > self._current
        return ahead and any("=tests" in word.senses for word in self._plan.steps[step])

    def _move_on(self, step: int, named: bool) -> None:
        """A step is over: the work is at the next one."""
        before = self._current
        following = [one for one in range(step + 1, len(self._over)) if not self._over[one]]
        if step == before:
            self._current = following[0] if following else self._first_open()
        elif before is not None and following and not named and 0 < step - before <= MOST_JUMPED:
            # Plans are worked in order: rather was a step before this one not reported. A number is meant as
            # it is said.
            self._current = following[0]
        here = self._current
        if here is not None and here != before and here > step and self._first_open() != here:
            self._put(Verdict(here, "active", MOVED_ON))

    def _work_at(self, step: int) -> None:
        """An open step is the one in work."""
        self._over[step] = False
        self._put(Verdict(step, "active", 0.92))
        self._current = step

    def _ask(self, step: int, chance: float) -> None:
        if step not in self._found and not self._over[step]:
            self._found[step] = Verdict(step, "ask", chance)

    def _put(self, verdict: Verdict) -> None:
        self._found.pop(verdict.step, None)
        self._found[verdict.step] = verdict

    # --- which step is meant

    def _likely(self, said: Said, finishes: bool = False, at: int | None = None) -> tuple[int | None, float]:
        """The step that a clause finishes or is about, and how likely that is. `at`: a step that another
        clause has finished, and of which this one may say more."""
        over, current = self._over, self._current
        if at is not None:
            over, current = [*over], at
            over[at] = False
        steps, options = choices(
            self._plan, said, current, over, finishes, self._last is None, self._specific
        )
        chances = _chances(FINISHES if finishes else ABOUT, options)
        best = max(range(len(steps)), key=lambda place: chances[place + 1], default=None)
        return (None, 0.0) if best is None else (steps[best], chances[best + 1])

    def _is_near(self, step: int) -> bool:
        return self._current is not None and abs(step - self._current) <= MOST_JUMPED and not self._over[step]


def _chances(weights: Mapping[str, float], options: Sequence[Mapping[str, float]]) -> list[float]:
    scores = [sum(weights.get(name, 0.0) * value for name, value in one.items()) for one in options]
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    return [part / sum(parts) for part in parts]


def choices(
    plan: PlanWords,
    said: Said,
    current: int | None,
    over: Sequence[bool],
    finishes: bool,
    is_first: bool = True,
    is_settled: bool = False,
) -> tuple[list[int], list[dict[str, float]]]:
    """The steps that a clause may be about, and the features of each; those of "none of them" come first."""
    shared = plan.sharing(said.every)
    near = () if current is None else (current - 1, current, current + 1, current + 2)
    steps = sorted(shared.union(step for step in near if 0 <= step < len(over) and not over[step]))
    if finishes:
        echoes = [likeness(plan, said, step) for step in steps if over[step]]
        steps = [step for step in steps if not over[step]]
        none = clause_features(said.clause, said, is_first, is_settled)
        none["echo, things"] = max((one.covered for one in echoes), default=0.0)
        none["echo, action"] = max((one.acts * (one.covered > 0) for one in echoes), default=0.0)
    else:
        none = clause_features(said.clause, said, is_first, is_settled)
    return steps, [none, *(compare(plan, said, step, current, over) for step in steps)]
