"""The server's side of the web page: its files, its sessions, and what it reads, without a browser."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from ringbolt.surfaces.http.auth import Tokens, read_tokens, revoke_token, rotate_tokens
from ringbolt.surfaces.http.session import CODE_SECONDS, SECONDS, Sessions
from tests.support import Clock, open_memory
from tests.surfaces.http_support import serving

PAGE = {"X_Ringbolt_Page": "1", "Sec_Fetch_Site": "same-origin"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    with (
        open_memory(folder / "store.db", workspace=None) as memory,
        serving(memory, folder / "tokens.json") as client,
    ):
        client.path = str(folder / "tokens.json")
        client.task = memory.task_register("Deploy", ["Build", "Push"]).task_id
        yield client


def signed_in(ask, kind="user"):
    """The header of a new session."""
    answer = ask("POST", "/api/session", {"token": ask.tokens[kind]}, token=None, **PAGE)
    return f"Bearer {answer.data['session']}"


# --- files ------------------------------------------------------------------------------------------


def test_the_page_allows_itself_nothing_but_its_own_files(ask):
    page = ask("GET", "/", token=None)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "no-cache"
    text = page.body.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=|style=|https?:", text)


def test_files_are_kept_for_ever_under_the_name_of_their_content(ask):
    text = ask("GET", "/", token=None).body.decode()
    for path in re.findall(r'(?:src|href)="(/assets/[^"]+)"', text):
        plain = ask("GET", path, token=None)
        zipped = ask("GET", path, token=None, Accept_Encoding="gzip")
        assert plain.status == 200
        assert "immutable" in plain.headers["cache-control"]
        assert zipped.headers["content-encoding"] == "gzip"
        assert gzip.decompress(zipped.body) == plain.body
    folder = path.rpartition("/")[0]
    for wrong in (
        f"{folder}x/main.js",
        f"{folder}/../web_page.py",
        f"{folder}/%2e%2e/web_page.py",
        "/assets/",
    ):
        assert ask("GET", wrong, token=None).status == 404, wrong


def test_the_page_opens_from_a_link_on_another_site_and_nothing_else_does(ask):
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert ask("GET", "/", token=None, **link).status == 200
    assert ask("GET", "/", token=None, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors").status == 403
    assert ask("GET", "/api/tasks", **link).status == 403


# --- sessions ---------------------------------------------------------------------------------------


def test_a_session_is_no_cookie_and_not_the_token(ask):
    answer = ask("POST", "/api/session", {"token": f" {ask.tokens['user']}\n"}, token=None, **PAGE)
    assert "set-cookie" not in answer.headers
    session = answer.data["session"]
    assert ask.tokens["user"] not in session
    told = ask("GET", "/api/session", token=None, Authorization=f"Bearer {session}").data
    assert (told["kind"], told["scopes"]) == ("user", ["admin", "read", "write"])
    for cookie in (f"ringbolt_{ask.port}={session}", f"session={session}"):
        assert ask("GET", "/api/session", token=None, Cookie=cookie).status == 401


@pytest.mark.parametrize("body", [{}, {"token": "wrong"}, {"token": 1}, [], "{", {"token": "\ud800é"}])
def test_signing_in_needs_a_token_of_ours(ask, body):
    answer = ask("POST", "/api/session", body, token=None, **PAGE)
    assert answer.status in (400, 401)
    assert "session" not in answer.json


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        (PAGE, True),
        ({"X_Ringbolt_Page": "1", "Origin": "http://127.0.0.1:{port}"}, True),
        ({"X_Ringbolt_Page": "1"}, False),
        ({"Sec_Fetch_Site": "same-origin"}, False),
        ({"X_Ringbolt_Page": "1", "Sec_Fetch_Site": "same-site"}, False),
        ({"X_Ringbolt_Page": "1", "Sec_Fetch_Site": "cross-site"}, False),
        ({"X_Ringbolt_Page": "1", "Origin": "http://127.0.0.1:1"}, False),
        ({"X_Ringbolt_Page": "1", "Origin": "null"}, False),
    ],
)
def test_a_session_writes_only_for_the_page_itself(ask, headers, allowed):
    session = signed_in(ask)
    sent = {name: value.format(port=ask.port) for name, value in headers.items()}
    answer = ask("POST", "/api/task_update", {"message": "x"}, token=None, Authorization=session, **sent)
    assert answer.status == (200 if allowed else 403), answer.body
    signing = ask("POST", "/api/session", {"token": ask.tokens["user"]}, token=None, **sent)
    assert signing.status == (200 if allowed else 403)
    if not allowed:
        assert answer.error["code"] == "wrong_origin"


def test_what_writes_by_being_read_needs_the_page_too(ask):
    session = signed_in(ask)
    assert ask("GET", "/active-tasks", token=None, Authorization=session).status == 200
    assert ask("GET", "/active-tasks?render=1", token=None, Authorization=session).status == 403


def test_a_session_writes_as_the_one_whose_token_it_stands_for(ask):
    session = signed_in(ask, "user")
    sent = {"Authorization": session, **PAGE}
    ask("POST", "/api/task_update", {"message": "mine"}, token=None, **sent)
    (event,) = ask.call("task_thread", limit=1)["events"]
    assert event["origin"]["channel"] == "user"
    reader = signed_in(ask, "read")
    answer = ask("POST", "/api/task_update", {"message": "x"}, token=None, Authorization=reader, **PAGE)
    assert answer.error["code"] == "wrong_scope"


def test_a_session_ends_by_signing_out_and_with_its_token(ask):
    first, second = signed_in(ask), signed_in(ask)
    assert ask("DELETE", "/api/session", token=None, Authorization=first).status == 403
    assert ask("DELETE", "/api/session", token=None, Authorization=first, **PAGE).status == 200
    assert ask("GET", "/api/session", token=None, Authorization=first).status == 401
    assert ask("GET", "/api/session", token=None, Authorization=second).status == 200
    ask.tokens |= rotate_tokens(ask.path, ("user",))
    assert ask("GET", "/api/session", token=None, Authorization=second).status == 401
    assert ask("GET", "/api/session", token=None, Authorization=signed_in(ask)).status == 200


def test_a_sign_in_link_works_once_soon_and_only_for_the_page(tmp_path):
    clock = Clock()
    sessions = Sessions(Tokens(str(tmp_path / "tokens.json")), clock)
    code, late = sessions.new_code().encode(), sessions.new_code().encode()
    assert sessions.exchange(b"") is sessions.exchange(code[:-1]) is None
    session = sessions.exchange(code)[0].encode()
    assert sessions.read(session).caller.kind == "user"
    assert sessions.exchange(code) is None
    clock.forward(CODE_SECONDS)
    assert sessions.exchange(late) is None
    revoked = sessions.new_code().encode()
    revoke_token("user", path=str(tmp_path / "tokens.json"))
    assert sessions.exchange(revoked) is None


def test_a_code_signs_in_over_http(ask):
    code = ask.sessions.new_code()
    assert ask("POST", "/api/session", {"code": code}, token=None).status == 403
    answer = ask("POST", "/api/session", {"code": code}, token=None, **PAGE)
    assert answer.data["kind"] == "user"
    again = ask("POST", "/api/session", {"code": code}, token=None, **PAGE)
    assert (again.status, again.error["code"]) == (401, "no_token")
    assert "used before" in again.error["message"]


def test_a_session_ends_in_time_and_cannot_be_made_up(tmp_path):
    clock = Clock()
    tokens = Tokens(str(tmp_path / "tokens.json"))
    sessions = Sessions(tokens, clock)
    secret = read_tokens(tokens.path)["user"].encode()
    session = sessions.open(secret)[0].encode()
    assert sessions.read(session) is not None
    prefix, kind, expires, rest = session.split(b".", 3)
    longer = b".".join((prefix, kind, str(int(expires) + 1).encode(), rest))
    other = b".".join((prefix, b"read", expires, rest))
    for forged in (
        longer,
        other,
        session[:-1],
        session + b"0",
        b"",
        b"...",
        b"rbs.user.x.y.z",
        b"\xff",
        b"a" * 5000,
    ):
        assert sessions.read(forged) is None, forged
    assert Sessions(tokens, clock).read(session) is not None  # a restart changes nothing
    clock.forward(SECONDS)
    assert sessions.read(session) is None


# --- what it reads ----------------------------------------------------------------------------------


@pytest.fixture
def told(opened, store_url, tmp_path):
    """A memory on each engine, and a client of a server on it."""
    memory = opened(store_url)
    with serving(memory, tmp_path / "tokens.json") as client:
        yield memory, lambda path: client("GET", path, token="read").data


def test_an_overview_has_what_people_look_for(told):
    memory, get = told
    first = memory.task_register("Deploy", ["Build", "Push"], tags=["shop"]).task_id
    memory.task_update(first, "on it", step=1, step_status="active")
    memory.task_remember(first, "Which registry?", type="question")
    memory.task_intent(first, what="push", verify="look")
    second = memory.acting_as(agent="other").task_register("Write").task_id
    memory.task_finish(second, answer="done")
    found = get("/api/overview")
    cards = {card["id"]: card for card in found["tasks"]}
    card = cards[first]
    assert (card["agent"], card["tags"], card["questions"], card["effects"]) == ("tester", ["shop"], 1, 1)
    assert (card["current_title"], card["done"], card["total"]) == ("Build", 0, 2)
    assert cards[second]["status"] == "completed"
    assert found["counts"] == {"active": 1, "completed": 1}
    (one,) = get(f"/api/overview?ids={second},nowhere")["tasks"]
    assert one["id"] == second


def test_an_overview_has_goals_and_says_who_holds_what_and_what_people_decide(told):
    memory, get = told
    goal = memory.goal_create("Ship", ["It is out", "It is liked"]).task_id
    user = memory.acting_as(channel="user")
    user.goal_decide(goal, memory.goal_status(goal)[0].criteria[0].seq, "met")
    task = memory.task_register("Deploy").task_id
    memory.task_claim(task)
    memory.smart_wait(target="file:/nowhere", task_id=task, block=False)
    memory.smart_wait(target="any(manual:go, file:/nowhere)", task_id=task, block=False)
    cards = {card["id"]: card for card in get("/api/overview")["tasks"]}
    assert (cards[goal]["kind"], cards[goal]["done"], cards[goal]["total"]) == ("goal", 1, 2)
    assert (cards[task]["waits"], cards[task]["decisions"]) == (2, 1)
    assert cards[task]["claimed_until"] == memory.task_get(task).claims[0].expires_at
    (one,) = get(f"/api/overview?ids={goal}")["tasks"]
    assert (one["done"], one["total"]) == (1, 2)


def test_a_timeline_is_read_line_by_line_and_filtered(told):
    memory, get = told
    task = memory.task_register("Deploy", ["Build", "Push"]).task_id
    memory.task_update(task, step=1, step_status="active")
    memory.task_update(task, "100 % DONE " + "x" * 5000)
    memory.acting_as(channel="tool").task_update(task, "from a tool")
    memory.task_decide(task, choice="ghcr.io")
    lines = get(f"/api/tasks/{task}/moments?after=1")["moments"]
    assert [line["seq"] for line in lines] == [2, 3, 4, 5]
    assert "s1 → active" in lines[0]["text"]
    assert (len(lines[1]["text"]), lines[1]["letters"]) == (300, 5011)
    assert lines[2]["channel"] == "tool"
    assert [line["seq"] for line in get(f"/api/tasks/{task}/moments?seqs=5,3")["moments"]] == [3, 5]
    everything = get(f"/api/tasks/{task}/timeline")
    assert (everything["last"], everything["types"]["decision"]) == (5, 1)
    for query, seqs in (
        ("types=decision", [5]),
        ("channel=tool", [4]),
        ("step=s1", [2]),
        ("text=100%20%25%20done", [3]),
        ("text=nothing", []),
        ("types=message&text=TOOL", [4]),
    ):
        assert get(f"/api/tasks/{task}/timeline?{query}")["seqs"] == seqs, query


def test_the_past_is_told_with_what_came_before(told):
    memory, get = told
    task = memory.task_register("Deploy", ["Build"]).task_id
    memory.task_set(task, "version", "1")
    memory.task_set(task, "version", "2")
    found = get(f"/api/tasks/{task}/past?seq=2")
    values = {seq: state["variables"] for seq, state in found["states"].items()}
    assert values == {"1": {}, "2": {"version": "1"}}
    assert found["events"]["2"]["type"] == "variable"
    assert list(get(f"/api/tasks/{task}/past?seq=1")["states"]) == ["1"]
    assert list(get(f"/api/tasks/{task}/past?seq=3&around=5")["states"]) == ["1", "2", "3"]


def test_a_long_past_is_gone_through_in_any_order_and_keeps_nothing_that_was_forgotten(told):
    memory, get = told
    task = memory.task_register("Deploy", ["Build", "Push"]).task_id
    for number in range(40):
        memory.task_set(task, "count", number)
        if number % 9 == 0:
            memory.task_decide(task, choice=f"choice {number}")
    secret = memory.task_set(task, "name", "hunter2").seq
    for seq in (44, 20, 21, 47, 5, 14, 13, 30, 1, 47):
        found = get(f"/api/tasks/{task}/past?seq={seq}&around=1")
        assert list(found["states"]) == [str(n) for n in range(max(1, seq - 2), min(seq + 1, secret) + 1)]
        for number, state in found["states"].items():
            assert state == json.loads(json.dumps(memory.task_get(task, at=int(number)).to_dict())), number
    assert "hunter2" in str(found)
    source = f"event:{task}#{secret}"
    memory.forget(source, confirm=memory.forget(source).token)
    assert "hunter2" not in str(get(f"/api/tasks/{task}/past?seq={secret}"))


def test_side_effects_and_waits_are_told_with_how_they_ended(told):
    memory, get = told
    task = memory.task_register("Deploy").task_id
    intent = memory.task_intent(task, what="push", verify="look").seq
    memory.task_outcome(task, intent=intent, outcome="did", note="saw it")
    memory.smart_wait(target="manual:go", task_id=task, block=False)
    (effect,) = get(f"/api/tasks/{task}/records?kind=effect")
    assert (effect["status"], effect["text"], effect["end_text"]) == ("did", "push", "saw it")
    (wait,) = get(f"/api/tasks/{task}/records?kind=wait")
    assert (wait["status"], wait["data"]["target"]) == ("watching", "manual:go")


def test_the_system_is_told_in_figures(told):
    memory, get = told
    memory.task_register("Deploy")
    system = get("/api/system")
    assert (system["tasks"], system["events"]) == (1, 1)
    assert system["jobs"]["dead"] == 0
    assert {"store", "queue"} <= {finding["what"] for finding in get("/api/doctor")}
    assert sum(get("/api/activity")["days"].values()) in (0, 1)  # the test's clock stands in the past


def test_a_brief_stream_leaves_out_what_events_hold(told):
    memory, get = told
    task = memory.task_register("Deploy").task_id
    memory.task_log_action(task, "x" * 1000, output="y" * 1000)
    (_, event) = get("/api/events?brief=1")["events"]
    assert (len(event["text"]), event["letters"], event["task_id"]) == (300, 1000, task)
    assert not {"data", "sets"} & set(event)
