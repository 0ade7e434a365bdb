"""What is proven and what nobody knows is said wherever a task is shown: packet, lists, files, answers."""

from __future__ import annotations

import os
import signal

import pytest

from ringbolt.model.types import Effect
from ringbolt.packet.effect_checks import OTHERWISE, check_of, natural_check
from tests.support import run_python

_DIES = """
import os, signal, sys
from ringbolt import TaskMemory
memory = TaskMemory.open(sys.argv[1], workspace=sys.argv[2], session="S", principal="owner", reserve_bytes=0)
memory.task_intent(sys.argv[3], what="Deploy the shop to production", verify="curl -s https://shop/version")
os.kill(os.getpid(), signal.SIGKILL)  # it was deployed, or it was not
"""


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def memory(opened, store_url, place):
    return opened(store_url, workspace=str(place), mirrors="active-tasks")


def killed_in_the_act(store_url, place, task):
    """A process says what it is about to do, and dies."""
    done = run_python(_DIES, store_url, str(place), task, check=False, PYTHONPATH=os.pathsep.join(_PATH))
    assert done.returncode == -signal.SIGKILL, done.stderr


_PATH = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + "/src"]
UNKNOWN = "unknown — verify with"


def asked(memory, task, question):
    return memory.task_ask(task, question).text


def test_an_intent_whose_process_was_killed_is_unknown_wherever_the_task_is_shown(
    memory, store_url, place, task
):
    killed_in_the_act(store_url, place, task)
    packet = memory.task_resume(task, budget=400).text
    line = '"Deploy the shop to production": unknown — verify with "curl -s https://shop/version"'
    assert line in packet
    (card,) = memory.task_list().tasks
    assert card.unknown == memory.task_get(task).unknown == memory.task_drill_down(task).task.unknown == 1
    (row,) = memory.active_tasks().active
    assert row.unknown == f"Deploy the shop to production: {UNKNOWN} curl -s https://shop/version"
    memory.mirrors_refresh()
    assert f"- **Outcome unknown:** Deploy the shop to production: {UNKNOWN}" in (
        place / "ACTIVE-TASKS.md"
    ).read_text(encoding="utf-8")
    assert f"Begun: Deploy the shop to production: {UNKNOWN}" in memory.active_tasks_block().text
    for question in ("did the deploy to production go through?", "what is unknown?", "side effects?"):
        answer = asked(memory, task, question)
        assert f'{UNKNOWN} "curl -s https://shop/version"' in answer, question
        assert "Yes" not in answer


@pytest.mark.parametrize(
    ("outcome", "verdict", "heading"),
    [
        ("did", "Yes: ", "Done outside, do not repeat"),
        ("did_not", "No: ", "Tried outside, did not happen"),
    ],
)
def test_discoveries_are_in_the_packet_and_in_answers(memory, task, outcome, verdict, heading):
    intent = memory.task_intent(task, what="Deploy the shop to production").seq
    memory.acting_as(channel="web").task_outcome(task, intent=intent, outcome=outcome, note="it says v7")
    word = outcome.replace("_", " ")
    packet = memory.task_resume(task).text
    effect = f'#{intent}a "Deploy the shop to production"; #{intent + 1}w "it says v7"'
    assert f"\n{heading}\n{effect}\n" in packet
    assert UNKNOWN not in packet
    assert memory.task_list().tasks[0].unknown == 0
    answer = memory.task_ask(task, "did the deploy to production go through?")
    assert answer.text.startswith(f'{verdict}"Deploy the shop to production": {word} #{intent}')
    assert "(web)" in answer.text
    assert asked(memory, task, "what is unknown?").startswith("No side effect has an unknown outcome.")


def test_an_effect_that_is_unknown_is_not_taken_for_done_because_its_step_was_reported(memory):
    task = memory.task_register("Ship", ["Build it", "Push the image"]).task_id
    memory.task_intent(task, what="Push the image")
    memory.task_update(task, step=2, step_status="completed")
    assert asked(memory, task, "did I push the image?").startswith("Unknown: ")
    memory.task_receipt(task, "docker manifest inspect app", item=2)
    assert asked(memory, task, "did I push the image?").startswith("Yes: step 2")


def test_what_is_verified_and_what_is_only_reported(memory, task):
    for step in ("Build", "Push"):
        memory.task_update(task, step=step, step_status="completed")
    assert asked(memory, task, "what is verified?") == (
        "None of 3 steps is verified; 2 completed steps are only reported."
    )
    memory.task_receipt(task, "make test", item="Build")
    assert (memory.task_list().tasks[0].done, memory.task_list().tasks[0].verified) == (2, 1)
    assert memory.task_get(task).verified == 1
    assert memory.active_tasks().active[0].evidence == "1 verified, 1 reported"
    packet = memory.task_resume(task).text
    assert "2 of 3 steps done, 1 verified" in packet
    assert "[v] s1" in packet
    assert "[x] s2" in packet
    assert asked(memory, task, "what is verified?").startswith('Verified 1 of 3 steps: 1 "Build"')
    reported = asked(memory, task, "what is not verified yet?")
    assert reported.startswith('Reported and not verified 1 of 3 steps: 2 "Push"')
    memory.task_log_action(task, "one more change", item="Build", files=["a.py"])
    assert memory.task_list().tasks[0].verified == 0
    assert memory.active_tasks().active[0].evidence == "2 reported"
    assert "[x] s1" in memory.task_resume(task).text


@pytest.mark.parametrize(
    ("what", "check"),
    [
        ("Mail invoice 2026-031 to the customer", "the outbox or the thread"),
        ("git push origin main", "git ls-remote, or the registry it goes to"),
        ("Charge the card", "the account's list of transactions"),
        ("Deploy the shop", "the version that runs there now"),
        ("Run the container app", "docker ps -a"),
        ("Drop the table orders_old", "whether it is still there"),
        ("Frobnicate", OTHERWISE),
    ],
)
def test_where_no_check_was_given_the_natural_one_is_named(what, check):
    assert natural_check(what) == check
    effect = Effect(seq=1, at="", what=what, status="intended")
    assert check_of(effect) == (check, False)
    assert check_of(effect.replace(verify="look")) == ("look", True)
