# ruff: noqa: E501 - patterns
"""Clear texts that have become outdated: the next step, blockers, calls for attention, open questions.

The first three are cleared by the event that ends the step they were about. A question is closed when its step
ends or a message of the user answers it. Texts of the user are never cleared here.
"""

from __future__ import annotations

from typing import Any

from ..model.lazy_regex import lazy_regex
from ..model.types import Origin
from ..signals.words import stem
from ..store.schema import OWN_AGENT
from ..store.tx import Row, Tx
from .drafts import Draft

_ENDED = ("completed", "skipped")
_TEXTS = {"next_step": "next_seq", "blockers": "blockers_seq", "attention": "attention_seq"}
# Events that only restore or move what was recorded before.
_NO_NEWS = ("undone", "task.split", "task.merged")
_SAID = ("message", "user_instruction", "task.updated")
_SHORT_ANSWER = 12  # words; a longer message must share words with the question
# A short message that shares no word with the question answers it only if it has the form of an answer; an
# order or a remark that happens to come next does not.
_YES_OR_NO = lazy_regex(
    r"(?i)\W*(?:yes|yep|yeah|no|nope|sure|ok|okay|right|correct|exactly|agreed|neither|both|either|ja|nein|doch|oui|non|si"
    r"|sí|sim|não|sì|nee)\b(?! (?:need|more|one)\b)|\W*(?:是|不|好|对|可以|はい|いいえ)"
)  # fmt: skip
_ASKS_WHICH = lazy_regex(
    r"(?i)\W*(?:how (?:many|much|long|big|often)|when|what time|which (?:day|date|version|port))\b"
)
_NUMBER = lazy_regex(r"\d")
_NO_NAME = lazy_regex(
    r"(?i)\W*(?:go|continue|proceed|stop|wait|thanks?|great|good|nice|hello|hi|danke|weiter|merci|gracias)\b"
)
_ASKS_OPEN = lazy_regex(
    r"(?i)\W*(?:who|what|where|when|why|which|how|wer|was|wo|wann|warum|wie|qui|que|quand)\b"
)
# What may stand before an order, and words that choose among what was asked rather than order something else.
_OPENING = lazy_regex(
    r"\W*(?:(?P<agrees>yes|yeah|sure|ok|okay|right|good|great|no|nope)\b\W*)?(?P<also>(?:(?:also|and|now|then|please|just|so|next"
    r"|first|task|thing|the)\b\W*)*)"
)
_CHOOSES = frozenset("use take pick go choose keep prefer leave let do try stay".split())
_ANY_WORD = lazy_regex(r"[^\W\d_]+")
_COMMON = frozenset(
    "about after also been before could does done from have into just make need only should some that their them then"
    " there they this what when where which will with would your please still want".split()
)
_WORD = lazy_regex(r"\w{4,}")
_MOST_QUESTIONS = 50


