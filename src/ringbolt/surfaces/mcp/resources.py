"""Resources, prompts and the completion of ids. Does not import mcp."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...model.errors import InvalidInput, NotFound, shown
from ...model.types import is_dict, is_list
from . import texts

if TYPE_CHECKING:
    from ...memory import TaskMemory

ACTIVE = "tasks://active"
CURRENT = "current"  # stands for the id of the current task
MOST = 50  # open tasks that are listed as resources
MOST_LINKS = 3  # in one result: some hosts show them to the model too
_MARKDOWN, _YAML = "text/markdown", "application/yaml"
_TASK = re.compile(r"task://([^/?#]{1,200})/(state\.yaml|resume)")
_VIEWS = {
    "resume": ("Resume packet", _MARKDOWN, "Everything needed to continue the task."),
    "state.yaml": ("State", _YAML, "The state of the task as YAML."),
}
_TASK_ID = {"name": "task_id", "description": "Task id; default: the current task.", "required": False}

TEMPLATES: list[dict[str, Any]] = [
    {
        "uriTemplate": f"task://{{id}}/{view}",
        "name": view,
        "title": title,
        "mimeType": kind,
        "description": f"{words} The id may be `{CURRENT}`.",
    }
    for view, (title, kind, words) in _VIEWS.items()
]
_PROMPTS = {
    "resume": (
        "Continue a task", "The record of a task, and the request to continue it.", texts.RESUME,
    ),
    "handoff": (
        "Hand a task over",
        "Record what the next agent needs to know, and show the record so far.",
        texts.HANDOFF,
    ),
}  # fmt: skip
PROMPTS: list[dict[str, Any]] = [
    {"name": name, "title": title, "description": words, "arguments": [_TASK_ID]}
    for name, (title, words, _) in _PROMPTS.items()
]


def resources(memory: TaskMemory) -> list[dict[str, Any]]:
    """The list of open tasks, and the views of each."""
    listed: list[dict[str, Any]] = [
        {
            "uri": ACTIVE,
            "name": "active tasks",
            "title": "Open tasks",
            "mimeType": _MARKDOWN,
            "description": "The open tasks of this workspace, most recently changed first.",
        }
    ]
    for task in memory.task_list(limit=MOST).tasks:
        listed += [_view(view, task.id, task.name) for view in _VIEWS]
    return listed


def _view(view: str, task_id: str, name: str) -> dict[str, Any]:
    title, kind, words = _VIEWS[view]
    return {
        "uri": f"task://{task_id}/{view}",
        "name": f"{task_id} {view}",
        "title": f"{title}: {texts.plain_name(name)}" if name else title,
        "mimeType": kind,
        "description": words,
    }


def links(data: Any) -> list[dict[str, Any]]:
    """Links to the tasks that a result found or began, for the client's user: a model uses their ids."""
    if not is_dict(data):
        return []
    tasks: Any = data.get("tasks")
    named = [task for task in tasks if is_dict(task) and "id" in task] if is_list(tasks) else []
    if data.get("seq") == 1 and "task_id" in data:
        named.append({"id": data["task_id"]})
    views = (_view("resume", task["id"], task.get("name", "")) for task in named[:MOST_LINKS])
    about = {"type": "resource_link", "annotations": {"audience": ["user"], "priority": 0.2}}
    return [{**view, **about} for view in views]


def resource(memory: TaskMemory, uri: str) -> tuple[str, str]:
    """The text of a resource, and its type."""
    if uri == ACTIVE:
        return texts.result_text("task_list", {}, memory.task_list(limit=MOST).to_dict()), _MARKDOWN
    match = _TASK.fullmatch(uri)
    if not match:
        raise NotFound(
            "record_not_found",
            f"There is no resource {shown(uri)}.",
            f"The resources are {ACTIVE}, task://<id>/state.yaml and task://<id>/resume.",
        )
    task_id = None if match[1] == CURRENT else match[1]
    view = match[2]
    text = memory.task_resume(task_id).text if view == "resume" else memory.task_state(task_id)
    return text, _VIEWS[view][1]


def prompt(memory: TaskMemory, name: str, task_id: str | None) -> str:
    """The text of a prompt: instructions, and the record of the task."""
    if name not in _PROMPTS:
        raise InvalidInput(
            "invalid_argument",
            f"There is no prompt {shown(name)}.",
            f"The prompts are {' and '.join(_PROMPTS)}.",
        )
    try:
        packet = memory.task_resume(task_id or None).text
    except NotFound as error:
        if error.code != "no_current_task":
            raise
        packet = texts.NOT_OPEN
    return f"{_PROMPTS[name][2]}\n{packet}"


def completions(memory: TaskMemory, argument: str, begun: str) -> list[str]:
    """The ids of open tasks that start with the typed text."""
    if argument not in ("task_id", "id"):
        return []
    wanted = begun.strip().lower()
    ids = [task.id for task in memory.task_list(limit=100).tasks]
    return [task_id for task_id in ids if task_id.lower().startswith(wanted)]
