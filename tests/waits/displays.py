"""Real screens and terminals for tests: an X server without a monitor, and a tmux of the test's own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import contextmanager

import pytest


def needed(program: str, package: str) -> None:
    """Skip, and say what to install, where a program is missing."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (on Debian: apt install {package})")


@contextmanager
def x_server():
    """A display of its own; gives its name and its process."""
    needed("Xvfb", "xvfb")
    pytest.importorskip("PIL", reason="the extra `screen` is not installed")
    reading, writing = os.pipe()
    words = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "320x240x24", "-nolisten", "tcp"]
    process = subprocess.Popen(words, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as file:
            yield f":{file.readline().strip()}", process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(10)


class Desk:
    """Windows on a display."""

    def __init__(self, display: str) -> None:
        from Xlib.display import Display

        self._display = Display(display)
        self._screen = self._display.screen()

    def window(self, title: str, x: int = 10):
        root = self._screen.root
        window = root.create_window(
            x, 10, 60, 40, 0, self._screen.root_depth, background_pixel=self._screen.white_pixel
        )
        window.set_wm_name(title)
        window.map()
        self._display.sync()
        return window

    def sync(self) -> None:
        self._display.sync()

    def close(self) -> None:
        self._display.close()
