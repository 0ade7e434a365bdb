"""The server's routes: what they answer, what they count, and how the server ends."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from ringbolt.operations import OPERATIONS, call
from ringbolt.surfaces.http.auth import read_tokens
from ringbolt.surfaces.http.routes import RESOURCES
from tests.support import lock_held, open_memory, until
from tests.surfaces.http_support import Client, serving


@pytest.fixture
def ask(memory, tmp_path):
    with serving(memory, tmp_path / "tokens.json", heartbeat=0.05) as client:
        yield client


# --- routes -----------------------------------------------------------------------------------------


def test_an_operation_answers_as_the_library_does(ask, memory):
    task = ask.call("task_register", name="Deploy", plan=["Build", "Push"], key="once")["task_id"]
    assert ask.call("task_register", name="Deploy", plan=["Build", "Push"], key="once")["task_id"] == task
    written = ask.call("task_update", task_id=task, message="Built.", step="1", step_status="completed")
    assert (written["done"], written["next"]) == (1, "s2")
    for name, arguments in (
        ("task_get", {}),
        ("task_resume", {"budget": "800"}),
        ("task_state", {}),
        ("task_plans", {}),
    ):
        assert ask.call(name, task_id=task, token="read", **arguments) == call(
            memory, name, {"task_id": task, **arguments}
        )


def test_resources_are_the_same_things_to_be_got(ask, memory):
    task = memory.task_register("Deploy", ["Build", "Push"]).task_id
    memory.task_finish(memory.task_register("Over").task_id)
    assert [row["id"] for row in ask("GET", "/api/tasks").data["tasks"]] == [task]
    both = ask("GET", "/api/tasks?status=active&status=completed&limit=5").data["tasks"]
    assert {row["name"] for row in both} == {"Deploy", "Over"}
    assert ask("GET", f"/api/tasks/{task[:6]}").data == memory.task_get(task).to_dict()
    assert (
        ask("GET", f"/api/tasks/{task}/resume?budget=300").data
        == memory.task_resume(task, budget=300).to_dict()
    )
    state = ask("GET", f"/api/tasks/{task}/state.yaml")
    assert state.headers["content-type"].startswith("application/yaml")
    assert state.body.decode() == memory.task_state(task)
    assert [
        hit["task_id"] for hit in ask("GET", "/api/search?q=push&limit=3", token="read").data["hits"]
    ] == [task]


def test_an_error_has_its_status_its_code_and_what_to_do(ask):
    for method, path, body, status, code in (
        ("GET", "/api/tasks/zzzzzz", None, 404, "task_not_found"),
        ("GET", "/api/tasks?limit=lots", None, 400, "invalid_argument"),
        ("GET", "/api/tasks?nonsense=1", None, 400, "invalid_argument"),
        ("GET", "/api/events?after=-1", None, 400, "invalid_argument"),
        ("GET", "/api/events?limit=1e9", None, 400, "invalid_argument"),
        ("GET", "/api/events?after=99999999", None, 409, "stale_version"),
        ("POST", "/api/task_update", {"message": "x"}, 404, "no_current_task"),
        ("POST", "/api/task_register", {"name": "x" * (5 << 20)}, 413, "too_large"),
        ("POST", "/api/nonsense", {}, 404, "no_route"),
    ):
        answer = ask(method, path, body)
        assert (answer.status, answer.error["code"]) == (status, code), path
        assert answer.error["hint"]


def test_a_session_is_said_in_a_header_and_the_workspace_is_that_of_the_server(ask, memory):
    one = {"X_Ringbolt_Session": "one", "X_Ringbolt_Workspace": memory.workspace}
    task = ask.call("task_register", name="x", headers=one)["task_id"]
    assert ask.call("task_update", message="more", headers=one)["task_id"] == task
    assert (memory.task_get(task).workspace, memory.task_get(task).session) == (memory.workspace, "one")
    assert ask.call("task_update", message="y", headers={"X_Ringbolt_Session": "two"})["task_id"] != task
    elsewhere = ask("POST", "/api/task_register", {"name": "x"}, X_Ringbolt_Workspace="/etc")
    assert (elsewhere.status, elsewhere.error["code"]) == (403, "wrong_workspace")


def test_active_tasks_are_answered_as_a_gateway_answers_them(tmp_path):
    with (
        open_memory(tmp_path / "s.db", workspace=str(tmp_path)) as memory,
        serving(memory, tmp_path / "t.json") as ask,
    ):
        memory.active_tasks_add("shop", "Deploy the shop", next="push")
        first = ask("GET", "/active-tasks", token="read").json
        assert first["projection"]["stale"]
        assert first["projection"]["staleReasons"] == ["missing"]
        for path in ("/active-tasks", "/plugins/memory-public/active-tasks"):
            found = ask("GET", f"{path}?render=1").json
            assert set(found) >= {
                "generatedAt",
                "source",
                "staleThresholdMinutes",
                "ledger",
                "activeCount",
                "warnings",
            }
            assert [row["label"] for row in found["active"]] == ["shop"]
            assert (found["render"]["requested"], found["projection"]["stale"]) == (True, False)
            assert found["projection"]["fileModifiedAt"]
        (tmp_path / "ACTIVE-TASKS.md").write_text("someone else's")
        failed = ask("GET", "/active-tasks?render=1")
        assert failed.status == 200
        assert failed.json["render"]["error"]["code"] == "stale_version"
        assert failed.json["projection"]["stale"]
        assert [row["label"] for row in failed.json["active"]] == ["shop"]


def test_the_mcp_server_is_there_for_those_who_have_a_token(ask, memory):
    pytest.importorskip("ringbolt.surfaces.mcp")
    kinds = {"Accept": "application/json, text/event-stream"}
    arguments = {"name": "task_register", "arguments": {"name": "over MCP"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    assert ask("POST", "/mcp", body, token=None, **kinds).status == 401
    assert ask("POST", "/mcp", body, **kinds, Origin="http://evil.com").status == 403
    assert ask("POST", "/mcp", body, **kinds, Content_Type="text/plain").status == 415
    assert ask("POST", "/mcp", body, token="read", **kinds).json["result"]["isError"]
    written = ask("POST", "/mcp", body, token="user", **kinds, X_Ringbolt_Session="M").json["result"]
    (event,) = memory.events(re.search(r"task (\w{10})", written["content"][0]["text"])[1])
    assert (event.origin.channel, event.origin.session) == ("agent", "M")


# --- figures ----------------------------------------------------------------------------------------

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)')


def samples(text: str) -> dict[tuple[str, str], float]:
    """Prometheus's text format, read strictly: every sample belongs to a family that was announced."""
    found, family = {}, ""
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# TYPE "):
            family = line.split()[2]
        elif not line.startswith("# HELP "):
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match[1].removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") == family, (
                line
            )
            assert (match[1], match[2] or "") not in found
            found[match[1], match[2] or ""] = float(match[3])
    return found


