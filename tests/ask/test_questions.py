"""Questions are understood: what is asked for, about what, how many, when, and in which language."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.ask.answer_words import _words
from ringbolt.ask.question_lexicon import LANGUAGES
from ringbolt.ask.question_model import INTENTS
from ringbolt.ask.question_times import read_span
from ringbolt.ask.questions import understand
from ringbolt.ask.sentence_sorts import has_time
from tests.ask.asked import ASKED

# What the benchmark of recovery asks; these must be understood exactly.
KIT = {
    "What did the user ask for at the start?": "request",
    "What did the user ask for most recently?": "request",
    "Which plan steps are still open?": "open",
    "Which plan steps are completed?": "completed",
    "What is the current step?": "current",
    "What is the next step?": "next",
    "Which decisions were made, and why?": "decision",
    "Which files, names, versions, tickets and commits does the work need now?": "needs",
    "What did the user reject, and why?": "rejected",
    "What was tried and failed, and with which error?": "failed",
    "Which files were modified?": "files",
    "Which commits were made?": "commits",
}


def about(question):
    return understand(question)[0].about


def test_common_questions_are_understood():
    asked = [(intent, question) for intent, questions in ASKED.items() for question in questions]
    wrong = [(intent, question, about(question)) for intent, question in asked if about(question) != intent]
    assert len(asked) >= 350
    assert len(wrong) <= 0.08 * len(asked), wrong


@pytest.mark.parametrize("question", KIT)
def test_the_questions_of_the_kit_are_understood(question):
    (part,) = understand(question)
    assert part.about == KIT[question]


def test_every_intent_can_be_answered():
    assert set(ASKED) <= set(INTENTS)


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
        ("Warum haben wir Postgres gewählt?", "Postgres"),
        ("Wurde die Rechnung bezahlt?", "Rechnung bezahlt"),
    ],
)
def test_the_subject_is_a_question_without_its_question_words(question, topic):
    assert " ".join(understand(question)[0].subject) == topic


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
def test_a_wanted_number_of_results_is_understood(question, most):
    assert understand(question)[0].most == most


BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 4, 16, 20, tzinfo=BERLIN).timestamp()  # a Wednesday


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("what happened yesterday?", "03 00:00", "04 00:00"),
        ("what happened since yesterday", "03 00:00", None),
        ("what happened today", "04 00:00", "05 00:00"),
        ("what did we do this morning?", "04 00:00", "04 12:00"),
        ("what happened before lunch?", "04 00:00", "04 12:30"),
        ("what happened yesterday after lunch?", "03 12:30", "04 00:00"),
        ("what has happened since 14:00?", "04 14:00", None),
        ("what happened since 23:15", "03 23:15", None),
        ("what happened in the last hour", "04 15:20", None),
        ("what happened half an hour ago", "04 15:50", None),
        ("what changed two days ago", "02 16:20", None),
        ("what happened on Monday?", "02 00:00", "03 00:00"),
        ("what happened between 9 and 11 on Monday?", "02 09:00", "02 11:00"),
        ("what happened on 2 March?", "02 00:00", "03 00:00"),
        ("what happened since 2026-03-02", "02 00:00", None),
        ("Was ist gestern passiert?", "03 00:00", "04 00:00"),
        ("Que s'est-il passé hier ?", "03 00:00", "04 00:00"),
        ("¿Qué pasó ayer?", "03 00:00", "04 00:00"),
        ("昨天做了什么?", "03 00:00", "04 00:00"),
        ("昨日何がありましたか?", "03 00:00", "04 00:00"),
    ],
)
def test_times_are_read_in_the_askers_time_zone(question, start, end):
    span, _ = read_span(question)
    told = [at and f"{datetime.fromtimestamp(at, BERLIN):%d %H:%M}" for at in span.limits(NOW, BERLIN)]
    assert told == [start, end]


@pytest.mark.parametrize(
    ("question", "anchor"),
    [("what happened since #42", "#42"), ("what happened since the last compaction", "compaction")],
)
def test_an_event_is_understood_as_a_time(question, anchor):
    assert understand(question)[0].span.anchor == anchor


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("what is done and what is left?", ["completed", "open"]),
        ("What failed, and what comes next?", ["failed", "next"]),
        ("Was ist fertig und was ist noch offen?", ["completed", "open"]),
        ("Which decisions were made, and why?", ["decision"]),
    ],
)
def test_a_compound_question_has_parts(question, parts):
    assert [part.about for part in understand(question)] == parts


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "what is next?"), ("de", "Was kommt als Nächstes?"), ("fr", "Quelle est la prochaine étape ?"),
        ("es", "¿Cuál es el siguiente paso?"), ("pt", "Qual é o próximo passo?"),
        ("it", "Qual è il prossimo passo?"),
        ("nl", "Wat is de volgende stap?"), ("zh", "下一步是什么?"), ("ja", "次のステップは何ですか?"),
    ],
)  # fmt: skip
def test_each_language_is_understood(language, question):
    (part,) = understand(question)
    assert (part.language, part.about) == (language, "next")


def test_every_language_has_every_phrase():
    names = set(_words("en"))
    assert all(set(_words(language)) == names and all(_words(language).values()) for language in LANGUAGES)


def test_the_last_asking_sentence_of_a_long_text_counts():
    story = "We deployed the gateway and it failed. " * 200
    assert about(f"{story} What is the next step? Thank you.") == "next"


@given(
    st.text(max_size=400)
    | st.lists(
        st.sampled_from("what is not done why since # 1 last ? user yesterday 是 吗 hier".split())
    ).map(" ".join)
)
def test_any_text_is_understood(question):
    for intent in understand(question):
        assert intent.about in INTENTS
        assert intent.most is None or intent.most > 0


def test_hostile_text_gets_some_intent():
    pieces = (
        "a",
        "not yet ",
        "(",
        "what ",
        "\x00\x1b[2J",
        "last ",
        "? ",
        "#",
        "user not ",
        "'",
        "和什么",
        "between 9 and ",
    )
    for piece in pieces:
        assert about(piece * (100_000 // len(piece))) in INTENTS


def test_dates_are_recognised_in_sentences():
    for text in ("截止日期是11月28日", "締切は3月です", "due on 28 November", "at 14:30", "am Donnerstag"):
        assert has_time(text), text
    for text in ("2 teams of 11 people", "月光", "step 3 of 5"):
        assert not has_time(text), text
