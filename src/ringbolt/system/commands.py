"""Run a command for its exit code and output: no shell, no input, bounded in time and size."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .os_calls import IS_WINDOWS

if IS_WINDOWS or TYPE_CHECKING:
    from . import windows


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
    process, kill_all = _start(list(words), place, environ)
    pipe: Any = process.stdout
    try:
        read = _read_on_windows if IS_WINDOWS else _read
        output = read(process, pipe.fileno(), until, most_bytes)
        return process.wait(max(until - time.monotonic(), 0.01)), output
    except (TimeoutError, subprocess.TimeoutExpired):
        raise TimeoutError(f"it took more than {seconds:g} s") from None
    finally:
        kill_all()
        pipe.close()
        process.wait()


def _start(
    words: list[str], folder: str | None, environ: Mapping[str, str] | None
) -> tuple[subprocess.Popen[bytes], Callable[[], None]]:
    """Start a command; also returns what kills it with all that it started: its session, or its job."""
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environ,
        start_new_session=not IS_WINDOWS,
        # Suspended, so that it can start nothing before it is in its job; and without a window.
        creationflags=windows.SUSPENDED | windows.NO_WINDOW if IS_WINDOWS else 0,
    )
    if IS_WINDOWS:
        try:
            return process, windows.Job(process).kill
        except OSError:
            process.kill()
            raise

    def kill_session() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    return process, kill_session


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


def _read_on_windows(process: subprocess.Popen[bytes], handle: int, until: float, most: int) -> bytes:
    """There only sockets can be waited for: a thread reads until the job ends, which closes the pipe."""
    output = bytearray()
    own = os.dup(handle)  # the caller closes the other one while this thread may still read

    def read() -> None:
        with open(own, "rb", buffering=0) as pipe, suppress(OSError):
            while part := pipe.read(1 << 16):
                output.extend(part[: most - len(output)])

    reader = threading.Thread(target=read, name="ringbolt-command", daemon=True)
    reader.start()
    process.wait(max(until - time.monotonic(), 0.01))
    reader.join(0.05)  # longer only if a process that it started keeps the output open
    return bytes(output)
