"""Claims: one agent at a time, with a lease, a heartbeat and a fencing token."""

from __future__ import annotations

import pytest

from tests.support import refused


@pytest.fixture
def one(memory):
    return memory.acting_as(agent="one")


@pytest.fixture
def two(memory):
    return memory.acting_as(agent="two")


def test_a_claim_has_a_holder_a_token_and_an_end(memory, one, task):
    written = one.task_claim(task)
    assert (written.token, written.expires_at) == (1, "2026-03-01T12:05:00.000Z")
    (claim,) = memory.task_get(task).claims
    assert claim.to_dict() == {
        "step": "",
        "holder": "one/S",
        "token": 1,
        "expires_at": "2026-03-01T12:05:00.000Z",
        "reason": None,
    }


def test_holder_and_lease_can_be_given(memory, task):
    memory.task_claim(task, item="Push", holder="Ada", lease_seconds=60)
    (claim,) = memory.task_get(task).claims
    assert (claim.step, claim.holder, claim.expires_at) == ("s2", "Ada", "2026-03-01T12:01:00.000Z")


def test_without_an_agent_and_a_session_the_principal_holds_a_claim(memory, task):
    memory.acting_as(agent="", session="").task_claim(task)
    assert memory.task_get(task).claims[0].holder == "owner"


def test_a_live_claim_keeps_others_out(memory, one, two, task, clock):
    one.task_claim(task)
    clock.forward(299)
    with refused(memory, "already_claimed", naming="one/S") as caught:
        two.task_claim(task)
    assert caught.value.details == {"holder": "one/S", "expires_at": "2026-03-01T12:05:00.000Z"}


def test_an_expired_claim_can_be_taken_by_anyone(memory, one, two, task, clock):
    one.task_claim(task)
    clock.forward(300)
    assert two.task_claim(task).token == 2
    (claim,) = memory.task_get(task).claims
    assert (claim.holder, claim.reason) == ("two/S", "lease expired")
    assert memory.task_thread(task).events[-1].data["from"] == "one/S"


def test_a_live_claim_can_be_taken_with_a_reason_that_is_kept(memory, one, two, task):
    one.task_claim(task)
    assert two.task_claim(task, reclaim="one is stuck").token == 2
    (claim,) = memory.task_get(task).claims
    assert (claim.holder, claim.reason) == ("two/S", "one is stuck")
    event = memory.task_thread(task).events[-1]
    assert (event.type, event.text) == ("claim.taken", "one is stuck")


def test_an_agent_takes_its_own_claim_again_with_a_new_token(memory, one, task):
    assert [one.task_claim(task).token for _ in range(3)] == [1, 2, 3]
    one.task_update(task, "still mine")


def test_steps_are_claimed_each_for_themselves(memory, one, two, task):
    one.task_claim(task, item="s1")
    two.task_claim(task, item="s2")
    assert {(claim.step, claim.holder) for claim in memory.task_get(task).claims} == {
        ("s1", "one/S"),
        ("s2", "two/S"),
    }
    with refused(memory, "already_claimed", naming="step s1"):
        two.task_claim(task, item=1)


# --- fencing ----------------------------------------------------------------------------------------

WRITES = {
    "task_update": {"message": "late"},
    "task_finish": {"answer": "late"},
    "task_link": {"target": "a goal", "kind": "goal"},
    "task_plan_replace": {"plan": ["late"]},
    "task_plan_append": {"items": ["late"]},
    "task_item_update": {"item": "s1", "status": "done"},
    "task_log_action": {"summary": "late"},
    "task_log_append": {"action": 2, "content": "late"},
    "task_decide": {"choice": "late"},
    "task_exclude": {"what": "late"},
    "task_set": {"name": "late", "value": 1},
    "task_remember": {"summary": "late"},
    "task_snapshot": {"content": "late"},
    "task_intent": {"what": "late"},
    "task_outcome": {"intent": 3, "outcome": "did"},
    "task_undo": {},
}


@pytest.fixture
def contested(memory, one, two, task, clock):
    """A task that `one` held and that `two` holds now."""
    memory.task_log_action(task, "an action")
    memory.task_intent(task, what="an intent")
    one.task_claim(task)
    clock.forward(301)
    two.task_claim(task)
    return task


def test_an_agent_that_lost_its_claim_cannot_write(memory, one, contested):
    for call in WRITES:
        with refused(memory, "stale_token"):
            getattr(one, call)(contested, **WRITES[call])


def test_a_stale_token_cannot_write(memory, contested):
    for call in WRITES:
        with refused(memory, "stale_token"):
            getattr(memory, call)(contested, **WRITES[call], token=1)


@pytest.mark.parametrize("call", WRITES)
def test_the_one_who_holds_the_claim_can_write(memory, two, contested, call):
    assert getattr(two, call)(contested, **WRITES[call]).task_id == contested
    memory.task_update(contested, "with the token", token=2)


def test_an_agent_that_never_claimed_anything_can_write(memory, contested):
    assert memory.task_update(contested, "hello").seq > 0


def test_the_token_of_one_step_is_not_valid_for_another(memory, one, two, task, clock):
    stale = one.task_claim(task, item="s1").token
    clock.forward(301)
    two.task_claim(task, item="s1")
    memory.acting_as(agent="three").task_claim(task, item="s2")
    with refused(memory, "stale_token"):
        memory.task_item_update(task, "s1", status="done", token=stale)


