"""The base of all operations: the store, who acts, finding a task, and the path of every write."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

from msgspec.structs import asdict

from ..model import rules, validate
from ..model.capabilities import LOCAL, Grant, workspace_refused
from ..model.errors import Conflict, InvalidInput, NotFound, shown
from ..model.redaction import without_private
from ..model.results import MirrorStatus
from ..model.scope import workspace_of
from ..model.settings import Settings
from ..model.trust import Overruled, key_of
from ..model.types import Entry, Origin, StepMove, Written, is_dict, is_list
from ..model.validate import blake2b
from ..store import Store, jobs
from ..store.hashes import origin_id
from ..store.past import past
from ..store.queries.goal_queries import goals_of
from ..store.tx import Row, Tx
from . import proposals
from .approvals import Gate, approval_hold, sets_gate
from .current_task import current_task
from .drafts import Draft as Draft
from .drafts import payload
from .freshness import Freshness, closing_origin
from .goal_breaker import added_blockers, count_blockers
from .idle_tasks import resumption
from .values import read_entries
from .without_secrets import callback_of, redact_draft

Result = TypeVar("Result")

# What identifies a call when it is repeated: its operation, its scoped key if it has one, and a digest of its
# arguments.
CallIdentity = tuple[str, str | None, str]

# Statuses of a step after which its events are extracted.
_EXTRACTED = ("completed", "failed", "skipped")


def _blockers_before(head: Row, draft: Draft) -> str | None:
    """A task's blockers before an event that blocks or ends it, as JSON; None for all other events."""
    heads: Any = draft.sets.get("heads")
    if not heads or head.get("kind") != "task":
        return None
    if heads.get("blockers") or heads.get("status") in rules.ENDED:
        return head.get("blockers") or ""
    return None


def _task_of(result: Written) -> tuple[str]:
    return (result.task_id,)


Room = TypeVar("Room", bound="Base")


class Mirrors(Protocol):
    """Files that mirror the store: the interface of `files.mirror_keeper.Keeper`, for lower rooms."""

    def touched(self, tasks: Iterable[str]) -> None:
        """Refresh the files of these tasks soon; their writes are committed."""
        ...

    def refresh(self, workspace: str | None, force: bool) -> None:
        """Refresh the files of a workspace now."""
        ...

    def status(self, workspace: str | None) -> tuple[MirrorStatus, ...]:
        """The state of each file of a workspace."""
        ...

    def failing(self) -> Collection[str]:
        """A sentence for each file that could not be written recently."""
        ...

    def cleared(self, heads: Sequence[Row], gone: bool) -> tuple[str, ...]:
        """Remove forgotten content from the files; returns the paths that still contain it."""
        ...

    def mend(self, task_id: str, path: str) -> None:
        """Rewrite a stale file."""
        ...

    def close(self) -> None:
        """Finish pending writes."""
        ...


