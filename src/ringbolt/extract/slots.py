"""The parts of a sentence: choice and reason, what failed and why, name and value.

Found by the words that join them (`signals.speech.sentences.Tokens`), so that quoted words and code never
count as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.types import Value
from ..signals.speech.sentences import Tokens
from ..signals.text_layout import plain
from ..signals.words import COMMON_WORDS

MOST_CHOICE, MOST_REASON, MOST_INSTEAD = 300, 600, 200

Span = tuple[int, int]  # from which token to which


class Choice(Value, frozen=True, kw_only=True):
    """What was chosen, why, and what it was preferred to."""

    choice: str
    reason: str = ""
    instead: str = ""


_LEADS_REASON = frozenset("since because given as due".split())
_CLAUSE = frozenset(
    "it this that they the there he she nobody nothing we too otherwise its two both all our half no some"
    " most these those his her their a an only still you i".split()
)
_INTRODUCING = frozenset("because since as weil denn da porque".split())
_BECAUSE = frozenset("because since otherwise weil denn porque".split())
_DASHES = frozenset(("—", "–", "--"))
# Words after which no clause with its own subject follows, and verbs by which one is known.
_JOINING = frozenset(
    "and or but then not no which that who so with without for to as in on at by from rather instead if when"
    " where while before after until unless both also even just only keeping leaving using i we you let"
    " please".split()
)
_FINITE = frozenset(
    "is are was were has have had can could will would does do did need needs became makes takes costs"
    " understands knows".split()
)
_AIMS = frozenset(
    "avoid prevent keep allow ensure enable reduce preserve simplify match make minimise minimize support"
    " maintain"
    " distinguish handle reach get stay let save satisfy stop guarantee leave be limit protect".split()
)
_ING_AIMS = frozenset(
    "avoiding preventing enabling keeping matching allowing following ensuring making which".split()
)
_LABELS = frozenset(
    "decision decided chosen conclusion approach choice option verdict outcome resolution plan".split()
)
_LEAD_WORDS = frozenset(
    "so and then therefore but i we will am are have had also now just would let us finally deliberately ok"
    " okay yes yeah yep no nope nah actually hmm hm well fine me instead please , . ! - — – : agreed right"
    " sure alternatively ultimately hence thus consequently".split()
)
_CHOOSING = frozenset(("choose", "keep", "exclude", "use", "prefer", "work", "set", "abandon", "~decides"))
_TO_VERBS = frozenset("decided chose opted elected chosen agreed going resolved".split())
_ANNOUNCING = frozenset(
    "next up now then afterwards after that step steps is going to my the first finally need".split()
)
_COMMON = COMMON_WORDS | frozenset(
    "just also still either only again more most very too same other one ones thing things way ways approach"
    " idea attempt was were did done made make got get going go went gone".split()
)

_APPROVING = frozenset("good great fine ok okay perfect correct right nice sure yes agreed".split())
# A stated decision or dead end is a sentence or a paragraph; no one states one in more characters.
_MOST_READ = 4000


def split_choice(text: str) -> Choice:
    """Split a stated decision into its choice, its reason and what it was preferred to."""
    tokens = Tokens(text[:_MOST_READ])
    choice, reason, instead = _choice_spans(tokens)
    choice = _without_lead(tokens, choice)
    instead = instead if instead[1] else _instead(tokens, choice)
    return Choice(
        choice=_text(tokens, choice, MOST_CHOICE).rstrip(".:;,- "),
        reason=_reason(_text(tokens, reason, MOST_REASON)),
        instead=_text(tokens, instead, MOST_INSTEAD).rstrip(".:;, "),
    )


def split_dead_end(text: str, before: str = "") -> tuple[str, str]:
    """What does not work, and why; `before` is the sentence before, for one that only points to it."""
    tokens = Tokens(text[:_MOST_READ])
    what, why = _cut(tokens, (0, len(tokens.words)))
    if not why[1]:
        what, why = _contrast(tokens, what)
    what = _without_lead(tokens, what, _TRIED)
    if not has_content(tokens, what, _FAILED | _TRIED):
        subject = plain(before, MOST_CHOICE)
        return (subject if len(subject) > 8 else plain(text, MOST_CHOICE)), plain(text, MOST_REASON)
    return _text(tokens, what, MOST_CHOICE).rstrip(".:;,- "), _reason(_text(tokens, why, MOST_REASON))


def _reason(text: str) -> str:
    """A reason without the word that introduces it, which every view adds itself."""
    first, _, rest = text.partition(" ")
    return (rest if first.lower() in _INTRODUCING else text).rstrip(".;, ")


def without_lead(text: str) -> str:
    """An announcement without the words that announce it: "Next, I'll write the parser" is "write the
    parser"."""
    tokens = Tokens(text[:_MOST_READ])
    return _text(tokens, _without_lead(tokens, (0, len(tokens.words)), _ANNOUNCING), MOST_CHOICE).rstrip(" :")


