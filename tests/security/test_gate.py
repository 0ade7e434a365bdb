"""Looking at the world: what is closed stays closed by every way to it, and the answers tell nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import anyio
import pytest
from mcp import Client, StdioServerParameters

from ringbolt.model.capabilities import AGENT, LOCAL, POWERS, Grant
from ringbolt.model.errors import NotAllowed
from ringbolt.surfaces.http.auth import read_tokens
from ringbolt.system import gate as gates
from ringbolt.system.gate import REFUSALS, REFUSED, audit_path
from ringbolt.system.user_folders import user_folder
from ringbolt.worker.worker import Worker
from tests.security.doors import door, tool_call, tool_error
from tests.support import open_memory
from tests.waits.displays import needed


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Each test begins with callers that were refused nothing, and most are refused more than a few looks."""
    monkeypatch.setattr(REFUSALS, "_times", {})
    monkeypatch.setattr(gates, "MOST_REFUSED", 100_000)


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "own.txt").write_text("rb_user_ 0123 ready\n")
    return folder


@pytest.fixture
def memory(tmp_path, work):
    with open_memory(tmp_path / "store" / "s.db", workspace=str(work)) as memory:
        memory.task_register("a task")
        yield memory


@pytest.fixture
def ask(memory, tmp_path):
    with door(memory, tmp_path / "tokens", tools="full") as client:
        yield client


def closed_paths(tmp_path, work, ask) -> dict[str, str]:
    """Ways to files that are closed to everyone or outside the workspace, and to some that do not exist."""
    secret = tmp_path / "secret.txt"
    secret.write_text("rb_user_ outside\n")
    os.makedirs(user_folder("data"), exist_ok=True)
    inside = os.path.join(user_folder("data"), "webhook.key")
    with open(inside, "w") as file:
        file.write("rb_user_ key\n")
    (work / "link").symlink_to(secret)
    (work / "dangling").symlink_to(tmp_path / "nothing")
    (work / "folder").symlink_to(tmp_path)
    (work / "tokens").symlink_to(ask.token_path)
    os.link(ask.token_path, work / "hard")
    os.link(inside, work / "hard-key")
    (work / "proc").symlink_to("/proc/self")
    return {
        "outside": str(secret),
        "outside, missing": str(tmp_path / "nothing"),
        "dots": "../secret.txt",
        "dots inside": f"{work}/x/../../secret.txt",
        "link": "link",
        "dangling link": "dangling",
        "linked folder": "folder/secret.txt",
        "linked folder, missing": "folder/nothing",
        "tokens": ask.token_path,
        "linked tokens": "tokens",
        "hard link": "hard",
        "hard link to a key": "hard-key",
        "our data": inside,
        "our data, missing": os.path.join(user_folder("data"), "nothing"),
        "our settings": os.path.join(user_folder("config"), "config.toml"),
        "store": str(tmp_path / "store" / "s.db"),
        "write-ahead log": str(tmp_path / "store" / "s.db-wal"),
        "shadow": "/etc/shadow",
        "etc, missing": "/etc/no-such-file",
        "root link": f"/proc/self/root{secret}",
        "own handle": f"/proc/{os.getpid()}/fd/0",
        "environment": "/proc/self/environ",
        "linked environment": "proc/environ",
        "device": "/dev/null",
        "home": "~/.bashrc",
        "twice": f"//{secret}",
    }


LOOKS = [
    ("file", None), ("file", "exists"), ("file", "gone"), ("file", "changed"), ("file", "stable"),
    ("file", "contains rb_user_"), ("file", "matches rb_user_[0-9a-f]"), ("log", "grows"),
    ("log", "contains rb_user_"), ("log", "matches ."),
]  # fmt: skip


def shape(answer) -> tuple:
    return answer.status, answer.body


def test_every_look_at_a_closed_file_is_refused_with_the_same_words(ask, memory, tmp_path, work):
    """Whether or not it exists, whatever is asked of it, over HTTP and MCP, alone and in a group."""
    groups = ("{}", "not({})", "any({}, time:9h)", "all({}, manual:)")
    seen = set()
    for way, path in closed_paths(tmp_path, work, ask).items():
        for kind, until in LOOKS:
            for group in groups:
                single = f"{kind}:{path}" + (f" until {until}" if until and group != "{}" else "")
                given = {"target": group.format(single), "block": False}
                if until and group == "{}":
                    given["until"] = until
                answer = ask("POST", "/api/smart_wait", given)
                assert (answer.status, answer.error["code"]) == (403, "look_refused"), (way, given)
                seen.add(shape(answer))
        result = tool_call(ask, "smart_wait", {"target": f"file:{path}", "block": False}, "write")
        assert tool_error(result) == "look_refused", way
        seen.add(result["content"][0]["text"])
    assert len(seen) == 2  # one answer over HTTP, one over MCP
    assert not memory.wait_status()
    for kind, until in LOOKS:  # the same looks are possible at what is open
        given = {"target": f"{kind}:own.txt", "block": False, **({"until": until} if until else {})}
        assert ask("POST", "/api/smart_wait", given).status == 200, given


