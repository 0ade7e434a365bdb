"""Questions to the user and plans that wait for approval, with the user's answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...ledger.current_task import DRAFT
from ...model.types import Entry, Written, is_dict, is_list
from ...requests.task_name import task_name
from ..hook_parts.cleaning import clipped as clipped
from ..transcripts.events import as_text
from .session_writer import SessionWriter

# The kind of question that a plan is while it waits for approval.
_PLAN = "plan"


class Questions(SessionWriter):
    """Writes what the user is asked and decides."""

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


def asked_by(server: str) -> str:
    """The kind of a question that an MCP server asks."""
    return f"asked by {server}"[:60]


def _title_of(plan: str) -> str:
    return next((line.strip("# ") for line in plan.splitlines() if line.strip("# ")), "plan")


def _options(questions: Any, text: str) -> list[Mapping[str, Any]]:
    """The options of the question with this text."""
    for question in questions if is_list(questions) else []:
        if is_dict(question) and question.get("question") == text and is_list(question.get("options")):
            return [option for option in question["options"] if is_dict(option)]
    return []
