"""Let programs work on a store until they are killed at a given statement."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def victims(program):
    """A function that lets a worker work until it has asked the store so many things, and is killed; it
    returns how many it asked if it was done before."""
    program = subprocess.Popen(
        [sys.executable, str(program), "victims"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )

    def killed(*words) -> int:
        program.stdin.write(f"{' '.join(map(str, words))}\n")
        program.stdin.flush()
        status, asked = map(int, program.stdout.readline().split())
        assert status == (0 if asked else -signal.SIGKILL)
        return asked

    try:
        yield killed
    finally:
        program.communicate()