def test_the_users_secret_cannot_be_read_digit_by_digit(ask, memory, work, tmp_path):
    """The attack as it was: name a workspace in a header, and ask for the token one digit at a time."""
    folder = os.path.dirname(ask.token_path)
    for digit in "0123456789abcdef":
        target = {"target": "file:tokens.json", "until": f"matches rb_user_{digit}", "timeout": 0}
        for headers in ({}, {"X_Ringbolt_Workspace": folder}, {"Ringbolt_Workspace": folder}):
            answer = ask("POST", "/api/smart_wait", target, **headers)
            # Without the header it is a file of the workspace, which does not exist.
            expected = (403, None) if "X_Ringbolt_Workspace" in headers else (200, "timeout")
            state = answer.json.get("data", {}).get("state")
            assert (answer.status, state) == expected
    bound = ask.token("bound", workspaces=[folder], powers=["files"])
    assert memory.workspace != folder
    answer = ask("POST", "/api/smart_wait", {"target": "file:tokens.json", "until": "matches ."}, token=bound)
    assert answer.error["code"] == "look_refused"  # even for a token of that very folder
    (tmp_path / "tokens" / "other.txt").write_text("ready")
    task = ask.call("task_register", token=bound, name="x")["task_id"]
    given = {"target": "file:other.txt", "until": "contains ready", "task_id": task}
    assert ask.call("smart_wait", token=bound, **given)["state"] == "resolved"


def test_an_anchor_and_a_criterion_tell_no_more_than_a_wait(ask, memory, tmp_path, work):
    paths = closed_paths(tmp_path, work, ask)
    seen = set()
    for way, path in paths.items():
        given = {"summary": "s", "anchors": [path]}
        answer = ask("POST", "/api/task_remember", given)
        assert (answer.status, answer.error["code"]) == (400, "invalid_argument"), way
        goal = ask.call("goal_create", name="g", criteria=[{"check": "file", "target": path}])["task_id"]
        (criterion,) = ask.call("goal_check", goal_id=goal)["criteria"]
        seen.add((criterion["status"], criterion["evidence"]))
    assert seen == {("open", REFUSED)}
    assert ask("POST", "/api/task_remember", {"summary": "s", "anchors": ["own.txt"]}).status == 200
    goal = ask.call("goal_create", name="g", criteria=[{"check": "file", "target": "own.txt"}])["task_id"]
    assert ask.call("goal_check", goal_id=goal)["criteria"][0]["status"] == "met"


def test_a_task_that_is_said_to_be_elsewhere_opens_no_folder_there(ask, memory, tmp_path):
    """The workspace of a task is only a name: an entry of it cites no file there."""
    folder = os.path.dirname(ask.token_path)
    task = ask.call("task_register", name="x", workspace=folder)["task_id"]
    given = {"task_id": task, "summary": "s", "anchors": ["tokens.json"]}
    assert ask("POST", "/api/task_remember", given).status == 400
    forged = memory.acting_as(workspace=folder, grant=LOCAL)
    (tmp_path / "tokens" / "plain.txt").write_text("x")
    forged.task_remember(task, "cites a file", anchors=["plain.txt"])
    hits = ask.call("task_recall", query="cites a file", workspace="*", token="read")["hits"]
    assert [anchor["state"] for hit in hits for anchor in hit["anchors"]] == ["unverifiable"]


def test_a_file_that_becomes_a_link_after_the_wait_began_is_not_followed(ask, memory, tmp_path, work):
    secret = tmp_path / "secret.txt"
    secret.write_text("ready")
    waits = {
        until: ask.call("smart_wait", target="file:later", until=until, block=False)["wait_id"]
        for until in ("exists", "contains ready", "changed")
    }
    (work / "later").symlink_to(secret)
    Worker(memory).run_once()
    for wait in waits.values():
        found = memory.wait_status(wait)[0]
        assert (found.state, found.result) == ("error", REFUSED)


def test_the_operator_can_open_a_folder_and_our_own_files_stay_closed(tmp_path, work):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "app.log").write_text("ready")
    with (
        open_memory(
            tmp_path / "store" / "s.db", workspace=str(work), wait_folders=f"workspace,{logs},/"
        ) as memory,
        door(memory, tmp_path / "tokens") as ask,
    ):
        memory.task_register("a task")
        for path in (logs / "app.log", "/etc/hostname"):
            until = "contains ready" if path == logs / "app.log" else "exists"
            assert ask.call("smart_wait", target=f"file:{path}", until=until)["state"] == "resolved"
        for way, path in closed_paths(tmp_path, work, ask).items():
            if any(
                word in way for word in ("token", "our", "store", "write-ahead", "hard", "environment", "own")
            ):
                answer = ask("POST", "/api/smart_wait", {"target": f"file:{path}", "block": False})
                assert answer.error["code"] == "look_refused", way


