"""Forgetting a source and purging tasks: what goes, what stays, and that it is gone from the files, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.memory.copying import copy_store
from tests.support import refused

MARK = "zebrafish"  # one word, so that the index has it as it is written


def confirmed(memory, operation, **arguments):
    """Make the dry run and confirm it."""
    token = getattr(memory, operation)(**arguments).token
    return getattr(memory, operation)(**arguments, confirm=token)


def fill(memory, secret=MARK):
    """A task that another session has written to, in every way there is."""
    task = memory.task_register("Deploy", ["Build", "Push", "Run"], request="Deploy it, please.").task_id
    memory.task_set(task, "region", "eu-west")
    other = memory.acting_as(session="leaky", agent="spy")
    other.task_update(
        task, f"{secret} message", next=f"{secret} next", blockers=[f"{secret} blocker"],
        name=f"{secret} name", goal=f"{secret} goal", attention=f"{secret} attention",
        metadata={"note": f"{secret} metadata"},
    )  # fmt: skip
    other.task_set(task, "password", f"{secret} value")
    other.task_decide(task, choice=f"{secret} choice", reasoning=f"{secret} why", tags=[f"{secret}-tag"])
    other.task_plan_append(task, [f"{secret} step"], note=f"{secret} note")
    other.task_item_update(task, "s1", note=f"{secret} note", active_issue=f"{secret} issue")
    other.task_log_action(
        task, f"{secret} action", type="cli", input={"command": f"echo {secret}"}, output=secret,
        error=f"{secret} failed", status="failed", files=[f"/{secret}/file"],
    )  # fmt: skip
    other.task_snapshot(task, f"{secret} context", label=f"{secret} label")
    other.task_intent(task, what=f"{secret} intent")
    other.memory_store(entity="person", key="name", value=secret, category="fact")
    memory.task_update(task, "The build is done.", step="s1", step_status="completed")
    memory.task_remember(task, "the port is 8080")
    memory.task_distill(task)
    return task


def raw(memory) -> dict[str, int]:
    """How often the mark is in each file of the store."""
    return {
        name: Path(name).read_bytes().lower().count(MARK.encode())
        for name in memory.store.files()
        if Path(name).exists()
    }


def everything(memory, task) -> str:
    """All that operations say of a task, and of what others have learned from it."""
    parts = [
        memory.task_get(task), memory.task_get(task, at=4), memory.task_resume(task), memory.task_state(task),
        memory.task_thread(task, limit=500), memory.task_summary(task, detail="full"),
        memory.task_recall(MARK), memory.memory_recall(MARK, history=True), memory.learned_patterns(),
        memory.task_history(task, type="variable"), memory.task_plans(task), memory.task_drill_down(task),
        memory.task_list(status="all", workspace=None, archived=True, kind=None), memory.task_ask(task),
        memory.active_tasks(completed=True), memory.jobs_status(), memory.task_line(task),
        list(memory.events()),
    ]  # fmt: skip
    return "\n".join(map(repr, parts)).lower()


def test_what_came_from_a_session_is_gone_everywhere_and_the_rest_is_as_it_was(memory):
    task = fill(memory)
    assert MARK in everything(memory, task)
    said = memory.forget("session:leaky")
    assert (said.done, said.tasks, said.token is not None) == (False, 2, True)
    assert MARK in everything(memory, task)
    done = memory.forget("session:leaky", confirm=said.token)
    assert (done.done, done.events, done.scrubbed) == (True, said.events, True)
    found = everything(memory, task)
    assert MARK not in found.replace(f"'{MARK}'", "")  # the question itself is in the answer
    assert sum(raw(memory).values()) == 0
    after = memory.task_get(task)
    assert (after.request, after.variables, after.name) == (
        "Deploy it, please.",
        {"region": "eu-west"},
        "[forgotten]",
    )
    assert [note.summary for note in after.notes] == ["the port is 8080"]
    assert memory.verify().problems == ()
