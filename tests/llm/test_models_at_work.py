"""Operations with a model: what it says stands where it is true; else what the rules say."""

from __future__ import annotations

import json

import pytest

from ringbolt.llm import client
from ringbolt.worker.worker import Worker
from tests.model_server import IMPATIENT, PATIENT, hangs, raw, says, serving, status

PLAN = ["Build the image", "Push the image", "Run the container"]


@pytest.fixture(autouse=True)
def no_servers_known(monkeypatch):
    monkeypatch.setattr(client, "_servers", {})


@pytest.fixture
def asking(opened, store_url):
    """A task with two of three steps done, and what opens its memory with a model."""
    memory = opened(store_url)
    task = memory.task_register("Deploy", PLAN, request="Deploy it.").task_id
    for step in (1, 2):
        memory.task_update(task, f"step {step} is done", step=step, step_status="completed")

    def with_model(server, **more):
        given = {"model_local_url": server.url, "model_local_name": "small", **(more or PATIENT)}
        return opened(store_url, **given), task

    return with_model


def answers(text, *cites):
    return says({"answer": text, "cites": list(cites)})


def test_source_names_the_model_that_worded_an_answer(asking):
    with serving(answers("Steps 1 and 2 are done, and step 3 is next (#3).", 3)) as server:
        memory, task = asking(server)
        asked = memory.task_ask(task, "what is next?")
        updated = memory.task_update(task, query="what is next?").answer
    assert asked.text == "Steps 1 and 2 are done, and step 3 is next (#3)."
    assert (asked.source, asked.cites, asked.about) == ("small", (3,), "next")
    assert updated.source == "small"


@pytest.mark.parametrize(
    "answer",
    [
        answers("All three steps are done (#3).", 3),
        answers("Step 3 is done (#999).", 999),
        says("I cannot help with that.", refusal="no"),
        says('{"answer": "Steps 1 and', finish="length"),
        raw(b"<html>"),
        status(500),
        hangs,
    ],
    ids=["lie", "no such event", "refusal", "truncated", "garbage", "500", "hang"],
)
def test_the_ledgers_answer_stands_whatever_a_model_does(asking, answer):
    with serving(answer) as server:
        memory, task = asking(server, **IMPATIENT)
        found = memory.task_ask(task, "what is next?")
    assert found.source == "ledger"
    assert found.text.startswith('Next: step 3 — "Run the container"')


def test_a_write_survives_a_failed_question(asking):
    with serving(hangs) as server:
        memory, task = asking(server, **IMPATIENT)
        written = memory.task_update(task, "Now running it.", query="where was I?")
    assert memory.task_event(task, written.seq).text == "Now running it."
    assert written.answer.source == "ledger"


def test_the_worker_uses_a_models_summary_if_it_is_true(asking):
    true = says({"summary": "The image is built and pushed. Running the container is next."})
    with serving(true) as server:
        memory, task = asking(server)
        memory.task_update(task, "a")
        memory.task_update(task, "b")
        memory.task_update(task, "c")
        assert Worker(memory).run_once().dead == 0
        summary = memory.task_summary(task, refresh=False)
    assert summary.source == "small"
    assert summary.text.startswith("The image is built and pushed.")


def test_a_summary_that_lies_is_replaced_by_that_of_the_rules(asking):
    with serving(says({"summary": "All three steps are completed. The container runs."})) as server:
        memory, task = asking(server)
        summary = memory.task_summary(task)
    assert summary.source == "ledger"
    assert "2 of 3 steps are done" in summary.text


def test_the_worker_keeps_each_entry_of_a_model_once(asking):
    entry = {
        "type": "error", "summary": "The push failed once", "detail": "No rights.", "tags": ["push"],
        "relevance_to": ["s2"], "severity": "high", "quote": "Step 2 is done", "cites": [3],
    }  # fmt: skip
    with serving(says({"summary": "Pushed.", "entries": [entry]})) as server:
        memory, task = asking(server, summary_every=0)
        for _ in range(2):
            Worker(memory).run_once()
            memory.task_item_update(task, 3, status="active")
            memory.task_item_update(task, 3, status="skipped")
        assert server.asked
    (found,) = memory.task_get(task).errors
    assert (found.summary, found.detail, found.tags, found.relevance_to) == (
        "The push failed once", "No rights.", ("push",), ("s2",),
    )  # fmt: skip
    assert found.data["severity"] == "high"
    assert found.data["by"] == "small"
    assert found.data["from"] == [3]
    assert (found.origin.agent, found.origin.channel) == ("ringbolt", "agent")


