"""The client for model servers: whatever a server does, there is a checked answer or a reason, in time."""

from __future__ import annotations

import pytest

from ringbolt.config import load_settings
from ringbolt.llm import breaker
from ringbolt.llm import client as model
from ringbolt.llm.client import ModelFailure, ModelServer, Request
from tests.model_server import drips, hangs, hangs_up, only, raw, says, serving, status
from tests.support import Clock

GOOD = {"answer": "Step 4 is next.", "cites": [3]}
SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "minLength": 1, "maxLength": 50},
        "cites": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
    },
    "required": ["answer", "cites"],
}


def read(found):
    if "lie" in found["answer"]:
        raise ValueError("it is a lie")
    return found["answer"]


REQUEST = Request(
    purpose="answer",
    messages=({"role": "system", "content": "Say it."}, {"role": "user", "content": "What is next?"}),
    schema=SCHEMA,
    max_tokens=100,
    read=read,
)


def client(url, clock=None, **settings) -> ModelServer:
    given = {"model_local_url": url, "model_local_name": "tiny", **settings}
    return ModelServer("local", load_settings({}, **given), clock or Clock())


def ask(url, seconds=5.0, **settings):
    return client(url, **settings).ask(REQUEST, seconds)


def failure(server, seconds=5.0) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        server.ask(REQUEST, seconds)
    assert caught.value.kind in model.FAILURES
    return caught.value


def test_one_request_returns_the_answer_and_its_usage():
    with serving(says(GOOD)) as server:
        reply = ask(server.url)
    (asked,) = server.asked
    assert reply.result == "Step 4 is next."
    assert reply.usage.replace(ms=0) == model.Usage(calls=1, tokens_in=100, tokens_out=20, rung="json_schema")
    assert (asked["model"], asked["temperature"], asked["max_tokens"], asked["stream"]) == (
        "tiny",
        0,
        100,
        False,
    )
    assert asked["messages"] == list(REQUEST.messages)
    assert asked["response_format"]["json_schema"]["schema"] == SCHEMA
    assert server.keys == [None]


@pytest.mark.parametrize(("rung", "tries"), [("json_schema", 1), ("json_object", 2), ("prompt", 3)])
def test_the_supported_response_format_is_remembered(rung, tries):
    with serving(only(rung, says(GOOD))) as server:
        asking = client(server.url)
        assert asking.ask(REQUEST, 5.0).usage.rung == rung
        assert len(server.asked) == tries
        assert asking.ask(REQUEST, 5.0).usage.calls == 1
    assert len(server.asked) == tries + 1


def test_an_unsupported_response_format_is_not_remembered():
    with serving(status(400), status(400), status(400), says(GOOD)) as server:
        asking = client(server.url)
        assert failure(asking).kind == "rejected"
        assert asking.ask(REQUEST, 5.0).usage.rung == "json_schema"


@pytest.mark.parametrize(
    "text",
    [
        '<think>Is it {"answer": "no", "cites": []}? Hm.</think>{"answer": "Step 4 is next.", "cites": [3]}',
        'so it is</think>\n{"answer": "Step 4 is next.", "cites": [3]}',
        '```json\n{"answer": "Step 4 is next.", "cites": [3]}\n```',
        'Sure! {of course} Here: {"answer": "Step 4 is next.", "cites": [3]} Anything else? {"answer": 1}',
        '{"answer": "Step 4 is next.", "cites": [3], "confidence": 0.9, "mood": "sure"}',
    ],
)
def test_the_first_object_is_found_in_what_surrounds_it(text):
    with serving(says(text)) as server:
        assert ask(server.url).result == "Step 4 is next."
    assert len(server.asked) == 1


def test_lone_surrogates_are_replaced():
    with serving(says('{"answer": "a \\ud800 b", "cites": [], "\\udfff": ["\\ud801"]}')) as server:
        assert ask(server.url).result == "a ? b"


def test_content_in_parts_is_put_together():
    parts = [
        {"type": "text", "text": '{"answer": "Step 4 '},
        {"type": "text", "text": 'is next.", "cites": [3]}'},
    ]
    with serving(says(parts)) as server:
        assert ask(server.url).result == "Step 4 is next."


