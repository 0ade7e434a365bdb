"""The kinds of mirrors: which views can be kept as files, and where each of them stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from ..ledger.base import Base
from ..ledger.values import read_snapshot
from ..model.types import Snapshot, Value
from ..packet.resume import resume_packet
from ..packet.state import yaml_state

# Our own folder in a mirror folder: what is in it needs no entry in anyone's list of ignored files.
OWN = ".ringbolt"
YAML = ("# ", "")
MARKDOWN = ("<!-- ", " -->")


class Kind(Value, frozen=True, kw_only=True):
    """A view that can be kept as a file, or as a folder of files.

    The subject is the id of a task or the path of a workspace. `place(subject)` is the path of the file or
    folder below the mirror folder; `render(memory, subject)` gives the files, by their paths below it.
    `comment` encloses the stamp, which is the last line of the file. Files that cannot hold a comment have
    none; a list of them is kept instead. `ignored` are the patterns that git must overlook outside `OWN`.
    """

    name: str
    scope: Literal["task", "workspace"]
    place: Callable[[str], str]
    render: Callable[[Base, str], Mapping[str, str]]
    comment: tuple[str, str] | None
    ignored: tuple[str, ...] = ()


def _state_place(task_id: str) -> str:
    return f"{OWN}/{task_id}.state.yaml"


def _state(memory: Base, task_id: str) -> dict[str, str]:
    task = _snapshot(memory, task_id)
    return {_state_place(task_id): yaml_state(task)} if task else {}


def _resume_place(task_id: str) -> str:
    return f"{OWN}/{task_id}.resume.md"


def _resume(memory: Base, task_id: str) -> dict[str, str]:
    # Without a time: an age would be wrong as soon as it is written.
    task = _snapshot(memory, task_id)
    return {_resume_place(task_id): resume_packet(task).text} if task else {}


def _snapshot(memory: Base, task_id: str) -> Snapshot | None:
    return memory.store.read(lambda tx: read_snapshot(tx, task_id), once=True)


def _active_tasks(memory: Base, workspace: str) -> dict[str, str]:
    return {"ACTIVE-TASKS.md": _own(memory, workspace)._active_tasks_text()}


def _bank(memory: Base, task_id: str) -> dict[str, str]:
    files = _own(memory, memory.workspace)._bank_texts(task_id)
    return {f"{_bank_place(task_id)}/{name}": text for name, text in files.items()}


def _bank_place(task_id: str) -> str:
    return f"task_memory_bank/{task_id}"


def _states(memory: Base, workspace: str) -> dict[str, str]:
    own = _own(memory, workspace)
    tasks = own.task_list(limit=STATES_TASKS).tasks
    files: dict[str, str] = {}
    for card in tasks:
        files |= own._states_texts(card.id)
    if tasks:
        files[".active-task"] = f"{tasks[0].id}\n"
    return {f"{STATES}/{name}": text for name, text in files.items()}


def _own(memory: Any, workspace: str | None) -> Any:
    """The memory for a workspace, whatever the one is that keeps the mirrors."""
    return memory.acting_as(workspace=workspace)


# Files are made with the estimate of tokens, so that they do not depend on what is installed where.
STATES, STATES_TASKS = "memory/states", 20
KINDS = {
    "state": Kind(name="state", scope="task", place=_state_place, render=_state, comment=YAML),
    "resume": Kind(name="resume", scope="task", place=_resume_place, render=_resume, comment=MARKDOWN),
    "active-tasks": Kind(
        name="active-tasks",
        scope="workspace",
        place=lambda _: "ACTIVE-TASKS.md",
        render=_active_tasks,
        comment=None,
        ignored=("ACTIVE-TASKS.md",),
    ),
    "bank": Kind(
        name="bank",
        scope="task",
        place=_bank_place,
        render=_bank,
        comment=None,
        ignored=("task_memory_bank/",),
    ),
    "states": Kind(
        name="states",
        scope="workspace",
        place=lambda _: STATES,
        render=_states,
        comment=None,
        ignored=(f"{STATES}/",),
    ),
}
