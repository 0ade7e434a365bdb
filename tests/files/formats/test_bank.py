"""The files of a bank folder: the schema of the source, deterministic, and read back equal."""

from __future__ import annotations

import json
import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ringbolt.files.bank import MOST_BEGUN, bank_files, bank_parts, metadata_json, plan_json, snapshot_name
from ringbolt.files.bank_reading import (
    plan_files,
    read_index,
    read_log_line,
    read_metadata,
    read_plan,
    read_snapshot_name,
)
from ringbolt.model.rules import parse_plan
from ringbolt.model.types import Event, Origin
from ringbolt.packet.encode import pretty, read_json, terminal
from tests.packet.scenario import REQUEST, ids, play
from tests.support import Clock, open_memory

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
NAMES = st.sampled_from(
    ["title", "name", "note", "toolName", "ringbolt", "expected", "text", "tool", "input"]
)
JSON = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture
def played(tmp_path):
    """A memory that has lived through the scenario, and the task."""
    clock = Clock()
    with open_memory(f"sqlite://{tmp_path}/store.db", clock, random=ids()) as memory:
        yield memory, play(memory, clock), clock


def files_of(memory, task):
    return bank_files(memory.task_get(task), list(memory.events(task)))


def test_the_folder_has_the_files_of_the_source(played):
    memory, task, _ = played
    assert sorted(files_of(memory, task)) == [
        "context_history/00_initial_context.txt",
        "context_history/01_after_summarization.txt",
        "context_history/index.json",
        "execution.log.jsonl",
        "metadata.json",
        "plan.json",
        "plan_v1.json",
    ]
    memory.task_finish(task, "It was a sequential scan.\n")
    assert files_of(memory, task)["final_answer.md"] == "It was a sequential scan.\n"


def test_the_same_history_gives_the_same_bytes(played):
    memory, task, clock = played
    first = files_of(memory, task)
    clock.forward(86_400)
    assert files_of(memory, task) == first


def test_the_metadata_has_every_field_of_the_schema(played):
    memory, task, _ = played
    value = json.loads(files_of(memory, task)["metadata.json"])
    assert list(value) == [
        "version", "parentTaskId", "originalUserTask", "taskStatus", "finalAnswerFile", "timestamps",
        "ringbolt",
    ]  # fmt: skip
    assert value["version"] == "1.0"
    assert value["parentTaskId"] == task
    assert value["originalUserTask"] == REQUEST
    assert value["taskStatus"] == "EXECUTING_PLAN"  # it waits, for which the source has no word
    assert value["ringbolt"]["status"] == "waiting"
    assert value["ringbolt"]["seq"] == memory.task_get(task).seq
    assert list(value["timestamps"]) == [
        "createdAt", "planGeneratedAt", "executionStartedAt", "synthesisStartedAt", "completedAt",
        "lastUpdatedAt",
    ]  # fmt: skip
    memory.task_finish(task, error={"message": "no disk", "stage": 2, "step": "Add a trigram index"})
    value = json.loads(files_of(memory, task)["metadata.json"])
    assert value["taskStatus"] == "FAILED_RECOVERY_EXECUTION"
    assert value["errorSummary"] == {
        "failedAtStage": 2,
        "failedStepNarrative": "Add a trigram index",
        "errorMessage": "no disk",
    }
    assert value["timestamps"]["completedAt"] == "2026-03-01T12:01:06.200Z"


def test_a_task_without_a_request_says_so(played):
    memory, _, _ = played
    task = memory.task_register("Only a name").task_id
    value = json.loads(metadata_json(memory.task_get(task)))
    assert value["originalUserTask"] == "Only a name"
    assert value["ringbolt"]["request"] is None


def test_a_plan_has_stages_and_steps_with_the_fields_of_the_source(played):
    memory, task, _ = played
    files = files_of(memory, task)
    first, *_ = json.loads(files["plan_v1.json"])
    assert first["stage"] == 1
    (step,) = first["steps"]
    own = step.pop("ringbolt")
    assert step == {
        "stepDescription": "Measure the slow queries",
        "toolName": "Shell",
        "sub_task_input": {"command": "psql -f slow.sql"},
        "narrative_step": "Looking for the slowest queries of the evening",
    }
    assert (own["id"], own["status"], own["note"]) == (
        "measure", "completed", "Sequential scan over 9 million rows",
    )  # fmt: skip
    titles = [
        [step["stepDescription"] for stage in json.loads(files[name]) for step in stage["steps"]]
        for name in ("plan_v1.json", "plan.json")
    ]
    assert titles == [
        ["Measure the slow queries", "Put a cache before the search", "Report what was done"],
        ["Measure the slow queries", "Add a trigram index", "Report what was done"],
    ]


