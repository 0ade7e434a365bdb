"""Waits and callbacks whose text holds a secret still work, and nothing that is shown or exported has it."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ringbolt.worker.worker import Worker
from tests.security.doors import door
from tests.support import open_memory, refused
from tests.worker.receiver import receiving

TOKEN = "gh" + "p_" + "k3Jq9ZtXv7Lw2RbN8sYc4MdF6hPa1GeU5oQi"


class _Api(BaseHTTPRequestHandler):
    """Answers only one who has the token."""

    def do_GET(self):
        self.send_response(200 if TOKEN in self.path else 401)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def api():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Api)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/job"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def allowing(opened, store_url):
    return opened(
        store_url, callback_private="on", wait_private="on", wait_urls="on", wait_commands="on",
        extraction="off", clock=time.time,
    )  # fmt: skip


def everything_shown(memory, task):
    """What callers can read of a task, whoever they are."""
    views = [
        memory.task_get(task), memory.task_resume(task), memory.wait_status(), memory.jobs_status(),
        *memory.events(), *memory.task_history(task), memory.task_recall("token job"),
    ]  # fmt: skip
    return "\n".join(f"{view!r} {json.dumps(view.to_dict(), default=str)}" if hasattr(view, "to_dict")
                     else repr(view) for view in views)  # fmt: skip


def test_a_wait_uses_the_token_of_its_target_and_shows_it_nowhere(allowing, api, tmp_path):
    task = allowing.task_register("T").task_id
    left = allowing.smart_wait(f"{api}?token={TOKEN}", task_id=task, until="status 500", block=False)
    Worker(allowing).run_once()  # a check that leaves a detail
    assert TOKEN not in everything_shown(allowing, task)
    changed = allowing.wait_update(left.wait_id, until="status 200")  # the target is that of before
    assert (changed.state, TOKEN in str(changed)) == ("resolved", False)
    done = allowing.smart_wait(f"{api}?token={TOKEN}", task_id=task, until="status 200", timeout=30)
    assert done.state == "resolved"
    without = allowing.smart_wait(f"{api}?token=nothing", task_id=task, until="status 200", timeout=0)
    assert without.state == "timeout"  # the control: it is the token that opens it
    allowing.export_events(tmp_path / "events")
    assert TOKEN not in everything_shown(allowing, task) + (tmp_path / "events").read_text()
    jobs = allowing.store.read(lambda tx: tx.rows(("data",), "SELECT data FROM jobs"))
    assert TOKEN not in str(jobs)  # the secret went with the wait


def test_a_group_and_a_command_keep_their_secrets_to_themselves(allowing, tmp_path):
    task = allowing.task_register("T").task_id
    words = json.dumps(["test", TOKEN, "=", TOKEN])
    done = allowing.smart_wait(f"command:{words}", task_id=task, timeout=30)
    file = tmp_path / f"{TOKEN}.txt"
    file.touch()
    both = allowing.smart_wait(f"all(file:{file}, time:0s)", task_id=task, timeout=30)
    assert (done.state, both.state) == ("resolved", "resolved")
    assert TOKEN not in everything_shown(allowing, task) + str(done) + str(both)


def test_a_callback_is_called_with_its_token_and_shown_without(allowing, tmp_path):
    with receiving() as receiver:
        url = f"http://127.0.0.1:{receiver.port}/hook?token={TOKEN}"
        task = allowing.task_register("A task", callback_url=url).task_id
        wait = allowing.smart_wait("manual:", task_id=task, block=False, callback_url=url)
        assert allowing.task_get(task).callback_url == url.replace(TOKEN, "[redacted github]")
        assert allowing.jobs_status().kinds == {"wait": {"waiting": 1}}
        allowing.wait_cancel(wait.wait_id)
        allowing.task_finish(task)
        Worker(allowing).run_once()
        assert [path for _, _, path in receiver.taken] == [f"/hook?token={TOKEN}"] * 2
        assert TOKEN not in str([body for _, body, _ in receiver.taken])
    allowing.export_events(tmp_path / "events")
    assert TOKEN not in everything_shown(allowing, task) + (tmp_path / "events").read_text()
    assert allowing.verify().ok


def test_a_callback_that_fails_shows_no_token_in_the_queue(allowing, clock):
    with receiving(500) as receiver:
        url = f"http://127.0.0.1:{receiver.port}/hook?token={TOKEN}"
        task = allowing.task_register("A task").task_id
        wait = allowing.smart_wait("manual:", task_id=task, block=False, callback_url=url)
        allowing.wait_cancel(wait.wait_id)
        allowing.store.write(lambda tx: tx.database.run("UPDATE jobs SET status = 'dead'", {}))
    (dead,) = allowing.jobs_status().given_up
    assert dead.kind == "webhook"
    assert TOKEN not in str(dead.to_dict()) + str(allowing.jobs_retry(dead.id).to_dict())


def test_what_is_forgotten_takes_its_sealed_secret_with_it(allowing):
    task = allowing.task_register("A task", callback_url=f"https://example.org/?token={TOKEN}").task_id
    kept = lambda: str(allowing.store.read(lambda tx: tx.rows(("data",), "SELECT data FROM jobs")))  # noqa: E731
    assert TOKEN in kept()
    user = allowing.acting_as(channel="user")
    source = f"event:{task}#1"
    user.forget(source, confirm=user.forget(source).token)
    assert TOKEN not in kept()


def test_open_waits_of_a_token_are_limited_whether_or_not_they_block(tmp_path):
    settings = {"workspace": str(tmp_path), "clock": time.time, "caller_waits": 3}
    with open_memory(tmp_path / "s.db", **settings) as memory, door(memory, tmp_path) as ask:
        memory.task_register("a task")
        body = {"target": "manual:", "block": False}
        made = [ask.call("smart_wait", **body)["wait_id"] for _ in range(3)]
        answer = ask("POST", "/api/smart_wait", body)
        assert (answer.status, answer.error["code"]) == (429, "too_many_waits")
        assert ask("POST", "/api/smart_wait", {**body, "block": True}).error["code"] == "too_many_waits"
        # Others, the program itself among them, are not concerned; and a wait that ended makes room.
        assert ask("POST", "/api/smart_wait", body, token="user").status == 200
        assert memory.smart_wait("manual:", block=False).state == "watching"
        ask.call("wait_cancel", wait_id=made[0])
        assert ask("POST", "/api/smart_wait", body).status == 200
        agent = memory.acting_as(channel="agent")
        agent.grant = agent.grant.replace(name='x","by":"write')
        assert agent.smart_wait("manual:", block=False).state == "watching"  # a name is no pattern
        agent.grant = agent.grant.replace(name="write")
        with refused(memory, "too_many_waits"):
            agent.smart_wait("manual:", block=False)
