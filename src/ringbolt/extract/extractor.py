"""The extractor: what is worth remembering in what an agent and its user said and did. No model, no I/O.

It reads ledger events in order and finds decisions with their reasons, dead ends, failed attempts and what
worked instead, what the user rejected, constraints, commits and other artifacts, named values, discoveries,
blockers, questions and next steps. Tool output never becomes a decision. A finding is trusted as much as the
least trusted of its sources, and never more than the agent; what the user said has `said_by` "user" in its
data.

`Extractor` works event by event and keeps a small state between batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import Any

import msgspec

from ..ledger.trust import AGENT, least_trusted
from ..model.types import Channel, EntryType, Event, Value, is_dict, is_list
from ..model.validate import blake2b
from ..signals import prompt_phrases
from ..signals.calls import failures, tools
from ..signals.calls.commands import commits
from ..signals.calls.failures import error_line, fingerprint
from ..signals.phrases import is_offer, is_question
from ..signals.text_layout import cut, layout, one_line, plain
from . import artifacts, reversal, values
from .attempts import Attempt, Attempts, Failure, attempt
from .decisions import Decided
from .known_entries import BLOCKER, FAILURES, LATEST
from .message_reader import DeadEnd, Message, Remark, read_message
from .written_texts import message_of, note_of

MOST_SUMMARY, MOST_DETAIL = 300, 2000
MOST_RUNNING, MOST_SEEN = 64, 400

UNEXPLAINED = "The user rejected it."
_Seqs = Sequence[int]  # the events that a finding comes from
_MESSAGES = ("message", "task.updated", "step.updated")
# Written by the host in the user's name: interruptions, commands, output of commands, summaries.
_BY_HOST = ("[Request interrupted", "<", "This session is being continued", "Caveat:", "# AGENTS.md")
_REPORT = " is done: "  # with which a host reports the end of a helper
MOST_BLOCKERS = 5
CORRECTS = 0.6  # confidence of a correction by the user
MOST_PROBABLE, PROBABLE = 1, 0.4  # of a message, and their confidence
MOST_ANSWER = 200  # characters of a prompt that answers a question
LONG_PROMPT = 3000  # characters; a longer one hands over a plan or pastes something


class Found(Value, frozen=True, kw_only=True):
    """Something worth remembering, in the form of an entry, with the events that it was found in.

    Blockers, constraints and next steps have the type `context` (see `data["kind"]`). `overrules_key` in
    `data` is the key of the entry that this one takes back (of the same type, or `overrules_type`). Equal
    things have equal keys: the name of a variable, or a fingerprint. An error whose `data` has `resolved` was
    fixed (`fixed_by`). What is only probable has `weak`.
    `labels` are (kind, name): the tags of the entry, and the steps it matters for.
    """

    type: str
    summary: str
    detail: str | None = None
    data: Mapping[str, Any]
    key: str | None
    seqs: tuple[int, ...]
    channel: Channel
    confidence: float
    labels: tuple[tuple[str, str], ...] = ()


class Extractor:
    """Reads events one by one. `state()` is all it must remember between them, as JSON of bounded size."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        self._attempts = Attempts(state.get("attempts"))
        self._running: dict[int, dict[str, Any]] = {
            int(seq): one for seq, one in state.get("running", {}).items()
        }
        self._seen: dict[str, str] = dict(state.get("seen", {}))
        self._asked: dict[str, Any] | None = state.get("asked")
        self._refused: dict[str, Any] | None = state.get("refused")
        self._blockers: list[dict[str, Any]] = list(state.get("blockers", ()))
        self._decided: list[dict[str, Any]] = list(state.get("decided", ()))
        self._failed: bool = state.get("failed", False)  # whether the last action failed
        self._spoke: int = state.get("spoke", 0)  # the agent's last message

    def state(self) -> dict[str, Any]:
        """What must be kept to continue later."""
        return {
            "attempts": self._attempts.state(),
            "running": {str(seq): one for seq, one in self._running.items()},
            "seen": dict(self._seen),
            "asked": self._asked,
            "refused": self._refused,
            "blockers": self._blockers,
            "decided": self._decided,
            "failed": self._failed,
            "spoke": self._spoke,
        }

    def observe(self, event: Event) -> list[Found]:
        """The new findings of an event: not found before, or with a changed value."""
        if event.origin.agent == AGENT:
            return []
        if "blockers" in (event.sets.get("heads") or {}):
            self._blockers = []  # somebody has said what blocks the work, and that is all
        if event.origin.channel == "user" and event.type != "action.ended":
            found = self._hear_user(event)
        elif event.type in ("action", "action.ended"):
            found = self._act(event)
        elif event.type in _MESSAGES and event.text and event.origin.channel == "agent":
            found = self._hear(event)
        elif event.type == "tool_result" and _REPORT in (event.text or "")[:120]:
            found = _reported(event)
        else:
            return []
        return [one for one in found if self._is_new(one)]

    def open(self) -> list[Found]:
        """What is open now: failures without a fix, a rejection without a reason, blockers, the last
        question."""
        found = [_error(one) for one in self._attempts.open]
        if self._refused:
            found.append(_rejected(self._refused, UNEXPLAINED))
        for one in self._blockers:
            key = f"{BLOCKER}{_key(one['text'])}"
            more = {"kind": "blocker", "items": [one["text"]]}
            found.append(_found("context", one["text"], key, (one["seq"],), "agent", one["sure"], **more))
        if self._asked:
            question = self._asked["text"]
            found.append(_found("question", question, _key(question), (self._asked["seq"],), "agent", 0.7))
        return found

    def _is_new(self, one: Found) -> bool:
        """Whether this was not found before; a variable with another value is new."""
        mark = f"{one.type} {one.key}"
        value = _key(one.summary) if one.type in LATEST else ""
        if self._seen.get(mark) == value:
            return False
        self._seen.pop(mark, None)  # moves to the end, as the last one seen
        self._seen[mark] = value
        if len(self._seen) > MOST_SEEN:
            del self._seen[next(iter(self._seen))]
        return True

    # --- what is said

    def _hear_user(self, event: Event) -> list[Found]:
        """A prompt answers the open question, may give the reason of a rejection, and decides and
        constrains."""
        asked, self._asked = self._asked, None
        text = event.text or ""
        if not text.strip() or text.startswith(_BY_HOST):
            return []
        if event.type in FAILURES:
            return []  # names what was ruled out or failed; read as a sentence it would ask for just that
        refused, self._refused = self._refused, None
        found: list[Found] = []
        if refused and prompt_phrases.ALLOWS.match(text):
            refused = None  # after all
        if refused:
            refused["seqs"] = [*refused["seqs"], event.seq]
            return [_rejected(refused, one_line(text, MOST_SUMMARY))]
        self._end_blockers(text, by_user=True, done=False)
        heard = read_message(text, user=True)
        message = heard.sure()
        # A long request is kept as it is; only what it calls a decision is taken from it.
        if len(text) > LONG_PROMPT:
            message = Message(decisions=[one for one in message.decisions if one.confidence >= 0.8])
        if asked and len(text) <= MOST_ANSWER and not is_question(text) and not message.rejections:
            reason = next((one.reason for one in message.decisions), "")
            answer = Decided(choice=plain(text), reason=reason, title=asked["text"], confidence=0.6)
            return [*found, self._decision(answer, (asked["seq"], event.seq), text, user=True)]
        takes_back = bool(message.rejections) or reversal.corrects(text)
        brief = len(text) <= MOST_ANSWER and not is_question(text)
        last = self._last_of_agent(event.seq, text) if takes_back else None
        last = last or (reversal.contradicted(text, self._decided) if brief else None)
        corrections = [_correction(one.text, one.confidence) for one in message.rejections]
        if brief and takes_back and not message.decisions:
            # What corrects is meant, however it is worded.
            message.decisions = [one.replace(confidence=CORRECTS) for one in heard.decisions]
        if last and brief and not (message.decisions or corrections):
            corrections = [_correction(text, CORRECTS)]
        found += [
            self._decision(one, (event.seq,), text, user=True, overrules=last)
            for one in (*message.decisions, *corrections)
        ]
        if len(text) <= LONG_PROMPT and not (brief and takes_back):
            found += _probable(heard, (event.seq,), "user")
        return [*found, *_said(message, (event.seq,), "user")]

    def _hear(self, event: Event) -> list[Found]:
        seqs = (event.seq,)
        self._spoke = event.seq
        text = event.text or ""
        lines = list(layout(text))
        heard = read_message(text, after_failure=self._failed)
        message = heard.sure()
        self._end_blockers(text, by_user=False, done=message.done)
        if message.nothing_blocks:
            self._blockers = []
        for one in message.blockers:
            self._block(one, event.seq)
        earlier = list(self._decided)
        found = [self._decision(one, seqs, text, user=False) for one in message.decisions]
        found += [self._abandon(one, seqs, earlier) for one in message.dead_ends]
        found += [*_said(message, seqs, "agent", dead_ends=False), *_probable(heard, seqs, "agent")]
        if message.steps:
            steps = "; ".join(message.steps)
            more = {"kind": "next_steps", "items": message.steps}
            found.append(_found("context", steps, "next_steps", seqs, "agent", 0.6, **more))
        found += [
            _artifact("address", url, url, seqs, "agent")
            for url in artifacts.deployed_addresses(text[:20_000])
        ]
        found += [_variable(*pair, seqs, "agent") for pair in values.stated_values(lines)]
        question = message.question
        self._asked = {"text": question, "seq": event.seq} if question and not is_offer(question) else None
        return found

    def _decision(
        self, one: Decided, seqs: _Seqs, text: str, *, user: bool, overrules: str | None = None
    ) -> Found:
        """A decision as a finding; it is remembered, so that a later one can take it back."""
        # Decisions of one message stand beside each other.
        earlier = [old for old in self._decided if old["seq"] < seqs[0]]
        words = text if len(text) <= MOST_ANSWER else one.choice
        overrules = overrules or reversal.overruled(one.choice, one.instead, words, user, earlier)
        found = _decision(one, seqs, "user" if user else "agent", overrules)
        self._decided = [old for old in self._decided if old["key"] not in (overrules, found.key)]
        about = reversal.topic(f"{one.title} {one.choice}")[:20]
        keeps = one.choice.lower().startswith(("keep", "leave", "stay", "stick"))
        mark = {"key": found.key, "topic": about, "user": user, "keeps": keeps, "seq": seqs[-1]}
        self._decided = [*self._decided, mark][-reversal.MOST_REMEMBERED :]
        return found

    def _abandon(self, one: DeadEnd, seqs: _Seqs, earlier: Sequence[Mapping[str, Any]]) -> Found:
        """A dead end; what the agent had decided about it before does not stand any more."""
        found = _dead_end(one, seqs, "agent")
        key = reversal.abandoned(one.what, earlier)
        if key is None:
            return found
        self._decided = [old for old in self._decided if old["key"] != key]
        return found.replace(data={**found.data, "overrules_key": key, "overrules_type": "decision"})

    def _last_of_agent(self, before: int, text: str) -> str | None:
        """The key of the agent's newest decision since the user spoke, if a correction takes it back: one of
        the message before it, or one about the same."""
        last = self._decided[-1] if self._decided else None
        if not last or last["user"] or last["seq"] >= before:
            return None
        about = set(last["topic"])
        shared = about & set(reversal.topic(text))
        is_near = last["seq"] >= self._spoke
        return last["key"] if is_near or len(shared) >= max(2, 0.4 * len(about)) else None

    def _block(self, one: Remark, seq: int) -> None:
        if all(old["text"] != one.text for old in self._blockers):
            self._blockers.append({"text": one.text, "seq": seq, "sure": one.confidence})
            del self._blockers[:-MOST_BLOCKERS]

    def _end_blockers(self, text: str, *, by_user: bool, done: bool) -> None:
        if self._blockers:
            self._blockers = [
                one
                for one in self._blockers
                if not reversal.ends_blocker(one["text"], text[:4000], by_user, done)
            ]

    # --- what is done

    def _act(self, event: Event) -> list[Found]:
        """Remember an action until it has ended, then read it."""
        self._asked = None
        data = event.data
        if event.type == "action":
            status = _status(event.sets.get("+records"), event.seq)
            tool = str(data.get("tool") or data.get("type") or "")
            tried = attempt(event.seq, tool, data.get("input"), event.text)
            if status == "started":
                kept = {"attempt": tried.to_dict(), "input": _kept_input(data.get("input"))}
                self._running[event.seq] = kept
                if len(self._running) > MOST_RUNNING:
                    del self._running[next(iter(self._running))]
                return []
            return self._end(event, tried, data.get("input"), status, (event.seq,))
        begun = self._running.pop(event.ref or -1, None)
        if begun is None:
            return []
        tried = msgspec.convert(begun["attempt"], Attempt)
        status = _status(event.sets.get("records"), event.ref or -1)
        return self._end(event, tried, begun["input"], status, (tried.seq, event.seq))

    def _end(
        self, event: Event, tried: Attempt, arguments: Any, status: str | None, seqs: tuple[int, ...]
    ) -> list[Found]:
        data = event.data
        output = failures.output_text(data.get("output"))
        error = failures.output_text(data.get("error"))
        text = "\n".join(part for part in (error, output) if part)
        fields: Mapping[str, Any] = arguments if is_dict(arguments) else {}
        command = ""
        if tools.is_shell(tried.tool) or "command" in fields:
            command = str(fields.get("command") or fields.get("cmd") or "")
        reason = failures.reported_rejection(tried.tool, status, data)
        if reason is not None:
            return self._refuse(tried, reason, seqs)
        code = failures.exit_code(data.get("output"))
        failed = status == "failed" or bool(data.get("error")) or bool(code)
        # The output of a tool is trusted as much as the tool, and text from the web less.
        channel = least_trusted([event.origin.channel, "web" if tools.is_web(tried.tool) else "tool"])
        found: list[Found] = []
        self._failed = failed or bool(command and failures.hides_failure(command, output))
        if self._failed:
            found = self._fail(tried, text, seqs)
        elif status != "skipped":
            found = self._succeed(tried)
            found += [
                _artifact(*one, seqs, channel) for one in artifacts.made_by_tool(tried.tool, fields, output)
            ]
        if command:
            found += _by_command(command, output, failed, seqs, channel)
        if not self._failed and (written := message_of(command) if command else note_of(fields)):
            found += self._written(written, seqs, least_trusted([event.origin.channel, "agent"]))
        return found

    def _written(self, text: str, seqs: _Seqs, channel: Channel) -> list[Found]:
        """What the message of a commit or a note says; only what it surely says, since it is written for
        others."""
        message = read_message(text).sure()
        found = [
            self._decision(one, seqs, text, user=False).replace(channel=channel) for one in message.decisions
        ]
        return found + [_dead_end(one, seqs, channel) for one in message.dead_ends]

    def _refuse(self, tried: Attempt, words: str, seqs: tuple[int, ...]) -> list[Found]:
        refused = {"what": tried.what, "seqs": list(seqs)}
        if words:
            return [_rejected(refused, one_line(words, MOST_DETAIL))]
        self._refused = refused
        return []

    def _fail(self, tried: Attempt, text: str, seqs: tuple[int, ...]) -> list[Found]:
        symptom = error_line(text)
        if not symptom or failures.is_noise(symptom):
            return []
        key = _key(fingerprint(f"{tried.tool} {symptom}", paths=False))
        return [_given_up(one) for one in self._attempts.failed(tried.replace(seq=seqs[-1]), symptom, key)]

    def _succeed(self, done: Attempt) -> list[Found]:
        closed = self._attempts.succeeded(done, tools.may_edit(done.tool))
        return [
            _given_up(one) if one.is_given_up else _mended(one) if again else _excluded(one, done)
            for one, again in closed
        ]