def test_the_execution_log_has_every_field_and_word_of_the_source(played):
    memory, task, _ = played
    memory.task_log_action(task, "Left out", status="SKIPPED", sub_task_id="sub-9")
    memory.task_log_action(task, "Out of memory", status="SYSTEM_ERROR", error="killed")
    memory.task_log_action(task, "Still running", status="started")
    lines = [json.loads(line) for line in files_of(memory, task)["execution.log.jsonl"].splitlines()]
    assert [line["status"] for line in lines] == [
        "COMPLETED", "FAILED", "SYSTEM_ACTION", "COMPLETED", "SKIPPED", "SYSTEM_ERROR",
    ]  # fmt: skip
    assert lines[0] == {
        "timestamp": "2026-03-01T12:00:06.200Z",
        "stage": 1,
        "sub_task_id": None,
        "step_narrative": "Looking for the slowest queries of the evening",
        "tool_name": "Shell",
        "status": "COMPLETED",
        "input_payload": {"command": "psql -f slow.sql"},
        "result_data": {"slowest": "products ILIKE '%…%'", "ms": 8400},
        "duration_ms": 4200,
        "ringbolt": {"seq": 6, "type": "cli", "step": "measure", "began": 5},
    }
    assert lines[1]["error_info"] == {"message": "hit rate 3 %", "details": {"keys": 120_000}}
    assert (lines[2]["stage"], lines[2]["tool_name"]) == ("System", "System")
    assert lines[4]["sub_task_id"] == "sub-9"
    assert lines[5]["error_info"] == {"message": "killed", "details": None}


def test_contexts_are_numbered_and_their_labels_times_and_flags_survive(played):
    memory, task, _ = played
    files = files_of(memory, task)
    index = read_index(files["context_history/index.json"])
    assert [(row["label"], row["at"], row["summarized"]) for row in index.values()] == [
        ("initial context", "2026-03-01T12:00:02.000Z", False),
        ("after summarization", "2026-03-01T12:01:06.200Z", True),
    ]
    assert files["context_history/00_initial_context.txt"].startswith("The customer reports")


def test_of_many_actions_that_were_begun_only_some_are_kept_in_mind():
    asked = []
    origin = Origin()

    def event(seq, kind, **fields):
        return Event(
            task_id="0000000000", seq=seq, type=kind, at="t", origin=origin, text=f"#{seq}",
            **{"data": {}, "sets": {}, **fields},
        )  # fmt: skip

    begun = [
        event(seq, "action", sets={"+records": {str(seq): {"type": "action", "status": "started"}}})
        for seq in range(1, MOST_BEGUN + 11)
    ]
    ended = [event(5000 + seq, "action.ended", ref=seq) for seq in (1, MOST_BEGUN)]

    def find(seq):
        asked.append(seq)
        return begun[seq - 1]

    class Done:
        answer = None

    lines = [json.loads(piece) for name, piece in bank_parts(Done, [*begun, *ended], find) if piece]
    assert [line["step_narrative"] for line in lines] == ["#1", f"#{MOST_BEGUN}"]
    assert asked == [1]


# --- names ------------------------------------------------------------------------------------------


@given(
    st.integers(0, 10**8),
    TEXTS | st.sampled_from(["../../etc/passwd", "CON", "a/b", "\0", ".", "", "\n", "~"]),
)
def test_whatever_a_label_is_its_file_has_a_plain_name(number, label):
    name = snapshot_name(number, label)
    assert re.fullmatch(r"\d{2,}_[A-Za-z0-9_]{1,60}\.txt", name)
    assert read_snapshot_name(name)[0] == number


def test_the_files_of_plans_are_read_in_the_order_of_their_making():
    names = [
        "plan_v10.json",
        "plan.json",
        "plan_v2.json",
        "plan_replan_1.json",
        "notes.json",
        "plan_v1.json.kept-1",
    ]
    assert plan_files(names) == ["plan_v2.json", "plan_v10.json", "plan.json", "plan_replan_1.json"]


