# ruff: noqa: E501 - tables and patterns
"""Whether something is allowed or required: from the user's instructions, the request, and what was ruled out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model.lazy_regex import lazy_regex
from ..model.types import Channel, Value
from ..signals.reports.trade_words import concepts
from . import answer_rows as show
from .answer_rows import Context
from .answer_words import say
from .evidence import whole_clauses
from .question_lexicon import folded
from .questions import Intent
from .reply import LIST, PARAGRAPH, Reply, Row, cite, compose, quote
from .topic_match import FITS, Subject

_FORBIDS = lazy_regex(
    r"(?i)\b(?:do not|don['’]?t|must not|mustn['’]?t|may not|can(?:not|['’]?t)|never|should not|shouldn['’]?t|not allowed|forbidden"
    r"|prohibited|no longer|nothing|nobody|no one|niemand|personne|nadie|ninguem|nessuno|leave [^.]{0,40}(?:out|alone)|hands off|stop|avoid|off limits"
    r"|nicht|kein\w*|niemals|nie|verboten|ne [^.]{0,20}pas|n['’][^.]{0,20}pas|jamais|interdit\w*|aucun\w*|nunca|prohibid\w*|nao|não|jamais"
    r"|proibid\w*|non|mai|vietat\w*|niet|geen|nooit|verboden)\b|(?:^|[,;:.] ?|please |and |but )no [a-z]|不要|不许|禁止|不能|别|しないで|禁止|だめ"
)
_KEEPS = lazy_regex(
    r"(?i)\b(?:keep|keeps|until|before|leave|unless|only after|first|behalt\w*|bis|garde\w*|mant\w+|houd\w*)\b"
)
_REMOVES = frozenset("#remove #stop #replace #sell #disable #cancel #close #clear".split())
_ALLOWS = lazy_regex(
    r"(?i)\b(?:may|can|allow(?:ed|s)?|permit(?:ted|s)?|fine|ok|okay|permitted|feel free|go ahead|only|yes|approved|darf\w*|erlaubt|peut|peux|permis|puede\w*"
    r"|permitid\w*|pode\w*|permess\w*|può|mag|mogen|toegestaan)\b|可以|允许|いい"
)
_MAY = lazy_regex(r"(?<=[a-z0-9,] )May\b")  # the month
_CLOSED = lazy_regex(
    r"(?i)\b(?:locked|closed|frozen|read-only|sealed|gesperrt|verrouill\w*|bloquead\w*|bloccat\w*)\b"
)
# Allowed on a condition, which may not be met: that is neither yes nor no.
_ON_CONDITION = lazy_regex(
    r"(?i)\b(?:only (?:after|when|if|once|with|by|in|on|during|from|until)|unless|(?:nur|erst) (?:nach|wenn|mit|bei|falls|sobald)"
    r"|seulement (?:après|apres|si|quand|avec)|s[oó]lo (?:después|despues|si|cuando|con)|só (?:depois|se|quando|com)"
    r"|solo (?:dopo|se|quando|con)|alleen (?:na|als|met)|pas (?:na|als))\b|之后才|才能|だけ"
)
_REQUIRES = lazy_regex(
    r"(?i)\b(?:must|need|needs|have to|has to|should|always|required|please|make sure|ensure|ask|muss|soll\w*|doit|debe\w*|deve\w*"
    r"|moet\w*)\b|必须|要"
)
_LIMIT = lazy_regex(r"(?i)\b(?:up to|at most|more than|maximum(?: of)?|max\.?|limit(?: of)?|exceeds?|above|under|below|less than|bis zu|höchstens|jusqu['’]à|hasta|até|fino a)"
                    r" ?(?:€|\$)?(\d[\d,.]*)|(\d[\d,.]*) ?\w* (?:at most|maximum|max\b|or less)")  # fmt: skip
_NO_MORE = lazy_regex(r"(?i)\bno more than\b")
_AMOUNT = lazy_regex(r"(?<![\w.,:])(\d[\d,.]*)(?![\w:])")
_WINDOW = lazy_regex(
    r"(?i)\bbetween (?P<from>\d{1,2}(?::\d\d)?) (?:and|to) (?P<to>\d{1,2}(?::\d\d)?)"
    r"|\b(?:after|nach|après|después de las|dopo le|na) (?P<after>\d{1,2}(?::\d\d|\b(?! ?[a-z%€$])))"
    r"|\b(?:before|vor|avant|antes de las|prima delle|voor) (?P<before>\d{1,2}(?::\d\d|\b(?! [a-z%€$])))"
)
_HOUR = lazy_regex(r"\b(\d{1,2}):(\d\d)\b")


_CONDITION = lazy_regex(
    r"(?i)\b(?:once|when|while|if|after|before|as soon as|sobald|wenn|quand|cuando|quando|als)\b"
)
_SHARED = 0.3  # of a subject that a sentence must have itself, if the rest stands beside it
_TOGETHER = 0.85
_TOUCHED = 0.55  # of a subject that a prohibition must have to be worth quoting


class Rule(Value, frozen=True, kw_only=True):
    """A sentence that allows, forbids or demands something, and where it was said."""

    text: str
    seq: int
    channel: Channel
    forbids: bool = False
    whole: str = ""  # all that was said with it


def rules_of(context: Context) -> Iterator[Rule]:
    """The sentences of the user and the constraints of the task, the newest first."""
    task = context.task
    for entry in sorted(task.exclusions, key=lambda entry: -entry.seq):
        if show.user_rejected(entry):
            why = str(entry.data.get("why") or "")
            yield Rule(
                text=f"{entry.summary}{f': {why}' if why else ''}", seq=entry.seq, channel=entry.origin.channel,
                forbids=True,
            )  # fmt: skip
    said = [entry for entry in task.instructions if entry.origin.channel in ("user", "agent")]
    for entry in sorted(said, key=lambda entry: -entry.seq):
        whole = f"{entry.summary}\n{entry.detail or ''}"
        for text in whole_clauses(whole):
            yield Rule(text=text, seq=entry.seq, channel=entry.origin.channel, whole=whole)
    for entry in reversed(task.decisions):  # an answer of the user to a question
        if entry.origin.channel == "user":
            text = f"{entry.data.get('title') or entry.summary}: {entry.data.get('choice') or ''}"
            yield Rule(text=text, seq=entry.seq, channel="user")
    source = task.sources.get("request")
    for text in whole_clauses(task.request or ""):
        yield Rule(text=text, seq=source.seq if source else 1, channel=source.channel if source else "user")


def permission(intent: Intent, context: Context) -> Reply | None:
    """Yes or no with the user's own words, or those words alone if they do not say; None if there are none."""
    language = intent.language
    if not context.subject:
        return prohibitions(intent, context) or instructions(intent, context)
    found: list[tuple[float, Rule]] = []
    words = [
        word for word in context.subject.words if not _AMOUNT.fullmatch(word) and not _HOUR.fullmatch(word)
    ]
    subject = Subject(words, language=language, known=context.task.name)
    main = _CONDITION.split(intent.text, maxsplit=1)[0]
    if asked := [word for word in words if word in main]:
        subject = Subject(asked, language=language, known=context.task.name)
    kept = Subject(
        [word for word in words if not _REMOVES & concepts(folded(word), language)], language=language
    )
    for rule in rules_of(context):
        score = max(subject.coverage(part) for part in (rule.text, *_parts(rule.text)))
        if score < FITS and kept and _KEEPS.match(rule.text):
            score = 0.9 * kept.coverage(rule.text)  # who is to keep it must not remove it
        if (
            score < FITS and rule.whole and score >= _SHARED
        ):  # what is forbidden may stand beside what it is about
            score = max(score, _TOGETHER * subject.coverage(rule.whole))
        if score >= FITS or (score >= _TOUCHED and rule.channel == "user" and _FORBIDS.search(rule.text)):
            found.append((score, rule))
    if not found:
        return None
    best = max(score for score, _ in found)
    close = [rule for score, rule in found if score >= 0.9 * best]
    rule = next((rule for rule in close if _FORBIDS.search(rule.text)), close[0]) if best < 0.9 else close[0]
    close.sort(key=lambda one: one is not rule)
    # A rule with only half of what is asked about is worth reading, but does not decide it.
    word = _verdict(intent, rule, context) if intent.polar and best >= FITS else None
    opening = f"{say(language, word)}: " if word else ""
    timed = word and _WINDOW.search(rule.whole) and _HOUR.search(intent.text)
    shown = [rule.replace(text=rule.whole.strip())] if timed else close[: 1 if word else 3]
    rows = [_row(one, language) for one in shown]
    return compose(rows, PARAGRAPH, opening=opening)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,;]|\bbut\b|\baber\b", text) if len(part.split()) > 2]