def test_the_figures_can_be_read_by_prometheus(ask, memory):
    task = memory.task_register("x", callback_url="http://example.org/").task_id
    memory.task_register("y")
    memory.task_finish(task)
    for _ in range(3):
        ask("GET", f"/api/tasks/{task}")
    ask("GET", "/nowhere")
    ask('GE"T', "/api/tasks")
    answer = ask("GET", "/metrics", token="read")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(answer.body.decode())
    of_task = 'route="/api/tasks/{id}"'
    assert found["ringbolt_http_requests_total", f'{of_task},method="GET",status="200"'] == 3
    assert found["ringbolt_http_requests_total", 'route="unknown",method="GET",status="404"'] == 1
    assert found["ringbolt_http_request_seconds_count", of_task] == 3
    assert found["ringbolt_http_request_seconds_bucket", f'{of_task},le="+Inf"'] == 3
    assert found["ringbolt_tasks", 'status="active"'] == found["ringbolt_tasks", 'status="completed"'] == 1
    assert found["ringbolt_jobs", 'kind="webhook",status="waiting"'] == 1
    assert found["ringbolt_jobs_due", 'kind="webhook"'] == 1
    assert found["ringbolt_jobs_due_seconds", 'kind="webhook"'] > 0  # the clock of the task stands still
    assert found["ringbolt_workers", ""] == 0
    assert found["ringbolt_mirrors_stale", ""] == 0
    assert found["ringbolt_store_bytes", 'part="bytes"'] > 0
    assert task not in answer.body.decode()


# --- under load, and ending -------------------------------------------------------------------------


def at_once(port, tokens, tasks, more):
    """Calls by a client for each task, all at once, for as long as `more(number)`; what went wrong."""
    wrong = []

    def run(task):
        client = Client(port, tokens)
        number = 0
        while more(number):
            answer = client("POST", "/api/task_update", {"task_id": task, "message": f"message {number}"})
            if answer.status != 200:
                wrong.append(answer.body)
            number += 1
        client.close()

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_twenty_clients_at_once_lose_nothing(ask, memory):
    tasks = [memory.task_register(f"Task {number}").task_id for number in range(20)]
    assert at_once(ask.port, ask.tokens, tasks, lambda number: number < 10) == []
    for task in tasks:
        said = [event.text for event in memory.events(task) if event.type == "message"]
        assert said == [f"message {number}" for number in range(10)]


@pytest.mark.reliability
def test_fifty_clients_for_half_a_minute_lose_nothing(tmp_path):
    """50 clients, 30 s, every write on disk before it is answered: 0 errors, 0 lost."""
    with (
        open_memory(tmp_path / "s.db", synchronous="full") as memory,
        serving(memory, tmp_path / "t.json") as ask,
    ):
        tasks = [memory.task_register(f"Task {number}").task_id for number in range(50)]
        acknowledged = []
        end = time.monotonic() + 30

        def more(number):
            acknowledged.extend([number] if number else [])
            return time.monotonic() < end

        assert at_once(ask.port, ask.tokens, tasks, more) == []
        messages = [event for event in memory.events() if event.type == "message"]
        assert len(messages) == len(acknowledged) > 1000


SERVE = """
import sys
from ringbolt.surfaces.http.app import serve
serve(sys.argv[1], port=0, synchronous="off")
print("ended", flush=True)
"""


