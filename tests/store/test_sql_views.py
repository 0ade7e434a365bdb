"""What the sources' documents promise is found by any SQL client, under their names and columns."""

from __future__ import annotations

import json
from itertools import count
from uuid import uuid4

import pytest

from tests.support import (
    NOON,
    Clock,
    is_postgres,
    path_of,
    rows,
    run_python,
    server_and_tenant,
)

# Typed in again from the schemas of the source documents.
COLUMNS = {
    "tasks": """id name goal context workspace_path status plan created_at updated_at completed_at
        approval_mode callback_url metadata""",
    "plan_items": "id task_id ordinal title status started_at completed_at duration_seconds",
    "actions": "id plan_item_id task_id action_type summary status input_data output_data created_at",
    "dropped_plan_items": "id task_id title status dropped_in",
    "action_logs": "id action_id log_type content created_at",
    "task_messages": "id task_id role content msg_type created_at",
    "wait_jobs": """id task_id target_type target_id criteria timeout_seconds poll_interval status
        result_message created_at resolved_at""",
    "memory_entries": """id task_id subtask_id timestamp entry_type summary detail tags relevance_to
        created_at""",
    "events": "id task_id correlation_id timestamp event_type data",
    "learned_patterns": "id pattern_type pattern_key data frequency last_seen created_at",
    "execution_log": """timestamp stage sub_task_id step_narrative tool_name status input_payload
        result_data error_info duration_ms""",
}
LOG_WORDS = {"COMPLETED", "FAILED", "SKIPPED", "SYSTEM_ACTION", "SYSTEM_ERROR"}


_CONNECT = """
import json, sqlite3 as driver, sys
connection = driver.connect(f"file:{sys.argv[1]}?mode={sys.argv[2]}", uri=True)
"""
_CONNECT_TO_POSTGRES = """
import json, psycopg as driver, sys
connection = driver.connect(sys.argv[1], options=sys.argv[2])
"""


def run_without_ringbolt(code: str, url: str, mode: str, *args: str):
    """Run a script with a `connection` to the store that only the driver of the database has made."""
    if not is_postgres(url):
        return run_python(_CONNECT + code, path_of(url), mode, *args)
    server, tenant = server_and_tenant(url)
    # As with psql, where it is PGOPTIONS.
    options = f"-c ringbolt.tenant={tenant} -c default_transaction_read_only={mode == 'ro'}"
    return run_python(_CONNECT_TO_POSTGRES + code, server, options, *args)


@pytest.fixture
def query(memory, store_url):
    """A function that runs SQL on the store as another client would."""
    return lambda sql, *args: rows(store_url, sql, *args)


@pytest.fixture
def lived(memory, clock):
    """The id of a task to which a little of everything has happened."""
    return live(memory, clock)


def live(memory, clock) -> str:
    task = memory.task_register("Deploy", ["Build", "Push", "Run"], request="Deploy it, please.").task_id
    memory.task_update(task, "begin", step=1, step_status="active")
    action = memory.task_log_action(task, "make", type="cli", status="started", input={"c": "make"}).seq
    memory.task_log_append(task, action=action, content="ok", type="stdout")
    clock.forward(1.5)
    memory.task_log_action(task, action=action, output={"exit": 0})
    memory.task_update(task, "built", step=1, step_status="completed")
    memory.task_decide(task, choice="ghcr.io", reasoning="it works", item="Push", tags=["a", "b"])
    return task


def test_a_table_has_the_columns_of_its_source(query, lived, store_url):
    for name in COLUMNS:
        columns = (
            "SELECT column_name AS name FROM information_schema.columns WHERE table_name = ?"
            if is_postgres(store_url)
            else "SELECT name FROM pragma_table_info(?)"
        )
        found = [row["name"] for row in query(columns, name)]
        assert set(COLUMNS[name].split()) <= set(found)
        query(f"SELECT {', '.join(COLUMNS[name].split())} FROM {name}")  # and each can be read


def test_the_sql_of_python_itself_reads_every_table(memory, lived, store_url):
    code = """
found = {}
for name in json.loads(sys.argv[3]):
    found[name] = len(connection.execute(f"SELECT * FROM {name}").fetchall())
print(json.dumps(found))
"""
    done = run_without_ringbolt(code, store_url, "ro", json.dumps(list(COLUMNS)))
    assert json.loads(done.stdout) == {
        "tasks": 1,
        "plan_items": 3,
        "dropped_plan_items": 0,
        "actions": 1,
        "action_logs": 1,
        "task_messages": 3,
        "wait_jobs": 0,
        "memory_entries": 1,
        "events": 7,
        "learned_patterns": 0,
        "execution_log": 1,
    }


