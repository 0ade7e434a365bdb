"""What a task says about its present ends with what it was about."""

from __future__ import annotations

import pytest


@pytest.fixture
def user(memory):
    return memory.acting_as(channel="user", agent="", session="")


def test_a_next_step_is_gone_when_it_is_done(memory, task):
    memory.task_update(task, "Built", step=1, step_status="completed", next="Push it to the registry")
    assert memory.task_get(task).next_step == "Push it to the registry"
    memory.task_step_update(task, 2, status="active")
    assert memory.task_get(task).next_step == "Push it to the registry"
    memory.task_step_update(task, 2, status="completed")
    assert memory.task_get(task).next_step is None
    assert "Push it to the registry" not in memory.task_resume(task).text.partition("Last words")[0]
    assert memory.verify().ok


def test_a_next_step_that_was_noted_during_a_step_outlives_that_step_only(memory, task):
    memory.task_step_update(task, 1, status="active")
    memory.task_update(task, next="tell the customers")
    memory.task_step_update(task, 1, status="completed")
    assert memory.task_get(task).next_step == "tell the customers"
    memory.task_step_update(task, 2, status="completed")
    assert memory.task_get(task).next_step is None


def test_a_new_text_replaces_the_old_one_and_stays(memory, task):
    memory.task_update(task, next="one")
    memory.task_update(task, step=1, step_status="completed", next="two")
    assert memory.task_get(task).next_step == "two"


def test_blockers_and_attention_end_with_the_step_that_they_were_about(memory, task):
    memory.task_step_update(task, 2, status="active")
    memory.task_update(task, "Denied", blockers=["no key"], attention="somebody must renew the key")
    memory.task_step_update(task, 1, status="completed")  # another one
    assert memory.task_get(task).blockers == ("no key",)
    memory.task_step_update(task, 2, status="completed")
    known = memory.task_get(task)
    assert (known.blockers, known.attention) == ((), None)
    assert "no key" not in memory.task_summary(task).text


def test_an_inferred_completion_counts_too(memory, task):
    memory.task_update(task, "Stuck", blockers=["the daemon is down"])
    memory.task_update(task, "Step 1 is done.")
    assert memory.task_get(task).steps[0].status == "completed"
    assert memory.task_get(task).blockers == ()


def test_what_the_user_wrote_is_left_to_the_user(memory, user, task):
    memory.task_step_update(task, 1, status="active")
    user.task_update(task, blockers=["wait for my word"], attention="call me first")
    memory.task_step_update(task, 1, status="completed")
    known = memory.task_get(task)
    assert (known.blockers, known.attention) == (("wait for my word",), "call me first")
    user.task_step_update(task, 1, status="pending")
    user.task_step_update(task, 1, status="active")
    user.task_step_update(task, 1, status="completed")
    assert memory.task_get(task).blockers == ()


def test_a_question_ends_with_its_step(memory, task):
    memory.task_remember(task, "Which tag?", type="question", step=1)
    other = memory.task_remember(task, "Which port?", type="question", step=3).seq
    memory.task_step_update(task, 1, status="completed")
    assert [entry.seq for entry in memory.task_get(task).questions] == [other]


def test_a_message_of_the_user_that_answers_a_question_closes_it_as_inferred(memory, user, task):
    question = memory.task_remember(task, "Which registry shall I push to?", type="question").seq
    answer = user.task_update(task, "Take the registry at ghcr.io, please; we have had enough of docker.").seq
    assert memory.task_get(task).questions == ()
    (closed,) = [entry for entry in memory.task_history(task, type="question") if entry.seq == question]
    assert closed.status == "resolved"
    event = memory.task_event(task, closed.replaced_by)
    assert (event.text, event.data["inferred"], event.origin.agent) == (
        f"answered by #{answer}", True, "ringbolt",
    )  # fmt: skip
    memory.task_undo(task, event.seq)
    assert len(memory.task_get(task).questions) == 1
    assert memory.verify().ok


@pytest.mark.parametrize(
    ("said", "is_answer"),
    [
        ("ghcr.io", True),
        ("yes", False),  # to a question that is not answered by yes or no
        ("Go on", False),
        ("Run the tests now", False),
        ("Why do you ask?", False),
        ("Push it to ghcr.io", True),
        ("Fix the registry docs first", False),  # shares a word, but orders something else
        ("ok, next task: rename the file", False),
        ("Please also update the changelog and the licence headers of all files while you are there.", False),
    ],
)
def test_only_what_can_be_an_answer_closes_a_question(memory, user, task, said, is_answer):
    memory.task_remember(task, "Which registry shall I push to?", type="question")
    user.task_update(task, said)
    assert (memory.task_get(task).questions == ()) is is_answer


@pytest.mark.parametrize(
    ("said", "is_answer"), [("3", True), ("Use 4 of them", True), ("Fix issue 17 first", False)]
)
def test_a_number_in_another_order_is_no_count(memory, user, task, said, is_answer):
    memory.task_remember(task, "How many replicas do you want?", type="question")
    user.task_update(task, said)
    assert (memory.task_get(task).questions == ()) is is_answer


def test_what_an_agent_says_answers_no_question(memory, task):
    memory.task_remember(task, "Which registry?", type="question")
    memory.task_update(task, "I think the registry is ghcr.io")
    assert len(memory.task_get(task).questions) == 1


@pytest.mark.parametrize(
    ("said", "is_answer"), [("Yes, do it", True), ("nein", True), ("Run them now", False)]
)
def test_yes_or_no_answers_a_question_that_asks_for_it(memory, user, task, said, is_answer):
    memory.task_remember(task, "Shall I drop the old table?", type="question")
    user.task_update(task, said)
    assert (memory.task_get(task).questions == ()) is is_answer
