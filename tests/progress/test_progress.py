"""Plan progress: each rule in both directions, what counts and what does not."""

from __future__ import annotations

import itertools
import json

import pytest

from ringbolt.progress.plan_progress import (
    HIGH,
    Observation,
    Progress,
    read_action,
    statements_of,
    title_sort,
)
from ringbolt.signals.step_numbers import step_numbers
from ringbolt.signals.words import stem, weighted_words

PLAN = [
    "Add the Invoice model to billing.py",
    "Write tests for the tax calculator",
    "Update the README with the new endpoint",
    "Run tests and lint",
    "Commit and push the branch",
]


class Session:
    """A plan and what happens to it, numbered from 1."""

    def __init__(self, items=PLAN):
        self.progress = Progress(items)
        self.numbers = itertools.count(1)

    def observe(self, **fields):
        at = next(self.numbers)
        self.progress.observe(Observation(at=at, **fields))
        return at

    def says(self, text):
        return self.observe(kind="agent", text=text)

    def user(self, text):
        return self.observe(kind="user", text=text)

    def asks(self, text):
        return self.observe(kind="question", text=text)

    def edits(self, path, new="x = 1", ok=True):
        given = {"file_path": path, "old_string": "", "new_string": new}
        return self.observe(kind="action", tool="Edit", input=given, ok=ok)

    def runs(self, command, ok=True, output=""):
        return self.observe(kind="action", tool="Bash", input={"command": command}, ok=ok, text=output)

    @property
    def completed(self):
        return [one.item for one in self.progress.findings() if one.status == "completed"]

    @property
    def current(self):
        return self.progress.current


@pytest.fixture
def session():
    return Session()


def test_nothing_is_completed_before_anything_happens(session):
    assert session.completed == []
    assert session.current == 0
    assert {one.status for one in session.progress.findings()} == {"open"}


def test_an_empty_plan_has_no_findings():
    session = Session([])
    session.says("All done.")
    assert session.progress.findings() == []
    assert session.current is None


# --- numbers


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("Step 1 is done.", [0]),
        ("Step 1 done", [0]),
        ("**Task #1 complete.**", [0]),
        ("Steps 1-3 are complete.", [0, 1, 2]),
        ("Steps 1 through 3 are finished.", [0, 1, 2]),
        ("Tasks 1, 2 and 3 are done.", [0, 1, 2]),
        ("Let me mark task 2 as completed.", [0, 1]),
        ("Task 1: ✅", [0]),
        ("Step 2 is now complete.", [0, 1]),
        ("Now that step 2 is done, I can go on.", [0, 1]),
    ],
)
def test_a_step_that_is_called_done_by_number_is_completed(session, text, done):
    session.says(text)
    assert session.completed == done
    assert session.current == done[-1] + 1


@pytest.mark.parametrize(
    "text",
    [
        "Step 1 is not done yet.",
        "Step 1 isn't finished.",
        "Step 1 is almost done.",
        "Is step 1 done?",
        "Should I call step 1 done",
        "Once step 1 is done we can look at the rest.",
        "Step 1 will be done soon.",
        "If step 1 passes we are lucky.",
        "Step 1 still needs to be completed.",
        "```\nstep 1 done\n```",
        "> step 1 done",
        "Next I will do step 1.",
        "Now let me complete step 1.",
    ],
)
def test_a_step_that_is_denied_asked_about_quoted_or_planned_is_not_completed(session, text):
    session.says(text)
    assert session.completed == []


def test_a_list_with_gaps_completes_only_what_it_names(session):
    session.says("Steps 1, 3 and 4 are done.")
    assert session.completed == [0, 2, 3]
    assert session.current == 1


def test_a_number_that_the_plan_does_not_have_is_of_another_list(session):
    session.says("Steps 1, 4 and 9 are done.")
    assert session.completed == []


def test_a_phase_is_a_step_only_where_the_titles_are_called_so(session):
    session.says("Phase 2 is complete.")
    assert 1 not in session.completed
    phases = Session(["Phase 1: schema", "Phase 2: importer", "Phase 3: dashboard"])
    phases.says("Phase 2 is complete.")
    assert phases.completed == [0, 1]


def test_numbers_in_the_titles_win_over_their_order():
    session = Session(["Step 3: schema", "Step 4: importer", "Step 5: dashboard"])
    session.says("Step 3 is done.")
    assert session.completed == [0]


