"""What a session's task holds, in short forms that tests compare."""

from __future__ import annotations

from ringbolt import TaskMemory


def task_of(memory: TaskMemory, session: str):
    """The task of a session."""
    return memory.acting_as(session=session).task_get()


def events(memory: TaskMemory, session: str):
    """The events of a session's task, in order."""
    return list(memory.events(task_of(memory, session).id))


def actions(memory: TaskMemory, session: str) -> list[tuple[str, str]]:
    """The tools that a session called, and how each call ended."""
    return [
        (event.data["tool"], event.sets["+records"][str(event.seq)]["status"])
        for event in events(memory, session)
        if event.type == "action"
    ]


def said(memory: TaskMemory, session: str) -> list[str]:
    """What the agent of a session said."""
    return [event.text for event in events(memory, session) if event.type == "message"]
