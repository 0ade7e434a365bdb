"""`ringbolt serve`, `mcp` and `demo`: the servers, and the demonstration."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from shutil import which
from typing import Any

import click

from ...memory import TaskMemory
from .. import demo as story
from ..http import PORT
from ..http.auth import rotate_tokens
from ..mcp import stdio
from .command import Command
from .console import given, line, open_memory, require_user, warn

TOOLS = click.option(
    "--tools",
    type=click.Choice(["core", "full"]),
    default="core",
    show_default=True,
    help="The set of MCP tools: core, for most agents, or all.",
)


def _server(module: str, extra: str, packages: tuple[str, ...]) -> Any:
    """Import the module of a server; its packages are installed by an extra."""
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
@click.option("--worker/--no-worker", default=True, help="Whether to run queued jobs too.")
@click.option("--new-tokens", is_flag=True, help="Create new tokens first; the old ones stop working.")
@click.option("--demo", is_flag=True, help="Add an example task first, if the store is empty.")
def serve_command(host: str, port: int, tools: str, worker: bool, new_tokens: bool, demo: bool) -> None:
    """Serve HTTP and MCP on this machine until it is interrupted or terminated.

    The store is created if it does not exist. Callers need a token from the file named at the start.
    """
    http = _server("http.app", "serve", ("starlette", "uvicorn"))
    if new_tokens:
        require_user("serve --new-tokens")
        rotate_tokens()
    if demo:
        _add_example()
    common = given()
    http.serve(
        common.get("store"),
        host=host,
        port=port,
        workspace=common.get("workspace", ""),
        worker=worker,
        tools=tools,
        announce=_announce,
    )


def _add_example() -> None:
    with open_memory(TaskMemory, create=True) as memory:
        if memory.store.read(lambda tx: tx.task_ids()):
            warn("the store is not empty: no demo data was added")
        else:
            click.echo(f"Added the example task {story.fill(memory)}.")


def _announce(store: str, address: str, tokens: str) -> None:
    """Print the address of the server, and how to connect to it."""
    program = _program()
    click.echo(line(f"Ringbolt serves {store} at {address}/"))
    click.echo(line(f"Tokens: {tokens}"))
    click.echo("Open it in a browser, and sign in with the token `user` from that file.")
    click.echo("Connect an agent with one of these:")
    click.echo(line(f"  Claude Code  claude mcp add ringbolt -- {program} mcp"))
    click.echo(line(f"  Codex        codex mcp add ringbolt -- {program} mcp"))
    click.echo(f"  any other    {address}/mcp with the header `Authorization: Bearer TOKEN`")
    sys.stdout.flush()


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
    "mcp", cls=Command, examples=("claude mcp add ringbolt -- ringbolt mcp", "ringbolt mcp --tools full")
)
@TOOLS
def mcp_command(tools: str) -> None:
    """Serve MCP on standard input and output, as MCP clients start it. The first call creates the store."""
    common = given()
    stdio.serve(
        common.get("store", ""),
        tools=tools,
        workspace=common.get("workspace", ""),
        session=common.get("session", ""),
        agent=common.get("agent", ""),
    )


@click.command("demo", cls=Command, examples=("ringbolt demo", "ringbolt demo --keep story"))
@click.option("--keep", metavar="FOLDER", help="Keep the store in this folder.")
@click.pass_context
def demo_command(context: click.Context, keep: str | None) -> None:
    """Show a deployment in which a process is really killed, and another one continues."""
    context.exit(story.run(keep))
