"""The command line for tests: in this process, which is quick, or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from click.testing import CliRunner, Result

from ringbolt.surfaces.cli.main import main


def run(*words: str, stdin: str | bytes | None = None, **environ: str) -> Result:
    """A command in this process; an exception that it does not tell is raised."""
    done = CliRunner().invoke(main, list(words), input=stdin, env=environ)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def data(*words: str, **more) -> object:
    """What a command answers to a program."""
    done = run(*words, "--json", **more)
    assert done.exit_code == 0, done.output
    (line,) = done.stdout.splitlines()  # nothing but the answer
    answer = json.loads(line)
    assert answer["schema_version"] == 1
    return answer["data"]


def process(*words: str, **options) -> subprocess.CompletedProcess:
    """A command in a process of its own."""
    given = {"stdin": subprocess.DEVNULL} if "input" not in options else {}
    return subprocess.run(
        [sys.executable, "-m", "ringbolt", *words],
        capture_output=True, check=False, timeout=60, **{"text": True, **given, **options},
    )  # fmt: skip


def environ(**more: str) -> dict[str, str]:
    """The environment of this test, and more."""
    return {**os.environ, **more}