def _row(rule: Rule, language: str) -> Row:
    who = say(language, "user")
    return Row(lambda most: f"{who}{cite(rule.seq, rule.channel)}: {quote(rule.text, most)}", rule.seq)


def _verdict(intent: Intent, rule: Rule, context: Context) -> str | None:
    """Yes or no to a question about a rule; None if its words do not say. The part of a sentence that is about
    it counts, otherwise all of it."""
    covered = [(context.subject.coverage(part), part) for part in _parts(rule.text)]
    best = max(covered, default=(0.0, rule.text))
    said = _verdict_of(intent, rule, best[1], best[0], context) if best[0] >= FITS else None
    return said or _verdict_of(intent, rule, rule.text, best[0], context)


def _verdict_of(intent: Intent, rule: Rule, text: str, share: float, context: Context) -> str | None:
    if (window := _WINDOW.search(rule.whole or rule.text)) and (asked := _HOUR.search(intent.text)):
        first, last = (
            _at(window["from"] or window["after"] or "0"),
            _at(window["to"] or window["before"] or "24"),
        )
        at = _at(asked[0])
        inside = first <= at < last if first < last else at >= first or at < last  # also across midnight
        said = (rule.whole or rule.text)[: window.start()]
        forbidden = _FORBIDS.search(said) is not None or said.rstrip().lower().endswith("not")
        return ("no" if inside else "yes") if forbidden else ("yes" if inside else "no")
    limit = _LIMIT.search(text)
    # "not more than 50" and "never exceed 50" are limits, "more than 50" alone is a demand.
    demand = limit is not None and limit[0].lower().startswith(("more", "exceed", "above"))
    if limit and (not demand or _FORBIDS.search(text) or _NO_MORE.search(text)):
        amounts = [_number(one) for one in _AMOUNT.findall(intent.text)]
        if amounts:
            return "yes" if max(amounts) <= _number(limit[1] or limit[2]) else "no"
    if _excepted(rule.text, context.subject):
        return "no"
    must = intent.has("must") and not intent.has("may")
    forbids = rule.forbids or _FORBIDS.search(text) is not None or (_CLOSED.search(text) and not must)
    if forbids:
        return None if must and intent.has("not") else "no"
    if must:  # an instruction is something to be done
        return "yes" if _REQUIRES.search(text) or (share >= 0.75 and rule.channel == "user") else None
    if _ON_CONDITION.search(text):
        return None
    if _ALLOWS.search(_MAY.sub(" ", text)) and not _CLOSED.search(text):
        return "yes"
    return "no" if _KEEPS.search(text) else None


