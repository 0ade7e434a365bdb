"""Recognising new requests among prompts that go on with the present one."""

from __future__ import annotations

import pytest

from ringbolt.requests import request_trees
from ringbolt.requests.request_boundary import Moment, features, judge
from ringbolt.requests.trees import Trees
from ringbolt.requests.turns import Turn, turn_features

FINISHED = Moment(
    request="Add a voucher field to the checkout form and store the code with the order.",
    prompt="",
    message="Done. The form has a voucher field, and `Order.voucher_code` is stored. All tests pass.",
    recent=("Edit: src/checkout/form.py", "Edit: src/orders/models.py", "Bash: pytest tests/checkout"),
    files=("src/checkout/form.py", "src/orders/models.py"),
    steps_done=3,
    steps_total=3,
)


def is_new(prompt: str, moment: Moment = FINISHED, **changes: object) -> bool:
    return judge(moment.replace(prompt=prompt, **changes)).is_new


def test_another_topic_after_completion_is_a_new_request() -> None:
    prompts = [
        "Now something completely different: the nightly backup job writes empty archives, find out why.",
        "Unrelated: I noticed that the newsletter shows the wrong footer in Outlook, can you look into it?",
        "Implement the following plan:\n\n# Plan: Move sessions to Redis\n\nThe table is locked too often.",
    ]
    assert [prompt for prompt in prompts if not is_new(prompt)] == []


def test_a_short_prompt_may_declare_a_new_request() -> None:
    prompts = [
        "New task: add a dark theme", "ok, next task: update the CI file", "Unrelated: bump the version",
        "Now something completely different: write a haiku", "Different question: how do I run the tests?",
        "Forget that. Write the release notes for 1.2", "Let's move on to the export module",
    ]  # fmt: skip
    for message in ("Done. The form has a voucher field.", "It is 4.", "Want me to commit this?"):
        assert [prompt for prompt in prompts if not is_new(prompt, message=message, steps_total=0)] == []


def test_what_goes_on_with_the_work_is_not_a_new_request() -> None:
    prompts = [
        "yes", "go on", "commit this", "commit and push please", "why did you change the model?", "1",
        "no, the field should be optional", "can you add a test for it?", "it still fails",
        "also trim the code", "rename voucher_code to coupon_code", "what about the order confirmation?",
        "option B", "let's move on to step 3", "next task, please",
        "Order.voucher_code should be nullable", "the form test is failing now",
    ]  # fmt: skip
    assert [prompt for prompt in prompts if is_new(prompt)] == []


def test_work_that_is_under_way_goes_on() -> None:
    prompt = "also use the same style as in the address form"
    assert not is_new(prompt, message="Now the tests.", stopped=False, steps_done=1)


def test_the_same_prompt_sent_again_after_an_interruption_continues() -> None:
    assert not is_new(FINISHED.request, message="", stopped=False, interrupted=True, steps_done=0)


BEFORE = (
    Turn(
        prompt=FINISHED.request,
        said=(FINISHED.message,),
        actions=("Edit: src/checkout/form.py", "Edit: src/orders/models.py", "Bash: pytest tests/checkout"),
    ),
)
PAGES = "The invoice PDF has no page numbers, please add them to the footer of every page."


def after(prompt: str, *actions: str, reply: str = "Let me see.", then: tuple[Turn, ...] = ()) -> Moment:
    turn = Turn(prompt=prompt, said=(reply,), actions=actions)
    return FINISHED.replace(prompt=prompt, before=BEFORE, after=(turn, *then))


def test_what_the_agent_did_with_a_prompt_moves_the_verdict() -> None:
    same = after(PAGES, *BEFORE[0].actions, reply="I'll adjust the checkout form and the voucher field.")
    other = after(
        PAGES, "Read: src/invoices/pdf.py", "Edit: src/invoices/layout.py", reply="Looking at invoices."
    )
    assert judge(other).score > judge(same).score


def test_the_turns_that_follow_move_the_verdict() -> None:
    first = ("Read: src/invoices/pdf.py", "Edit: src/invoices/layout.py")
    stays = Turn(prompt="also number the cover of the invoice", actions=("Edit: src/invoices/layout.py",))
    returns = Turn(prompt="the voucher field of the checkout form is empty", actions=BEFORE[0].actions)
    assert (
        judge(after(PAGES, *first, then=(stays,))).score > judge(after(PAGES, *first, then=(returns,))).score
    )


