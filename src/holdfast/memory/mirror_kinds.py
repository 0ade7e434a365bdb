"""The kinds of mirrors: which views can be kept as files, and where each of them stands."""

from __future__ import annotations

from ..types import Record
from ..views.encode import scalar
from .reading import read_snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from .base import Base

# Our own folder in a mirror folder: what is in it needs no entry in anyone's list of ignored files.
OWN = ".holdfast"
YAML = ("# ", "")
MARKDOWN = ("<!-- ", " -->")


class Kind(Record):
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
    task = memory.store.read(lambda tx: read_snapshot(tx, task_id), once=True)
    if task is None:
        return {}
    lines = [
        "task:",
        f"  id: {scalar(task.id)}",
        f"  name: {scalar(task.name)}",
        f"  status: {scalar(task.status)}",
        f"  phase: {scalar(task.phase)}",
        f"  goal: {scalar(task.goal or '')}",
        f"  progress: {scalar(f'{task.done}/{task.total}')}",
        f"  messages: {task.messages}",
        "plan:" if task.items else "plan: []",
    ]
    lines += [
        f"  - {{id: {scalar(item.id)}, status: {scalar(item.status)}, title: {scalar(item.title)}}}"
        for item in task.items
    ]
    return {_state_place(task_id): "\n".join(lines) + "\n"}


KINDS = {
    "state": Kind(name="state", scope="task", place=_state_place, render=_state, comment=YAML),
}
