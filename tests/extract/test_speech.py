"""What is said becomes what stands: decisions and their reversal, dead ends, values, blockers."""

from __future__ import annotations

import pytest

from ringbolt.extract.message_reader import read_message
from ringbolt.extract.slots import split_choice, split_dead_end, stated_values
from ringbolt.extract.written_texts import message_of, note_of
from ringbolt.signals.speech import model as speech_model
from ringbolt.signals.speech import sentences as speech


@pytest.fixture
def user(memory):
    return memory.acting_as(channel="user", agent="")


def read(memory, task):
    memory.task_extract(task)
    return memory.task_get(task)


# --- decisions and what takes them back -------------------------------------------------------------


def test_a_decision_in_passing_is_kept_with_its_reason(memory, task):
    memory.task_update(task, "We'll stick with Redis, it is already there.")
    (one,) = read(memory, task).decisions
    assert (one.data["choice"], one.data["reasoning"]) == ("stick with Redis", "it is already there")


def test_a_later_decision_on_the_same_matter_takes_the_earlier_one_back(memory, task):
    memory.task_update(task, "I'm going with RabbitMQ for the job queue because it is simple.")
    (first,) = read(memory, task).decisions
    memory.task_update(task, "I'll use Redis instead of RabbitMQ for the job queue, it is already there.")
    (now,) = read(memory, task).decisions
    assert "Redis" in now.summary
    assert now.data["overrules"] == first.seq
    assert memory.verify(task).ok


def test_a_correction_of_the_user_takes_back_what_the_agent_decided_last(memory, user, task):
    memory.task_update(task, "I decided to use offset pagination because it is simple.")
    (first,) = read(memory, task).decisions
    user.task_remember(task, "no, use the other one", type="user_instruction")
    (now,) = read(memory, task).decisions
    assert (now.data["choice"], now.data["said_by"], now.data["overrules"]) == (
        "use the other one",
        "user",
        first.seq,
    )


@pytest.mark.parametrize(
    ("decided", "said", "choice"),
    [
        ("We go with YAML for the config.", "no, TOML please", "TOML please"),
        (
            "I decided to keep the old endpoint.",
            "remove the old endpoint",
            "correction: remove the old endpoint",
        ),
        ("I chose bcrypt over argon2, it is simpler.", "that's wrong", "correction: that's wrong"),
    ],
)
def test_a_correction_takes_back_however_it_is_worded(memory, user, task, decided, said, choice):
    memory.task_update(task, decided)
    (first,) = read(memory, task).decisions
    user.task_remember(task, said, type="user_instruction")
    (now,) = read(memory, task).decisions
    assert (now.data["choice"], now.data["said_by"], now.data["overrules"]) == (choice, "user", first.seq)


def test_a_correction_of_something_else_leaves_a_decision_alone(memory, user, task):
    memory.task_update(task, "I'm going with RabbitMQ for the job queue because it is simple.")
    memory.task_update(task, "The driver of course 402 is at the station until seven. Swapping them.")
    said = "No wait, the standby of 402 was cancelled in May. Take the reserve from the depot instead."
    user.task_remember(task, said, type="user_instruction")
    assert any("RabbitMQ" in one.summary for one in read(memory, task).decisions)


def test_a_dead_end_takes_back_what_was_decided_about_it(memory, task):
    memory.task_update(task, "I chose bcrypt over argon2 since it needs no native module.")
    (first,) = read(memory, task).decisions
    memory.task_update(task, "Reverted the bcrypt change, it is too slow on the small machines.")
    found = read(memory, task)
    assert found.decisions == ()
    (dead_end,) = found.exclusions
    assert dead_end.data["overrules"] == first.seq
    assert memory.verify(task).ok


def test_the_agent_does_not_take_back_what_the_user_decided(memory, user, task):
    user.task_remember(task, "let's stay on REST, nobody here knows GraphQL", type="user_instruction")
    memory.task_update(task, "I'll use GraphQL instead of REST because it is typed.")
    assert any(one.data.get("said_by") == "user" for one in read(memory, task).decisions)


def test_a_short_answer_to_a_question_is_a_decision_about_it(memory, user, task):
    memory.task_update(task, "Both regions have capacity. Which region should the data live in?")
    memory.task_extract(task)
    user.task_remember(task, "Frankfurt", type="user_instruction")
    (one,) = read(memory, task).decisions
    assert one.summary == "Which region should the data live in? Frankfurt"
    assert (one.data["choice"], one.data["said_by"]) == ("Frankfurt", "user")
    assert memory.task_get(task).questions == ()


def test_bold_labels_are_not_decisions(memory, task):
    memory.task_update(
        task, "**Scope**: the parser and its tests\n\n**Concurrency**: two workers share a lease"
    )
    assert read(memory, task).decisions == ()


