"""The command line in processes of its own: exit codes, pipes, terminals, signals, shells."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support import until
from tests.surfaces.command_line import data, environ, process, run


@contextmanager
def started(*words: str, **options):
    """A command that runs until it is told to end."""
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A shell starts background jobs with interrupts ignored, and so would whatever they start.
    given["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen([sys.executable, "-m", "ringbolt", *words], **{**given, **options}) as child:
        try:
            yield child
        finally:
            child.kill()


@pytest.fixture
def terminal():
    """Both ends of a terminal."""
    here, there = pty.openpty()
    yield here, there
    os.close(here)
    os.close(there)


_END = b"<end of what was drawn>"


def drawn_on(terminal) -> str:
    """All that finished programs have drawn. A terminal hands it over in pieces, and not at once."""
    here, there = terminal
    os.write(there, _END)
    seen = b""
    while not seen.endswith(_END):
        seen += os.read(here, 100_000)
    return seen.removesuffix(_END).decode()


def test_on_a_terminal_a_person_speaks_and_tables_are_drawn(task, terminal):
    _, there = terminal
    words = [sys.executable, "-m", "ringbolt"]
    subprocess.run([*words, "update", "hello"], stdin=there, stdout=subprocess.DEVNULL, check=True)
    assert data("thread", "--limit", "1")["events"][0]["origin"]["channel"] == "user"
    for extra, drawn_bold in (({}, True), ({"NO_COLOR": "1"}, False)):
        drawn = environ(**{"TERM": "xterm-256color", "COLUMNS": "100", **extra})
        subprocess.run([*words, "list"], stdin=subprocess.DEVNULL, stdout=there, env=drawn, check=True)
        table = drawn_on(terminal)
        assert "Deploy" in table
        assert ("\x1b[" in table) == drawn_bold


def test_on_a_narrow_terminal_a_table_leaves_out_columns_before_it_cuts_names(task, terminal):
    _, there = terminal
    data("update", "--name", "Deploy the shop to the new server")
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    words = [sys.executable, "-m", "ringbolt", "list"]
    drawn = environ(TERM="xterm-256color", NO_COLOR="1")
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=there, env=drawn, check=True)
    table = drawn_on(terminal)
    assert max(map(len, table.splitlines())) <= 60
    assert "Deploy the shop to the" in table
    assert "NOW OR NEXT" not in table


def test_an_interrupt_cancels_the_wait_of_the_command(task, tmp_path):
    with started("wait", f"file:{tmp_path / 'never'}", "--timeout", "500") as child:
        until(lambda: data("waits"))
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=100)
    assert child.returncode == 130
    assert "is cancelled" in told
    assert data("waits") == []
    assert data("show")["status"] == "active"


def test_long_work_shows_how_far_it_is_on_a_terminal_alone(task, terminal, tmp_path):
    _, there = terminal
    events = str(tmp_path / "events.jsonl")
    data("export", events)
    drawn = environ(TERM="xterm-256color", COLUMNS="100")
    for words, what in (
        (("verify",), "Verifying"),
        (("import", events), "Importing"),
        (("reindex",), "Indexing"),
    ):
        with started(*words, stderr=there, env=drawn) as child:
            told, _ = child.communicate(timeout=100)
        assert child.returncode == 0
        assert what not in told
        assert what in drawn_on(terminal)
        assert process(*words).stderr == ""


def test_a_process_ends_with_the_exit_code_and_everything_said(task):
    done = process("update", "x", "--json")
    assert (done.returncode, json.loads(done.stdout)["data"]["task_id"]) == (0, task)
    done = process("update", "x", "--task", "zzzz")
    assert (done.returncode, done.stdout) == (3, "")
    assert "[task_not_found]" in done.stderr
    assert process("note", "grün → rot").returncode == 0
    assert (
        b"gr\xfcn \\u2192 rot"
        in process("thread", env=environ(PYTHONIOENCODING="latin-1"), text=False).stdout
    )


def test_a_reader_that_goes_away_is_no_traceback(task, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # with it, Python itself loses what was not read
    for _ in range(40):
        data("update", "x" * 3000)
    with started("thread", "--json") as child:
        child.stdout.read(10)
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(100) == 1


def test_a_worker_ends_when_it_is_told_to(task):
    with started("worker", "--json") as child:
        assert "the worker is running" in child.stderr.readline()
        child.send_signal(signal.SIGTERM)
        told, _ = child.communicate(timeout=100)
    assert child.returncode == 0
    assert set(json.loads(told)["data"]) == {"done", "failed", "dead", "lost"}


def calls_back(url):
    """A task is over, and someone is to be told."""
    task = data("op", "task_register", "name=Calls", f"callback_url={url}")["task_id"]
    data("finish", "--task", task)


@pytest.fixture
def slow_receiver(task, monkeypatch):
    """A job that takes as long as a test likes: whoever is to be called back lets the caller wait."""
    monkeypatch.setenv("RINGBOLT_CALLBACK_PRIVATE", "on")
    asked, answered = threading.Event(), threading.Event()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.set()
            answered.wait(100)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        calls_back(f"http://127.0.0.1:{server.server_port}/")
        yield asked, answered
        answered.set()
        server.shutdown()
        thread.join()


def test_a_worker_that_is_terminated_finishes_the_job_in_hand_and_ends(slow_receiver):
    asked, answered = slow_receiver
    with started("worker", "--kinds", "webhook", "--json") as child:
        assert asked.wait(100)
        child.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.3)
        answered.set()
        told, _ = child.communicate(timeout=100)
    assert child.returncode == 0
    assert json.loads(told)["data"] == {"done": 1, "failed": 0, "dead": 0, "lost": 0}
    status = data("jobs")
    assert ("webhook" in status["kinds"], status["totals"]["webhook"]) == (False, {"done": 1})
    assert [one["alive"] for one in status["workers"]] == [False]


def test_a_second_signal_ends_a_worker_at_once(slow_receiver):
    asked, _ = slow_receiver
    with started("worker") as child:
        assert asked.wait(100)
        child.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.3)
        # Two signals that come before the process has its turn are one.
        until(lambda: child.send_signal(signal.SIGTERM) or child.poll() is not None)
        assert child.returncode == -signal.SIGTERM
    status = data("jobs")
    assert status["kinds"]["webhook"] == {"leased": 1}  # for a minute, then another one has it
    assert [one["ended_at"] for one in status["workers"]] == [None]


def test_a_worker_for_cron_does_what_is_due_of_some_kinds_and_says_if_a_job_failed(task, monkeypatch):
    monkeypatch.setenv("RINGBOLT_CALLBACK_PRIVATE", "on")
    calls_back("http://127.0.0.1:9/")
    done = run("worker", "--once", "--kinds", "extract, summary", "--json")
    assert (done.exit_code, json.loads(done.stdout)["data"]["done"]) == (0, 1)
    done = run("worker", "--once", "--json")
    assert (done.exit_code, json.loads(done.stdout)["data"]["failed"]) == (1, 1)
    assert run("worker", "--once").exit_code == 0  # it is not due again yet
    done = run("worker", "--once", "--kinds", "webhok")
    assert done.exit_code not in (0, 1)
    assert "extract, summary, prune, webhook, wait" in done.stderr


def test_watch_tells_each_event_as_it_comes_and_ends_with_an_interrupt(task):
    with started("watch", "--every", "0.05") as child:
        assert child.stderr.readline() == "ringbolt: watching 1 task\n"
        data("update", "First\x1b[2J")
        assert re.fullmatch(rf"{task} #2 \S+ \S+ update: First\n", child.stdout.readline())
        new = data("register", "Another")["task_id"]
        assert child.stdout.readline().startswith(f"{new} #1 ")
        data("finish", "--task", task)
        assert "task finished" in child.stdout.readline()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=100)
    assert child.returncode == 0


def test_watch_draws_all_tasks_and_acts_on_keys(task, terminal):
    here, there = terminal
    other = data("register", "Another")["task_id"]
    drawn = environ(TERM="xterm-256color", COLUMNS="100", LINES="40")
    on_terminal = {"stdin": there, "stdout": there, "stderr": there}
    with started("watch", "--every", "0.05", env=drawn, **on_terminal) as child:
        seen = ""

        def wait_for(*texts: str) -> None:
            nonlocal seen
            while not all(text in seen for text in texts):
                seen += os.read(here, 100_000).decode()
            seen = ""

        wait_for("Deploy", "Another")
        os.write(here, b"j\r")  # the second one, opened
        wait_for("[ ] s1  Build")
        data("update", "Built it", "--task", task, "--step", "1", "--step-status", "done")
        wait_for("Built it", "[x] s1  Build")
        os.write(here, b"p")
        wait_for("paused")
        assert data("show", task)["status"] == "paused"
        os.write(here, b"i")
        wait_for("Instruct Deploy")
        os.write(here, b"Keep the database.\n")
        wait_for("HOW IT STANDS", "Keep the database.")
        said = data("show", task)["instructions"][-1]
        assert (said["summary"], said["origin"]["channel"]) == ("Keep the database.", "user")
        os.write(here, b"q")
        assert child.wait(100) == 0
    assert data("show", other)["status"] == "active"


def test_a_server_without_its_packages_names_the_extra(place):
    code = (
        "import sys; sys.modules['mcp'] = sys.modules['uvicorn'] = None\n"
        "from ringbolt.surfaces.cli.main import main; main(sys.argv[1:])"
    )
    done = subprocess.run([sys.executable, "-c", code, "serve"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'ringbolt[serve]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not os.path.exists(os.environ["RINGBOLT_STORE"])


# --- completion -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands_options_and_tasks(task, shell):
    script = run("completion", shell).stdout
    assert f"_RINGBOLT_COMPLETE={shell}_complete" in script
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0

    def completed(*words: str) -> str:
        given = {"COMP_WORDS": " ".join(("ringbolt", *words)), "_RINGBOLT_COMPLETE": f"{shell}_complete"}
        last = {"COMP_CWORD": words[-1] if shell == "fish" else str(len(words))}
        return process(env=environ(**given, **last)).stdout

    assert "resume" in completed("resu")
    assert "--step-status" in completed("update", "--step")
    assert task in completed("update", "--task", task[:2])
    assert "task_receipt" in completed("op", "task_rec")


# --- servers ----------------------------------------------------------------------------------------


def _announced(child) -> str:
    told = []
    for line in child.stdout:
        told.append(line)
        if "/mcp with the header" in line:
            break
    return "".join(told)


def test_serve_says_how_to_connect_and_ends_in_good_order(place):
    process("register", "Deploy coursefolio")
    with started("serve", "--port", "0") as child:
        text = _announced(child)
        assert "#/sign-in/" not in text  # not for an agent, which has no terminal
        address = re.search(r"(http://127\.0\.0\.1:\d+)/mcp with the header", text)[1]
        for name in ("claude", "codex"):
            assert re.search(
                rf"{name} mcp add ringbolt -- .*--store {os.environ['RINGBOLT_STORE']} mcp\n", text
            )
        tokens = json.loads(Path(re.search("Tokens: (.+)", text)[1]).read_text())
        request = urllib.request.Request(
            f"{address}/api/task_line", b"{}",
            {"Authorization": f"Bearer {tokens['read']}", "Content-Type": "application/json"},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert "Deploy coursefolio" in json.loads(answer.read())["data"]
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=100)
    assert child.returncode == 0


def test_the_demo_has_a_store_of_its_own(place):
    for _ in range(2):
        with started("serve", "--port", "0", "--demo") as child:
            text = _announced(child)
            child.send_signal(signal.SIGTERM)
            child.communicate(timeout=100)
        store = re.search(r"serves sqlite://(\S+) at", text)[1]
        assert Path(store).parent.name == "demo"
        assert store != os.environ["RINGBOLT_STORE"]
        assert re.search(r"ringbolt install \S+\n", text)  # for the user's own store, not this one
        assert process("list", "--store", store).stdout.count("Deploy coursefolio") == 1
    assert not Path(os.environ["RINGBOLT_STORE"]).exists()
    assert "has its own store" in process("serve", "--demo", "--store", "x.db").stderr


def test_mcp_answers_on_standard_output_and_says_nothing_else_there(place):
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        },
    }  # fmt: skip
    done = process("mcp", input=json.dumps(hello) + "\n")
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "ringbolt"
