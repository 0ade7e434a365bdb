"""`python -m ringbolt`: the command line."""

from __future__ import annotations

import gc
import os
import sys

from .surfaces.cli.main import main


def run() -> None:
    """Run a command and end the process.

    Half of what a short command costs is Python itself: nothing is searched for garbage while it loads,
    and when all is said and closed the process ends without taking the interpreter apart.
    """
    gc.set_threshold(20_000)

    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:  # whoever was reading is gone
            code = code or 1
        os._exit(code)


if __name__ == "__main__":
    run()