def test_tasks(memory, query, clock):
    task = memory.task_register(
        "Deploy",
        [{"id": "a", "title": "A"}, {"id": "b", "title": "B", "depends_on": ["a"]}],
        request="Please",
        goal="It runs",
        context={"branch": "main"},
        approval_mode="manual",
        callback_url="https://example.org",
        metadata={"display": ":100"},
    ).task_id
    memory.task_plan_append(task, ["C"])
    memory.task_plan_replace(
        task, [{"id": "a", "title": "A"}, {"id": "b", "title": "B", "depends_on": ["a"]}]
    )
    clock.forward(60)
    memory.task_finish(task)
    (row,) = query("SELECT * FROM tasks")
    assert (row["id"], row["name"], row["goal"], row["status"]) == (task, "Deploy", "It runs", "completed")
    assert (json.loads(row["context"]), json.loads(row["metadata"])) == (
        {"branch": "main"},
        {"display": ":100"},
    )
    assert (row["workspace_path"], row["approval_mode"]) == ("/w", "manual")
    assert row["callback_url"] == "https://example.org"
    assert json.loads(row["plan"]) == [
        {"id": "a", "title": "A", "status": "pending", "depends_on": []},
        {"id": "b", "title": "B", "status": "pending", "depends_on": ["a"]},
    ]
    assert (row["created_at"], row["updated_at"]) == (NOON, "2026-03-01T12:01:00.000Z")
    assert row["completed_at"] == "2026-03-01T12:01:00.000Z"


def test_a_task_always_has_a_goal(memory, query):
    memory.task_register("Name")
    memory.task_register("Name", request="Request")
    memory.task_register("Name", request="Request", goal="Goal")
    assert [row["goal"] for row in query("SELECT goal FROM tasks ORDER BY goal")] == [
        "Goal",
        "Name",
        "Request",
    ]


def test_plan_items(memory, query, lived):
    found = query("SELECT * FROM plan_items WHERE task_id = ? ORDER BY ordinal", lived)
    assert [(row["ordinal"], row["title"], row["status"]) for row in found] == [
        (0, "Build", "completed"),
        (1, "Push", "pending"),
        (2, "Run", "pending"),
    ]
    assert (found[0]["started_at"], found[0]["completed_at"]) == (NOON, "2026-03-01T12:00:01.500Z")
    assert found[0]["duration_seconds"] == 1.5
    assert len({row["id"] for row in found}) == 3


def test_actions_and_action_logs_lead_from_one_to_the_next(memory, query, lived):
    (row,) = query(
        "SELECT a.*, p.title, l.content, l.log_type, l.created_at AS logged_at FROM actions a"
        " JOIN plan_items p ON p.id = a.plan_item_id JOIN action_logs l ON l.action_id = a.id"
        " JOIN tasks t ON t.id = a.task_id"
    )
    assert (row["title"], row["action_type"], row["summary"]) == ("Build", "cli", "make")
    assert (row["status"], row["created_at"], row["logged_at"]) == ("completed", NOON, NOON)
    assert (json.loads(row["input_data"]), json.loads(row["output_data"])) == ({"c": "make"}, {"exit": 0})
    assert (row["content"], row["log_type"]) == ("ok", "stdout")


def test_an_action_of_no_step_is_there_too(memory, query, task):
    memory.task_log_action(task, "think", type="reasoning")
    (row,) = query("SELECT plan_item_id, input_data, output_data, action_type FROM actions")
    assert row == {"plan_item_id": None, "input_data": None, "output_data": None, "action_type": "reasoning"}


def test_the_row_of_an_action_has_the_fields_given_at_its_end(memory, query, task):
    action = memory.task_log_action(task, "call", status="started").seq
    memory.task_log_action(
        task, action=action, tool="curl", input={"url": "x"}, output="yes", error="no", stage="2",
        sub_task_id="7", duration_ms=5,
    )  # fmt: skip
    known = memory.task_drill_down(task, action=action).action
    (row,) = query("SELECT * FROM actions")
    assert json.loads(row["input_data"]) == known.input == {"url": "x"}
    assert json.loads(row["output_data"]) == known.output == "yes"
    (row,) = query("SELECT * FROM execution_log")
    assert (row["tool_name"], row["stage"], row["sub_task_id"]) == ("curl", "2", "7")
    assert (json.loads(row["input_payload"]), row["duration_ms"]) == ({"url": "x"}, 5)


