"""`ringbolt serve`, `mcp` and `demo`: the servers, and the demonstration."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from shutil import which
from typing import Any

import click

from ...memory import TaskMemory
from .. import demo
from ..demo import run
from ..http.auth import rotate_tokens
from .command import Command
from .console import given, line, open_memory, warn

TOOLS = click.option(
    "--tools",
    type=click.Choice(["core", "full"]),
    default="core",
    show_default=True,
    help="The MCP tools: the few that agents need, or all of them.",
)
PORT = 7420


def _server(module: str, extra: str, packages: tuple[str, ...]) -> Any:
    """Import the module of a server, whose packages come with an extra."""
    from importlib.util import find_spec

    if missing := [name for name in packages if find_spec(name) is None]:
        raise click.ClickException(
            f"Not installed: {', '.join(missing)}. Run: pip install 'ringbolt[{extra}]'"
        )
    return importlib.import_module(f"ringbolt.surfaces.{module}")


@click.command(
    "serve",
    cls=Command,
    examples=("ringbolt serve", "ringbolt serve --port 9000 --store tasks.db", "ringbolt serve --demo"),
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="The port to listen on; 0 picks a free one.",
)
@TOOLS
@click.option("--worker/--no-worker", default=True, help="Also run queued jobs, or not.")
@click.option("--new-tokens", is_flag=True, help="Create new tokens first; the old ones stop working.")
@click.option("--demo", is_flag=True, help="Add an example task first, if the store is empty.")
def serve_command(host: str, port: int, tools: str, worker: bool, new_tokens: bool, demo: bool) -> None:
    """Serve HTTP and MCP on this machine until it is interrupted or terminated.

    The store is created if it does not exist. Callers need a token from the file named at the start.
    """
    http = _server("http.app", "serve", ("starlette", "uvicorn"))
    if new_tokens:
        rotate_tokens()
    if demo:
        _fill()
    common = given()
    http.serve(
        common.get("store"),
        host=host,
        port=port,
        workspace=common.get("workspace", ""),
        worker=worker,
        tools=tools,
        announce=_Announcement(),
    )


def _fill() -> None:
    with open_memory(TaskMemory, create=True) as memory:
        if memory.store.read(lambda tx: tx.task_ids()):
            warn("the store is not empty: no demo data was added")
        else:
            click.echo(f"Added the example task {demo.fill(memory)}.")


class _Announcement:
    """Prints what the server reports, its address and then its tokens, and how to connect to it."""

    def __init__(self) -> None:
        self._address = ""

    def __call__(self, text: str) -> None:
        click.echo(line(text))
        if found := re.search(r" at (https?://[^\s/]+)", text):
            self._address = found[1]
        elif self._address:
            click.echo("Open it in a browser, and sign in with the token `user` from that file.")
            click.echo("Connect an agent with one of these:")
            for name, command in connections(self._address, _program()):
                click.echo(f"  {name:12} {line(command)}")
        sys.stdout.flush()


def connections(address: str, program: str) -> list[tuple[str, str]]:
    """How to connect common agents and any other, a line for each."""
    return [
        ("Claude Code", f"claude mcp add ringbolt -- {program} mcp"),
        ("Codex", f"codex mcp add ringbolt -- {program} mcp"),
        ("any other", f"{address}/mcp with the header `Authorization: Bearer TOKEN`"),
    ]


def _program() -> str:
    """The command that a client uses to start this program with the same store."""
    own = os.path.abspath(sys.argv[0])
    if which("ringbolt"):
        words = ["ringbolt"]
    else:
        words = [own] if os.path.basename(own) == "ringbolt" else [sys.executable, "-m", "ringbolt"]
    store = given().get("store") or os.environ.get("RINGBOLT_STORE", "")
    if store and "://" not in store:  # a URL may hold a password
        words += ["--store", os.path.abspath(store)]
    return shlex.join(words)


@click.command(
    "mcp",
    cls=Command,
    examples=("claude mcp add ringbolt -- ringbolt mcp", "ringbolt mcp --tools full"),
)
@TOOLS
def mcp_command(tools: str) -> None:
    """Serve MCP on standard input and output, as MCP clients start it. The first call creates the store."""
    common = given()
    _server("mcp.main", "mcp", ("mcp",)).run_stdio(
        common.get("store"),
        tools=tools,
        workspace=common.get("workspace", ""),
        session=common.get("session"),
        agent=common.get("agent"),
    )


@click.command(
    "demo",
    cls=Command,
    examples=("ringbolt demo", "ringbolt demo --keep story"),
)
@click.option("--keep", metavar="FOLDER", help="Keep the store in this folder.")
@click.pass_context
def demo_command(context: click.Context, keep: str | None) -> None:
    """Show a deployment in which a process is really killed, and another one continues."""
    context.exit(run(keep))
