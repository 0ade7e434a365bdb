"""Answers about a rich task have what the question is about, or say that it is not recorded."""

from __future__ import annotations

import pytest

from tests.support import sqlite_only

pytestmark = sqlite_only
DAY = 86_400


@pytest.fixture
def asked(memory, clock):
    """A function that asks a task with a history of two days, which begins on a Sunday at noon (UTC)."""
    user, tool = memory.acting_as(channel="user"), memory.acting_as(channel="tool")
    task = user.task_register(
        "Move the archive",
        ["Count the objects", "Copy the originals", "Compare the checksums", "Delete the old bucket"],
        request="Move the image archive. It may use 2 TB at most.",
    ).task_id
    user.task_remember(task, "Do not delete the old bucket before Noor agrees.", type="user_instruction")
    user.task_remember(task, "You may pay with the company card up to 5,000 euros.", type="user_instruction")
    memory.task_update(task, "The bucket holds 1,482,300 objects", step=1, step_status="completed")
    memory.task_decide(
        task, choice="mc mirror", title="Copy tool", options=["rclone"], reasoning="it resumes",
        risks=["it loses modification times"], if_wrong="use s5cmd",
    )  # fmt: skip
    memory.task_update(
        task, "Copying", step=2, step_status="active", blockers=["the role lacks GetObjectVersion"]
    )
    clock.forward(DAY)
    memory.task_update(task, "Yusuf granted the permission", blockers=[])
    for output, status in (("2 failed, 188 passed", "failed"), ("190 passed in 39 s", "completed")):
        tool.task_log_action(
            task, "Run the tests", type="cli", tool="Bash", input={"command": "pytest -q"}, output=output,
            status=status,
        )  # fmt: skip
    user.task_plan_replace(
        task,
        ["Count the objects", "Copy the originals", "Compare the checksums", "Freeze the old bucket"],
        reason="Compliance wants it frozen for 90 days",
    )
    memory.task_intent(task, what="Send the mail to Noor", verify="look into the outbox")
    return lambda question: memory.task_ask(task, question)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("how much disk may it use?", ["It may use 2 TB at most."]),
        ("how many objects are there?", ["1,482,300"]),
        ("did the tests pass?", ["Yes: ", "190 passed"]),
        ("may I delete the old bucket?", ["No: ", "Do not delete the old bucket"]),
        ("Darf ich den alten Bucket löschen?", ["Nein: ", "Do not delete"]),
        ("may I pay 3,000 euros with the company card?", ["Yes: "]),
        ("may I pay 7,000 euros with the company card?", ["No: "]),
        ("what was dropped from the plan?", ["Delete the old bucket", "frozen for 90 days"]),
        ("what was the old plan?", ["v1", "Delete the old bucket"]),
        ("why was the plan changed?", ["frozen for 90 days"]),
        ("which step is freezing the bucket?", ["Step 4"]),
        ("is the old bucket deleted?", ["No: "]),
        ("what are the risks of mc mirror?", ["modification times"]),
        ("what if mc mirror was wrong?", ["s5cmd"]),
        ("who granted the permission?", ["Yusuf"]),
        ("did the mail to Noor go out?", ["Unknown: ", "look into the outbox"]),
        ("what was the problem with the originals?", ["GetObjectVersion"]),
        ("what is blocking us?", ["Nothing is recorded as blocking."]),
        ("what is done and what is left?", ["Completed 1 of 4", "Open 3 of 4"]),
        ("what percentage is done?", ["25 %"]),
        ("Was ist gestern passiert?", ["1,482,300"]),
        ("为什么用 mc mirror?", ["it resumes"]),
    ],
)
def test_a_question_is_answered_with_what_it_is_about(asked, question, parts):
    found = asked(question)
    assert found.recorded
    assert [part for part in parts if part not in found.text] == [], found.text


@pytest.mark.parametrize(
    "question",
    [
        "how much does it cost?", "how many videos were converted?", "who designed the archive?",
        "what is the production url?", "may I make the bucket public?", "did the linter pass?",
        "why did we choose Terraform?", "was the invoice paid?", "when does the contract end?",
        "what happened on Thursday?", "what is the capital of Spain?",
    ],
)  # fmt: skip
def test_missing_facts_are_answered_as_not_recorded(asked, question):
    assert not asked(question).recorded


