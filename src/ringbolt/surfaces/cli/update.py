"""`ringbolt update`: the command that agents call most, alone in its module so that it loads quickly."""

from __future__ import annotations

from ...core.tasks import Tasks
from .console import written
from .parameters import KEY, TOKEN, OperationCommand, argument, option

update_command = OperationCommand(
    "update",
    Tasks,
    "task_update",
    argument("message", required=False, stdin=True),
    option("--step", metavar="STEP"),
    option("--step-status", metavar="STATUS"),
    option("--status", metavar="STATUS"),
    option("--phase", metavar="PHASE"),
    option("--reason"),
    option("--next", help="What to do next; an empty text clears it."),
    option("--blocker", of="blockers", help="What is in the way; repeat it for several."),
    option("--no-blockers", of="blockers", sets=[], help="Nothing is in the way any more."),
    option("--name"),
    option("--attention"),
    option("--archive/--unarchive", of="archived", help="Archive the task, or bring it back."),
    option("--query", metavar="QUESTION"),
    option("--expect", metavar="VERSION"),
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