class Base:
    """A store, and the origin that acts on it."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        origin: Origin,
        workspace: str | None = None,
        repository: str | None = None,
        correlation: str = "",
        clock: Callable[[], float] = time.time,
        random: Callable[[int], bytes] = os.urandom,
        mirrors: Mirrors | None = None,
        grant: Grant = LOCAL,
    ) -> None:
        self.store = store
        self.settings = settings
        self.origin = origin
        self.workspace = workspace
        self.repository = repository
        self.grant = grant
        self._correlation = correlation
        self._clock = clock
        self._random = random
        self._origin_id = origin_id(origin)
        # The channel whose rights count: the user's, while a proposal is carried out that the user accepted.
        self._authority: str = origin.channel
        # The tokens of claims that this memory took: by task, then by step ("" for the whole task).
        self._tokens: dict[str, dict[str, int]] = {}
        self._mirrors = mirrors
        # Called during long work with the number of finished items and the total.
        self.progress: Callable[[int, int], None] | None = None

    def acting_as(
        self,
        *,
        channel: str | None = None,
        agent: str | None = None,
        principal: str | None = None,
        session: str | None = None,
        workspace: str | None = "",
        correlation: str | None = None,
        grant: Grant | None = None,
    ) -> Self:
        """The same memory for another session, agent, principal, channel or workspace; the store is shared.

        Args:
            channel: Channel of trust: user, agent, tool, web, import or system.
            agent: Name of the agent.
            principal: The person it acts for.
            session: The agent's session.
            workspace: As in `open`; `""` leaves it unchanged.
            correlation: An id that is written on every event, to find related events.
            grant: What the caller may do, for servers that act for others.
        """
        here, repository = self.workspace, self.repository
        if workspace != "":
            here, repository = workspace_named(workspace)
        old = self.origin
        origin = Origin(
            principal=validate.text("principal", old.principal if principal is None else principal, 200),
            agent=validate.text("agent", old.agent if agent is None else agent, 200),
            channel=channel_named(channel or old.channel),
            session=validate.text("session", old.session if session is None else session, 200),
        )
        return type(self)(
            self.store,
            self.settings,
            origin=origin,
            workspace=here,
            repository=repository,
            correlation=self._correlation
            if correlation is None
            else validate.text("correlation", correlation, 200),
            clock=self._clock,
            random=self._random,
            mirrors=self._mirrors,
            grant=self.grant if grant is None else grant,
        )

    def close(self) -> None:
        """Close the store; safe to call twice."""
        if self._mirrors is not None:
            self._mirrors.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- finding ----------------------------------------------------------------------------------

    def _find(self, tx: Tx, task_id: str | None, lock: bool = False, writing: bool = False) -> Row:
        """A task's row: by id, by unambiguous prefix, or the current task of this workspace and session."""
        if task_id is None:
            task_id, why = current_task(self, tx, writing or lock)
            if (head := tx.head(task_id, lock)) and self.grant.sees(head["workspace_path"]):
                return {**head, "chosen": why} if why else head
        plain = rules.normal_id(validate.text("task_id", task_id, 100_000))
        if plain is not None:
            head = tx.head(plain, lock) if len(plain) == rules.ID_LENGTH else None
            if head and self.grant.sees(head["workspace_path"]):
                return head
            # To a caller that is bound to workspaces, the tasks of others do not exist.
            most = 10 if self.grant.workspaces is None else 10_000
            named = tx.heads_with_prefix(plain, most)
            matches = [row for row in named if self.grant.sees(row["workspace_path"])][:10]
            if len(matches) == 1 and (head := tx.head(matches[0]["task_id"], lock)):
                return head
            if matches:
                raise Conflict(
                    "ambiguous_task",
                    f"{len(matches)} tasks begin with {plain}: {_named(matches)}.",
                    "Use more characters of the id.",
                    candidates=[row["task_id"] for row in matches],
                )
        if (named := tx.task_with_label(rules.EXTERNAL_ID, task_id)) and (head := tx.head(named, lock)):
            return head
        raise NotFound(
            "task_not_found",
            f"There is no task {shown(task_id)}.",
            "task_list shows the tasks; an id may be shortened as long as it is unambiguous.",
        )

    def _own_repository(self) -> str:
        """The git repository of the workspace, for a call that covers all of its worktrees."""
        if self.grant.workspaces is not None:
            raise workspace_refused()
        if self.repository is None:
            raise InvalidInput(
                "invalid_argument",
                "This workspace is not part of a git repository.",
                "Leave `repository` out, or name the workspace.",
            )
        return self.repository

    def _task_ids(self, task_id: str | None) -> list[str]:
        """The id of one task, or of all tasks."""
        if task_id is None:
            return self.store.read(lambda tx: tx.task_ids())
        return [self.store.read(lambda tx: self._find(tx, task_id))["task_id"]]

    def _new_id(self, tx: Tx) -> str:
        while True:
            task_id = rules.make_id(self._random(rules.ID_LENGTH))
            if tx.head(task_id) is None:
                return task_id

    def _now(self) -> str:
        return validate.stamp(self._clock())

    def _past(self, tx: Tx, task_id: str | None, at: Any) -> tuple[Tx, str]:
        """A transaction that sees a task as it was after an event or at a time, with the task's id.

        `at` is a seq or a time.
        """
        head = self._find(tx, task_id)
        if isinstance(at, int) and not isinstance(at, bool):
            seq = validate.whole("at", at, 1, head["last_seq"])
        else:
            seq = tx.seq_at(head["task_id"], validate.moment("at", at))
        if seq == 0:
            raise NotFound(
                "task_not_found", f"Task {head['task_id']} did not exist yet.", "Use a later time."
            )
        return past(tx, head, seq), head["task_id"]

    # --- writing ----------------------------------------------------------------------------------

    def _write(
        self,
        operation: str,
        task_id: str | None,
        decide: Callable[[Tx, Row, str], Draft | None],
        *,
        key: str | None = None,
        token: int | None = None,
        fenced: bool = True,
        expect: int | None = None,
        arguments: Any = None,
        others: Sequence[str] = (),
    ) -> Written:
        """Find the task, let `decide(tx, head, now)` draft an event, and append it: one transaction.

        This is the path of nearly every write. The order matters: first the idempotency key, so that a
        repeated call gets its first result even if the task has changed since; then the guards `expect` and
        `token`; then the decision. If `decide` returns None there is nothing to write.

        `others` are the ids of further tasks that `decide` writes to. All are locked in the same order
        everywhere, so that two calls never wait for each other; with them, `task_id` must be a full id.
        `decide` may add tasks that it begins.
        """
        fingerprint = self._fingerprint(operation, key, arguments)
        check_guards(token, expect)

        def work(tx: Tx) -> Written:
            # Without a task id, look on any task: another task may be the current one by now.
            if key is not None and task_id is None and (known := self._known(tx, operation, None, key)):
                return stored_result(known, fingerprint)
            for name in sorted((*others, task_id)) if others and task_id else ():
                tx.head(name, lock=True)
            head = self._find(tx, task_id, lock=True)
            # Only now that the task is locked: the same call may have been running elsewhere until now.
            if key is not None and (known := tx.key(head["task_id"], self._scoped(key))):
                return stored_result(known, fingerprint)
            if expect is not None and expect != head["version"]:
                raise Conflict(
                    "stale_version",
                    f"Task {head['task_id']} is at version {head['version']}, not {expect}.",
                    "Read it again, then decide.",
                    current=head["version"],
                )
            if fenced and token is not None:
                self._check_tokens(tx, head, {token})
            now = self._now()
            try:
                draft = decide(tx, head, now)
                if draft is None:
                    return written(head, head["last_seq"], Draft(""))
                if fenced and token is None and (claimed := self._tokens.get(head["task_id"])):
                    # Losing the claim on one step does not stop work on another that is still held.
                    about = claimed if draft.item is None else ("", draft.item)
                    self._check_tokens(tx, head, {claimed[name] for name in about if name in claimed})
                scoped = None if key is None else self._scoped(key)
                return self._append(tx, head, draft, now, operation, scoped, fingerprint)
            except Overruled as over:  # the proposal is then the first result of the call
                if key is not None:
                    over.call = operation, self._scoped(key), fingerprint
                raise

        return self._commit(work, settles=key is not None, tasks=lambda result: (result.task_id, *others))

    def _commit(
        self,
        work: Callable[[Tx], Result],
        *,
        settles: bool = False,
        tasks: Callable[[Any], Iterable[str]] = _task_of,
    ) -> Result:
        """Write to the store, then notify the mirrors of the changed tasks."""
        result = self.store.write(work, settles=settles)
        if self._mirrors is not None:
            self._mirrors.touched(tasks(result))
        return result

    def _known(self, tx: Tx, operation: str, task_id: str | None, key: str) -> Row | None:
        """The first result of the call with this key, if it was made before.

        A call without a task id is looked up on any task: another task may be the current one by now.
        """
        if task_id is None:
            return tx.own_key(self._scoped(key), operation, self._origin_id, self.workspace)
        return tx.key(self._find(tx, task_id)["task_id"], self._scoped(key))

    def _scoped(self, key: str) -> str:
        """An idempotency key in the space of this memory's channel."""
        return key_of(self.origin.channel, key)

    def _registration_key(self, key: str, workspace: str | None) -> str:
        """The key of a call that begins a task: there is no task yet, so the principal and workspace scope
        it."""
        return f"{self.origin.principal}\n{workspace or ''}\n{self._scoped(validate.line('key', key, 200))}"

    def _append(
        self,
        tx: Tx,
        head: Row,
        draft: Draft,
        now: str,
        operation: str,
        key: str | None = None,
        fingerprint: str = "",
    ) -> Written:
        """Append a drafted event; `key` is already in the space of a channel.

        Texts of a more trusted channel that it would replace are left out of it and proposed instead. If the
        event would hide more than texts, or has nothing else, the error is the caller's.
        """
        call_identity = operation, key, fingerprint
        try:
            return self._append_event(tx, head, draft, now, call_identity)
        except Overruled as over:
            # Half an undo would leave a state that the task never had.
            whole = over.whole or draft.kind == "undone"
            calls = [] if whole else proposals.withhold(draft, over)
            if whole or not proposals.says_something(draft):
                raise
            what = over.what
        # In the event's own result, for repeated calls; so it cannot name the events that follow.
        note = f"{what[:1].upper()}{what[1:]}: only the user may change that. It is proposed to the user;"
        known = draft.result.get("warnings", ())
        draft.result["warnings"] = (*known, f"{note} until accepted, nothing changes.")
        result = self._append_event(tx, head, draft, now, call_identity)
        for call in calls:
            self._propose(tx, head, call, what, now)
        return result

    def _propose(
        self,
        tx: Tx,
        head: Row,
        call: proposals.Call,
        what: str,
        now: str,
        call_identity: CallIdentity = ("proposal", None, ""),
    ) -> Written:
        """Record what this caller may not do as a proposal to the user; the same one only once."""
        draft = proposals.proposal(tx, head, call, what)
        if isinstance(draft, int):
            known = f"It is already proposed to the user, as #{draft}; until accepted nothing changes."
            return written(head, draft, Draft("", warnings=(known,)))
        note = (
            f"{what[:1].upper()}{what[1:]}: only the user may change that. Proposed as"
            f" #{head['last_seq'] + 1}; until the user accepts it, nothing changes."
        )
        draft.result["warnings"] = (note,)
        return self._append_event(tx, head, draft, now, call_identity)

    def _proposed(self, operation: str, arguments: Mapping[str, Any], over: Overruled) -> Written:
        """Record a whole call as a proposal, after its own transaction was undone."""
        call = proposals.Call(operation=operation, arguments=arguments)

        def work(tx: Tx) -> Written:
            head = tx.head(over.task_id, lock=True)
            if head is None:
                raise over
            return self._propose(tx, head, call, over.what, self._now(), over.call)

        return self._commit(work)

    def _append_event(
        self, tx: Tx, head: Row, draft: Draft, now: str, call_identity: CallIdentity
    ) -> Written:
        seq: int = head["last_seq"] + 1 if head.get("last_seq") else 1
        if head.get("status") == "paused" and (resumed := resumption(tx, head, draft, self.origin)):
            draft.sets["heads"] = {**draft.sets.get("heads", {}), **resumed}
        gate = Gate(tx, head, draft, self.origin, seq) if seq > 1 else None
        fresh = Freshness(tx, head, draft, self.origin) if seq > 1 else None
        draft.complete(seq)
        if call_identity[1] is not None:
            draft.sets["+keys"] = self._key_row(tx, head, draft, seq, call_identity)
        event = self._redacted_event(tx, head, draft, seq, now)
        messages: int = head.get("messages") or 0
        blocked = _blockers_before(head, draft)
        if draft.kind == "exclusion" or sets_gate(draft.sets):
            self._notify_hooks(head)
        tx.append(head, event, self.origin, draft.sets, authority=self._authority)
        if blocked is not None and goals_of(tx, head["task_id"]):
            count_blockers(self, tx, head, seq, added_blockers(draft, blocked), now)
        for request in gate.requests if gate else ():
            if (held := approval_hold(head)) is not None:
                request.sets["heads"] = held
            self._append(tx, head, request, now, call_identity[0])
        for closing in fresh.closings if fresh else ():
            (question,) = closing.data["resolved"]
            closed = {"status": "resolved", "ref_seq": head["last_seq"] + 1}
            closing.sets["records"] = {str(question): closed}
            own = self.acting_as(**closing_origin(self.origin))
            own._append(tx, head, closing, now, "infer")
        if draft.then is not None:
            draft.then.write(self, tx, head, now)
        if draft.sets or head["messages"] != messages:
            self._enqueue(tx, head, draft, now, seq, head["messages"] != messages)
        return written(head, seq, draft)

    def _key_row(self, tx: Tx, head: Row, draft: Draft, seq: int, call_identity: CallIdentity) -> Row:
        """The row by which a repeated call is recognized, with the result that it gets."""
        result = asdict(self._predicted(tx, head, draft, seq))
        # Not stored: they quote other tasks, and a repeated call gets fresh ones.
        del result["answer"], result["patterns"]
        result["moved"] = [move.to_dict() for move in result["moved"]]
        operation, key, fingerprint = call_identity
        return {
            "key": key,
            "operation": operation,
            "arguments": fingerprint,
            "result": validate.dumps(result),
        }

    def _redacted_event(self, tx: Tx, head: Row, draft: Draft, seq: int, now: str) -> Row:
        """The row of a drafted event; secrets are redacted in it and in the draft."""
        event: Row = {
            "task_id": head["task_id"],
            "seq": seq,
            "event_type": draft.kind,
            "timestamp": now,
            "item_id": draft.item,
            "ref_seq": draft.ref,
            "text": draft.text,
            "data": self._event_data(draft),
            "sets": validate.dumps(draft.sets) if draft.sets else None,
            "origin_id": self._origin_id,
            # By default, the first event of a call names the group: what is inferred from it belongs to it.
            "correlation_id": self._correlation or head.setdefault("correlation", f"{head['task_id']}#{seq}"),
            "forgotten": None,
        }
        callback = callback_of(draft)
        keeps = self.settings.keep_secrets == "on"
        if redact_draft(draft, event["data"], event["sets"], keep_secrets=keeps):
            if callback is not None and callback_of(draft) != callback:
                jobs.seal(tx, head["task_id"], seq, without_private(callback), now)
            sets = validate.dumps(draft.sets) if draft.sets else None
            event.update(text=draft.text, data=self._event_data(draft), sets=sets)
        return event

    def _event_data(self, draft: Draft) -> str:
        """The data of an event as JSON, with its payload if that fits within the size limit."""
        data = validate.json_value("the data", draft.data, self.settings) if draft.data else "{}"
        if fields := payload(draft):
            whole = validate.dumps({**fields, **draft.data})
            if len(whole.encode("utf-8", "replace")) <= self.settings.max_json_bytes:
                return whole
        return data

    def _notify_hooks(self, head: Row) -> None:
        """Tell the hooks of the task's session at once that something is ruled out, or waits."""
        if self.store.catch_up is not None and (session := head.get("session_id")):
            self.store.catch_up.ruled_out(session)

    def _enqueue(self, tx: Tx, head: Row, draft: Draft, now: str, seq: int, is_message: bool) -> None:
        """Request the jobs that an event makes necessary, in its own transaction: an extraction when a step
        or the task is over, a summary every few messages, a call of the task's callback_url."""
        wanted: list[tuple[str, str]] = []
        ended = draft.sets.get("heads", {}).get("status") in rules.ENDED
        if self.settings.extraction == "on":
            for item, row in draft.sets.get("steps", {}).items():
                if row.get("status") in _EXTRACTED:
                    wanted.append(("extract", item))
            if ended:
                wanted.append(("extract", ""))
        every = self.settings.summary_every
        if is_message and every and head["messages"] % every == 0:
            wanted.append(("summary", ""))
        # An imported file must not make us call a URL that it contains.
        calls = ended and self.settings.callbacks == "on" and self.origin.channel != "import"
        if calls and tx.callback_url(head["task_id"]):
            wanted.append(("webhook", str(seq)))
        for kind, name in wanted:
            jobs.add(tx, kind, head["task_id"], name, {}, jobs.NOW, now)

    def _predicted(self, tx: Tx, head: Row, draft: Draft, seq: int) -> Written:
        """The result of the append, computed in advance because it is stored with the event."""
        after = {**head, **draft.sets.get("heads", {})}
        if "steps" in draft.sets or "+steps" in draft.sets:
            steps = {row["item_id"]: row for row in (tx.steps(head["task_id"]) if seq > 1 else [])}
            for name, row in draft.sets.get("+steps", {}).items():
                steps[name] = {"item_id": name, "status": "pending", "depends_on": [], **row, "version": seq}
            for name, row in draft.sets.get("steps", {}).items():
                steps[name] = {**steps[name], **row, "version": seq}
            in_order = sorted(steps.values(), key=lambda row: (row["ordinal"], row["item_id"]))
            after.update(rules.plan_position(in_order))
        if draft.then is not None:
            after.update(draft.then.position)
        return written(after, seq, draft)

    def _check_tokens(self, tx: Tx, head: Row, own: set[int]) -> None:
        """Raise `stale_token` unless every one of these tokens belongs to a held claim."""
        task_id = head["task_id"]
        if own and not own <= {row["token"] for row in tx.claims(task_id) if row["status"] == "held"}:
            raise Conflict(
                "stale_token",
                f"The claim on task {task_id} is no longer yours.",
                "Stop working on it, or claim it again before you continue.",
            )

    def _fingerprint(self, operation: str, key: str | None, arguments: Any) -> str:
        if key is None:
            return ""
        validate.line("key", key, 200)
        content = validate.dumps([operation, arguments])
        return blake2b(content.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()

    def _entries(
        self,
        tx: Tx,
        task_id: str,
        kind: str,
        statuses: Sequence[str],
        limit: int,
        item: str | None = None,
        key: str | None = None,
    ) -> tuple[Entry, ...]:
        """Entries of a type, oldest first, with their labels."""
        rows = tx.records(task_id, kind, statuses, limit, item=item, key=key)
        labels = tx.labels(task_id, [row["seq"] for row in rows])
        return read_entries(({**row, "type": kind} for row in reversed(rows)), labels)

    # --- arguments --------------------------------------------------------------------------------

    def _text(self, what: str, value: Any) -> str | None:
        return validate.optional(what, value, self.settings.max_text_bytes)

    def _line(self, what: str, value: Any) -> str:
        return validate.line(what, value, self.settings.max_text_bytes)

    def _plain(self, what: str, value: Any) -> Any:
        """A value as it comes back from JSON."""
        if value is None:
            return None
        # Most outputs are plain texts that JSON does not change and cannot lengthen past the limit.
        fits = type(value) is str and 6 * len(value) + 2 <= self.settings.max_json_bytes
        if fits and value.isascii() and "\0" not in value:
            return value
        return json.loads(validate.json_value(what, value, self.settings))

    def _mapping(self, what: str, value: Any) -> dict[str, Any]:
        if value is not None and not is_dict(value):
            raise InvalidInput(
                "invalid_argument", f"{what} must be a mapping, not {shown(value)}.", 'For example {"a": 1}.'
            )
        return self._plain(what, value) or {}

    def _list(self, what: str, value: Any) -> list[Any]:
        if value is not None and not is_list(value):
            raise InvalidInput(
                "invalid_argument", f"{what} must be a list, not {shown(value)}.", 'For example ["a", "b"].'
            )
        return self._plain(what, value) or []

    def _check_steps(self, steps: list[dict[str, Any]], present: int = 0) -> None:
        most = self.settings.max_plan_steps
        if present + len(steps) > most:
            raise InvalidInput(
                "too_large",
                f"The plan would have {present + len(steps):,} steps; the limit is {most:,}.",
                "Use fewer steps, or sub-tasks, or raise max_plan_steps.",
                limit=most,
            )
        for step in steps:
            step["title"] = validate.line(f"the title of step {step['id']}", step["title"], 4000)
            step["detail"] = self._plain(f"step {step['id']}", step["detail"])
            validate.optional("stage", step["stage"], 200)
        rules.check_dependencies({step["id"]: step["depends_on"] for step in steps})


def workspace_named(workspace: str | None) -> tuple[str | None, str | None]:
    """The workspace and repository of a folder; any other name is the workspace itself."""
    if workspace is None:
        return None, None
    validate.text("workspace", workspace, 2000)
    return workspace_of(workspace) if os.path.isdir(workspace) else (workspace, None)


def channel_named(word: str) -> Any:
    """Validate a channel of trust."""
    return validate.choice("channel", word, rules.CHANNELS)


def _named(rows: list[Row]) -> str:
    return ", ".join(f"{row['task_id']} ({row['name'][:40]})" for row in rows)


def written(head: Mapping[str, Any], seq: int, draft: Draft) -> Written:
    """The result of a write."""
    result: dict[str, Any] = draft.result
    if chosen := head.get("chosen"):
        result = {**result, "warnings": (*result.get("warnings", ()), chosen)}
    return Written(
        task_id=head["task_id"],
        seq=seq,
        status=head["status"],
        phase=head["phase"],
        done=head.get("done") or 0,
        total=head.get("total") or 0,
        current=head.get("current_item"),
        next=head.get("next_item"),
        **result,
    )


def stored_result(known: Row, fingerprint: str) -> Written:
    """The first result of a keyed call; raises `key_reused` if the arguments differ."""
    if known["arguments"] != fingerprint:
        raise Conflict(
            "key_reused",
            f"The key {shown(known['key'].rsplit(chr(10))[-1])} was used for another call:"
            f" {known['operation']}, #{known['seq']}.",
            "Use a new key for a new call; the same key only repeats the same call.",
        )
    fields: dict[str, Any] = json.loads(known["result"])
    for name in ("steps", "warnings", "asks"):
        fields[name] = tuple(fields[name])
    fields["moved"] = tuple(StepMove(**move) for move in fields["moved"])
    return Written(**fields)


def check_guards(token: Any = None, expect: Any = None) -> None:
    """Raise unless `token` and `expect` are whole numbers or None."""
    for what, value in (("token", token), ("expect", expect)):
        if value is not None:
            validate.whole(what, value, 0, 1 << 62)


def find_item(steps: list[Row], name: Any) -> Row:
    """Find a step by id, by number (1 is the first that was not dropped), or by an unambiguous title."""
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise InvalidInput(
            "invalid_argument", f"A step cannot be {shown(name)}.", "Name it by id, number or title."
        )
    text = (
        validate.text("the step", name, 10_000).strip() if isinstance(name, str) else shown(name).strip("'")
    )
    live = [row for row in steps if row["dropped_in"] is None]
    for row in steps:
        if row["item_id"] == text:
            return row
    if text.isdecimal() and 0 < int(text[:9]) <= len(live):
        return live[int(text) - 1]
    lowered = text.lower()
    matches = [row for row in live if row["title"].lower() == lowered]
    matches = matches or [row for row in live if lowered and row["title"].lower().startswith(lowered)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise Conflict(
            "ambiguous_step",
            f"{len(matches)} steps match {shown(text)}.",
            "Name one by its id: "
            + ", ".join(f"{row['item_id']} ({row['title'][:40]})" for row in matches[:10]),
            candidates=[row["item_id"] for row in matches],
        )
    names = ", ".join(f"{row['item_id']} ({row['title'][:40]})" for row in live[:20])
    raise NotFound(
        "step_not_found",
        f"The task has no step {shown(text)}.",
        f"Its steps are: {names or 'none yet; add some with task_plan_append'}.",
    )


def step_id(tx: Tx, head: Row, step: str | int | None) -> str | None:
    """The id of a step of a task; None if no step is named."""
    return None if step is None else find_item(tx.steps(head["task_id"]), step)["item_id"]


def with_operations(memory: Base, room: type[Room]) -> Room:
    """A memory with the operations of another room: the same store, origin, workspace and claims."""
    other = room.__new__(room)
    other.__dict__ = memory.__dict__
    return other
