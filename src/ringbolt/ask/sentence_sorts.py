# ruff: noqa: E501 - tables and patterns
"""What sort of answer a sentence can be: whether it has a number with a fitting unit, a time, a place, a person or a
reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from ..model.lazy_regex import lazy_regex
from .question_lexicon import folded
from .question_times import CJK_WEEKDAYS, MONTH, WEEKDAYS
from .topic_match import Subject

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
    rf"|\b(?:{'|'.join(name for name in WEEKDAYS.split('|') if len(name) > 4)})\b|{CJK_WEEKDAYS}|(?<!\d)\d{{1,2}}月|明天|明日"
    r"|\b(?:tomorrow|tonight|today|next week|this week|morgen|demain|manana|domani|amanha)\b"
    r"|\b(?:within|in|nach|innerhalb|dans|en|dentro de|entro|binnen) (?:the next )?\d+ ?(?:h|hours?|days?|weeks?|stunden|tagen?"
    r"|wochen|heures|jours|horas|dias|ore|giorni|uur|dagen)\b"
    r"|\b(?:between|at|before|after|until) \d{1,2}(?::\d\d)?\b"
)
# A place: a preposition before a name or a noun, a path, or an address.
_PLACE = lazy_regex(
    r"(?i)\b(?:in|at|on|under|behind|inside|below|next to|near|with|from|im|am|auf|unter|bei|beim|dans|sur|sous|chez|en|sobre"
    r"|bajo|no|na|em|nel|nella|sul|presso|op|onder|bij)\s+\w|https?://|(?<![\w/])[~.]?/\w|\w/\w+\.\w|[在里上中下]|に|で"
)


# Measures: their names | other words that ask for them | the units that an answer must have.
_MEASURES = """
duration | how long, wie lange, combien de temps, cuanto tiempo, quanto tempo, hoe lang, 多久, どのくらい | ms s sec seconds? min minutes? h hrs? hours? days? weeks? months? years? long pages? words? lines? m cm km characters? seiten sekunden minuten stunden? tage?n? wochen? monate?n? jahre?n? secondes? heures? jours? semaines? mois ans segundos? minutos? horas? dias? semanas? meses anos? minuti ore giorni settimane mesi anni uur uren dagen weken jaar 分钟 小时 天 年
size area | how big, how large, disk, space, storage, memory, grosse, gross, taille, tamano, tamanho, 多大 | [kmgtp]i?b bytes? m² km m cm square sq met(?:er|re)s? feet hectares? people seats? rooms? pages? rows? lines? connections? euros? eur dollars? usd % 连接
price cost costs | fee, rent, salary, expensive, spend, spent, budget, pay, kostet, kosten, kost, preis, coute, prix, cuesta, precio, custa, costa, money, worth, euros, dollars, 多少钱, 费用, いくら | € \\$ £ ¥ euros? eur dollars? usd chf pounds? cents? 元 欧元 円 %
weight | how heavy, wie schwer, weigh, weighs, 多重 | kg g t tons? tonnes? lbs? pounds? kilos? kilograms? 公斤 吨
temperature | how hot, how cold, how warm, wie warm, wie kalt | ° degrees? grad celsius
bandwidth speed throughput | how fast, wie schnell | [kmg]?bit/s [kmg]b/s [kmg]bps mbit gbit km/h rps req requests? [kmg]?hz fps ms s sec seconds? min minutes?
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
    """Whether a word is the name of a measure or asks for it, which its unit says too."""
    plain = folded(word)
    return any(plain in names or words.fullmatch(plain) for names, words, _ in _measures())


_COUNTED = lazy_regex(
    r"(?i)(?<![\w.,:-])\d[\d.,]*\s+(?=(?:(?:[a-z]+\s+)?of\s+(?:the\s+)?)?((?:[\w-]+\s+){0,2}[\w-]+))"
)
_HOW_MANY = lazy_regex(
    r"(?i)\bhow many\b|\bnumber of\b|\bcount of\b|\banzahl\b|\bnombre de\b|\bnumero de\b|\bwie viele\b|\bcombien de\b|\bcu[aá]nt[oa]s\b|\bquant[oiea]s?\b|\bhoeveel\b"
)
_LABELLED = lazy_regex(
    r"(?i)\b(?:box|step|room|hall|page|chapter|version|ticket|issue|row|column|phase|batch|group|floor|platform|gate|coach|case|item"
    r"|kapitel|seite|schritt|raum|chapitre|salle|hoofdstuk|stap) #?\d+\b(?! of\b)"
)
_LEFT = lazy_regex(
    r"(?i)\b(?:remain\w*|left|missing|open|outstanding|still|verbleib\w*|ubrig|offen\w*|restant\w*|restan\w*|faltan?)\b|剩|残り"
)
_OF_ALL = lazy_regex(r"\d\s*(?:of|von|sur|de|di|van|/)\s*\d")


def has_quantity(subject: Subject, question: str, total: bool = False) -> Callable[[str], float]:
    """How well a sentence has a number that is not a part of the subject, with a unit that fits the question:
    better if it counts the subject itself ("40 minutes of logs"), or all of it if the total is asked for."""
    own = [word.lower() for word in subject.words if re.search(r"\d", word)]
    how_many = _HOW_MANY.search(question) is not None
    strict = len(subject.words) < 2 and how_many
    asked = folded(question)
    thing: Subject | None = None
    if (found := _HOW_MANY.search(asked)) is not None:  # "how many customers keep the money" counts customers
        after = re.findall(r"\w+", asked[found.end() :])[:2]
        asked = " ".join(after)
        thing = Subject(after, language=subject.language)
    units = next((amount for _, words, amount in _measures() if words.search(asked)), None)

    def wanted(text: str) -> float:
        plain = folded(text)
        for word in own:
            plain = plain.replace(word, " ")
        if not (units or _NUMBER).search(plain):
            return 0.0
        if units is None:
            plain = _LABELLED.sub(" ", _DATED.sub(" ", plain))  # a date or "box 17" is not a quantity
        if not (units or _NUMBER).search(plain):
            return 0.0
        counted = _COUNTED.findall(plain)
        counts = any(len(subject.missing(found)) < len(subject.words) for found in counted)
        if strict and not counts:
            return 0.0
        if how_many and _LEFT.search(plain) and not _OF_ALL.search(plain) and not _LEFT.search(asked):
            return 0.0  # what is left is not what there is, or what was done
        counts = counts + 0.5 * (thing is not None and any(thing.coverage(found) for found in counted))
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
        if first in _NOT_NAMES and not alone:  # "Only Bram has the rights"
            name, start, alone = name.split(" ", 1)[1], False, " " not in name.split(" ", 1)[1]
            first = name.split()[0].lower()
        if first in _NOT_NAMES or (start and alone and not _AFTER_NAME.match(text, match.end())):
            continue
        found.append(name)
    return found