def test_a_list_has_its_rows(asked):
    found = asked("what is left?")
    assert [item.split(" #")[0] for item in found.items] == [
        '2 "Copy the originals" (in progress)', '3 "Compare the checksums"', '4 "Freeze the old bucket"',
    ]  # fmt: skip
    assert asked("what is next?").items == ()


@pytest.fixture
def orchard(memory, clock):
    """A function that asks about a task of two agents, with rules, a trouble that ended, and places."""
    user, wren, finch = (
        memory.acting_as(channel="user"), memory.acting_as(agent="wren"), memory.acting_as(agent="finch")
    )  # fmt: skip
    task = user.task_register(
        "Water the orchard", ["Map the rows", "Drill the well", "Write the gateway"],
        request="We want drip irrigation. Keep the old sprinklers until the new lines have run for a week.",
    ).task_id  # fmt: skip
    user.task_remember(
        task, "Spraying is only allowed before 7:00, because of the bees.", type="user_instruction"
    )
    wren.task_update(task, "Mapped 26 rows with 1,144 trees", step=1, step_status="completed")
    wren.task_update(task, "Drilling", step=2, step_status="active", blockers=["granite under the well"])
    wren.task_update(task, "Switched to a hammer drill", blockers=[])
    wren.task_update(task, "Der Filter wiegt 48 kg und steht in der Halle von Onkel Jiri.")
    finch.task_update(task, "Gateway runs", step=3, step_status="completed")
    finch.task_remember(task, "The checksum of debian-12.iso does not match", type="error")
    return lambda question: memory.task_ask(task, question)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("which agent mapped the rows?", ["wren"]),
        ("who wrote the gateway?", ["finch"]),
        ("how was the granite under the well overcome?", ["granite", "Switched to a hammer drill"]),
        ("is spraying allowed at 9:30?", ["No: "]),
        ("may we spray at 6:00?", ["Yes: "]),
        ("can I remove the old sprinklers now?", ["No: ", "Keep the old sprinklers"]),
        ("where is the filter?", ["in der Halle von Onkel Jiri"]),
        ("how many trees are there?", ["1,144"]),
        ("what does the filter weigh?", ["48 kg"]),
    ],
)
def test_agents_hours_places_and_fixes_are_found(orchard, question, parts):
    answer = orchard(question)
    assert answer.recorded
    assert [part for part in parts if part not in answer.text] == []


@pytest.mark.parametrize(
    "question",
    [
        "why did we pick Debian?",
        "why the orchard?",
        "where is the gateway?",
        "how many wells are there?",
        "in which language is the gateway documented?",
    ],
)
def test_an_answer_must_be_of_the_sort_that_was_asked_for(orchard, question):
    assert not orchard(question).recorded


@pytest.fixture
def records(memory):
    """A function that asks about a task with a replan, hours across midnight, and a run that was repeated."""
    user, tool = memory.acting_as(channel="user"), memory.acting_as(channel="tool")
    plan = ["Export the records", "Clean up duplicates", "Measure sleep current", "Train the front desk"]
    task = user.task_register(
        "Move the records", plan, request="Nothing is submitted before Mrs. Adeyemi has signed."
    ).task_id
    for ok, output in ((False, "attachment 90211 unreadable"), (True, "112,906 attachments, 3 skipped")):
        tool.task_log_action(
            task, "Export the records", type="cli", tool="Bash", input={"command": "export"}, output=output,
            status="completed" if ok else "failed",
        )  # fmt: skip
        if not ok:
            memory.task_remember(
                task, "The export stops at attachment 90211, the scan is damaged", type="error"
            )
    user.task_remember(task, "Imports only between 19:00 and 6:00.", type="user_instruction")
    user.task_remember(task, "Never exceed 3.6 V on the sensor rail.", type="user_instruction")
    memory.task_set(task, "MATCH_THRESHOLD", 0.92)
    memory.task_update(task, "641 duplicates found")
    memory.task_update(task, "IMU enabled, magnetometer left out")
    memory.task_remember(task, "Sleep current must be under 12 uA", type="context")
    asked = memory.task_remember(task, "Who keeps the backup tapes?", type="question").seq
    memory.task_remember(task, "They stay with notary Hagen", type="discovery", resolves=asked)
    user.task_plan_replace(
        task, [*plan[:3], "Train the front desk by video"], reason="the training room is being painted"
    )
    memory.task_update(task, "Desk three is missing", blockers=["the chamber is occupied until 17:00"])
    return lambda question: memory.task_ask(task, question)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("may I import at 22:00?", ["Yes: "]),
        ("may I import at 11:00?", ["No: "]),
        ("would 3.3 V on the sensor rail be ok?", ["Yes: "]),
        ("can I put 3.8 V on the sensor rail?", ["No: "]),
        ("is it safe to submit right away?", ["No: ", "Adeyemi"]),
        ("match threshold?", ["0.92"]),
        ("number of attachments?", ["112,906"]),
        ("how many duplcates were found?", ["641"]),
        ("does the magnetometer work?", ["No: "]),
        ("how low must the sleep current be?", ["12 uA"]),
        ("who has the backup tapes?", ["Hagen"]),
        ("why is the training by video now?", ["painted"]),
        ("how was the damaged attachment fixed?", ["90211", "Export the records"]),
    ],
)
def test_limits_counts_names_and_repeated_runs_are_found(records, question, parts):
    answer = records(question)
    assert answer.recorded
    assert [part for part in parts if part not in answer.text] == []