def test_the_message_of_a_commit_decides(memory, task):
    command = (
        "git commit -m 'Use a queue per tenant' -m 'Chose one queue per tenant over a shared one: fairness.'"
    )
    memory.task_log_action(task, "commit", tool="Bash", input={"command": command}, output="[main 1a2b3c4] x")
    (one,) = read(memory, task).decisions
    assert (one.data["choice"], one.data["reasoning"]) == (
        "Chose one queue per tenant over a shared one",
        "fairness",
    )


# --- dead ends, values, constraints -----------------------------------------------------------------


def test_a_dead_end_is_an_exclusion_with_its_reason(memory, task):
    memory.task_update(task, "I tried raising work_mem but it made no difference.")
    (one,) = read(memory, task).exclusions
    assert (one.data["what"], one.data["kind"]) == ("raising work_mem", "dead_end")
    assert "no difference" in one.data["why"]


def test_a_value_has_a_name(memory, user, task):
    memory.task_update(task, "The rate limit is 100 requests per minute.")
    user.task_remember(task, "the ticket is OPS-2217", type="user_instruction")
    assert read(memory, task).variables == {"rate limit": "100 requests per minute", "ticket": "OPS-2217"}


def test_a_constraint_of_the_user_is_kept(memory, user, task):
    user.task_remember(
        task, "Move the jobs. You must not restart the database during office hours.", type="user_instruction"
    )
    (one,) = [note for note in read(memory, task).notes if note.data.get("kind") == "constraint"]
    assert (one.summary, one.data["said_by"]) == (
        "You must not restart the database during office hours.",
        "user",
    )


def test_secrets_are_not_values(memory, task):
    memory.task_update(task, "The access token is ghp_0123456789abcdefghijABCDEFGHIJ.")
    assert read(memory, task).variables == {}


# --- blockers ---------------------------------------------------------------------------------------


def test_a_blocker_reaches_the_task_and_ends(memory, user, task):
    memory.task_update(task, "I can't go on until Anna grants access to the vault.")
    found = read(memory, task)
    assert found.blockers == ("I can't go on until Anna grants access to the vault.",)
    assert found.sources["blockers"].channel == "agent"
    user.task_remember(task, "Anna has granted access to the vault now", type="user_instruction")
    assert read(memory, task).blockers == ()


def test_what_the_agent_states_itself_replaces_inferred_blockers(memory, task):
    memory.task_update(task, "I can't go on until Anna grants access to the vault.")
    memory.task_extract(task)
    memory.task_update(task, blockers=["the registry is down"])
    assert read(memory, task).blockers == ("the registry is down",)


@pytest.mark.parametrize(
    ("text", "blocker"),
    [
        (
            "- **Blockers for Phase 2:** vendor selection still needs an evaluation",
            "vendor selection still needs",
        ),
        ("Blocked by: the licence server, which only IT can restart", "the licence server"),
        ("## User Setup Required\n\nInstall the gateway and enable paper trading.", "Install the gateway"),
        ("## Waiting for\n- the signed contract", "the signed contract"),
        ("PR #88 cannot be merged until the platform team fixes CI.", "PR #88 cannot be merged"),
    ],
)
def test_a_blocker_may_be_labelled_or_stand_under_a_heading(memory, task, text, blocker):
    memory.task_update(task, text)
    (found,) = read(memory, task).blockers
    assert found.startswith(blocker)


@pytest.mark.parametrize(
    "text",
    ["**Blockers:** none", "## User Setup Required\n\nNone - no configuration required.", "No blockers."],
)
def test_other_texts_name_no_blocker(memory, task, text):
    memory.task_update(task, text)
    assert read(memory, task).blockers == ()


def test_a_section_without_blockers_ends_those_before_it_but_one_about_setup_does_not(memory, task):
    memory.task_update(task, "I can't go on until Anna grants access to the vault.")
    memory.task_update(task, "## User Setup Required\n\nNone - no external service needed.")
    assert len(read(memory, task).blockers) == 1
    memory.task_update(task, "## Blockers\n\nNone")
    assert read(memory, task).blockers == ()


def test_waiting_for_a_build_blocks_nothing(memory, task):
    memory.task_update(task, "I'm waiting for the build to finish.")
    assert read(memory, task).blockers == ()


# --- parts of a sentence ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "choice", "reason", "instead"),
    [
        ("Since rows move, I'll page by cursor.", "page by cursor", "rows move", ""),
        ("The pin is shared, so I poll the sensor.", "poll the sensor", "The pin is shared", ""),
        ("Rather than patching it, I wrap the library.", "wrap the library", "", "patching it"),
        (
            "Picked the small hall (wheelchair access to it)",
            "Picked the small hall",
            "wheelchair access to it",
            "",
        ),
        ("Use `because.py` for that", "Use because.py for that", "", ""),
    ],
)
def test_choice_reason_and_alternative(text, choice, reason, instead):
    one = split_choice(text)
    assert (one.choice, one.reason, one.instead) == (choice, reason, instead)