def test_task_messages(memory, query, lived):
    memory.acting_as(channel="user").task_update(lived, "from the user")
    memory.acting_as(channel="system").task_update(lived, "from the system")
    memory.task_plan_append(lived, ["More"], note="one more")
    memory.task_finish(lived, message="that was it")
    found = query("SELECT role, content, msg_type FROM task_messages")
    assert sorted((row["role"], row["content"], row["msg_type"]) for row in found) == sorted(
        [
            ("user", "Deploy it, please.", "lifecycle"),
            ("agent", "begin", "progress"),
            ("agent", "built", "progress"),
            ("user", "from the user", "text"),
            ("system", "from the system", "text"),
            ("agent", "one more", "plan"),
            ("agent", "that was it", "lifecycle"),
        ]
    )


def test_every_message_has_a_content_that_says_something(memory, query, task):
    memory.task_update(task, status="active")  # which it is already
    memory.task_update(task, status="paused")
    memory.task_plan_append(task, ["x"])
    memory.task_item_update(task, 1, status="done")
    for row in query("SELECT * FROM task_messages"):
        assert row["content"], row
        assert row["role"] in ("agent", "system", "user")
        assert row["msg_type"] in ("text", "lifecycle", "progress", "wait", "stuck", "plan")


def test_memory_entries(memory, query, lived):
    memory.task_remember(
        lived, "slow", type="error", detail="5 s", item="s2", tags=["net"], relevance_to=["s3", "s2"]
    )
    decision, error = query("SELECT * FROM memory_entries ORDER BY id")
    assert (decision["entry_type"], decision["summary"], decision["subtask_id"]) == (
        "decision",
        "ghcr.io",
        "s2",
    )
    assert sorted(decision["tags"].split(",")) == ["a", "b"]
    assert json.loads(decision["data"])["reasoning"] == "it works"
    assert (error["task_id"], error["detail"], error["tags"]) == (lived, "5 s", "net")
    assert sorted(error["relevance_to"].split(",")) == ["s2", "s3"]
    assert error["timestamp"] == error["created_at"] == "2026-03-01T12:00:01.500Z"
    assert decision["relevance_to"] == "s2"


def test_the_query_of_the_source_finds_what_matters_for_a_subtask(memory, query, task):
    memory.task_remember(task, "own", type="context", item="s1")
    memory.task_remember(task, "relevant", type="context", relevance_to=["s1"])
    memory.task_remember(task, "a rule", type="error")
    memory.task_remember(task, "elsewhere", type="context", item="s2")
    found = query(
        "SELECT summary FROM memory_entries WHERE task_id = ? AND (subtask_id = ? OR relevance_to LIKE ?"
        " OR entry_type IN ('decision', 'error', 'user_instruction')) ORDER BY timestamp DESC LIMIT 20",
        task, "s1", "%s1%",
    )  # fmt: skip
    assert sorted(row["summary"] for row in found) == ["a rule", "own", "relevant"]


def test_events(memory, query, lived):
    memory.acting_as(correlation="turn-7").task_remember(lived, "x", data={"a": [1]})
    found = query("SELECT * FROM events ORDER BY id")
    assert [row["id"] for row in found] == sorted(row["id"] for row in found)
    assert {row["task_id"] for row in found} == {lived}
    assert found[0]["event_type"] == "task.registered"
    assert (found[-1]["correlation_id"], json.loads(found[-1]["data"])) == ("turn-7", {"a": [1]})
    assert all(json.loads(row["data"]) is not None for row in found)


