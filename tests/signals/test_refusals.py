"""Prompts that say that the call before them was refused, and prompts that speak of something else."""

from __future__ import annotations

import pytest

from ringbolt.signals.calls.refusals import refuses_call

REFUSES = [
    ("I don't want you to push to main.", "git push origin main"),
    ("Never push without asking", "git push"),
    ("I did not approve the migration", "python manage.py migrate"),
    ("I declined that call because the release is frozen.", "npm publish"),
    ("I rejected it. Look at the plan first.", "terraform apply"),
    ("Declined. Use the staging cluster.", "kubectl apply -f a.yaml"),
]
OTHERS = [
    ("I can't accept this API", "git push"),
    ("I don't accept null values in that column; reject them", "git push"),
    ("I rejected the plan of yesterday.", "git push"),
    ("No, leave the docs as they are.", "git push"),
    ("Don't use tabs", "git push"),
    ("Continue", "git push"),
]


@pytest.mark.parametrize(("prompt", "what"), REFUSES)
def test_a_refusal_speaks_of_the_call(prompt, what):
    assert refuses_call(prompt, what, ended_turn=False)


@pytest.mark.parametrize(("prompt", "what"), OTHERS)
def test_what_is_about_something_else_refuses_nothing(prompt, what):
    assert not refuses_call(prompt, what, ended_turn=False)


def test_a_plain_no_refuses_only_the_call_that_it_follows():
    assert refuses_call("No, use staging.", "helm upgrade api", ended_turn=True)
    for prompt in ("No problem, go on", "Don't forget the changelog", "Now the docs."):
        assert not refuses_call(prompt, "helm upgrade api", ended_turn=True), prompt
