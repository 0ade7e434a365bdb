"""Hints of operations name operations; on the command line they name commands."""

from __future__ import annotations

import re

# Every operation that a hint may name, with its command.
COMMANDS = {
    "active_tasks": "active-tasks",
    "goal_create": "goal create",
    "goal_promote": "goal promote",
    "goal_status": "goal",
    "jobs_status": "jobs",
    "smart_wait": "wait",
    "task_approve": "approve",
    "task_ask": "ask",
    "task_claim": "claim",
    "task_decide": "decide",
    "task_event": "event",
    "task_finish": "finish",
    "task_focus": "focus",
    "task_get": "show",
    "task_list": "list",
    "task_note": "note",
    "task_plan": "plan set",
    "task_plan_append": "plan add",
    "task_plan_replace": "plan set",
    "task_plans": "plan history",
    "task_proposals": "proposals",
    "task_recall": "recall",
    "task_register": "register",
    "task_release": "release",
    "task_resume": "resume",
    "task_set": "set",
    "task_step_update": "plan change",
    "task_thread": "thread",
    "task_undo": "undo",
    "task_update": "update",
    "wait_cancel": "waits cancel",
    "wait_status": "waits",
    "wait_update": "waits change",
}
# An operation, perhaps with arguments as in Python.
_OPERATION = re.compile(rf"`?\b({'|'.join(sorted(COMMANDS, key=len, reverse=True))})\b(?:\([^()]*\))?`?")


def in_commands(text: str) -> str:
    """A hint with commands and options in place of operations and arguments."""
    return _OPERATION.sub(lambda found: f"`ringbolt {COMMANDS[found[1]]}`", text).replace("task_id", "--task")
