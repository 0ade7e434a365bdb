"""`python -m ringbolt`: the command line."""

from __future__ import annotations

import gc
import os
import sys


def run() -> None:
    """Run a command and exit.

    Starting and stopping Python takes half the time of a short command. So the garbage collector rarely runs
    while modules load, and the process exits without tearing down the interpreter.
    """
    gc.set_threshold(50_000)
    if sys.argv[1:] == ["statusline"]:
        from .hosts.status_line import main as print_status_line  # a host waits for it all the time

        print_status_line()
        os._exit(0)
    # Imported only now, because importing creates most of the objects.
    from .model.quick_start import load_msgspec

    load_msgspec()
    try:
        if sys.argv[1:2] == ["mcp"]:
            _serve_mcp(sys.argv[2:])
        from .surfaces.cli.short_path import main as short_path

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


def _serve_mcp(words: list[str]) -> None:
    """Serve MCP and exit, if the line is plain; otherwise return, and click reads it."""
    from .surfaces.mcp.start import read_line

    options = read_line(words)
    if options is not None:
        from .surfaces.mcp.stdio import serve

        serve(**options)
        sys.exit(0)


if __name__ == "__main__":
    run()
