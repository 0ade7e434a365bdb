"""A task with something in every section, and more of its story."""

from __future__ import annotations

from ringbolt.sinks.task_blocks import DIVIDER, blocks_of


def begin(memory, steps=4):
    """A task with a plan, decisions and values."""
    task = memory.task_register(
        "Move the shop", [f"Step {n}" for n in range(1, steps + 1)], goal="Move it"
    ).task_id
    memory.task_update(task, "Began", step=1, step_status="active")
    memory.task_decide(task, "Use PostgreSQL", reasoning="We know it")
    memory.task_set(task, "port", 5432)
    return task


def go_on(memory, task, number=1):
    """A few more events: a step ends, another begins, something is ruled out."""
    memory.task_update(task, f"Step {number} done", step=number, step_status="completed")
    memory.task_update(task, step=number + 1, step_status="active")
    memory.task_exclude(task, f"Way {number}", why="It is slow")


def wanted(memory, task):
    """What a document must show."""
    return [each.content for each in blocks_of(memory.task_get(task))] + [(DIVIDER, "", False)]