def test_a_bare_list_of_entries_is_accepted(asking):
    """The prompt of the source asks for nothing but a JSON array, with tags in one text."""
    listed = [
        {
            "type": "discovery", "summary": "The image is pushed to ghcr.io as v1.2.3 " + "and tagged " * 20,
            "detail": "all of it", "tags": "push, registry", "relevance_to": "s2,s3",
        },
        {"type": "discovery", "summary": "Nobody said anything of this kind", "tags": "", "detail": ""},
    ]  # fmt: skip
    with serving(says(json.dumps(listed))) as server:
        memory, task = asking(server, summary_every=0)
        memory.task_update(task, "The image is pushed to ghcr.io as v1.2.3 and tagged.")
        memory.task_distill(task)
        Worker(memory).run_once()
    (found,) = [one for one in memory.task_get(task).notes if one.data.get("by") == "small"]
    assert found.type == "discovery"
    assert len(found.summary) <= 150
    assert "all of it" in found.detail
    assert (found.tags, found.relevance_to) == (("push", "registry"), ("s2", "s3"))


def entry(type, summary, quote, *cites, **more):
    return {"type": type, "summary": summary, "quote": quote, "cites": list(cites), **more}


def test_a_model_reads_what_a_hook_has_distilled(asking):
    found = [
        entry(
            "decision",
            "Tag the image by commit",
            "tags move",
            4,
            choice="Tag by commit",
            reasoning="tags move",
        ),
        entry("exclusion", "Squashing layers", "no gain", 4, what="Squashing layers", why="no gain"),
        entry("variable", "The registry port", "port 5001", 4, name="registry port", value="5001"),
        entry("context", "The push key is missing", "no key", 4, kind="blocker"),
    ]
    with serving(says({"summary": "", "entries": found})) as server:
        memory, task = asking(server, summary_every=0)
        memory.task_update(task, "By commit: tags move. Layers: no gain. Registry: port 5001, no key.")
        memory.task_distill(task)
        assert server.asked == []
        Worker(memory).run_once()
    found = memory.task_get(task)
    assert [one.data["choice"] for one in found.decisions if one.data.get("by") == "small"] == [
        "Tag by commit"
    ]
    assert [one.data["kind"] for one in found.exclusions if one.data.get("by") == "small"] == ["dead_end"]
    assert found.variables["registry port"] == "5001"
    assert "The push key is missing" in found.blockers
    memory.acting_as(channel="user", agent="").task_remember(task, "here is the key", type="user_instruction")
    memory.task_extract(task)
    assert "The push key is missing" not in memory.task_get(task).blockers


def test_an_entry_of_a_model_must_quote_what_it_cites(asking):
    made_up = entry("decision", "Use podman", "podman is better", 3)
    elsewhere = entry("decision", "Use docker", "step 1 is done", 3)
    with serving(says({"summary": "Pushed.", "entries": [made_up, elsewhere]})) as server:
        memory, task = asking(server, summary_every=0)
        Worker(memory).run_once()
        assert server.asked
    assert memory.task_get(task).decisions == ()


def test_a_long_history_is_read_in_chunks_and_each_event_once(asking):
    with serving(says({"summary": "Nothing.", "entries": []})) as server:
        memory, task = asking(server, summary_every=0)
        for number in range(60):
            memory.task_update(task, f"Line {number}: " + "word " * 120)
        memory.task_distill(task)
        worker = Worker(memory)
        while worker.run_once().done:
            pass
        asked = len(server.asked)
        text = "\n".join(str(one) for one in server.asked)
        assert asked > 2
        assert all(text.count(f"Line {number}: ") == 1 for number in range(60))
        while worker.run_once().done:
            pass
        assert len(server.asked) == asked


def test_events_that_a_model_left_unanswered_are_read_later(asking):
    with serving(status(500)) as server:
        memory, task = asking(server, summary_every=0)
        Worker(memory).run_once()
    found = entry("decision", "Push by digest", "step 2 is done", 3)
    with serving(says({"summary": "", "entries": [found]})) as server:
        memory, task = asking(server, summary_every=0)
        memory.task_update(task, "go on")
        memory.task_distill(task)
        Worker(memory).run_once()
    assert [one.summary for one in memory.task_get(task).decisions] == ["Push by digest"]


def test_distilling_asks_no_model(asking):
    with serving(status(500)) as server:
        memory, task = asking(server)
        memory.task_distill(task)
        memory.task_resume(task)
        assert server.asked == []