def is_substantial(text: str) -> bool:
    """Whether a text names something, and does not only say what is done with it: "implement this"."""
    tokens = Tokens(text[:_MOST_READ])
    verbs = frozenset(tokens.words[mark.start] for mark in tokens.marks if mark.tense)
    return has_content(tokens, (0, len(tokens.words)), verbs | _APPROVING)


def has_content(tokens: Tokens, span: Span, but: frozenset[str] = frozenset()) -> bool:
    """Whether a span has a word that names something."""
    return any(
        (word[0].isalnum() or word[0] == "<") and len(word) > 1 and word not in _COMMON and word not in but
        for word in tokens.words[span[0] : span[1]]
    )


# --- choice and reason ------------------------------------------------------------------------------


def _choice_spans(tokens: Tokens) -> tuple[Span, Span, Span]:
    words = tokens.words
    whole, none = (0, len(words)), (0, 0)
    if len(words) < 3:
        return whole, none, none
    start = _after_label(words)
    first = words[start]
    comma = next((at for at in range(start + 2, len(words) - 1) if words[at] == ","), 0)
    if comma and first in _LEADS_REASON and words[start + 1] not in ("is", "well"):
        return (comma + 1, len(words)), (start, comma), none
    if comma and (first, words[start + 1]) in (("instead", "of"), ("rather", "than")):
        choice, reason = _cut(tokens, (comma + 1, len(words)))
        return choice, reason, (start + 2, comma)
    so = _conclusion(tokens, start)
    if so:
        before, after = (start, so), (so + 1, len(words))
        # "I use a clone, so the checkout stays as it is": what follows is the aim.
        aims = (
            words[so + 1] in ("the", "it", "this") and words[start] in ("i", "we") and _acts(tokens, *before)
        )
        return (before, after, none) if aims else (after, before, none)
    start = _after_opening(tokens, start)
    choice, reason = _cut(tokens, (start, len(words)))
    better = any(mark.name == "~better" and start <= mark.start < choice[1] for mark in tokens.marks)
    if better and reason[1] and words[choice[1] : choice[1] + 1] == [":"] and not _acts(tokens, *choice):
        # "Simplest thing that works: one global lock" chooses what stands after the colon.
        choice = start, len(words)
    return choice, reason, none


def _after_opening(tokens: Tokens, start: int) -> int:
    """Where the choice begins, if a comma ends an opening that chooses nothing: "Weighing it up, …"."""
    words = tokens.words
    comma = next((at for at in range(start + 1, min(start + 8, len(words) - 2)) if words[at] == ","), 0)
    if not comma or words[comma + 1] in ("not", "no", "and", "or", "but", "which", "because", "since"):
        return start
    opens = not _acts(tokens, start, comma) and _acts(tokens, comma + 1, min(comma + 7, len(words)))
    return comma + 1 if opens else start


def _acts(tokens: Tokens, begin: int, end: int) -> bool:
    """Whether a span has a verb or marker by which one chooses, keeps or does something."""
    return any(begin <= mark.start < end and mark.name in _CHOOSING for mark in tokens.marks)


def _after_label(words: Sequence[str]) -> int:
    """Where the text after a label such as "Decision:" begins."""
    for at in range(1, min(4, len(words) - 1)):
        if words[at] in (":", "—", "–") and _LABELS.intersection(words[:at]):
            at += 1
            while at < len(words) - 1 and words[at] == "*":
                at += 1
            return at
    return next((at for at, word in enumerate(words[:-1]) if word not in "*_"), 0)


def _conclusion(tokens: Tokens, start: int) -> int:
    """Where "so" joins a reason with what is done about it: "the pin is shared, so I poll"."""
    words = tokens.words
    for at in range(start + 3, len(words) - 1):
        if words[at] == "so" and words[at + 1] in ("i", "we", "let", "this", "the", "it"):
            return at
    return 0