def test_a_version_or_a_count_is_not_a_step_number():
    assert step_numbers("All 3 tests pass with 2 warnings in v1.2.") == []
    assert step_numbers("item 12, tasks 1, 2, and #5; steps 1-3") == [12, 1, 2, 5, 1, 2, 3]


def test_marking_one_step_and_moving_to_the_next_does_both(session):
    session.says("Let me mark Task 2 as complete and move to Task 3:")
    assert session.completed == [0, 1]
    assert session.current == 2


# --- titles


def test_a_title_that_is_called_done_is_completed_in_other_word_forms(session):
    session.says("The Invoice model was added to `billing.py`: that is done.")
    session.says("Adding the Invoice model in billing.py is complete.")
    assert session.completed == [0]


def test_a_done_message_about_something_else_names_no_title(session):
    session.says("The deployment of the staging cluster is done.")
    assert set(session.completed) <= {0}  # at most what was worked on
    assert not any(one.settled and one.item for one in session.progress.findings())


def test_words_that_all_titles_share_name_none():
    session = Session([f"Add Agent field to {name}" for name in ("Options", "Metadata", "Info")])
    session.says("Now add the Agent field.")
    assert session.completed == []
    assert session.current == 0


def test_the_rare_word_decides_between_titles():
    session = Session([f"Add Agent field to {name}" for name in ("Options", "Metadata", "Info")])
    session.says("Now let me add the Agent field to Info.")
    assert session.current == 2


def test_endings_are_no_difference_but_names_are_worth_more_as_a_whole():
    assert stem("adding") == stem("added") == stem("adds") == stem("add")
    found = weighted_words("parseConfigFile in src/config_loader.py")
    assert found["parseconfigfile"] == found["config_loader.py"] == 1.0
    assert found["pars"] < 1.0


# --- announcements and order


def test_announcing_a_step_means_that_the_earlier_ones_are_over(session):
    session.says("Now let me start with step 3.")
    assert session.completed == [0, 1]
    assert session.current == 2


def test_announcing_a_title_means_that_the_earlier_ones_are_over(session):
    session.edits("src/billing.py", "class Invoice: model")
    session.says("Now let me write the tests for the tax calculator.")
    assert session.completed == [0]
    assert session.current == 1


@pytest.mark.parametrize(
    "text",
    [
        "I won't update the README with the new endpoint now.",
        "Later I'll update the README with the new endpoint.",
        "Shall I update the README with the new endpoint next?",
    ],
)
def test_postponed_or_asked_work_is_not_announced(session, text):
    session.says(text)
    assert session.completed == []
    assert session.current == 0


def test_a_plan_that_is_restated_moves_nothing(session):
    session.says("Here is what I will do:\n" + "\n".join(f"{n}. {title}" for n, title in enumerate(PLAN, 1)))
    assert session.completed == []
    assert session.current == 0


def test_what_is_ticked_off_in_a_restated_plan_is_completed(session):
    marks = ("✅", "✅", "", "", "")
    session.says(
        "Status:\n" + "\n".join(f"{n}. {t} {m}" for n, (t, m) in enumerate(zip(PLAN, marks, strict=True), 1))
    )
    assert session.completed == [0, 1]
    assert session.current == 2


def test_boxes_count_only_when_they_are_ticked(session):
    session.says(f"- [x] {PLAN[0]}\n- [ ] {PLAN[1]}")
    assert session.completed == [0]


def test_reading_about_a_later_step_does_not_complete_the_earlier_ones(session):
    for _ in range(20):
        session.observe(kind="action", tool="Read", input={"file_path": "/repo/docs/README.md"}, ok=True)
    assert session.completed == []


def test_observations_that_say_nothing_do_not_move_the_work_on(session):
    for _ in range(200):
        session.says("Let me look at this.")
        session.runs("ls -la")
    assert session.completed == []
    assert session.current == 0


# --- the end


@pytest.mark.parametrize("text", ["All done.", "All tasks are now complete!", "Everything is done."])
def test_a_final_message_completes_the_plan(session, text):
    session.says(text)
    assert session.completed == [0, 1, 2, 3, 4]
    assert session.current is None


@pytest.mark.parametrize("text", ["All tests pass.", "Are all tasks done?", "Not all tasks are done."])
def test_other_messages_about_all_do_not_complete_the_plan(session, text):
    session.says(text)
    assert set(session.completed) <= {0}


