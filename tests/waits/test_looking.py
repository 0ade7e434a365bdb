"""One look at each kind of target, against the real thing: what it finds, and that it never hangs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.model.errors import RingboltError
from ringbolt.system.gate import REFUSED, Gate, LookRefused
from ringbolt.waits import Place, read_watch
from ringbolt.waits.file_targets import MOST_READ
from tests.waits.support import OPEN_GATE, Watched

# --- words ------------------------------------------------------------------------------------------


def test_targets_and_conditions_are_read():
    for target, until, wanted in [
        ("file:/a/../b", None, "file:/b exists"),
        ("file:/b", "until it is gone", "file:/b gone"),
        ("file:/b", 'contains "a b"', "file:/b contains a b"),
        ("file:/b", "is stable for 5s", "file:/b stable for 5s"),
        ("process:007", None, "process:7 exits"),
        ("port:[::1]:80", "is open", "port:[::1]:80 open"),
        ("https://a.example/x", "has status 204", "https://a.example/x status 204"),
        ("time:1h30m", None, "time:1h30m passes"),
        ("time:2026-03-01", None, "time:2026-03-01T00:00:00.000Z passes"),
        ("manual:", None, "manual: decided"),
        ("step:7k3m/build", None, "task:7k3m/build completed"),
        ('command:["a", "b"]', "exit 3", 'command:["a","b"] exit 3'),
        (
            "http://a.example/",
            "json $.items[0].state is done",
            'http://a.example/ json items[0].state == "done"',
        ),
        ("http://a.example/", "json ok", "http://a.example/ json ok"),
        ("not(file:/a)", "gone", "not(file:/a until gone)"),
        ("screen::1.0", "is still", "screen::1.0 stable"),
        ("window::1/Build log", None, "window::1/Build log exists"),
        ("terminal:build.0", "contains OK", "terminal:build.0 contains OK"),
        ("file:/a", "judged: it is about cats", "file:/a judged: it is about cats"),
        (
            "any(file:/a, all(port:h:1 until closed, time:5m))",
            None,
            "any(file:/a until exists, all(port:h:1 until closed, time:5m until passes))",
        ),
    ]:
        watch = read_watch(target, until)
        assert watch.criteria == wanted
        assert read_watch(watch.target, watch.until) == watch  # as the store keeps it


def test_what_is_not_understood_is_refused_with_what_is():
    for target, until, naming in [
        ("file:/a", "is blue", "exists, gone, changed"),
        ("process:1", "contains x", "exits"),
        ("nothing", None, "file:PATH"),
        ("step:a", None, "task:ID/STEP"),
        ("file:", None, "path"),
        ("process:0", None, "process id"),
        ("process:-1", None, "process id"),
        ("port:localhost:99999", None, "port"),
        ("http://user:pass@a.example/", None, "credentials"),
        ("http://a.example:x/", None, "Port"),
        ("time:soon", None, "ISO-8601"),
        ("command:rm -rf x", None, "JSON list"),
        ("http://a.example/", "status 20x", "three digits"),
        ("any()", None, "file:PATH"),
        ("all(" * 9 + "time:5m" + ")" * 9, None, "levels"),
        ("log:/a", "matches (a", "RE2"),
        ("http://a.example/", "json", "json …"),
        ("http://a.example/", "json a b", "items[0].done"),
        ("not(time:5m, time:6m)", None, "`not` has one"),
        ("screen:", None, "screen::0"),
        ("screen:host:0", None, "screen::0"),
        ("window:Build log", None, "window::0/TITLE"),
        ("terminal:-x", None, "tmux"),
        ("http://a.example/", "looks friendly", "a model that judges"),
    ]:
        with pytest.raises(RingboltError) as caught:
            read_watch(target, until)
        assert naming in str(caught.value)


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_text_is_read_or_refused_with_one_of_our_errors(target, until):
    whole = ("{}", "any({}, time:5m)", "not({})", "window:{}", "file:{}", "port:{}", "http://{}")
    for text in (one.format(target) for one in whole):
        try:
            watch = read_watch(text, until or None, Place(folder="/w", display=":0", judge=bool(target)))
        except RingboltError:
            continue
        assert read_watch(watch.target, watch.until) == watch


# --- files ------------------------------------------------------------------------------------------


def test_a_file_is_seen_to_come_to_change_to_be_stable_and_to_go(tmp_path):
    path = tmp_path / "x"
    exists, gone, changed, stable, has = (
        Watched(f"file:{path}", until)
        for until in ("exists", "is gone", "changes", "stable for 3s", "contains done")
    )
    assert not any(one.met() for one in (exists, changed, stable, has))
    assert gone.met()
    path.write_text("half")
    assert exists.met()
    assert changed.met()
    assert not stable.met(waited=1.0)
    assert not stable.met(waited=3.9)
    assert stable.met(waited=4.0)
    path.write_text("half done")
    assert not stable.met(waited=9.0)
    assert has.met()
    path.unlink()
    assert gone.met()
    assert not exists.met()


@pytest.mark.parametrize("kind", ["file", "log"])
@pytest.mark.parametrize("what", ["fifo", "/dev/zero", "folder", "socket", "missing", "forbidden"])
def test_what_is_no_readable_file_never_blocks_a_look(tmp_path, kind, what):
    path = tmp_path / "x"
    server = None
    if what == "fifo":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "socket":
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(path))
    elif what == "forbidden":
        path.write_text("x")
        path.chmod(0)
    elif what == "/dev/zero":
        path = what
    if what == "/dev/zero":
        with pytest.raises(LookRefused):
            Watched(f"{kind}:{path}", "contains never there")
    else:
        assert not Watched(f"{kind}:{path}", "contains never there").met()
    if server:
        server.close()


def test_a_log_is_read_from_where_it_ended_through_rotation_and_truncation(tmp_path):
    path = tmp_path / "app.log"
    path.write_text("READY of old\n")
    log = Watched(f"log:{path}", "contains READY")
    assert not log.met()
    with path.open("a") as file:
        file.write("starting\nREA")
    assert not log.met()
    with path.open("a") as file:  # the line goes on after a look
        file.write("DY\n")
    assert log.met()

    second = Watched(f"log:{path}", "contains LAST")
    with path.open("a") as file:
        file.write("LAST words\n")
    path.rename(tmp_path / "app.log.1")
    path.write_text("a new file\n")
    assert second.met()  # it stood in the old one

    third = Watched(f"log:{path}", "contains FRESH")
    path.rename(tmp_path / "app.log.2")
    assert not third.met()
    path.write_text("FRESH\n")
    assert third.met()

    fourth = Watched(f"log:{path}", "contains AGAIN")
    assert not fourth.met()
    with path.open("w") as file:  # copied and cut
        file.write("AGAIN")
    assert fourth.met()


def test_nothing_is_looked_into_that_may_not_be_also_not_by_a_link(tmp_path):
    (tmp_path / "in").mkdir()
    secret = tmp_path / "secret"
    secret.write_text("root:$6$abc\n")
    (tmp_path / "in" / "link").symlink_to(secret)
    gate = Gate(powers=("files",), folders=(f"{tmp_path}/in",))
    for path in (secret, tmp_path / "in" / "link", tmp_path / "nothing"):
        for target, until in (
            *product(("file", "log"), ("contains $6$", "matches root", "judged: it has a root")),
            ("file", "exists"),
            ("file", "changed"),
            ("log", "grows"),
        ):
            with pytest.raises(LookRefused):
                Watched(f"{target}:{path}", until, gate=gate)
            watched = Watched(f"{target}:{path}", until)  # started with an open gate, which is closed now
            verdict = watched.check(gate=gate)
            assert (verdict.met, verdict.failed, verdict.detail) == (False, True, REFUSED)
        # One who may see everywhere that files exist still cannot read them.
        seeing = gate.replace(anywhere=True)
        assert Watched(f"file:{path}", gate=seeing).met() is path.exists()
        with pytest.raises(LookRefused):
            Watched(f"file:{path}", "contains $6$", gate=seeing)
    (tmp_path / "in" / "own").write_text("root:$6$")
    assert Watched(f"file:{tmp_path}/in/own", "contains $6$", gate=gate).met()


def test_a_pattern_that_others_take_for_ever_over_is_quick(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a" * 100_000 + b"!")
    assert not Watched(f"file:{path}", "matches (a+)+$").met()
    assert Watched(f"file:{path}", "matches (a+)+!$").met()


def test_a_log_that_grows_fast_is_read_piece_by_piece(tmp_path):
    path = tmp_path / "app.log"
    log = Watched(f"log:{path}", "contains END")
    path.write_bytes(b"x" * (MOST_READ + 10) + b"END\n")
    assert [log.met(), log.met()] == [False, True]


# --- processes and commands -------------------------------------------------------------------------


def test_a_process_is_over_when_it_has_exited_or_its_number_belongs_to_another():
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    watched = Watched(f"process:{process.pid}")
    assert not watched.met()
    other = Watched(f"process:{process.pid}")
    other.state = {"started": other.state["started"] + "1"}  # another process, with the same number
    assert other.met()
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert watched.met()  # although nobody has taken note of its end yet
    process.wait()
    assert watched.met()


def test_a_command_runs_only_where_it_is_allowed_and_without_a_shell(tmp_path):
    mark = tmp_path / "mark"
    target = f'command:["touch", "{mark}"]'
    verdict = Watched(target).check(gate=OPEN_GATE.replace(powers=("files", "displays", "egress")))
    assert (verdict.met, verdict.failed) == (False, True)
    assert not mark.exists()
    assert Watched(target).met()
    assert mark.exists()
    assert Watched('command:["echo", "$HOME; x"]', "contains $HOME; x").met()
    assert Watched(f'command:["{sys.executable}", "-c", "raise SystemExit(3)"]', "exit 3").met()
    assert Watched('command:["no such program"]').check().failed


def test_a_command_that_hangs_or_never_stops_talking_is_ended(monkeypatch):
    monkeypatch.setattr("ringbolt.waits.targets.CHECK_SECONDS", 0.3)
    for words in ('["sleep", "600"]', '["cat", "/dev/zero"]'):
        assert "0.3 s" in Watched(f"command:{words}").check().detail
    # What it leaves behind does not keep the look waiting.
    assert Watched('command:["sh", "-c", "sleep 60 & exit 0"]').met()


# --- network ----------------------------------------------------------------------------------------


def test_a_port_is_seen_to_open_and_to_close():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        opened, closed = (Watched(f"port:localhost:{port}", until) for until in ("open", "closed"))
        assert opened.met()
        assert not closed.met()
    assert closed.met()
    assert not opened.met()


def test_private_addresses_are_not_called_unless_that_is_allowed():
    for target in [
        "http://127.0.0.1:1/",
        "http://127.1:1/",
        "http://0x7f000001:1/",
        "http://[::ffff:127.0.0.1]:1/",
        "http://169.254.169.254/",
        "http://localhost:1/",
        "http://10.0.0.1/",
        "port:169.254.169.254:80",
        "port:10.0.0.1:80",
    ]:
        verdict = Watched(target).check()
        assert (verdict.met, verdict.failed) == (False, True)
        assert "wait_private" in verdict.detail


class Server(ThreadingHTTPServer):
    daemon_threads = True
    status, body = 503, b"not yet"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    one = Server(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=one.serve_forever, args=(0.02,))
    thread.start()
    yield one
    one.shutdown()
    thread.join()
    one.server_close()


def test_a_url_is_asked_for_its_status_and_its_body_and_no_redirection_is_followed(server):
    url = f"http://127.0.0.1:{server.server_address[1]}/health?x=1"
    ok, status, has, answers = (
        Watched(url, until, private=True) for until in (None, "status 302", "contains READY", "answers")
    )
    assert ok.check().detail == "status 503"
    assert answers.met()
    assert not has.met()
    server.status = 302
    assert status.met()
    assert not ok.met()
    server.status, server.body = 200, b"it is READY"
    assert ok.met()
    assert has.check().detail == "status 200, its body matches"  # and not what stands there


def test_a_value_of_a_json_answer(server):
    for until, body, met in [
        ('json state == "ready"', b'{"state": "ready"}', True),
        ('json state == "ready"', b'{"state": "no"}', False),
        ("json state", b'{"state": null}', True),
        ("json state", b"[]", False),
        ("json items[1].done is true", b'{"items": [0, {"done": true}]}', True),
        ("json items[1].done is true", b'{"items": [0, {"done": 1}]}', False),
        ("json items[9]", b'{"items": [0]}', False),
        ("json progress >= 90", b'{"progress": 90.5}', True),
        ("json progress > 90", b'{"progress": "99"}', False),
        ("json a != 1", b'{"a": 2}', True),
        ('json ["a b"].c', b'{"a b": {"c": 0}}', True),
        ("json a", b"[" * 100_000, False),
        ("json a", b"no JSON", False),
    ]:
        server.status, server.body = 200, body
        watched = Watched(f"http://127.0.0.1:{server.server_address[1]}/", until, private=True)
        assert watched.met() is met
        server.status = 500
        assert not watched.met()


def test_a_server_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setattr("ringbolt.waits.targets.CHECK_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        verdict = Watched(f"http://127.0.0.1:{silent.getsockname()[1]}/", private=True).check()
    assert verdict.detail == "no answer: it took more than 0.2 s"
    assert not verdict.failed


# --- time, tasks, people, groups --------------------------------------------------------------------


def test_times_tasks_and_decisions():
    assert [Watched("time:5s").met(waited=waited) for waited in (4.9, 5.0)] == [False, True]
    at = Watched("time:1970-01-01T00:01:00Z")
    assert [at.met(now=now) for now in (59.9, 60.0)] == [False, True]
    task = Watched("task:abc")
    assert [task.met(status_of=lambda _, s=s: s) for s in ("active", "failed")] == [False, True]
    assert not Watched("task:abc", "completed").met(status_of=lambda _: "failed")
    assert Watched("task:abc/s1", "is active").met(status_of=lambda _: "active")
    assert task.check().failed
    person = Watched("manual:")
    assert not person.met()
    assert person.check(decided="go on").detail == "go on"


def test_groups_need_any_or_all_and_what_was_once_true_counts(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    any_, all_ = (Watched(f"{kind}(file:{one}, file:{two})") for kind in ("any", "all"))
    assert not any_.met()
    assert not all_.met()
    one.touch()
    assert any_.check().detail == f"file:{one} exists: it exists"
    assert not all_.met()
    one.unlink()
    two.touch()
    assert all_.met()
    assert Watched("any(task:abc, manual:)").check().failed is False
    assert Watched("all(task:abc, manual:)").check().failed is True


def test_the_opposite_of_a_target_counts_as_it_is_now(tmp_path):
    path = tmp_path / "lock"
    path.touch()
    free = Watched(f"not(any(file:{path}, file:{path}.2))")
    assert free.check().met is False
    path.unlink()
    assert free.met()
    both = Watched(f"all(not(file:{path}), time:5s)")
    assert not both.met()
    path.touch()
    assert both.met(waited=5.0)  # once it was not there
    assert Watched("not(task:abc)").check().failed
