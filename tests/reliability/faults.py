"""Programs that the fault tests start as processes of their own, and kill."""

from __future__ import annotations

import os
import sys
import time

from ringbolt import RingboltError
from ringbolt.core.entries import Entries
from ringbolt.core.tasks import Tasks
from ringbolt.opening import Opening


class Memory(Opening, Tasks, Entries):
    """The operations that are called here: all of `TaskMemory` takes several times as long to load."""


def acknowledge(store: str, task: str, name: str) -> None:
    """Write for ever; after each write that has returned, say its number on standard output."""
    memory = Memory.open(store, workspace=None, agent=name)
    number = 0
    print("ready", flush=True)
    while True:
        number += 1
        text = f"{name}:{number}"
        if number % 5 == 0:
            memory.task_set(task, name, number)
        else:
            memory.task_update(task, text, key=text)
        os.write(1, f"{number}\n".encode())


def write_for(store: str, task: str, name: str, seconds: float) -> None:
    """Write for some seconds from the moment that a line comes in; say how often, and what failed."""
    memory = Memory.open(store, workspace=None, agent=name)
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.monotonic() + seconds
    count, errors = 0, []
    while time.monotonic() < end:
        try:
            memory.task_update(task, f"{name}:{count}")
            count += 1
        except RingboltError as error:
            errors.append(error.code)
    print(count, ",".join(errors), flush=True)


def hold_lock(store: str) -> None:
    """Hold the store's write lock until a line comes in."""
    memory = Memory.open(store, workspace=None)

    def work(_tx: object) -> None:
        print("held", flush=True)
        sys.stdin.readline()

    memory.store.write(work)


def read_on(store: str, task: str) -> None:
    """Read the task for ever, one short transaction after another."""
    memory = Memory.open(store, workspace=None)
    print("ready", flush=True)
    while True:
        memory.task_get(task)


if __name__ == "__main__":
    program, *arguments = sys.argv[1:]
    if program == "acknowledge":
        acknowledge(*arguments)
    elif program == "write_for":
        write_for(arguments[0], arguments[1], arguments[2], float(arguments[3]))
    elif program == "read_on":
        read_on(*arguments)
    elif program == "hold_lock":
        hold_lock(*arguments)
    else:
        sys.exit(f"no program {program}")