# --- what is found ----------------------------------------------------------------------------------


def _found(
    kind: EntryType, summary: str, key: str, seqs: _Seqs, channel: Channel, sure: float, /, **data: Any
) -> Found:
    if channel == "user":
        data["said_by"] = "user"
    return Found(
        type=kind,
        summary=cut(values.without_secrets(summary), MOST_SUMMARY),
        data={name: _clean(value) for name, value in data.items() if value},
        key=key,
        seqs=tuple(seqs),
        channel=channel,
        confidence=sure,
    )


def _clean(value: Any) -> Any:
    if is_list(value):
        return [_clean(one) for one in value]
    return values.without_secrets(value) if isinstance(value, str) else value


def _decision(one: Decided, seqs: _Seqs, channel: Channel, overrules: str | None) -> Found:
    data = {"choice": one.choice, "reasoning": one.reason, "title": one.title, "overrules_key": overrules}
    options = [one.instead] if one.instead else None
    # An answer is shown with its question: neither says anything alone.
    summary = f"{one.title} {one.choice}" if one.title.endswith("?") else one.title or one.choice
    return _found(
        "decision", summary, _key(one.choice), seqs, channel, one.confidence, **data, options=options
    )


def _said(message: Message, seqs: _Seqs, channel: Channel, *, dead_ends: bool = True) -> list[Found]:
    """The dead ends, constraints, values and discoveries of a message."""
    found = [_dead_end(one, seqs, channel) for one in message.dead_ends] if dead_ends else []
    for one in message.constraints:
        key = f"constraint {_key(one.text)}"
        found.append(_found("context", one.text, key, seqs, channel, one.confidence, kind="constraint"))
    found += [
        _found("discovery", one.text, _key(one.text), seqs, channel, one.confidence)
        for one in message.discoveries
    ]
    for name, value, sure in message.values:
        if not values.is_secret(name, value):
            found.append(
                _found("variable", f"{name} = {value}", name, seqs, channel, sure, value=value, kind="stated")
            )
    return found