def _cut(tokens: Tokens, span: Span) -> tuple[Span, Span]:
    """Cut a span where a reason begins, by the surest sign of one."""
    words = tokens.words
    begin, end = span
    for signs in (_explicit, _dashed, _coloned, _bracketed, _joined, _aimed):
        for at in range(begin + 1, end - 1):
            found = signs(tokens, at, begin, end)
            if found:
                return (begin, at - 1 if words[at - 1] == "," else at), found
    return span, (0, 0)


def _explicit(tokens: Tokens, at: int, begin: int, end: int) -> Span | None:
    words = tokens.words
    word, following = words[at], words[at + 1]
    if at - begin < 2:
        return None
    if word in _BECAUSE or (word, following) == ("due", "to"):
        return at, end
    if word == "so" and following in ("that", "nothing", "nobody") and words[at + 2 : at + 3] != ["is"]:
        return at, end
    clause = following in _CLAUSE and _has_predicate(tokens, at + 1, end)  # not "as the fallback"
    clause = clause or words[at - 1] == ","
    if word == "as" and clause and words[at - 1] not in ("such", "same", "well", "as", "twice"):
        return at, end
    if word == "given" and words[at - 1] == ",":
        return at, end
    return None


def _dashed(tokens: Tokens, at: int, begin: int, end: int) -> Span | None:
    word = tokens.words[at]
    spaced = word == "-" and tokens.text[tokens.starts[at] - 1 : tokens.ends[at] + 1] == " - "
    if word in _DASHES or spaced or word == ";":
        return at + 1, end
    return None


def _coloned(tokens: Tokens, at: int, begin: int, end: int) -> Span | None:
    if tokens.words[at] == ":" and at - begin >= 2 and end - at > 2:
        return at + 1, end
    return None


def _bracketed(tokens: Tokens, at: int, begin: int, end: int) -> Span | None:
    words = tokens.words
    if words[at] == "(" and at > begin + 1:
        close = next((place for place in range(end - 1, at, -1) if words[place] == ")"), 0)
        if close - at > 2 and close >= end - 2:
            return at + 1, close
    return None


def _joined(tokens: Tokens, at: int, begin: int, end: int) -> Span | None:
    """A second clause after a comma: "we stick with Redis, it is already there"."""
    words = tokens.words
    if words[at] != "," or end - at <= 2 or at - begin < 1:
        return None
    follows = words[at + 1] in _CLAUSE or words[at + 1] in ("too", "cheaper", "easier")
    return (at + 1, end) if (follows and end - at > 3) or _has_predicate(tokens, at + 1, end) else None


def _has_predicate(tokens: Tokens, at: int, end: int) -> bool:
    """Whether a clause with a subject and a verb of its own begins here: "inserts became slower"."""
    words = tokens.words
    if words[at] in _JOINING or not (words[at][0].isalnum() or words[at] == "<code>"):
        return False
    verbs = {mark.start for mark in tokens.marks if mark.tense in ("s", "past")}
    for place in range(at + 1, min(end, at + 7)):
        if words[place] in (",", ";", ":", "—", "–"):
            return False
        if words[place] in _FINITE or place in verbs:
            return True
    return False


def _aimed(tokens: Tokens, at: int, begin: int, end: int) -> Span | None:
    words = tokens.words
    if at - begin < 3:
        return None
    if words[at] == "to" and words[at + 1] in _AIMS and words[at - 1] not in _TO_VERBS:
        return at, end
    if words[at] in _ING_AIMS and words[at - 1] == ",":
        return at, end
    if words[at] == "for" and words[at + 1] in ("its", "their") and tokens.has("choose", "prefer"):
        return at + 1, end
    return None


def _without_lead(tokens: Tokens, span: Span, more: frozenset[str] = frozenset()) -> Span:
    """A span without the words before what is done: "so I decided to"."""
    words = tokens.words
    at, end = span
    while at < end - 1:
        word, following = words[at], words[at + 1]
        if (
            (word in _TO_VERBS and following == "to")
            or (word == "for" and following == "now")
            or (word == "instead" and following == ",")
        ):
            at += 2
        elif word == "like" and at and words[at - 1] == "would":
            at += 2 if following == "to" else 1
        elif (
            (
                word in _LEAD_WORDS
                and not (word == "have" and following == "to")
                and not (
                    word == "no"
                    and following not in (",", ".", "!", "-", "—", "i", "use", "keep", "remove", "it", "let")
                )
            )
            or word in more
            or word in "*_"
        ):
            at += 1
        else:
            break
    return at, end


