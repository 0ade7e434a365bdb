"""A text of a model is used only if the ledger agrees."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.llm import faithful
from ringbolt.model.types import Step

TITLES = {
    "s1": ("Build the Docker image", "completed"),
    "s2": ("Push it to the registry", "completed"),
    "s3": ("Connect to the server", "completed"),
    "s4": ("Pull image and run container", "active"),
    "check-health": ("Check the health endpoint", "pending"),
}
PLAN = faithful.Plan(
    steps=tuple(
        Step(id=name, ordinal=number, title=title, status=status, detail={})
        for number, (name, (title, status)) in enumerate(TITLES.items(), 1)
    )
)
GIVEN = "The image is coursefolio:v1.2.3, port 8080, config/prod.toml. Read it at https://docs.local/run #7"

TRUE = """
Completed steps 1-3. Next: Step 4 — pull image and run container.
Steps 1-3 are done, step 4 is next.
Steps 1, 2 and 3 are completed and step 4 is in progress.
The image was built and pushed (#3). You are now on step 4, pulling the image.
3 of 5 steps are done; 2 steps are left.
Three steps are done.
Step 4 is not done yet.
Step 4 has not been completed, and check-health is pending.
Not all steps are done.
The task is not finished.
The current step is "Pull image and run container" (s4).
Next is step 4, once it is done comes check-health.
The image coursefolio:v1.2.3 runs on port 8080.
Step 5 will be done after step 4.
The first step is done.
Nothing is blocking step 4.
""".strip().splitlines()
FALSE = """
Step 4 is done.
Step 4 is now complete.
Steps 1-4 are done.
Steps 1 to 4 have been completed.
Completed step 4, next is step 5.
Completed: step 1, step 2, step 4.
Step 1, step 4 and step 2 are done.
Step 4, which was next, is done.
Step four is finished.
The fourth step is done.
The last step has been completed.
s4 is completed (#3).
check-health: done
Pull image and run container is done.
The image was pulled and the container ran.
The container is running: the image has been pulled and run.
All steps are done.
Everything is finished.
The task is complete.
4 of 5 steps are done.
Four steps are completed.
5/5 ✅ all green
✓ Step 4
[x] Check the health endpoint
The health endpoint was checked.
Step 4 passed.
Now step 4 is done and step 5 is next.
Completed step 1 and also step 4.
There was no error, step 4 is done.
It is not late and step 4 is done.
Step 4 can be considered done.
""".strip().splitlines()


@pytest.mark.parametrize("text", TRUE)
def test_texts_that_agree_with_the_plan_pass(text):
    faithful.check(text, PLAN, [3, 7], GIVEN)


@pytest.mark.parametrize("text", FALSE)
def test_a_step_may_not_be_called_done_too_early(text):
    with pytest.raises(ValueError, match="done, which the facts do not say"):
        faithful.check(text, PLAN, [3, 7], GIVEN)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The build worked (#999).", "cites #999"),
        ("The image is coursefolio:v1.2.4.", "v1.2.4"),
        ("It listens on port 9090.", "9090"),
        ("Look at https://evil.example/x now.", "evil.example"),
        ("The value stands in config/other.toml.", "config/other.toml"),
        ("Schritt vier ist erledigt, danach kommt noch der letzte Schritt.", "not in English"),
        ("步骤 4 已完成 步 骤 四 已 经 完 成 了 全 部", "not in English"),
    ],
)
def test_names_and_citations_come_from_the_facts(text, why):
    with pytest.raises(ValueError, match=why):
        faithful.check(text, PLAN, [3, 7], GIVEN)


def test_titles_may_contain_any_words():
    item = Step(id="s1", ordinal=1, title="Complete the done list", status="pending", detail={})
    faithful.check("Next: Complete the done list.", faithful.Plan(steps=(item,)), [], "")


def test_a_task_without_steps_is_done_when_it_is_over():
    faithful.check("The task is done.", faithful.Plan(over=True), [], "")
    with pytest.raises(ValueError, match="done"):
        faithful.check("The task is done.", faithful.Plan(), [], "")


@given(st.text(max_size=300))
def test_any_text_is_judged(text):
    with suppress(ValueError):
        faithful.check(text, PLAN, [1], GIVEN)


def test_a_false_claim_behind_a_long_text_is_found():
    for text in ("step 4 " * 300, "no " * 2000, "1-" * 3000, "a/" * 3000, "all done " * 500, "x" * 20_000):
        with pytest.raises(ValueError, match=r"\w"):
            faithful.check(f"{text}, step 4 is done", PLAN, [1], GIVEN)
