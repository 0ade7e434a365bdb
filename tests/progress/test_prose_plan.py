"""Plans that nobody wrote as a to-do list: lists in prose, announcements, and how far they got."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ringbolt.progress.plan_lists import Source, plan_lists, step_title
from ringbolt.progress.plan_progress import Observation
from ringbolt.progress.prose_plan import MOST_BEFORE, ProsePlan, Step
from ringbolt.signals.announcements import announcements, sequence

PLANS: dict[str, tuple[Source, str, str]] = {
    "phases that a user hands over": (
        "user",
        """
Implement the following plan:

# Kitchen renovation

## Context
The old kitchen leaks.

## Phase 1: Remove the old cupboards
- empty them first

## Phase 2: Lay the new pipes
Use copper.

## Phase 3: Fit the worktop
""",
        "Phase 2: Lay the new pipes",
    ),
    "numbered after an intention": (
        "agent",
        """
I've read the schema. I'll do this:

1. Add a `region` column to the orders table
2. Backfill it from the address
3. Drop the old index
""",
        "Backfill it from the address",
    ),
    "called a plan": (
        "agent",
        """
I'll look at the pages first. My plan:

1. Inventory of the pages
2. Redirects for the old addresses
3. CI
""",
        "Redirects for the old addresses",
    ),
    "called a plan in German": (
        "agent",
        """
Mein Vorgehen:

1. Inhalte erfassen
2. Weiterleitungen erzeugen
3. Vorschau zeigen
""",
        "Weiterleitungen erzeugen",
    ),
    "numbered within a line": (
        "agent",
        "On staging now. Next steps: 1) wait for the approval (tomorrow), 2) run it on prod and 3) close it.",
        "Run it on prod",
    ),
    "phases that an agent proposes": (
        "agent",
        """
Here's how I'd do it:

## Phase 1: Characterisation tests
Cover charge and refund.

## Phase 2: Extract the gateway
Move the HTTP calls.

Shall I start?
""",
        "Phase 2: Extract the gateway",
    ),
    "a checklist": (
        "approved",
        """
# Release plan

## Tasks
- [x] Freeze the branch
- [ ] Update the changelog
- [ ] Tag 2.4.0
""",
        "Update the changelog",
    ),
    "a table of changes": (
        "user",
        """
# Plan: invoices by mail

## Files to modify

| File | Change |
|---|---|
| `app/mailer.py` | Add `send_invoice()` with a retry |
| `app/jobs.py` | Call the mailer after payment |
""",
        "mailer.py: Add send_invoice() with a retry",
    ),
    "steps of an order": (
        "approved",
        """
# Move the archive to the new building

## Implementation order
1. Label every shelf
2. Pack the maps flat
3. Book two vans for Friday
4. Unpack by label
""",
        "Book two vans for Friday",
    ),
    "what remains": (
        "agent",
        """
The parser is finished. Remaining work:

1. Write the error messages
2. Add the French translation
""",
        "Add the French translation",
    ),
    "headings that name files": (
        "user",
        """
Implement this plan:

# Rate limits

## Changes

### 1. `gateway/limits.go`
- Add a token bucket for each tenant

### 2. `gateway/config.go`
- Read the limits from YAML
""",
        "gateway/limits.go: Add a token bucket for each tenant",
    ),
    "things to fix": (
        "agent",
        """
I found three issues that need fixing:

1. Update the thermostat curve for the ground floor
2. Replace the broken flow sensor
3. Bleed the radiators upstairs
""",
        "Replace the broken flow sensor",
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_in_prose_is_found(name: str) -> None:
    source, text, title = PLANS[name]
    best = max(plan_lists(text, source), key=lambda one: one.score)
    assert best.score > 0
    assert title in best.titles


OTHERS = {
    "options": """
We have a few options:

1. Keep the old oven
2. Rent one
3. Buy a used one

Which do you prefer?
""",
    "a report": """
Done. Here's a summary of the changes:

1. Added the region column
2. Updated the report
3. Removed the old index
""",
    "findings": """
## Findings