def test_a_workspace_that_is_the_whole_disk_or_a_home_opens_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x").write_text("ready")
    for workspace in ("/", str(tmp_path)):
        with open_memory(tmp_path / "store" / "s.db", workspace=workspace) as memory:
            agent = memory.acting_as(grant=AGENT)
            agent.task_register("a task")
            with pytest.raises(NotAllowed):
                agent.smart_wait(f"file:{tmp_path}/x", block=False)


# --- displays, commands, network --------------------------------------------------------------------


def test_terminals_screens_windows_processes_commands_and_addresses_are_closed_to_the_write_token(ask):
    targets = [
        "terminal:0", "terminal:%1", "screen:", "screen::0", "window:Mail", f"process:{os.getpid()}",
        "process:999999", 'command:["id"]', "port:127.0.0.1:1", "port:localhost:80", "https://example.com/",
        "http://127.0.0.1:1/", "http://169.254.169.254/", "port:[::1]:22",
    ]  # fmt: skip
    seen = set()
    for target in targets:
        for given in (target, f"not({target})", f"any({target}, manual:)"):
            answer = ask("POST", "/api/smart_wait", {"target": given, "block": False})
            assert (answer.status, answer.error["code"]) == (403, "look_refused"), target
            seen.add(shape(answer))
    assert len(seen) == 1
    for name, given in (
        ("smart_wait", {"target": "manual:", "block": False, "callback_url": "https://example.com/"}),
        ("smart_wait", {"target": "manual:", "block": False, "command": ["true"]}),
        ("task_register", {"name": "x", "callback_url": "https://example.com/"}),
        ("goal_create", {"name": "x", "criteria": ["c"], "callback_url": "https://example.com/"}),
        ("goal_create", {"name": "x", "criteria": [{"check": "command", "target": ["id"]}]}),
        ("goal_create", {"name": "x", "criteria": [{"check": "http", "target": "https://example.com/"}]}),
    ):
        assert ask("POST", f"/api/{name}", given).error["code"] == "look_refused", (name, given)
    for target in ("manual:", "time:1h", "task:0"):
        assert ask("POST", "/api/smart_wait", {"target": target, "block": False}).status != 403


def test_a_terminal_is_read_with_the_power_and_not_without(tmp_path, work, monkeypatch):
    needed("tmux", "tmux")
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    import subprocess

    subprocess.run(["tmux", "-L", "default", "new-session", "-d", "-s", "t", "cat"], check=True)
    try:
        with open_memory(tmp_path / "s.db", workspace=str(work)) as memory, door(memory, tmp_path) as ask:
            memory.task_register("a task")
            can = ask.token("can", powers=["displays"])
            given = {"target": "terminal:t", "until": "stable", "block": False}
            assert ask("POST", "/api/smart_wait", given, token=can).status == 200
            assert ask("POST", "/api/smart_wait", given, token="write").error["code"] == "look_refused"
    finally:
        subprocess.run(["tmux", "-L", "default", "kill-server"], check=False)


def test_a_wait_keeps_the_powers_of_its_caller_whoever_checks_it(tmp_path, work):
    """A user's worker has every power; it lends none of them to an agent's wait."""
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            received.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        with open_memory(
            tmp_path / "s.db", workspace=str(work), wait_private="on", wait_commands="on"
        ) as memory:
            task = memory.task_register("a task").task_id
            limited = memory.acting_as(grant=Grant(access="write", powers=("egress",)))
            wait = limited.smart_wait(f"{url}/once", task_id=task, block=False).wait_id
            forged = f'any({url}/again, file:/etc/hostname, command:["true"])'
            with pytest.raises(NotAllowed):
                limited.smart_wait(forged, task_id=task, block=False)
            with pytest.raises(NotAllowed):
                memory.acting_as(grant=Grant(access="write", powers=())).wait_update(wait, until="answers")
            Worker(memory).run_once()
            assert memory.wait_status(wait)[0].state == "resolved"
            assert received == ["/once"]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_settings_close_what_a_token_may(tmp_path, work):
    with (
        open_memory(tmp_path / "s.db", workspace=str(work), wait_displays="off", wait_urls="off") as memory,
        door(memory, tmp_path) as ask,
    ):
        memory.task_register("a task")
        for target in ("terminal:0", f"process:{os.getpid()}", "https://example.com/", "port:localhost:1"):
            answer = ask("POST", "/api/smart_wait", {"target": target, "block": False}, token="user")
            assert answer.error["code"] == "look_refused", target


