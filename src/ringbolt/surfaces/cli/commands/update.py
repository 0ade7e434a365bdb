"""`ringbolt update`: the command that agents call most, alone in its module so that it loads quickly."""

from __future__ import annotations

from ....core.tasks import Tasks
from ..console import written
from ..parameters import KEY, TOKEN, OperationCommand, argument, option

update_command = OperationCommand(
    "update",
    Tasks,
    "task_update",
    argument("message", required=False, stdin=True),
    "--step --step-status --status --phase --reason",
    option("--next", help="What to do next; an empty text clears it."),
    option("--blocker", of="blockers", help="What blocks the task."),
    option("--no-blockers", of="blockers", sets=[], help="Remove all blockers."),
    "--name --attention",
    option("--archive/--unarchive", of="archived", help="Archive the task, or restore it."),
    "--query --expect",
    TOKEN,
    KEY,
    show=written,
    help="Report what happened: a MESSAGE, and with it any change of status, step, next step or blockers.\n\n"
    "A message of - is read from standard input. Status words of other projects are understood.",
    examples=(
        'ringbolt update "The image is built" --step 1 --step-status done',
        'ringbolt update --status waiting --blocker "no access to the server"',
        'make 2>&1 | tail -1 | ringbolt update - --query "What is next?"',
    ),
)
