"""The commands that run for long: serve, mcp; and the demonstration."""

from __future__ import annotations

import sys

import click

from ..console import Command, given, line, open_memory, warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...memory import TaskMemory

TOOLS = click.option(
    "--tools",
    type=click.Choice(["core", "full"]),
    default="core",
    show_default=True,
    help="The MCP tools: the few that agents need, or all.",
)
PORT = 8737


def _server(module: str, extra: str, packages: tuple[str, ...]) -> Any:
    """The module of a server; it needs packages that come with an extra."""
    from importlib.util import find_spec

    if missing := [name for name in packages if find_spec(name) is None]:
        raise click.ClickException(
            f"Not installed: {', '.join(missing)}. Install what is needed: pip install 'holdfast[{extra}]'"
        )
    return __import__(f"holdfast.surfaces.{module}", fromlist=[module])


@click.command(
    "serve",
    cls=Command,
    short_help="Serve HTTP and MCP on this machine.",
    examples=("holdfast serve", "holdfast serve --port 9000 --store tasks.db", "holdfast serve --demo"),
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
@click.option("--tokens", metavar="FILE", help="The file of the tokens, instead of the user's own.")
@click.option("--demo", is_flag=True, help="Fill the store with a story first, if it is empty.")
def serve_command(host: str, port: int, tools: str, tokens: str | None, demo: bool) -> None:
    """Serve HTTP and MCP on this machine, until it is interrupted or terminated.

    The store is made if it is not there. Whoever calls needs a token of the file that is named at the start.
    """
    http = _server("http", "serve", ("starlette", "uvicorn"))
    with open_memory(create=True) as memory:
        if demo:
            _fill(memory)
        http.serve(memory, host=host, port=port, tools=tools, tokens=tokens, ready=_tell_ready)


def _fill(memory: TaskMemory) -> None:
    from ... import demo

    if memory.store.read(lambda tx: tx.task_ids()):
        warn("the store is not empty: no demo data was added")
    else:
        warn(f"filled the store with the deployment story: task {demo.fill(memory)}")


def _tell_ready(address: str, tokens: str) -> None:
    """Say where the server is, and how to connect to it; called when it takes requests."""
    place = line(tokens)
    click.echo(f"Holdfast serves {address} (MCP at {address}/mcp). Interrupt it to end it.")
    click.echo(f"The tokens are in {place}: read, write and user.")
    click.echo("")
    click.echo("To connect an agent, one of these:")
    for name, text in connections(address):
        click.echo(f"  {name:12} {text}")
    sys.stdout.flush()


def connections(address: str) -> list[tuple[str, str]]:
    """How to connect the agents that most people have, a line for each."""
    return [
        ("Claude Code", "claude mcp add holdfast -- holdfast mcp"),
        ("Codex", "codex mcp add holdfast -- holdfast mcp"),
        ("any other", f'{address}/mcp with the header "Authorization: Bearer <token>"'),
    ]


@click.command(
    "mcp",
    cls=Command,
    short_help="Serve MCP on standard input and output.",
    examples=("claude mcp add holdfast -- holdfast mcp", "holdfast mcp --tools full"),
)
@TOOLS
def mcp_command(tools: str) -> None:
    """Serve MCP on standard input and output, as an MCP client starts it. The first call makes the store."""
    common = given()
    _server("mcp", "mcp", ("mcp",)).run_stdio(
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
    examples=("holdfast demo", "holdfast demo --keep story"),
)
@click.option("--keep", metavar="FOLDER", help="Keep the store of the story in this folder.")
@click.pass_context
def demo_command(context: click.Context, keep: str | None) -> None:
    """The deployment story, with a process that is really killed, and another one that goes on."""
    from ...demo import run

    context.exit(run(keep))
