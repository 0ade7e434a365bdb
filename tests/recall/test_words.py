"""Terms, texts, ranking and snippets by themselves: properties that hold for any text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.recall import ranking, snippets
from ringbolt.recall.ranking import About, Ranking
from ringbolt.signals import terms
from ringbolt.signals.terms import MARK, Term, has_phrase, read_query, scope_term, stems, terms_of
from ringbolt.store import event_texts

ANY = st.text(max_size=300)
SYNTAX = st.lists(
    st.sampled_from(
        ["NEAR(", '"', "*", "-", "^", "body:", "AND", "OR", "NOT", "(", ")", "{", "}", "a b", ":", "+"]
    ),
    max_size=20,
).map(" ".join)
NAMES = st.lists(
    st.text(st.sampled_from("abcXYZ019éß数据"), min_size=1, max_size=8), min_size=1, max_size=5
).flatmap(lambda parts: st.sampled_from("./\\:@#_-").map(lambda sign: sign.join(parts)))


# --- terms ------------------------------------------------------------------------------------------


@given(ANY | NAMES)
def test_a_text_is_found_by_each_of_its_words(text):
    found = set(terms_of(text))
    for word in text.replace("*", " ").split():
        wanted = {term.stem for term in read_query(word).terms}
        assert wanted <= found, (word, wanted - found)


@given(ANY | NAMES)
def test_a_text_is_found_by_its_full_text(text):
    text = text.replace("*", " ")
    assert {term.stem for term in read_query(text).terms} <= set(terms_of(text))


@given(ANY | SYNTAX | st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_any_text_is_a_query(text):
    query = read_query(text)
    assert len(query.terms) <= terms.QUERY_TERMS
    assert len(query.must) <= 4 * terms.PHRASES
    for term in query.terms:
        assert term.word
        assert MARK not in term.word
        assert "\0" not in term.word


@given(ANY)
def test_no_text_has_the_term_of_a_filter(text):
    forged = scope_term("t", "abc")
    assert forged not in terms_of(f"{text}{forged}{text} {forged}")


@given(NAMES)
def test_an_identifier_is_found_whole_and_by_its_parts(name):
    found = set(terms_of(f"we saw {name} there"))
    assert {term.stem for term in read_query(name).terms} <= found
    for word in terms.words(name):
        assert set(stems(word)) <= found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("parseConfigFile", "parse config file"),
        ("HTTPServer", "http server"),
        ("snake_case_name", "snake case name"),
        ("src/app/mainLoop.py", "src app main loop py"),
        ("数据库", "数据 据库 数 库"),
    ],
)
def test_parts_of_names_are_terms(text, parts):
    assert {stem for part in parts.split() for stem in stems(part)} <= set(terms_of(text))


def test_words_of_questions_count_only_if_there_are_no_others():
    assert [term.word for term in read_query("what is the plan").terms] == ["plan"]
    assert [term.word for term in read_query("what is it").terms] == ["what", "is", "it"]


def test_quotes_and_stars_are_the_only_syntax():
    query = read_query('say "exact words" and conf* -not NEAR(a)')
    assert query.phrases == ("exact words",)
    assert query.prefixes == ("conf",)
    assert query.exact
    assert not read_query("plain words").exact
    assert read_query("v1.2.3").exact
    assert read_query('"unbalanced quote').phrases == ()


@given(ANY, st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=20))
def test_a_phrase_is_in_a_text_that_has_it(text, phrase):
    assert has_phrase(f"{text} {phrase.upper()}  {phrase} {text}", [phrase])


@given(st.text(max_size=50))
def test_the_same_words_have_the_same_places(text):
    for start, end, stem in terms.stem_places(text):
        assert stem in stems(text[start:end])


# --- texts ------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)
KINDS = [*event_texts.SILENT, *event_texts._SETTING, "message", "decision", "made up"]


def event(kind="message", text=None, data=None, sets=None, **more):
    return {
        "event_type": kind, "text": text, "data": json.dumps({} if data is None else data),
        "sets": None if sets is None else json.dumps(sets), "task_id": "t", "item_id": None,
        "workspace_path": "/w", "agent": "someone", "forgotten": None, **more,
    }  # fmt: skip


@given(st.sampled_from(KINDS), st.none() | ANY, JSON, JSON)
def test_any_event_can_be_indexed(kind, text, data, sets):
    odd = event(kind, text, data, {"heads": sets, "steps": sets, "+extras": sets})
    words = set(stems(event_texts.index_words(odd)))
    assert set(event_texts.index_terms(odd)) <= words


@given(st.dictionaries(st.sampled_from(["choice", "output", "own", "detail"]), JSON, max_size=4))
def test_every_text_of_the_data_is_in_the_words(data):
    def said(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for name, inner in value.items():
                if name != "digest":
                    yield from said(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from said(inner)

    found = event_texts.full_text(event("discovery", "s", data))
    assert all(text in found for text in said(data))


def test_digests_and_statuses_are_not_indexed():
    data = {"status": "completed", "anchors": [{"path": "a.py", "digest": "beef"}], "duration_ms": 12.5}
    assert event_texts.full_text(event("action", "s", data)) == "s\na.py"


def test_a_huge_value_does_not_push_out_the_others():
    found = event_texts.full_text(event("action", "s", {"output": "x" * 10**6, "error": "quux"}))
    assert "quux" in found
    assert len(found) <= event_texts.MOST_CHARACTERS


# --- ranking ----------------------------------------------------------------------------------------


class Texts:
    """Postings of a list of texts, each a minute after the one before."""

    def __init__(self, *lines, over=(), **types):
        self.lines = dict(enumerate(lines, 1))
        self.terms = {number: set(terms_of(line)) for number, line in self.lines.items()}
        self.types = types
        self.over = dict(over)

    def total(self):
        return len(self.lines)

    def lists(self, wanted, limit):
        return [self.ids([[term]], limit) for term in wanted]

    def ids(self, all_of, limit):
        found = [n for n, has in self.terms.items() if all(any(t.stem in has for t in one) for one in all_of)]
        return sorted(found, reverse=True)[:limit]

    def windows(self, ids, reach):
        near = {n for one in ids for n in range(one - reach, one + reach + 1) if n in self.lines}
        return [
            ("t", n, n, f"2026-03-{n // 1440 + 1:02}T{n // 60 % 24:02}:{n % 60:02}:00Z") for n in sorted(near)
        ]

    def passing(self, ids):
        return set(ids)

    def about(self, ids):
        return {
            n: About(
                speaker="", at="2026-03-01T00:00:00Z", type="message", seq=n,
                asks=self.lines[n].endswith("?"), over=n in self.over, replaced_by=self.over.get(n),
                instead=self.over.get(n),
            )
            for n in ids
        }  # fmt: skip


def order(query, postings):
    found = Ranking(read_query(query), postings).part(0)
    return sorted(found.scores, key=lambda text: (-found.scores[text], -text))


def test_texts_with_more_of_the_words_come_first():
    filler = ["nothing here"] * 20
    postings = Texts("red apple", *filler, "red apple pie", *filler, "apple", *filler)
    assert order("red apple pie", postings)[0] == 22


def test_neighbours_count_less_the_farther_they_are():
    found = Ranking(read_query("apple"), Texts(*["x"] * 10, "apple", *["x"] * 10)).part(0).scores
    before, after = [found[11 - n] for n in range(5)], [found[11 + n] for n in range(5)]
    assert before == sorted(before, reverse=True)
    assert after == sorted(after, reverse=True)
    assert all(later > earlier for later, earlier in zip(after[1:], before[1:], strict=True))
    assert 6 not in found
    assert 16 not in found


def test_an_answer_counts_more_than_its_question():
    lines = ["x"] * 10
    assert order("apple", Texts(*lines, "which apple?", "the apple", *lines))[0] == 12


def test_outdated_texts_rank_below_their_replacement():
    filler = ["nothing"] * 20
    postings = Texts("red apple", *filler, "green pear", *filler, over={1: 22}.items())
    found = order("red apple", postings)
    assert found[0] == 22
    assert 1 in found


@given(st.lists(st.sampled_from(["apple", "pear", "plum"]), min_size=1, max_size=600), st.integers(1, 3))
def test_parts_give_each_text_once_and_all_that_have_a_word(lines, size):
    query = read_query(" ".join(["apple", "pear", "plum"][:size]))
    postings = Texts(*lines)
    all_parts, number = [], 0
    parts = Ranking(query, postings)
    while (part := parts.part(number)) is not None:
        all_parts += part.scores
        number += 1
    assert len(set(all_parts)) == len(all_parts)
    has = {n for n, line in postings.lines.items() if line in [term.word for term in query.terms]}
    assert has <= set(all_parts)


def test_a_term_weighs_more_the_fewer_neighbourhoods_it_is_in():
    assert (
        ranking._idf([50, 49, 48], 100, 1000)
        > ranking._idf([90, 50, 10], 100, 1000)
        > ranking._idf(range(100, 0, -3), 100, 1000)
    )
    assert ranking._idf(range(100, 0, -1), 100, 1000) > 0


@pytest.mark.parametrize(
    ("said", "dates"),
    [
        ("what happened on 2026-03-05", [("2026", 3, 5)]),
        ("in May", [(None, 5, None)]),
        ("it may be", []),
        ("5th of June 2025", [("2025", 6, 5)]),
        ("June 5, 2025", [("2025", 6, 5)]),
        ("march on", []),
    ],
)
def test_dates_in_queries(said, dates):
    assert ranking._dates(said) == dates


# --- snippets ---------------------------------------------------------------------------------------


@given(
    st.lists(st.text(st.characters(categories=["Ll"]), min_size=1, max_size=12), max_size=300),
    st.integers(0, 300),
)
def test_a_snippet_has_a_word_that_matched(words, place):
    words.insert(min(place, len(words)), "quuxword")
    shown = snippets.snippet(" ".join(words), {"quuxword"})
    assert "quuxword" in shown
    assert len(shown) <= snippets.WIDTH + 1


@pytest.mark.parametrize(
    ("word", "query"),
    [
        ("数据库迁移", "数据库"), ("parseConfigFile", "config"), ("src/app/main.py", "main.py"),
        ("v1.2.3", "v1.2.3"), ("configuration", "conf*"), ("Résumé", "resume"), ("migrations", "migrate"),
    ],
)  # fmt: skip
def test_a_snippet_shows_what_was_found_however_it_was_found(word, query):
    text = "filler words " * 200 + word + " more filler" * 200
    own = {term.stem for term in read_query(query).terms} & {*terms_of(text), "conf"}
    assert word in snippets.snippet(text, own)


@given(ANY)
def test_snippets_and_titles_are_one_line(text):
    for shown in (snippets.snippet(text * 9, {"a"}), snippets.title(text * 9)):
        assert len(shown.splitlines()) <= 1


def test_a_snippet_is_where_most_of_the_words_are():
    text = "apple " + "x " * 500 + "apple pie with pear " + "x " * 500
    assert "apple pie with pear" in snippets.snippet(text, {"appl", "pie", "pear"})


def test_fingerprints_leave_out_case_spaces_and_if_wanted_numbers():
    assert snippets.fingerprint("Part  1\nDone") == snippets.fingerprint("part 1 done")
    assert snippets.fingerprint("part 1") != snippets.fingerprint("part 2")
    assert snippets.fingerprint("part 1", numbers=False) == snippets.fingerprint("part 22", numbers=False)


def test_a_prefix_asks_for_shorter_stems_too():
    from ringbolt.recall.postings import _has

    assert _has({"configur"}, Term(word="configura", stem="configura", prefix=True))
    assert not _has({"con"}, Term(word="configura", stem="configura", prefix=True))
