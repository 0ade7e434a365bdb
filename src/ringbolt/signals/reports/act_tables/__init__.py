"""How reports say how work stands, one table per language: done, begun, failed, partly, planned, denied, …

A table holds words and phrases by what they do in a clause; `signals.reports.clauses` reads clauses with it.
The tables know no trade: what was done to what is in `signals.reports.trade_words`.
"""

from __future__ import annotations

from ....model.types import Value

Phrases = str  # phrases separated by commas, each of one or more words


class ActTable(Value, frozen=True, kw_only=True):
    """The words of one language. A phrase that is listed under several marks has the first in this order."""

    language: str
    # Words by which the language is recognised, and that say nothing about a step.
    common: str
    done: Phrases  # it is finished, whatever it is
    state: Phrases = ""  # how a finished thing stands: "is up", "is green"
    all: Phrases = ""  # the whole plan, before or after a word of `done`
    begun: Phrases = ""  # begins now, or goes on
    going_on: Phrases = ""  # goes on even though a past form follows: "is being built"
    failed: Phrases = ""
    partly: Phrases = ""
    also: Phrases = ""  # says the rest of something begun before: "the other two as well"
    still: Phrases = ""  # goes on, in a clause that says nothing else: "is still at the printer's"
    planned: Phrases = ""  # is to come
    deferred: Phrases = ""  # a later time; turns what begins into what is planned
    condition: Phrases = ""  # begins a clause about what is not yet so
    hypothesis: Phrases = ""  # those of them after which the main clause is not so yet either
    guessed: Phrases = ""
    negation: Phrases = ""
    harmless: Phrases = ""  # phrases with a negation that deny nothing: "no errors"
    unfinished: Phrases = ""  # denies without a negation: "still open"
    reopened: Phrases = ""
    skipped: Phrases = ""
    says: Phrases = ""  # verbs of saying, in the forms that others take
    others: Phrases = ""  # who else speaks: "she", "the log", "according to"
    self_words: Phrases = ""  # the speaker: "I", "we"
    asks: Phrases = ""  # how a question begins
    repairs: Phrases = ""  # verbs whose object is a failure: "fixed the error"
    steps: Phrases = ""  # nouns for a step
    ordinals: Phrases = ""  # first, second, …, in order
    last: Phrases = ""
    joins: Phrases = ""  # and, then
    contrasts: Phrases = ""  # but
    into: Phrases = ""  # prepositions, after which a detail follows
    numbers: Phrases = ""  # one, two, …, in order
    of: Phrases = ""  # between a part and a whole: "12 of 40"
    # Forms: endings and beginnings of past forms and of forms in progress, and those with irregular bases.
    past_endings: str = ""
    weak_past_endings: str = ""  # only of words that the thesaurus knows as actions
    past_beginnings: str = ""
    past_words: str = ""  # "bought:buy …": irregular past forms with their base
    not_past: str = ""  # words that only look like it: "need"
    maybe_past: str = ""  # past only at the start of a clause or after a helping verb: "set", "left"
    helpers: str = ""  # helping verbs: "was", "have"
    shortest_past: int = 4  # letters
    progress_endings: str = ""
    not_progress: str = ""  # words that only look like it: "morning"
    endings: str = ""  # cut off before two words are compared, longest first
    verb_last: bool = False  # titles end with their verb: "Fahrkarten kaufen"


def table(language: str) -> ActTable:
    """The table of a language."""
    return _TABLES[language]


# At the end, since the tables are built with the class above.
from . import de, en, es, fr, it, ja, nl, pt, zh  # noqa: E402

_TABLES: dict[str, ActTable] = {one.TABLE.language: one.TABLE for one in (en, de, fr, es, pt, it, nl, zh, ja)}
LANGUAGES = tuple(_TABLES)
