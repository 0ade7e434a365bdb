"""The commands that write: begin a task, note, decide, log, end it, take back, claim."""

from __future__ import annotations

import click

from .console import Command, called, json_of, of_task, show, text_of
from .render import written

STEP = click.option(
    "--step", metavar="STEP", help="The step that it belongs to: id, number from 1, or title."
)
KEY = click.option("--key", help="The same call with the same key is written once.")
TOKEN = click.option("--token", type=int, help="The token of a claim.")
TAGS = click.option("--tag", "tags", multiple=True, help="A label.")
REPLACES = click.option("--replaces", metavar="SEQ", type=int, help="The entry that this one replaces.")


@click.command(
    "register",
    cls=Command,
    short_help="Begin a task, with its plan and the request.",
    examples=(
        'ringbolt register "Deploy the shop" --step Build --step Push --step Run',
        'ringbolt register "Deploy the shop" --request - < request.txt',
    ),
)
@click.argument("name")
@click.option("--step", "steps", metavar="TITLE", multiple=True, help="A step of the plan, in order.")
@click.option("--plan", metavar="JSON", help="A plan with ids and dependencies, as JSON.")
@click.option("--request", metavar="TEXT", help="The request as the user wrote it; - reads it.")
@click.option("--goal", metavar="TEXT", help="What is to be reached.")
@click.option("--accept", "acceptance", metavar="TEXT", multiple=True, help="When it counts as done.")
@click.option("--parent", metavar="ID", help="The task that this one is a part of.")
@TAGS
@KEY
def register_command(
    name: str,
    steps: tuple[str, ...],
    plan: str | None,
    request: str | None,
    goal: str | None,
    acceptance: tuple[str, ...],
    parent: str | None,
    tags: tuple[str, ...],
    key: str | None,
) -> None:
    """Begin a task with a NAME. It is the current one of this session from now on.

    The store is made if it is not there.
    """
    if steps and plan:
        raise click.UsageError("Give --step or --plan, not both.")
    arguments = {
        "name": name, "plan": steps or json_of("--plan", plan), "request": text_of(request), "goal": goal,
        "acceptance": acceptance, "parent": parent, "tags": tags, "key": key,
    }  # fmt: skip
    show(called("task_register", arguments, create=True), written)


@click.command(
    "note",
    cls=Command,
    task=True,
    short_help="Write down what must survive.",
    examples=(
        'ringbolt note "The server has two free ports"',
        'ringbolt note "Never touch the database" --kind instruction --as-user',
        'ringbolt note "Which port is right?" --kind question',
    ),
)
@click.argument("text")
@click.option(
    "--kind",
    metavar="KIND",
    default="discovery",
    show_default=True,
    help="discovery, error, artifact, instruction, question, context, decision or exclusion.",
)
@click.option("--why", "--because", "why", metavar="TEXT", help="The reason, or more detail.")
@STEP
@TAGS
@REPLACES
@KEY
def note_command(
    text: str,
    kind: str,
    why: str | None,
    step: str | None,
    tags: tuple[str, ...],
    replaces: int | None,
    key: str | None,
) -> None:
    """Write down TEXT, so that it survives: something found, an error, a question, an instruction."""
    arguments = {
        "text": text_of(text), "kind": kind, "why": why, "step": step, "tags": tags, "replaces": replaces,
        "key": key,
    }  # fmt: skip
    of_task("task_note", arguments, written)


@click.command(
    "decide",
    cls=Command,
    task=True,
    short_help="Record a decision and its reason.",
    examples=('ringbolt decide ghcr.io --because "the key works there" --option docker.io --option ghcr.io',),
)
@click.argument("choice")
@click.option("--because", metavar="TEXT", help="Why this one.")
@click.option("--option", "options", metavar="TEXT", multiple=True, help="What there was to choose from.")
@click.option("--title", metavar="TEXT", help="A few words for the decision.")
@click.option("--risk", "risks", metavar="TEXT", multiple=True, help="What may go wrong with it.")
@click.option("--if-wrong", metavar="TEXT", help="What to do if it turns out wrong.")
@STEP
@TAGS
@REPLACES
@TOKEN
@KEY
def decide_command(
    choice: str,
    because: str | None,
    options: tuple[str, ...],
    title: str | None,
    risks: tuple[str, ...],
    if_wrong: str | None,
    step: str | None,
    tags: tuple[str, ...],
    replaces: int | None,
    token: int | None,
    key: str | None,
) -> None:
    """Record a decision: what was chosen, from which options, and above all why."""
    arguments = {
        "choice": text_of(choice), "reasoning": because, "options": options, "title": title, "risks": risks,
        "if_wrong": if_wrong, "item": step, "tags": tags, "supersedes": replaces, "token": token, "key": key,
    }  # fmt: skip
    of_task("task_decide", arguments, written)