- The pump runs dry at night
- The valve is fitted backwards
""",
    "an explanation": """
Here's how it works, because of the cache:

1. The client sends a token
2. The gateway checks it
3. The worker gets the claims
""",
    "benefits": """
## Benefits

- Cheaper storage
- Faster restores
- One place to look
""",
    "files": """
The module consists of:

- `a/main.py`
- `a/util.py`
- `a/test_main.py`
""",
    "questions": """
Questions for you:

1. Which region do you want?
2. Should the mails be in German?
""",
    "versions within a line": "It works with Python 3. 11 is tested, 1) by hand; 3) is the old way.\n",
    "test results": """
All tests pass:

- unit: 112 passed
- integration: 14 passed
- lint: clean
""",
    "reasons": """
This is better because:

1. Nobody needs to restart
2. The log stays short
""",
    "what was changed": """
**Changes made:**
- Updated the menu
- Added the wine list
- Fixed the prices
""",
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_list_is_not_taken_for_a_plan(name: str) -> None:
    assert [one.titles for one in plan_lists(OTHERS[name], "agent") if one.score > 0] == []


def test_a_title_is_a_whole_phrase_without_markup() -> None:
    assert step_title("**Fit** the `worktop` — ~2 hours") == "Fit the worktop"
    long = step_title("Write down " + "every single measure of the room " * 6)
    assert len(long) <= 90
    assert long.split()[-1] in "every single measure room".split()
    list_of = (
        "Ask the surveyor about the wall, the drain, the roof, the gutter, the fence and the gate beforehand"
    )
    assert not step_title(list_of).endswith((" the", " and", ","))


SAID = {
    "Now let me add the tests for the token bucket:": "Add the tests for the token bucket",
    "Good. Next, I'll move the buffet to the garden room.": None,  # later, not now
    "I’m updating the seating plan now so that nobody sits alone.": "Update the seating plan",
    "Now update the invoice template.": "Update the invoice template",
    "### Step 3: Replace the fuse box": "Replace the fuse box",
    "Let me know if you want more.": None,
    "Let me think about this.": None,
    "Let me fix that.": None,
    "The tests pass.": None,
    "Should I add the chapter on soil?": None,
    "I'll update the task list.": None,
    "Let me check the pressure of the valve.": "Check the pressure of the valve",
}


@pytest.mark.parametrize("text", SAID)
def test_an_announcement_becomes_a_title(text: str) -> None:
    now = [one.title for one in announcements(text) if one.when == "now"]
    assert now == ([SAID[text]] if SAID[text] else [])


def test_an_outline_announces_none_of_its_steps() -> None:
    assert [one.title for one in announcements("## Step 3: Fix the parser\nIt drops quotes.")] == [
        "Fix the parser"
    ]
    assert announcements("## Step 1: Fix the parser\n\n## Step 2: Add a test\n") == []


def test_the_announced_next_step_is_read() -> None:
    (one,) = announcements("Next I'll order the tiles for the bathroom.")
    assert (one.when, one.title) == ("next", "Order the tiles for the bathroom")
    both = announcements("I'll read the lease, then I'll draft the letter to the landlord.")
    assert [(one.when, one.title) for one in both] == [
        ("now", "Read the lease"),
        ("next", "Draft the letter to the landlord"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "First I'll read the lease, then I'll draft the letter, and finally send it to the landlord.",
        "First, read the lease. Then draft the letter. Finally, send it to the landlord.",
        "Please first read the lease, then draft the letter and finally send it to the landlord.",
    ],
)
def test_first_then_finally_is_a_plan(text: str) -> None:
    # "Send it" alone names nothing, but in a sequence it stands after what is meant.
    assert sequence(text)[:2] == ["Read the lease", "Draft the letter"]


@pytest.mark.parametrize(
    "text",
    [
        "The client sends a token, then the gateway checks it, and finally the worker gets the claims.",
        "It failed at first, then passed, and finally hung.",
        "Should I first read the lease, then draft the letter, and finally call you?",
    ],
)
def test_a_sequence_of_something_else_is_not_a_plan(text: str) -> None:
    assert sequence(text) == []


# --- stories ----------------------------------------------------------------------------------------


class Story:
    """What happens, told to a plan event by event."""

    def __init__(self) -> None:
        self.plan = ProsePlan()
        self.seq = 0

    def _next(self) -> int:
        self.seq += 1
        # What is kept between two events must be all that is needed.
        self.plan = ProsePlan(json.loads(json.dumps(self.plan.state())))
        return self.seq

    def user(self, text: str, new: bool = True) -> None:
        seq = self._next()
        self.plan.hear_user(seq, text, new_request=new)

    def says(self, text: str) -> None:
        seq = self._next()
        self.plan.hear(seq, text)

    def edits(self, path: str, text: str = "x = 1", ok: bool = True) -> None:
        self._acts("Edit", {"file_path": path, "old_string": "", "new_string": text}, ok, "")

    def writes(self, path: str, text: str) -> None:
        self._acts("Write", {"file_path": path, "content": text}, True, "")

    def runs(self, command: str, ok: bool = True, output: str = "") -> None:
        self._acts("Bash", {"command": command}, ok, output)

    def _acts(self, tool: str, given: dict[str, Any], ok: bool, output: str) -> None:
        seq = self._next()
        self.plan.act(Observation(at=seq, kind="action", tool=tool, input=given, ok=ok, text=output))

    def steps(self) -> dict[str, str]:
        return {step.title: step.status for step in self.plan.steps()}


@pytest.fixture
def story() -> Story:
    return Story()


PLAN = (
    "Implement the following plan:\n\n# Invoices by mail\n\n## Steps\n\n### Step 1: Add the mail template\n"
    "### Step 2: Send invoices after payment\n### Step 3: Document the mail settings\n\n"
    "## Verification\n1. `npm test` passes\n2. `npm run lint` is clean\n"
)


def test_a_plan_of_the_request_is_followed_to_its_end(story: Story) -> None:
    story.user(PLAN)
    assert story.steps() == {
        "Step 1: Add the mail template": "pending",
        "Step 2: Send invoices after payment": "pending",
        "Step 3: Document the mail settings": "pending",
        "Run lint and tests to verify the changes": "pending",
    }
    story.says("Let me start with step 1: the mail template.")
    story.edits("mails/invoice_template.html", "mail template")
    story.says("Step 1 is done. Now step 2 - send invoices after payment.")
    story.edits("src/payment.js", "sendInvoice after payment")
    steps = story.steps()
    assert steps["Step 1: Add the mail template"] == "completed"
    assert steps["Step 2: Send invoices after payment"] == "active"
    assert steps["Step 3: Document the mail settings"] == "pending"
    story.says("Steps 1, 2 and 3 are complete.")
    story.runs("npm test && npm run lint")
    assert set(story.steps().values()) == {"completed"}


def test_a_plan_is_followed_when_its_phases_change_places(story: Story) -> None:
    story.user("Split PaymentService into a gateway and a ledger. First give me a plan.")
    phases = "## Phase 1: Write tests\n\n## Phase 2: Extract Gateway\n\n## Phase 3: Extract Ledger"
    story.says(f"Here's how I'd do it:\n\n{phases}\n\nShall I start?")
    story.user("yes, but phase 3 before phase 2", new=False)
    story.edits("tests/test_payment.py", "charge")
    story.runs("pytest")
    story.says("Phase 1 is finished: 14 tests pass.")
    story.edits("payments/ledger.py", "class Ledger")
    story.runs("pytest")
    story.says("Ledger is extracted and committed. Moving on to the Gateway.")
    story.edits("payments/gateway.py", "class Gateway")
    assert story.steps() == {
        "Phase 1: Write tests": "completed",
        "Phase 2: Extract Gateway": "active",
        "Phase 3: Extract Ledger": "completed",
    }


def test_a_check_counts_until_the_next_change(story: Story) -> None:
    story.user("Fix the rounding of prices.")
    story.says("Let me fix the rounding in the price table.")
    story.edits("src/prices.py")
    story.runs("pytest -q", output="3 passed")
    story.says("Now let me update the price list for Sunday.")
    assert story.steps()["Run tests to verify the changes"] == "completed"
    story.edits("src/prices.py")
    assert story.steps()["Run tests to verify the changes"] == "pending"
    story.runs("pytest -q", ok=False, output="1 failed")
    assert story.steps()["Run tests to verify the changes"] == "active"


def test_announcements_are_steps_where_there_is_no_list(story: Story) -> None:
    story.user("Please tidy up the booking form.")
    story.says("Let me look at the form first.")
    story.runs("cat src/form.html")
    story.says("Now let me split the address into street and town.")
    story.edits("src/form.html")
    story.says("Now let me validate the telephone number.")
    assert story.steps() == {
        "Split the address into street and town": "active",
        "Validate the telephone number": "active",
    }
    story.edits("src/form.html")
    assert story.steps()["Split the address into street and town"] == "completed"
    story.says("The form is finished.")
    assert story.steps()["Validate the telephone number"] == "completed"


def test_what_was_announced_and_never_begun_is_dropped(story: Story) -> None:
    story.user("Please tidy up the booking form.")
    story.says("Let me rename the fields of the form.")
    story.says("Actually, let me move the buttons to the bottom.")
    story.edits("src/form.html")
    story.says("Now let me colour the buttons green.")
    assert "Rename the fields of the form" not in story.steps()


def test_a_report_takes_the_place_of_the_announcements(story: Story) -> None:
    story.user("Please tidy up the booking form.")
    for part in ("street", "town", "country", "telephone"):
        story.says(f"Now let me add a field for the {part}.")
        story.edits("src/form.html")
    story.says(
        "All done. Here's a summary of the changes:\n\n"
        "- Added fields for street, town, country and telephone\n"
        "- `src/form.css` - Moved the labels above the fields\n"
    )
    assert list(story.steps().values()) == ["completed"] * len(story.steps())
    assert "Add fields for street, town, country and telephone" in story.steps()
    assert "Move the labels above the fields (form.css)" in story.steps()


def test_a_report_of_test_results_is_not_work(story: Story) -> None:
    story.user("How are the tests?")
    story.says("All tests pass. Summary:\n\n- unit tests: 12 passed\n- lint: clean\n")
    assert story.steps() == {}


def test_a_failed_edit_completes_nothing(story: Story) -> None:
    story.user("Please tidy up the booking form.")
    story.says("Let me rename the fields of the form.")
    story.edits("src/form.html", ok=False)
    story.says("Let me move the buttons to the bottom.")
    story.edits("src/form.html")
    assert "completed" not in story.steps().values()


def test_a_new_request_begins_a_new_plan(story: Story) -> None:
    story.user(PLAN)
    story.says("Let me start with step 1: the mail template.")
    story.edits("mails/invoice_template.html", "mail template")
    story.user("Something else: why does the login page flicker?")
    assert story.steps() == {}


def test_what_was_done_for_earlier_requests_is_kept_apart(story: Story) -> None:
    story.user(PLAN)
    story.says("Step 1 is done. Now step 2: send invoices after payment.")
    story.edits("jobs/send_invoices.py", "send invoices after payment")
    story.user("Something else: why does the login page flicker?")
    (step,) = story.plan.steps()
    assert (step.title, step.status, step.earlier) == ("Step 1: Add the mail template", "completed", True)
    for number in range(40):
        story.says(f"Now let me paint the door of room {number} in colour {number * 7}.")
        story.edits(f"rooms/{number}.txt", f"the door of room {number}")
        story.says("Done.")
        story.user(f"And what about room {number + 1}?")
    assert sum(step.earlier for step in story.plan.steps()) == MOST_BEFORE


def test_more_about_a_request_keeps_its_plan(story: Story) -> None:
    story.user(PLAN)
    story.user("Please use the blue logo.", new=False)
    assert len(story.steps()) == 4


def test_a_plan_file_is_read(story: Story) -> None:
    story.user("Plan the move of the archive.")
    story.writes(
        "docs/plans/move.md",
        "# Moving plan\n\n## Tasks\n\n1. Label every shelf in the cellar\n2. Pack the maps flat\n"
        "3. Book two vans for Friday\n\nEverything else stays where it is until the new rooms are painted,"
        " which takes until the end of the month according to the builder.\n",
    )
    assert "Pack the maps flat" in story.steps()


def test_the_plan_in_other_words_is_not_a_second_plan(story: Story) -> None:
    story.user(PLAN)
    story.says(
        "I need to:\n\n1. Add the mail template\n2. Send invoices after payment\n3. Document the settings\n"
    )
    assert len(story.steps()) == 4


def test_next_is_what_the_agent_said_until_it_begins(story: Story) -> None:
    story.user("Please renovate the bathroom.")
    story.says("I'm removing the old tiles. Next I'll order the tiles for the floor.")
    assert story.plan.next_step == ("Order the tiles for the floor", 2)
    story.says("Let me order the tiles for the floor now.")
    assert story.plan.next_step is None


def test_the_state_is_bounded(story: Story) -> None:
    story.user(PLAN)
    for number in range(300):
        story.says(f"Now let me paint the door of room {number} in colour {number * 7}.")
        story.edits(f"rooms/{number}.txt")
    assert len(story.plan.steps()) < 40
    assert len(json.dumps(story.plan.state())) < 20_000


def test_each_step_names_its_source() -> None:
    plan = ProsePlan()
    plan.hear_user(7, PLAN, new_request=True)
    step = plan.steps()[0]
    assert step == Step(
        title="Step 1: Add the mail template", status="pending", seq=7, channel="user", cause=None
    )


PLAN_WITH_FILES = """Implement the following plan:

