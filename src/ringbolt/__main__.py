"""`python -m ringbolt`: the command line."""

from __future__ import annotations

import gc
import os
import sys


def run() -> None:
    """Run a command and end the process.

    Half of the time of a short command is Python itself: so garbage is hardly collected while it loads, and
    at the end the process exits without tearing the interpreter down.
    """
    gc.set_threshold(20_000)
    # After that, because importing makes most of the objects.
    from .model.quick_start import load_msgspec

    load_msgspec()
    from .surfaces.cli.short_path import main as short_path

    try:
        short_path(sys.argv[1:])
        from .surfaces.cli.main import main  # loads click

        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:  # nobody reads the output any more
            code = code or 1
        os._exit(code)


if __name__ == "__main__":
    run()