@click.command(
    "exclude",
    cls=Command,
    task=True,
    short_help="Record what did not work, and why.",
    examples=('ringbolt exclude "Pushing to docker.io" --because "no rights there" --symptom "denied"',),
)
@click.argument("what")
@click.option("--because", metavar="TEXT", help="The root cause.")
@click.option("--symptom", metavar="TEXT", help="What could be seen.")
@click.option("--until", metavar="TIME", help="When it may be tried again.")
@STEP
@TAGS
@REPLACES
@TOKEN
@KEY
def exclude_command(
    what: str,
    because: str | None,
    symptom: str | None,
    until: str | None,
    step: str | None,
    tags: tuple[str, ...],
    replaces: int | None,
    token: int | None,
    key: str | None,
) -> None:
    """Record WHAT did not work, so that nobody tries it again."""
    arguments = {
        "what": text_of(what), "why": because, "symptom": symptom, "until": until, "item": step, "tags": tags,
        "supersedes": replaces, "token": token, "key": key,
    }  # fmt: skip
    of_task("task_exclude", arguments, written)


@click.command(
    "set",
    cls=Command,
    task=True,
    short_help="Set a variable: a version, a URL, an id.",
    examples=("ringbolt set version v1.2.3", "ringbolt set ports '[8080, 8081]' --value-is-json"),
)
@click.argument("name")
@click.argument("value")
@click.option("--value-is-json", is_flag=True, help="The value is JSON; else it is a text.")
@STEP
@TOKEN
@KEY
def set_command(
    name: str, value: str, value_is_json: bool, step: str | None, token: int | None, key: str | None
) -> None:
    """Set the variable NAME to VALUE. Its earlier values stay in the history."""
    read = json_of("VALUE", value) if value_is_json else text_of(value)
    of_task("task_set", {"name": name, "value": read, "item": step, "token": token, "key": key}, written)


@click.command(
    "log",
    cls=Command,
    task=True,
    short_help="Log something that was done.",
    examples=(
        'ringbolt log "Built the image" --type cli --command "make image" --exit-code 0',
        'ringbolt log "Changed the port" --type edit --file src/server.py',
    ),
)
@click.argument("summary")
@click.option("--type", "kind", metavar="TYPE", help="cli, gui, tool, edit, wait, reasoning, …")
@click.option("--status", metavar="STATUS", help="started, completed, failed or skipped.")
@click.option("--command", metavar="TEXT", help="The command that was run.")
@click.option("--exit-code", metavar="NUMBER", type=int, help="Its exit code.")
@click.option("--output", metavar="TEXT", help="What came out; - reads it.")
@click.option("--error", metavar="TEXT", help="What went wrong.")
@click.option("--tool", metavar="NAME", help="The tool that did it.")
@click.option("--file", "files", metavar="PATH", multiple=True, help="A file that was changed.")
@click.option("--duration-ms", metavar="NUMBER", type=float, help="How long it took.")
@click.option("--action", metavar="SEQ", type=int, help="End this action, which was logged as started.")
@STEP
@TOKEN
@KEY
def log_command(
    summary: str,
    kind: str | None,
    status: str | None,
    command: str | None,
    exit_code: int | None,
    output: str | None,
    error: str | None,
    tool: str | None,
    files: tuple[str, ...],
    duration_ms: float | None,
    action: int | None,
    step: str | None,
    token: int | None,
    key: str | None,
) -> None:
    """Log something that was done: a command, an edit, a tool call, with what came out of it."""
    came_out = {"exit_code": exit_code, "text": text_of(output)}
    came_out = {name: value for name, value in came_out.items() if value is not None}
    arguments = {
        "summary": summary, "type": kind, "status": status, "output": came_out or None,
        "input": {"command": command} if command else None, "error": error, "tool": tool, "files": files,
        "duration_ms": duration_ms, "action": action, "item": step, "token": token, "key": key,
    }  # fmt: skip
    of_task("task_log_action", arguments, written)


