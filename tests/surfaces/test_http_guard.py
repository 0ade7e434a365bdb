"""The attack suite: nobody gets in from elsewhere, without a token, or with one that may not do this."""

from __future__ import annotations

import json
import logging
import os
import stat

import pytest

from ringbolt.config import Settings
from ringbolt.model.errors import InvalidInput, StoreError
from ringbolt.operations import OPERATIONS
from ringbolt.surfaces.http import auth
from ringbolt.surfaces.http.app import serve
from ringbolt.surfaces.http.guard import host_names, origin_names
from ringbolt.surfaces.http.routes import RESOURCES
from tests.core.calls import ELSEWHERE, ON_A_TASK, READS, WRITES
from tests.support import contents, open_memory
from tests.surfaces.http_support import serving

OVER_HTTP = [name for name, operation in OPERATIONS.items() if operation.http]
PATHS = [one.path.replace("{id}", "x") for one in RESOURCES] + [
    "/api/events", "/api/tasks/x/events", "/metrics", "/openapi.json", "/mcp", "/nowhere",
    "/api/overview", "/api/activity", "/api/doctor", "/api/system", "/api/tasks/x/handoff.md",
    *(f"/api/tasks/x/{name}" for name in ("moments", "timeline", "records", "past", "drill")),
]  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("http")
    with open_memory(folder / "store.db", workspace=None, http_max_body_bytes=20_000) as memory:
        memory.task_register("Deploy", ["Build", "Push"])
        yield memory


@pytest.fixture(scope="module")
def ask(memory, tmp_path_factory):
    with serving(memory, tmp_path_factory.mktemp("tokens") / "tokens.json") as client:
        yield client


@pytest.fixture(autouse=True)
def nothing_is_written(memory):
    before = contents(memory)
    yield
    assert contents(memory) == before


# --- tokens and scopes ------------------------------------------------------------------------------


def test_a_token_that_may_only_read_writes_nothing(ask):
    arguments = {**WRITES, **ON_A_TASK, **ELSEWHERE, **READS}
    for name in OVER_HTTP:
        if OPERATIONS[name].scope == "write":
            given = json.loads(json.dumps(arguments.get(name, {}), default=str))
            answer = ask("POST", f"/api/{name}", given, token="read")
            assert (answer.status, answer.error["code"]) == (403, "wrong_scope"), name
    assert ask("GET", "/active-tasks?render=1", token="read").error["code"] == "wrong_scope"
    assert ask("POST", "/api/active_tasks", {"render": "yes"}, token="read").status == 403
    assert ask("GET", "/active-tasks?render=0", token="read").status == 200


def test_without_a_token_nothing_is_told_but_the_health(ask):
    for path in [
        *PATHS,
        *(f"/api/{name}" for name in OVER_HTTP),
        "/health/",
        "//health",
        "/health/../metrics",
    ]:
        for method in ("GET", "POST", "HEAD", "OPTIONS"):
            answer = ask(method, path, {} if method == "POST" else None, token=None)
            assert answer.status == 401, (method, path)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert method == "HEAD" or answer.error["code"] == "no_token"
    assert ask("GET", "/health", token=None).json == {"ok": True}


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Bearer {write}x",
        "Basic {write}",
        "{write}",
        "Bearer {wr}",
        "Bearer \xe9",
    ],
)
def test_what_is_no_token_opens_nothing(ask, header):
    write = ask.tokens["write"]
    given = header.format(write=write, wr=write[:-1])
    assert (
        ask("GET", f"/api/tasks?access_token={write}&token={write}", Authorization=given, token=None).status
        == 401
    )


def test_two_tokens_are_none(ask):
    both = ask.head(
        "GET /api/tasks HTTP/1.1", f"Authorization: Bearer {ask.tokens['read']}", "Connection: close"
    )
    assert ask.raw(both).startswith(b"HTTP/1.1 401 ")


