"""What the journal costs: draining in one transaction against writing one by one, and a whole SessionStart.

Ratios within one run, as in speed.py: `python bench/journal.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from ringbolt import TaskMemory
from ringbolt.hosts import host_schemas
from ringbolt.hosts.capture import events
from ringbolt.hosts.drain import drain
from ringbolt.hosts.hook_parts import journal_files
from ringbolt.hosts.redaction_rules import rules_digest
from ringbolt.journal.event_files import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SESSION = "bench"
EVENTS = 100
OUTPUT = ("The migration went through on the second try; the lock was held by the old worker. " * 4)[:300]
BARE = "import apsw, json"
# What the hook process does on SessionStart after it has cleaned the event.
HOOK = """
import json, os, sys, time
from ringbolt.model.quick_start import load_msgspec
load_msgspec()
from ringbolt.hosts.answers.store_hook import answer
from ringbolt.hosts.hook_parts.journal_files import boot_id, session_digest, write_event
from ringbolt.journal.folders import journal_folders
told = json.load(sys.stdin)
line = {"v": 1, "id": "x", "at": time.time(), "host": "claude-code", "event": "SessionStart", "payload": told}
name = f"{boot_id()}-{time.monotonic_ns():016x}-1-0000-{session_digest(told['session_id'])}-e.json"
folder = journal_folders(os.environ["RINGBOLT_STORE"])[0]
path = write_event(folder, name, json.dumps(line).encode())
sys.stdout.write(answer("claude-code", "SessionStart", path, told, time.monotonic() + 5))
sys.stdout.flush()
os._exit(0)
"""
GOALS = {"drain / writes": 0.5, "drain / singly": 0.5, "session start": 3.0, "read": 1.05}


def host_event(number: int) -> dict[str, Any]:
    """A tool call as Claude Code tells it."""
    return {
        "session_id": SESSION,
        "cwd": "/",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": f"make step-{number}", "description": f"Run step {number}"},
        "tool_response": {"stdout": OUTPUT, "stderr": ""},
        "tool_use_id": f"toolu_{number}",
    }


class Bench:
    """Stores to measure on, each with a session that has a task."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = iter(range(10**9))

    def store(self, name: str) -> str:
        path = str(self._folder / f"{name}.db")
        with TaskMemory.open(path, workspace="/", session=SESSION) as memory:
            memory.task_register("Bench", [f"Step {number}" for number in range(10)], request=OUTPUT)
        return path

    def one_by_one(self, memory: TaskMemory) -> float:
        """The same events through the same operations, a transaction each."""
        told = [host_event(next(self._numbers)) for _ in range(EVENTS)]
        begin = time.perf_counter()
        for one in told:
            event = host_schemas.read_event("claude-code", "PostToolUse", one)
            assert event is not None
            event = events.tidied(event)
            name = f"{events.naming(event)}/{time.time() // 2:.0f}"
            events.apply(memory, event, events.name_of(memory, event, name))
        return time.perf_counter() - begin

    def drained_singly(self, memory: TaskMemory, path: str) -> float:
        """The same through the journal, a drain for each event as it comes."""
        return sum(self.drained(memory, path, 1) for _ in range(EVENTS))

    def drained(self, memory: TaskMemory, path: str, events: int = EVENTS) -> float:
        """Events that lie in the journal, in one transaction."""
        journal = Journal.of(path)
        for _ in range(events):
            number = next(self._numbers)
            line = {
                "v": 1,
                "id": str(number),
                "at": time.time(),
                "host": "claude-code",
                "event": "PostToolUse",
                "redacted_by": rules_digest(),
            }
            content = json.dumps({**line, "payload": host_event(number)}).encode()
            session = journal_files.session_digest(SESSION)
            name = f"{journal_files.boot_id()}-{time.monotonic_ns():016x}-1-0000-{session}-c.json"
            journal_files.write_event(journal.folders[0], name, content)
        begin = time.perf_counter()
        report = drain(memory, journal, limit=10**9)
        seconds = time.perf_counter() - begin
        assert (report.applied, report.left) == (events, 0), report
        return seconds

    def session_start(self, path: str) -> float:
        """A session that goes on: its packet. What it leaves in the journal is taken in untimed."""
        seconds = self.process(HOOK, path, source="resume")
        TaskMemory.open(path, workspace=None).close()
        return seconds

    def process(self, program: str, path: str = "", **told: Any) -> float:
        environment = {**os.environ, "RINGBOLT_STORE": path, "RINGBOLT_HOOK_COMPACT_MS": "5000"}
        given = self._folder / "told.json"
        answer = self._folder / "answer.json"
        given.write_text(json.dumps({"session_id": SESSION, "cwd": "/", **told}))
        with given.open() as stdin, answer.open("w") as stdout:
            begin = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", program], stdin=stdin, stdout=stdout, check=True, env=environment
            )
            seconds = time.perf_counter() - begin
        if told and "additionalContext" not in answer.read_text():
            raise RuntimeError(f"the hook answered {answer.read_text()[:200]!r}")
        return seconds


def in_turn(rounds: int, above: Callable[[], float], below: Callable[[], float]) -> tuple[float, str]:
    """The median of the ratios of two measurements that take turns, and their middle half."""
    ratios: list[float] = []
    times: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        first, second = (above, below) if number % 2 else (below, above)
        one, two = first(), second()
        pair = (one, two) if number % 2 else (two, one)
        if number:  # the first round warms up
            ratios.append(pair[0] / pair[1])
            times.append(pair)
    low, middle, high = quantiles(ratios, n=4)
    shown = " / ".join(f"{median(side) * 1000:.1f} ms" for side in zip(*times, strict=True))
    return middle, f"{shown}; rounds {low:.2f}–{high:.2f}"


def figures(bench: Bench, rounds: int) -> Iterator[tuple[str, float, str]]:
    one, many = bench.store("one"), bench.store("many")
    with (
        TaskMemory.open(one, workspace="/", session=SESSION, agent="claude-code", catch_up=False) as single,
        TaskMemory.open(many, workspace="/", catch_up=False) as drained,
    ):
        value, note = in_turn(rounds, lambda: bench.drained(drained, many), lambda: bench.one_by_one(single))
        yield "drain / writes", value, note
        value, note = in_turn(
            rounds, lambda: bench.drained(drained, many), lambda: bench.drained_singly(drained, many)
        )
        yield "drain / singly", value, note
        with TaskMemory.open(one, workspace="/", session=SESSION) as watching:

            def reads(memory: TaskMemory) -> float:
                begin = time.perf_counter()
                for _ in range(200):
                    memory.task_get()
                return time.perf_counter() - begin

            value, note = in_turn(rounds, lambda: reads(watching), lambda: reads(single))
            yield "read", value, note
    value, note = in_turn(rounds, lambda: bench.session_start(many), lambda: bench.process(BARE))
    yield "session start", value, note


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = folder
        for name, value, note in figures(Bench(Path(folder)), given.rounds):
            mark = "ok" if value <= GOALS[name] else "MISSED"
            print(f"{name:14} {value:5.2f}  goal ≤ {GOALS[name]:g}  {mark:6}  {note}", flush=True)


if __name__ == "__main__":
    main()
