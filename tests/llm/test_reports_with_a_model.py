"""Reports with a model: it decides what the rules leave open, and no lie of it passes."""

from __future__ import annotations

import pytest

from ringbolt.llm import client
from ringbolt.worker.worker import Worker
from tests.model_server import IMPATIENT, PATIENT, hangs, raw, says, serving, status

PLAN = ["Reserve a table at the trattoria", "Invite the team", "Order the cake"]
# No rule knows that this is a reservation.
MESSAGE = "Luigi has us down for Friday at eight"


@pytest.fixture(autouse=True)
def no_servers_known(monkeypatch):
    monkeypatch.setattr(client, "_servers", {})


@pytest.fixture
def reporting(opened, store_url):
    def with_model(server, message=MESSAGE, patience=PATIENT):
        memory = opened(
            store_url,
            model_local_url=server.url,
            model_local_name="small",
            extraction="off",
            **patience,
        )
        task = memory.task_register("Dinner", PLAN).task_id
        written = memory.task_update(task, message)
        return memory, task, written.seq

    return with_model


def finishes(*steps, quote="Luigi has us down", cites=(2,)):
    return says({"finished": [{"step": step, "quote": quote, "cites": list(cites)} for step in steps]})


def work(memory):
    Worker(memory).run_once()


def statuses(memory, task):
    return [item.status for item in memory.task_get(task).steps]


def test_a_model_completes_what_the_rules_leave_open(reporting):
    with serving(finishes(1)) as server:
        memory, task, seq = reporting(server)
        assert statuses(memory, task) == ["pending"] * 3  # never inside the write
        work(memory)
    item = memory.task_get(task).steps[0]
    assert (item.status, item.basis, item.cause) == ("completed", "inferred", seq)
    event = [one for one in memory.events(task) if one.type == "step.inferred"][-1]
    assert (event.data["from"], event.data["by"], event.origin.agent) == ([seq], "small", "ringbolt")
    memory.task_undo(task, event.seq)
    assert statuses(memory, task) == ["pending"] * 3
    assert memory.verify().ok


@pytest.mark.parametrize(
    "answer",
    [
        finishes(7),
        finishes(0),
        finishes(1, cites=()),
        finishes(1, cites=(1,)),
        finishes(1, cites=(2, 99)),
        finishes(1, quote="the table is booked"),
        finishes(1, quote=""),
        finishes(1, 9),
        says({"finished": [{"step": 1}]}),
        says({"finished": "all of them"}),
        says("Step 1 is finished."),
        says('{"finished": [{"step": 1,', finish="length"),
        raw(b"<html>"),
        status(500),
        hangs,
    ],
    ids=[
        "no such step", "step zero", "no citation", "another citation", "one citation too many",
        "invented quote", "empty quote", "one of two invented", "no quote", "another shape", "prose",
        "truncated", "garbage", "500", "hang",
    ],
)  # fmt: skip
def test_a_model_that_lies_or_fails_moves_nothing(reporting, answer):
    with serving(answer) as server:
        memory, task, _ = reporting(server, patience=IMPATIENT)
        work(memory)
    assert statuses(memory, task) == ["pending"] * 3


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        ("Luigi has us down for Friday. I will invite the team tomorrow", "I will invite the team"),
        ("Luigi has us down for Friday. Did you order the cake?", "order the cake"),
        ("Luigi has us down for Friday. The team is not invited yet", "team is not invited"),
        ("Luigi has us down for Friday. Anna says the team is invited", "the team is invited"),
    ],
)
def test_a_quotation_of_what_is_planned_asked_denied_or_reported_proves_nothing(reporting, message, quote):
    for step in (2, 3):
        with serving(finishes(step, quote=quote)) as server:
            memory, task, _ = reporting(server, message)
            work(memory)
        assert statuses(memory, task)[1:] == ["pending"] * 2


def test_a_model_never_changes_what_was_set_claimed_or_ended(reporting):
    with serving(finishes(1)) as server:
        memory, task, _ = reporting(server)
        memory.task_update(task, step=1, step_status="failed")
        work(memory)
        assert statuses(memory, task)[0] == "failed"
        other, other_task, _ = reporting(server)
        other.acting_as(agent="somebody").task_claim(other_task, item="s1")
        work(other)
        assert statuses(other, other_task)[0] == "pending"


def test_a_model_is_not_asked_about_what_the_rules_have_settled(reporting):
    with serving(finishes(1)) as server:
        memory, _, _ = reporting(server, "Step 1 done.")
        work(memory)
        memory, _, _ = reporting(server, "Should I call Luigi?")
        work(memory)
        assert server.asked == []


def test_without_a_model_nothing_waits(opened, store_url):
    memory = opened(store_url, extraction="off")
    task = memory.task_register("Dinner", PLAN).task_id
    memory.task_update(task, MESSAGE)
    assert Worker(memory).run_once().done == 0
    assert statuses(memory, task) == ["pending"] * 3
