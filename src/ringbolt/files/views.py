"""The views that can be kept as files: what each shows, and where it stands in a mirror folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from ..ledger.base import Base
from ..ledger.values import read_snapshot
from ..model.types import Snapshot, Value
from ..packet.resume import resume_packet
from ..packet.state import yaml_state

OWN = ".ringbolt"  # our own folder inside a mirror folder; git ignores it as a whole
YAML = ("# ", "")
MARKDOWN = ("<!-- ", " -->")
STATES, STATES_TASKS = "memory/states", 20


class View(Value, frozen=True, kw_only=True):
    """A view that can be kept as a file or as a folder of files.

    Its subject is the id of a task or the path of a workspace. `place(subject)` is the path of the file or
    folder below the mirror folder; `render(memory, subject)` gives the files by their paths below it.
    `comment` encloses the stamp in the last line of the file; files that cannot hold a comment have none, and
    are listed instead. `ignored` are the patterns that git must ignore outside `OWN`.
    """

    name: str
    scope: Literal["task", "workspace"]
    place: Callable[[str], str]
    render: Callable[[Base, str], Mapping[str, str]]
    comment: tuple[str, str] | None
    ignored: tuple[str, ...] = ()


def _snapshot(memory: Base, task_id: str) -> Snapshot | None:
    return memory.store.read(lambda tx: read_snapshot(tx, task_id), once=True)


def _state_place(task_id: str) -> str:
    return f"{OWN}/{task_id}.state.yaml"


def _state(memory: Base, task_id: str) -> dict[str, str]:
    task = _snapshot(memory, task_id)
    return {_state_place(task_id): yaml_state(task)} if task else {}


def _resume_place(task_id: str) -> str:
    return f"{OWN}/{task_id}.resume.md"


def _resume(memory: Base, task_id: str) -> dict[str, str]:
    # Without the current time: an age would be wrong as soon as it is written. Tokens are estimated, so that
    # the file does not depend on which tokenizer is installed.
    task = _snapshot(memory, task_id)
    return {_resume_place(task_id): resume_packet(task).text} if task else {}


def _active_tasks(memory: Base, workspace: str) -> dict[str, str]:
    return {"ACTIVE-TASKS.md": _in_workspace(memory, workspace)._active_tasks_text()}


def _bank_place(task_id: str) -> str:
    return f"task_memory_bank/{task_id}"


def _bank(memory: Base, task_id: str) -> dict[str, str]:
    files = _in_workspace(memory, memory.workspace)._bank_texts(task_id)
    return {f"{_bank_place(task_id)}/{name}": text for name, text in files.items()}


def _states(memory: Base, workspace: str) -> dict[str, str]:
    here = _in_workspace(memory, workspace)
    tasks = here.task_list(limit=STATES_TASKS).tasks
    files: dict[str, str] = {}
    for card in tasks:
        files |= here._states_texts(card.id)
    if tasks:
        files[".active-task"] = f"{tasks[0].id}\n"
    return {f"{STATES}/{name}": text for name, text in files.items()}


def _in_workspace(memory: Any, workspace: str | None) -> Any:
    """The memory in the workspace of a mirror, whichever workspace the keeper was opened in."""
    return memory.acting_as(workspace=workspace)


VIEWS = {
    view.name: view
    for view in (
        View(name="state", scope="task", place=_state_place, render=_state, comment=YAML),
        View(name="resume", scope="task", place=_resume_place, render=_resume, comment=MARKDOWN),
        View(
            name="active-tasks",
            scope="workspace",
            place=lambda _: "ACTIVE-TASKS.md",
            render=_active_tasks,
            comment=None,
            ignored=("ACTIVE-TASKS.md",),
        ),
        View(
            name="bank",
            scope="task",
            place=_bank_place,
            render=_bank,
            comment=None,
            ignored=("task_memory_bank/",),
        ),
        View(
            name="states",
            scope="workspace",
            place=lambda _: STATES,
            render=_states,
            comment=None,
            ignored=(f"{STATES}/",),
        ),
    )
}
