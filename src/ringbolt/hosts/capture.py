"""Capture: writes what happens in a host to the ledger of the session's task.

There is one method for each thing that can happen, with one short transaction of core operations. What needs
more work (why an attempt failed, which names matter) is derived later from what is written here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from ..core.task_updates import write_captured
from ..hook_memory import HookMemory
from ..ledger.current_task import DRAFT, UNNAMED, request_tags
from ..ledger.values import OPEN_EFFECTS
from ..model import rules
from ..model.errors import RingboltError
from ..model.lazy_regex import lazy_regex
from ..model.trust import is_users, key_of
from ..model.types import Entry, Task, Written, is_dict, is_list
from ..requests.completion import says_done
from ..requests.task_name import task_name
from ..signals.calls.failures import clean_output, is_refusal
from ..signals.calls.refusals import refuses_call
from ..signals.calls.run_kinds import is_narrow
from ..signals.calls.tools import PATH_FIELDS, first_text, is_edit, is_shell
from ..signals.effects.outcomes import Outcome, outcome
from ..signals.effects.relations import Acts, relation
from ..signals.effects.side_effects import SideEffect, side_effects
from ..signals.text_layout import one_line
from ..store.tx import Row, Tx
from .handover import Handover, read_handover
from .hook_parts.cleaning import clipped as clipped
from .requests import (
    is_finished,
    judge_later,
    judged,
    request_begun_lately,
    requests_of,
    task_to_take_over,
)
from .sessions import own_task
from .transcripts.events import as_text

Result = TypeVar("Result")


# Where a task keeps the key of the prompt that it was made of.
_FIRST = "first_prompt"
SUMMARY_CHARACTERS = 300
# Words of prompts that only agree or greet, and ask for nothing by themselves.
_ASSENT = frozenset(
    "yes y yep yeah yup ok okay sure k continue proceed go on ahead do it please thanks thank you great good"
    " nice cool perfect right correct fine done lgtm sounds looks and now keep going carry hi hello hey there"
    " morning".split()
)
_ASSENT_WORDS = 4
_INTERRUPTED = "[Request interrupted"
# Fields of a tool's input that say what it is about, the best first.
_DESCRIBING = "description command cmd file_path path notebook_path pattern query url".split()

# Side effects that are the same however often they are done: what counts is that the last attempt worked.
_REPEATABLE = frozenset(
    "push publish release image deploy infrastructure migration upload service settings".split()
)
_MOST_EFFECTS = 50
_MOST_BETWEEN = 20  # events between an action and the outcome of its last side effect
_RELATION = {"undone": "undoes", "superseded": "replaces"}
_MOST_LOOKED_AT = 500  # events of a turn
_MOST_SHOWN = 120  # characters of a prompt in a note
_NO_RESULT = "the turn ended and no result was reported"
# Words of a check that say nothing about what is checked.
_NAME_PARTS = lazy_regex(r"[a-z]{4,}")
_CHECK_WORDS = frozenset("test tests spec pytest jest vitest python cargo unit integration npx exec".split())

_MOST_REFUSALS = 30  # of a task's exclusions, the newest
_PERMISSION = "permission "  # begins the signature of a refusal
_SAME = 200  # characters that two calls must have in common to be the same

# The kind of question that a plan is while it waits for approval.
_PLAN = "plan"
_PATCH = "*** Begin Patch"
_CHANGES = {"*** Add File:": "created", "*** Update File:": "modified", "*** Delete File:": "deleted"}


class Capture:
    """Writes the events of one session of a host, through a memory of that session."""

    def __init__(self, memory: HookMemory) -> None:
        self._agent = memory
        self._user = memory.acting_as(channel="user")
        self._tool = memory.acting_as(channel="tool")
        self.memories = (self._agent, self._user, self._tool)

    def prompt(self, text: str, *, key: str | None = None) -> Written | None:
        """The user wrote something: the first prompt becomes the request of a task, later ones instructions.

        A greeting begins no task.
        """
        text = text.strip()
        if not text:
            return None
        if (handed := read_handover(text)) is not None:
            return self._taken_over(handed)
        own = self._own_task()
        if own is None:
            if is_assent(text):
                return None
            if self._agent.origin.session and (other := task_to_take_over(self._agent, text)):
                self._agent.task_focus(other)
                return self._woken(self._user, self._instructed(other, text, key))
            metadata: dict[str, Any] = {DRAFT: True} if key is None else {DRAFT: True, _FIRST: key}
            name = task_name(text) or UNNAMED
            return self._user.task_register(name, request=text, metadata=metadata, key=key)
        task = self._user.task_get(own)
        # A prompt that is reported again may be the one that the task was made of.
        if key is not None and task.metadata.get(_FIRST) == key:
            return None
        if is_assent(text):
            written = self._user.task_update(own, text, key=key)
            return written if written.status == "completed" else self._woken(self._user, written)
        if not task.request and DRAFT in task.metadata and not requests_of(task.instructions):
            # The first request of a draft that began without one.
            return self._woken(self._user, self._requested(task, text, finished=False, key=key))
        verdict = judged(self._agent, task, text)
        finished = is_finished(task, self._last_words(task))
        if verdict.is_new:
            return self._woken(self._user, self._requested(task, text, finished=finished, key=key))
        written = self._instructed(own, text, key)
        if verdict.is_unsure:
            judge_later(self._agent, task, text, written.seq, finished)
        return self._woken(self._user, written)

    def _taken_over(self, handed: Handover) -> Written | None:
        """This session continues a task that was handed over to it; the packet in its prompt is not news."""
        try:
            return self._woken(self._user, self._agent.task_focus(handed.task, key=f"handover/{handed.code}"))
        except RingboltError as error:
            if error.code not in ("key_reused", "task_not_found"):
                raise
            return None  # another session was first, or the task is in another store

    def _instructed(self, task: str, text: str, key: str | None) -> Written:
        return self._user.task_remember(task, text, type="user_instruction", key=key)

    def _requested(
        self, task: Task, text: str, *, finished: bool, key: str | None, replaces: Entry | None = None
    ) -> Written:
        """A new request of a task: it leads from now on, and gives a draft its name."""
        written = self._user.task_remember(
            task.id, text, type="user_instruction", key=key,
            tags=[*(replaces.tags if replaces else ()), *request_tags(finished)],
            detail=replaces and replaces.detail, supersedes=replaces and replaces.seq,
            data={**replaces.data, "from": [replaces.seq]} if replaces else None,
        )  # fmt: skip
        is_new = written.seq > task.seq  # and not the result of an earlier call with this key
        if is_new and DRAFT in task.metadata and (name := task_name(text)) not in ("", task.name):
            self._agent.task_update(task.id, name=name)
        return written

    def _last_words(self, task: Task) -> str:
        """What the agent said last."""
        rows = self._agent.store.read(lambda tx: tx.events(task.id, max(0, task.seq - 20), 20))
        messages = (row["text"] for row in reversed(rows) if row["channel"] == "agent" and row["text"])
        return next(messages, "")

    def _own_task(self) -> str | None:
        """The open task of this session; without a session, the only one of the workspace."""
        memory = self._agent
        if memory.origin.session:
            return own_task(memory)
        try:
            return memory.task_get().id
        except RingboltError as error:
            if error.code != "no_current_task":
                raise
        return None

    def _woken(self, memory: HookMemory, written: Written) -> Written:
        """A task at rest is at work again: when the user speaks, or when only the upkeep had paused it."""
        if written.status not in ("paused", "completed"):
            return written
        head = memory.store.read(lambda tx: tx.head(written.task_id))
        reason = head["reason"] if head else None
        by_user = memory is self._user and written.status == "paused"
        if head and (by_user or reason in (*rules.RESTING, rules.INFERRED)):
            # That the session was taken for gone is answered by its going on.
            asked = (head["attention"] or "").startswith(rules.NEEDS_REVIEW)
            memory.task_update(written.task_id, status="active", attention="" if asked else None)
        return written

    def message(self, text: str, *, key: str | None = None) -> Written | None:
        """The agent wrote something."""
        return self._on_task(lambda: write_captured(self._agent, text, key)) if text.strip() else None

    def aside(self, text: str, *, by_user: bool = False, key: str | None = None) -> Written | None:
        """The user or the host wrote something that asks for nothing, and begins no task."""
        return self._update(self._user if by_user else self._tool, clipped(text), key, self._if_task)

    def notice(self, text: str, *, key: str | None = None) -> Written | None:
        """The host put something into the context: a reminder, a skill, the output of its own command."""
        return self._update(self._tool, clipped(text), key, self._on_task)

    def _update(self, memory: HookMemory, text: str, key: str | None, do: Callable[..., Any]) -> Any:
        return do(lambda: memory.task_update(None, text, key=key)) if text.strip() else None

    def tool(
        self,
        name: str,
        tool_input: Any,
        output: Any = None,
        *,
        failed: bool = False,
        interrupted: bool = False,
        receipt: bool = False,
        duration_ms: float | None = None,
        key: str | None = None,
    ) -> Written:
        """A tool call has ended; a `receipt` shows whether the active step is really done.

        One that the user `interrupted` neither worked nor failed.
        """
        fields: Mapping[str, Any] = tool_input if is_dict(tool_input) else {}
        kept = clipped(clean_output(as_text(output), failed=failed))
        summary, outcome = summary_of(name, fields), "failed" if failed else "completed"
        if interrupted:
            summary, outcome, failed, kept = f"{summary} (interrupted by the user)", "skipped", False, None
        receipt = receipt and self._is_about_step(first_text(fields, ("command", "cmd")))
        edits = is_edit(name, fields)
        patched = patched_files(fields)
        written = self._on_task(
            lambda: self._tool.task_log_action(
                None,
                summary,
                type="edit" if edits or patched else "cli" if is_shell(name) else "tool",
                status=outcome,
                tool=name[:500],
                input=tool_input,
                output=None if failed else kept,
                error=kept if failed else None,
                duration_ms=duration_ms,
                files=None
                if outcome != "completed"
                else patched or ([first_text(fields, PATH_FIELDS)] if edits else None),
                receipt=receipt,
                key=key,
            )
        )
        self._settle_effects(
            name, tool_input, as_text(output), failed=failed, interrupted=interrupted, key=key
        )
        if not interrupted and not (failed and is_refusal(kept or "")):
            self._allowed(written.task_id, name, fields)
        return self._woken(self._agent, written)

    def _is_about_step(self, command: str) -> bool:
        """Whether a check is about the current step: one of everything, or one that shares a word with it."""
        own = self._own_task()
        if not is_narrow(command) or own is None:
            return True
        task = self._agent.task_get(own)
        about = f"{task.current_title or ''} {' '.join(file.path for file in task.files[-20:])}".lower()
        words = {word for word in _NAME_PARTS.findall(command.lower()) if word not in _CHECK_WORDS}
        return any(word in about for word in words)

    # --- side effects

    def intended(self, tool: str, tool_input: Any, *, key: str) -> None:
        """A tool call is about to be made: announce what it does outside, if anything."""
        for number, effect in enumerate(side_effects(tool, tool_input)):
            self._announce(effect, f"{key}/effect{number}")

    def effects_unknown(self, reason: str) -> None:
        """No more results come from calls that were announced: how they ended is unknown."""
        task = self._own_task()
        rows = self._effects(task, ("intended",)) if task else []
        for row in rows:
            self._tool.task_outcome(task, intent=row["seq"], outcome="unknown", note=reason)

    def turn_over(self, prompt: str = "") -> None:
        """The agent ended its turn, or the user's next `prompt` came: no call of the turn is running.

        A call without a result is over and its outcome unknown, unless the prompt says that it was refused.
        A result that comes later still settles it.
        """
        task = self._own_task()
        for row in self._without_result(task) if task else ():
            intended = row["status"] == "intended"
            if prompt and refuses_call(prompt, row["text"] or "", ended_turn=intended):
                note = f"the user refused it: {one_line(prompt, _MOST_SHOWN)}"
                self._user.task_outcome(task, intent=row["seq"], outcome="did_not", note=note)
            elif intended:
                self._tool.task_outcome(task, intent=row["seq"], outcome="unknown", note=_NO_RESULT)

    def _without_result(self, task: str) -> list[Row]:
        """The side effects of this session's last turn that the host announced and never reported."""

        def work(tx: Tx) -> list[Row]:
            session = self._agent.origin.session
            rows = [
                row
                for row in tx.records(task, "effect", OPEN_EFFECTS, _MOST_EFFECTS)
                if row["channel"] == "tool" and row["session"] == session
            ]
            settled = {row["seq"]: tx.event(task, row["replaced_by"]) for row in rows if row["replaced_by"]}
            rows = [
                row
                for row in rows
                if row["status"] == "intended" or (settled.get(row["seq"]) or {}).get("text") == _NO_RESULT
            ]
            if all(row["status"] == "intended" for row in rows):
                return rows
            # What ended without a result before the user's last prompt is not what the next one is about.
            oldest = min(row["seq"] for row in rows)
            since = tx.events(task, oldest, _MOST_LOOKED_AT)
            prompted = max((row["seq"] for row in since if row["channel"] == "user"), default=0)
            return [row for row in rows if row["status"] == "intended" or row["seq"] > prompted]

        return self._agent.store.read(work)

    def _announce(self, effect: SideEffect, key: str | None) -> Written:
        return self._on_task(
            lambda: self._tool.task_intent(
                None,
                what=effect.what,
                verify=effect.check or None,
                signature=effect.signature,
                kind=effect.kind,
                key=None if key is None else key[:200],
            )
        )

    def _settle_effects(
        self, tool: str, tool_input: Any, output: str, *, failed: bool, interrupted: bool, key: str | None
    ) -> None:
        """Record how the side effects of a call ended; those that nobody announced are announced first."""
        effects = side_effects(tool, tool_input)
        for number, effect in enumerate(effects):
            ended = outcome(effect, output, failed=failed, interrupted=interrupted, alone=len(effects) == 1)
            self._settle(effect, ended, None if key is None else f"{key}/effect{number}")

    def _settle(self, effect: SideEffect, ended: Outcome, key: str | None) -> None:
        task = self._own_task()
        done = None if key is None else f"{key}/outcome"[:200]
        if task and done and self._agent.store.read(lambda tx: tx.key(task, key_of("tool", done))):
            return  # both the transcript and the hook report it
        known = self._effects(task, OPEN_EFFECTS, effect.signature) if task else []
        announced = (
            key and task and self._agent.store.read(lambda tx: tx.key(task, key_of("tool", key[:200])))
        )
        if not announced and known:
            intent, task_id = known[0]["seq"], known[0]["task_id"]  # the host gives calls no id
        else:
            written = self._announce(effect, key)
            intent, task_id = written.seq, written.task_id
        if not self._agent.store.read(lambda tx: _is_open(tx.record(task_id, intent))):
            return
        related = self._related(task_id, intent, effect, ended) if ended.status == "did" else []
        notes = [ended.note] if ended.note else []
        notes += [f"{_RELATION[status]} #{row['seq']}" for row, status in related]
        self._tool.task_outcome(
            task_id, intent=intent, outcome=ended.status, note="; ".join(notes) or None, key=done
        )
        for row, status in related:
            note = f"{status} by #{intent}: {effect.what}"
            self._tool.task_outcome(task_id, intent=row["seq"], outcome=status, note=note)
        if ended.status == "did" and effect.kind in _REPEATABLE:
            # An earlier attempt that broke off does not matter any more.
            for row in known:
                if row["seq"] != intent:
                    note = f"a later call did it (#{intent})"
                    self._tool.task_outcome(task_id, intent=row["seq"], outcome="did", note=note)

    def _related(
        self, task: str, intent: int, effect: SideEffect, ended: Outcome
    ) -> list[tuple[Row, Literal["undone", "superseded"]]]:
        """The side effects of a task that one takes back or replaces, which was done now."""
        if (acts := effect.acts) is None:
            return []

        def work(tx: Tx) -> list[tuple[Row, Literal["undone", "superseded"]]]:
            found: list[tuple[Row, Literal["undone", "superseded"]]] = []
            for row in tx.records(task, "effect", ("did",), _MOST_EFFECTS):
                if row["seq"] >= intent or (before := _acts_of(tx, task, row)) is None:
                    continue
                settled = tx.event(task, row["replaced_by"]) if row["replaced_by"] else None
                note = (settled or {}).get("text") or ""
                if status := relation((before, note), (acts, ended.note)):
                    found.append((row, status))
            return found

        return self._agent.store.read(work)

    def _effects(self, task: str, statuses: Sequence[str], signature: str | None = None) -> list[Row]:
        """The side effects of a task with one of these statuses, the newest first."""
        return self._agent.store.read(
            lambda tx: tx.records(task, "effect", statuses, _MOST_EFFECTS, key=signature)
        )

    def refused(self, name: str, tool_input: Any, reason: str, *, by_user: bool, key: str) -> Written | None:
        """The host or the user did not allow a tool call: nothing was tried, so nothing failed.

        The same refusal is written once, and stands until the same call is made after all.
        """
        for effect in side_effects(name, tool_input):
            task = self._own_task()
            for row in self._effects(task, OPEN_EFFECTS, effect.signature)[:1] if task else ():
                note = f"not allowed: {reason}" if reason else "not allowed"
                self._tool.task_outcome(task, intent=row["seq"], outcome="did_not", note=note)
        fields: Mapping[str, Any] = tool_input if is_dict(tool_input) else {}
        what = summary_of(name, fields)
        if any(one.summary == what for one in self._task().exclusions):
            return None
        memory = self._user if by_user else self._tool
        why = f"not allowed by the {'user' if by_user else 'host'}: {reason or 'no reason tool_input'}"
        return self._on_task(
            lambda: memory.task_exclude(
                None, what=what, why=why, signature=_permission(name, fields), tags=["permission"], key=key
            )
        )

    def _allowed(self, task_id: str, name: str, fields: Mapping[str, Any]) -> None:
        """A call was made: if it had not been allowed before, that is over."""
        what = summary_of(name, {**fields, "description": None})
        rows = self._agent.store.read(
            lambda tx: tx.records(task_id, "exclusion", ("active",), _MOST_REFUSALS)
        )
        over = [row for row in rows if _refuses(row, name, what)]
        # A host makes a call that the user refused only once the user allows it: that is the user's doing.
        for memory, by_user in ((self._user, True), (self._tool, False)):
            if seqs := [row["seq"] for row in over if is_users(row["channel"]) == by_user]:
                memory.task_remember(task_id, resolves=seqs)

    def todo(self, items: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Written:
        """The agent's to-do list now has these items."""
        return self._on_task(lambda: self._agent.task_plan_sync(None, items, key=key))

    def todo_changed(
        self, item: str | None, *, title: str | None = None, status: str | None = None, key: str | None = None
    ) -> Written | None:
        """The agent added an item to its to-do list, changed one, or deleted it (the status `deleted`).

        `item` is the list's own id of it.
        """
        task = self._task()
        listed: list[dict[str, Any]] = [
            {"id": step.detail.get("list_id"), "title": step.title, "status": step.status}
            for step in task.items
            if step.dropped_in is None and not task.plan_inferred
        ]
        own = next((row for row in listed if item is not None and row["id"] == item), None)
        if own is None:
            if title is None:
                return None
            own = {"id": item, "title": title, "status": "pending"}
            listed.append(own)
        if status == "deleted":
            listed.remove(own)
        else:
            own |= {name: value for name, value in (("title", title), ("status", status)) if value}
        return self._agent.task_plan_sync(task.id, listed, key=key)

    def concluded(self, text: str, *, at_work: bool = False, key: str | None = None) -> Written | None:
        """What the agent says at the end of its turn; after a greeting there is no task to say it on.

        If its plan is done and it says so, the task is taken to be completed, unless helpers are `at_work`.
        """
        message = clipped(text)
        if not message.strip():
            return None
        written = self._if_task(lambda: write_captured(self._agent, message, key))
        if written is None:
            return None
        is_done = written.status == "active" and 0 < written.total <= written.done
        if is_done and not at_work and says_done(text):
            self._agent.task_update(written.task_id, status="completed", reason=rules.INFERRED)
        elif written.status == "active":
            self._look_again(written.task_id)
        return written

    def _look_again(self, own: str) -> None:
        """Tag the instruction that turns out to have begun a request, by a copy that replaces it, once."""
        task = self._user.task_get(own)
        if found := request_begun_lately(self._agent, task):
            entry, finished = found
            self._requested(
                task, entry.summary, finished=finished, key=f"request/{entry.seq}", replaces=entry
            )

    def session_over(self, reason: str, *, key: str | None = None) -> None:
        """The session ended; what it left open rests until somebody goes on with it."""
        written = self.aside(f"{rules.SESSION_ENDED}: {reason or 'no reason tool_input'}.", key=key)
        if written and written.status == "active":
            self._tool.task_update(written.task_id, status="paused", reason=rules.SESSION_OVER)

    def snapshot(
        self, text: str, *, label: str, summarized: bool = False, key: str | None = None
    ) -> Written | None:
        """The context, or the host's own summary of it."""
        return self._if_task(
            lambda: self._tool.task_snapshot(None, text, label=label, summarized=summarized, key=key)
        )

    def helper_began(self, parent: str, name: str, *, request: str | None, key: str) -> Written:
        """The agent gave work to another agent, which has its own task; this capture is that one's."""
        return self._agent.task_register(name[:120], request=request, parent=parent, key=key)

    def helper_ended(self, answer: str, *, key: str) -> Written | None:
        """A helper is done; this is the helper's capture."""
        return self._if_task(lambda: self._agent.task_finish(None, answer or None, key=key))

    def result(self, summary: str, detail: str, *, key: str) -> Written | None:
        """The result of a helper, for the agent that it worked for."""
        return self._if_task(
            lambda: self._tool.task_remember(
                None, summary, type="tool_result", detail=detail or None, key=key
            )
        )

    def answered(self, questions: Any, answers: Any, *, key: str | None = None) -> None:
        """The user answered questions of the agent: each answer is a decision of the user."""
        for number, (question, answer) in enumerate(answers.items() if is_dict(answers) else ()):
            options, choice = _options(questions, question), as_text(answer)
            if choice.strip():
                chosen = [one for one in options if one.get("label") == choice and one.get("description")]
                self._decide(
                    choice=choice,
                    title=question[:1000],
                    reasoning=str(chosen[0]["description"]) if chosen else None,
                    options=[option["label"] for option in options if option.get("label")] or None,
                    key=None if key is None else f"{key}/{number}",
                )

    def asked(
        self, question: str, detail: str | None, *, kind: str, by_agent: bool = True, key: str
    ) -> Written:
        """The user is asked something: an open question until `settled`, or until the next of its `kind`."""
        memory, earlier = self._agent if by_agent else self._tool, self._open_questions(kind)
        return self._on_task(
            lambda: memory.task_remember(
                None, question, type="question", detail=detail, tags=[kind],
                supersedes=[one.seq for one in earlier] or None, key=key,
            )
        )  # fmt: skip

    def settled(self, kind: str) -> str:
        """The open question of a kind has its answer; returns the question, if there is one."""
        found = self._open_questions(kind)
        if not found:
            return ""
        self._agent.task_remember(None, resolves=[one.seq for one in found])
        return found[-1].summary

    def _open_questions(self, kind: str) -> list[Entry]:
        own = self._own_task()
        return [one for one in self._agent.task_get(own).questions if kind in one.tags] if own else []

    def elicited(self, server: str, action: str, content: Any, *, key: str) -> Written | None:
        """The user answered a question of an MCP server, or did not: an answer is a decision of the user."""
        question = self.settled(asked_by(server))
        fields = {name: as_text(value) for name, value in content.items()} if is_dict(content) else {}
        if action == "accept" and fields:
            choice = "; ".join(f"{name}: {value}" for name, value in fields.items())
            return self._decide(choice=choice[:2000], title=(question or asked_by(server))[:1000], key=key)
        done = {"accept": "accepted", "decline": "declined", "cancel": "dismissed"}.get(action, "answered")
        return self.aside(f"The user {done} what the MCP server {server} asked.", by_user=True, key=key)

    def _decide(self, **decision: Any) -> Written:
        return self._on_task(lambda: self._user.task_decide(None, **decision))

    def plan_shown(self, plan: str, *, key: str) -> Written:
        """The agent shows the user a plan, which waits for approval."""
        question = f"The plan waits for the user's approval: {_title_of(plan)}"
        return self.asked(question[:2000], plan or None, kind=_PLAN, key=key)

    def plan_answered(self) -> None:
        """The plan that was shown does not wait any more."""
        self.settled(_PLAN)

    def planned(self, plan: str, approved: bool, *, key: str | None = None) -> Written:
        """The user approved or rejected a plan of the agent."""
        title = _title_of(plan)
        what, why = f"the plan: {title}"[:2000], "the user did not approve it"
        if approved:
            written = self._decide(choice=f"approved the plan: {title}"[:2000], context=plan, key=key)
            self._approved(written.task_id, what)
            self._name_after(plan, written.task_id)
            return written
        return self._on_task(lambda: self._user.task_exclude(None, what=what, why=why, key=key))

    def _approved(self, task_id: str, what: str) -> None:
        """What the user did not approve before is approved now."""
        refused = [one.seq for one in self._agent.task_get(task_id).exclusions if one.summary == what]
        if refused:
            self._user.task_remember(task_id, resolves=refused)

    def _name_after(self, plan: str, task_id: str) -> None:
        """Give a draft the title of its first plan, if the plan has a heading that says something."""
        name = task_name(f"Implement the following plan:\n\n{plan}") if plan.lstrip().startswith("#") else ""
        task = self._agent.task_get(task_id)
        plans = sum(entry.summary.startswith("approved the plan") for entry in task.decisions)
        if len(name.split()) > 1 and DRAFT in task.metadata and plans == 1 and name != task.name:
            self._agent.task_update(task_id, name=name)

    def _task(self) -> Task:
        """The session's own task as it stands, never another's; a new one if it has none."""
        own = self._own_task() or self._agent.task_register(UNNAMED, metadata={DRAFT: True}).task_id
        return self._agent.task_get(own)

    def _if_task(self, call: Callable[[], Result]) -> Result | None:
        """Do something on the session's task; nothing where it has none."""
        return call() if self._own_task() else None

    def _on_task(self, call: Callable[[], Result]) -> Result:
        """Do something on the session's task; where it has none yet, on a new one without a request."""
        if not self._agent.origin.session and self._own_task() is None:
            self._agent.task_register(UNNAMED, metadata={DRAFT: True})
        return call()  # with a session, the ledger begins a draft by itself


def _permission(tool: str, tool_input: Mapping[str, Any]) -> str:
    """The signature of the permission to make a call: the tool and its input, without a description."""
    return f"{_PERMISSION}{summary_of(tool, {**tool_input, 'description': None})}"


def _refuses(row: Row, tool: str, what: str) -> bool:
    """Whether an exclusion says that a call was not allowed, as the host reported or the extraction found."""
    if row["key"] == f"{_PERMISSION}{what}":
        return True
    found = json.loads(row["data"])
    return bool(found.get("rejected")) and f"{tool}: {found.get('what')}"[:_SAME] == what[:_SAME]


def _acts_of(tx: Tx, task: str, row: Row) -> Acts | None:
    """What a side effect of the ledger acts on, by the action that the host reported before its outcome."""
    last = row["replaced_by"] or row["seq"]
    for event in reversed(tx.events(task, max(0, last - _MOST_BETWEEN), _MOST_BETWEEN, last)):
        data: Any = json.loads(event["data"]) if event["event_type"] == "action" else None
        for one in side_effects(str(data.get("tool") or ""), data.get("input")) if is_dict(data) else ():
            if one.signature == row["key"]:
                return one.acts
    return None


def _is_open(record: Row | None) -> bool:
    return record is not None and record["status"] in OPEN_EFFECTS


def asked_by(server: str) -> str:
    """The kind of a question that an MCP server asks."""
    return f"asked by {server}"[:60]


def _title_of(plan: str) -> str:
    return next((line.strip("# ") for line in plan.splitlines() if line.strip("# ")), "plan")


def is_assent(text: str) -> bool:
    """Whether a prompt only asks the agent to continue, or interrupts it."""
    if text.startswith(_INTERRUPTED):
        return True
    words = text.lower().replace(",", " ").replace(".", " ").replace("!", " ").split()
    return len(words) <= _ASSENT_WORDS and all(word in _ASSENT for word in words)


def patched_files(tool_input: Mapping[str, Any]) -> list[dict[str, str]]:
    """The files that a patch in a tool's input adds, changes or deletes."""
    text = next(
        (value for value in tool_input.values() if isinstance(value, str) and _PATCH in value[:200]), ""
    )
    found: dict[str, str] = {}
    for line in text.splitlines():
        for begin, change in _CHANGES.items():
            if line.startswith(begin) and line[len(begin) :].strip():
                found[line[len(begin) :].strip()[:2000]] = change
    return [{"path": path, "change": change} for path, change in found.items()]


def summary_of(tool: str, tool_input: Mapping[str, Any]) -> str:
    """A tool call in a line."""
    texts = (
        tool_input[name]
        for name in _DESCRIBING
        if isinstance(tool_input.get(name), str) and tool_input[name].strip()
    )
    line = " ".join(next(texts, "")[: 2 * SUMMARY_CHARACTERS].split())[:SUMMARY_CHARACTERS]
    return f"{tool}: {line}" if line else tool or "tool"


def _options(questions: Any, text: str) -> list[Mapping[str, Any]]:
    """The options of the question with this text."""
    for question in questions if is_list(questions) else []:
        if is_dict(question) and question.get("question") == text and is_list(question.get("options")):
            return [option for option in question["options"] if is_dict(option)]
    return []
