"""The views that can be kept as files: their content, and their paths in a mirror folder."""

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
# The places of views below the mirror folder; {} stands for the id of the task.
STATE = f"{OWN}/{{}}.state.yaml"
RESUME = f"{OWN}/{{}}.resume.md"
BANK = "task_memory_bank/{}"
ACTIVE_TASKS = "ACTIVE-TASKS.md"
STATES = "memory/states"
STATES_TASKS = 20


class View(Value, frozen=True, kw_only=True):
    """A view that can be kept as a file or as a folder of files.

    Its subject is the id of a task or the path of a workspace. `place` is the path of the file or folder
    below the mirror folder; `render(memory, subject)` returns the files by their paths below it. `comment`
    encloses the stamp in the last line of the file; files that cannot hold a comment are listed instead.
    `ignored` is the pattern that git must ignore outside `OWN`.
    """

    name: str
    scope: Literal["task", "workspace"] = "task"
    place: str
    render: Callable[[Base, str], Mapping[str, str]]
    comment: tuple[str, str] | None = None
    ignored: str = ""


def _state(memory: Base, task_id: str) -> dict[str, str]:
    task = _snapshot(memory, task_id)
    return {STATE.format(task_id): yaml_state(task)} if task else {}


def _resume(memory: Base, task_id: str) -> dict[str, str]:
    # Without the current time, because ages in a file would soon be wrong. Tokens are estimated, so that the
    # file does not depend on the installed tokenizer.
    task = _snapshot(memory, task_id)
    return {RESUME.format(task_id): resume_packet(task).text} if task else {}


def _snapshot(memory: Base, task_id: str) -> Snapshot | None:
    return memory.store.read(lambda tx: read_snapshot(tx, task_id), once=True)


def _active_tasks(memory: Base, workspace: str) -> dict[str, str]:
    return {ACTIVE_TASKS: _in_workspace(memory, workspace)._active_tasks_text()}


def _bank(memory: Base, task_id: str) -> dict[str, str]:
    files = _in_workspace(memory, memory.workspace)._bank_texts(task_id)
    return {f"{BANK.format(task_id)}/{name}": text for name, text in files.items()}


def _states(memory: Base, workspace: str) -> dict[str, str]:
    here = _in_workspace(memory, workspace)
    tasks = here.task_list(limit=STATES_TASKS).tasks
    files = {name: text for card in tasks for name, text in here._states_texts(card.id).items()}
    if tasks:
        files[".active-task"] = f"{tasks[0].id}\n"
    return {f"{STATES}/{name}": text for name, text in files.items()}


def _in_workspace(memory: Any, workspace: str | None) -> Any:
    """The memory in the workspace of a mirror, whichever workspace the keeper was opened in."""
    return memory.acting_as(workspace=workspace)


_VIEWS = (
    View(name="state", place=STATE, render=_state, comment=YAML),
    View(name="resume", place=RESUME, render=_resume, comment=MARKDOWN),
    View(name="bank", place=BANK, render=_bank, ignored="task_memory_bank/"),
    View(
        name="active-tasks",
        scope="workspace",
        place=ACTIVE_TASKS,
        render=_active_tasks,
        ignored=ACTIVE_TASKS,
    ),
    View(name="states", scope="workspace", place=STATES, render=_states, ignored=f"{STATES}/"),
)
VIEWS = {view.name: view for view in _VIEWS}
