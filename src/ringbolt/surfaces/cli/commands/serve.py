"""`ringbolt serve`, `mcp` and `demo`: the servers, and the demonstration."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from shutil import which
from typing import Any

import click

from ....config import user_folder
from ....memory import TaskMemory
from ... import demo as story
from ...http import PORT
from ...http.auth import rotate_tokens
from ...mcp import stdio
from ..command import Command
from ..console import common_values, line, require_user, speaks_as_user

# Hosts that have a program, with its name.
_HOST_PROGRAMS = {
    "claude-code": ("Claude Code", "claude"),
    "codex": ("Codex", "codex"),
    "cursor": ("Cursor", "cursor"),
    "gemini-cli": ("Gemini CLI", "gemini"),
    "opencode": ("OpenCode", "opencode"),
    "openclaw": ("OpenClaw", "openclaw"),
}

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
@click.option("--tls-cert", metavar="FILE", help="Certificate with its chain (PEM), to serve HTTPS.")
@click.option("--tls-key", metavar="FILE", help="Private key of the certificate (PEM).")
@click.option("--demo", is_flag=True, help="Serve an example store instead of yours.")
def serve_command(
    host: str,
    port: int,
    tools: str,
    worker: bool,
    new_tokens: bool,
    tls_cert: str | None,
    tls_key: str | None,
    demo: bool,
) -> None:
    """Serve HTTP and MCP on this machine until it is interrupted or terminated.

    The store is created if it does not exist. Callers need a token from the file named at the start. A user
    at a terminal also gets a link that signs a browser in, once and within ten minutes.
    """
    http = _server("http.app", "serve", ("starlette", "uvicorn"))
    if new_tokens:
        require_user("serve --new-tokens")
        rotate_tokens()
    common = common_values()
    if demo and common.get("store"):
        raise click.UsageError("--demo has its own store. Leave out --store, or --demo.")
    http.serve(
        _demo_store() if demo else common.get("store"),
        host=host,
        port=port,
        workspace=common.get("workspace", ""),
        worker=worker,
        tools=tools,
        announce=partial(_announce, demo=demo),
        **({"http_tls_cert": tls_cert} if tls_cert else {}),
        **({"http_tls_key": tls_key} if tls_key else {}),
    )


def _demo_store() -> str:
    """The path of the demo's own store, with the example task in it."""
    path = os.path.join(user_folder("data"), "demo", "ringbolt.db")
    with TaskMemory.open(path, workspace="") as memory:
        if not memory.store.read(lambda tx: tx.task_ids()):
            story.fill(memory)
    return path


def _announce(store: str, address: str, tokens: str, new_code: Callable[[], str], *, demo: bool) -> None:
    """Print the address of the server, and how to connect to it."""
    click.echo(line(f"Ringbolt serves {store} at {address}/"))
    click.echo(line(f"Tokens: {tokens}"))
    if speaks_as_user():
        click.echo("Sign in with this link; it works once, within ten minutes:")
        click.echo(f"  {address}/#/sign-in/{new_code()}")
    else:  # an agent that starts the server must not become its user
        click.echo("Open it in a browser, and sign in with the token `user` from that file.")
    click.echo("Connect an agent to your own store:" if demo else "Connect an agent with one of these:")
    if not demo and "://" in _store_given():
        click.echo("Set RINGBOLT_STORE for the agent first, so that it uses the same store.")
    for title, text in _ways_to_connect(demo).items():
        click.echo(line(f"  {title:<11}  {text}"))
    name = "this demo" if demo else "any other"
    click.echo(f"  {name}    {address}/mcp with the header `Authorization: Bearer TOKEN`")
    sys.stdout.flush()


def _ways_to_connect(demo: bool) -> dict[str, str]:
    """The command for each host on this machine; for Claude Code and Codex if none is found."""
    program = shlex.join(_program())
    store = "" if demo else _store_given()
    if store and "://" not in store:  # a URL may hold a password
        served = f"ringbolt -- {program} --store {shlex.quote(os.path.abspath(store))} mcp"
        return {"Claude Code": f"claude mcp add {served}", "Codex": f"codex mcp add {served}"}
    found = [host for host, (_, name) in _HOST_PROGRAMS.items() if which(name)] or ["claude-code", "codex"]
    return {_HOST_PROGRAMS[host][0]: f"{program} install {host}" for host in found}


def _store_given() -> str:
    """The store of this call, if it is not the one that agents use anyway."""
    return common_values().get("store") or os.environ.get("RINGBOLT_STORE", "")


def _program() -> list[str]:
    """The command that starts this program: its name, if the PATH leads to it, otherwise its path."""
    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own) != "ringbolt":
        return [sys.executable, "-m", "ringbolt"]
    found = which("ringbolt")
    return ["ringbolt"] if found and os.path.realpath(found) == os.path.realpath(own) else [own]


@click.command(
    "mcp", cls=Command, examples=("claude mcp add ringbolt -- ringbolt mcp", "ringbolt mcp --tools full")
)
@TOOLS
def mcp_command(tools: str) -> None:
    """Serve MCP on standard input and output, as MCP clients start it. The first call creates the store."""
    common = common_values()
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
    """Run a deployment whose process is really killed, and let another process finish it."""
    context.exit(story.run(keep))