WRONG = {
    "no object": ("I think that step 4 is next.", "it contains no JSON object"),
    "missing field": ({"answer": "x"}, "it lacks cites"),
    "wrong type": ({"answer": 1, "cites": []}, "“answer” must be of type string"),
    "truth for number": ({"answer": "x", "cites": [True]}, "part 1 of “cites” must be of type integer"),
    "too long": ({"answer": "x" * 60, "cites": []}, "“answer” has 60 characters and may have 50"),
    "too many": ({"answer": "x", "cites": [1, 2, 3, 4]}, "“cites” has 4 parts and may have 3"),
    "blank": ({"answer": " ", "cites": []}, "“answer” is empty"),
    "not true": ({"answer": "a lie", "cites": []}, "it is a lie"),
    "empty": ("", "it is empty"),
    "open thought": ('<think>{"answer": "x", "cites": []}', "it contains no JSON object"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_model_is_corrected_once(name):
    content, why = WRONG[name]
    with serving(says(content), says(GOOD)) as server:
        reply = ask(server.url)
    assert (reply.result, reply.usage.calls) == ("Step 4 is next.", 2)
    assert reply.usage.tokens_in == 200
    assert why in server.asked[1]["messages"][-1]["content"]
    with serving(says(content)) as server:
        failed = failure(client(server.url))
    assert len(server.asked) == 2
    assert failed.kind == {"not true": "unfaithful", "empty": "empty"}.get(name, "invalid")
    assert why in failed.reason
    assert failed.usage.calls == 2


def test_an_answer_that_was_cut_off_is_asked_for_again_shorter():
    with serving(says('{"answer": "Step 4', "length"), says(GOOD)) as server:
        assert ask(server.url).result == "Step 4 is next."
    assert "shorter" in server.asked[1]["messages"][-1]["content"]
    with serving(says('{"answer": "Step 4', "length")) as server:
        assert failure(client(server.url)).kind == "truncated"
    with serving(says(GOOD, "length")) as server:  # only what came after the object is missing
        assert ask(server.url).result == "Step 4 is next."


FAILING = {
    "refusal": (says(None, refusal="I cannot help with that."), "refused", 1),
    "filter": (says("", "content_filter"), "refused", 1),
    "500": (status(500, b"out of memory"), "status", 1),
    "404": (status(404), "status", 1),
    "redirection": (status(307), "status", 1),
    "401": (status(401), "denied", 1),
    "429": (status(429), "denied", 1),
    "400": (status(400, b"context too long"), "rejected", 3),
    "no JSON": (raw(b"\xff\x00<html>"), "garbage", 1),
    "other JSON": (raw(b"[1]"), "garbage", 1),
    "no choices": (raw(b'{"choices": []}'), "garbage", 1),
    "no message": (raw(b'{"choices": [{"message": null}]}'), "garbage", 1),
    "deep": (raw(b"[" * 200_000), "garbage", 1),
    "huge": (raw(b" " * ((1 << 20) + 1)), "too_large", 1),
    "hang up": (hangs_up, "garbage", 1),
    "deep inside": (says('{"a":' * 5000), "invalid", 2),
}


@pytest.mark.parametrize("name", FAILING)
def test_every_failure_has_a_kind_and_a_reason(name):
    answer, kind, calls = FAILING[name]
    with serving(answer) as server:
        failed = failure(client(server.url))
    assert (failed.kind, len(server.asked)) == (kind, calls)
    assert failed.reason


@pytest.mark.parametrize("answer", [hangs, drips])
def test_a_server_that_hangs_costs_its_time_once(answer):
    clock = Clock()
    with serving(answer) as server:
        asking = client(server.url, clock)
        assert failure(asking, 0.3).kind == "timeout"
        for _ in range(100):
            assert failure(asking, 0.3).kind == "paused"
        assert len(server.asked) == 1


def test_an_unreachable_server_fails_with_a_reason():
    with serving(says(GOOD)) as server:
        url = server.url
    failed = failure(client(url))
    assert (failed.kind, failed.usage.tokens_in) == ("unreachable", 0)


def test_a_server_that_fails_is_left_alone_for_longer_each_time():
    clock = Clock()
    with serving(status(500)) as server:
        asking = client(server.url, clock)
        for pause in (30, 60, 120, 240, 480, 900, 900):
            assert failure(asking).kind == "status"
            clock.forward(pause - 1)
            assert failure(asking).kind == "paused"
            clock.forward(1)
        server.script = [says(GOOD)]
        assert asking.ask(REQUEST, 5.0).result
        server.script = [status(500)]
        assert failure(asking).kind == "status"
        clock.forward(30)
        assert failure(asking).kind == "status"


def test_a_few_useless_answers_are_tolerated():
    with serving(says(None, refusal="no")) as server:
        asking = client(server.url)
        kinds = [failure(asking).kind for _ in range(breaker.PATIENCE + 1)]
    assert kinds == ["refused"] * breaker.PATIENCE + ["paused"]


def test_after_a_pause_one_caller_tries():
    found = breaker.Breaker()
    found.failed(0.0, "it failed")
    assert "next attempt in 10 s" in (found.refusal(20.0) or "")
    assert found.refusal(30.0) is None
    assert found.refusal(31.0) is not None


def test_a_key_is_sent_only_to_its_server(monkeypatch):
    monkeypatch.setenv("MY_KEY", "s3cret")
    with serving(status(401, b"bad key s3cret")) as server:
        failed = failure(client(server.url, model_local_key_env="MY_KEY"))
        assert server.keys == ["Bearer s3cret"]
    assert "s3cret" not in str(server.asked)
    assert failed.kind == "denied"
    assert "s3cret" not in failed.reason
    monkeypatch.setenv("MY_KEY", "s3\ncret")
    failed = failure(client(server.url, model_local_key_env="MY_KEY"))
    assert failed.kind == "misconfigured"
    assert "cret" not in failed.reason


@pytest.mark.parametrize(
    "settings",
    [{"model_local_name": ""}, {"model_local_url": "localhost:1"}, {"model_local_url": "http://u:p@h/"}],
)
def test_invalid_settings_are_named(settings):
    given = {"model_local_url": "http://127.0.0.1:1/v1", "model_local_name": "tiny", **settings}
    failed = failure(ModelServer("local", load_settings({}, **given)))
    assert failed.kind == "misconfigured"
    assert next(iter(settings)) in failed.reason


@pytest.mark.parametrize("usage", [None, (-1, "x"), (10**30, True)])
def test_usage_is_estimated_if_the_server_does_not_report_it(usage):
    with serving(says(GOOD, usage=usage)) as server:
        used = ask(server.url).usage
    assert 10 < used.tokens_in < 60
    assert 5 < used.tokens_out < 40