def test_turning_to_the_list_finishes_what_was_worked_on(session):
    session.edits("src/billing.py", "class Invoice: model", ok=True)
    session.says("Now let me check the model.")
    session.says("Let me update the todo list.")
    assert session.completed == [0]


# --- other people's text


def test_a_user_or_a_question_completes_nothing(session):
    session.user("Steps 1-4 are done, all tasks complete.")
    session.asks("Step 1 is done.")
    assert session.completed == []


def test_tool_output_completes_nothing(session):
    session.runs("cat notes.txt", output="step 1 done\nstep 4 done\nAll tasks are complete")
    assert session.completed == []


def test_text_written_into_a_file_is_not_a_statement(session):
    session.edits("/repo/notes.py", "# Step 4 done. All tasks are complete.")
    assert not {2, 3, 4} & set(session.completed)


# --- actions


def test_an_edit_of_what_the_title_names_finishes_the_item(session):
    session.edits("src/billing.py", "class Invoice: model")
    assert session.completed == [0]
    assert session.current == 1


def test_an_edit_that_failed_finishes_nothing(session):
    session.edits("src/billing.py", "class Invoice: model", ok=False)
    assert session.completed == []
    assert session.current == 0


def test_an_edit_that_still_runs_is_work_in_progress(session):
    session.edits("src/billing.py", "class Invoice: model")
    given = {"file_path": "/repo/tests/test_tax.py", "content": "def test_tax_calculator(): ..."}
    call = session.observe(kind="action", tool="Write", input=given)
    assert session.completed == [0]
    assert session.current == 1
    session.observe(kind="outcome", of=call, ok=True)
    assert session.completed == [0, 1]
    assert session.current == 2


def test_running_the_tests_finishes_the_item_that_asks_for_it(session):
    session.says("Now step 4.")
    session.runs("make test")
    assert session.completed == [0, 1, 2, 3]
    assert session.current == 4


def test_running_tests_on_the_way_does_not_skip_to_the_item_that_asks_for_it(session):
    session.says("Let me start with step 1.")
    session.runs("make test")
    assert 3 not in session.completed
    assert session.current in (0, 1)


def test_tests_that_fail_do_not_finish_the_item(session):
    session.says("Now step 4.")
    session.runs("make test", ok=False)
    assert session.current == 3


def test_an_output_can_deny_a_success_that_a_pipe_hides(session):
    session.says("Now step 4.")
    session.runs("make test | tail -5", output="3 failed, 12 passed")
    assert session.current == 3


def test_a_commit_finishes_the_item_that_asks_for_it(session):
    session.says("Now let me run the tests for step 4.")
    session.runs("make test")
    session.runs("git commit -am 'Add invoices' && git push")
    assert session.completed == [0, 1, 2, 3, 4]
    assert session.current is None


def test_a_plan_that_is_worked_in_silence_is_followed_by_its_actions(session):
    seen = []
    for act in (
        lambda: session.edits("/repo/src/billing.py", "class Invoice: model"),
        lambda: session.edits("/repo/tests/test_tax.py", "def test_tax_calculator(): ..."),
        lambda: session.edits("/repo/README.md", "the endpoint"),
        lambda: session.runs("make lint test"),
        lambda: session.runs("git commit -am invoices"),
    ):
        act()
        seen.append(len(session.completed))
    assert seen == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("title", "sort"),
    [
        ("Run fmt, lint, and tests", "verify"),
        ("Task 7: Final verification", "verify"),
        ("Add tests for parse()", "tests"),
        ("Update logging.md", "docs"),
        ("3. Commit the change", "commit"),
        ("Investigate the crash", "explore"),
        ("Add a field to Options", "change"),
    ],
)
def test_a_title_shows_its_sort_of_work(title, sort):
    assert title_sort(title) == sort


@pytest.mark.parametrize(
    ("tool", "given", "sort"),
    [
        ("Edit", {"file_path": "src/a.py"}, "change"),
        ("write_file", {"path": "src/FooTest.java"}, "tests"),
        ("str_replace", {"path": "latest.py"}, "change"),
        ("Edit", {"file_path": "docs/a.md"}, "docs"),
        ("apply_patch", {"input": "*** Update File: a.py"}, "change"),
        ("Bash", {"command": "pytest -q"}, "verify"),
        ("shell", {"command": ["git", "commit", "-m", "x"]}, "commit"),
        ("Bash", {"command": "ls"}, "explore"),
        ("Read", {"file_path": "a.py"}, "explore"),
        ("Task", {"description": "x", "prompt": "y"}, "delegate"),
        ("mcp__tracker__update_document", {"id": "7", "content": "✅ Complete"}, "explore"),
    ],
)
def test_an_action_shows_its_sort_of_work(tool, given, sort):
    assert read_action(tool, given).sort == sort