_EXCEPT = lazy_regex(
    r"(?i)\b(?:but not|except(?: for)?|not the|aber nicht|ausser|außer|sauf|excepto|exceto|tranne|behalve)\b"
)


def _excepted(text: str, subject: Subject) -> bool:
    """Whether what is asked about is what a rule makes an exception of: "all, but not the ones of X"."""
    found = _EXCEPT.search(text)
    if found is None:
        return False
    before, after = text[: found.start()], text[found.end() :]
    return any(
        word not in subject.missing(after) and word in subject.missing(before) for word in subject.words
    )


def _at(clock: str) -> int:
    hours, _, minutes = clock.partition(":")
    return int(hours) * 60 + int(minutes or 0)


def _number(text: str) -> float:
    """A number as people write it: 3,000 or 1.5."""
    plain = re.sub(r"[,.](?=\d{3}\b)", "", text).replace(",", ".").strip(".")
    try:
        return float(plain)
    except ValueError:
        return 0.0


def prohibitions(intent: Intent, context: Context) -> Reply | None:
    """What the user forbade."""
    wanted = [rule for rule in _distinct(context) if rule.forbids or _FORBIDS.search(rule.text)]
    return _listed(intent, wanted)


def instructions(intent: Intent, context: Context) -> Reply | None:
    """What the user said at all."""
    return _listed(intent, _distinct(context))


def _distinct(context: Context) -> list[Rule]:
    return list({rule.text: rule for rule in rules_of(context) if rule.channel in ("user", "agent")}.values())


def _listed(intent: Intent, rules: list[Rule]) -> Reply | None:
    rows = [_row(rule, intent.language) for rule in rules]
    return compose(rows, LIST, glue="; ", language=intent.language) if rows else None
