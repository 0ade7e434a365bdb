"""The commands that run for long: serve, mcp; and the demonstration."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from shutil import which
from typing import Any

import click

from .. import demo
from ..demo import run
from ..http.auth import rotate_tokens
from .console import Command, given, line, open_memory, warn

TOOLS = click.option(
    "--tools",
    type=click.Choice(["core", "full"]),
    default="core",
    show_default=True,
    help="The MCP tools: the few that agents need, or all.",
)
PORT = 7420


def _server(module: str, extra: str, packages: tuple[str, ...]) -> Any:
    """The module of a server; it needs packages that come with an extra."""
    from importlib.util import find_spec

    if missing := [name for name in packages if find_spec(name) is None]:
        raise click.ClickException(
            f"Not installed: {', '.join(missing)}. Install what is needed: pip install 'ringbolt[{extra}]'"
        )
    return importlib.import_module(f"ringbolt.surfaces.{module}")


@click.command(
    "serve",
    cls=Command,
    short_help="Serve HTTP and MCP on this machine.",
    examples=("ringbolt serve", "ringbolt serve --port 9000 --store tasks.db", "ringbolt serve --demo"),
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
@TOOLS
@click.option("--worker/--no-worker", default=True, help="Do the jobs that wait, too, or not.")
@click.option(
    "--new-tokens", is_flag=True, help="Make new tokens first; the old ones are refused from then on."
)
@click.option("--demo", is_flag=True, help="Fill the store with a story first, if it is empty.")
def serve_command(host: str, port: int, tools: str, worker: bool, new_tokens: bool, demo: bool) -> None:
    """Serve HTTP and MCP on this machine, until it is interrupted or terminated.

    The store is made if it is not there. Whoever calls needs a token of the file that is named at the start.
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

    with open_memory(create=True) as memory:
        if memory.store.read(lambda tx: tx.task_ids()):
            warn("the store is not empty: no demo data was added")
        else:
            click.echo(f"The store has the deployment story: task {demo.fill(memory)}.")


class _Announcement:
    """Says what the server says of itself: its address, then its tokens; and then how to connect to it."""

    def __init__(self) -> None:
        self._address = ""

    def __call__(self, text: str) -> None:
        click.echo(line(text))
        if found := re.search(r" at (https?://[^\s/]+)", text):
            self._address = found[1]
        elif self._address:
            click.echo("Open it in a browser, and sign in with the token `user` of that file.")
            click.echo("Connect an agent with one of these:")
            for name, command in connections(self._address, _program()):
                click.echo(f"  {name:12} {line(command)}")
        sys.stdout.flush()


def connections(address: str, program: str) -> list[tuple[str, str]]:
    """How to connect the agents that most people have, and any other, a line for each."""
    return [
        ("Claude Code", f"claude mcp add ringbolt -- {program} mcp"),
        ("Codex", f"codex mcp add ringbolt -- {program} mcp"),
        ("any other", f"{address}/mcp with the header `Authorization: Bearer TOKEN`"),
    ]


def _program() -> str:
    """How a client starts this program, with the store that is served."""

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
    short_help="Serve MCP on standard input and output.",
    examples=("claude mcp add ringbolt -- ringbolt mcp", "ringbolt mcp --tools full"),
)
@TOOLS
def mcp_command(tools: str) -> None:
    """Serve MCP on standard input and output, as an MCP client starts it. The first call makes the store."""
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
    short_help="The deployment story, with a process that is killed.",
    examples=("ringbolt demo", "ringbolt demo --keep story"),
)
@click.option("--keep", metavar="FOLDER", help="Keep the store of the story in this folder.")
@click.pass_context
def demo_command(context: click.Context, keep: str | None) -> None:
    """The deployment story, with a process that is really killed, and another one that goes on."""

    context.exit(run(keep))