def _instead(tokens: Tokens, span: Span) -> Span:
    """What a choice was preferred to."""
    words = tokens.words
    for at in range(span[0], span[1] - 1):
        pair = (words[at], words[at + 1])
        if pair in (("instead", "of"), ("rather", "than"), ("opposed", "to")):
            return at + 2, _end_of_phrase(words, at + 2, span[1])
        if words[at] == "over" and any(mark.name == "choose" and mark.start < at for mark in tokens.marks):
            return at + 1, _end_of_phrase(words, at + 1, span[1])
        if words[at] in ("not", "no") and words[at - 1] in (",", "and") and at > span[0] + 1:
            return at + 1, _end_of_phrase(words, at + 1, span[1])
        if words[at] in ("replaces", "beats", "statt", "anstatt"):
            return at + 1, _end_of_phrase(words, at + 1, span[1])
        if words[at] == "from" and tokens.has("choose", "work"):
            to = next((place for place in range(at + 2, min(at + 9, span[1] - 1)) if words[place] == "to"), 0)
            if to:
                return at + 1, to
    return 0, 0


def _end_of_phrase(words: Sequence[str], begin: int, end: int) -> int:
    return next((at for at in range(begin, end) if words[at] in (",", "(", ";", ":", "—", "–")), end)


# --- what does not work -----------------------------------------------------------------------------

_TRIED = frozenset(
    "tried try trying attempted attempt experimented with gave up on abandoned scrapped dropped undid".split()
)
_FAILED = frozenset(
    "reverted rolled back undone dead end work works worked help helped fix fixed solve fails failed no"
    " effect difference luck improvement avail success not does did fail either using use used impossible"
    " possible wrong out".split()
)


def _contrast(tokens: Tokens, span: Span) -> tuple[Span, Span]:
    """ "I tried X but it made no difference" is cut at "but"."""
    words = tokens.words
    for at in range(span[0] + 2, span[1] - 1):
        if words[at] == "but" or (
            words[at] == "," and words[at + 1] in ("which", "no", "still", "all", "so", "to")
        ):
            stop = at - 1 if words[at - 1] == "," else at
            return (span[0], stop), (at + 1, span[1])
    return span, (0, 0)


# --- name and value ---------------------------------------------------------------------------------

_DETERMINERS = frozenset("the a an our my your its this that each every new old current now per".split())
_JOINTS = frozenset("is are = : to at of on be called named in it".split())
_STOPS = frozenset("and or but , ; because since for from with by when if as . ( ) then".split())
# Verbs that state a value of their subject, and words between them and the value.
_STATING = frozenset("is are runs run listens starts sits lives opens lasts will has".split())
_LEADING = frozenset(
    "now be set limited fixed named called to at on in every each night day exactly about by the a called"
    " capped from".split()
)
_NAMING = ("~quantity", "~named")
_BOUNDS = frozenset("max maximum min minimum".split())
MOST_VALUES = 4


def stated_values(text: str) -> list[tuple[str, str]]:
    """The names and values that a sentence states: "the rate limit is 100 requests per minute"."""
    tokens = Tokens(text[:_MOST_READ])
    found: dict[str, str] = {}
    for name, value in (*_limits(tokens), *_values(tokens)):
        if name and value and len(found) < MOST_VALUES:
            found.setdefault(name, value)
    if not found and (pair := _of_the_subject(tokens)):
        return [pair]
    return list(found.items())


def _of_the_subject(tokens: Tokens) -> tuple[str, str] | None:
    """What a sentence says of its subject: "the runner label is linux-large"."""
    words = tokens.words
    begin = next((at for at, word in enumerate(words) if word not in _DETERMINERS and word[0].isalnum()), 0)
    if (to := _set_to(words)) is not None:
        return _raw(tokens, (to - 1, to)).lower(), _raw(tokens, (to + 1, _end_of_value(tokens, to + 1)))
    verb = next((at for at in range(begin + 1, min(begin + 5, len(words))) if words[at] in _STATING), 0)
    if not verb or any(word in _STOPS or word in _COMMON for word in words[begin:verb]):
        return None
    at = next(
        (place for place in range(verb + 1, min(verb + 6, len(words))) if words[place] not in _LEADING), 0
    )
    if not at or not (_is_value(words, at) or "-" in words[at][1:-1] or words[at - 1] in ("named", "called")):
        return None
    name = plain(tokens.text[tokens.starts[begin] : tokens.ends[verb - 1]], 60).lower()
    return name, _raw(tokens, (at, _end_of_value(tokens, at)))


