# ruff: noqa: E501 - tables and patterns
"""The evidence for an answer: the sentences of the newest events, and of older ones that a search finds, that
are about the subject of a question."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from ..model.lazy_regex import lazy_regex
from ..model.types import Channel, is_dict, is_list
from ..signals.calls.tools import only_looked
from ..signals.text_layout import clauses
from ..store.tx import Row, Tx
from . import queries
from .question_lexicon import folded
from .question_times import CJK_WEEKDAYS, MONTH, WEEKDAYS
from .topic_match import FITS, Subject

WINDOW = 300  # newest events that are read for a question with a subject
_DATA = 3000  # characters of the data of an event
_LINES = 60  # lines of an output
_OUTPUT_FITS = 0.75
_SPOKEN = 0.95  # what the own words of an event are worth at least
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

    def __init__(self, row: Row, about: str = "") -> None:
        self.seq: int = row["seq"]
        self.kind: str = row["type"]
        self.at: str = row["at"]
        self.text: str = f"{about}: {row['text']}" if about and row["text"] else row["text"] or ""
        self.channel: Channel = row["channel"]
        self.status: str | None = row["status"]
        self.item: str | None = row["item_id"]
        self.agent: str = row["agent"] or ""
        self._data: str = row["data"] or "{}"
        self._sets: str = row["sets"] or ""

    @cached_property
    def lower(self) -> str:
        """All that the event has, in lower case, for a first look."""
        return f"{self.text} {self._data} {self._sets}".lower()

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


def _in_order(rows: list[Row]) -> tuple[Evidence, ...]:
    """Rows as evidence; an outcome comes with the action that led to it."""
    texts = {row["seq"]: row["text"] or "" for row in rows}
    found: list[Evidence] = []
    for row in sorted(rows, key=lambda row: row["seq"]):
        about = texts.get(row["ref"] or 0, "") if row["type"] == "outcome" else ""
        found.append(Evidence(row, about))
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
            if one.item not in of_steps and not subject.may_fit(text.lower()):
                continue
            sort = 1.0 if wanted is None else wanted(text)
            if not sort:
                continue
            score = subject.coverage(text)
            if share < _SPOKEN:  # an output is about what was run, and has words of all sorts
                score = min(subject.coverage(f"{one.text}. {text}"), 0.9) if score else 0.0
                score = score if score >= _OUTPUT_FITS else 0.0
            elif steps and score < least and (title := steps.get(one.item or "")):
                of_step = subject.coverage(f"{title}. {text}")
                score = 0.95 * of_step if score >= _OWN else 0.7 * of_step if of_step >= 0.9 else 0.0
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


def _whole(pieces: Iterable[str]) -> Iterable[str]:
    """Clauses; one that was cut after an abbreviation is put together again."""
    before = ""
    for piece in pieces:
        before = f"{before} {piece}".lstrip()
        if not _SHORTENED.search(before):
            yield before
            before = ""
    if before:
        yield before


_PRONOUN = lazy_regex(
    r"(?i)(?:it|they|he|she|this|that|these|es|er|sie|das|il|elle|ils|ce|ello|esto|ele|ela|isso|lo|zij|het)\b|[它他她这]"
)


def _pieces(one: Evidence) -> Iterable[tuple[str, float]]:
    """The sentences of an event with what each is worth: its own words more than the output of a tool."""
    pieces = [piece for piece in _whole(clauses(one.text[:3000])) if not piece.rstrip(" \"'").endswith("?")]
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


# --- sorts of sentences -----------------------------------------------------------------------------

_NUMBER = lazy_regex(
    r"(?i)\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|half|zwei|drei|vier"
    r"|funf|sechs|sieben|acht|zehn|deux|trois|quatre|cinq|dos|tres|cuatro|cinco)\b|[一二三四五六七八九十百千万]"
)
_ROLE = lazy_regex(
    r"(?i)\b(?:team|board|compliance|committee|manager|managers|professor|customer|client|owner|lawyer|teacher|boss|user"
    r"|department|support|security|legal|vendor|supplier|agency|council|landlord|caretaker)\b"
    # A noun like "electrician" is somebody if it does something or something is asked of it.
    r"|\b(?:the|our|my|an?) (?=[a-z]{3,}(?:er|or|ist|ian|lord|man|woman) (?:must|has|have|will|is|was|may|can|[a-z]{3,}(?:s|ed))\b)[a-z]+"
    r"|\b(?:by|ask|asks|asked|from|with) (?:the |our |my |an? )?[a-z]{3,}(?:er|or|ist|ian|lord|man|woman)\b"
    r"|[由被]\S{1,4}|教授|团队|さん"
)
_NO_ROLE = frozenset(
    "after before over under never ever other another either neither whether order number server paper letter water power"
    " error error for or later earlier newer older bigger smaller faster slower longer shorter higher lower better together"
    " rather however header folder pointer buffer counter parameter computer printer router docker container cluster filter"
    " layer timer trigger wrapper compiler parser helper handler loader reader readers floor door color colour factor vector"
    " monitor sensor editor cursor executor exist list consist assist human than german important relevant constant instant"
    " want restaurant plant warrant grant significant different summer winter october september november december cover"
    " offer answer enter consider remember deliver recover transfer prefer refer register chapter quarter matter further"
    " corner center centre border master slider voucher voucher newsletter onboarding wiper river dinner per her dryer".split()
)
_CAPITAL = lazy_regex(r"(?<![\w/.@#_-])([A-ZÀ-Ý][a-zà-ÿ]{1,}(?:[ -][A-ZÀ-Ý][a-zà-ÿ]+)*)(?![\w/_]|\.\w)")
_NOT_NAMES = frozenset(
    "the a an i we you he she it they this that these those there here our my your his her its their please do don never no"
    " not yes ok all any each some if when while after before since until for from to in on at by with without and or but"
    " as so also now then today yesterday tomorrow monday tuesday wednesday thursday friday saturday sunday january february"
    " march april may june july august september october november december use used using keep leave let make take write"
    " run add fix update edit read check test build copy move send open close start stop get set put show see look find"
    " still just only both more most last next first second every nobody everybody somebody one two three".split()
)  # fmt: skip
_AFTER_NAME = lazy_regex(r"\s+(?:has|have|is|was|will|had|and|wants?|said|says|[a-z]+(?:s|ed)|[A-Z][a-z]+)\b")
_DATED = lazy_regex(
    rf"(?i)\b\d{{1,2}}:\d\d\b|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}\.? (?:de |di )?{MONTH}\b|\b{MONTH} \d{{1,2}}\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    rf"|\b(?:{'|'.join(name for name in WEEKDAYS.split('|') if len(name) > 4)})\b|{CJK_WEEKDAYS}|月\d{1, 2}日|(?<!\d)\d{1, 2}月|明天|明日"
    r"|\b(?:tomorrow|tonight|today|next week|this week|morgen|demain|manana|domani|amanha)\b"
    r"|\b(?:within|in|nach|innerhalb|dans|en|dentro de|entro|binnen) (?:the next )?\d+ ?(?:h|hours?|days?|weeks?|stunden|tagen?"
    r"|wochen|heures|jours|horas|dias|ore|giorni|uur|dagen)\b"
    r"|\b(?:between|at|before|after|until) \d{1,2}\b"
)
# A place: a preposition before a name or a noun, a path, or an address.
_PLACE = lazy_regex(
    r"(?i)\b(?:in|at|on|under|behind|inside|below|next to|near|with|from|im|am|auf|unter|bei|beim|dans|sur|sous|chez|en|sobre"
    r"|bajo|no|na|em|nel|nella|sul|presso|op|onder|bij)\s+\w|https?://|(?<![\w/])[~.]?/\w|\w/\w+\.\w|[在里上中下]|に|で"
)


# Measures: their names | other words that ask for them | the units that an answer must have.
_MEASURES = """
duration | how long, wie lange, combien de temps, cuanto tiempo, quanto tempo, hoe lang, 多久, どのくらい | ms s sec seconds? min minutes? h hrs? hours? days? weeks? months? years? long pages? words? lines? m cm km characters? seiten sekunden minuten stunden? tage?n? wochen? monate?n? jahre?n? secondes? heures? jours? semaines? mois ans segundos? minutos? horas? dias? semanas? meses anos? minuti ore giorni settimane mesi anni uur uren dagen weken jaar 分钟 小时 天 年
size area | how big, how large, disk, space, storage, memory, grosse, gross, taille, tamano, tamanho, 多大 | [kmgtp]i?b bytes? m² km m cm square sq met(?:er|re)s? feet hectares? people seats? rooms? pages? rows? lines? connections? 连接
price cost costs fee rent salary | expensive, spend, spent, budget, pay, kostet, kosten, preis, coute, prix, cuesta, precio, custa, costa, money, worth, euros, dollars, 多少钱, 费用, いくら | € \\$ £ ¥ euros? eur dollars? usd chf pounds? cents? 元 欧元 円 %
weight | how heavy, wie schwer, weigh, weighs, 多重 | kg g t tons? tonnes? lbs? pounds? kilos? kilograms? 公斤 吨
temperature | how hot, how cold, how warm, wie warm, wie kalt | ° degrees? grad celsius
bandwidth speed throughput | how fast, wie schnell | [kmg]?bit/s [kmg]b/s [kmg]bps mbit gbit km/h rps req requests?
height width length depth | how high, how tall, how wide, how deep, how thick | m cm mm km met(?:er|re)s? feet ft inch(?:es)?
"""
_FEW = "two|three|four|five|six|seven|eight|nine|ten|twelve|zwei|drei|vier|funf|deux|trois|quatre|dos|tres|due|tre|twee|drie|[一二三四五六七八九十百]+"


@cache
def _measures() -> tuple[tuple[frozenset[str], re.Pattern[str], re.Pattern[str]], ...]:
    """For each measure its names, what asks for it, and an amount of it."""
    found: list[tuple[frozenset[str], re.Pattern[str], re.Pattern[str]]] = []
    for line in _MEASURES.strip().splitlines():
        names, words, units = (part.strip() for part in line.split(" | "))
        asked = [*names.split(), *words.split(", ")]
        spoken = "|".join(word for word in asked if word.isascii())
        written = "|".join(word for word in asked if not word.isascii()) or "(?!)"
        unit = "|".join(units.split())
        amount = (
            rf"(?:\d[\d.,]*|\b(?:{_FEW})) ?(?:{unit})(?![a-z])|[€$£¥] ?\d"
            if "€" in unit
            else (rf"(?:\d[\d.,]*|\b(?:{_FEW})) ?(?:{unit})(?![a-z])|\d[\d.,]* ?\w+ (?:{unit})(?![a-z])")
        )
        found.append(
            (frozenset(names.split()), re.compile(rf"\b(?:{spoken})\b|{written}"), re.compile(amount))
        )
    return tuple(found)


def measures(word: str) -> bool:
    """Whether a word is the name of a measure, which its unit says too."""
    return any(word.lower() in names for names, _, _ in _measures())


_COUNTED = lazy_regex(
    r"(?i)(?<![\w.,:-])\d[\d.,]*\s+(?=(?:(?:[a-z]+\s+)?of\s+(?:the\s+)?)?((?:[\w-]+\s+){0,2}[\w-]+))"
)
_HOW_MANY = lazy_regex(
    r"(?i)\bhow many\b|\bwie viele\b|\bcombien de\b|\bcu[aá]nt[oa]s\b|\bquant[oiea]s?\b|\bhoeveel\b"
)
_OF_ALL = lazy_regex(r"\d\s*(?:of|von|sur|de|di|van|/)\s*\d")


def has_quantity(subject: Subject, question: str, total: bool = False) -> Callable[[str], float]:
    """How well a sentence has a number that is not a part of the subject, with a unit that fits the question:
    better if it counts the subject itself ("40 minutes of logs"), or all of it if the total is asked for."""
    own = [word.lower() for word in subject.words if re.search(r"\d", word)]
    strict = len(subject.words) < 2 and _HOW_MANY.search(question) is not None
    asked = folded(question)
    units = next((amount for _, words, amount in _measures() if words.search(asked)), None)

    def wanted(text: str) -> float:
        plain = folded(text)
        for word in own:
            plain = plain.replace(word, " ")
        if not (units or _NUMBER).search(plain):
            return 0.0
        if units is None:
            plain = _DATED.sub(" ", plain)  # a date is not a quantity
        if not (units or _NUMBER).search(plain):
            return 0.0
        counts = any(len(subject.missing(found)) < len(subject.words) for found in _COUNTED.findall(plain))
        if strict and not counts:
            return 0.0
        return 1.0 + 0.2 * counts + 0.2 * (total and _OF_ALL.search(plain) is not None)

    return wanted


def has_time(text: str) -> bool:
    """Whether a sentence names a time."""
    return _DATED.search(folded(text)) is not None


_REASON = lazy_regex(
    r"(?i)\b(?:because|since|so that|due to|caused? by|thanks to|therefore|otherwise|needs?|demands?|requires?|only|too|cannot|can't"
    r"|weil|denn|damit|sonst|parce|afin|porque|pues|para que|perche|poiche|omdat|zodat)\b|因为|由于|为了|ので|ため|から"
)


def has_reason(text: str) -> bool:
    """Whether a sentence gives a reason."""
    return _REASON.search(text) is not None


def has_place(text: str) -> bool:
    """Whether a sentence names a place."""
    return _PLACE.search(text) is not None


def has_person(subject: Subject) -> Callable[[str], bool]:
    """Whether a sentence names a person or a body that is not the subject itself."""
    own = {word.lower() for word in subject.words}

    def wanted(text: str) -> bool:
        roles = {found[0].lower().split()[-1] for found in _ROLE.finditer(text)} - _NO_ROLE - own
        return bool(roles) or any(name.lower() not in own for name in names_in(text))

    return wanted


def names_in(text: str) -> list[str]:
    """The capitalised words of a text that look like names of people."""
    found: list[str] = []
    for match in _CAPITAL.finditer(text):
        name = match[1]
        first = name.split()[0].lower()
        start = match.start() == 0 or text[: match.start()].rstrip()[-1:] in ".!?:;\"'"
        alone = " " not in name
        if first in _NOT_NAMES or (start and alone and not _AFTER_NAME.match(text, match.end())):
            continue
        found.append(name)
    return found
