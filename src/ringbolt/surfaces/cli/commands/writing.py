"""The commands that write to a task: register, note, decide, log, finish, undo, claim and the like."""

from __future__ import annotations

from functools import partial
from typing import Any

from ....core.actions import Actions
from ....core.approvals import Approvals
from ....core.claims import Claims
from ....core.entries import Entries
from ....core.notes import Notes
from ....core.tasks import Tasks
from ....core.undo import Undo
from ..console import echo, json_of, text_of, written
from ..parameters import BECAUSE, KEY, NAMED_TASK, STEP, TAGS, TOKEN, OperationCommand, argument, option

write_command = partial(OperationCommand, show=written)
REPLACES = option("--replaces", of="supersedes", type=int, multiple=False)

register_command = write_command(
    "register",
    Tasks,
    "task_register",
    argument("name"),
    option("--step", of="plan", metavar="TITLE", multiple=True, help="Title of a step; in this order."),
    option("--plan", json=True, help="A plan with ids and dependencies, as JSON."),
    option("--request", stdin=True),
    "--goal",
    option("--approval", of="approval_mode"),
    option("--accept", of="acceptance", help="An acceptance criterion."),
    "--parent",
    TAGS,
    KEY,
    task=False,
    create=True,
    help="Start a task with a NAME. It becomes the current task of this session.\n\n"
    "The store is created if it does not exist.",
    examples=(
        'ringbolt register "Deploy the shop" --step Build --step Push --step Run',
        'ringbolt register "Deploy the shop" --request - < request.txt',
    ),
)

note_command = write_command(
    "note",
    Notes,
    "task_note",
    argument("text", stdin=True),
    option("--type", "--kind", of="type", default="discovery", show_default=True),
    option("--why", "--because", of="why"),
    "--step",
    TAGS,
    "--replaces",
    KEY,
    help="Record TEXT: a discovery, an error, a question, an instruction from the user.",
    examples=(
        'ringbolt note "The server has two free ports"',
        'ringbolt note "Never touch the database" --type instruction --as-user',
        'ringbolt note "Which port is right?" --type question',
    ),
)

decide_command = write_command(
    "decide",
    Entries,
    "task_decide",
    argument("choice", stdin=True),
    option("--because", of="reasoning"),
    option("--option", of="options"),
    "--title",
    option("--risk", of="risks"),
    "--if-wrong",
    REPLACES,
    STEP,
    TAGS,
    TOKEN,
    KEY,
    examples=('ringbolt decide ghcr.io --because "the key works there" --option docker.io --option ghcr.io',),
)

exclude_command = write_command(
    "exclude",
    Entries,
    "task_exclude",
    argument("what", stdin=True),
    option("--because", of="why"),
    "--symptom",
    option("--until", metavar="TIME"),
    STEP,
    TAGS,
    REPLACES,
    TOKEN,
    KEY,
    examples=('ringbolt exclude "Pushing to docker.io" --because "no rights there" --symptom "denied"',),
)


def _read_value(arguments: dict[str, Any]) -> None:
    is_json = arguments.pop("value_is_json", False)
    arguments["value"] = json_of("VALUE", arguments["value"]) if is_json else text_of(arguments["value"])


set_command = write_command(
    "set",
    Entries,
    "task_set",
    argument("name"),
    argument("value"),
    option("--value-is-json", of="value_is_json", is_flag=True, help="VALUE is JSON, not a text."),
    "*",
    prepare=_read_value,
    help="Set the variable NAME to VALUE. Earlier values stay in the history.",
    examples=("ringbolt set version v1.2.3", "ringbolt set ports '[8080, 8081]' --value-is-json"),
)

log_command = write_command(
    "log",
    Actions,
    "task_log_action",
    argument("summary"),
    "--type --status",
    option("--command", of="input.command", help="The command that was run."),
    option("--exit-code", of="output.exit_code", metavar="NUMBER", type=int, help="Its exit code."),
    option("--output", of="output.text", stdin=True, help="The output; - reads standard input."),
    "--error --tool",
    option("--file", of="files", metavar="PATH", help="A file that was changed."),
    "--duration-ms --action",
    STEP,
    TOKEN,
    KEY,
    help="Log an action: a command, an edit, a tool call, with its output.",
    examples=(
        'ringbolt log "Built the image" --type cli --command "make image" --exit-code 0',
        'ringbolt log "Changed the port" --type edit --file src/server.py',
    ),
)

finish_command = write_command(
    "finish",
    Tasks,
    "task_finish",
    argument("answer", required=False, stdin=True),
    option("--error", help="The error that ended it: the task has failed."),
    "*",
    help="End a task with its final ANSWER, or with the error that ended it.",
    examples=(
        'ringbolt finish "The shop is live at https://shop.example"',
        'ringbolt finish --error "no access"',
    ),
)

approve_command = write_command(
    "approve",
    Approvals,
    "task_approve",
    argument("what", required=False),
    "--note --mode",
    KEY,
    help="Approve WHAT waits for you: a step, or the #SEQ of a side effect. Default: everything that waits."
    "\n\nOnly the user can. --mode changes what waits: auto, confirm (side effects), manual (steps too).",
    examples=("ringbolt approve", 'ringbolt approve Push --note "but not on Friday"'),
)

reject_command = write_command(
    "reject",
    Approvals,
    "task_approve",
    argument("what", required=False),
    option("--note", "--because", of="note"),
    KEY,
    defaults={"approve": False},
    help="Reject WHAT waits for you: a step, or the #SEQ of a side effect. Default: everything that waits.",
    examples=('ringbolt reject "#12" --because "the shop is closed today"',),
)

pause_command = write_command(
    "pause",
    Tasks,
    "task_update",
    NAMED_TASK,
    BECAUSE,
    option("--next", help="What to do first when it continues."),
    defaults={"status": "paused"},
    help="Pause a TASK. `reopen` continues it.",
    examples=('ringbolt pause --because "waiting for the review"',),
)

reopen_command = write_command(
    "reopen",
    Tasks,
    "task_update",
    NAMED_TASK,
    "--message",
    defaults={"status": "active"},
    help="Continue a TASK that was paused or has ended: it becomes active again.\n\n"
    "`resume` shows what an agent needs to continue it.",
    examples=("ringbolt reopen 7k3m", "ringbolt reopen deploy"),
)

undo_command = write_command(
    "undo",
    Undo,
    "task_undo",
    argument("seq", required=False),
    "*",
    help="Undo the changes of event SEQ, or of the last one. Nothing is erased.",
    examples=("ringbolt undo", 'ringbolt undo 12 --because "it was the wrong file"'),
)

focus_command = OperationCommand(
    "focus",
    Tasks,
    "task_focus",
    NAMED_TASK,
    show=lambda data: echo(f"Current task: {data['receipt'][-1]}"),
    help="Make a TASK the current one of this session; without a session, that of this folder.",
    examples=("ringbolt focus deploy", "RINGBOLT_SESSION=tuesday ringbolt focus 7k3m"),
)

claim_command = write_command(
    "claim",
    Claims,
    "task_claim",
    NAMED_TASK,
    option("--lease", of="lease_seconds"),
    "*",
    help="Claim a TASK, or one of its steps. Pass the printed token with later writes (--token).",
    examples=("ringbolt claim --step 2 --agent builder", 'ringbolt claim --reclaim "its machine is gone"'),
)

release_command = write_command(
    "release",
    Claims,
    "task_release",
    NAMED_TASK,
    "*",
    examples=("ringbolt release --step 2 --token 1",),
)
