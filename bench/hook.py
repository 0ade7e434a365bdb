"""How long a host waits for the capture hook, as `ringbolt install` sets it up.

    python bench/hook.py            # 40 rounds, 1,000 calls
    python bench/hook.py --quick    # 10 rounds, 200 calls
    python bench/hook.py --gate     # exit with 1 when a goal is missed

The command line is the one that the installer writes into the settings of Claude Code. It is run through
`sh -c`, as the host does, and directly without the shell and the fallback. Each figure is a ratio to
`python -c "import apsw, json"` within one run, once on the machine as it is and once with two busy loops
beside it. Then eight sessions make calls at the same time: what is lost, written twice, out of order or late
is counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from speed import Figure, at_most, child_environment, in_turn, ratio, table

from ringbolt import TaskMemory
from ringbolt.hosts.hook_parts.journal_files import session_digest
from ringbolt.hosts.host_table import QUICK_SECONDS
from ringbolt.hosts.install.installer import Installer
from ringbolt.journal.cards import Card, write_card
from ringbolt.journal.event_files import Journal
from ringbolt.journal.side_files import SideFiles
from ringbolt.model.settings import Settings

SESSIONS = 8
BUSY_LOOPS = 2
GOALS = {
    "plain": 0.60,
    "real output": 0.75,
    "PreToolUse, no hit": 0.60,
    "PreToolUse, no hit on full cards": 0.60,
}
# What a session and its repository may have on their cards after a long time.
_HEADS, _HINTS = 60, 300
# What a build and a request print: addresses, words that look like names of secrets, and a few secrets.
_LINES = (
    "[12:31:07] GET https://registry.example.org/api/v2/packages/left-pad/versions?page=3 200 in 48 ms",
    "tokenizer.py:118: warning: token count is estimated; pass tokens=exact for the real one",
    "src/auth/session.py:42: the cookie of a session is checked before the password policy",
    "remote: https://git.example.org/team/shop.git (fetch), key-value cache at redis://cache.example.org:6379/0",
    "PASSED tests/test_checkout.py::test_totals_are_rounded_once[EUR-2] (0.02 s), see docs/basic.md",
)
_SECRETS = (
    "DATABASE_URL=postgres://shop:Xk29-fjw0-qqLz@db.example.org:5432/shop",
    "export API_TOKEN=b7Gq1xTz90PwLm4eRk2v",
    "Authorization: Bearer 9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c",
)


def real_output(size: int = 4096) -> str:
    """About 4 KB of output."""
    lines = list(_SECRETS)
    while sum(len(line) + 1 for line in lines) < size:
        lines.append(_LINES[len(lines) % len(_LINES)])
    return "\n".join(lines)


class HookBench:
    """The hook, installed for a user of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        own = {"HOME": str(folder / "home"), "XDG_DATA_HOME": str(folder / "data")}
        self._environment = {**child_environment(), **own, "RINGBOLT_STORE": str(folder / "store.db")}
        os.environ.update(own)
        (folder / "home").mkdir()
        Installer("claude-code", scope="user", environ=own).install()
        settings = json.loads((folder / "home/.claude/settings.json").read_text())
        self._commands = {
            event: groups[0]["hooks"][0]["command"] for event, groups in settings["hooks"].items()
        }
        self._base = shlex.split(self._commands["Stop"])[0]

    def ratios(self, rounds: int, where: str) -> Iterator[Figure]:
        """The times of single calls."""
        call = {"tool_name": "Bash", "tool_input": {"command": "make test", "description": "Run the tests"}}
        plain = self._input(
            "plain", **call, tool_response={"stdout": "a line of output\n" * 18, "stderr": ""}
        )
        real = self._input("real", **call, tool_response={"stdout": real_output(), "stderr": ""})
        before = self._input("before", **call)
        carded = self._input("carded", **call, session_id="carded")
        self._write_cards("carded")
        cases = {
            "plain": ("PostToolUse", plain),
            "real output": ("PostToolUse", real),
            "PreToolUse, no hit": ("PreToolUse", before),
            "PreToolUse, no hit on full cards": ("PreToolUse", carded),
        }
        works = {
            "bare": lambda: self._seconds([sys.executable, "-c", "import apsw, json"]),
            "python -c pass": lambda: self._seconds([sys.executable, "-c", "pass"]),
            "-I -S -c pass": lambda: self._seconds([self._base, "-I", "-S", "-c", "pass"]),
        }
        for name, (event, path) in cases.items():
            shell = ["/bin/sh", "-c", self._commands[event]]
            direct = shlex.split(self._commands[event].partition(" || ")[0])
            works[f"{name}, sh -c"] = lambda words=shell, path=path: self._seconds(words, path)
            works[f"{name}, direct"] = lambda words=direct, path=path: self._seconds(words, path)
        found = in_turn(rounds, **works)
        for name, times in found.items():
            value, spread = ratio(times, found["bare"])
            note = f"{median(times) * 1000:.1f} ms; {spread}"
            goal = GOALS.get(name.rpartition(", ")[0])
            title = f"{name} / bare imports, {where}"
            yield (
                Figure(title, f"{value:.2f}", note=note)
                if goal is None
                else at_most(title, value, goal, note)
            )

    def _write_cards(self, session: str) -> None:
        """Full cards of a session and of its repository, none of which means the call."""
        files = SideFiles(Journal.of(self._environment["RINGBOLT_STORE"]))
        heads = tuple(f"program{number} verb" for number in range(_HEADS))
        hints = tuple(("c", f"word{number}", f"src/part{number}/file.py") for number in range(_HINTS))
        write_card(files, session_digest(session), Card(heads=heads, shared="r1"))
        write_card(files, "r1", Card(hints=hints, done=heads))

    def starts(self, rounds: int) -> Iterator[Figure]:
        """Beginnings of sessions that get a text; by the clock, and in time of the processor."""
        store = self._environment["RINGBOLT_STORE"]
        with TaskMemory.open(store, workspace="/", session="bench") as memory:
            memory.task_register("Bench", [f"Step {number}" for number in range(10)], request="Build it.")
            for number in range(20):
                memory.task_update(None, f"Message {number}: {_LINES[number % len(_LINES)]}")
            memory.task_distill()  # as Stop and SessionEnd do
        words = {
            event: shlex.split(self._commands[event].partition(" || ")[0])
            for event in ("SessionStart", "PreCompact")
        }
        used: dict[str, list[float]] = {}
        fresh = iter(range(10**9))

        def timed(name: str, work: Callable[[], float]) -> float:
            before = getrusage(RUSAGE_CHILDREN)
            seconds = work()
            after = getrusage(RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            used.setdefault(name, []).append(spent)
            return seconds

        def start(name: str, source: str, session: str = "bench") -> float:
            path = self._input("start", source=source, session_id=session)
            begins = words["SessionStart"]
            seconds = timed(name, lambda: self._seconds(begins, path, says=b"additionalContext"))
            TaskMemory.open(store, workspace=None).close()  # drains what the hook left, untimed
            return seconds

        def compacted() -> float:
            subprocess.run(
                words["PreCompact"],
                stdin=self._input("compaction", trigger="auto").open("rb"),
                env=self._environment,
                capture_output=True,
                check=True,
            )
            return start("after a compaction", "compact")

        bare = [sys.executable, "-c", "import apsw, json"]
        works: dict[str, Callable[[], float]] = {
            "bare": lambda: timed("bare", lambda: self._seconds(bare)),
            "with a packet": lambda: start("with a packet", "resume"),
            "after a compaction": compacted,
            "of a new session": lambda: start("of a new session", "startup", f"new {next(fresh)}"),
        }
        found = in_turn(rounds, **works)
        for name in list(works)[1:]:
            for kind, times in (("clock", found), ("processor", used)):
                value, spread = ratio(times[name], times["bare"])
                note = f"{median(times[name]) * 1000:.1f} ms; {spread}"
                # The goal is for a packet; the list of tasks that a new session gets has a wider one.
                goal = 3.5 if name == "of a new session" else 3.0
                yield at_most(f"SessionStart {name} / bare imports, {kind}", value, goal, note)

    def at_once(self, calls: int) -> Iterator[Figure]:
        """Eight sessions at a time, each making one call after the other."""
        journal = self._folder / "store.db.journal/new"
        for path in journal.iterdir():
            path.unlink()
        each = calls // SESSIONS
        with ThreadPoolExecutor(SESSIONS) as pool:
            results = [
                result
                for session in pool.map(self._session, range(SESSIONS), [each] * SESSIONS)
                for result in session
            ]
        expected = {(session, number) for session in range(SESSIONS) for number in range(each)}
        found: Counter[tuple[int, int]] = Counter()
        unordered = 0
        for session in range(SESSIONS):
            digest = session_digest(f"session {session}")
            names = sorted(path for path in journal.iterdir() if path.name.split("-")[4] == digest)
            numbers = [int(json.loads(path.read_bytes())["payload"]["tool_use_id"]) for path in names]
            found.update((session, number) for number in numbers)
            unordered += sum(later < earlier for earlier, later in pairwise(numbers))
        took = sorted(seconds for seconds, _ in results)
        soon = Settings().hook_deadline_ms / 1000
        title = f"{len(results):,} calls, {SESSIONS} at once beside {BUSY_LOOPS} busy loops"
        yield at_most(f"{title}: lost", len(expected - set(found)), 0)
        yield at_most(f"{title}: twice", sum(found.values()) - len(found), 0)
        yield at_most(f"{title}: out of order within a session", unordered, 0)
        missed = sum(bool(said) or seconds > QUICK_SECONDS for seconds, said in results)
        yield at_most(f"{title}: gave up, or took longer than the host waits ({QUICK_SECONDS} s)", missed, 0)
        note = ", ".join(f"{name} {took[int(len(took) * share)] * 1000:.0f} ms" for name, share in
                         (("median", 0.5), ("p99", 0.99), ("longest", 0.99999)))  # fmt: skip
        late = sum(seconds > soon for seconds in took)
        yield Figure(f"{title}: longer than {soon * 1000:.0f} ms", str(late), note=note)

    def _session(self, session: int, calls: int) -> list[tuple[float, bytes]]:
        results: list[tuple[float, bytes]] = []
        words = ["/bin/sh", "-c", self._commands["PostToolUse"]]
        for number in range(calls):
            told = {
                "session_id": f"session {session}",
                "cwd": "/",
                "tool_name": "Bash",
                "tool_use_id": str(number),
                "tool_input": {"command": f"echo {number}"},
                "tool_response": {"stdout": real_output() if number % 4 == 0 else "done", "stderr": ""},
            }
            data = json.dumps(told).encode()
            begin = time.perf_counter()
            done = subprocess.run(words, input=data, capture_output=True, env=self._environment, check=False)
            said = done.stdout + done.stderr + (b"" if done.returncode == 0 else b"exit")
            results.append((time.perf_counter() - begin, said))
        return results

    def _input(self, name: str, **fields: object) -> Path:
        """An event in a file, not a pipe: the process that it is compared with has none to wait for."""
        path = self._folder / f"{name}.json"
        transcript = self._folder / "transcript.jsonl"
        transcript.touch()
        told = {
            "session_id": "bench",
            "cwd": "/",
            "transcript_path": str(transcript),
            "tool_use_id": "toolu_1",
        }
        path.write_text(json.dumps({**told, **fields}))
        return path

    def _seconds(self, words: list[str], path: Path | None = None, says: bytes = b"") -> float:
        with (path or Path(os.devnull)).open("rb") as stdin:
            begin = time.perf_counter()
            done = subprocess.run(words, stdin=stdin, capture_output=True, env=self._environment, check=True)
            seconds = time.perf_counter() - begin
        if done.stderr or (says not in done.stdout if says else done.stdout):
            raise RuntimeError(f"{words} said {(done.stdout + done.stderr)[:300]!r}")
        return seconds


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Processes that do nothing but take the processor."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the capture hook.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and calls, less exact")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a goal is missed")
    options = parser.parse_args()
    rounds, calls = (10, 200) if options.quick else (40, 1000)
    with tempfile.TemporaryDirectory(dir=".", prefix=".bench-tmp-") as folder:
        bench = HookBench(Path(folder).resolve())
        figures = [*bench.ratios(rounds, "quiet"), *bench.starts(rounds)]
        with busy_loops(BUSY_LOOPS):
            # No goals beside busy loops: the ratio there says how the machine shares its cores.
            figures += [figure._replace(goal="", ok=None) for figure in bench.ratios(rounds, "busy")]
            figures += bench.at_once(calls)
    print(table(figures))
    return 1 if options.gate and any(figure.ok is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
