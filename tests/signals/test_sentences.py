"""Texts as lines, sentences and words, and what those words are to a plan."""

from __future__ import annotations

from ringbolt.signals import phrases
from ringbolt.signals.announcements import announcements, sequence
from ringbolt.signals.calls.failures import error_line, exit_code, fingerprint, hides_failure
from ringbolt.signals.expected_failure import expects_failure
from ringbolt.signals.keywords import keywords
from ringbolt.signals.plan_words import imperative, is_past, is_verb
from ringbolt.signals.speech.lexicon import forms, index, words_of
from ringbolt.signals.speech.model import model
from ringbolt.signals.speech.sentences import FUNCTIONS, Tokens, is_unreal, split
from ringbolt.signals.step_numbers import number_ranges, step_numbers
from ringbolt.signals.text_layout import bounded, clauses, cut, layout, masked, plain, sentences
from ringbolt.signals.words import stem, weighted_words


def test_a_markdown_text_is_read_line_by_line():
    text = (
        "# Plan\n\nWe do this:\n1. [x] Read *it*\n2. [ ] Write\n   more of it\n"
        "\n```sh\n# not a heading\n```\n"
        "> quoted\n| a | b |\n**Bold title**\nThe end. Really?"
    )
    found = [(line.kind, line.text, line.number, line.box) for line in layout(text) if line.kind != "blank"]
    assert found == [
        ("heading", "Plan", None, None), ("lead", "We do this:", None, None), ("item", "Read *it*", 1, "x"),
        ("item", "Write more of it", 2, " "), ("code", "", None, None), ("row", " a | b |", None, None),
        ("heading", "Bold title", None, None), ("prose", "The end. Really?", None, None),
    ]  # fmt: skip


def test_sentences_end_where_another_begins():
    assert sentences("Use v1.2. It works! Really? Done") == ["Use v1.2.", "It works!", "Really?", "Done"]
    assert sentences("See docs/a.md, e.g. the first part.") == ["See docs/a.md, e.g. the first part."]
    assert clauses("Stop; do not push.\nAsk first.") == ["Stop", " do not push.", "Ask first."]
    assert masked("run `rm -rf /` now") == f"run {chr(0) * 10} now"
    assert plain("**Fix** the `parser_state`") == "Fix the parser_state"
    assert cut("one two three", 8) == "one two…"
    assert cut("short", 8) == "short"
    assert len(bounded("x" * 200_000)) < 70_000


def test_words_of_a_plan():
    assert {stem(word) for word in ("adding", "added", "adds")} == {"add"}
    found = weighted_words("Fix src/app/mainLoop.py")
    assert found["mainloop.py"] > found["loop"]
    assert "fix" in found
    assert imperative("Running the tests") == "Run the tests"
    assert imperative("Wrote docs") == "Write docs"
    assert imperative("Filling in the form") == "Fill in the form"
    assert imperative("Filing the report") == "File the report"
    assert imperative("Dropped and re-created the index") == "Drop and re-created the index"
    assert is_verb("Adding")
    assert not is_verb("tests")
    assert is_past("wrote")
    assert not is_past("red")
    assert keywords("Because the PORT of redis.conf was wrong again") == ["port", "redis.conf", "wrong"]
    assert step_numbers("steps 1-3 and 5 are done, 7 files") == [1, 2, 3, 5]
    assert step_numbers("version 3 of the lib") == []
    assert number_ranges([1, 2, 3, 5]) == "1-3, 5"
    assert number_ranges([1, 2, 3, 5], 1) == "…, 5"


def test_a_step_that_expects_a_failure():
    for title in ("Write a failing test for the parser", "Reproduce the crash", "Watch the test fail",
                  "Add a spec that fails", "Red phase", "Demonstrate the race"):  # fmt: skip
        assert expects_failure(title), title
    for title in ("Fix the failing build", "Handle failures", "Test the reproduced image size"):
        assert not expects_failure(title), title


