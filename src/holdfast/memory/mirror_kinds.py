"""The kinds of mirrors: which views can be kept as files, and where each of them stands."""

from __future__ import annotations

from ..types import Record
from ..views.packet import resume_packet
from ..views.state import yaml_state
from .reading import read_snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from ..types import Snapshot
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


# Files are made with the estimate of tokens, so that they do not depend on what is installed where.
KINDS = {
    "state": Kind(name="state", scope="task", place=_state_place, render=_state, comment=YAML),
    "resume": Kind(name="resume", scope="task", place=_resume_place, render=_resume, comment=MARKDOWN),
}
