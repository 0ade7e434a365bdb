"""The MCP server: tools, resources and prompts over stdio and streamable HTTP, in both protocol eras.

What needs the package mcp is loaded when it runs: it takes a while.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ...memory import TaskMemory
from ...model.errors import StoreError
from .tools import SETS

if TYPE_CHECKING:
    from starlette.applications import Starlette


def run_stdio(
    location: str | None = None,
    *,
    tools: str = "core",
    workspace: str = "",
    session: str | None = None,
    agent: str | None = None,
) -> None:
    """Serve one client over standard input and output until it goes away.

    The store is opened by the first call: a store that cannot be opened is told to the model, with what to
    do about it. Without a workspace it is the client's first root, else the current folder; without an
    agent's name it is the client's.
    """
    with _Needed():
        from .stdio import serve

    serve(location, tools=tools, workspace=workspace, session=session, agent=agent)


def asgi_app(memory: TaskMemory, *, tools: str = "core", guarded: bool = False) -> Starlette:
    """The server as an ASGI app, for any path: to be run as it is, or as the endpoint of a route.

    Whoever mounts it enters its lifespan (`app.router.lifespan_context(app)`), and may say in the scope of a
    request who makes it: `ringbolt.memory` (a TaskMemory) and `ringbolt.scopes` (of read and write).
    `guarded`: Host and Origin were checked already; else only those of this machine may come in.
    """
    with _Needed():
        from .http import app

    return app(memory, tools=tools, guarded=guarded)


class _Needed:
    """Says what to install, if the package mcp is not there."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("ringbolt"):
            raise StoreError(
                "not_supported",
                f"The MCP server needs the package {error.name}, which is not installed.",
                "Install it with: pip install 'ringbolt[mcp]'.",
            ) from None


def main(arguments: list[str]) -> None:
    """`python -m ringbolt.surfaces.mcp`: what `ringbolt mcp` does."""

    parser = argparse.ArgumentParser(prog="ringbolt mcp")
    parser.add_argument("--tools", choices=SETS, default="core")
    parser.add_argument("--store")
    parser.add_argument("--workspace", default="")
    given = parser.parse_args(arguments)
    run_stdio(given.store, tools=given.tools, workspace=given.workspace)


if __name__ == "__main__":
    main(sys.argv[1:])