def test_words_of_the_whole_project_do_not_make_two_turns_alike() -> None:
    """What every turn is about says nothing about which part of it is meant."""
    history = tuple(Turn(prompt=f"Change the warehouse importer, part {part}") for part in ("ab", "cd", "ef"))
    alike = "the turn is about the last turn"
    common = turn_features(history, (Turn(prompt="Does the warehouse importer log anything?"),))[alike]
    special = turn_features(history, (Turn(prompt="What is in part ef?"),))[alike]
    assert special > common


def test_a_commit_ends_the_work_before() -> None:
    def committed(*actions: str) -> float:
        return features(FINISHED.replace(prompt=PAGES, actions=actions))["the work was committed"]

    for action in ("Bash: git commit -m x", "Bash: Commit the voucher field", "Bash: gh pr create"):
        assert committed("Edit: a.py", action) == 1.0, action
    for action in ("Edit: a.py", "Bash: git log", "Bash: Show recent commits"):
        assert committed(action) == 0.0, action


def test_how_the_agent_took_a_prompt_moves_the_verdict() -> None:
    prompt = "The invoice PDF has no page numbers."
    plain = judge(after(prompt, "Read: src/pdf.py")).score
    announced = after(prompt, "Read: src/pdf.py", reply="I'll see.")
    taken_up = after(prompt, "Edit: src/pdf.py", reply="Good catch. Let me see.")
    assert judge(announced).score > plain > judge(taken_up).score


def test_a_verdict_says_why() -> None:
    new = judge(
        FINISHED.replace(prompt="Unrelated: I noticed that the weekly report is sent twice, find out why.")
    )
    assert new.reasons == ("declares a new request",)
    assert "the turn is about the last turn" in judge(after("also the total", *BEFORE[0].actions)).reasons
    assert not judge(FINISHED.replace(prompt="yes")).is_unsure


def test_the_trees_ask_for_features_that_exist_and_a_score_is_the_sum_of_their_shares() -> None:
    looks = (
        (request_trees.FIRST_LOOK, features(FINISHED.replace(prompt="go on"))),
        (request_trees.SECOND_LOOK, features(after("go on", "Edit: a.py"))),
    )
    for trees, found in looks:
        assert set(trees.names) <= found.keys()
        score, shares = trees.score(found)
        assert score == pytest.approx(trees.bias + sum(shares.values()))


def test_a_tree_is_read_from_its_forks_and_leaves() -> None:
    trees = Trees(bias=-1.0, doubt=0.0, names=("size", "age"), text="0<2.5 0.5 1<1.0 3.0 -4.0\n0.25")
    assert trees.score({"size": 2.0, "age": 0.0})[0] == -0.25
    assert trees.score({"size": 3.0, "age": 1.0}) == (2.25, {"size": 1.5, "age": 1.5})
    assert trees.score({"size": 3.0, "age": 2.0})[0] == -4.75


def test_any_text_gets_a_verdict() -> None:
    for prompt in ("", " ", "```\ncode\n```", "> quoted", "x" * 100_000, "/review", "?", "\n\n"):
        for moment in (FINISHED, Moment(request="", prompt=""), after(prompt)):
            assert isinstance(judge(moment.replace(prompt=prompt)).score, float)


def test_a_prompt_that_says_to_go_on_goes_on_whatever_else_it_says() -> None:
    for prompt in (
        "Your terminal crashed. Carry on. Marta still hasn't signed off, by the way.",
        "Something else came up, sorry. Continue where you left off.",
        "ok, keep going, but skip the docs",
    ):
        assert not judge(FINISHED.replace(prompt=prompt)).is_new, prompt
    # A feature that is about going on is a request like others.
    feature = "Now something completely different: add a button to the player that lets people resume a film."
    assert judge(FINISHED.replace(prompt=feature)).is_new


def test_leave_and_the_same_trouble_go_on_unless_another_matter_follows() -> None:
    same = (
        "yes, and please document the new export as well", "2. and keep the old importer for the warehouse",
        "ok, please go ahead with the PDF library", "it's still the same error in the gateway log",
        "hmm, another error: the nightly backup says that the disk is full",
    )  # fmt: skip
    turned = after("", "Read: src/invoices/pdf.py", "Edit: src/invoices/layout.py").after
    for prompt in same:
        assert judge(FINISHED.replace(prompt=prompt, before=BEFORE, after=turned)).score < -5, prompt
    for prompt in (
        "Yes, thanks. Now the invoice PDF: it has no page numbers.",
        "I still have a problem with the invoices: the PDF has no page numbers.",
    ):
        assert judge(FINISHED.replace(prompt=prompt)).score > -5, prompt
