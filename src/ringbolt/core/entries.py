"""Entries: decisions, exclusions, variables, other notes, snapshots, and side effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ledger.base import Base, Draft, step_id
from ..ledger.looking import gate_of
from ..ledger.trust import is_trusted_as
from ..model import rules, validate
from ..model.errors import InvalidInput, NotFound
from ..model.operation import operation
from ..model.types import Entry, Written, is_list
from ..recall.anchors import cite
from ..signals.keywords import keywords
from ..store.tx import Row, Tx

MOST_COMPARED = 200  # decisions that may have the title of a new one


class Entries(Base):
    """Operations on entries."""

    @operation(
        scope="write",
        powers={"anchors": ("files",)},
        texts=("choice",),
        needed=("choice",),
        example={"choice": "ghcr.io", "reasoning": "the key works there"},
    )
    def task_decide(
        self,
        task_id: str | None = None,
        choice: str | None = None,
        *,
        title: str | None = None,
        options: Sequence[Any] | None = None,
        reasoning: str | None = None,
        risks: str | Sequence[str] | None = None,
        if_wrong: str | None = None,
        context: str | None = None,
        step: str | int | None = None,
        tags: Sequence[str] | None = None,
        relevance_to: Sequence[str] | None = None,
        supersedes: int | Sequence[int] | None = None,
        anchors: Sequence[str] | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Record a decision: what was chosen, from which options, and above all why.

        It supersedes an earlier decision with the same title.

        Args:
            choice: What was chosen.
            title: Short title of the decision. Default: the choice.
            options: The alternatives that were considered.
            reasoning: Why it was chosen.
            risks: What may go wrong with it.
            if_wrong: What to do if it turns out to be wrong.
            context: The circumstances of the decision.
        """
        choice = self._line("choice", choice)
        data = {
            "choice": choice,
            "title": validate.optional("title", title, 1000),
            "options": self._list("options", options) or None,
            "reasoning": self._text("reasoning", reasoning),
            "risks": self._plain("risks", risks),
            "if_wrong": self._text("if_wrong", if_wrong),
            "context": self._text("context", context),
            "anchors": self._cited(anchors),
        }
        return self._remember(
            "task_decide", task_id, "decision", title or choice, data, item=step, tags=tags,
            relevance_to=relevance_to, supersedes=supersedes, token=token, key=key,
        )  # fmt: skip

    @operation(
        scope="write",
        powers={"anchors": ("files",)},
        texts=("what",),
        needed=("what",),
        example={"what": "Push to docker.io", "why": "no rights there"},
    )
    def task_exclude(
        self,
        task_id: str | None = None,
        what: str | None = None,
        *,
        why: str | None = None,
        symptom: str | None = None,
        signature: str | None = None,
        until: str | float | None = None,
        step: str | int | None = None,
        tags: Sequence[str] | None = None,
        relevance_to: Sequence[str] | None = None,
        supersedes: int | Sequence[int] | None = None,
        anchors: Sequence[str] | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Record an approach that did not work, so that it is not tried again.

        Args:
            what: What was tried.
            why: The root cause.
            symptom: What was observed.
            signature: How to recognize the same attempt.
            until: When it may be tried again: an ISO 8601 time or seconds since 1970.
        """
        data = {
            "what": self._line("what", what),
            "why": self._text("why", why),
            "symptom": self._text("symptom", symptom),
            "until": None if until is None else validate.moment("until", until),
            "anchors": self._cited(anchors),
        }
        return self._remember(
            "task_exclude", task_id, "exclusion", what, data, item=step, tags=tags,
            relevance_to=relevance_to, supersedes=supersedes, token=token, key=key,
            record_key=validate.optional("signature", signature, 500),
        )  # fmt: skip

    @operation(
        scope="write",
        repeatable=True,
        texts=("name", "value"),
        needed=("name",),
        example={"name": "version", "value": "v1.2.3"},
    )
    def task_set(
        self,
        task_id: str | None = None,
        name: str | None = None,
        value: Any = None,
        *,
        step: str | int | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Set a variable: a version, a URL, an id. Earlier values stay in the history.

        Args:
            name: Name of the variable, at most 200 bytes.
            value: Any JSON value.
        """
        name = validate.line("name", name, 200)
        value = self._plain("value", value)
        shown = value if isinstance(value, str) else validate.dumps(value)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            old = tx.record_with_key(head["task_id"], "variable", name)
            sets = {"records": _closed(head, [old["seq"]], "superseded", by_this=True)} if old else {}
            return Draft(
                "variable",
                text=f"{name} = {shown}",
                data={"value": value},
                sets=sets,
                item=step_id(tx, head, step),
                record={"type": "variable", "status": "active", "key": name},
            )

        return self._write("task_set", task_id, decide, key=key, token=token, arguments=[name, value, step])

    @operation(scope="read")
    def task_history(
        self, task_id: str | None = None, *, type: str = "variable", name: str | None = None, limit: int = 100
    ) -> tuple[Entry, ...]:
        """All entries of a type, including superseded, resolved and invalidated ones, oldest first.

        Args:
            type: An entry type, or `snapshot`.
            name: Name of a variable, to see all the values it has had, or the key of another entry.
        """
        kind = validate.choice("entry type", type, (*rules.ENTRY_TYPES, "snapshot", "fact"))
        limit = validate.whole("limit", limit, 1, 10_000)
        name = validate.optional("name", name, 500)

        def work(tx: Tx) -> tuple[Entry, ...]:
            full_id = self._find(tx, task_id)["task_id"]
            return self._entries(tx, full_id, kind, tuple(rules.ENTRY_TRANSITIONS), limit, key=name)

        return self.store.read(work)

    @operation(
        scope="write",
        texts=("summary",),
        powers={"anchors": ("files",)},
        example={"summary": "The server has two free ports"},
    )
    def task_remember(
        self,
        task_id: str | None = None,
        summary: str | None = None,
        *,
        type: str = "discovery",
        detail: str | None = None,
        data: Mapping[str, Any] | None = None,
        step: str | int | None = None,
        tags: Sequence[str] | None = None,
        relevance_to: Sequence[str] | None = None,
        supersedes: int | Sequence[int] | None = None,
        resolves: int | Sequence[int] | None = None,
        invalidates: int | Sequence[int] | None = None,
        anchors: Sequence[str] | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Remember something: an error, a discovery, an artifact, an instruction, a question, context.

        With `supersedes`, `resolves` or `invalidates` it also ends earlier entries; without a summary it only
        does that. An instruction counts as the user's only if it came from the user.

        Args:
            summary: What to remember, in one sentence.
            type: One of the entry types, except `variable`: use `task_set`.
            detail: Details beyond the summary.
            data: More fields, as a JSON object.
            resolves: Seq of the entry or entries that are now settled.
            invalidates: Seq of the entry or entries that were wrong.
        """
        kind = validate.choice("entry type", type, rules.ENTRY_TYPES)
        if kind == "user_instruction" and self.origin.channel not in ("user", "agent"):
            raise InvalidInput(
                "invalid_argument",
                f"A text from the channel {self.origin.channel!r} is not a user instruction.",
                "Remember it with type `context`.",
            )
        fields = self._mapping("data", data)
        if detail is not None:
            fields["detail"] = self._text("detail", detail)
        if anchors is not None:
            fields["anchors"] = self._cited(anchors)
        if kind == "variable":
            raise InvalidInput(
                "invalid_argument", "A variable has a name and a value.", "Set it with task_set."
            )
        return self._remember(
            "task_remember", task_id, kind, summary, fields, item=step, tags=tags,
            relevance_to=relevance_to, supersedes=supersedes, resolves=resolves,
            invalidates=invalidates, token=token, key=key,
        )  # fmt: skip

    def _cited(self, anchors: Sequence[str] | None) -> list[dict[str, Any]] | None:
        return None if anchors is None else cite(anchors, self.workspace, gate_of(self))

    def _remember(
        self,
        operation: str,
        task_id: str | None,
        kind: str,
        summary: str | None,
        data: Mapping[str, Any],
        *,
        item: str | int | None,
        tags: Sequence[str] | None,
        relevance_to: Sequence[str] | None,
        supersedes: int | Sequence[int] | None,
        resolves: int | Sequence[int] | None = None,
        invalidates: int | Sequence[int] | None = None,
        record_key: str | None = None,
        token: int | None,
        key: str | None,
    ) -> Written:
        ended = {
            "superseded": _numbers("supersedes", supersedes),
            "resolved": _numbers("resolves", resolves),
            "invalidated": _numbers("invalidates", invalidates),
        }
        if summary is None and not any(ended.values()):
            raise InvalidInput("invalid_argument", "There is no summary.", "Pass one sentence.")
        if summary is not None:
            summary = self._line("summary", summary)
        tag_list = validate.text_list("tags", tags)
        relevant = validate.text_list("relevance_to", relevance_to, 64)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            closed = _closed_entries(tx, head, ended, by_this=summary is not None)
            if kind == "decision" and summary is not None:
                same = [seq for seq in self._same_title(tx, head, summary) if str(seq) not in closed]
                closed |= _closed(head, same, "superseded", by_this=True)
            sets = {"records": closed} if closed else {}
            item_id = step_id(tx, head, item)
            if summary is None:
                return Draft("entry.closed", data={k: v for k, v in ended.items() if v}, sets=sets)
            labels = [("tag", tag) for tag in tag_list] + [("item", name) for name in relevant]
            if not tag_list:
                words = " ".join(str(data.get(name) or "") for name in ("title", "choice"))
                labels += [("word", word) for word in keywords(f"{words} {summary}")]
            return Draft(
                kind,
                text=summary,
                data=data,
                sets=sets,
                item=item_id,
                labels=labels,
                record={"type": kind, "status": "active", "key": record_key},
            )

        arguments = [kind, summary, data, item, tags, relevance_to, ended, record_key]
        return self._write(operation, task_id, decide, key=key, token=token, arguments=arguments)

    def _same_title(self, tx: Tx, head: Row, title: str) -> list[int]:
        """The active decisions with a title, which a new one supersedes; not those of a more trusted
        channel."""
        plain = " ".join(title.casefold().split())
        return [
            row["seq"]
            for row in tx.records(head["task_id"], "decision", ("active",), MOST_COMPARED)
            if " ".join((row["text"] or "").casefold().split()) == plain
            and is_trusted_as(self.origin.channel, row["channel"])
            and (row["channel"] != "user" or self.origin.channel == "user")
        ]

    @operation(
        scope="write",
        texts=("content",),
        needed=("content",),
        example={"content": "…", "label": "before compaction"},
    )
    def task_snapshot(
        self,
        task_id: str | None = None,
        content: str | None = None,
        *,
        label: str = "context",
        summarized: bool = False,
        step: str | int | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Store a context verbatim: at the start, before or after a summary, before a stage.

        Args:
            content: The text.
            label: What it is a snapshot of: `initial`, `before stage 2`, …
            summarized: Whether the content is already a summary.
        """
        content = validate.nonempty("content", content, self.settings.max_text_bytes)
        label = validate.line("label", label, 200)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            return Draft(
                "snapshot",
                text=content,
                data={"label": label, "summarized": bool(summarized)},
                item=step_id(tx, head, step),
                record={"type": "snapshot", "status": "active", "key": label},
            )

        return self._write(
            "task_snapshot", task_id, decide, key=key, token=token,
            arguments=[content, label, summarized, step],
        )  # fmt: skip

    @operation(
        scope="write",
        texts=("what",),
        needed=("what",),
        example={"what": "Run the container", "verify": "docker ps"},
    )
    def task_intent(
        self,
        task_id: str | None = None,
        what: str | None = None,
        *,
        verify: str | None = None,
        signature: str | None = None,
        kind: str | None = None,
        step: str | int | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Announce an action that must not happen twice, and how to verify whether it happened.

        Args:
            what: The action that is about to happen.
            verify: How to find out whether it was done.
            signature: How to recognize the same action.
            kind: What kind of action it is: push, deploy, mail, or your own word.
        """
        what = self._line("what", what)
        verify = self._text("verify", verify)
        mark = validate.optional("signature", signature, 500)
        kind = validate.optional("kind", kind, 100)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            return Draft(
                "intent",
                text=what,
                data={"verify": verify, **({"kind": kind} if kind else {})},
                item=step_id(tx, head, step),
                record={"type": "effect", "status": "intended", "key": mark},
            )

        return self._write(
            "task_intent", task_id, decide, key=key, token=token,
            arguments=[what, verify, step, mark, *([kind] if kind else [])],
        )  # fmt: skip

    @operation(scope="write", example={"intent": 4, "outcome": "did"})
    def task_outcome(
        self,
        task_id: str | None = None,
        *,
        intent: int,
        outcome: str,
        note: str | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Report how an announced action ended: did, did_not, or unknown until someone verifies it.

        Args:
            intent: Seq of the intent.
            outcome: did, did_not or unknown; for what was done, later undone or superseded.
            note: A note.
        """
        intent = validate.whole("intent", intent, 1, 1 << 62)
        outcome = validate.choice("outcome", outcome, ("did", "did_not", "unknown", "undone", "superseded"))
        note = self._text("note", note)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            record = _record(tx, head, intent, "effect", ("effect",))
            rules.check_transition(
                rules.EFFECT_TRANSITIONS, f"Side effect #{intent}", record["status"], outcome, again=False
            )
            changed = {"status": outcome, "ref_seq": head["last_seq"] + 1, "ended_at": now}
            return Draft(
                "outcome",
                text=note,
                data={"outcome": outcome},
                sets={"records": {str(intent): changed}},
                item=record["item_id"],
                ref=intent,
            )

        return self._write(
            "task_outcome", task_id, decide, key=key, token=token, arguments=[intent, outcome, note]
        )


def _record(tx: Tx, head: Row, seq: int, what: str, types: Sequence[str]) -> Row:
    record = tx.record(head["task_id"], seq)
    if record is None or record["type"] not in types:
        raise NotFound(
            "record_not_found",
            f"#{seq} is not an {what} of task {head['task_id']}.",
            "Use the seq that was returned when it was written.",
        )
    return record


def _closed_entries(tx: Tx, head: Row, ended: Mapping[str, Sequence[int]], by_this: bool) -> dict[str, Any]:
    """The record rows of the entries that the next event ends, given by their new status."""
    closed: dict[str, Any] = {}
    for status, numbers in ended.items():
        for number in numbers:
            old = _record(tx, head, number, "entry", (*rules.ENTRY_TYPES, "snapshot"))
            rules.check_transition(rules.ENTRY_TRANSITIONS, f"Entry #{number}", old["status"], status)
        closed |= _closed(head, numbers, status, by_this)
    return closed


def _closed(head: Row, seqs: Sequence[int], status: str, by_this: bool) -> dict[str, Any]:
    """The record rows of entries that the next event ends; with `by_this`, that event replaces them."""
    changed = {"status": status, "ref_seq": head["last_seq"] + 1 if by_this else None}
    return {str(seq): dict(changed) for seq in seqs}


def _numbers(what: str, value: Any) -> list[int]:
    if value is None:
        return []
    values = value if is_list(value) else [value]
    return [validate.whole(what, number, 1, 1 << 62) for number in values]