def _correction(text: str, sure: float) -> Decided:
    """What the user wants instead, in other words than the prompt, which is an entry already."""
    words = plain(text).split(" ")
    rest = list(dropwhile(lambda word: word.strip(",.!-").lower() in _OBJECTIONS, words))
    choice = " ".join(rest if rest and len(rest) < len(words) else ["correction:", *words])
    return Decided(choice=choice, confidence=sure)


_OBJECTIONS = frozenset("no nope nah wait actually hm hmm stop sorry".split())


def _reported(event: Event) -> list[Found]:
    """What the report of a helper found out and ruled out. It decides nothing for the agent that it worked
    for."""
    message = read_message(str(event.data.get("detail") or event.text or "")).sure()
    seqs, channel = (event.seq,), event.origin.channel
    found = [_dead_end(one, seqs, channel) for one in message.dead_ends]
    return found + [
        _found("discovery", one.text, _key(one.text), seqs, channel, one.confidence)
        for one in message.discoveries
    ]


def _probable(message: Message, seqs: _Seqs, channel: Channel) -> list[Found]:
    """What a message probably decides or rules out, as discoveries: search finds them, and neither the
    packet nor an answer takes them for decisions. Without a reason they say no more than the message, and
    would only stand in the way of what is sure."""
    decided, ruled_out = message.probable()
    texts = [f"Probably decided: {one.choice} ({one.reason.rstrip('.')})" for one in decided if one.reason]
    texts += [f"Probably ruled out: {one.what} ({one.why.rstrip('.')})" for one in ruled_out if one.why]
    texts = texts[:MOST_PROBABLE]
    return [_found("discovery", text, _key(text), seqs, channel, PROBABLE, weak=True) for text in texts]


