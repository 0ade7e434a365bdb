"""Names of tasks from prompts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ringbolt.requests.task_name import MOST_CHARACTERS, task_name


def test_the_verb_phrase_without_courtesies_is_the_name() -> None:
    names = {
        "please can you fix the login page?": "Fix the login page",
        "Hi! Could you please add a dark theme": "Add a dark theme",
        "ok, let's rename the parser": "Rename the parser",
        "I'd like you to remove the old cache.": "Remove the old cache",
        "can you help me understand how retries work?": "Understand how retries work",
        "Fix the typo in README.md": "Fix the typo in README.md",
    }
    assert {prompt: task_name(prompt) for prompt in names} == names


def test_a_question_stays_a_question() -> None:
    assert task_name("Q: why is the export so slow?") == "Why is the export so slow?"
    assert task_name("can you tell me why the export is slow?") == "Why the export is slow?"


def test_labels_are_left_out() -> None:
    assert task_name("brainstorm: how could we shrink the image?") == "How could we shrink the image?"
    assert task_name("Task: migrate the queue to Redis") == "Migrate the queue to Redis"
    assert (
        task_name("brainstorm:\n- cache the tiles of the map\n- off by default")
        == "Cache the tiles of the map"
    )
    assert task_name("Fix this bug: it crashes") == "Fix this bug: it crashes"


def test_the_words_that_announce_another_topic_are_left_out() -> None:
    notes = "Write the release notes for version 3"
    for opening in (
        "Now something completely different:",
        "Ok, now for something else -",
        "Thanks! A new task:",
        "New task:",
    ):
        assert task_name(f"{opening} write the release notes for version 3.") == notes
    assert task_name("Try something else in the parser") == "Try something else in the parser"


def test_a_plan_is_named_by_its_own_title() -> None:
    plan = "Implement the following plan:\n\n# {}\n\n## Context\n\nTiles are fetched each time."
    assert task_name(plan.format("Plan: Cache the Map Tiles")) == "Cache the Map Tiles"
    assert task_name(plan.format("Map Tile Cache Implementation Plan")) == "Map Tile Cache"
    assert (
        task_name("Implement the following plan:\n1. cache the tiles\n2. test it")
        == "cache the tiles".capitalize()
    )


def test_pasted_output_and_roles_do_not_name_a_task() -> None:
    pasted = "```\nTraceback (most recent call last):\n  boom\n```\nfix this crash in the importer"
    assert task_name(pasted) == "Fix this crash in the importer"
    role = (
        "You are a senior engineer with deep knowledge of SQL.\n\nReview the migration of the orders table."
    )
    assert task_name(role) == "Review the migration of the orders table"


def test_the_request_after_a_scene_names_the_task() -> None:
    prompt = "in the checkout we have a form for vouchers, can you add a field for gift cards?"
    assert task_name(prompt) == "Add a field for gift cards"


def test_paths_links_and_mentions_are_short() -> None:
    assert (
        task_name("look at /home/ann/work/shop/docs/plans/TASK.md and start") == "Look at TASK.md and start"
    )
    assert task_name("fix https://github.com/acme/shop/issues/12 please") == "Fix shop#12 please"
    assert task_name("update @CHANGELOG.md for the release") == "Update CHANGELOG.md for the release"
    assert task_name("read [the guide](https://example.org/guide) again") == "Read the guide again"
    assert task_name("the deploy failed, https://ci.example.org/runs/991") == "The deploy failed"


def test_a_slash_command_is_named_by_what_it_is_given() -> None:
    assert task_name("/plan add a search box to the header") == "Add a search box to the header"
    assert task_name("/review") == "Review"
    assert task_name("/review 42") == "Review 42"
    assert task_name(" /workflows:code-review") == "Workflows: code review"


def test_names_from_code_stay_as_they_are() -> None:
    assert task_name("`parse_line` drops the last field") == "parse_line drops the last field"
    assert task_name("parse_line drops the last field") == "parse_line drops the last field"
    assert task_name("make `_read_head` public") == "Make _read_head public"


def test_a_long_request_ends_with_a_clause_or_a_word() -> None:
    clause = (
        "move the session store to Redis, because the table of sessions is locked too often in the evening"
    )
    assert task_name(clause) == "Move the session store to Redis"
    word = "compare the totals of every monthly invoice with the accounting export of the previous year"
    assert task_name(word) == "Compare the totals of every monthly invoice…"


def test_a_prompt_without_words_has_no_name() -> None:
    assert task_name("") == ""
    assert task_name("  \n ") == ""


@given(st.text(max_size=300))
def test_a_name_is_one_short_line(prompt: str) -> None:
    name = task_name(prompt)
    assert len(name) <= MOST_CHARACTERS
    assert len(name.splitlines()) <= 1


@given(st.lists(st.text("abcdefghij", min_size=1, max_size=14), min_size=1, max_size=40))
def test_no_word_is_cut(words: list[str]) -> None:
    name = task_name(" ".join(words)).rstrip("…")
    assert {word.lower() for word in name.split()} <= set(words)


def test_a_prompt_of_code_or_a_path_alone_has_a_name_too() -> None:
    assert task_name("```python\nraise SystemExit(main())\n```") == "Raise SystemExit(main())"
    assert task_name("@src/app/main.py") == "main.py"
    assert task_name("can you do me a favour and fix the login") == "Fix the login"