def _set_to(words: Sequence[str]) -> int | None:
    """Where "to" stands in "set POOL_SIZE to 12"."""
    for at in range(2, len(words) - 1):
        if words[at] == "to" and "set" in words[max(0, at - 3) : at - 1] and _is_value(words, at + 1):
            return at
    return None


def _values(tokens: Tokens) -> Iterator[tuple[str, str]]:
    words = tokens.words
    names = [mark for mark in tokens.marks if mark.name in _NAMING]
    used = 0
    for at in range(1, len(words)):
        if at < used or not _is_value(words, at):
            continue
        # The nearest name before it, with at most a few words between: "is now", "should be", "of
        # artifacts:".
        mark = max((one for one in names if at - 5 < one.end <= at), key=lambda one: one.end, default=None)
        if mark is None or mark.start < used or words[mark.start] in _BOUNDS:
            continue
        between = words[mark.end : at]
        if (
            _STOPS.intersection(between)
            or "not" in between
            or (between and not _JOINTS.intersection(between))
        ):
            continue
        used = _end_of_value(tokens, at)
        yield _name(tokens, mark.start, mark.end), _raw(tokens, (at, used))


def _limits(tokens: Tokens) -> Iterator[tuple[str, str]]:
    """ "max 3 retries" and "at most 1,200 words": the unit is part of the name."""
    words = tokens.words
    for at in range(len(words) - 1):
        size = 1 if words[at] in _BOUNDS else 0
        size = 2 if (words[at], words[at + 1]) in (("at", "most"), ("at", "least"), ("up", "to")) else size
        if size and at + size < len(words) - 1 and words[at + size][0].isdecimal():
            unit = words[at + size + 1]
            if unit[0].isalpha():
                side = "min" if words[at + size - 1] in ("min", "minimum", "least") else "max"
                yield f"{side} {unit}", words[at + size].rstrip(".,")


def _is_value(words: Sequence[str], at: int) -> bool:
    """Whether a word is a number, code, or made like an identifier, a host name or a path."""
    word = words[at]
    if word == "<code>" or (word[0] in "#~" and len(word) > 1):
        return True
    return any(letter.isdecimal() for letter in word) or any(sign in word[1:-1] for sign in "_./")


def _end_of_value(tokens: Tokens, at: int) -> int:
    """Where a value ends: a number takes its unit with it."""
    units = {mark.start for mark in tokens.marks if mark.name == "~unit"}
    end = at + 1
    if tokens.words[at][0].isdecimal():
        if end in units:
            end += 1
        if end < len(tokens.words) - 1 and tokens.words[end] == "per":
            end += 2
    return end


def _name(tokens: Tokens, start: int, end: int) -> str:
    """The name with the words that qualify it: "the dev server port"."""
    words = tokens.words
    begin = start
    while begin > 0 and start - begin < 3:
        word = words[begin - 1]
        if (
            not word[0].isalpha()
            or word in _DETERMINERS
            or word in _JOINTS
            or word in _STOPS
            or word in _COMMON
        ):
            break
        if any(mark.start == begin - 1 and mark.tense for mark in tokens.marks):
            break
        begin -= 1
    stop = end
    if stop < len(words) - 2 and words[stop] == "of" and words[stop + 1][0].isalpha():
        stop = min(len(words), stop + 2)
    return plain(tokens.text[tokens.starts[begin] : tokens.ends[stop - 1]], 60).lower()


def _raw(tokens: Tokens, span: Span) -> str:
    return plain(tokens.text[tokens.starts[span[0]] : tokens.ends[span[1] - 1]], 120).strip("\"'.,:;")


def _text(tokens: Tokens, span: Span, most: int) -> str:
    begin, end = span
    if begin >= end:
        return ""
    last = len(tokens.text) if end >= len(tokens.words) else tokens.ends[end - 1]
    return plain(tokens.text[tokens.starts[begin] : last], most)