# --- the local doors --------------------------------------------------------------------------------


def test_the_stdio_server_looks_at_its_folder_and_nowhere_else(tmp_path, work):
    secret = tmp_path / "secret.txt"
    secret.write_text("ready")
    (work / "log.txt").write_text("ready")
    environ = {**os.environ, "RINGBOLT_STORE": str(tmp_path / "s.db")}
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "ringbolt", "mcp"], env=environ, cwd=str(work)
    )

    async def story():
        async with Client(program, mode="legacy") as client:
            assert not (await client.call_tool("task_register", {"name": "x"})).is_error
            inside = await client.call_tool("smart_wait", {"target": "file:log.txt", "timeout": 5})
            outside = [
                await client.call_tool("smart_wait", {"target": target, "timeout": 5})
                for target in (f"file:{secret}", "file:/etc/shadow", "file:../secret.txt")
            ]
            return inside, outside

    inside, outside = anyio.run(story)
    assert "resolved" in inside.content[0].text
    assert {result.is_error for result in outside} == {True}
    assert all("look_refused" in result.content[0].text for result in outside)


def test_one_who_runs_the_library_sees_files_come_and_go_but_reads_only_the_workspace(memory, tmp_path):
    """A program can look for itself, but its waits read nothing that its workspace does not hold."""
    (tmp_path / "done").write_text("secret")
    assert memory.smart_wait(f"file:{tmp_path}/done", timeout=5).state == "resolved"
    for target in (f"file:{tmp_path}/done", f"log:{tmp_path}/done"):
        with pytest.raises(NotAllowed):
            memory.smart_wait(target, until="contains secret", block=False)
    with pytest.raises(NotAllowed):
        memory.smart_wait(f"file:{user_folder('data')}/tokens.json", block=False)


# --- rate and audit ---------------------------------------------------------------------------------


def test_one_who_is_refused_again_and_again_is_stopped_and_written_down(ask, memory, monkeypatch, tmp_path):
    monkeypatch.setattr(gates, "MOST_REFUSED", 5)
    monkeypatch.setattr(REFUSALS, "_times", {})
    codes = [
        ask("POST", "/api/smart_wait", {"target": f"file:/etc/{number}", "block": False}).error["code"]
        for number in range(8)
    ]
    assert codes == ["look_refused"] * 5 + ["too_many_looks"] * 3
    stopped = ask("POST", "/api/smart_wait", {"target": "file:own.txt", "block": False})
    assert stopped.status == 429  # also what is allowed otherwise
    assert (
        ask("POST", "/api/smart_wait", {"target": "file:own.txt", "block": False}, token="user").status == 200
    )
    with open(audit_path(), encoding="utf-8") as file:
        written = [json.loads(line) for line in file]
    assert [row["target"] for row in written] == [f"file:/etc/{number}" for number in range(5)]
    assert {row["caller"].split()[0] for row in written} == {"write"}
    assert os.stat(audit_path()).st_mode & 0o077 == 0


def test_what_the_gate_reads_of_a_case_blind_file_system_is_the_same_file(tmp_path):
    """Where case does not matter, another spelling is another path of the same folder."""
    own, alias = tmp_path / "Data", tmp_path / "alias"
    own.mkdir()
    (own / "tokens.json").write_text("x")
    gate = gates.Gate(powers=tuple(POWERS), folders=(str(tmp_path),), own=(str(own),))
    alias.symlink_to(own)  # stands for /data: another name, which realpath would not fold on such a system
    status = os.stat(own / "tokens.json")
    assert gate._is_own(str(alias / "tokens.json"), status)
    assert not gate._is_own(str(tmp_path / "data" / "tokens.json"), None)
    assert gate.allows_file(str(tmp_path / "plain"), content=True)


def test_a_copy_of_the_secret_is_not_our_file(tmp_path, work, ask):
    """A positive control: the gate closes files, not texts."""
    shutil.copy(ask.token_path, work / "copy")
    secret = read_tokens(ask.token_path)["user"]
    found = ask.call("smart_wait", target="file:copy", until=f"contains {secret[:12]}")
    assert found["state"] == "resolved"


def test_no_socket_of_ours_is_opened_by_a_refused_look(ask):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(0.2)
        for target in (f"port:127.0.0.1:{port}", f"http://127.0.0.1:{port}/", f"http://localhost:{port}/"):
            ask("POST", "/api/smart_wait", {"target": target, "timeout": 1})
        with pytest.raises(TimeoutError):
            server.accept()
        can = ask.token("can", powers=["egress"])
        given = {"target": f"port:127.0.0.1:{port}", "timeout": 5}
        assert ask.call("smart_wait", token=can, **given)["state"] == "resolved"
        server.accept()[0].close()
