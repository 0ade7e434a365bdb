"""How long an MCP client waits for its first answer: `python bench/mcp_start.py`. Ratios as in speed.py."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from itertools import count
from typing import Any

from speed import Figure, at_most, child_environment, in_turn, machine, ratio, scratch_folder, table

# As the program `ringbolt` does it.
OURS = "import sys; sys.argv[1:] = ['mcp', *sys.argv[1:]]; from ringbolt.__main__ import run; run()"
BARE = """
from mcp.server import MCPServer
server = MCPServer("bare")
@server.tool()
def echo(message: str) -> str:
    "Say it again."
    return message
server.run()
"""
FIRST = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
NAME = "io.modelcontextprotocol"
ENVELOPE = {f"{NAME}/protocolVersion": "2026-07-28", f"{NAME}/clientCapabilities": {}}


class Server:
    """A server over stdio, from the start of its process."""

    def __init__(self, *arguments: str) -> None:
        self._ids = count(1)
        self._process = subprocess.Popen(
            [sys.executable, "-c", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=child_environment(),
        )

    def ask(self, method: str, params: dict[str, Any]) -> None:
        self.tell({"id": next(self._ids), "method": method, "params": params})
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer
        assert not answer["result"].get("isError"), answer

    def tell(self, message: dict[str, Any]) -> None:
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def resident_mb(self) -> float:
        with open(f"/proc/{self._process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    def end(self) -> None:
        self._process.communicate(timeout=60)


def seconds(modern: bool, tool: str, arguments: dict[str, Any], *program: str) -> float:
    """From the start of the process to the answer of its first tool call."""
    begin = time.perf_counter()
    server = Server(*program)
    call: dict[str, Any] = {"name": tool, "arguments": arguments}
    if modern:
        call["_meta"] = ENVELOPE
    else:
        server.ask("initialize", FIRST)
        server.tell({"method": "notifications/initialized"})
    server.ask("tools/call", call)
    took = time.perf_counter() - begin
    server.end()
    return took


def first_call(folder: str, rounds: int) -> list[Figure]:
    """Ours writes to a store that is there; the rival says what it was told."""
    store = f"{folder}/store.db"
    words = {"message": "The image is built."}
    ours = (OURS, "--store", store, "--workspace", "bench")
    seconds(False, "task_register", {"name": "Deploy"}, *ours)
    figures = []
    for modern, era in ((False, "with initialize"), (True, "2026-07-28")):
        found = in_turn(
            rounds,
            ours=lambda modern=modern: seconds(modern, "task_update", words, *ours),
            bare=lambda modern=modern: seconds(modern, "echo", words, BARE),
        )
        value, note = ratio(found["ours"], found["bare"])
        bare = sorted(found["bare"])[rounds // 2]
        figures.append(
            at_most(f"first call, ours / bare, {era}", value, 1.5, f"{note}; bare {bare * 1000:.0f} ms")
        )
    return figures


def against_imports(folder: str, rounds: int) -> list[Figure]:
    """The same against an interpreter that only imports what such a server needs, and its memory."""
    ours = (OURS, "--store", f"{folder}/store.db", "--workspace", "bench")
    words = {"message": "The image is built."}
    found = in_turn(
        rounds,
        ours=lambda: seconds(False, "task_update", words, *ours),
        imports=lambda: bare_imports(),
    )
    value, note = ratio(found["ours"], found["imports"])
    server = Server(*ours)
    server.ask("tools/call", {"name": "task_update", "arguments": words, "_meta": ENVELOPE})
    memory = server.resident_mb()
    server.end()
    return [
        at_most("first call / import apsw, json", value, 3.0, note),
        at_most("memory after the first call, MB", memory, 25, ""),
    ]


def bare_imports() -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import apsw, json"], env=child_environment(), check=True)
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how soon the MCP server answers.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, less exact")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a goal is missed")
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()), flush=True)
    with scratch_folder() as folder:
        rounds = 5 if options.quick else 15
        figures = [*first_call(folder, rounds), *against_imports(folder, rounds)]
    print(table(figures))
    return 1 if options.gate and any(figure.ok is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
