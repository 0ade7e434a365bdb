"""Run the suites that use the operating system as on other systems, and print what happened as a table.

    python tools/test_platforms.py                 # as on macOS and on Windows, simulated
    python tools/test_platforms.py windows         # one of them
    python tools/test_platforms.py --here          # on this system as it is, for example on Windows itself
    python tools/test_platforms.py --here --python "wine python.exe"

What a system leaves out, and why, is in tests/system/left_out.py.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
SIMULATION = ROOT / "tests" / "system" / "other_systems"
SUITES = {
    "system": ("tests/system/test_files.py", "tests/system/test_os_calls.py"),
    "store": ("tests/store/test_store_file.py", "tests/store/test_jobs.py", "tests/store/test_migrations.py"),
    "journal": ("tests/journal", "tests/hosts/test_drain.py"),
    "hook": tuple(f"tests/hosts/test_{name}.py" for name in ("capture_hook", "hook_build", "hook")),
    "MCP": ("tests/surfaces/test_mcp_stdio.py",),
    "commands": ("tests/surfaces/test_cli.py", "tests/surfaces/test_cli_doctor.py"),
    "waits": ("tests/waits/test_waiting.py", "tests/waits/test_looking.py", "tests/waits/test_waking.py"),
    "files": ("tests/files/test_active.py", "tests/files/test_facts.py"),
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("systems", nargs="*", choices=["macos", "windows", []], default=[])
    parser.add_argument("--here", action="store_true", help="this system, without a simulation")
    parser.add_argument("--python", default=sys.executable, help="the Python that runs the tests")
    parser.add_argument("--suite", action="append", choices=list(SUITES), help="only this suite")
    parser.add_argument("--timeout", default="120", help="seconds for one test")
    options = parser.parse_args()
    systems = ["here"] if options.here else options.systems or ["macos", "windows"]
    failed = 0
    for system in systems:
        failed += report(system, options)
    return 1 if failed else 0


def run(system: str, python: str, paths: tuple[str, ...], timeout: str) -> list[tuple[str, str, str]]:
    """The tests of a suite: name, outcome and reason."""
    environ = {**os.environ}
    if system != "here":
        environ |= {"RINGBOLT_SIMULATE": system, "PYTHONPATH": str(SIMULATION)}
    words = [*(shlex.split(python) if os.name == "posix" else [python]), "-m", "pytest", "-q"]
    found: list[tuple[str, str, str]] = []
    for path in paths:  # each in a process of its own: one that hangs or crashes takes no other with it
        with tempfile.TemporaryDirectory(
            dir=ROOT / "build" if os.path.isdir(ROOT / "build") else None
        ) as folder:
            file = Path(folder) / "results.xml"
            more = ["-p", "no:cacheprovider", f"--timeout={timeout}", f"--junitxml={file}", path]
            done = subprocess.run(
                [*words, *more], cwd=ROOT, env=environ, check=False, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            )  # fmt: skip
            try:
                cases = list(ElementTree.parse(ROOT / file).iter("testcase"))  # noqa: S314 - pytest wrote it
            except (OSError, ElementTree.ParseError):
                print(done.stdout[-3000:], file=sys.stderr)
                found.append((path, "failed", f"pytest ended with {done.returncode} and no results"))
                continue
        found += [outcome(case) for case in cases]
    return found


def outcome(case: ElementTree.Element) -> tuple[str, str, str]:
    name = f"{case.get('classname')}::{case.get('name')}"
    for kind, word in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        if (part := case.find(kind)) is not None:
            return name, word, re.sub(r"\s+", " ", part.get("message") or "")[:200]
    return name, "passed", ""


def report(system: str, options: argparse.Namespace) -> int:
    """Run the suites of a system and print each as a row; returns how many tests failed."""
    print(f"\n{system}\n\n| Suite | tests | passed | failed | left out |\n| --- | --- | --- | --- | --- |")
    tests: list[tuple[str, str, str]] = []
    for name in options.suite or SUITES:
        found = run(system, options.python, SUITES[name], options.timeout)
        tests += found
        print(row(name, Counter(word for _, word, _ in found)), flush=True)
    print(row("all", Counter(word for _, word, _ in tests)), end="\n\n")
    for why, count in Counter(why for _, word, why in tests if word == "skipped").most_common():
        print(f"- {count} left out: {why}")
    failures = [f"- FAILED {name}: {why}" for name, word, why in tests if word == "failed"]
    print(*failures, sep="\n", flush=True)
    return len(failures)


def row(name: str, counts: Counter[str]) -> str:
    cells = (sum(counts.values()), counts["passed"], counts["failed"], counts["skipped"])
    return f"| {name} | {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    sys.exit(main())
