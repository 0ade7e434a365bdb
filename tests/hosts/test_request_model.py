"""Prompts of which the rules are unsure whether they begin a new request: the worker asks a model."""

from __future__ import annotations

import pytest

from ringbolt.hosts.capture.requests import judged
from ringbolt.hosts.capture.session_capture import Capture
from ringbolt.llm import client
from ringbolt.worker.worker import Worker
from tests.model_server import says, serving, status

REQUEST = "Make the invoices round to whole cents."
UNSURE = "Rename the export page to reports."
SURE = "yes, and use the same rounding"


@pytest.fixture(autouse=True)
def no_servers_known(monkeypatch):
    monkeypatch.setattr(client, "_servers", {})


@pytest.fixture
def session(opened, store_url):
    """Opens a memory of one session with a model; its first request has been answered."""

    def begin(server, where="local"):
        model = {f"model_{where}_url": server.url, f"model_{where}_name": "small"}
        key = {} if where == "local" else {"model_remote_key_env": "MODEL_KEY"}
        memory = opened(store_url, session="s1", summary_every=0, **model, **key)
        capture = Capture(memory)
        capture.prompt(REQUEST)
        capture.tool("Edit", {"file_path": "invoices.py"})
        capture.concluded("Done. The invoices round to whole cents now.")
        return memory, capture

    return begin


def test_the_rules_are_unsure_about_one_prompt_and_sure_about_the_other(session):
    with serving(says({"new": True})) as server:
        memory, _ = session(server)
        task = memory.task_get()
        assert judged(memory, task, UNSURE).is_unsure
        assert not judged(memory, task, SURE).is_unsure


@pytest.mark.parametrize("where", ["local", "remote"])
def test_the_worker_asks_a_model_whether_a_prompt_began_a_request(session, where):
    with serving(says({"new": True})) as server:
        memory, capture = session(server, where)
        capture.prompt(UNSURE, key="p2")
        assert server.asked == []  # a hook asks no model
        before = memory.task_get()
        assert [one.text for one in before.requests] == [REQUEST]
        report = Worker(memory).run_once()
        assert (report.failed, report.dead) == (0, 0)
        (asked,) = server.asked
    task = memory.task_get()
    assert [(one.text, one.status) for one in task.requests] == [(REQUEST, "finished"), (UNSURE, "current")]
    assert [entry.summary for entry in task.instructions] == [UNSURE]  # the copy replaces the first record
    assert task.instructions[0].origin.channel == "user"
    assert task.instructions[0].data["by"] == "small"
    content = asked["messages"][1]["content"]
    assert UNSURE in content
    assert "round to whole cents now" in content
    assert "export page" in memory.task_resume().text.split("Do next")[0]


def test_the_verdict_can_be_undone(session):
    with serving(says({"new": True})) as server:
        memory, capture = session(server)
        capture.prompt(UNSURE)
        Worker(memory).run_once()
    task = memory.task_get()
    memory.acting_as(channel="user").task_undo(task.id, task.instructions[0].seq)
    after = memory.task_get()
    assert [one.text for one in after.requests] == [REQUEST]
    assert [entry.summary for entry in after.instructions] == [UNSURE]


@pytest.mark.parametrize(
    "answer",
    [says({"new": False}), says({"new": "perhaps"}), status(500)],
    ids=["goes on", "garbage", "500"],
)
def test_otherwise_the_prompt_stays_an_instruction(session, answer):
    with serving(answer) as server:
        memory, capture = session(server)
        capture.prompt(UNSURE)
        report = Worker(memory).run_once()
        assert (report.failed, report.dead) == (0, 0)
        assert server.asked
    task = memory.task_get()
    assert [one.text for one in task.requests] == [REQUEST]
    assert [entry.summary for entry in task.instructions] == [UNSURE]


def test_no_model_is_asked_about_a_prompt_that_is_clear(session):
    with serving(says({"new": True})) as server:
        memory, capture = session(server)
        capture.prompt(SURE)
        Worker(memory).run_once()
        assert server.asked == []


def test_a_request_that_came_later_stays_the_current_one(session):
    later = "Now something completely different: write the release notes for version 3."
    with serving(says({"new": True})) as server:
        memory, capture = session(server)
        capture.prompt(UNSURE)
        capture.prompt(later)
        Worker(memory).run_once()
        assert server.asked == []
    assert [one.text for one in memory.task_get().requests] == [REQUEST, later]
