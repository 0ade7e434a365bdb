"""Clients that take all they can: the others, and above all /health, are still answered."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import anyio
import pytest

from ringbolt.surfaces.blocking import Waiting
from ringbolt.surfaces.http import guard
from ringbolt.surfaces.http.server import Server
from ringbolt.surfaces.mcp.server import HttpCaller, make_server, run_on_thread
from tests.security.doors import door
from tests.support import lock_held, open_memory, until
from tests.surfaces.http_support import Client, serving


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path / "store" / "s.db", workspace=str(tmp_path), clock=time.time) as memory:
        memory.task_register("a task")
        yield memory


@contextmanager
def waiting_clients(ask, count, path, body, token="write", **headers):
    """So many connections with a request each, whose answers nobody has read yet."""
    with ExitStack() as stack:
        clients = []
        for _ in range(count):
            one = http.client.HTTPConnection("127.0.0.1", ask.port, timeout=100)
            stack.callback(one.close)
            secret = {"Authorization": f"Bearer {ask.tokens[token]}", **headers}
            content = None if body is None else json.dumps(body)
            if content is not None:
                secret["Content-Type"] = "application/json"
            one.request("GET" if body is None else "POST", path, content, secret)
            clients.append(one)
        yield clients


def watching(memory) -> int:
    return len(memory.wait_status())


def healthy(ask) -> bool:
    """Whether a new client is told the health."""
    with Client(ask.port, {}).connection as fresh:
        fresh.request("GET", "/health")
        answer = fresh.getresponse()
        return (answer.status, json.loads(answer.read())) == (200, {"ok": True})


http.client.HTTPConnection.__enter__ = lambda self: self
http.client.HTTPConnection.__exit__ = lambda self, *_: self.close()

MCP = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def tool_body(target):
    arguments = {"target": target, "timeout": 600}
    return {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "smart_wait", "arguments": arguments},
    }  # fmt: skip


@pytest.mark.parametrize("door_name", ["http", "mcp"])
def test_many_blocking_waits_hold_no_thread_and_end_with_their_clients(memory, tmp_path, door_name):
    path, body, headers = {
        "http": ("/api/smart_wait", {"target": "manual:", "timeout": 600}, {}),
        "mcp": ("/mcp", tool_body("manual:"), MCP),
    }[door_name]
    with door(memory, tmp_path) as ask:
        with waiting_clients(ask, 48, path, body, **headers):
            until(lambda: watching(memory) == 48)
            assert threading.active_count() < 80
            for _ in range(5):
                assert healthy(ask)
                assert ask("GET", "/api/tasks", token="read").status == 200
                assert ask("GET", "/api/tasks", token="write").status == 200
        until(lambda: watching(memory) == 0)
        (ended,) = {event.data["result"] for event in memory.events() if event.type == "wait.ended"}
        assert "gone" in ended


@pytest.mark.parametrize("worker", [False, True])
def test_a_blocking_wait_that_resolves_is_told_and_one_that_was_left_alone_goes_on(memory, tmp_path, worker):
    with door(memory, tmp_path, worker=worker) as ask:
        left = ask.call("smart_wait", target="manual:", block=False)["wait_id"]
        given = {"target": "file:done", "timeout": 600, "poll_interval": 0.05}
        with waiting_clients(ask, 3, "/api/smart_wait", given) as clients:
            until(lambda: watching(memory) == 4)
            (tmp_path / "done").touch()
            told = [json.loads(one.getresponse().read())["data"]["state"] for one in clients]
        assert told == ["resolved"] * 3
        assert [wait.wait_id for wait in memory.wait_status()] == [left]


def test_a_token_has_so_many_waits_and_the_next_is_refused(tmp_path):
    with (
        open_memory(
            tmp_path / "s.db", workspace=str(tmp_path), clock=time.time, http_token_waits=3
        ) as memory,
        door(memory, tmp_path) as ask,
    ):
        memory.task_register("a task")
        body = {"target": "manual:", "timeout": 600}
        with waiting_clients(ask, 3, "/api/smart_wait", body):
            until(lambda: watching(memory) == 3)
            refused = ask("POST", "/api/smart_wait", body)
            assert (refused.status, refused.error["code"]) == (429, "too_many_waits")
            other = ask("POST", "/api/smart_wait", {**body, "timeout": 0}, token="user")
            assert other.data["state"] == "timeout"
        # The wait ends before the server has counted its client out.
        until(lambda: ask("POST", "/api/smart_wait", {**body, "timeout": 0}).status == 200)


def test_a_server_that_ends_lets_its_clients_go_and_their_waits_go_on(memory, tmp_path):
    body = {"target": "manual:", "timeout": 600}
    with (
        serving(memory, tmp_path / "tokens.json") as ask,
        waiting_clients(ask, 2, "/api/smart_wait", body) as clients,
    ):
        until(lambda: watching(memory) == 2)
        ask.server.should_exit = True
        told = [json.loads(one.getresponse().read())["data"]["state"] for one in clients]
    assert told == ["watching"] * 2
    assert watching(memory) == 2


def test_a_tool_call_that_is_cancelled_ends_its_wait(memory):
    waiting = Waiting(memory, run_on_thread, 10)

    async def caller(_):
        return HttpCaller(memory=lambda: memory, waiting=waiting)

    async def story():
        from mcp import Client as McpClient

        async with McpClient(make_server("core", caller), mode="legacy") as client:
            with anyio.move_on_after(0.5):
                await client.call_tool("smart_wait", {"target": "manual:", "timeout": 600})
            assert not (await client.call_tool("task_list", {})).is_error
            await anyio.to_thread.run_sync(until, lambda: not watching(memory))

    anyio.run(story)
    assert [event.type for event in memory.events()][-2:] == ["wait.started", "wait.ended"]


def test_many_streams_of_one_token_leave_room_for_others(memory, tmp_path):
    with door(memory, tmp_path) as ask:
        stream = {"Accept": "text/event-stream"}
        with waiting_clients(ask, 600, "/api/events", None, token="read", **stream) as clients:
            answers = [one.getresponse() for one in clients]  # an answer that nobody holds closes its stream
            statuses = [answer.status for answer in answers]
            assert statuses.count(200) == memory.settings.http_token_streams
            assert set(statuses) == {200, 429}
            assert healthy(ask)
            assert ask("GET", "/api/tasks", token="write").status == 200
            assert ask("GET", "/api/tasks", token="read").status == 200
            with waiting_clients(ask, 1, "/api/events", None, token="user", **stream) as (one,):
                assert one.getresponse().status == 200


def test_requests_of_one_token_are_limited_and_those_of_nobody_too(tmp_path):
    with (
        open_memory(tmp_path / "s.db", http_token_requests=5, http_request_seconds=60) as memory,
        door(memory, tmp_path) as ask,
    ):
        head = ask.head("POST /api/task_list HTTP/1.1", "Content-Type: application/json", "Content-Length: 9")
        with ExitStack() as stack:
            for _ in range(5):
                one = stack.enter_context(socket.create_connection(("127.0.0.1", ask.port)))
                one.sendall(head + b"{")  # the rest of the body never comes
            until(lambda: ask("GET", "/api/tasks", token="write").status == 429)
            assert ask("GET", "/api/tasks", token="read").status == 200
            assert healthy(ask)
            anonymous = (
                f"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{ask.port}\r\nX-Ringbolt-Page: 1\r\n"
                "Sec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
            ).encode()
            for _ in range(5):
                one = stack.enter_context(socket.create_connection(("127.0.0.1", ask.port)))
                one.sendall(anonymous)
            until(lambda: ask("GET", "/", token=None).status == 429)
            assert ask("GET", "/api/tasks", token="read").status == 200
            assert healthy(ask)
        until(lambda: ask("GET", "/api/tasks", token="write").status == 200)


def test_connections_that_say_nothing_make_room_for_new_ones(tmp_path, memory, monkeypatch):
    monkeypatch.setattr(Server.__init__, "__defaults__", (20, None))  # connections, TLS
    with door(memory, tmp_path) as ask, ExitStack() as stack:
        for number in range(60):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", ask.port)))
            one.sendall(b"" if number % 2 else b"GET /api/tasks HTTP/1.1\r\nHost: ")
        assert healthy(ask)
        assert ask("GET", "/api/tasks").status == 200


def test_a_client_that_reads_nothing_is_cut_off(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "SEND_SECONDS", 0.2)
    for _ in range(3):
        memory.task_snapshot(memory.task_register("big").task_id, "x" * 4_000_000)
    with door(memory, tmp_path) as ask, socket.create_connection(("127.0.0.1", ask.port)) as one:
        one.sendall(ask.head("GET /api/events?limit=100 HTTP/1.1", "Accept: text/event-stream"))
        until(lambda: _metric(ask, "ringbolt_http_streams") == 1)
        until(lambda: _metric(ask, "ringbolt_http_streams") == 0)


def _metric(ask, name: str) -> float:
    lines = ask("GET", "/metrics", token="user").body.decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(name))


def test_health_is_told_while_the_store_is_held_and_while_every_thread_is_busy(tmp_path):
    path = tmp_path / "s.db"
    with (
        open_memory(
            path, workspace=str(tmp_path), clock=time.time, http_threads=2, lock_timeout=60
        ) as memory,
        door(memory, tmp_path) as ask,
    ):
        memory.task_register("a task")
        with lock_held(str(path)), waiting_clients(ask, 8, "/api/task_update", {"message": "held up"}):
            for _ in range(3):
                assert healthy(ask)


def test_a_real_server_outlives_the_attack(tmp_path):
    """`ringbolt serve` as a process: blocked waits, streams and half requests at once, then all gone."""
    environ = {**os.environ, "RINGBOLT_STORE": str(tmp_path / "s.db")}
    server = subprocess.Popen(
        [sys.executable, "-m", "ringbolt", "serve", "--port", "0"],
        stdout=subprocess.PIPE, text=True, env=environ, cwd=tmp_path,
    )  # fmt: skip
    try:
        port = int(server.stdout.readline().rstrip("/\n").rpartition(":")[2])
        from ringbolt.surfaces.http.auth import read_tokens

        ask = Client(port, read_tokens())
        task = ask.call("task_register", name="x")["task_id"]
        body = {"target": "manual:", "timeout": 600, "task_id": task}
        stream = {"Accept": "text/event-stream"}
        with (
            waiting_clients(ask, 40, "/api/smart_wait", body),
            waiting_clients(ask, 40, "/api/events", None, token="read", **stream),
            ExitStack() as stack,
        ):
            for _ in range(200):
                one = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                one.sendall(b"GET / HT")
            for _ in range(3):
                assert healthy(ask)
                assert ask("GET", "/api/tasks", token="user").status == 200
        until(lambda: ask("GET", "/api/waits").data == [])
        ask.close()
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
    assert server.returncode == 0
