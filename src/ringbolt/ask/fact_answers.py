"""Answers from single sentences: numbers, people, places, findings, and whatever else was recorded in words.

A sentence is an answer only if it has the subject of the question and is of the right sort: a number for "how
many", a name for "who". Otherwise the answer says that nothing is recorded, and names the nearest thing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model.lazy_regex import lazy_regex
from ..model.results import Hit
from ..model.types import Entry
from ..packet import encode
from . import answer_rows as show
from .answer_rows import Context
from .answer_words import say
from .evidence import Evidence, Sentence, sentences
from .polar_answers import check_result
from .questions import Intent
from .reply import LIST, ONE, PARAGRAPH, Reply, Row, cite, clock, compose, plain, quote
from .sentence_sorts import has_person, has_place, has_quantity, has_reason, has_time, measures
from .topic_match import FITS, Subject

# What an event is worth as the source of a fact: what was noted on purpose most, output of tools least.
_WORTH = {
    "discovery": 1.1, "context": 1.1, "artifact": 1.05, "decision": 1.0, "user_instruction": 1.05,
    "message": 1.0, "step.updated": 1.0, "task.updated": 1.0, "task.registered": 1.0, "plan.replaced": 0.95,
    "error": 0.95, "exclusion": 0.95, "action": 0.9, "variable": 1.0, "intent": 0.9, "outcome": 1.0,
}  # fmt: skip
_QUANTITY = frozenset(
    "cost costs price number budget size amount total score percent rate hash id phone telephone fee rent"
    " salary weight height width length area capacity speed bandwidth temperature limit deposit".split()
)
_COSTS = frozenset("cost costs price worth expensive euros dollars".split())
_LIMITS = frozenset("user_instruction task.registered decision exclusion context".split())
_SPLIT = lazy_regex(r"[_.-]")
_LIMIT_WORDS = frozenset("budget limit maximum minimum allowance".split())


_STATE = lazy_regex(r"(?i)\b(?:now|already|so far|left|still|done|finished|was|were|has been|have been)\b")


def _worth(one: Evidence) -> float:
    return _WORTH.get(one.kind, 0.8)


def named_values(intent: Intent, context: Context) -> list[Entry]:
    """The variables whose name a question says, with or without the words that questions are made of."""
    words = {part for word in (*context.subject.words, *intent.soft) for part in _SPLIT.split(word.lower())}
    own = {part for word in context.subject.words for part in _SPLIT.split(word.lower())}
    keys = [(set(_SPLIT.split((entry.key or "").lower())), entry) for entry in context.task.values]
    return [entry for key, entry in reversed(keys) if key and key in (own, words)][:6]


def value(intent: Intent, context: Context) -> Reply | None:
    """The variable that the question names, or the sentence that has the number or name."""
    task, subject = context.task, context.subject
    if entries := named_values(intent, context):
        return compose([show.value(entry) for entry in entries], ONE, glue="; ", least=40)
    if not subject or {word.lower() for word in subject.words} <= _COSTS:
        return None  # "how much does it cost?" names nothing that has a price
    keyed = [entry for entry in task.values if subject.coverage(entry.key or "") >= 0.75]
    if keyed:
        return compose([show.value(entry) for entry in reversed(keyed[-6:])], ONE, glue="; ", least=40)
    counts = intent.has("many", "percent", "long") or bool(
        _QUANTITY & {word.lower() for word in subject.words}
    )
    wanted = has_quantity(subject, intent.text, intent.has("percent")) if counts else _sort(intent)
    is_limit = intent.has("may", "must")
    if counts and (things := [word for word in subject.words if is_limit or not measures(word)]):
        subject = Subject(things, intent.soft, intent.language, f"{task.name} {task.goal or ''}")
        context = context.replace(subject=subject)  # "80 kg" is a weight without the word
    if intent.has("pass", "fail", "last"):
        reply = check_result(intent, context)
        if reply is not None and (
            wanted is None or wanted(reply.text.rpartition(": ")[2].partition(" #")[0])
        ):
            return reply
    is_limit = is_limit or bool(_LIMIT_WORDS & {word.lower() for word in subject.words})
    if not is_limit and intent.has("many", "percent", "long") and _STATE.search(intent.text):
        done = tuple(one for one in context.window if one.kind != "task.registered")
        context = context.replace(window=done)  # a request says what is wanted, not how far it is
    if intent.has("may", "must") or _LIMIT_WORDS & {
        word.lower() for word in subject.words
    }:  # a limit is what the user or a decision says, not what was used
        limits = tuple(one for one in context.window if one.kind in _LIMITS)
        if (reply := _best(intent, context.replace(window=limits), wanted)) is not None:
            return reply
    return _best(intent, context, wanted)


def stated(intent: Intent, context: Context) -> Reply | None:
    """The sentence that has all words of a question, without a verdict."""
    words = (*context.subject.words, *intent.soft)
    reports = tuple(one for one in context.window if one.kind in _DOINGS and one.channel != "tool")
    whole = context.replace(subject=Subject(words, language=intent.language), window=reports)
    return _best(intent, whole, None, least=0.95) if len(words) > 1 and not intent.has("drop") else None


def _sort(intent: Intent) -> Callable[[str], float] | None:
    """The sort of sentence that a question asks for by its first word; None: any."""
    return has_place if intent.has("where") else None


def counted(intent: Intent, context: Context) -> Reply | None:
    """The sentence that says how many, for questions whose things are also listed elsewhere."""
    subject = Subject((*context.subject.words, *intent.soft), language=intent.language)
    return _best(intent, context.replace(subject=subject), has_quantity(subject, intent.text))


def people(intent: Intent, context: Context) -> Reply | None:
    """Who holds the task, or the sentence that names the person."""
    if not context.subject:
        return _holders(context) if intent.has("own", "now") or len(intent.marks) < 5 else None
    said = tuple(one for one in context.window if one.channel != "tool")
    if (
        "agent" in intent.text.lower()
        and (reply := _agents(intent, context.replace(window=said))) is not None
    ):
        return reply
    found = _best(intent, context.replace(window=said), has_person(context.subject), least=_PREDICATE)
    return found or _agents(intent, context.replace(window=said))


_DOINGS = frozenset(
    "step.updated message task.updated discovery decision exclusion error action artifact".split()
)


def _agents(intent: Intent, context: Context) -> Reply | None:
    """The agent that did it, if several work on the task: that of the step, or of the reports, about it."""
    subject = context.subject
    if len({one.agent for one in context.window if one.agent}) < 2 or intent.has("must", "may"):
        return None
    steps = {
        item.id: item
        for _, item in show.live_steps(context.task)
        if subject.coverage(item.title) >= _PREDICATE
    }
    for one in reversed(context.window):
        if not one.agent or one.kind not in _DOINGS:
            continue
        item = steps.get(one.item or "")
        if item is not None or (len(subject.words) > 1 and subject.coverage(one.text) >= 0.9):
            text = item.title if item is not None else one.text
            return compose([show.event(one, text, before=f"{quote(one.agent, 80)}: ")], PARAGRAPH)
    return None


def _holders(context: Context) -> Reply:
    """Who holds the task or its steps."""
    task = context.task
    if not task.claims:
        session = f"; the last session is {quote(task.session, 80)}" if task.session else ""
        return Reply(text=f"Nobody has claimed it{session}.")
    rows = [
        Row(
            lambda most, claim=claim: (
                f"{quote(claim.holder, most)} holds {f'step {claim.step}' if claim.step else 'the task'}"
                f" until {clock(claim.expires_at, context.zone)}"
            )
        )
        for claim in task.claims
    ]
    return compose(rows, PARAGRAPH, glue="; ", least=40)


def notes(intent: Intent, context: Context) -> Reply | None:
    """Findings, artifacts and context; with a subject, the sentences about it."""
    task = context.task
    if context.subject:
        return _best(intent, context, _sort(intent))
    rows = [show.note(entry) for entry in reversed(task.notes)]
    if not rows:
        return Reply(text="No finding is recorded.", recorded=False)
    return compose(rows, LIST, glue="; ", language=intent.language)


def reason(intent: Intent, context: Context) -> Reply | None:
    """The sentence that says why: it gives a reason, or states just what the question asks about."""
    if not context.subject:
        return notes(intent, context)
    subject = context.subject
    # A choice has a reason only if somebody gave one, and a name alone says nothing about why.
    chosen = intent.has("decide", "use", "option") or len(subject.words) < 2
    said = tuple(one for one in context.window if one.kind != "task.registered")  # a task says what, not why
    context = context.replace(window=said)
    return _best(
        intent, context, lambda text: has_reason(text) or (not chosen and subject.coverage(text) >= 0.9)
    )


def dated(intent: Intent, context: Context) -> Reply | None:
    """The sentence that says when something is to happen."""
    return _best(intent, context, has_time) if context.subject else None


# How much of "who did what?" a sentence must have: doing something else with it does not count.
_PREDICATE = 0.7


def _best(
    intent: Intent, context: Context, wanted: Callable[[str], float] | None, least: float = FITS
) -> Reply | None:
    """The best sentences about the subject, of the right sort."""
    evidence = context.window if not intent.span or context.period is None else context.period
    titles = {item.id: item.title for item in context.task.steps} if wanted is not None else None
    found = sentences(context.subject, evidence, wanted, _worth, least, titles)
    if not found:
        return None
    best = found[0]
    if intent.has("now"):  # of what fits, the newest: the rest may be out of date
        best = max((one for one in found if one.score >= 0.8 * best.score), key=lambda one: one.source.seq)
    close = [one for one in found[:3] if one.score >= 0.95 * best.score and _differs(one, best)]
    rows = [_quoted(one) for one in (best, *(close[:1] if wanted is None else ()))]
    return compose(rows, PARAGRAPH, glue="; ", source="recall", language=intent.language).replace(items=())


def _differs(one: Sentence, other: Sentence) -> bool:
    return one is not other and one.text.strip().lower() != other.text.strip().lower()


def _quoted(one: Sentence) -> Row:
    """A sentence with its place; long ones are shown around their start."""
    place = cite(one.source.seq, one.source.channel)
    text = one.text.strip()
    data = one.source.data
    if one.source.kind == "decision" and data.get("choice"):
        title = data.get("title") or one.source.text
        more = "" if text in (title, data["choice"]) else text
        return Row(
            lambda most: (
                f"{quote(title, most)}: {quote(data['choice'], most)}"
                f"{f' — {quote(more, most)}' if more else ''}{place}"
            ),
            one.source.seq,
        )
    if one.source.kind in ("exclusion", "error") and (why := data.get("why") or data.get("symptom")):
        what = one.source.text.strip()
        return Row(lambda most: f"{quote(what, most)}: {quote(why, most)}{place}", one.source.seq)
    if one.source.kind == "action" and text != one.source.text.strip():
        return show.event(one.source, text, before=f"{quote(one.source.text, 80)}: ")
    if (
        one.source.kind == "action"
        and (lines := str(data.get("output") or "").split("\n"))
        and lines[-1].strip()
    ):
        return show.event(one.source, lines[-1].strip(), before=f"{quote(text, 80)}: ")
    return show.event(one.source, text)


# --- when nothing answers it ------------------------------------------------------------------------


def anything(intent: Intent, context: Context) -> Reply | None:
    """Whatever is recorded about the subject: a step, an entry, or a sentence."""
    if not context.subject:
        return None
    if intent.has("many", "who", "when", "long", "percent"):
        return value(intent, context) if intent.has("many", "percent") else None
    return value(
        intent.replace(marks=tuple(mark for mark in intent.marks if mark in ("where", "now"))), context
    )


def nothing(intent: Intent, context: Context) -> Reply:
    """Other tasks, or that nothing is recorded, with the nearest thing named as such."""
    language = intent.language
    close = [
        hit
        for hit in context.elsewhere
        if context.subject.coverage(f"{hit.title} {hit.snippet or ''}") >= FITS
    ]
    if close:
        rows = hit_rows(close[:3])
        return compose(rows, PARAGRAPH, opening="In other tasks: ", glue="; ", source="recall").replace(
            items=()
        )
    rows = [plain(say(language, "nothing"))]
    near = nearest(context)
    if near is not None:
        row = _quoted(near)
        rows.append(Row(lambda most: f"{say(language, 'nearest')}: {row.show(min(most, 160))}", *row.seqs))
    return compose(rows, PARAGRAPH, source="recall", recorded=False)


def nearest(context: Context) -> Sentence | None:
    """The sentence with most of the subject, if it has a fair part of it."""
    best: Sentence | None = None
    subject: Subject = context.subject
    for one in reversed(context.window):
        if not one.text or not subject or not subject.may_fit(one.text.lower()):
            continue
        score = subject.coverage(one.text) * _worth(one)
        if score >= 0.3 and (best is None or score > best.score):
            best = Sentence(text=one.text, score=score, source=one)
    return best


MOST_FOUND, MOST_SINCE = 8, 12


def found_rows(context: Context) -> list[Row]:
    """The sentences with most of the subject, for a model to find the answer in."""
    subject: Subject = context.subject
    if not subject:
        return []
    scored = [
        (subject.coverage(f"{one.text} {' '.join(one.details)}"), one)
        for one in context.window
        if one.text and subject.may_fit(one.lower)
    ]
    best = sorted(scored, key=lambda pair: (-pair[0], -pair[1].seq))[:MOST_FOUND]
    return [_event_row(one) for score, one in best if score > 0]


def event_rows(context: Context, after: int) -> list[Row]:
    """The newest events after one, in order, with what they say."""
    later = [one for one in context.window if one.seq > after and one.text and one.kind not in show.SILENT]
    return [_event_row(one) for one in later[-MOST_SINCE:]]


def _event_row(one: Evidence) -> Row:
    details = ". ".join(text for text in one.details if text not in one.text)
    text = f"{one.text}: {details}" if details else one.text
    return show.event(one, text, before=f"{show.kind_word(one.kind)} ")


def hit_rows(hits: Sequence[Hit]) -> list[Row]:
    """Search results in other tasks, cited with the ids of these tasks, and not listed in `cites`."""
    return [
        Row(
            lambda most, hit=hit: (
                f"{show.kind_word(hit.type)} {quote(hit.snippet or hit.title, most)}"
                f" {encode.name(hit.task_id)}#{hit.seq}"
            )
        )
        for hit in hits
    ]