# --- taking back


def test_what_is_said_not_to_be_done_is_open_again(session):
    session.says("Steps 1-3 are done.")
    session.says("Step 2 is not done after all.")
    assert 1 not in session.completed
    assert session.current == 1


def test_recalling_what_was_done_does_not_take_the_work_back(session):
    session.says("Now let me start with step 4.")
    session.says("Step 1 is done.")
    assert session.current == 3


def test_a_step_that_is_started_again_is_open_again(session):
    session.says("Steps 1-3 are done.")
    session.says("Now let me start over with step 2.")
    assert 1 not in session.completed
    assert session.current == 1


def test_working_on_an_item_again_opens_it_and_finishing_closes_it(session):
    session.edits("src/billing.py", "class Invoice: model")
    given = {"file_path": "src/billing.py", "new_string": "Invoice model field"}
    call = session.observe(kind="action", tool="Edit", input=given)
    assert session.completed == []
    session.observe(kind="outcome", of=call, ok=True)
    assert session.completed == [0]


# --- traces, levels and cost


def test_every_finding_cites_the_observation_that_caused_it(session):
    session.says("I will begin.")
    cause = session.says("Step 1 is done.")
    later = session.says("Now step 3.")
    found = session.progress.findings()
    assert found[0].cause == cause
    assert found[1].cause == later
    assert found[2].cause is None


def test_a_statement_is_settled_and_an_impression_is_not(session):
    session.edits("src/billing.py", "class Invoice: model")
    assert [one.settled for one in session.progress.findings()][:1] == [False]
    session.says("Step 1 is done.")
    assert session.progress.findings()[0].settled


def test_weak_evidence_only_suggests():
    session = Session(["Add the Invoice model", "Add the Receipt model", "Add the Refund model"])
    session.edits("src/models.py", "class Invoice")
    session.edits("src/models.py", "class Other")
    found = session.progress.findings()
    assert all(one.status != "completed" for one in found[1:])
    assert all((one.status == "completed") == (one.confidence >= HIGH) for one in found)


def test_only_the_agent_says_what_is_done():
    progress = Progress(PLAN)
    progress.observe(Observation(at=7, kind="agent", text="Step 1 is done."))
    progress.observe(Observation(at=9, kind="user", text="Step 4 is done."))
    found = progress.findings()
    assert [one.item for one in found if one.status == "completed"] == [0]
    assert found[0].cause == 7


def test_the_state_can_be_kept_as_json_and_taken_up_again(session):
    session.edits("src/billing.py", "class Invoice: model")
    given = {"file_path": "/repo/tests/test_tax.py", "content": "def test_tax_calculator(): ..."}
    call = session.observe(kind="action", tool="Write", input=given)
    again = Progress(PLAN, json.loads(json.dumps(session.progress.state())))
    assert again.findings() == session.progress.findings()
    for progress in (again, session.progress):
        progress.observe(Observation(at=call + 1, kind="outcome", of=call, ok=True))
    assert again.findings() == session.progress.findings()
    assert again.current == session.current == 2


def test_the_state_does_not_grow_with_the_history(session):
    def size():
        return len(json.dumps(session.progress.state()))

    def work(rounds):
        for n in range(rounds):
            session.says(f"Now let me add invoice number {n} to billing and the README.")
            session.observe(
                kind="action", tool="Edit", input={"file_path": f"src/{n}.py", "new_string": str(n)}
            )

    work(200)
    first = size()
    work(800)
    assert size() < first * 1.5


def test_hostile_text_leaves_a_belief_that_adds_up(session):
    for text in ("step 1, " * 2000, "?" * 10_000, "." * 10_000, "`" * 10_000, "- [x] a\n" * 2000):
        session.says(text)
        session.edits("a" * 10_000, text)
        session.runs(text, output=text)
        assert all(0.0 <= sure <= 1.0 + 1e-9 for sure in session.progress.confidence())


def test_a_long_message_is_read_at_both_ends():
    text = "Step 1 is done.\n" + "Some words about it. " * 2000 + "\nNow step 3."
    assert statements_of(text)[0] == "Step 1 is done."
    assert statements_of(text)[-1] == "Now step 3."
