"""Capture: writes what happens in a host to the ledger of the session's task.

There is one method for each thing that can happen, with one short transaction of core operations. What needs
more work (why an attempt failed, which names matter) is derived later from what is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ..extract.task_name import task_name
from ..ledger.current_task import DRAFT, UNNAMED, request_tags
from ..memory import TaskMemory
from ..model import rules
from ..model.errors import RingboltError
from ..model.types import Entry, Task, Written, is_dict, is_list
from ..signals.tools import PATH_FIELDS, first_text, is_edit, is_shell
from .capture_hook import clipped as clipped
from .requests import is_finished, judged, requests_of, says_done, task_to_take_over
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

# The kind of question that a plan is while it waits for approval.
_PLAN = "plan"
_PATCH = "*** Begin Patch"
_CHANGES = {"*** Add File:": "created", "*** Update File:": "modified", "*** Delete File:": "deleted"}


class Capture:
    """Writes the events of one session of a host, through a memory of that session."""

    def __init__(self, memory: TaskMemory) -> None:
        self._agent = memory
        self._user = memory.acting_as(channel="user")
        self._tool = memory.acting_as(channel="tool")

    def prompt(self, text: str, *, key: str | None = None) -> Written | None:
        """The user wrote something: the first prompt becomes the request of a task, later ones instructions.

        A greeting begins no task.
        """
        text = text.strip()
        if not text:
            return None
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
        # A prompt that is told again may be the one that the task was made of.
        if key is not None and task.metadata.get(_FIRST) == key:
            return None
        if is_assent(text):
            said = self._user.task_update(own, text, key=key)
            return said if said.status == "completed" else self._woken(self._user, said)
        if not task.request and DRAFT in task.metadata and not requests_of(task.instructions):
            # The first request of a draft that began without one.
            return self._woken(self._user, self._requested(task, text, finished=False, key=key))
        if judged(self._agent, task, text).is_new:
            finished = is_finished(task, self._last_words(task))
            return self._woken(self._user, self._requested(task, text, finished=finished, key=key))
        return self._woken(self._user, self._instructed(own, text, key))

    def _instructed(self, task: str, text: str, key: str | None) -> Written:
        return self._user.task_remember(task, text, type="user_instruction", key=key)

    def _requested(self, task: Task, text: str, *, finished: bool, key: str | None) -> Written:
        """A new request of a task: it leads from now on, and gives a draft its name."""
        said = self._user.task_remember(
            task.id, text, type="user_instruction", tags=request_tags(finished), key=key
        )
        if DRAFT in task.metadata and (name := task_name(text)) not in ("", task.name):
            self._agent.task_update(task.id, name=name)
        return said

    def _last_words(self, task: Task) -> str:
        """What the agent said last."""
        rows = self._agent.store.read(lambda tx: tx.events(task.id, max(0, task.seq - 20), 20))
        said = (row["text"] for row in reversed(rows) if row["channel"] == "agent" and row["text"])
        return next(said, "")

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

    def _woken(self, memory: TaskMemory, written: Written) -> Written:
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
        return self._update(self._agent, text, key, self._on_task)

    def aside(self, text: str, *, by_user: bool = False, key: str | None = None) -> Written | None:
        """The user or the host wrote something that asks for nothing, and begins no task."""
        return self._update(self._user if by_user else self._tool, clipped(text), key, self._if_task)

    def notice(self, text: str, *, key: str | None = None) -> Written | None:
        """The host put something into the context: a reminder, a skill, the output of its own command."""
        return self._update(self._tool, clipped(text), key, self._on_task)

    def _update(self, memory: TaskMemory, text: str, key: str | None, do: Callable[..., Any]) -> Any:
        return do(lambda: memory.task_update(None, text, key=key)) if text.strip() else None

    def tool(
        self,
        name: str,
        given: Any,
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
        fields: Mapping[str, Any] = given if is_dict(given) else {}
        kept = clipped(as_text(output))
        summary, outcome = summary_of(name, fields), "failed" if failed else "completed"
        if interrupted:
            summary, outcome, failed, kept = f"{summary} (interrupted by the user)", "skipped", False, None
        edits = is_edit(name, fields)
        patched = patched_files(fields)
        written = self._on_task(
            lambda: self._tool.task_log_action(
                None,
                summary,
                type="edit" if edits or patched else "cli" if is_shell(name) else "tool",
                status=outcome,
                tool=name[:500],
                input=given,
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
        return self._woken(self._agent, written)

    def refused(self, name: str, given: Any, reason: str, *, by_user: bool, key: str) -> Written | None:
        """The host or the user did not allow a tool call: nothing was tried, so nothing failed.

        The same refusal is written once.
        """
        what = summary_of(name, given if is_dict(given) else {})
        if any(one.summary == what for one in self._task().exclusions):
            return None
        memory = self._user if by_user else self._tool
        why = f"not allowed by the {'user' if by_user else 'host'}: {reason or 'no reason given'}"
        return self._on_task(
            lambda: memory.task_exclude(None, what=what, why=why, tags=["permission"], key=key)
        )

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
            if step.dropped_in is None
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
        written = self._update(self._agent, clipped(text), key, self._if_task)
        is_done = written and written.status == "active" and 0 < written.total <= written.done
        if is_done and not at_work and says_done(text):
            self._agent.task_update(written.task_id, status="completed", reason=rules.INFERRED)
        return written

    def session_over(self, reason: str, *, key: str | None = None) -> None:
        """The session ended; what it left open rests until somebody goes on with it."""
        written = self.aside(f"{rules.SESSION_ENDED}: {reason or 'no reason given'}.", key=key)
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
        given = {name: as_text(value) for name, value in content.items()} if is_dict(content) else {}
        if action == "accept" and given:
            choice = "; ".join(f"{name}: {value}" for name, value in given.items())
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
        if approved:
            written = self._decide(choice=f"approved the plan: {title}"[:2000], context=plan, key=key)
            self._name_after(plan, written.task_id)
            return written
        what, why = f"the plan: {title}"[:2000], "the user did not approve it"
        return self._on_task(lambda: self._user.task_exclude(None, what=what, why=why, key=key))

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


def patched_files(given: Mapping[str, Any]) -> list[dict[str, str]]:
    """The files that a patch in a tool's input adds, changes or deletes."""
    text = next((value for value in given.values() if isinstance(value, str) and _PATCH in value[:200]), "")
    found: dict[str, str] = {}
    for line in text.splitlines():
        for begin, change in _CHANGES.items():
            if line.startswith(begin) and line[len(begin) :].strip():
                found[line[len(begin) :].strip()[:2000]] = change
    return [{"path": path, "change": change} for path, change in found.items()]


def summary_of(tool: str, given: Mapping[str, Any]) -> str:
    """A tool call in a line."""
    texts = (given[name] for name in _DESCRIBING if isinstance(given.get(name), str) and given[name].strip())
    line = " ".join(next(texts, "")[: 2 * SUMMARY_CHARACTERS].split())[:SUMMARY_CHARACTERS]
    return f"{tool}: {line}" if line else tool or "tool"


def _options(questions: Any, text: str) -> list[Mapping[str, Any]]:
    """The options of the question with this text."""
    for question in questions if is_list(questions) else []:
        if is_dict(question) and question.get("question") == text and is_list(question.get("options")):
            return [option for option in question["options"] if is_dict(option)]
    return []
