"""Every operation with arguments that work, for tests that go through all of them."""

from __future__ import annotations

OTHER = "another task"  # stands for the id of one, see `with_other`

# Every write: its arguments, and for each argument another value. `prepared` has made #2 and #3.
WRITES = {
    "task_update": (
        {
            "message": "m", "status": "waiting", "phase": "debugging", "reason": "r", "step": "s1",
            "step_status": "active", "next": "n", "blockers": ["b"], "name": "N", "goal": "g",
            "metadata": {"a": 1}, "attention": "a", "archived": True,
        },
        {
            "message": "M", "status": "paused", "phase": "reviewing", "reason": "R", "step": "s2",
            "step_status": "completed", "next": "x", "blockers": [], "name": "O", "goal": "h",
            "metadata": {"a": 2}, "attention": "b", "archived": False,
        },
    ),
    "task_finish": (
        {"answer": "a", "status": "failed", "error": "e", "message": "m"},
        {"answer": "b", "status": "cancelled", "error": {"message": "f"}, "message": "n"},
    ),
    "task_focus": ({}, {}),
    "task_link": (
        {"target": "goal 1", "kind": "goal", "remove": False},
        {"target": "goal 2", "remove": True},
    ),
    "task_plan_replace": (
        {"plan": ["A"], "reason": "r", "phase": "replanning", "label": "one"},
        {"plan": ["B"], "reason": "q", "phase": "executing", "label": "two"},
    ),
    "task_plan_append": (
        {"steps": ["A"], "after": "s1", "note": "n"},
        {"steps": ["B"], "after": "s2", "note": "m"},
    ),
    "task_plan": (
        {"steps": ["A"], "append": True, "after": "s1", "reason": "n"},
        {"steps": ["B"], "after": "s2", "reason": "m"},
    ),
    "task_note": (
        {
            "text": "t", "type": "decision", "why": "w", "name": "n", "value": None, "options": ["a"],
            "step": "s1", "tags": ["x"], "replaces": 4,
        },
        {
            "text": "u", "type": "exclusion", "why": "v", "name": "m", "options": ["b"], "step": "s2",
            "tags": ["y"], "replaces": None,
        },
    ),
    "task_plan_sync": (
        {"steps": [{"title": "A", "status": "active"}]},
        {"steps": [{"title": "B"}]},
    ),
    "task_step_update": (
        {
            "step": "s1", "status": "active", "note": "n", "title": "t", "active_issue": "i",
            "depends_on": ["s2"], "replaced_by": "s3",
        },
        {
            "step": "s2", "status": "failed", "note": "m", "title": "u", "active_issue": "j",
            "depends_on": ["s3"], "replaced_by": "s2", "ordinal": 1,
        },
    ),
    "task_log_action": (
        {
            "summary": "s", "type": "cli", "status": "started", "step": "s1", "tool": "t", "input": 1,
            "output": 2, "error": 3, "duration_ms": 4, "stage": "5", "sub_task_id": "6", "files": ["a"],
        },
        {
            "summary": "r", "type": "gui", "status": "failed", "step": "s2", "tool": "u", "input": 7,
            "output": 8, "error": 9, "duration_ms": 10, "stage": "11", "sub_task_id": "12",
            "files": ["b"], "action": 2, "receipt": True,
        },
    ),
    "task_log_append": (
        {"action": 2, "content": "c", "type": "t"},
        {"content": "d", "type": "u"},
    ),
    "task_decide": (
        {
            "choice": "c", "title": "t", "options": ["o"], "reasoning": "r", "risks": "k",
            "if_wrong": "w", "context": "x", "step": "s1", "tags": ["t"], "relevance_to": ["s1"],
        },
        {
            "choice": "d", "title": "u", "options": ["p"], "reasoning": "s", "risks": "l",
            "if_wrong": "v", "context": "y", "step": "s2", "tags": ["u"], "relevance_to": ["s2"],
            "supersedes": 4,
        },
    ),
    "task_exclude": (
        {
            "what": "w", "why": "y", "symptom": "s", "signature": "g", "until": "2026-04-01",
            "step": "s1", "tags": ["t"], "relevance_to": ["s1"],
        },
        {
            "what": "v", "why": "z", "symptom": "t", "signature": "h", "until": "2026-05-01",
            "step": "s2", "tags": ["u"], "relevance_to": ["s2"], "supersedes": 4,
        },
    ),
    "task_set": (
        {"name": "n", "value": 1, "step": "s1"},
        {"name": "m", "value": True, "step": "s2"},
    ),
    "task_remember": (
        {
            "summary": "s", "type": "error", "detail": "d", "data": {"a": 1}, "step": "s1",
            "tags": ["t"], "relevance_to": ["s1"],
        },
        {
            "summary": "r", "type": "context", "detail": "e", "data": {"a": 2}, "step": "s2",
            "tags": ["u"], "relevance_to": ["s2"], "supersedes": 4, "resolves": 4, "invalidates": 4,
        },
    ),
    "task_snapshot": (
        {"content": "c", "label": "l", "summarized": False, "step": "s1"},
        {"content": "d", "label": "m", "summarized": True, "step": "s2"},
    ),
    "task_intent": (
        {"what": "w", "verify": "v", "signature": "s", "step": "s1", "kind": "push"},
        {"what": "x", "verify": "u", "signature": "t", "step": "s2", "kind": "post"},
    ),
    "task_outcome": (
        {"intent": 3, "outcome": "unknown", "note": "n"},
        {"outcome": "did", "note": "m"},
    ),
    "task_receipt": (
        {"command": "make test", "exit_code": 0, "output": "o", "step": "s1", "duration_ms": 5},
        {"command": "make", "exit_code": 1, "output": "p", "step": "s2", "duration_ms": 6},
    ),
    "task_claim": (
        {"step": "s1", "holder": "h", "lease_seconds": 60, "reclaim": "r"},
        {"step": "s2", "holder": "i", "lease_seconds": 61, "reclaim": "q"},
    ),
    "task_release": ({"step": "s3", "token": 1, "reason": "r"}, {"step": "s2", "token": 2, "reason": "q"}),
    "task_undo": ({"seq": 4, "reason": "r"}, {"seq": 2, "reason": "q"}),
    "task_split": ({"at": 6, "name": "n"}, {"at": 7, "name": "m"}),
    "task_merge": ({"other": OTHER}, {}),
}  # fmt: skip
REGISTER = {
    "name": "n", "plan": ["A"], "request": "r", "goal": "g", "context": {"c": 1}, "parent": None,
    "acceptance": ["a"], "approval_mode": "auto", "callback_url": "https://a", "metadata": {"m": 1},
    "tags": ["t"], "phase": "planned", "related_goal": "x", "kind": "task",
}  # fmt: skip
OTHER_REGISTER = {
    "name": "o", "plan": ["B"], "request": "s", "goal": "h", "context": {"c": 2}, "acceptance": ["b"],
    "approval_mode": "manual", "callback_url": "https://b", "metadata": {"m": 2}, "tags": ["u"],
    "phase": "planning", "related_goal": "y", "kind": "goal",
}  # fmt: skip
# Every read: its arguments.
READS = {
    "task_get": {"at": 1},
    "task_list": {
        "status": "open", "workspace": "/w", "session": "S", "tag": "t", "parent": None, "text": "x",
        "kind": "task", "archived": False, "limit": 5, "cursor": None,
    },
    "task_thread": {"limit": 5, "before": 9, "types": ["message"]},
    "task_drill_down": {"step": "s1", "ordinal": None, "action": None, "limit": 5},
    "task_history": {"type": "variable", "name": "x", "limit": 5},
    "task_plans": {},
    "task_resume": {"budget": 500},
    "task_state": {"budget": 500},
    "task_line": {},
    "task_handoff": {"path": None, "budget": 500, "max_bytes": 100_000},
    "query_relevant": {"step": "s1", "limit": 5},
    "task_around": {"seq": 2, "before": 1, "after": 1},
    "task_event": {"seq": 2},
    "task_progress": {},
    "task_summary": {"detail": "summary", "refresh": True},
    "verify": {},
    "task_ask": {"question": "what is next?"},
}  # fmt: skip
# What is about no one task: its arguments. Here `key` is that of a fact.
ELSEWHERE = {
    "memory_store": {
        "text": "t", "entity": "e", "key": "k", "value": 1, "category": "project", "why": "w",
        "importance": 0.5,
        "tags": ["t"], "supersedes": None, "scope": "workspace", "at": "2026-03-01", "idempotency_key": None,
    },
    "memory_recall": {
        "query": "q", "id": None, "entity": "e", "key": "k", "category": "project", "tag": "t",
        "history": True,
        "limit": 5,
    },
    "active_tasks_add": {
        "label": "l", "description": "d", "branch": "b", "status": "waiting", "subagent": "s", "next": "n",
    },
    "active_task_checkpoint": {
        "entity": "e", "status": "waiting", "owner": "o", "next": "n", "related_session": "s",
        "related_goal": "g",
        "title": "t", "resume_at": "2026-03-01", "state": {"a": 1},
    },
    "active_task_propose_goal": {"task_label": None, "name": "n", "criteria": ["c"]},
    "active_tasks_complete": {"label": "l"},
    "task_recall": {
        "query": "q", "step": None, "types": ["message"], "tags": ["t"], "since": "2026-01-01",
        "until": "2027-01-01", "at": None, "workspace": "/w", "limit": 5, "cursor": 0, "titles": False,
    },
    "active_tasks_stale": {},
    "learned_patterns": {"query": "q", "types": "model_failure", "workspace": "*", "limit": 5},
    "jobs_status": {"limit": 5},
    "drill_results": {"task_id": None, "workspace": "/w", "limit": 5},
    "jobs_retry": {"id": 1},
    "smart_wait": {
        "target": "manual:", "until": "decided", "timeout": 5, "poll_interval": 1, "message": "m",
        "block": False, "callback_url": "https://a", "command": None, "key": "k",
    },
    "upkeep_run": {
        "rules": ["pause"], "workspace": "/w", "dry_run": True, "older_than": "7d", "trust_clock": True,
    },
    "tasks_reconcile": {"workspace": "/w", "dry_run": True, "grace": "2h"},
    "tasks_hygiene": {"workspace": "/w", "dry_run": True, "older_than": "7d"},
    "wait_status": {"wait_id": None},
    "wait_update": {"wait_id": "7#2", "until": "decided", "timeout": 9, "message": "yes"},
    "wait_cancel": {"wait_id": "7#2", "reason": "r"},
    "goal_create": {
        "name": "n", "criteria": ["c"], "description": "d", "request": "r", "budget": {"attempts": 3},
        "blocker_limit": 2, "workspace": "/w", "tags": ["t"], "metadata": {"m": 1},
        "callback_url": "https://a",
    },
    "goal_status": {"goal_id": None},
    "goal_check": {"goal_id": "7k3m", "finish": True},
    "goal_decide": {"goal_id": "7k3m", "criterion": 2, "status": "met", "reason": "r"},
    "goal_update": {
        "goal_id": "7k3m", "criteria": ["c"], "budget": {"tokens": 5}, "blocker_limit": 2,
        "spent": {"tokens": 1}, "reset": "r",
    },
    "goal_finish": {"goal_id": "7k3m", "answer": "a", "despite": "d"},
    "purge": {
        "older_than": "90d", "status": "ended", "archived": False, "workspace": "/w", "kind": "task",
        "task_id": None, "limit": 5, "confirm": None,
    },
    "forget": {"source": "session:S", "confirm": None},
}  # fmt: skip
# What takes a task as its first argument.
ON_A_TASK = {
    **{call: arguments for call, (arguments, _) in WRITES.items()},
    "task_heartbeat": {"step": None, "token": 1, "lease_seconds": 60},
    **{call: arguments for call, arguments in READS.items() if call != "task_list"},
    "task_extract": {"step": "s1"},
    "task_distill": {},
}


# Calls that write to two tasks; tests that watch a single one leave them out.
ON_TWO_TASKS = ("task_split", "task_merge")


def with_other(memory, arguments) -> dict:
    """Arguments of a call, with the id of a new task where they name another one."""
    given = {**arguments}
    if given.get("other") == OTHER:
        given["other"] = memory.task_register("other", ["X"], request="r").task_id
    return given


def prepare(memory, task) -> None:
    """Give a task an action (#2), an intent (#3), an entry (#4), a claim on step s3 (#5), and two
    instructions of the user (#6, #7)."""
    memory.task_log_action(task, "an action", status="started")
    memory.task_intent(task, what="an intent")
    memory.task_remember(task, "an entry")
    memory.acting_as(agent="other").task_claim(task, item="s3")
    user = memory.acting_as(channel="user")
    for text in ("an instruction", "another instruction"):
        user.task_remember(task, text, type="user_instruction")
