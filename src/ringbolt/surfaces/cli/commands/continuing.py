"""`ringbolt continue`: go on with a task in another host."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

import click

from ....core.tasks import Tasks
from ....hosts.handover import fresh_environment, handover_prompt, start_command
from ....hosts.host_table import HOSTS
from ....hosts.install.installer import Installer
from ....model.errors import InvalidInput, RingboltError
from ..command import Command
from ..console import answer, named_task, open_memory, say, task_option, warn

_STARTED = [name for name, row in HOSTS.items() if row.starts or row.runs_once]


@click.command(
    "continue",
    cls=Command,
    task=True,
    examples=(
        "ringbolt continue --in codex",
        "ringbolt continue 7k3m --in claude-code",
        "ringbolt continue --in gemini-cli --print",
        "ringbolt continue --in codex --once -- --full-auto",
    ),
)
@click.argument("named", metavar="[TASK]", required=False)
@click.argument("arguments", metavar="[-- ARGUMENT...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--in", "host", required=True, type=click.Choice(_STARTED), help="The program to continue in.")
@click.option("--once", is_flag=True, help="Run one turn without a terminal, and end.")
@click.option("--print", "prints", is_flag=True, help="Print the command, and start nothing.")
def continue_command(
    named: str | None, arguments: tuple[str, ...], host: str, once: bool, prints: bool
) -> None:
    """Continue a TASK in another program: start it in the task's folder, with the packet as the first prompt.

    With Ringbolt's hooks in that program, its new session takes the task over, once, and the session that had
    it is informed. Arguments after `--` go to the program.
    """
    if named and named.startswith("-"):  # it came after `--`
        named, arguments = None, (named, *arguments)
    with open_memory(Tasks) as memory:
        wanted = task_option(named)["task_id"]
        task = memory.task_get(named_task(memory, wanted) if wanted else None)
        folder = task.workspace or os.getcwd()
        command = start_command(host, handover_prompt(memory, task.id, host), arguments, once=once)
    if not os.path.isdir(folder):
        raise InvalidInput(
            "invalid_argument", f"The task's folder {folder} does not exist.", "Move it back to this place."
        )
    if prints:
        shell = f"cd {shlex.quote(folder)} && {shlex.join(command)}"
        answer({"folder": folder, "command": command, "shell": shell}, lambda data: say(data["shell"]))
        return
    if shutil.which(command[0]) is None:
        raise InvalidInput(
            "invalid_argument",
            f"The program {command[0]} is not on the PATH.",
            "Install it, or use --print and run the command where it is.",
        )
    _warn_without_hooks(host, folder)
    sys.stdout.flush()
    os.chdir(folder)
    os.execvpe(command[0], command, fresh_environment(os.environ))  # noqa: S606 - the user named the program


def _warn_without_hooks(host: str, folder: str) -> None:
    """Say so if the program will not report to us: then nothing of what it does is recorded."""
    if not HOSTS[host].events:
        warn(f"{host} reports nothing to Ringbolt: the task stays with its old session.")
        return
    states: set[str] = set()
    for scope in HOSTS[host].scopes:
        try:
            states.add(Installer(host, scope=scope, project=folder).check().state)
        except RingboltError:
            continue  # settings that cannot be read: `ringbolt install` says why
    if states <= {"not installed"}:
        warn(f"{host} has no Ringbolt hooks: the task stays with its old session. `ringbolt install {host}`.")