@click.command(
    "finish",
    cls=Command,
    task=True,
    short_help="End a task with its answer, or its error.",
    examples=(
        'ringbolt finish "The shop is live at https://shop.example"',
        'ringbolt finish --error "no access"',
    ),
)
@click.argument("answer", required=False)
@click.option("--error", metavar="TEXT", help="What ended it: the task has failed.")
@click.option("--status", metavar="STATUS", help="completed, failed, cancelled, abandoned or superseded.")
@click.option("--message", metavar="TEXT", help="What happened, in words.")
@TOKEN
@KEY
def finish_command(
    answer: str | None,
    error: str | None,
    status: str | None,
    message: str | None,
    token: int | None,
    key: str | None,
) -> None:
    """End a task with its final ANSWER, or with the error that ended it."""
    arguments = {
        "answer": text_of(answer), "error": error, "status": status, "message": message, "token": token,
        "key": key,
    }  # fmt: skip
    of_task("task_finish", arguments, written)


@click.command(
    "pause",
    cls=Command,
    task=True,
    short_help="Put a task aside for now.",
    examples=('ringbolt pause --because "waiting for the review"',),
)
@click.option("--because", metavar="TEXT", help="Why.")
@click.option("--next", "following", metavar="TEXT", help="What is to be done first when it goes on.")
def pause_command(because: str | None, following: str | None) -> None:
    """Put a task aside. `resume-task` goes on with it."""
    of_task("task_update", {"status": "paused", "reason": because, "next": following}, written)


@click.command(
    "resume-task",
    cls=Command,
    short_help="Go on with a task that was put aside, or had ended.",
    examples=("ringbolt resume-task 7k3m",),
)
@click.argument("task", required=False)
@click.option("--message", metavar="TEXT", help="What happened, in words.")
def resume_task_command(task: str | None, message: str | None) -> None:
    """Go on with a TASK: it is active again. What is known of it is shown by `resume`."""
    show(called("task_update", {"task_id": task, "status": "active", "message": message}), written)


@click.command(
    "undo",
    cls=Command,
    task=True,
    short_help="Take back what an event changed.",
    examples=("ringbolt undo", 'ringbolt undo 12 --because "it was the wrong file"'),
)
@click.argument("seq", type=int, required=False)
@click.option("--because", metavar="TEXT", help="Why.")
@TOKEN
@KEY
def undo_command(seq: int | None, because: str | None, token: int | None, key: str | None) -> None:
    """Take back what event SEQ changed, or the last one. Nothing is erased."""
    of_task("task_undo", {"seq": seq, "reason": because, "token": token, "key": key}, written)


@click.command(
    "focus",
    cls=Command,
    short_help="Make a task the current one of this session.",
    examples=("RINGBOLT_SESSION=tuesday ringbolt focus 7k3m",),
)
@click.argument("task", required=False)
def focus_command(task: str | None) -> None:
    """Make a TASK the current one of this session, as when a session takes over from another."""
    show(called("task_focus", {"task_id": task}), written)


@click.command(
    "claim",
    cls=Command,
    task=True,
    short_help="Claim a task or a step for this agent.",
    examples=("ringbolt claim --step 2 --agent builder", 'ringbolt claim --reclaim "its machine is gone"'),
)
@STEP
@click.option("--holder", metavar="NAME", help="Who claims; else agent and session.")
@click.option("--lease", metavar="SECONDS", type=float, help="How long it lives without a heartbeat.")
@click.option("--reclaim", metavar="REASON", help="Why a claim that is still alive is taken.")
@KEY
def claim_command(
    step: str | None, holder: str | None, lease: float | None, reclaim: str | None, key: str | None
) -> None:
    """Claim a task, or one of its steps. The token that is shown goes with later writes (--token)."""
    arguments = {"item": step, "holder": holder, "lease_seconds": lease, "reclaim": reclaim, "key": key}
    of_task("task_claim", arguments, written)


@click.command(
    "release",
    cls=Command,
    task=True,
    short_help="Give a claim back.",
    examples=("ringbolt release --step 2 --token 1",),
)
@STEP
@TOKEN
@click.option("--because", metavar="TEXT", help="Why.")
@KEY
def release_command(step: str | None, token: int | None, because: str | None, key: str | None) -> None:
    """Give a claim back, so that another agent can go on."""
    of_task("task_release", {"item": step, "token": token, "reason": because, "key": key}, written)