def _dead_end(one: DeadEnd, seqs: _Seqs, channel: Channel) -> Found:
    more = {"what": one.what, "why": one.why, "kind": "dead_end"}
    return _found("exclusion", one.what, _key(f"{one.what} {one.why}"), seqs, channel, one.confidence, **more)


def _failure(kind: EntryType, one: Failure, seqs: _Seqs, sure: float, **data: Any) -> Found:
    """A failure as an error or an exclusion; errors in how a tool was called are hardly worth remembering."""
    what, why = one.attempt.what, one.symptom
    if failures.is_of_the_host(why):
        sure = 0.3
    summary = what if kind == "exclusion" else f"{what}: {why}"
    return _found(kind, summary, one.key, seqs, "tool", sure, what=what, why=why, symptom=why, **data)


def _excluded(one: Failure, done: Attempt) -> Found:
    """A failure after which another way worked."""
    return _failure("exclusion", one, (*one.seqs, done.seq), 0.8, worked=done.what)


def _mended(one: Failure) -> Found:
    """An error after which the same call worked, because something else was changed."""
    edited = ", ".join(path.rpartition("/")[2] for path in one.edited)
    return _failure("error", one, one.seqs, 0.6, resolved=True, fixed_by=edited and f"edited {edited}")


def _given_up(one: Failure) -> Found:
    """A failure that nobody came back to."""
    return _failure("error", one, one.seqs, 0.4, resolved=True, fixed_by="not tried again")