def test_execution_log(memory, query, task):
    memory.task_plan_replace(task, [{"stage": 3, "steps": ["Search"]}])
    memory.task_log_action(
        task, "Looking", status="COMPLETED", item="Search", tool="web", sub_task_id="7", input={"q": 1},
        output=["r"], duration_ms=12.5,
    )  # fmt: skip
    memory.task_log_action(task, "Failing", status="FAILED", error={"message": "m", "details": None})
    memory.task_log_action(task, "Skipping", status="SKIPPED", stage="Initial")
    memory.task_log_action(task, "Summarising", status="SYSTEM_ACTION")
    memory.task_log_action(task, "Breaking", status="SYSTEM_ERROR", error={"message": "n"})
    memory.task_log_action(task, "Still at it", status="started")
    found = query("SELECT * FROM execution_log ORDER BY seq")
    assert [(row["step_narrative"], row["status"], row["stage"], row["tool_name"]) for row in found] == [
        ("Looking", "COMPLETED", "3", "web"),
        ("Failing", "FAILED", None, None),
        ("Skipping", "SKIPPED", "Initial", None),
        ("Summarising", "SYSTEM_ACTION", None, "System"),
        ("Breaking", "SYSTEM_ERROR", None, "System"),
    ]
    first = found[0]
    assert (first["sub_task_id"], first["duration_ms"], first["timestamp"]) == ("7", 12.5, NOON)
    assert (json.loads(first["input_payload"]), json.loads(first["result_data"])) == ({"q": 1}, ["r"])
    assert json.loads(found[1]["error_info"]) == {"message": "m", "details": None}


def test_an_action_that_was_undone_has_no_status_that_the_source_does_not_know(memory, query, task):
    memory.task_log_action(task, "oops", type="cli")
    memory.task_undo(task)
    assert {row["status"] for row in query("SELECT status FROM execution_log")} <= LOG_WORDS
    assert {row["status"] for row in query("SELECT status FROM actions")} <= {
        "started", "completed", "failed", "skipped",
    }  # fmt: skip


def test_a_pattern_is_learned_once_under_its_type_and_key(memory, store_url):
    memory.close()
    code = """
insert = ("INSERT INTO learned_patterns (pattern_type, pattern_key, data, last_seen, created_at)"
          " VALUES ('model_failure', 'k', '{}', '2026', '2026')")
connection.execute(insert)
connection.commit()
print(connection.execute("SELECT frequency FROM learned_patterns").fetchone()[0])
try:
    connection.execute(insert)
except driver.IntegrityError:
    print("once")
"""
    assert run_without_ringbolt(code, store_url, "rw").stdout.split() == ["1", "once"]


# --- the other engine -------------------------------------------------------------------------------

ODD = {"z": -0.0, "a": [True, None, {}, 1.0, 1e22, 10**30], "é😀": '\u2028\x1b"\\/', "": {"b": 1, "aa": 2}}
JSON = {
    *("context", "metadata", "plan", "depends_on", "data", "sets"),
    *("input_data", "output_data", "error", "input_payload", "result_data", "error_info"),
}
# Numbers of the whole store, which on PostgreSQL many tenants share.
OWN = {("events", "id"), ("memory_entries", "id"), ("events", "tenant_id")}


def test_both_engines_show_the_same_rows(tmp_path, postgres_url, opened):
    found = []
    for url in (f"sqlite://{tmp_path}/store.db", f"{postgres_url}&tenant={uuid4().hex}"):
        seed, clock = count(), Clock()
        memory = opened(
            url, clock=clock, random=lambda size, s=seed: bytes(next(s) % 256 for _ in range(size))
        )
        task = live(memory, clock)
        memory.task_update(task, metadata=ODD)
        for value in (ODD, [ODD], [], "text", 0, 1e22, True, False, None):
            memory.task_log_action(task, "x", input=value, output=value, error=value, duration_ms=7)
        memory.task_log_action(task, "x", status="SYSTEM_ERROR", error={"message": None})
        memory.task_remember(
            task, "x", data=ODD, detail="1", tags=["b", "B", "é", "a"], relevance_to=["s3", "s1"]
        )
        memory.task_plan_replace(task, ["Run", {"title": "Look", "depends_on": ["Run"]}])
        memory.task_register("Without anything")
        found.append({name: shown(url, name) for name in COLUMNS})
    assert found[0] == found[1]


def shown(url, name) -> list[dict]:
    """The rows of a table in an order of their own, with what is JSON as its value."""
    unordered = [
        {
            column: json.loads(value) if column in JSON and value is not None else value
            for column, value in row.items()
            if (name, column) not in OWN
        }
        for row in rows(url, f"SELECT * FROM {name}")
    ]
    return sorted(unordered, key=lambda row: (row.get("task_id"), row.get("seq"), row.get("id")))
