"""The program that the fault tests of mirrors start, and kill: it writes and refreshes as fast as it can."""

from __future__ import annotations

import json
import os
import sys

from ringbolt import TaskMemory
from ringbolt.files import mirror_keeper, projection
from ringbolt.files.views import VIEWS, View
from ringbolt.model.settings import SETTINGS


def folder_files(memory, task):
    """A folder of files that can hold no stamp, each of which changes with every event."""
    found = memory.task_get(task)
    return {
        f"bank/{task}/metadata.json": json.dumps({"seq": found.seq, "name": found.name}) + "\n",
        f"bank/{task}/messages.txt": f"{found.messages}\n" * 200,
    }


def add_folder_kind() -> None:
    VIEWS["bank"] = View(name="bank", place="bank/{}", render=folder_files)
    SETTINGS["mirrors"] = SETTINGS["mirrors"].replace(words=("state", "bank"))


def write_in_place(path, content, *, mode=0o600):
    """What a plain writer does: the file is open for all to see while it is written."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    for begin in range(0, len(content), 64):
        os.write(file, content[begin : begin + 64])
        os.fsync(file)
    os.close(file)


def main(how: str, store: str, workspace: str, task: str) -> None:
    """Write for ever, refresh after every write, and say the number of each write that has returned."""
    add_folder_kind()
    mirror_keeper.PAUSE = mirror_keeper.PAUSE_FACTOR = 0
    if how == "plain":
        projection.write_atomic = write_in_place
    memory = TaskMemory.open(store, workspace=workspace, mirrors="state,bank")
    print("ready", flush=True)
    while True:
        written = memory.task_update(task, "hello", next=f"the one after {memory.task_get(task).seq}")
        os.write(1, f"{written.seq}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