class Freshness:
    """What becomes outdated with an event: columns of the task, and questions that are closed after it."""

    def __init__(self, tx: Tx, head: Row, draft: Draft, origin: Origin) -> None:
        self.closings: list[Draft] = []
        if draft.is_copy or draft.kind in _NO_NEWS:
            return
        over = [item for item, row in draft.sets.get("steps", {}).items() if row.get("status") in _ENDED]
        if over:
            self._end_texts(tx, head, draft, origin, over)
            self._close_questions(tx, head, over)
        elif origin.channel == "user" and draft.kind in _SAID and draft.text:
            self._close_answered(tx, head, draft.text)

    def _end_texts(self, tx: Tx, head: Row, draft: Draft, origin: Origin, over: list[str]) -> None:
        heads: dict[str, Any] = draft.sets.get("heads", {})
        standing = [name for name in _TEXTS if head.get(name) and name not in heads]
        if not standing:
            return
        steps = {row["item_id"]: row for row in tx.steps(head["task_id"])}
        ended = [steps[item] for item in over if item in steps]
        for name in standing:
            since: int = head.get(_TEXTS[name]) or 0
            about = _about_next if name == "next_step" else _about_current
            if not any(about(head, row, since) for row in ended):
                continue
            if origin.channel != "user" and _channel(tx, head["task_id"], since) == "user":
                continue
            draft.sets.setdefault("heads", {})[name] = None

    def _close_questions(self, tx: Tx, head: Row, over: list[str]) -> None:
        for row in tx.records(head["task_id"], "question", ("active",), _MOST_QUESTIONS):
            if row["item_id"] in over and row["channel"] != "user":
                self.closings.append(_closing(row["seq"], "its step is over"))

    def _close_answered(self, tx: Tx, head: Row, text: str) -> None:
        """Close the newest open question if a message of the user answers it."""
        rows = tx.records(head["task_id"], "question", ("active",), 1)
        if not rows or rows[0]["channel"] == "user" or text.rstrip().endswith("?"):
            return
        question = rows[0]
        asked: str = question["text"] or ""
        if _is_another_order(asked, text):
            return
        shared = _content(text) & _content(asked)
        short = len(text.split()) <= _SHORT_ANSWER and not _user_spoke(tx, head, question["seq"])
        if shared or (short and _has_form_of_answer(asked, text)):
            answered = f"answered by #{head['last_seq'] + 1}"
            self.closings.append(_closing(question["seq"], answered))


def closing_origin(origin: Origin) -> dict[str, Any]:
    """The origin of an inferred closing: Ringbolt itself, never the user."""
    return {"agent": OWN_AGENT, "channel": "agent" if origin.channel == "user" else origin.channel}


def _about_next(head: Row, row: Row, since: int) -> bool:
    """Whether the noted next step is outdated when a step ends: the step began after the note, or shares
    its words."""
    began_before = row["status"] == "active" and (row["cause_seq"] or 0) < since
    title = set(_WORD.findall(row["title"].lower()))
    noted = set(_WORD.findall((head["next_step"] or "").lower()))
    return not began_before or (bool(title) and 2 * len(title & noted) >= len(title))


def _about_current(head: Row, row: Row, since: int) -> bool:
    """Whether blockers or a call for attention were about a step: the current one, if the task has one."""
    return row["item_id"] == head["current_item"] or head["current_item"] is None


def _channel(tx: Tx, task_id: str, seq: int) -> str | None:
    event = tx.event(task_id, seq) if seq else None
    return event["channel"] if event else None


def _content(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text.lower()) if word not in _COMMON}


def _is_another_order(asked: str, text: str) -> bool:
    """Whether a text tells the agent to do something that the question does not speak of: "fix issue 17 first"."""
    from ..signals.reports.trade_words import concepts  # slow to load, and few messages follow a question

    opening = _OPENING.match(text.lower())
    if opening and "next" in opening["also"]:
        return True
    rest = text[opening.end() :] if opening else text
    first = next(iter(_ANY_WORD.findall(rest.lower())), "")
    if opening and opening["agrees"] and not opening["also"] and (not rest.strip() or first in _CHOOSES):
        return False
    is_order = first not in _CHOOSES and any(name.startswith("#") for name in concepts(first, "en"))
    return is_order and stem(first) not in {stem(word) for word in _ANY_WORD.findall(asked.lower())}


def _has_form_of_answer(asked: str, text: str) -> bool:
    """Whether a short text may answer a question without any of its words: yes or no, a number, or a name."""
    if _ASKS_WHICH.match(asked) and _NUMBER.search(text):
        return True
    polar = _YES_OR_NO.match(text) is not None
    if not _ASKS_OPEN.match(asked):
        return polar
    return not polar and len(text.split()) <= 3 and not _NO_NAME.match(text)


def _user_spoke(tx: Tx, head: Row, since: int) -> bool:
    later = tx.thread(head["task_id"], 20, None, _SAID)
    return any(row["seq"] > since and row["channel"] == "user" for row in later)


def _closing(seq: int, why: str) -> Draft:
    # `Base._append_event` fills in the record, once the closing event has a number.
    return Draft("entry.closed", text=why, data={"resolved": [seq], "inferred": True})