def test_an_agent_that_lost_its_claim_can_claim_again(memory, one, two, contested):
    two.task_release(contested)
    with refused(memory, "stale_token"):
        one.task_update(contested, "not yet")
    one.task_claim(contested)
    one.task_update(contested, "now")


def test_losing_one_task_does_not_lock_an_agent_out_of_another(memory, one, contested):
    other = memory.task_register("other").task_id
    one.task_claim(other)
    one.task_update(other, "fine")


def test_claiming_another_step_does_not_give_back_the_one_that_was_lost(memory, one, two, task, clock):
    one.task_claim(task, item="s1")
    clock.forward(301)
    two.task_claim(task, item="s1")
    one.task_claim(task, item="s2")
    with refused(memory, "stale_token"):
        one.task_item_update(task, "s1", status="done")


def test_a_claim_that_was_refused_leaves_the_one_that_is_held(memory, one, two, task):
    other = memory.task_register("other").task_id
    one.task_claim(task)
    two.task_claim(other)
    with refused(memory, "already_claimed"):
        one.task_claim(other)
    one.task_update(task, "still mine")
    two.task_claim(task, reclaim="it is slow")
    with refused(memory, "stale_token"):
        one.task_update(task, "no longer mine")


def test_a_claim_that_is_repeated_with_its_key_still_lets_its_holder_write(memory, one, task):
    first = one.task_claim(task, item="s1", key="k")
    assert one.task_claim(task, item="s1", key="k") == first
    one.task_update(task, "still mine")


# --- heartbeat --------------------------------------------------------------------------------------


def test_a_heartbeat_renews_the_lease_and_leaves_no_event(memory, one, two, task, clock):
    one.task_claim(task)
    seq = memory.task_get(task).seq
    clock.forward(200)
    written = one.task_heartbeat(task, lease_seconds=1000)
    assert (written.token, written.expires_at) == (1, "2026-03-01T12:20:00.000Z")
    assert memory.task_get(task).claims[0].expires_at == "2026-03-01T12:20:00.000Z"
    assert memory.task_get(task).seq == seq
    clock.forward(900)
    with refused(memory, "already_claimed"):
        two.task_claim(task)
    assert memory.verify().ok


def test_a_heartbeat_with_a_token_works_from_anywhere(memory, one, task):
    token = one.task_claim(task, item="s1").token
    assert memory.task_heartbeat(task, item="Build", token=token).token == token


def test_a_heartbeat_without_the_claim_is_refused(memory, one, two, contested):
    with refused(memory, "stale_token"):
        one.task_heartbeat(contested)
    with refused(memory, "stale_token"):
        memory.task_heartbeat(contested, token=1)
    with refused(memory, "stale_token"):
        two.task_heartbeat(contested, item="s1")
    assert two.task_heartbeat(contested).token == 2


# --- release ----------------------------------------------------------------------------------------


def test_a_claim_that_is_given_back_is_free_and_its_token_never_comes_back(memory, one, two, task):
    one.task_claim(task)
    one.task_release(task, reason="lunch")
    assert memory.task_get(task).claims == ()
    event = memory.task_thread(task).events[-1]
    assert (event.type, event.text, event.data) == (
        "claim.released",
        "lunch",
        {"holder": "one/S", "token": 1},
    )
    assert two.task_claim(task).token == 2
    with refused(memory, "stale_token"):
        memory.task_update(task, "late", token=1)


def test_the_one_who_released_may_write_without_a_claim(memory, one, task):
    one.task_claim(task)
    one.task_release(task)
    one.task_update(task, "by the way")


def test_only_the_holder_releases(memory, one, two, contested):
    with refused(memory, "stale_token"):
        one.task_release(contested)
    with refused(memory, "stale_token"):
        memory.task_release(contested)
    with refused(memory, "stale_token"):
        memory.task_release(contested, token=1)
    memory.task_release(contested, token=2)
    assert memory.task_get(contested).claims == ()


def test_a_claim_that_cannot_be_is_refused(memory, task):
    for call, arguments, code in [
        ("task_claim", {"lease_seconds": 0}, "invalid_argument"),
        ("task_claim", {"lease_seconds": 604_801}, "invalid_argument"),
        ("task_claim", {"lease_seconds": float("nan")}, "invalid_argument"),
        ("task_claim", {"holder": "x" * 201}, "too_large"),
        ("task_claim", {"holder": " "}, "invalid_argument"),
        ("task_claim", {"reclaim": " "}, "invalid_argument"),
        ("task_claim", {"item": "nowhere"}, "step_not_found"),
        ("task_heartbeat", {"lease_seconds": -1}, "invalid_argument"),
        ("task_heartbeat", {"item": "nowhere"}, "step_not_found"),
        ("task_heartbeat", {}, "stale_token"),
        ("task_release", {"reason": 5}, "invalid_argument"),
        ("task_release", {"item": "nowhere"}, "step_not_found"),
        ("task_release", {}, "stale_token"),
    ]:
        with refused(memory, code):
            getattr(memory, call)(task, **arguments)


def test_a_release_whose_answer_was_lost_is_repeated_with_its_key(memory, one, task):
    token = one.task_claim(task, item="s1").token
    # The first try was written, but this memory never heard of it.
    first = memory.task_release(task, item="s1", token=token, key="k")
    assert one.task_release(task, item="s1", token=token, key="k") == first
    one.task_update(task, "free again")