## Steps

### 1. Parse the dates
**File**: `src/dates.py`

### 2. Extend the types
- Add the field to `src/types.py`

### 3. Backfill the old rows
`tools/backfill.py` reads them in batches.

### 4. Show the dates (`web/table.tsx`)
"""


def test_the_files_that_steps_name_show_where_the_work_is(story: Story) -> None:
    story.user(PLAN_WITH_FILES)
    story.edits("/w/src/dates.py")
    story.edits("/w/web/table.tsx")
    steps = {step.title: step.status for step in story.plan.steps()}
    assert [steps[title] for title in list(steps)[:4]] == ["completed", "pending", "pending", "active"]


def test_a_step_that_runs_something_is_not_over_once_its_script_is_written(story: Story) -> None:
    story.user(PLAN_WITH_FILES)
    for path in ("/w/src/dates.py", "/w/src/types.py", "/w/tools/backfill.py", "/w/web/table.tsx"):
        story.edits(path)
    statuses = [step.status for step in story.plan.steps()][:4]
    assert statuses == ["completed", "completed", "pending", "active"]


def test_a_table_of_tasks_is_a_plan_whoever_wrote_it(story: Story) -> None:
    story.says(
        "Here's the list:\n\n| # | Task | Priority |\n|---|---|---|\n"
        "| 1 | **Fix the dropped action** in the turn's end | Critical |\n"
        "| 2 | **Filter stale sessions** when listing them | High |\n\nWant to start there?"
    )
    assert [step.title for step in story.plan.steps()][:2] == [
        "Fix the dropped action in the turn's end",
        "Filter stale sessions when listing them",
    ]


def test_a_report_in_several_lists_is_read_whole(story: Story) -> None:
    story.user("Please restore all sessions.")
    story.says(
        "All done. Here's a summary:\n\n### 1. `store.py`\n- Added `read_archived()` to read old sessions\n"
        "- Updated `read()` to call it\n\n### 2. `restore.py`\n- Changed `restore()` to restore all of them\n"
        "- Removed the check for a single one\n"
    )
    titles = [step.title for step in story.plan.steps()]
    assert len(titles) == 4
    assert any("restore all of them" in title for title in titles)


def test_looking_is_not_a_step_that_is_done(story: Story) -> None:
    story.user("Please fix the parser.")
    story.says("Let me look at how the parser reads its input first.")
    story.edits("/w/src/parser.py")
    assert not any("Look" in step.title for step in story.plan.steps())