def test_the_tokens_are_in_a_file_of_their_owner_alone(tmp_path, monkeypatch):
    path = tmp_path / "data" / "tokens.json"
    made = auth.make_tokens(str(path))
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert auth.make_tokens(str(path)) == auth.read_tokens(str(path)) == made
    path.chmod(0o640)
    with pytest.raises(InvalidInput, match="Other users can read"):
        auth.read_tokens(str(path))
    path.chmod(0o600)
    path.write_text('{"read": "x"}')
    with pytest.raises(InvalidInput, match="does not contain"):
        auth.read_tokens(str(path))
    with pytest.raises(InvalidInput, match="no token kind"):
        auth.rotate_tokens(str(path), ("admin",))


def test_a_token_that_was_replaced_is_refused_at_once(tmp_path):
    with open_memory(tmp_path / "s.db") as memory, serving(memory, tmp_path / "tokens.json") as ask:
        new = auth.rotate_tokens(str(tmp_path / "tokens.json"), ("write",))
        assert ask("GET", "/api/tasks").status == 401
        assert ask("GET", "/api/tasks", token="read").status == 200
        assert ask("GET", "/api/tasks", Authorization=f"Bearer {new['write']}").status == 200
        os.unlink(tmp_path / "tokens.json")
        assert ask("GET", "/api/tasks", token="read").status == 401


def test_who_writes_is_told_by_the_token_and_by_nothing_else(tmp_path):
    claims = {"X_Ringbolt_Channel": "user", "X_Ringbolt_Principal": "root", "X_Ringbolt_Agent": "coder"}
    with open_memory(tmp_path / "s.db") as memory, serving(memory, tmp_path / "tokens.json") as ask:
        for token, channel in (("write", "agent"), ("user", "user")):
            task = ask.call("task_register", name="x", token=token, headers=claims)["task_id"]
            origin = next(memory.events(task)).origin
            assert (origin.channel, origin.principal, origin.agent) == (channel, "owner", "coder")


# --- where a request comes from ---------------------------------------------------------------------


HOSTS = """evil.com evil.com:{port} 127.0.0.1 127.0.0.1:1 localhost:{port}.evil.com 127.0.0.1:{port}@evil.com
    [::2]:{port} 127.1:{port} 0.0.0.0:{port}""".split()


@pytest.mark.parametrize("host", HOSTS)
def test_another_name_is_not_answered(ask, host):
    for path in ("/api/tasks", "/health"):
        answer = ask("GET", path, Host=host.format(port=ask.port))
        assert (answer.status, answer.error["code"]) == (421, "wrong_host")