def test_a_server_that_is_told_to_end_finishes_what_it_has_begun(tmp_path):
    path = tmp_path / "s.db"
    with open_memory(path, workspace=None) as memory:
        task = memory.task_register("x").task_id
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(path)], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    try:
        first, second = server.stdout.readline(), server.stdout.readline()
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", first)[1])
        tokens = read_tokens(second.removeprefix("Tokens: ").strip())
        ask, stream = Client(port, tokens), http.client.HTTPConnection("127.0.0.1", port, timeout=100)
        auth = {"Authorization": f"Bearer {tokens['read']}", "Accept": "text/event-stream"}
        stream.request("GET", f"/api/tasks/{task}/events", headers=auth)
        events = stream.getresponse()
        assert events.readline() == b"retry: 1000\n"
        answers = []
        late = threading.Thread(
            target=lambda: answers.append(ask.call("task_update", task_id=task, message="late", key="k"))
        )
        with lock_held(str(path)):  # the writer waits
            late.start()
            counted = Client(port, tokens)
            while b"ringbolt_http_requests_running 3" not in counted("GET", "/metrics").body:
                pass
            server.send_signal(signal.SIGTERM)
            rest = events.read()  # the stream ends at once, and is whole
            assert rest.endswith(b"\n\n")
        late.join(100)
        assert server.wait(100) == 0
        assert server.stdout.read() == "ended\n"
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
        ask.close()
        stream.close()
        counted.close()
    assert answers[0]["task_id"] == task
    with open_memory(path, workspace=None) as memory:
        assert [event.text for event in memory.events(task)][-1] == "late"
        assert memory.verify().ok


def test_a_second_signal_ends_a_server_at_once(tmp_path):
    path = tmp_path / "s.db"
    with open_memory(path, workspace=None) as memory:
        task = memory.task_register("x").task_id
    server = subprocess.Popen([sys.executable, "-c", SERVE, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        first, second = server.stdout.readline(), server.stdout.readline()
        ask = Client(
            int(re.search(r":(\d+)/", first)[1]), read_tokens(second.removeprefix("Tokens: ").strip())
        )
        busy = Client(ask.port, ask.tokens)
        with lock_held(str(path)):  # a request that does not end keeps the server
            line = busy.head("POST /api/task_update HTTP/1.1", "Content-Type: application/json")
            body = json.dumps({"task_id": task, "message": "never"}).encode()
            head = line.replace(b"\r\n\r\n", b"\r\nContent-Length: %d\r\n\r\n" % len(body))
            with socket.create_connection(("127.0.0.1", ask.port), 20) as connection:
                connection.sendall(head + body)
                while b"ringbolt_http_requests_running 2" not in ask("GET", "/metrics").body:
                    pass
                server.send_signal(signal.SIGTERM)
                with pytest.raises(subprocess.TimeoutExpired):
                    server.wait(0.3)
                # Two signals that come before the process has its turn are one.
                until(lambda: server.send_signal(signal.SIGTERM) or server.poll() is not None)
                assert server.returncode == -signal.SIGTERM
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
        ask.close()
        busy.close()


def test_the_server_does_the_jobs_of_the_store(tmp_path):
    with open_memory(tmp_path / "s.db") as memory, serving(memory, tmp_path / "t.json", worker=True) as ask:
        task = memory.task_register("x", ["Build"]).task_id
        ask.call(
            "task_update",
            task_id=task,
            message="Use alpine because it is small.",
            step=1,
            step_status="completed",
        )
        while memory.jobs_status().kinds.get("extract"):
            pass
        assert b"ringbolt_worker_up 1" in ask("GET", "/metrics").body


def test_the_server_looks_at_waits_and_shows_what_its_worker_did(tmp_path):
    path = tmp_path / "s.db"
    with (
        open_memory(path, clock=time.time, workspace=str(tmp_path)) as memory,
        serving(memory, tmp_path / "t.json", worker=True) as ask,
    ):
        task = memory.task_register("x", ["Build"]).task_id
        wait = ask.call(
            "smart_wait", task_id=task, target=f"file:{tmp_path}/built", block=False, poll_interval=0.1
        )
        assert wait["state"] == "watching"
        (tmp_path / "built").touch()
        while memory.task_get(task).status == "waiting":
            pass
        while (found := samples(ask("GET", "/metrics").body.decode())).get(
            ("ringbolt_jobs_total", 'kind="wait",outcome="done"'), 0
        ) < 1:
            pass
    assert found["ringbolt_workers", ""] == 1
    assert found["ringbolt_jobs_due_seconds", 'kind="wait"'] < 60
    with open_memory(path, clock=time.time) as memory:
        assert [one.alive for one in memory.jobs_status().workers] == [False]


def test_every_operation_with_a_route_has_one(ask):
    for name, operation in OPERATIONS.items():
        answer = ask("OPTIONS", f"/api/{name}")
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
        assert (ask("POST", f"/api/{name}", b"[").error["code"] == "no_route") is not operation.http
    assert {one.operation for one in RESOURCES} <= {
        name for name in OPERATIONS if OPERATIONS[name].scope == "read"
    }
