"""`holdfast`: for now the demonstration alone; every operation gets its command with the surfaces."""

from __future__ import annotations

import sys

from ._version import __version__

USAGE = """\
usage: holdfast demo [--keep FOLDER]    the deployment story, with a process that is really killed
       holdfast --version
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if words == ["--version"]:
        print(f"holdfast {__version__}")
        return 0
    if words[:1] == ["demo"]:
        from .demo import main as demo

        return demo(words[1:])
    if words in (["--help"], ["-h"]):
        print(USAGE, end="")
        return 0
    print(USAGE, end="", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