# --- reading ----------------------------------------------------------------------------------------


@given(JSON)
def test_what_is_written_as_json_is_read_back_equal_and_shows_nothing_unseen(value):
    for indent in (None, 2):
        text = pretty(value, indent)
        assert read_json(text) == value
        assert terminal(text) == text


STEPS = st.dictionaries(
    st.text("abcdefgh-", min_size=1, max_size=5).filter(lambda name: name[0] != "-"),
    st.fixed_dictionaries(
        {
            "title": TEXTS.map(str.strip).filter(bool),
            "status": st.sampled_from(["pending", "active", "completed"]),
            "stage": st.none() | st.sampled_from(["1", "02", "-3", "Initial", "9" * 20]),
            "detail": st.dictionaries(
                st.sampled_from(["tool", "input", "narrative", "expected", "name", "ringbolt"]),
                JSON.filter(lambda value: value not in (None, {})),
                max_size=3,
            ),
        },
        optional={"note": TEXTS.filter(bool)},
    ),
    max_size=5,
)


@given(STEPS)
def test_a_plan_is_read_back_with_its_stages_details_and_statuses(steps):
    for ordinal, step in enumerate(steps.values()):
        step["ordinal"] = ordinal
    plan, said = read_plan(plan_json(steps))
    found = parse_plan(plan)
    assert [(step["id"], step["title"], step["stage"], step["detail"]) for step in found] == [
        (name, step["title"], step["stage"], step["detail"]) for name, step in steps.items()
    ]
    assert {name: own["status"] for name, own in said.items()} == {
        name: step["status"] for name, step in steps.items()
    }
    assert {name: own.get("note") for name, own in said.items()} == {
        name: step.get("note") for name, step in steps.items()
    }


def test_a_log_entry_is_read_in_our_words_and_what_is_unknown_stays():
    line = {
        "timestamp": "2025-05-01T10:00:00Z", "stage": 1, "sub_task_id": "u", "step_narrative": "n",
        "tool_name": "T", "status": "FAILED", "input_payload": {"a": 1}, "resultData": [1],
        "error_info": {"message": "m", "details": None}, "duration_ms": 5, "agent": "worker-7",
    }  # fmt: skip
    assert read_log_line(json.dumps(line)) == {
        "recorded_at": "2025-05-01T10:00:00Z", "stage": 1, "sub_task_id": "u", "summary": "n", "tool": "T",
        "status": "failed", "type": "tool", "step": None, "input": {"a": 1}, "output": [1],
        "error": {"message": "m", "details": None}, "duration_ms": 5, "bank": {"agent": "worker-7"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "meant", "kind"),
    [
        ("COMPLETED", "completed", "tool"), ("FAILED", "failed", "tool"), ("SKIPPED", "skipped", "tool"),
        ("SYSTEM_ACTION", "completed", "system"), ("SYSTEM_ERROR", "failed", "system"),
        (None, "completed", "tool"),
    ],
)  # fmt: skip
def test_the_words_of_a_log_are_understood(status, meant, kind):
    entry = read_log_line(json.dumps({"status": status, "tool_name": "System", "stage": "System"}))
    assert (entry["status"], entry["type"]) == (meant, kind)
    assert ("tool" in entry) == (kind == "tool")


def test_what_cannot_be_read_is_said():
    for read, text, wrong in [
        (read_metadata, "", "line 1"),
        (read_metadata, '{\n"a": 1,\n}', "line 3"),
        (read_metadata, "[]", "not a JSON object"),
        (read_metadata, '{"version": "2.0"}', "version is '2.0'"),
        (read_metadata, '{"a": NaN}', "NaN"),
        (read_metadata, "[" * 100_000, "nested"),
        (read_plan, "{}", "not a JSON array"),
        (read_log_line, '"text"', "not a JSON object"),
        (read_log_line, '{"status": "DONE?"}', "'DONE?' is not the status"),
        (read_log_line, '{"status": 3}', "'3' is not the status"),
        (read_index, "{}", "not a JSON array"),
    ]:
        with pytest.raises(ValueError, match=re.escape(wrong)):
            read(text)