def test_what_an_agent_announces():
    def read(text):
        return [(one.when, one.title) for one in announcements(text)]

    assert read("Good. Now let me wire up the cache.") == [("now", "Wire up the cache")]
    assert read("I'm adding retries to the client, then I'll update the docs.") == [
        ("now", "Add retries to the client"),
        ("next", "Update the docs"),
    ]
    assert read("Next, I'll migrate the users table because it is small.") == [
        ("next", "Migrate the users table")
    ]
    for text in (
        "Let me think.",
        "Should I update the docs?",
        "I'll update it if you want.",
        "The tests pass.",
    ):
        assert read(text) == [], text
    assert sequence("First export the data, then drop the table, and finally rebuild the index.") == [
        "Export the data", "Drop the table", "Rebuild the index",
    ]  # fmt: skip
    assert sequence("First, thanks! Then again, who knows.") == []


def test_how_work_stands():
    assert phrases.ALL_DONE.match("All 5 steps are done.")
    assert not phrases.ALL_DONE.match("All steps remain.")
    assert phrases.NOT_DONE.search("It isn't finished")
    assert not phrases.NOT_DONE.search("It is finished")
    assert phrases.is_question('Should it be "red?"')
    assert not phrases.is_question("Why? Because.")
    assert phrases.is_offer("Want me to open a PR?")
    assert not phrases.is_offer("Which port does it use?")


def test_the_line_that_says_what_went_wrong():
    for output, line in (
        ("+ make\nTraceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'id'\n",
         "KeyError: 'id'"),
        ("src/a.ts:3:7 - error TS2322: Type 'string' is not assignable\nFound 1 error.",
         "src/a.ts:3:7 - error TS2322: Type 'string' is not assignable"),
        ("INFO starting\nerror: linker `cc` not found\nmake: *** [all] Error 1",
         "error: linker `cc` not found"),
        ("all good", "all good"), ("", ""),
    ):  # fmt: skip
        assert error_line(output).startswith(line), output
    assert exit_code({"exitCode": 3}) == 3
    assert exit_code("Exit code 127\nx") == 127
    assert exit_code("fine") is None
    same = {
        fingerprint(f"{path}:12: timeout after {n} ms at 2024-05-0{n}")
        for n, path in ((1, "/a/b.py"), (2, "c/d.py"))
    }
    assert len(same) == 1
    assert hides_failure("pytest | tail -3", "1 failed, 2 passed\nFAILED tests/test_a.py::test_b")
    assert not hides_failure("cat log | tail -3", "FAILED tests/test_a.py")


def test_verbs_are_found_in_every_form():
    assert dict(forms("choose"))["chose"] == "past"
    assert dict(forms("drop"))["dropping"] == "ing"
    assert dict(forms("carry"))["carries"] == "s"
    assert dict(forms("carry"))["carried"] == "past"
    assert words_of("we'll") == ("we", "will")
    assert words_of("won't") == ("will", "not")
    assert words_of("its") == ("its",)
    assert all(phrase for phrases in index().values() for phrase in phrases)
    marks = {(mark.name, mark.tense) for mark in Tokens("We went with Postgres instead.").marks}
    assert ("choose", "past") in marks
    assert ("~instead", "") in marks


def test_what_is_only_supposed_is_not_meant():
    for text in (
        "If we chose Redis, it would be slow.",
        "They decided on Kafka.",
        "We haven't decided to drop it.",
    ):
        assert is_unreal("decision", Tokens(text)), text
    for text in ("We chose Redis.", "I would rather keep SQLite.", "Going with the second option."):
        assert not is_unreal("decision", Tokens(text)), text
    assert is_unreal("blocker", Tokens("Waiting for the tests to finish."))
    assert not is_unreal("blocker", Tokens("I am waiting for your approval."))


def test_every_function_of_the_model_has_its_limits():
    table = model()
    for limits in (table.sure, table.likely, table.slope, table.offset):
        assert len(limits) == len(FUNCTIONS)
    assert all(sure >= likely for sure, likely in zip(table.sure, table.likely, strict=True))
    assert {place for row in table.weights.values() for place, _ in row} <= set(range(len(FUNCTIONS)))
    first, last = split("We use Postgres. It is there already.")
    assert (first.first, first.last, last.first, last.last, last.previous) == (
        True, False, False, True, "We use Postgres.",
    )  # fmt: skip
