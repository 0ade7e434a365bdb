# ruff: noqa: E501, ISC004 - tables and patterns
"""Times in questions: yesterday, before lunch, since 14:00, on Monday, between 9 and 11, in nine languages.

`read_span` finds the words; `Span.limits` turns them into two moments, in the time zone of the asker.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from .question_lexicon import folded

MORNING, NOON, EVENING = (0, 12 * 60), (12 * 60, 18 * 60), (18 * 60, 24 * 60)
LUNCH = 12 * 60 + 30
# Minutes of the day, by its parts.
_PARTS = {"morning": MORNING, "afternoon": NOON, "evening": EVENING, "before lunch": (0, LUNCH),
          "after lunch": (LUNCH, 24 * 60)}  # fmt: skip

_TODAY = r"today|heute|aujourd'hui|hoy|hoje|oggi|vandaag|今天|今日"
_YESTERDAY = r"yesterday|last night|gestern|\bhier\b|\bayer\b|ontem|\bieri\b|gisteren|昨天|昨日"
_DAY_BEFORE = r"day before yesterday|vorgestern|avant-hier|anteayer|anteontem|altro ieri|ieri l'altro|eergisteren|前天|一昨日"
_PART_WORDS = (
    ("before lunch", r"before (?:lunch|noon|midday)|vor dem mittag(?:essen)?|avant (?:le dejeuner|midi)"
     r"|antes (?:del almuerzo|de comer|do almoco)|prima di pranzo|voor de (?:lunch|middag)|午饭前|中午前|昼食前|昼前"),
    ("after lunch", r"after (?:lunch|noon|midday)|nach dem mittag(?:essen)?|apres (?:le dejeuner|midi)"
     r"|despues (?:del almuerzo|de comer)|depois do almoco|dopo pranzo|na de (?:lunch|middag)|午饭后|昼食後"),
    ("morning", r"(?:this |in the |the |yesterday )?morning|(?:heute |gestern )(?:morgen|fruh)|(?:am |heute )?vormittag"
     r"|(?:ce |le |du )?matin|(?:esta|por la|de la) manana|(?:esta|de|da) manha|(?:sta|questa )mattina"
     r"|(?:van|ge|de )?(?:morgen|ochtend)\b|早上|上午|今朝|午前|朝"),
    ("afternoon", r"(?:this |in the |the )?afternoon|nachmittags?|apres-midi|(?:esta|por la|de la) tarde|(?:esta|de|da|a) tarde"
     r"|pomeriggio|(?:van)?middag|下午|午後"),
    ("evening", r"(?:this |in the |the )?evening|tonight|abends?|(?:ce |le )?soir|esta noche|por la noche|a noite"
     r"|(?:sta)?sera|(?:van)?avond|晚上|夕方|今晚"),
)  # fmt: skip
_WEEKDAYS = (
    "monday mon montag lundi lunes segunda-feira segunda lunedi maandag 星期一 周一 月曜日 月曜",
    "tuesday tue dienstag mardi martes terca-feira terca martedi dinsdag 星期二 周二 火曜日 火曜",
    "wednesday wed mittwoch mercredi miercoles quarta-feira quarta mercoledi woensdag 星期三 周三 水曜日 水曜",
    "thursday thu donnerstag jeudi jueves quinta-feira quinta giovedi donderdag 星期四 周四 木曜日 木曜",
    "friday fri freitag vendredi viernes sexta-feira sexta venerdi vrijdag 星期五 周五 金曜日 金曜",
    "saturday sat samstag samedi sabado sabato zaterdag 星期六 周六 土曜日 土曜",
    "sunday sun sonntag dimanche domingo domenica zondag 星期日 星期天 周日 日曜日 日曜",
)
_DAY_OF = {word: day for day, words in enumerate(_WEEKDAYS) for word in words.split()}
WEEKDAYS = "|".join(sorted((word for word in _DAY_OF if word.isascii()), key=len, reverse=True))
CJK_WEEKDAYS = "|".join(sorted((word for word in _DAY_OF if not word.isascii()), key=len, reverse=True))
_WEEKDAY = lazy_regex(
    rf"(?:^\W*|\b(?:on|since|last|from|until|till|before|after|do|did|done|happened|this|am|seit|vom|letzten|le|depuis|el|desde|na"
    rf"|di|da|op|sinds|il|no|of|fait|fizemos|hicimos|fatto|gedaan|passe)\s+)({WEEKDAYS})\b|({CJK_WEEKDAYS})"
)
_MONTHS = (
    "jan ene gen 1月", "feb fev fevr", "mar maerz marz mars mrt", "apr avr abr", "may mai mayo maio mag mei",
    "jun juin giu", "jul juil lug", "aug aou ago agosto", "sep set", "oct okt out ott", "nov", "dec dez dic",
)  # fmt: skip
_MONTH_OF = {word: number for number, words in enumerate(_MONTHS, 1) for word in words.split()}
MONTH = (
    r"(jan(?:uary|uar|vier|eiro)?|ene(?:ro)?|gen(?:naio)?|feb(?:ruary|ruar|raio|rero|braio|ruari)?|fev(?:rier|ereiro)?"
    r"|mar(?:ch|s|zo|co)?|marz|maart|apr(?:il|ile)?|avr(?:il)?|abr(?:il)?|may|mai|mayo|maio|maggio|mei|june?|juni|juin"
    r"|junio|junho|giugno|july?|juli|juillet|julio|julho|luglio|aug(?:ust|ustus)?|aout|agosto|sep(?:tember|tembre|tiembre)?"
    r"|setembro|settembre|oct(?:ober|obre|ubre)?|okt(?:ober)?|outubro|ottobre|nov(?:ember|embre|iembre|embro)?"
    r"|dec(?:ember|embre)?|dez(?:ember|embro)?|dic(?:iembre|embre)?)"
)
_DATE = lazy_regex(r"\b(\d{4})-(\d\d)-(\d\d)(?:[t ](\d\d:\d\d)(?::\d\d)?z?)?\b|(\d{1,2})月(\d{1,2})[日号]")
_DAY_MONTH = lazy_regex(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.|er)? (?:of |de |di )?{MONTH}\b|\b{MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
)
_CLOCK = r"(\d{1,2})(?::(\d\d)| ?h ?(\d\d)?|点(\d\d)?| uhr)?(?: ?(am|pm))?"
_BETWEEN = lazy_regex(
    rf"\b(?:between|zwischen|entre|tra(?: le)?|fra le|tussen|from|von|de|des)\b (?:las? |les? |le )?{_CLOCK}"
    rf" (?:and|und|et|y|e|en|to|bis|a|alle|until) (?:las? |les? |le )?{_CLOCK}(?![\w-])"
)
_RELATION = (
    ("since", r"since|seit|depuis|desde(?: las?)?|dalle|sinds|from|ab\b|as of"),
    ("since", r"after|nach|apres|despues de(?: las?)?|depois d[ae]s?|dopo le|na\b"),
    ("until", r"before|until|till|vor|bis|avant|antes de(?: las?)?|antes das|prima delle|voor|tot"),
)
_AT_CLOCK = tuple(
    (name, lazy_regex(rf"\b(?:{words}) (\d{{1,2}})(?::(\d\d)| ?h ?(\d\d)?|点(\d\d)?| uhr)(?: ?(am|pm))?"
                      rf"|\b(?:{words}) (\d{{1,2}})() ?(am|pm)\b"),
     lazy_regex(rf"\b(?:{words}) (\d{{1,2}})(?![\w:.,-]| \w)"))
    for name, words in _RELATION
)  # fmt: skip
_CJK_SINCE = lazy_regex(r"(\d{1,2})(?::(\d\d)|点|時)(?:(\d\d)分)?(?:以后|之后|以来|以降|から)")
_COUNTS = "a an one 1|two couple 2|three few 3|four 4|five 5|six 6|seven 7|eight 8|nine 9|ten 10|half"
_NUMBERS = {word: place + 1 for place, words in enumerate(_COUNTS.split("|")[:10]) for word in words.split()}
_UNITS = (
    (60, r"minutes?|mins?|minuten?|minutos?|minuti|minuut|minuten|分钟|分"),
    (3600, r"hours?|hrs?|stunden?|heures?|horas?|or[ae]|uur|uren|小时|時間"),
    (86_400, r"days?|tage?n?|jours?|dias?|giorni|giorno|dagen|dag|天|日間"),
    (604_800, r"weeks?|wochen?|semaines?|semanas?|settiman[ae]|we(?:ek|ken)|周|星期|週間"),
)
_UNIT = "|".join(words for _, words in _UNITS)
_AGO = (
    lazy_regex(rf"\b(?:in |within |over |during )?(?:the )?(?:last|past) (?:(\d{{1,4}}|\w+) )?({_UNIT})\b"),
    lazy_regex(rf"\b(?:since )?(half an|\d{{1,4}}|\w+) ({_UNIT}) ago\b"),
    lazy_regex(rf"\b(?:in )?(?:den|der|die) letzten (?:(\d{{1,4}}|\w+) )?({_UNIT})\b|\bvor (\d+|einer|einem) ({_UNIT})\b"),
    lazy_regex(rf"\bil y a (\d+|une?) ({_UNIT})|\bles (\d+)? ?dernieres? ({_UNIT})|\bla derniere() ({_UNIT})"),
    lazy_regex(rf"\bhace (\d+|una?) ({_UNIT})|\b(?:en )?las? ultimas? (?:(\d+) )?({_UNIT})|\bha (\d+|uma?) ({_UNIT})"),
    lazy_regex(rf"\bnell[ae] ultim[ae] (?:(\d+) )?({_UNIT})|\b(\d+|un'?) ({_UNIT}) fa\b"),
    lazy_regex(rf"\b(?:de )?afgelopen (?:(\d+) )?({_UNIT})|\b(\d+|een) ({_UNIT}) geleden"),
    lazy_regex(rf"(?:过去|最近)?(?<!\d)(\d{{1,4}}) ?个?({_UNIT})(?:前|以来|内)|(?:过去|最近)一?个?()({_UNIT})|過去(\d{{1,4}})({_UNIT})"),
)  # fmt: skip
_WEEK = (
    ("last week", r"last week|letzte woche|la semaine derniere|la semana pasada|semana passada|la settimana scorsa"
     r"|vorige week|上周|上星期|先週"),
    ("this week", r"this week|diese woche|cette semaine|esta semana|questa settimana|deze week|这周|本周|今週"),
)  # fmt: skip
_EVENT = lazy_regex(r"#(\d{1,12})\b")
_ANCHORS = (
    ("compaction", r"\bcompact\w*\b|\bcontext (?:was |got )?(?:lost|reset|cut|cleared)|\bkompakt\w+|压缩"),
    ("commit", r"\b(?:since|after|seit|depuis|desde) (?:the |my |our |dem |le |el )?(?:last |latest |letzten |dernier "
     r"|ultimo )?commit\b"),
    ("request", r"\b(?:since|after) (?:the |my )?(?:user|last (?:message|request|instruction|prompt))\b"),
    ("start", r"\bsince (?:the (?:start|beginning)|(?:it|i|we) (?:began|started))"),
)  # fmt: skip


class Span(Value, frozen=True, kw_only=True):
    """The time that a question names. `day` is a date or how many days ago; clocks are minutes of the day;
    `anchor` is an event: `#42`, `compaction`, `commit`, `request`, `start`."""

    day: str = ""
    start: int | None = None
    end: int | None = None
    ago: float = 0.0
    since: bool = False  # from that time until now
    until: bool = False  # everything before that time
    anchor: str = ""
    words: tuple[str, ...] = ()

    def limits(self, now: float, zone: tzinfo) -> tuple[float | None, float | None]:
        """From when to when, in seconds since the epoch; None where it is open."""
        here = datetime.fromtimestamp(now, zone)
        if self.ago:
            return now - self.ago, None
        midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
        first, last = self._days(midnight)
        if self.start is None and self.end is None:
            first_at, last_at = first, last
        else:
            wrap = not self.day and self.start is not None and _at(midnight, self.start) > here
            first, last = (first - timedelta(days=1), last - timedelta(days=1)) if wrap else (first, last)
            first_at = _at(first, self.start) if self.start is not None else first
            last_at = _at(last - timedelta(days=1), self.end) if self.end is not None else last
        if self.until:
            return None, (last_at if self.end is not None else first_at).timestamp()
        return first_at.timestamp(), None if self.since else last_at.timestamp()

    def _days(self, midnight: datetime) -> tuple[datetime, datetime]:
        """The midnights before and after the days that are meant."""
        one = timedelta(days=1)
        if self.day in ("last week", "this week"):
            monday = midnight - timedelta(days=midnight.weekday())
            return (monday - 7 * one, monday) if self.day == "last week" else (monday, midnight + one)
        if self.day.startswith("weekday "):
            back = (midnight.weekday() - int(self.day[8:])) % 7
            first = midnight - back * one
        elif "-" in self.day:
            year, month, day = (int(part) for part in self.day.split("-"))
            try:
                first = midnight.replace(year=year or midnight.year, month=month, day=day)
            except ValueError:
                return midnight + 400 * one, midnight + 401 * one  # no such day: nothing happened then
        else:
            first = midnight - int(self.day or 0) * one
        return first, first + one


def _at(midnight: datetime, minutes: int) -> datetime:
    return midnight + timedelta(minutes=minutes)


class _Reading:
    """A question from which the words of times are taken one after the other."""

    def __init__(self, question: str) -> None:
        self.text = folded(question)
        self.found: list[str] = []

    def take(self, pattern: str | re.Pattern[str]) -> re.Match[str] | None:
        """The first match of a pattern, which is taken out of the text."""
        found = re.compile(pattern) if isinstance(pattern, str) else pattern
        match = found.search(self.text)
        if match is not None:
            self.found.append(match[0].strip())
            self.text = f"{self.text[: match.start()]} {self.text[match.end() :]}"
        return match


def read_span(question: str) -> tuple[Span | None, str]:
    """The time that a question names, and the question (folded) without these words."""
    reading = _Reading(question)
    span = _event(reading) or _ago(reading) or _day_and_clock(reading)
    return (span.replace(words=tuple(reading.found)) if span else None), reading.text


def _event(reading: _Reading) -> Span | None:
    if match := reading.take(_EVENT):
        return Span(anchor=f"#{match[1]}", since=True)
    for name, pattern in _ANCHORS:
        if reading.take(pattern):
            return Span(anchor=name, since=True)
    return None


def _ago(reading: _Reading) -> Span | None:
    for pattern in _AGO:
        match = pattern.search(reading.text)
        if match is None:
            continue
        groups: list[str] = [group for group in match.groups() if group is not None]
        unit = groups[-1]
        word = groups[-2] if len(groups) > 1 else ""
        size = next(seconds for seconds, words in _UNITS if re.fullmatch(words, unit))
        count = 0.5 if word.startswith("half") else float(word) if word.isdecimal() else _NUMBERS.get(word, 1)
        if size == 604_800 and not word:
            continue  # last week is a week of the calendar
        reading.take(pattern)
        return Span(ago=count * size, since=True)
    return None


def _day_and_clock(reading: _Reading) -> Span | None:
    day, since, until = _day(reading)
    start, end, open_end = _clocks(reading, bare=bool(day))
    since = since or (open_end and not day)
    if start is None and end is None:
        for name, pattern in _PART_WORDS:
            match = reading.take(rf"(since |seit |depuis |desde |sinds )?(?:{pattern})")
            if match is not None:
                start, end = _PARTS[name]
                if match[1]:
                    since, end = True, None
                day = day or "0"
                break
    if not day and start is None and end is None:
        return None
    return Span(day=day, start=start, end=end, since=since, until=until)


def _clocks(reading: _Reading, bare: bool) -> tuple[int | None, int | None, bool]:
    """From which to which time of the day, and whether everything since the first is meant; with `bare`, a
    number alone is an hour: "yesterday before 10"."""
    start: int | None = None
    end: int | None = None
    since = False
    if match := reading.take(_BETWEEN):
        return _minutes(match.groups()[:5]), _minutes(match.groups()[5:]), False
    for name, pattern, hour in _AT_CLOCK:
        if match := reading.take(pattern) or (reading.take(hour) if bare else None):
            groups = (*match.groups(), *(None,) * 7)
            clock = _minutes(groups[:5]) if groups[0] else _minutes((groups[5], None, None, None, groups[7]))
            if name == "since":
                start, since = clock, True
            else:
                end = clock
    if match := reading.take(_CJK_SINCE):
        start, since = _minutes((match[1], match[2] or match[3], None, None, None)), True
    return start, end, since


def _day(reading: _Reading) -> tuple[str, bool, bool]:
    """The day that is named, and whether everything since or before it is meant."""
    before = r"(since |seit |depuis |desde |da |sinds |before |until |vor |avant |antes de |voor )?(?:on |am |the |le |el )?"
    for day, pattern in (("2", _DAY_BEFORE), ("1", _YESTERDAY), ("0", _TODAY), *_WEEK):
        if match := reading.take(rf"{before}(?:{pattern})"):
            return day, *_open_end(match[0])
    if match := reading.take(_WEEKDAY):
        return f"weekday {_DAY_OF[match[1] or match[2]]}", *_open_end(match[0])
    if match := reading.take(rf"{before}(?:{_DATE.pattern})"):
        groups = match.groups()[1:]
        day = f"{groups[0]}-{groups[1]}-{groups[2]}" if groups[0] else f"0-{groups[4]}-{groups[5]}"
        return day, *_open_end(match[0])
    if match := reading.take(rf"{before}(?:{_DAY_MONTH.pattern})"):
        number, first, second, other = match.groups()[1:]
        name: str = first or second
        month = next((_MONTH_OF[name[:size]] for size in (4, 3) if name[:size] in _MONTH_OF), 1)
        return f"0-{month}-{number or other}", *_open_end(match[0])
    return "", False, False


def _open_end(words: str) -> tuple[bool, bool]:
    first = words.split()[0]
    return (
        first in "since seit depuis desde da sinds".split(),
        first in "before until vor avant antes voor".split(),
    )


def _minutes(groups: tuple[str | None, ...]) -> int:
    """Minutes of the day from the groups of a clock: hours, minutes in three forms, am or pm."""
    hours = int(groups[0] or 0) % 24
    minutes = next((int(group) for group in groups[1:4] if group), 0)
    half = groups[4] if len(groups) > 4 else None
    hours = hours % 12 + 12 * (half == "pm") if half else hours
    return hours * 60 + min(minutes, 59)
