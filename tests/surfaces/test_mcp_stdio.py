"""The stdio server line by line: what a client writes, and every line that comes back."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from queue import Queue

from ringbolt import TaskMemory
from ringbolt.model.operation import declared
from ringbolt.operations import CORE_ROOMS, OPERATIONS, room
from ringbolt.surfaces.mcp import stdio
from ringbolt.surfaces.mcp.start import read_line
from ringbolt.surfaces.mcp.tools import core_tools, described
from tests.support import lock_held, open_memory
from tests.surfaces.mcp_servers import ENVELOPE

FIRST = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(id, method, params=None, *, modern=False):
    params = {**(params or {}), **({"_meta": ENVELOPE} if modern else {})}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def call(id, tool, arguments=None, **more):
    return request(id, "tools/call", {"name": tool, "arguments": arguments or {}, **more})


def answers(tmp_path, *messages):
    """All answers to messages that come at once; a text is sent as it is."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in messages]
    done = subprocess.run(
        [sys.executable, "-m", "ringbolt", "mcp", "--store", str(tmp_path / "store.db")],
        input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


class Lines:
    """A server that is spoken to line by line."""

    def __init__(self, process):
        self._process = process
        self._read = Queue()
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        for line in self._process.stdout:
            self._read.put(json.loads(line))

    def send(self, *messages):
        for message in messages:
            self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def next(self):
        return self._read.get(timeout=100)

    def end(self):
        """Close our end; returns the lines that were still to come, and the exit code."""
        self._process.stdin.close()
        code = self._process.wait(timeout=100)
        return [self._read.get() for _ in range(self._read.qsize())], code


@contextmanager
def talking(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-m", "ringbolt", "mcp", "--store", str(tmp_path / "store.db")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield Lines(process)
        finally:
            process.kill()


def test_requests_in_hand_are_answered_after_the_client_has_closed_its_end(tmp_path):
    told = answers(
        tmp_path,
        request(1, "initialize", FIRST),
        INITIALIZED,
        call(2, "task_register", {"name": "x"}),
        call(3, "task_list"),
    )
    assert {each["id"] for each in told} == {1, 2, 3}
    assert told[0]["result"]["protocolVersion"] == "2025-06-18"
    with open_memory(tmp_path / "store.db", workspace=None) as memory:
        assert memory.verify().ok


REFUSED = [
    ("not JSON", -32700),
    ("\x00", -32700),
    ("[" * 5000, -32700),
    ("5", -32600),
    ("[]", -32600),
    ('{"id": 11, "method": "ping"}', -32600),
    ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
    ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
    ('{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600),
    ('{"jsonrpc": "2.0", "id": 12}', -32600),
    ('{"jsonrpc": "2.0", "id": 13, "method": "tools/list", "params": []}', -32602),
    ('{"jsonrpc": "2.0", "id": 14, "method": "tools/list"}', -32602),  # neither initialized nor modern
    (request(15, "no/such", modern=True), -32601),
    (request(16, "ping", modern=True), -32601),
    (request(17, "tools/call", modern=True), -32602),
    (request(18, "tools/call", {"name": 5}, modern=True), -32602),
    (request(19, "tools/call", {"name": "task_list", "arguments": [1]}, modern=True), -32602),
    (request(20, "tools/call", {"name": "rm"}, modern=True), -32602),
    (request(21, "resources/read", modern=True), -32602),
    (request(22, "completion/complete", {"ref": {}, "argument": {"name": 1}}, modern=True), -32602),
    (request(23, "server/discover"), -32602),
    (request(24, "tools/list", {"_meta": 5}), -32602),
    (request(25, "initialize", {}), -32602),
]


def test_what_is_not_the_protocol_is_refused_and_the_next_request_is_answered(tmp_path):
    sent = []
    for number, (line, _) in enumerate(REFUSED):
        sent += [line, request(f"next {number}", "ping")]
    told = answers(tmp_path, *sent)
    later = {each["id"]: each for each in told if str(each["id"]).startswith("next")}
    assert len(later) == len(REFUSED)
    assert all(each["result"] == {} for each in later.values())
    # A refusal by a thread of its own may come later than the others.
    refused = [each["error"]["code"] for each in told if each["id"] not in later]
    assert sorted(refused) == sorted(code for _, code in REFUSED)


def test_an_id_that_is_in_use_is_refused_and_its_first_request_is_still_answered(tmp_path):
    path = tmp_path / "store.db"
    with open_memory(path, session="") as memory:
        memory.task_register("x")
    with talking(tmp_path) as server:
        server.send(request(1, "initialize", FIRST), INITIALIZED)
        assert server.next()["id"] == 1
        with lock_held(str(path)):
            server.send(call(2, "task_register", {"name": "held up"}), call(2, "task_list"))
            refused = server.next()
        assert (refused["id"], refused["error"]["code"]) == (2, -32600)
        answered = server.next()
        assert (answered["id"], answered["result"]["isError"]) == (2, False)
        server.send(call(2, "task_list"))  # free again with its answer
        assert server.next()["result"]["isError"] is False


def test_an_unknown_version_is_refused_with_those_that_are_served(tmp_path):
    later = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    (refused,) = answers(tmp_path, request(1, "tools/list", {"_meta": later}))
    assert refused["error"]["code"] == -32022
    assert refused["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}
    (agreed,) = answers(tmp_path, request(1, "initialize", {**FIRST, "protocolVersion": "2099-01-01"}))
    assert agreed["result"]["protocolVersion"] == "2025-11-25"


def test_a_call_that_waits_holds_up_no_other_and_a_cancelled_one_gets_no_answer(tmp_path):
    path = tmp_path / "store.db"
    with open_memory(path, session="") as memory:
        memory.task_register("x")
    with talking(tmp_path) as server, lock_held(str(path)):
        server.send(request(1, "initialize", FIRST), INITIALIZED)
        assert server.next()["id"] == 1
        server.send(call(2, "task_update", {"message": "held up"}), call(3, "task_list"))
        assert server.next()["id"] == 3
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        server.send(cancelled, request(4, "ping"))
        assert server.next()["id"] == 4
        rest, code = server.end()
    assert (rest, code) == ([], 0)


def test_a_client_that_asked_for_progress_hears_that_its_call_still_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(stdio, "PROGRESS_SECONDS", 0.01)
    written = Queue()

    class Pipe:
        def write(self, line):
            written.put(json.loads(line))

        def flush(self):
            pass

    reading = Queue()
    client = stdio.Client(str(tmp_path / "store.db"), str(tmp_path), "", "")
    server = stdio.Server(client, "core", iter(reading.get, None), Pipe())
    thread = threading.Thread(target=server.run)
    thread.start()
    wait = {"target": "manual:approve", "timeout": 600}
    for message in (
        request(1, "initialize", FIRST), INITIALIZED, call(2, "task_register", {"name": "x"}),
    ):  # fmt: skip
        reading.put(json.dumps(message).encode())
    assert [written.get(timeout=100)["id"] for _ in range(2)] == [1, 2]
    reading.put(json.dumps(call(3, "smart_wait", wait, _meta={"progressToken": "p"})).encode())
    numbers = [written.get(timeout=100)["params"] for _ in range(3)]
    assert [each["progressToken"] for each in numbers] == ["p"] * 3
    assert [each["progress"] for each in numbers] == [1, 2, 3]
    with open_memory(tmp_path / "store.db", workspace=str(tmp_path), session="", channel="user") as memory:
        (started,) = [event for event in memory.events() if event.type == "wait.started"]
        memory.wait_update(f"{started.task_id}#{started.seq}", message="go ahead")
    while (last := written.get(timeout=100)).get("id") != 3:
        assert last["method"] == "notifications/progress"
    assert not last["result"]["isError"]
    reading.put(None)
    thread.join(100)
    assert not thread.is_alive()
    client.close()


def test_the_listed_core_tools_are_those_of_the_declarations():
    assert core_tools() == described("core"), "run make docs"


def test_a_core_operation_is_the_same_in_its_room_as_in_the_whole_memory():
    assert set(CORE_ROOMS) == {name for name, each in OPERATIONS.items() if each.tools == "core"}
    for name in CORE_ROOMS:
        assert declared(getattr(room(name), name)) is declared(getattr(TaskMemory, name))


def test_a_plain_line_starts_without_click_and_any_other_is_left_to_it():
    assert read_line(["--store", "a b", "--tools=full"]) == {"location": "a b", "tools": "full"}
    assert read_line([]) == {"location": ""}
    for line in (["--help"], ["--tools", "nix"], ["--store"], ["more"]):
        assert read_line(line) is None
