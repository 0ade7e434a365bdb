"""A program that syncs a store and kills itself at a step: `killed_sync.py STORE REMOTE NUMBER`.

A step is anything that leaves a trace outside the process: a file that is opened, renamed or removed, a
program that is started, a transaction before and after its commit.
"""

from __future__ import annotations

import os
import signal
import sys

from ringbolt.store.sqlite import SqliteStore
from ringbolt.sync.operations import MachineSync
from tests.processes import open_rooms

_STEPS = ("open", "os.", "subprocess.Popen", "fcntl.flock")
_left = 0


def step(event: str, _arguments: object = ()) -> None:
    global _left
    if _left and (event == "commit" or event.startswith(_STEPS)):
        _left -= 1
        if not _left:
            os.kill(os.getpid(), signal.SIGKILL)


def main(store: str, remote: str, number: int) -> None:
    global _left
    write = SqliteStore.write

    def counted(*arguments, **named):
        step("commit")
        result = write(*arguments, **named)
        step("commit")
        return result

    SqliteStore.write = counted
    memory = open_rooms(store, MachineSync, synchronous="full")
    sys.addaudithook(step)
    _left = number
    memory.sync(remote)
    left, _left = _left, 0
    memory.close()
    print(f"done with {left} left")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
