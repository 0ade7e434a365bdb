"""Run a command for its exit code and output: no shell, no input, bounded in time and size."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any


def run(
    words: Sequence[str],
    folder: str | None,
    seconds: float,
    most_bytes: int,
    environ: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """Run a command; returns its exit code and the start of its output. TimeoutError if it takes too long.

    Processes that it left running are killed.
    """
    until = time.monotonic() + seconds
    place = folder if folder and os.path.isdir(folder) else None
    process = subprocess.Popen(
        list(words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=place,
        env=environ,
        start_new_session=True,
    )
    pipe: Any = process.stdout
    try:
        output = _read(process, pipe.fileno(), until, most_bytes)
        return process.wait(max(until - time.monotonic(), 0.01)), output
    except (TimeoutError, subprocess.TimeoutExpired):
        raise TimeoutError(f"it took more than {seconds:g} s") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        pipe.close()
        process.wait()


def _read(process: subprocess.Popen[bytes], handle: int, until: float, most: int) -> bytes:
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(handle, selectors.EVENT_READ)
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if selector.select(min(left, 0.05)):
                if not (part := os.read(handle, 1 << 16)):
                    return bytes(output)
                output += part[: most - len(output)]
            elif process.poll() is not None:  # a process that it started keeps the output open
                return bytes(output)
