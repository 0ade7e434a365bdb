"""Which steps a report moves: its clauses matched to the titles of the plan, by number, name, and meaning.

A message of `task_update` is the agent's report about its own plan. So a clause that says that something is
finished is about the step in work, its neighbours, or the step that its words name; what it says about
anything else moves nothing. Words meet by their roots and by the thesaurus of `signals/reports`.
What is likely but not sure becomes a question in the reply.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from ..signals.plan_words import is_verb
from ..signals.reports.acts import Clause
from ..signals.reports.clauses import read_clauses
from ..signals.reports.tokens import UNSPACED, common_words, language_of, plain_words
from ..signals.reports.trade_words import concepts, result_actions, unspaced_words
from ..signals.reports.word_roots import plain, root

# `ask` is a question for the reply; `unsure` only one for a model.
Effect = Literal["completed", "active", "failed", "skipped", "reopened", "ask", "unsure"]

# The least score of a step that is completed, made current, or asked about; and by how much it must lead.
COMPLETES, MOVES, ASKS, LEADS = 1.6, 1.0, 0.8, 0.35
# What speaks for a step: its things, its action, its place in the plan.
THINGS, ACTION, OTHER_ACTION, HERE, NEAR, SAID_DONE, STRAY = 1.6, 1.2, 1.8, 1.0, 0.45, 0.25, 0.2
SAME_ROOT, SAME_START, SAME_ACTION, SAME_THING, OWN_WORD = 1.0, 0.85, 0.8, 0.75, 0.5
LONGEST_REMARK = 200  # characters
MOST_JUMPED = 2  # steps that a report may leave out
# Steps that ask for a value: stating the value is doing them.
_VALUE_ACTIONS = frozenset(
    "#find #choose #decide #agree #clarify #measure #calculate #estimate #evaluate #benchmark #test #compare"
    " #count #run #reproduce #tune #analyse #research #bump"
    .split()
)  # fmt: skip


# Steps whose thing is only known once they are done: "we went with the boathouse" chooses a venue.
_NEW_THING = frozenset("#choose #decide #find #buy #book #hire #obtain #recruit #agree".split())


class Verdict(Struct):
    """What a report does to a step."""

    step: int
    effect: Effect
    confidence: float


class _Word(Struct):
    senses: frozenset[str]
    weight: float
    is_action: bool
    meant: frozenset[str] = frozenset()  # its senses as an action, or as a thing
    share: float = 1.0  # less for what stands behind a preposition


@lru_cache(maxsize=1 << 13)
def senses(word: str, language: str) -> frozenset[str]:
    """What a word may stand for: its root, its beginning, its concepts."""
    found: set[str] = set()
    head, dash, particle = word.partition("-")
    if dash and (known := concepts(word, language)):
        found |= known
    parts = (
        [head]
        if dash and particle in _SHORT
        else word.replace("_", "-").replace(".", "-").replace("/", "-").split("-")
    )
    for part in parts:
        if not part or part.isdigit():
            continue
        low = plain(part).removesuffix("'s")
        found.add(root(low, language))
        if len(low) >= 6:
            found.add(f"~{low[:6]}")
        if language in ("de", "nl"):
            found |= _compound_ends(low)
        found |= concepts(low, language)
    return frozenset(found)


def _compound_ends(word: str) -> set[str]:
    """The words that a compound may end with: "Verhuiswagen" ends with "wagen"."""
    if len(word) < 9:
        return {f"${word}"} if len(word) >= 5 else set()
    return {f"${word[-size:]}" for size in range(5, 9)}


def _results_of(verb: str) -> frozenset[str]:
    """What else a verb is the result of: what has arrived was ordered."""
    head = verb.partition("-")[0]
    return result_actions(head, True) or result_actions(root(head, "en"), True)


_LIGHT = frozenset(
    root(word, "en")
    for word in "get have make do give take hold obtain perform conduct complete finish let ask".split()
)
_SHORT = frozenset("up out off over back down in through on together with for around away".split())


def _meet(one: frozenset[str], other: frozenset[str]) -> float:
    """How surely two words mean the same."""
    best = 0.0
    for sense in one & other:
        sign = sense[0]
        best = max(
            best,
            SAME_ACTION
            if sign == "#"
            else SAME_THING
            if sign == "="
            else SAME_START
            if sign in "~$"
            else SAME_ROOT,
        )
    return best


class PlanWords:
    """The titles of a plan, ready to be compared with reports."""

    def __init__(self, titles: Sequence[str]) -> None:
        self.titles = list(titles)
        self.language = language_of(". ".join(titles)[:600])
        self.steps: list[list[_Word]] = [self._words(title) for title in titles]
        for words in self.steps:
            light = any(word.is_action and word.senses & _LIGHT for word in words)
            for word in words:
                other = "" if light else "=" if word.is_action else "#"
                word.meant = frozenset(name for name in word.senses if name[0] != other)
        self._weigh()
        # The steps in whose titles a sense occurs, so that a clause is compared with those alone.
        self._index: dict[str, set[int]] = {}
        for step, words in enumerate(self.steps):
            for word in words:
                for name in word.meant:
                    self._index.setdefault(name, set()).add(step)
        self._actions: list[frozenset[str] | None] = [None] * len(self.steps)
        self._pronouns = [bool(_PRONOUNS & set(title.lower().split())) for title in titles]

    def _words(self, title: str) -> list[_Word]:
        if self.language in UNSPACED:
            return [
                _Word(one, 1.0, any(name[0] == "#" for name in one), one)
                for one in _unspaced_senses(title, self.language)
            ]
        words, main = plain_words(title, self.language)
        found = [
            _Word(senses(word, self.language), 1.0, False, share=1.0 if place < main else 0.5)
            for place, word in enumerate(words)
        ]
        order = range(len(found) - 1, -1, -1) if _verb_last(self.language) else range(len(found))
        for rank, place in enumerate(order):
            first = rank == 0 and (self.language != "en" or is_verb(words[place].partition("-")[0]))
            if first or any(name[0] == "#" for name in found[place].senses):
                found[place].is_action = True
                break
        if found and root(words[0], self.language) in _LIGHT:
            # "Get approval" and "Have legal review it" ask for approving and reviewing.
            heads = [one for one in found[1:main] if any(name[0] == "#" for name in one.senses)]
            if heads:
                heads[-1].is_action = True
        return found

    def _weigh(self) -> None:
        """The fewer titles have a word, the more it says."""
        count: dict[str, int] = {}
        for words in self.steps:
            for name in {name for word in words for name in word.senses if name[0] not in "~#=$"}:
                count[name] = count.get(name, 0) + 1
        total = len(self.steps)
        for words in self.steps:
            for word in words:
                own = [count[name] for name in word.senses if name in count]
                word.weight = (math.log1p(total / max(own, default=1)) - 0.4) * word.share

    def sharing(self, said: Sequence[frozenset[str]]) -> set[int]:
        """The steps whose titles share a sense with these words."""
        found: set[int] = set()
        for one in said:
            for name in one:
                if name in self._index:
                    found |= self._index[name]
        return found

    def takes_anything(self, step: int) -> bool:
        """Whether the thing of a title is only known from the steps before it: "Send it to the printer"."""
        return self._pronouns[step]

    def actions(self, step: int) -> frozenset[str]:
        """The actions that a title asks for; none if its verb says little."""
        if self._actions[step] is None:
            self._actions[step] = self._find_actions(step)
        return self._actions[step] or frozenset()

    def _find_actions(self, step: int) -> frozenset[str]:
        words = self.steps[step]
        verbs = [word for word in words if word.is_action and not word.senses & _LIGHT]
        if not verbs:
            # "Get the client's signature" asks for signing.
            verbs = [word for word in words if not word.is_action and word.share == 1.0][-1:]
        return frozenset(name for word in verbs for name in word.senses if name[0] == "#")


_PRONOUNS = frozenset("it them this that".split())


def _verb_last(language: str) -> bool:
    return language in ("de", "nl")


def _unspaced_senses(text: str, language: str) -> list[frozenset[str]]:
    """The words of a text without spaces: those of the thesaurus, and single characters."""
    found: list[frozenset[str]] = []
    rest = text
    for word, names in unspaced_words(language):
        if word in rest:
            found.append(frozenset((*names, *word)))
            rest = rest.replace(word, " ")
    common = common_words(language)
    found += [
        frozenset((letter,))
        for letter in dict.fromkeys(rest)
        if letter.isalpha() and ord(letter) > 0x30A0 and letter not in common
    ]
    return found


def _is_short(clause: Clause) -> bool:
    return not (clause.words or clause.verbs or clause.details or clause.plain_done)


_GREETS = frozenset("ok fine good right yes great".split())
# States that fit many actions.
_VAGUE = frozenset("here there home back exists exist stand stands have works worked staat staan".split())


class _Said:
    """The words of a clause, ready to be compared with titles."""

    def __init__(self, clause: Clause) -> None:
        self.clause = clause
        language = clause.language
        if language in UNSPACED:
            self.words = _unspaced_senses("".join(clause.words), language)
            self.verbs: list[frozenset[str]] = []
            self.details: list[frozenset[str]] = []
        else:
            self.words = [senses(word, language) for word in clause.words]
            self.verbs = [senses(word, language) for word in clause.verbs]
            self.details = [senses(word, language) for word in clause.details]
        self.verbs = [one | _results_of(word) for one, word in zip(self.verbs, clause.verbs, strict=False)]
        self.verbs += [actions for word in clause.states if (actions := result_actions(word))]
        self.every = [*self.words, *self.verbs, *self.details]

        vague = not clause.verbs and all(word in _VAGUE for word in clause.states)
        self.actions: frozenset[str] = (
            frozenset() if vague else frozenset(name for one in self.verbs for name in one if name[0] == "#")
        )
        # The things that something was done to: who did it is left out, if that can be told.
        self.things = range(clause.after if clause.has_object else 0, len(self.words))


_FAILS = ("fail", "crash", "break", "hang", "error", "raise", "abort")


class ReportReader:
    """Reads the reports about one plan. `is_over` and `current` are the plan as it stands."""

    def __init__(self, plan: PlanWords, numbers: dict[int, int]) -> None:
        self._plan = plan
        self._numbers = numbers

    def read(self, text: str, over: Sequence[bool], current: int | None) -> list[Verdict]:
        """What a report does to the steps, in order."""
        reading = _Reading(self._plan, self._numbers, list(over), current)
        for clause in read_clauses(text, self._plan.titles, self._plan.language):
            reading.take(clause)
        return reading.verdicts()


class _Reading:
    def __init__(
        self, plan: PlanWords, numbers: dict[int, int], over: list[bool], current: int | None
    ) -> None:
        self._plan = plan
        self._numbers = numbers
        self._over = over
        self._was_over = list(over)
        self._current = current if current is not None else self._first_open()
        self._found: dict[int, Verdict] = {}
        self._last: _Said | None = None
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

    # --- clauses

    def take(self, clause: Clause) -> None:
        named = self._named(clause)
        if named is None:
            return  # a number of another list
        said = _Said(clause)
        if clause.act == "failed" and self._current is not None and self._wants_failure(clause, named):
            self._complete(named[0] if named else self._current, 0.91, clause)
            return
        if clause.act == "finished":
            self._finish(clause, said, named)
        elif (
            clause.act in ("partly", "denied", "planned")
            and clause.tail
            and not named
            and self._continues(said)
        ):
            pass
        elif clause.act in ("begun", "partly", "failed"):
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
        """Whether the step is to see something fail: "Reproduce the crash", "Write a failing test"."""
        step = named[0] if named else self._current
        if step is None or not (
            "#reproduce" in self._plan.actions(step) or "failing" in self._plan.titles[step].lower()
        ):
            return False
        return any(word.startswith(_FAILS) for word in clause.text.lower().split())

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

    def _finish(self, clause: Clause, said: _Said, named: list[int]) -> None:
        if clause.whole:
            self._finish_all(clause)
        elif named:
            for step in named:
                self._complete(step, 0.97, clause, named=True)
        elif clause.states and _GREETS.issuperset(clause.states) and _is_short(clause):
            return  # "ok" alone is no report
        elif clause.bare:
            # "Done." is about the step in work; after a clause that named its step it adds nothing.
            if self._current is not None and not self._specific and not clause.tail:
                self._complete(self._current, 0.92, clause)
        else:
            step, score, lead = self._best(said)
            if step is None:
                return
            self._unplaced = self._unplaced or score < COMPLETES
            if score < ASKS and self._current is not None and self._is_unnamed_end(said):
                step, score, lead = self._current, COMPLETES, 0.0
            if score >= COMPLETES and lead >= (0.0 if step == self._current else LEADS):
                self._complete(step, min(0.96, 0.9 + 0.03 * (score - COMPLETES)), clause)
            elif score >= ASKS and not self._over[step]:
                self._ask(step, score)

    def _is_unnamed_end(self, said: _Said) -> bool:
        """ "rsync finished, 220 GB": it is done, and what it is called is no other thing that we know."""
        known = any(name[0] == "=" for one in (*said.words, *said.details) for name in one)
        return said.clause.plain_done and not said.clause.verbs and not known and not said.clause.tail

    def _finish_all(self, clause: Clause) -> None:
        left = [step for step, over in enumerate(self._over) if not over]
        if clause.guessed or (clause.tail and self._specific):
            # "Handbook drafted, all finished" speaks of the handbook.
            for step in left:
                self._ask(step, 0.5)
            return
        for step in left:
            self._complete(step, 0.93, clause)

    def _work(self, clause: Clause, said: _Said, named: list[int]) -> None:
        """Something begins, goes on, is partly done, or failed for now: its step is the one in work."""
        step = named[0] if named else None
        if step is None and not clause.bare:
            best, score, lead = self._best(said, strict=False)
            if best is not None and score >= MOVES and lead >= LEADS / 2 and not self._over[best]:
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
            self._over[step] = False
        self._put(Verdict(step, "active", 0.92))
        self._current = step

    def _deny(self, clause: Clause, said: _Said, named: list[int]) -> None:
        steps = named
        if not steps and not clause.bare:
            best, score, lead = self._best(said, strict=False, closed=True)
            if best is not None and score >= COMPLETES and lead >= LEADS:
                steps = [best]
        if not steps:
            self._take_back(said)
        for step in steps:
            if self._over[step] and not self._was_over[step]:
                self._over[step] = False
                self._put(Verdict(step, "active", 0.92))
            elif self._over[step]:
                self._put(Verdict(step, "reopened", 0.92))
                self._over[step] = False
                self._current = step
            elif self._found.get(step, None) is not None and self._found[step].effect in ("completed", "ask"):
                del self._found[step]

    def _continues(self, said: _Said) -> bool:
        """ "9 boxes packed, 30 to go": the addition turns the step just finished into one in work."""
        done = [one.step for one in self._found.values() if one.effect == "completed"]
        if not done:
            return False
        before = {
            name for one in (self._last.every if self._last else []) for name in one if name[0] not in "#~=$"
        }
        if said.clause.act == "planned" and not any(before & one for one in said.every):
            return False  # it is about something else
        best, score, _ = self._best(said, strict=False, closed=True)
        if score >= MOVES and best != done[-1]:
            return False
        self._over[done[-1]] = False
        self._put(Verdict(done[-1], "active", 0.92))
        self._current = done[-1]
        return True

    def _take_back(self, said: _Said) -> None:
        """What this report called finished is not, if more of it is to come: "one interview held, the second
        is on Monday"."""
        best, score, _ = self._best(said, strict=False, closed=True)
        done = self._found.get(best) if best is not None else None
        if best is not None and done is not None and done.effect == "completed" and score >= MOVES:
            self._over[best] = False
            self._put(Verdict(best, "active", 0.92))
            self._current = best

    def _skip(self, clause: Clause, said: _Said, named: list[int]) -> None:
        steps = named
        if not steps and clause.bare and self._current is not None:
            steps = [self._current]
        if not steps:
            best, score, lead = self._best(said, strict=False)
            if best is not None and score >= COMPLETES - 0.3 and lead >= LEADS:
                steps = [best]
        for step in steps:
            if not self._over[step]:
                self._put(Verdict(step, "skipped", 0.92))
                self._over[step] = True
                self._move_on(step, bool(named))

    def _state(self, clause: Clause, said: _Said, named: list[int]) -> None:
        """A clause without a verb of its own: a title, a value that a step asked for, a result."""
        if named:
            open_steps = [step for step in named if not self._over[step]]
            if len(open_steps) == 1 and len(named) == 1:
                self._put(Verdict(open_steps[0], "active", 0.92))
                self._current = open_steps[0]
            return
        # A model may know better what a short remark means; a long text without an act is no report.
        self._unplaced = self._unplaced or (not clause.bare and len(clause.text) <= LONGEST_REMARK)
        if clause.bare or not (clause.results or clause.copula or clause.now):
            return
        step, score, lead = self._best(said)
        if step is None or self._over[step] or lead < LEADS:
            return
        asks_value = bool(self._plan.actions(step) & _VALUE_ACTIONS)
        if (asks_value or clause.now) and score >= COMPLETES and step == self._current:
            self._complete(step, 0.9, clause)
        elif score >= ASKS:
            self._ask(step, score)

    # --- effects

    def _complete(self, step: int, sure: float, clause: Clause, named: bool = False) -> None:
        if self._over[step]:
            return
        if not named and self._is_check_ahead(step):
            self._ask(step, 0.6)
            return
        if clause.guessed:
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
            self._put(Verdict(here, "active", 0.6))

    def _ask(self, step: int, score: float) -> None:
        if step not in self._found and not self._over[step]:
            self._found[step] = Verdict(step, "ask", min(0.8, 0.3 + 0.2 * score))

    def _put(self, verdict: Verdict) -> None:
        self._found.pop(verdict.step, None)
        self._found[verdict.step] = verdict

    # --- scores

    def _best(
        self, said: _Said, strict: bool = True, closed: bool = False
    ) -> tuple[int | None, float, float]:
        """The step that a clause is about, its score, and its lead over the next one."""
        best, top, second = None, -9.0, -9.0
        for step in sorted(self._plan.sharing(said.every)):
            score = self._score(said, step, strict, closed)
            if score > top:
                best, top, second = step, score, top
            elif score > second:
                second = score
        if best is None:
            return (0 if self._over else None), -STRAY * min(3, len(said.things)), 0.0
        # A step that shares nothing scores nothing.
        return best, top, top - (max(second, 0.0) if len(self._over) > 1 else -9.0)

    def _score(self, said: _Said, step: int, strict: bool, closed: bool) -> float:
        words = self._plan.steps[step]
        whole = hit = things = acts = 0.0
        met: set[int] = set()
        for word in words:
            best = 0.0
            for place, one in enumerate(said.every):
                if meets := _meet(word.meant, one):
                    is_detail = place >= len(said.words) + len(said.verbs)
                    if word.is_action and is_detail and said.verbs:
                        continue  # "sent it for signature" is sending
                    met.add(place)
                    best = max(best, meets * (0.9 if is_detail else 1.0))
            if word.is_action:
                acts = max(acts, best)
            else:
                things = max(things, best)
                whole += word.weight
                hit += word.weight * best
        covered = hit / whole if whole else acts / 2
        if not covered and not acts:
            return -STRAY * min(3, len(said.things))
        score = THINGS * covered + ACTION * acts + self._place(step, closed)
        own, verbs = self._plan.actions(step), said.actions
        by_verb = any(len(said.words) <= place < len(said.words) + len(said.verbs) for place in met)
        if (
            not (acts or by_verb)
            and own
            and verbs
            and not own & verbs
            and said.clause.language not in UNSPACED
        ):
            score -= OTHER_ACTION if strict else OTHER_ACTION / 2
        if said.clause.plain_done:
            score += SAID_DONE
        strays = [
            said.words[place]
            for place in said.things
            # What a verb is done to says more than what stands before it: "made coffee", "CSR sent".
            if place not in met
            and (place >= said.clause.after or any(name[0] == "=" for name in said.words[place]))
        ]
        if own & _NEW_THING:
            strays = [one for one in strays if any(name[0] == "=" for name in one)]
        if self._plan.takes_anything(step):
            strays = []
        if covered < 0.3:
            score -= STRAY * min(3, len(strays))
        if whole and not things and strays and not (said.clause.plain_done and step == self._current):
            # The same action was done to something else: "checked my mail" for "Check the proofs".
            score = min(score, COMPLETES - 0.1)
        if self._over[step] and not closed:
            score -= 0.3
        if not things and step != self._current and not (acts == SAME_ROOT and self._is_near(step)):
            score = min(score, COMPLETES - 0.1)  # an action alone can only mean the step in work
        return score

    def _is_near(self, step: int) -> bool:
        return self._current is not None and abs(step - self._current) <= MOST_JUMPED and not self._over[step]

    def _place(self, step: int, closed: bool) -> float:
        if closed and self._was_over[step]:
            return NEAR
        if step == self._current:
            return HERE
        if self._current is not None and abs(step - self._current) == 1 and not self._over[step]:
            return NEAR
        return 0.0