def test_a_trouble_alone_does_not_say_how_it_was_fixed(orchard):
    assert not orchard("how was the checksum problem solved?").recorded


@pytest.fixture
def told(memory, clock):
    """A function that asks a task of another trade, with notes of several sentences."""
    user = memory.acting_as(channel="user")
    task = memory.task_register(
        "Scan the archive", ["Scan box 17", "Upload the scans", "Tell the readers"]
    ).task_id
    user.task_remember(task, "tank/originals is read-only for you. Nothing there may be deleted.",
                       type="user_instruction")  # fmt: skip
    user.task_remember(task, "Postings of May and June are locked.", type="user_instruction")
    user.task_remember(task, "Registration costs 140 euros. Opens on 22 June.", type="user_instruction")
    memory.task_update(
        task, "The night run stopped at 03:12: was the disk full? No, the inode table was full."
    )
    memory.task_update(
        task, "Finance says no reclaim below 20 dollars. That is 96 customers who keep the money."
    )
    memory.task_decide(task, "exiftool", title="How to write metadata", options=["exiftool", "pyexiv2"],
                       reasoning="it needs no second copy", risks="Only Bram has admin rights.")  # fmt: skip
    memory.task_exclude(task, "pyexiv2", why="it drops the IPTC keywords")
    memory.acting_as(channel="tool").task_log_action(
        task, "compare-metadata --all", type="cli", tool="Bash", output="48094 equal, 0 differ"
    )
    return lambda question: memory.task_ask(task, question).text


@pytest.mark.parametrize(
    ("question", "part"),
    [
        (
            "May I delete the originals once the scans are uploaded?",
            "No: ",
        ),  # shared out between two sentences
        ("May I correct a posting of June?", "No: "),  # the month allows nothing
        ("Why did the night run stop?", "inode table"),  # the text answers its own question
        ("When does registration open?", "22 June"),
        ("How many customers keep the money?", "96 customers"),  # counts customers, not money
        ("Why is pyexiv2 out?", "IPTC"),  # not the decision that only lists it
        ("Why exiftool and not pyexiv2?", "IPTC"),
        ("Who has admin rights in exiftool?", "Only Bram"),
        ("What did the metadata comparison say?", "0 differ"),
        ("What's step 3 now?", "Tell the readers"),
    ],
)
def test_an_answer_reads_what_stands_beside_a_sentence(told, question, part):
    assert part in told(question)


@pytest.mark.parametrize(
    "question",
    ["What is the password of exiftool?", "Has Bram accepted?", "How many scans are in the archive?"],
)
def test_a_thing_without_what_is_asked_of_it_answers_nothing(told, question):
    assert "Not recorded" in told(question)


@pytest.mark.parametrize("condition", ["only after I approve.", "only if tests pass.", "unless I object."])
def test_what_is_allowed_on_a_condition_is_neither_yes_nor_no(memory, condition):
    request = f"Migrate the docs to MkDocs. Deploy {condition}"
    task = memory.acting_as(channel="user").task_register("Docs", request=request).task_id
    answer = memory.task_ask(task, "May I deploy?").text
    assert condition in answer
    assert not answer.startswith(("Yes", "No"))
