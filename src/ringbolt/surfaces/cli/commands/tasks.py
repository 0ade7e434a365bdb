"""`ringbolt list` and `ringbolt show`: tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.tasks import Tasks
from ...task_words import ago, now_or_next
from ..console import echo, moment, table, warn
from ..parameters import NAMED_TASK, OperationCommand, option
from ..render import task


def _done(card: Any) -> str:
    """The number of steps that are done and verified, and of unknown side effects."""
    parts = [f"{card['done']}/{card['total']}"] if card["total"] else []
    parts += [f"{card['verified']} verified"] if card["verified"] else []
    parts += [f"{card['unknown']} unknown"] if card["unknown"] else []
    return ", ".join(parts)


def _show_tasks(data: Any) -> None:
    rows: list[Sequence[str]] = []
    for card in data["tasks"]:
        cells = (card["id"], card["name"], card["life"], _done(card), now_or_next(card))
        rows.append((*cells, ago(card["updated_at"])))
    if rows:
        table(("ID", "NAME", "STATUS", "STEPS", "NOW OR NEXT", "CHANGED"), rows, ("NOW OR NEXT", "STEPS"))
    else:
        echo("No tasks.")
    if data["cursor"] is not None:
        warn(f"more: --cursor {data['cursor']}")


list_command = OperationCommand(
    "list",
    Tasks,
    "task_list",
    option(
        "--status",
        convert=lambda words: words[0] if len(words) == 1 else words,
        help="open, ended, all, or a status.",
    ),
    option("--of-session", of="session", metavar="NAME"),
    "--tag --parent --text --archived --repository --limit --cursor",
    show=_show_tasks,
    everywhere=True,
    task=False,
    examples=("ringbolt list", "ringbolt list --status all --everywhere", "ringbolt list --text deploy"),
)

show_command = OperationCommand(
    "show",
    Tasks,
    "task_get",
    NAMED_TASK,
    option(
        "--at", metavar="SEQ|TIME", type=str, convert=moment, help="As it was after an event or at a time."
    ),
    show=lambda data: echo("\n".join(task(data))),
    help="Show a TASK in full: its request, plan, decisions, failures, values and open questions.",
    examples=("ringbolt show", "ringbolt show 7k3m --at 12", "ringbolt show --at 2026-03-01T12:00Z"),
)