def test_a_request_has_one_name(ask):
    for lines in (["Host: evil.com"], [f"Host: 127.0.0.1:{ask.port}"]):
        said = ask.raw(ask.head("GET /health HTTP/1.1", *lines, "Connection: close"))
        assert said.startswith((b"HTTP/1.1 421 ", b"HTTP/1.1 400 "))
    assert ask.raw(b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421 ")
    absolute = ask.head("GET http://evil.com/api/tasks HTTP/1.1", "Connection: close")
    assert ask.raw(absolute).startswith(b"HTTP/1.1 404 ")


def test_its_own_names_are_answered(ask):
    for host in ("127.0.0.1", "localhost", "LocalHost", "[::1]"):
        assert ask("GET", "/health", Host=f"{host}:{ask.port}").status == 200
    assert host_names("::1", 80, "box, other:99") == {
        b"127.0.0.1:80", b"127.0.0.1", b"localhost:80", b"localhost", b"[::1]:80", b"[::1]", b"box",
        b"box:80",
        b"other:99",
    }  # fmt: skip
    assert origin_names("https://Tools.example:443/, http://a:81") == {
        b"https://tools.example",
        b"http://a:81",
    }


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.com"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://localhost:{port}"},  # another name than the one it was called by
        {"Origin": "http://127.0.0.1:{port}.evil.com"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_a_web_page_from_elsewhere_gets_nothing(ask, headers):
    given = {name: value.format(port=ask.port) for name, value in headers.items()}
    for method, path in (
        ("GET", "/api/tasks"),
        ("POST", "/api/task_register"),
        ("OPTIONS", "/api/task_register"),
    ):
        answer = ask(method, path, {"name": "x"} if method == "POST" else None, **given)
        assert (answer.status, answer.error["code"]) == (403, "wrong_origin")
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_its_own_page_is_answered_and_no_browser_is_let_in_further(ask):
    own = f"http://127.0.0.1:{ask.port}"
    for answer in (
        ask("GET", "/api/tasks", Origin=own, Sec_Fetch_Site="same-origin"),
        ask("GET", "/nowhere"),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "server" not in answer.headers


# --- bodies -----------------------------------------------------------------------------------------


KINDS = [
    "text/plain", "text/plain; charset=application/json", "application/x-www-form-urlencoded",
    "multipart/form-data", "application/jsonp", "",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_only_json_is_read(ask, kind):
    answer = ask("POST", "/api/task_register", {"name": "x"}, Content_Type=kind)
    assert (answer.status, answer.error["code"]) == (415, "wrong_type")
    gzip = ask("POST", "/api/task_register", {"name": "x"}, Content_Encoding="gzip")
    assert gzip.error["code"] == "wrong_type"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid_json"),
        (b"\xff\xfe{}", "invalid_json"),
        (b"[" * 19_000, "invalid_json"),
        (b'{"name": NaN}', "invalid_json"),
        (b'{"name": ' + b"1" * 9000 + b"}", "invalid_json"),
        (b"[]", "invalid_argument"),
        (b'"name"', "invalid_argument"),
        (b'{"name": "\\ud800"}', "invalid_text"),
        (b'{"name": {"a": 1}}', "invalid_argument"),
        (b'{"nam": "x"}', "invalid_argument"),
        (b'{"name": "x", "self": 1}', "invalid_argument"),
    ],
)
def test_a_body_that_cannot_be_meant_is_refused(ask, body, code):
    answer = ask("POST", "/api/task_register", body)
    assert (answer.status, answer.error["code"]) == (400, code)


def test_a_body_that_is_too_large_is_not_read(ask):
    declared = ask.head(
        "POST /api/task_register HTTP/1.1", "Content-Type: application/json", "Content-Length: 99999999"
    )
    said = ask.raw(declared)  # the server closes: it waits for nothing more
    assert said.startswith(b"HTTP/1.1 413 ")
    assert b'"too_large"' in said
    chunked = ask.head(
        "POST /api/task_register HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked"
    )
    assert ask.raw(chunked + b"7530\r\n" + b" " * 30_000).startswith(b"HTTP/1.1 413 ")
    assert ask("POST", "/api/task_register", {"name": "x" * 19_000}).error["code"] == "too_large"


def test_headers_are_bounded(ask):
    for more in ("X-Long: " + "x" * 40_000, "\r\n".join(f"X-{number}: x" for number in range(9000))):
        said = ask.raw(ask.head("GET /health HTTP/1.1", more, "Connection: close"))
        assert said.startswith(b"HTTP/1.1 400 ")


def test_one_who_is_slow_on_purpose_is_cut_off(tmp_path):
    with (
        open_memory(tmp_path / "s.db", http_request_seconds=0.2) as memory,
        serving(memory, tmp_path / "tokens.json") as ask,
    ):
        head = ask.head(
            "POST /api/task_register HTTP/1.1", "Content-Type: application/json", "Content-Length: 50"
        )
        said = ask.raw(head + b'{"name"')
        assert said.startswith(b"HTTP/1.1 408 ")
        assert b'"too_slow"' in said
        assert ask.raw(b"GET /health HT") == b""
        assert ask.raw(b"") == b""
        assert ask("GET", "/health").status == 200
        ask.connection.sock.sendall(b"GET /hea")  # the head of a second request on the same connection
        assert ask.connection.sock.recv(1) == b""


# --- paths and methods ------------------------------------------------------------------------------


ASTRAY = [
    "/../../etc/passwd", "/api/../metrics", "/api/tasks/..%2f..%2f..%2fetc%2fpasswd",
    "/api/tasks/%2e%2e/state.yaml", "/api/tasks/%00/resume", "/api/%2e%2e%2fmetrics", "/api/tasks/%E2%80%AE",
    "/api/tasks/" + "x" * 5000, "/api//task_list", "/api/tasks/", "/api/task_get/", "/api/close",
    "/api/_find",
    "/api/backup", "/api/__class__", "/api/export_events", "/api/restore", "/static/..%5c..%5cx",
]  # fmt: skip


@pytest.mark.parametrize("path", ASTRAY)
def test_a_path_leads_nowhere_but_to_a_route(ask, path):
    for method, body in (("GET", None), ("POST", {"path": "/etc/passwd"})):
        answer = ask(method, path, body)
        assert answer.status in (404, 405) or (answer.status, "%00" in path) == (400, True), (
            method,
            answer.status,
        )
        assert answer.error["code"] in ("no_route", "wrong_method", "task_not_found", "invalid_text")


def test_a_method_is_what_it_is(ask):
    for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD", "get", "FOO"):
        answer = ask(method, "/api/task_register", X_HTTP_Method_Override="POST")
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
    for path in ("/api/tasks", "/api/search", "/api/events", "/health", "/active-tasks"):
        answer = ask("POST", path, {})
        assert (answer.status, answer.error["code"]) == (405, "wrong_method")
        assert "GET" in answer.headers["allow"]
    head = ask("HEAD", "/api/tasks")
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["content-length"]) > 100
    assert ask("HEAD", "/api/events", Accept="text/event-stream").status == 200
    assert ask("GET", "/api/tasks", b'{"status": "all"}').error["code"] == "bad_request"


