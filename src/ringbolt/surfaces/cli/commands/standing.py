"""`ringbolt` without a command: where the work in this folder stands, and the commands to go on with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ....core.tasks import Tasks
from ....ledger.task_life import YOUR_TURN
from ....ledger.values import read_event
from ....model.errors import RingboltError
from ....model.types import Task
from ...task_words import ago, steps_done
from ..console import answer, echo, line, open_memory
from ..wording import cut, event_words

_OTHERS = 3  # further open tasks that are named
_WAITING = 3  # things that wait for a person
_COMMANDS = (
    ("ringbolt ask QUESTION", "what is next, what failed, why: in any words"),
    ("ringbolt show", "the request, plan, decisions and failures"),
    ("ringbolt resume", "what an agent gets after a compaction"),
    ("ringbolt list", "the open tasks of this folder"),
    ("ringbolt help", "the other commands"),
)
_FIRST_COMMANDS = (
    ("ringbolt install claude-code", "record what an agent does; or codex, cursor, gemini-cli, …"),
    ("ringbolt capture ~/.claude/projects", "import the sessions that you have had so far"),
    ("ringbolt register NAME", "start a task by hand"),
    ("ringbolt demo", "watch a task survive a kill"),
    ("ringbolt help", "the other commands"),
)


def show_standing() -> int:
    """Print where the work stands; if that cannot be read, print why, and succeed all the same."""
    try:
        with open_memory(Tasks) as memory:
            data = _standing(memory)
    except RingboltError as error:
        data: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
    answer(data, _show)
    return 0


def _standing(memory: Tasks) -> dict[str, Any]:
    cards = memory.task_list(limit=100).tasks
    data: dict[str, Any] = {"folder": memory.workspace or os.getcwd(), "task": None}
    if not cards:
        return data
    task = memory.task_get()
    (last,) = memory.store.read(lambda tx: tx.thread(task.id, 1, None))
    names = ("id", "name", "life", "done", "total", "current_title", "next_title", "next_step")
    return {
        **data,
        "task": {name: getattr(task, name) for name in names},
        "last": read_event(last).to_dict(),
        "waiting": _waiting(task),
        "others": [card.to_dict() for card in cards if card.id != task.id],
    }


def _waiting(task: Task) -> list[str]:
    """What a person can do for a task now, each with the command for it where there is one."""
    waiting = [task.attention] if task.attention else []
    waiting += [f"{each.what} (ringbolt approve)" for each in task.approvals if each.status == "pending"]
    waiting += [f"{each.text} (ringbolt proposals)" for each in task.proposals]
    waiting += [f"{each.summary} (question #{each.seq})" for each in task.questions]
    if not waiting and task.life == YOUR_TURN:
        waiting.append("The agent has ended its turn.")
    return waiting


def _show(data: dict[str, Any]) -> None:
    if data.get("task"):
        for text in _lines(data):
            echo(text)
    elif "folder" in data:
        echo(f"No open tasks in {line(_short(data['folder']))}; `ringbolt list --everywhere` shows all.")
    elif data["code"] == "store_not_found":
        echo("Ringbolt keeps an agent's place across compactions and restarts. Nothing is recorded here yet.")
    else:
        echo(f"{line(data['message'])} {line(data['hint'])}")
        echo("`ringbolt doctor` says what is wrong and how to fix it.")
    echo("")
    _show_commands(_COMMANDS if data.get("task") else _FIRST_COMMANDS)


def _lines(data: dict[str, Any]) -> list[str]:
    task, last, others = data["task"], data["last"], data["others"]
    steps = f", {done}" if (done := steps_done(task)) else ""
    now, following = task["current_title"], task["next_step"] or task["next_title"]
    lines = [f"{cut(task['name'])} ({task['id']}) in {line(_short(data['folder']))}"]
    lines.append(f"  {task['life']}{steps}")
    lines += [f"  Now:  {cut(now)}"] if now else []
    lines += [f"  Next: {cut(following)}"] if following and following != now else []
    lines.append(f"  Last: {ago(last['at'])}, {event_words(last)}")
    lines += [f"  Waits for you: {cut(each)}" for each in data["waiting"][:_WAITING]]
    lines += [f"Also open: {cut(card['name'])} ({card['id']}), {card['life']}" for card in others[:_OTHERS]]
    if len(others) > _OTHERS:
        lines.append(f"… and {len(others) - _OTHERS} more: ringbolt list")
    return lines


def _show_commands(rows: Sequence[tuple[str, str]]) -> None:
    width = max(len(command) for command, _ in rows)
    for command, meaning in rows:
        echo(f"  {command:{width}}  {meaning}")


def _short(path: str) -> str:
    """A path below the home folder from `~` on."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + os.sep) else path