def _error(one: Failure) -> Found:
    """A failure for which nothing has worked yet."""
    return _failure("error", one, one.seqs, 0.5)


def _rejected(refused: Mapping[str, Any], words: str) -> Found:
    what, seqs = refused["what"], refused["seqs"]
    # The reason may come after the rejection was written without one.
    earlier = None if words == UNEXPLAINED else _key(f"{what} {UNEXPLAINED}")
    data = {"what": what, "why": words, "rejected": True, "overrules_key": earlier}
    return _found("exclusion", what, _key(f"{what} {words}"), seqs, "tool", 0.9, **data)


def _variable(name: str, value: str, kind: str, seqs: _Seqs, channel: Channel) -> Found:
    sure = 0.7 if kind == "state" else 0.6
    return _found("variable", f"{name} = {value}", name, seqs, channel, sure, value=value, kind=kind)


def _artifact(kind: str, name: str, url: str, seqs: _Seqs, channel: Channel) -> Found:
    summary = f"{kind}: {name}" + (f" ({url})" if url and url != name else "")
    return _found("artifact", summary, _key(url or name), seqs, channel, 0.8, kind=kind, name=name, url=url)


def _by_command(command: str, output: str, failed: bool, seqs: _Seqs, channel: Channel) -> list[Found]:
    """What a command made and printed. A failed one may have committed first, as only its output shows."""
    found: list[Found] = []
    for number, subject in commits(command, output):
        if number or not failed:
            summary = f"commit {number}: {subject}" if number else f"commit: {subject}"
            key = _key(f"{number} {subject}")
            more = {"kind": "commit", "name": subject, "commit": number}
            found.append(_found("artifact", summary, key, seqs, channel, 0.9, **more))
    if not failed:
        found += [_artifact(*one, seqs, channel) for one in artifacts.made_by_command(command, output)]
        found += [
            _artifact("address", url, url, seqs, channel)
            for url in artifacts.deployed_addresses(output[:20_000])
        ]
        found += [_variable(*pair, seqs, channel) for pair in values.printed_values(output)]
    return found


# --- events -----------------------------------------------------------------------------------------


def _status(records: Any, seq: int) -> str | None:
    """The status that an event sets for an action."""
    record = records.get(str(seq)) if is_dict(records) else None
    return record.get("status") if is_dict(record) else None


def _kept_input(arguments: Any) -> dict[str, Any]:
    """The fields of an input that are needed when the action has ended."""
    if not is_dict(arguments):
        return {}
    names = ("command", "cmd", "file_path", "path", "title", "name")
    return {name: plain_value[:4000] for name in names if isinstance(plain_value := arguments.get(name), str)}


def _key(text: str) -> str:
    """A short key for a text, equal for equal words."""
    return blake2b(plain(text, 600).lower().encode("utf-8", "replace"), digest_size=8).hexdigest()
