"""Questions are understood: what is asked for, about what, how many, since when. Any text, quickly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.ask.answer_table import ABOUT
from ringbolt.ask.questions import understand
from ringbolt.ask.reply import moment
from tests.ask.asked import ASKED


@pytest.mark.parametrize("about", ASKED)
def test_a_question_is_understood(about):
    assert {question: understand(question).about for question in ASKED[about]} == dict.fromkeys(
        ASKED[about], about
    )


def test_the_table_is_large_and_everything_in_it_can_be_answered():
    assert sum(map(len, ASKED.values())) >= 350
    assert set(ASKED) == set(ABOUT)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Why did we choose Postgres over MySQL?", "Postgres MySQL"),
        ("what is the value of db_port", "db_port"),
        ("did I already push the image?", "push image"),
        ("How long did the build take?", "build"),
        ("what's BASE_URL set to", "BASE_URL"),
        ("Did I change src/app/config.yaml?", "src/app/config.yaml"),
        ("what is next?", ""),
        ("Which decisions were made, and why?", ""),
        ("is step 3 done?", ""),
    ],
)
def test_the_topic_is_what_is_left_without_the_words_that_questions_are_made_of(question, topic):
    assert understand(question).topic == topic


@pytest.mark.parametrize(
    ("question", "most"),
    [
        ("What were the last three decisions, and why?", 3),
        ("the 5 most recent errors", 5),
        ("last decision", 1),
        ("last couple of commits", 2),
        ("which decisions were made", None),
    ],
)
def test_a_number_that_is_wanted_is_understood(question, most):
    assert understand(question).most == most


@pytest.mark.parametrize(
    ("question", "when", "at"),
    [
        ("what happened since yesterday", "yesterday", "2026-02-28T00:00:00.000Z"),
        ("what happened today", "today", "2026-03-01T00:00:00.000Z"),
        ("what happened in the last hour", "1 hours", "2026-03-01T11:00:00.000Z"),
        ("what happened since an hour ago", "1 hours", "2026-03-01T11:00:00.000Z"),
        ("what happened in the last 30 minutes", "30 minutes", "2026-03-01T11:30:00.000Z"),
        ("what changed two days ago", "2 days", "2026-02-27T12:00:00.000Z"),
        ("what happened since 2026-02-01", "2026-02-01", "2026-02-01T00:00:00.000Z"),
        ("what happened since 2026-02-01T10:30:00Z", "2026-02-01t10:30:00z", "2026-02-01T10:30:00.000Z"),
        ("what happened since 9:15", "9:15", "2026-03-01T09:15:00.000Z"),
        ("what happened since 23:15", "23:15", "2026-02-28T23:15:00.000Z"),
        ("what happened since #42", "#42", None),
        ("what happened since the last compaction", "compaction", None),
    ],
)
def test_a_time_is_understood(question, when, at):
    assert understand(question).when == when
    assert moment(when, "2026-03-01T12:00:00.000Z") == at


def test_of_a_long_text_the_last_sentence_that_asks_counts():
    story = "We deployed the gateway and it failed. " * 200
    assert understand(f"{story} What is the next step? Thank you.").about == "next"


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from("what is not done why since # 1 last ? user".split())).map(" ".join)
)
def test_any_text_is_understood(question):
    intent = understand(question)
    assert intent.about in ABOUT
    assert intent.most is None or intent.most > 0


def test_hostile_text_is_understood_somehow():
    pieces = ("a", "not yet ", "(", "what ", "\x00\x1b[2J", "last ", "? ", "#", "user not ", "'")
    for piece in pieces:
        assert understand(piece * (100_000 // len(piece))).about in ABOUT
