"""Recall: no query raises, whatever is in it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.speed import build
from ringbolt import RingboltError
from ringbolt.signals.terms import read_query
from tests.support import examples, open_memory

ENTRIES = examples(1_200)
WORDS = "deploy image build cache token schema index worker retry queue timeout branch merge release".split()
HOSTILE = [
    "NEAR(", "NEAR(a b, 5)", '"unbalanced', "body:secret", "words:x", "*", "-", "^a", "a AND", "OR", "NOT a",
    "{a b}: c", "a + b", "'", "''", "\\", "a\\'b", ":*", "'a':*", "!a", "a & b | c", "<->", "a <2> b", "%",
    "x') OR 1=1--", "'; DROP TABLE words; --", "\0", "a\0b", "\ud800", "\ufffe", "\u202e", "\U000e0041", "_",
    ":match", "?", "$1", "%s %(a)s", "\ue000", "\ue001", "\uf8ff",
]  # fmt: skip
LONG = [
    "a" * 100_000, "*" * 100_000, '"' * 100_000, '"a" ' * 25_000, "deploy " * 15_000, "deploy* " * 15_000,
    "a* b* c* d* e* f* g* h* i* j*", " ".join(WORDS), " ".join(f"{word}*" for word in WORDS),
    " ".join(f'"{word}"' for word in WORDS), '"deploy image" "image build"', "数" * 30_000,
    " ".join(f"w{number}" for number in range(20_000)), "a/" * 50_000, "a.b" * 30_000, "\n" * 100_000,
    "January 1 " * 10_000, "e\u0301" * 40_000, "aB" * 50_000, "the of to in " * 9000,
]  # fmt: skip


def fill(memory):
    """Thousands of entries of few words: each word is in a fifth of them."""
    tasks = [memory.task_register(f"Task {number}", ["A"]).task_id for number in range(20)]

    def step(number):
        said = [WORDS[(number * prime) % len(WORDS)] for prime in (1, 3, 5)]
        text = f"{' '.join(said)} {number} in src/app/{said[0]}_{number % 97}.py"
        return lambda inside: inside.task_update(tasks[number // 10 % 20], text)

    build(memory, (step(number) for number in range(ENTRIES)))


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def large(request, tmp_path_factory):
    if request.param == "sqlite":
        url = f"sqlite://{tmp_path_factory.mktemp('large')}/a.db"
    else:
        url = f"{request.getfixturevalue('postgres_url')}&tenant=fuzz"
    memory = open_memory(url)
    fill(memory)
    memory.store.refresh_statistics()
    yield memory
    memory.close()


def test_hostile_queries_raise_nothing(large):
    for query in HOSTILE + LONG:
        for filters in ({}, {"workspace": None}, {"types": "message"}):
            assert large.task_recall(query, **filters).query is not None


@given(st.text(max_size=200) | st.lists(st.sampled_from([*WORDS, *HOSTILE]), max_size=20).map(" ".join))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_text_is_a_query(large, query):
    page = large.task_recall(query) if query.strip() else None
    for hit in page.hits if page else ():
        assert hit.score > 0
        assert hit.why


@given(st.text(st.characters(), min_size=1, max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_text_is_found_by_its_own_words(memory, text):
    """Any text that can be stored and has a word is found by itself."""
    task = memory.task_register("T").task_id
    try:
        seq = memory.task_update(task, text).seq
    except RingboltError:
        return
    query = read_query(text)
    if query.terms and not query.phrases and not query.prefixes:
        assert seq in [hit.seq for hit in memory.task_recall(text, task_id=task).hits]
