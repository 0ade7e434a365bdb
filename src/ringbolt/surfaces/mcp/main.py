"""The MCP server: tools, resources and prompts over stdio and streamable HTTP, in both protocol eras.

The package mcp is imported when a server starts, because it is slow to load.
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
    """Serve one client over standard input and output until it disconnects.

    The first call opens the store, so that the model learns why a store cannot be opened, and what to do. The
    workspace defaults to the client's first root, or else the current folder; the agent to the client's name.
    """
    with _Needed():
        from .stdio import serve

    serve(location, tools=tools, workspace=workspace, session=session, agent=agent)


def asgi_app(memory: TaskMemory, *, tools: str = "core", guarded: bool = False) -> Starlette:
    """The server as an ASGI app for any path: to run as it is, or as the endpoint of a route.

    If you mount it, enter its lifespan (`app.router.lifespan_context(app)`). The scope of a request may say
    who makes it: `ringbolt.memory` (a TaskMemory) and `ringbolt.scopes` (read, write). `guarded`: Host and
    Origin were already checked; otherwise only those of this machine are accepted.
    """
    with _Needed():
        from .http import app

    return app(memory, tools=tools, guarded=guarded)


class _Needed:
    """Says what to install if the package mcp is missing."""

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
    """`python -m ringbolt.surfaces.mcp`: the same as `ringbolt mcp`."""
    parser = argparse.ArgumentParser(prog="ringbolt mcp")
    parser.add_argument("--tools", choices=SETS, default="core")
    parser.add_argument("--store")
    parser.add_argument("--workspace", default="")
    given = parser.parse_args(arguments)
    run_stdio(given.store, tools=given.tools, workspace=given.workspace)


if __name__ == "__main__":
    main(sys.argv[1:])