def test_a_dead_end_that_only_points_back_is_named_by_the_sentence_before():
    what, why = split_dead_end("That was a dead end: it needs root.", "I patched the driver by hand.")
    assert (what, why) == ("I patched the driver by hand.", "That was a dead end: it needs root.")


def test_values_with_units_and_limits():
    assert stated_values("timeout should be 5 seconds") == [("timeout", "5 seconds")]
    assert stated_values("max 3 retries, agreed") == [("max retries", "3")]
    assert stated_values("There are many of them.") == []


def test_texts_of_commits_and_notes():
    assert (
        message_of("git commit -m \"$(cat <<'EOF'\nSplit it\n\nBecause.\nEOF\n)\"") == "Split it\n\nBecause."
    )
    assert message_of("echo commit") == ""
    assert message_of("git commit -m 'open") == ""
    assert note_of({"file_path": "docs/plan.md", "content": "# Plan"}) == "# Plan"
    assert note_of({"file_path": "src/a.py", "content": "x"}) == ""


# --- what is not meant ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Perhaps I'll use Redis instead of Postgres because it is fast.",
        "If we chose Cassandra we would lose joins.",
        "The vendor chose a 12-bit ADC for this family.",
        "Option A would be a partial index, option B a covering one.",
        'The docs say "we decided to drop support for 9.6".',
        "`DECIDED: keep it`",
        "Should we keep the old parser?",
    ],
)
def test_suppositions_options_reports_and_questions_decide_nothing(text):
    assert read_message(text).sure().decisions == []


def test_the_table_of_weights_fits_the_functions():
    table = speech_model.model()
    functions = range(len(speech.FUNCTIONS))
    assert all(place in functions for row in table.weights.values() for place, _ in row)
    for limits in (table.sure, table.likely, table.slope, table.offset):
        assert len(limits) == len(functions)
    assert all(sure >= likely for sure, likely in zip(table.sure, table.likely, strict=True))
    assert all(slope > 0 for slope in table.slope)  # a higher score is a higher confidence


def test_a_name_outside_the_vocabulary_counts_by_its_form_only():
    def scores(text):
        (sentence,) = speech.split(text)
        return speech_model.scores(sentence, speech.Tokens(text), False)

    assert scores("We keep the frobnicator for now.") == scores("We keep the quuxalizer for now.")
    assert scores("Moved v3.2 to out.zip") == scores("Moved v9.7 to in.zip")


# --- what is only probable --------------------------------------------------------------------------


def only_probable():
    """A sentence that the model reads as a decision without being sure of it."""
    place = speech.FUNCTIONS.index("decision")
    table = speech_model.model()
    for text in (
        "Using SQLite for the tests, it needs no server.",
        "So the old index stays where it is, moving it would lock the table.",
        "The parser lives in its own module now; three callers need it.",
        "That can wait: pagination comes in a follow-up.",
        "The lookup goes through the cache, the service is slow.",
        "Errors are collected and shown at the end.",
        "This belongs in the adapter.",
        "The export runs at night because of the load.",
        "Two tables instead of one.",
        "Only the header is translated.",
    ):
        (sentence,) = speech.split(text)
        score = speech_model.scores(sentence, speech.Tokens(text), False)[place]
        if table.likely[place] <= score < table.sure[place] and read_message(text).probable()[0]:
            return text
    raise AssertionError("the model is sure of all of these")


def weak_notes(memory, task):
    return [event for event in memory.events(task) if event.data.get("weak")]


def test_only_a_search_finds_what_was_probably_decided(memory, task):
    text = only_probable()
    memory.task_update(task, text)
    found = read(memory, task)
    assert found.decisions == found.notes == ()
    (note,) = weak_notes(memory, task)
    assert note.text.startswith("Probably decided: ")
    assert note.data["confidence"] < speech_model.SURE
    assert note.seq in [hit.seq for hit in memory.task_recall(note.text, task_id=task).hits]
    assert "Probably decided" not in memory.task_resume(task, budget=300).text


def test_a_supposition_is_not_even_probable(memory, task):
    memory.task_update(task, "If we chose Cassandra we would lose joins. We could use a queue instead.")
    found = read(memory, task)
    assert found.decisions == ()
    assert not weak_notes(memory, task)


def test_any_text_is_read_within_bounds():
    for text in ("", "\n\n", "?" * 5000, "a " * 50_000, "- x\n" * 20_000, "`" * 999, "\x00\ud800"[:1]):
        read_message(text)


def test_what_failed_and_what_is_done_instead_are_told_apart_at_a_semicolon():
    text = "Using DISTINCT ON drops rows, so that cannot work here; I'll aggregate with array_agg instead."
    message = read_message(text).sure()
    assert [one.choice for one in message.decisions] == ["aggregate with array_agg instead"]
    assert [one.what for one in message.dead_ends] == ["Using DISTINCT ON drops rows"]