NAMES = [
    ("Session", "x" * 201), ("Workspace", "/" + "x" * 2000), ("Workspace", "."), ("Agent", "a\x7fb"),
    ("Session", "\xff"), ("Agent", "\xc2\x85"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), NAMES)
def test_a_name_that_cannot_be_one_is_refused(ask, name, value):
    answer = ask("GET", "/api/tasks", **{f"X_Ringbolt_{name}": value})
    assert (answer.status, answer.error["code"]) == (400, "bad_request")


def test_two_sessions_are_none(ask):
    both = ask.head(
        "GET /api/tasks HTTP/1.1", "X-Ringbolt-Session: a", "X-Ringbolt-Session: b", "Connection: close"
    )
    assert ask.raw(both).startswith(b"HTTP/1.1 400 ")


def test_a_websocket_is_not_opened(ask):
    upgrade = ask.head("GET /mcp HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade, close",
                       "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")  # fmt: skip
    assert not ask.raw(upgrade).startswith(b"HTTP/1.1 101")


# --- failing ----------------------------------------------------------------------------------------


def test_more_requests_than_wanted_are_sent_away(tmp_path):
    with (
        open_memory(tmp_path / "s.db", http_requests=1) as memory,
        serving(memory, tmp_path / "tokens.json") as ask,
        serving(memory, tmp_path / "tokens.json") as other,
    ):
        ask.connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {ask.tokens['read']}",
                                                              "Accept": "text/event-stream"})  # fmt: skip
        stream = ask.connection.getresponse()
        assert stream.readline() == b"retry: 1000\n"
        other.port, other.connection.port = ask.port, ask.port
        answer = other("GET", "/api/tasks")
        assert (answer.status, answer.error["code"], answer.headers["retry-after"]) == (503, "too_many", "1")


def test_a_store_that_is_gone_is_told_and_no_token_is_logged(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    memory = open_memory(tmp_path / "s.db")
    with serving(memory, tmp_path / "tokens.json") as ask:
        memory.close()
        assert ask("GET", "/health", token=None).json == {"ok": False}
        answer = ask("GET", "/api/tasks")
        assert (answer.status, answer.error["code"]) == (500, "store_closed")
        assert ask("GET", "/api/tasks", Authorization="Bearer wrong-token-of-someone").status == 401
    assert "the store cannot be read" in caplog.text
    for secret in (*ask.tokens.values(), "wrong-token-of-someone"):
        assert secret not in caplog.text


def test_other_machines_are_served_only_where_names_are_set(tmp_path):
    with pytest.raises(InvalidInput, match="Other machines can reach"):
        serve(str(tmp_path / "s.db"), host="0.0.0.0", port=0)
    with pytest.raises(StoreError, match="cannot listen"):
        serve(str(tmp_path / "s.db"), port=1 << 17)
    assert Settings().http_hosts == Settings().http_origins == ""
