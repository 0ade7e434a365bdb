"""Tokens: made, listed, rotated, expired and revoked, and bound to what the operator allowed."""

from __future__ import annotations

import json
import os

import pytest

from ringbolt.model.capabilities import POWERS
from ringbolt.model.errors import Conflict, InvalidInput, NotFound
from ringbolt.surfaces.http import auth
from tests.security.doors import door, tool_call, tool_error
from tests.support import Clock, open_memory
from tests.surfaces.command_line import data, run


@pytest.fixture
def memory(tmp_path):
    (tmp_path / "work").mkdir()
    with open_memory(tmp_path / "s.db", workspace=str(tmp_path / "work")) as memory:
        yield memory


def test_a_token_lives_from_its_making_to_its_end(memory, tmp_path):
    with door(memory, tmp_path) as ask:
        path = ask.token_path
        ask.token("ci", access="read", workspaces=[str(tmp_path / "work")])
        assert ask("GET", "/api/tasks", token="ci").status == 200
        with open(path, encoding="utf-8") as file:
            assert ask.tokens["ci"] not in file.read()  # only its digest
        old = ask.tokens["ci"]
        ask.tokens["ci"] = auth.rotate_token("ci", path=path)
        assert ask("GET", "/api/tasks", Authorization=f"Bearer {old}").status == 401
        assert ask("GET", "/api/tasks", token="ci").status == 200
        auth.revoke_token("ci", path=path)
        assert ask("GET", "/api/tasks", token="ci").status == 401
        auth.revoke_token("write", path=path)
        assert ask("GET", "/api/tasks", token="write").status == 401
        assert ask("GET", "/api/tasks", token="read").status == 200
        ask.tokens["write"] = auth.rotate_token("write", path=path)
        assert ask("GET", "/api/tasks", token="write").status == 200


def test_a_token_expires(tmp_path):
    path = str(tmp_path / "tokens.json")
    secret = auth.create_token("short", expires="1h", path=path).encode()
    import time

    clock = Clock(time.time())
    tokens = auth.Tokens(path, clock)
    assert tokens.caller(secret).kind == "short"
    clock.forward(3600)
    assert tokens.caller(secret) is None
    assert tokens.of_kind("short") is None  # nor do its sessions live on
    assert auth.rotate_token("short", expires="3h", path=path)


def test_the_last_use_is_known(memory, tmp_path):
    with door(memory, tmp_path) as ask:
        ask("GET", "/api/tasks", token="read")
        path = ask.token_path
    used = {token.name: token.last_used_at for token in auth.list_tokens(path)}
    assert used["read"]
    assert used["user"] is None
    assert os.stat(path + auth.USED).st_mode & 0o077 == 0


def test_what_cannot_be_a_token_is_refused(tmp_path):
    path = str(tmp_path / "tokens.json")
    for name in ("", "Ci", "a.b", "../x", "read", "user", "x" * 41, "a b"):
        with pytest.raises(InvalidInput):
            auth.create_token(name, path=path)
    for wrong in (
        {"access": "root"},
        {"powers": ["everything"]},
        {"workspaces": ["/no/such/folder"]},
        {"expires": "soon"},
    ):
        with pytest.raises(InvalidInput):
            auth.create_token("ci", path=path, **wrong)
    auth.create_token("ci", path=path)
    with pytest.raises(Conflict):
        auth.create_token("ci", path=path)
    for change in (auth.rotate_token, auth.revoke_token):
        with pytest.raises(NotFound):
            change("nobody", path=path)


def test_the_workspace_of_a_token_is_bound(memory, tmp_path):
    """No header and no argument leads out of it, over HTTP or MCP."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    with door(memory, tmp_path, tools="full") as ask:
        ask.token("one", workspaces=[str(here)])
        ask.token("two", workspaces=[str(here), str(there)])
        made = {
            token: memory.task_get(ask.call("task_register", name=token, token=token)["task_id"]).workspace
            for token in ("one", "two", "write")
        }
        assert made == {"one": str(here), "two": str(here), "write": memory.workspace}
        chosen = {"X_Ringbolt_Workspace": str(there)}
        task = ask.call("task_register", name="x", token="two", headers=chosen)["task_id"]
        assert memory.task_get(task).workspace == str(there)
        for token, place in (("one", str(there)), ("two", "/etc"), ("write", str(here)), ("user", "/etc")):
            for path, body in (("/api/task_register", {"name": "x"}), ("/api/task_list", {}), ("/mcp", {})):
                answer = ask("POST", path, body, token=token, X_Ringbolt_Workspace=place)
                assert (answer.status, answer.error["code"]) == (403, "wrong_workspace"), (token, path)
        for workspace in (str(there), "*", "/etc"):
            for name, given in (("task_list", {}), ("task_register", {"name": "x"}), ("task_recall", {})):
                answer = ask("POST", f"/api/{name}", {**given, "workspace": workspace}, token="one")
                assert (answer.status, answer.error["code"]) == (403, "wrong_workspace"), (name, workspace)
                result = tool_call(ask, name, {**given, "workspace": workspace}, "one")
                assert tool_error(result) == "wrong_workspace"
        assert ask("POST", "/api/task_list", {"workspace": str(here)}, token="one").status == 200
        given = {"text": "t", "scope": "global", "category": "decision"}
        assert ask("POST", "/api/memory_store", given, token="one").status == 403
        assert ask("POST", "/api/memory_store", given, token="write").status == 200


def test_the_user_manages_tokens_on_the_command_line_and_an_agent_does_not(tmp_path, monkeypatch):
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for words in (("create", "ci"), ("rotate", "write"), ("revoke", "write")):
        refused = run("token", *words)
        assert refused.exit_code == 6, words
        assert "wrong_scope" in refused.output
    assert [row["name"] for row in data("token", "list")] == ["read", "write", "user"]
    secret = run(
        "token", "create", "ci", "--allow", "files,egress", "--expires", "30d", "--as-user"
    ).stdout.strip()
    assert secret.startswith("rb_ci_")
    row = data("token", "list")[-1]
    assert (row["access"], row["workspaces"], row["powers"]) == ("write", [str(folder)], ["files", "egress"])
    assert row["expires_at"]
    assert "ci" in run("token", "list").output
    assert secret not in run("token", "list", "--json").output
    assert run("token", "rotate", "ci", "--as-user").stdout.strip() != secret
    assert run("token", "revoke", "ci", "--as-user").exit_code == 0
    assert run("token", "revoke", "ci", "--as-user").exit_code == 3
    every = json.loads(run("token", "create", "all", "--every-workspace", "--as-user", "--json").stdout)
    assert every["data"]["secret"]
    assert data("token", "list")[-1]["workspaces"] is None


def test_an_admin_token_acts_as_the_user_and_others_as_an_agent(memory, tmp_path):
    with door(memory, tmp_path) as ask:
        ask.token("boss", access="admin", powers=list(POWERS))
        ask.token("coder")
        for token, channel in (("boss", "user"), ("coder", "agent")):
            task = ask.call("task_register", name="x", token=token)["task_id"]
            assert next(memory.events(task)).origin.channel == channel
