"""The titles of a plan and the clauses of a report as words, and how they compare.

Words meet by their roots and by the thesaurus of `signals/reports`. `compare` gives the features by which
`report_weights` judges which step a clause is about, and whether it finishes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from ..model.lazy_regex import lazy_regex
from ..signals.plan_words import is_verb
from ..signals.reports.acts import Clause
from ..signals.reports.tokens import UNSPACED, common_words, language_of, ordinals, plain_words
from ..signals.reports.trade_words import concepts, result_actions, unspaced_words
from ..signals.reports.word_roots import plain, root

SAME_ROOT, SAME_START, SAME_ACTION, SAME_THING = 1.0, 0.85, 0.8, 0.75  # how surely two words mean the same
_MEETS = {"#": SAME_ACTION, "=": SAME_THING, "~": SAME_START, "$": SAME_START}  # by the sign of a sense
# Steps that ask for a value: stating the value is doing them.
_VALUE_ACTIONS = frozenset(
    "#find #choose #decide #agree #clarify #measure #calculate #estimate #evaluate #benchmark #test #compare"
    " #count #run #reproduce #tune #analyse #research #bump"
    .split()
)  # fmt: skip
# Steps whose thing is only known once they are done: "we went with the boathouse" chooses a venue.
_NEW_THING = frozenset("#choose #decide #find #buy #book #hire #obtain #recruit #agree".split())
# Steps that put something somewhere: where it is now says that they are done.
_PLACING = frozenset(
    "#upload #archive #install #copy #load #store #backup #save #publish #add #deploy #export"
    " #submit #pour #block #merge #push #construct #import"
    .split()
)  # fmt: skip


class _Word(Struct):
    senses: frozenset[str]
    weight: float
    is_action: bool = False
    meant: frozenset[str] = frozenset()  # its senses as an action, or as a thing
    share: float = 1.0  # less for what stands behind a preposition


@lru_cache(maxsize=1 << 13)
def senses(word: str, language: str) -> frozenset[str]:
    """What a word may stand for: its root, its beginning, its concepts."""
    found: set[str] = set()
    head, dash, particle = word.partition("-")
    if dash and (known := concepts(word, language)):
        found |= known
    is_phrasal = dash and particle in _SHORT
    for part in [head] if is_phrasal else _JOINTS.split(word):
        if not part or part.isdecimal():
            continue
        low = plain(part).removesuffix("'s")
        found.add(root(low, language))
        if len(low) >= 6:
            found.add(f"~{low[:6]}")
        elif len(low) >= 3:
            found.add(f"~{low.removesuffix('s')}.")
        if language in ("de", "nl"):
            found |= _compound_ends(low)
        found |= concepts(low, language)
    return frozenset(found)


def _compound_ends(word: str) -> set[str]:
    """The words that a compound may end with: "Verhuiswagen" ends with "wagen"."""
    if len(word) < 9:
        return {f"${word}"} if len(word) >= 5 else set()
    return {f"${word[-size:]}" for size in range(5, 9)}


def _short_forms(word: str) -> frozenset[str]:
    """How reports may shorten a word of a title: "libs" are libraries, "protos" prototypes."""
    return frozenset(f"~{plain(word)[:size]}." for size in (3, 4, 5)) if len(word) >= 7 else frozenset()


def _results_of(verb: str) -> frozenset[str]:
    """What else a verb is the result of: what has arrived was ordered."""
    head = verb.partition("-")[0]
    return result_actions(head, True) or result_actions(root(head, "en"), True)


_LIGHT = frozenset(
    root(word, "en")
    for word in "get have make do give take hold obtain perform conduct complete finish let ask".split()
)
_JOINTS = lazy_regex(r"[-_./]")
_SHORT = frozenset("up out off over back down in through on together with for around away".split())


def _meet(one: frozenset[str], other: frozenset[str]) -> float:
    """How surely two words mean the same."""
    return max((_MEETS.get(sense[0], SAME_ROOT) for sense in one & other), default=0.0)


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
            _Word(senses(word, self.language) | _short_forms(word), 1.0, share=1.0 if place < main else 0.5)
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

    def is_numbered(self, step: int) -> bool:
        """Whether a title itself asks for one of several things: "Write chapter 3", "Print draft 1"."""
        words = self.titles[step].lower().split()
        return any(word.isdecimal() for word in words) or not ordinals(self.language).isdisjoint(words)

    def is_plural(self, step: int, word: str) -> bool:
        """Whether a title asks for several of what a word names once: "video 1" of "Record the videos"."""
        words = self.titles[step].lower().split()
        return len(word) > 2 and word not in words and (f"{word}s" in words or f"{word}es" in words)

    def puts_somewhere(self, step: int) -> bool:
        """Whether a step is done once its thing is in its place."""
        return bool(self.actions(step) & _PLACING)

    def asks_for_value(self, step: int) -> bool:
        """Whether stating a value is doing the step."""
        return bool(self.actions(step) & _VALUE_ACTIONS)

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


# States that fit many actions.
_VAGUE = frozenset("here there home back exists exist stand stands have works worked staat staan".split())


class Said:
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
        # What something was done to, without who did it where the sentence shows that.
        self.things = range(clause.after if clause.has_object else 0, len(self.words))


class Likeness(Struct):
    """How a clause compares with a title, by words alone."""

    covered: float  # the share of the title's things that the clause has
    things: float  # how surely the best of them meets
    acts: float  # how surely the action meets
    by_verb: bool  # a verb of the clause meets a word of the title
    other_action: bool  # the clause does something else
    strays: int  # things of the clause that the title lacks
    known_strays: int  # those of them that the thesaurus knows as another thing
    met: frozenset[int]  # the places of the clause's words that meet one of the title

    @property
    def shares(self) -> bool:
        return bool(self.covered or self.acts)


def likeness(plan: PlanWords, said: Said, step: int) -> Likeness:
    """Compare a clause with the title of a step."""
    whole = hit = things = acts = 0.0
    met: set[int] = set()
    spoken = len(said.words) + len(said.verbs)
    for word in plan.steps[step]:
        best = 0.0
        for place, one in enumerate(said.every):
            if meets := _meet(word.meant, one):
                is_detail = place >= spoken
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
    own = plan.actions(step)
    by_verb = any(len(said.words) <= place < spoken for place in met)
    other = bool(own and said.actions) and not (acts or by_verb or own & said.actions)
    strays = [
        said.words[place]
        for place in said.things
        # What a verb is done to says more than what stands before it: "made coffee", "CSR sent".
        if place not in met and (place >= said.clause.after or _is_known_thing(said.words[place]))
    ]
    known = sum(map(_is_known_thing, strays))
    return Likeness(
        covered=hit / whole if whole else acts / 2,
        things=things,
        acts=acts,
        by_verb=by_verb,
        other_action=other and said.clause.language not in UNSPACED,
        strays=0 if plan.takes_anything(step) else known if own & _NEW_THING else len(strays),
        known_strays=0 if plan.takes_anything(step) else known,
        met=frozenset(met),
    )


def _is_known_thing(word: frozenset[str]) -> bool:
    return any(name[0] == "=" for name in word)


def place_of(step: int, current: int | None, over: Sequence[bool]) -> str:
    """Where a step is, seen from the one in work; steps that are over are not counted."""
    if current is None:
        return "far"
    if step == current:
        return "here"
    between = over[current + 1 : step] if step > current else over[step + 1 : current]
    away = between.count(False) + 1
    if step > current:
        return "next" if away == 1 else "second next" if away == 2 else "far"
    return "one before" if away == 1 else "far before"


def compare(
    plan: PlanWords, said: Said, step: int, current: int | None, over: Sequence[bool]
) -> dict[str, float]:
    """The features of a clause and a step, for `report_weights`."""
    like = likeness(plan, said, step)
    clause = said.clause
    place = place_of(step, current, over)
    own = plan.actions(step)
    found: dict[str, float] = {
        f"place: {place}": 1.0,
        "things": like.covered,
        "a thing": like.things,
        "action": like.acts,
        "both": like.covered * like.acts,
    }
    if over[step]:
        found["is over"] = 1.0
    if like.acts == SAME_ROOT:
        found["same verb"] = 1.0
    if like.by_verb:
        found["by the verb"] = 1.0
    if like.other_action:
        found["another action"] = 1.0
        if place == "here":
            found["another action, here"] = 1.0
    if not like.shares:
        found["nothing shared"] = 1.0
        if place == "here":
            found["nothing shared, here"] = 1.0
            if clause.plain_done:
                found["nothing shared, here, plainly done"] = 1.0
    elif place == "here":
        found["shared, here"] = 1.0
        if like.things:
            found["a thing, here"] = like.things
    if like.acts and not like.things and len(plan.steps[step]) > 1:
        found["action alone"] = 1.0
    found["strays"] = min(3, like.strays) * (1.0 - like.covered)
    found["known strays"] = min(2, like.known_strays) * (1.0 - like.covered)
    if clause.numbered and not plan.is_numbered(step):
        found["one of several"] = 1.0
    if any(plan.is_plural(step, word) for word in clause.words):
        found["one of many"] = 1.0
    if like.shares and clause.verbs and not said.actions:
        found["an unknown verb"] = 1.0
    if clause.also and place == "here":
        found["the rest, here"] = 1.0
    if own & _VALUE_ACTIONS and clause.results:
        found["gives a value"] = 1.0
        if place == "here":
            found["gives a value, here"] = 1.0
    if own & _NEW_THING and not like.strays:
        found["names a new thing"] = 1.0
    return {name: value for name, value in found.items() if value}


def clause_features(clause: Clause, said: Said, is_first: bool, is_settled: bool) -> dict[str, float]:
    """What speaks against any step: how a clause says that something is done, if it does."""
    found = {f"act: {_how_finished(clause) if clause.act == 'finished' else clause.act}": 1.0}
    if clause.act == "none":
        for name in ("results", "copula", "now"):
            if getattr(clause, name):
                found[f"act: none, {name}"] = 1.0
    if clause.tail and not is_first:
        found["addition"] = 1.0
    if is_settled:
        found["another clause has a step"] = 1.0
    if not said.every:
        found["no words"] = 1.0
    if clause.verbs and clause.after and clause.has_object:
        found["somebody did something"] = 1.0
    found["words, logarithm"] = math.log1p(len(said.every))
    return found


def _how_finished(clause: Clause) -> str:
    if clause.located:
        return "by a place"
    if clause.plain_done:
        return "plainly done"
    return "by a verb" if clause.verbs else "by a state"
