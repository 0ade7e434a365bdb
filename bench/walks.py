"""How far five everyday paths wander through the code: functions, files, and changes of room.

    python bench/walks.py

The paths are those of CONTRIBUTING: an update on the command line, a PostToolUse, a SessionStart after a
compaction, a recall over MCP, and a wait that is over. Every Python function of the package that is entered
counts once, modules that are loaded do not count. Fewer are better: they are what a newcomer has to read.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import ringbolt

PACKAGE = os.path.dirname(ringbolt.__file__) + os.sep


class Walk:
    """Counts what is entered while it is open, in this thread and in those that are started meanwhile."""

    def __init__(self) -> None:
        self._codes: set[CodeType] = set()
        self._files: set[str] = set()
        self._changes = 0
        self._room = ""
        self._lock = threading.Lock()

    def _entered(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name[0] == "<" or not code.co_filename.startswith(PACKAGE):
            return
        file = code.co_filename.removeprefix(PACKAGE)
        room = file.split(os.sep)[0]
        with self._lock:
            self._codes.add(code)
            self._files.add(file)
            self._changes += bool(self._room) and room != self._room
            self._room = room

    def __enter__(self) -> Walk:
        threading.setprofile(self._entered)
        sys.setprofile(self._entered)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def row(self) -> str:
        return f"{len(self._codes):>9} {len(self._files):>6} {self._changes:>8}"


def hook(event: str, **fields: Any) -> None:
    """One event of Claude Code, as its hook process handles it."""
    from ringbolt.hosts import capture_hook

    told = {"session_id": "S1", "cwd": os.getcwd(), "transcript_path": "", **fields}
    reading, writing = os.pipe()
    os.write(writing, json.dumps(told).encode())
    os.close(writing)
    stdin = os.dup(0)
    os.dup2(reading, 0)
    os.close(reading)
    try:
        capture_hook.handle("claude-code", event)
    finally:
        os.dup2(stdin, 0)
        os.close(stdin)


def update() -> None:
    from ringbolt.surfaces.cli import short_path

    short_path.main(["update", "The image is built"])


def recall() -> None:
    import anyio
    from mcp import Client

    from ringbolt.surfaces.mcp.server import Caller, make_server

    async def run() -> None:
        with ringbolt.TaskMemory.open(session="S") as memory:

            async def caller(_: Any) -> Caller:
                return Caller(memory=lambda: memory)

            async with Client(make_server("core", caller)) as client:
                await client.call_tool("task_recall", {"query": "registry"})

    anyio.run(run)


def wait() -> None:
    Path("done.txt").touch()
    with ringbolt.TaskMemory.open(session="S") as memory:
        memory.smart_wait(target="file:done.txt", timeout=10)


def main() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.environ |= {
        "HOME": folder,
        "XDG_DATA_HOME": folder,
        "XDG_CONFIG_HOME": folder,
        "RINGBOLT_SESSION": "S",
    }
    with ringbolt.TaskMemory.open(session="S") as memory:
        memory.task_register("Deploy", ["Build", "Push"])
        memory.task_update(message="The registry is ghcr.io.")
    hook("UserPromptSubmit", prompt="Deploy the shop to the new cluster")
    shell = {"tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_use_id": "t1"}
    walks: dict[str, Callable[[], None]] = {
        "CLI update": update,
        "PostToolUse": lambda: hook("PostToolUse", **shell, tool_response={"stdout": "ok", "stderr": ""}),
        "SessionStart (compact)": lambda: hook("SessionStart", source="compact"),
        "MCP recall": recall,
        "wait that is over": wait,
    }
    print(f"{'':24} functions  files  changes")
    for name, go in walks.items():
        run_silently(go)  # once before: loading modules is not part of the way
        if name.startswith("SessionStart"):
            hook("PreCompact", trigger="auto")
        with ringbolt.TaskMemory.open(session="S"):
            pass  # nothing is left in the journal
        with Walk() as walk:
            run_silently(go)
        print(f"{name:24} {walk.row()}")


def run_silently(go: Callable[[], None]) -> None:
    """Run a walk without what it prints, as a command that ends its process."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), suppress(SystemExit):
        go()


if __name__ == "__main__":
    main()
