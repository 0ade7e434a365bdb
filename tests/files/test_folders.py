"""Bank folders and states folders: written whole, read back without loss, and never led astray."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from bench.speed import build
from ringbolt import RingboltError
from ringbolt.files.bank_folder import write_bank
from ringbolt.model.foreign_statuses import TASK_WORDS
from ringbolt.model.rules import ACTION_TYPES, ENTRY_TYPES, PHASES, TASK_STATUSES
from ringbolt.system.files import is_temp
from tests.core.hostile_values import HOSTILE
from tests.packet.scenario import GOLDEN, ids, play
from tests.support import Clock, complaint, contents, examples, newest, open_memory, refused, sqlite_only

UUID = "3f0c9a52-7a54-4d6e-9d5b-0c1e7c1a9f11"


def files_in(folder) -> dict[str, bytes]:
    """Every file below a folder: relative path, and content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def all_temps(folder) -> list[str]:
    return [path.name for path in Path(folder).rglob("*") if is_temp(path.name)]


@pytest.fixture
def played(opened, store_url, clock):
    """A memory that has lived through the scenario, and the task."""
    memory = opened(store_url, random=ids())
    return memory, play(memory, clock)


def same_task(first, second, task) -> None:
    assert list(first.events(task)) == list(second.events(task))
    assert first.task_get(task) == second.task_get(task)


# --- golden -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bank", "states"])
def test_the_folders_are_as_the_golden_ones_show(played, tmp_path, kind):
    """To write them anew: RINGBOLT_GOLDEN=write."""
    memory, task = played
    memory.task_finish(
        task, "A sequential scan was slow; a trigram index mended it.\n\np99 at 20:00: 38 ms.\n"
    )
    getattr(memory, f"export_{kind}")(tmp_path / kind, task)
    if os.environ.get("RINGBOLT_GOLDEN") == "write":
        shutil.rmtree(GOLDEN / kind, ignore_errors=True)
        shutil.copytree(tmp_path / kind, GOLDEN / kind)
    assert files_in(tmp_path / kind) == files_in(GOLDEN / kind)


# --- bank: a folder of our own ----------------------------------------------------------------------


def test_a_bank_folder_restores_the_identical_task(played, opened, new_store_url, tmp_path):
    memory, task = played
    report = memory.export_bank(tmp_path / "bank", task)
    assert (report.task_id, report.seq, report.warnings) == (task, memory.task_get(task).seq, ())
    assert report.path == str(tmp_path / "bank" / task)
    assert list(report.files) == sorted(files_in(report.path))
    other = opened(new_store_url())
    found = other.import_bank(tmp_path / "bank")
    assert (found.tasks, found.added, found.known, found.warnings) == ((task,), report.seq, 0, ())
    same_task(memory, other, task)
    assert other.verify().ok


def test_importing_a_folder_twice_adds_nothing(played, opened, new_store_url, tmp_path):
    memory, task = played
    path = memory.export_bank(tmp_path, task).path
    other = opened(new_store_url())
    other.import_bank(path)
    before = contents(other)
    again = other.import_bank(path)
    assert (again.tasks, again.added, again.known) == ((task,), 0, memory.task_get(task).seq)
    assert contents(other) == before
    assert memory.import_bank(path).added == 0


def test_a_bank_of_several_tasks_is_imported_whole(memory, opened, new_store_url, tmp_path):
    tasks = [memory.task_register(f"Task {number}", ["A"]).task_id for number in range(3)]
    for task in tasks:
        memory.export_bank(tmp_path, task)
    other = opened(new_store_url())
    assert sorted(other.import_bank(tmp_path).tasks) == sorted(tasks)
    for task in tasks:
        same_task(memory, other, task)


def test_without_a_task_the_current_one_is_exported(memory, task, tmp_path):
    assert memory.export_bank(tmp_path / "bank").task_id == task
    assert memory.export_states(tmp_path / "states").task_id == task


def test_a_task_that_went_two_ways_is_kept_both_ways(memory, task, opened, new_store_url, tmp_path):
    other = opened(new_store_url())
    other.import_bank(memory.export_bank(tmp_path / "a", task).path)
    memory.task_update(task, "here")
    other.task_update(task, "there")
    found = other.import_bank(memory.export_bank(tmp_path / "a", task).path)
    (conflict,) = found.conflicts
    assert found.tasks == (conflict.kept_as,)
    # And that side of it can be written and read as a folder too.
    third = opened(new_store_url())
    third.import_bank(other.export_bank(tmp_path / "b", conflict.kept_as).path)
    assert third.task_get(conflict.kept_as).conflict_of == task


def test_a_folder_shows_the_task_as_it_was_when_the_export_began(memory, task, tmp_path):
    shown = memory.task_get(task)

    def rows():
        for row in memory._ledger(task, until=shown.seq):
            memory.task_log_action(task, "meanwhile")
            yield row

    write_bank(str(tmp_path), shown, rows(), lambda _: None)
    lines = (tmp_path / task / "events.jsonl").read_text().splitlines()
    assert len(lines) == 1 + shown.seq
    assert (tmp_path / task / "execution.log.jsonl").read_text() == ""
    assert memory.import_bank(tmp_path).warnings == ()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda at: (at / "plan.json").write_text("[]"), "plan.json was changed"),
        (lambda at: (at / "metadata.json").write_text(
            (at / "metadata.json").read_text().replace('"EXECUTING_PLAN"', '"COMPLETED_SUCCESS"')
        ), "metadata.json was changed"),
        (lambda at: append(at / "execution.log.jsonl", "{}\n"), "execution.log.jsonl was changed"),
        (lambda at: (at / "plan_v1.json").unlink(), "plan_v1.json is missing"),
        (lambda at: (at / "notes.txt").write_text("mine"), "'notes.txt' was not written by Ringbolt"),
        (lambda at: (at / "metadata.json").unlink(), "metadata.json is missing or not from Ringbolt"),
        (
            lambda at: (at / "final_answer.md").symlink_to("/etc/passwd"),
            "'final_answer.md' is not a regular file",
        ),
    ],
)  # fmt: skip
def test_what_was_edited_by_hand_is_reported_and_the_ledger_is_imported(
    played, opened, new_store_url, tmp_path, spoil, said
):
    memory, task = played
    path = memory.export_bank(tmp_path, task).path
    spoil(Path(path))
    other = opened(new_store_url())
    found = other.import_bank(path)
    same_task(memory, other, task)
    assert len(found.warnings) == 1
    assert said in found.warnings[0]


def test_a_ledger_that_does_not_belong_to_its_folder_is_refused(memory, task, tmp_path):
    strange = memory.task_register("Another").task_id
    path = Path(memory.export_bank(tmp_path, task).path)
    memory.export_events(path / "events.jsonl", strange)
    with refused(memory, "import_invalid", naming=f"not the ledger of task {task}"):
        memory.import_bank(path)


def test_an_edited_ledger_is_refused_with_its_line(memory, task, opened, new_store_url, tmp_path):
    path = Path(memory.export_bank(tmp_path, task).path)
    text = (path / "events.jsonl").read_text()
    (path / "events.jsonl").write_text(text.replace("Deploy it, please.", "Delete it, please."))
    other = opened(new_store_url())
    with refused(other, "import_invalid", naming="Line 2"):
        other.import_bank(path)


# --- bank: writing over what is there ---------------------------------------------------------------


def test_another_export_brings_the_folder_up_to_date(played, opened, new_store_url, tmp_path):
    memory, task = played
    memory.task_finish(task, "Done.")
    first = memory.export_bank(tmp_path, task)
    assert "final_answer.md" in first.files
    memory.task_update(task, status="active")
    second = memory.export_bank(tmp_path, task)
    assert "final_answer.md" not in second.files
    assert (second.removed, second.warnings) == (1, ())
    assert not (tmp_path / task / "final_answer.md").exists()
    other = opened(new_store_url())
    assert other.import_bank(tmp_path).warnings == ()
    same_task(memory, other, task)


def test_an_export_of_the_same_state_writes_the_same_bytes(played, tmp_path):
    memory, task = played
    memory.export_bank(tmp_path, task)
    before = files_in(tmp_path)
    memory.export_bank(tmp_path, task)
    assert files_in(tmp_path) == before


def test_what_someone_edited_is_kept_under_another_name(played, tmp_path):
    memory, task = played
    at = Path(memory.export_bank(tmp_path, task).path)
    (at / "plan.json").write_text("my own plan")
    (at / "metadata.json").write_text((at / "metadata.json").read_text().replace('"1.0"', '"1.1"'))
    (at / "final_answer.md").write_text("my own answer")
    (at / "notes.txt").write_text("my own notes")
    memory.task_finish(task, "Done.")
    report = memory.export_bank(tmp_path, task)
    assert (at / "plan.json.kept-1").read_text() == "my own plan"
    assert (at / "final_answer.md.kept-1").read_text() == "my own answer"
    assert '"1.1"' in (at / "metadata.json.kept-1").read_text()
    assert (at / "notes.txt").read_text() == "my own notes"
    assert (at / "final_answer.md").read_text() == "Done."
    assert sorted(warning.partition(" ")[0] for warning in report.warnings) == [
        "final_answer.md",
        "metadata.json",
        "plan.json",
    ]
    (at / "plan.json").write_text("again")
    memory.export_bank(tmp_path, task)
    assert (at / "plan.json.kept-2").read_text() == "again"


def test_a_stale_file_that_was_edited_stays(played, tmp_path):
    memory, task = played
    memory.task_finish(task, "Done.")
    at = Path(memory.export_bank(tmp_path, task).path)
    (at / "final_answer.md").write_text("better")
    memory.task_update(task, status="active")
    report = memory.export_bank(tmp_path, task)
    assert (at / "final_answer.md").read_text() == "better"
    assert len(report.warnings) == 1


def test_the_list_of_our_files_cannot_be_made_to_remove_others(played, tmp_path):
    memory, task = played
    victim = tmp_path / "victim"
    victim.write_text("precious")
    at = Path(memory.export_bank(tmp_path / "bank", task).path)
    (at / "mine.txt").write_text("precious")
    value = json.loads((at / "metadata.json").read_text())
    mark = value["ringbolt"]["files"]["plan.json"]
    shutil.copy(at / "plan.json", victim)
    value["ringbolt"]["files"].update({"../../victim": mark, str(victim): mark, "mine.txt": mark})
    (at / "metadata.json").write_text(json.dumps(value))
    memory.export_bank(tmp_path / "bank", task)
    assert victim.exists()
    assert (at / "mine.txt").exists()


def test_a_folder_of_someone_else_is_not_written_over(memory, task, tmp_path):
    foreign = tmp_path / task
    foreign.mkdir()
    (foreign / "metadata.json").write_text('{"parentTaskId": "x"}')
    with refused(memory, "invalid_argument", naming="was not written by Ringbolt"):
        memory.export_bank(tmp_path, task)
    assert files_in(foreign) == {"metadata.json": b'{"parentTaskId": "x"}'}


@pytest.mark.parametrize("place", ["", "context_history"])
def test_a_link_in_the_place_of_a_folder_is_not_followed(played, tmp_path, place):
    memory, task = played
    outside = tmp_path / "outside"
    outside.mkdir()
    target = tmp_path / "bank" / task / place if place else tmp_path / "bank" / task
    target.parent.mkdir(parents=True)
    target.symlink_to(outside)
    with refused(memory, "invalid_argument", naming="not a folder"):
        memory.export_bank(tmp_path / "bank", task)
    assert list(outside.iterdir()) == []


def test_a_link_in_the_place_of_a_file_is_kept_and_what_it_leads_to_is_left_alone(played, tmp_path):
    memory, task = played
    at = Path(memory.export_bank(tmp_path / "bank", task).path)
    outside = tmp_path / "outside"
    outside.write_text("precious")
    for name in ("plan.json", "execution.log.jsonl", "events.jsonl"):
        (at / name).unlink()
        (at / name).symlink_to(outside)
    memory.export_bank(tmp_path / "bank", task)
    assert outside.read_text() == "precious"
    assert not (at / "plan.json").is_symlink()
    assert (at / "plan.json.kept-1").is_symlink()


def test_a_bank_that_is_made_in_a_git_work_tree_is_kept_out_of_git(memory, task, tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    memory.export_bank(tmp_path / "repo" / "task_memory_bank", task)
    assert (tmp_path / "repo" / "task_memory_bank" / ".gitignore").read_text() == "*\n"
    (tmp_path / "repo" / "task_memory_bank" / ".gitignore").unlink()
    memory.export_bank(tmp_path / "repo" / "task_memory_bank", task)  # whoever took it away meant it
    assert not (tmp_path / "repo" / "task_memory_bank" / ".gitignore").exists()
    memory.export_bank(tmp_path / "plain" / "task_memory_bank", task)
    assert not (tmp_path / "plain" / "task_memory_bank" / ".gitignore").exists()


def test_a_folder_that_cannot_be_written_is_said(memory, task, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with refused(memory, "store_unavailable"):
        memory.export_bank(tmp_path / "file", task)
    with refused(memory, "store_unavailable"):
        memory.export_bank(tmp_path / "file" / "below", task)
    with refused(memory, "store_unavailable"):
        memory.import_bank(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "label", ["../../x", "/etc/passwd", "CON", "a\nb", "\u202e", "x" * 200, "ä", "a/../../b"]
)
def test_no_label_becomes_a_path(memory, task, opened, new_store_url, tmp_path, label):
    memory.task_snapshot(task, "content", label=label)
    memory.export_bank(tmp_path / "bank", task)
    assert [path.name for path in tmp_path.iterdir() if path.name != "stores"] == ["bank"]
    names = [path.name for path in (tmp_path / "bank" / task / "context_history").iterdir()]
    assert len(names) == 2
    assert all(name.isascii() and "/" not in name for name in names)
    (tmp_path / "bank" / task / "events.jsonl").unlink()
    other = opened(new_store_url())
    (found,) = other.import_bank(tmp_path / "bank").tasks
    (entry,) = other.task_history(found, type="snapshot")
    assert (entry.summary, entry.key) == ("content", label.strip())


def test_exports_at_the_same_time_leave_a_folder_that_fits_together(memory, task, tmp_path):
    def work(number):
        for _ in range(4):
            memory.task_snapshot(task, f"context of {number}", label=f"{number}")
            report = memory.export_bank(tmp_path, task)
            assert report.warnings == ()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert memory.import_bank(tmp_path).warnings == ()
    memory.export_bank(tmp_path, task)
    assert len(list((tmp_path / task / "context_history").glob("*.txt"))) == 16
    assert all_temps(tmp_path) == []


_LOOP = """
import sys
from ringbolt.core.actions import Actions
from ringbolt.core.entries import Entries
from ringbolt.files.folder_operations import Folders
from tests.processes import open_rooms
memory = open_rooms(sys.argv[1], Folders, Actions, Entries, agent="killed")
print("go", flush=True)
number = 0
while True:
    number += 1
    memory.task_log_action(sys.argv[3], f"action {number}", output="x" * 2000)
    memory.task_snapshot(sys.argv[3], f"context {number}" * 100, label=f"label {number % 7}")
    memory.export_bank(sys.argv[2], sys.argv[3])
    memory.export_states(sys.argv[2] + "-states", sys.argv[3])
"""


@sqlite_only
@pytest.mark.parametrize("kills", [4, pytest.param(12, marks=pytest.mark.reliability)])
def test_an_export_that_is_killed_leaves_no_torn_file_and_the_next_one_heals(
    played, store_url, tmp_path, kills
):
    memory, task = played
    bank = tmp_path / "bank"
    moments = random.Random(4)
    memory.export_bank(bank, task)
    for _ in range(kills):
        process = subprocess.Popen(
            [sys.executable, "-c", _LOOP, store_url, str(bank), task],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            assert process.stdout.readline() == b"go\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(moments.uniform(0.01, 0.25))
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        for path in (bank / task).rglob("*"):
            if path.is_file() and not is_temp(path.name):
                whole(path)
        # What is there can be imported: the ledger is whole, whatever the other files are.
        assert memory.import_bank(bank).added == 0
    memory.export_bank(bank, task)
    memory.export_states(f"{bank}-states", task)
    assert all_temps(bank) == all_temps(f"{bank}-states") == []
    assert [path.name for path in bank.rglob("*.kept-*")] == []
    report = memory.import_bank(bank)
    assert (report.added, report.warnings) == (0, ())
    assert memory.import_states(f"{bank}-states").warnings == ()


def whole(path: Path) -> None:
    """Raise unless a file of a bank was written to its end."""
    text = path.read_text()
    if path.suffix == ".json":
        json.loads(text)
    elif path.suffix == ".jsonl":
        assert not text or text.endswith("\n")
        for line in text.splitlines():
            json.loads(line)
    elif path.suffix == ".txt" and text.startswith("context "):
        assert len(text) % 100 == 0


@sqlite_only
def test_what_an_export_needs_in_memory_does_not_grow_with_the_log(memory, task, tmp_path):
    peaks = []
    for _ in range(2):
        calls = [lambda own: own.task_log_action(task, "x" * 500, output="y" * 1500)]
        build(memory, calls * (3000 if peaks else 2000))
        tracemalloc.start()
        memory.export_bank(tmp_path / "bank", task)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert len((tmp_path / "bank" / task / "execution.log.jsonl").read_bytes()) > 9_000_000
    assert peaks[1] < peaks[0] * 1.2


# --- bank: a folder of another project --------------------------------------------------------------


def foreign(folder, **changes) -> Path:
    """A folder as the source's design describes it."""
    at = Path(folder) / UUID
    (at / "context_history").mkdir(parents=True)
    metadata = {
        "parentTaskId": UUID,
        "originalUserTask": "Compare the three offers\nand tell me which is cheapest.",
        "taskStatus": "COMPLETED_SUCCESS",
        "finalAnswerFile": "final_answer.md",
        "errorSummary": None,
        "timestamps": {
            "createdAt": "2025-05-01T10:00:00.000Z",
            "planGeneratedAt": "2025-05-01T10:00:05.000Z",
            "executionStartedAt": "2025-05-01T10:00:06.000Z",
            "synthesisStartedAt": None,
            "completedAt": "2025-05-01T10:05:00.000Z",
            "lastUpdatedAt": "2025-05-01T10:05:00.000Z",
        },
        "version": "1.0",
        "executionMode": "EXECUTE_FULL_PLAN",
        **changes,
    }
    read = {
        "stepDescription": "Read A", "toolName": "ReadWebpageTool",
        "sub_task_input": {"url": "https://a.example"}, "narrative_step": "Reading offer A",
    }  # fmt: skip
    compare = {"stepDescription": "Compare", "toolName": "LLM", "narrative_step": "Comparing"}
    plans = {
        "plan_v1.json": [{"stage": 1, "steps": [read]}],
        "plan.json": [{"stage": 1, "steps": [read]}, {"stage": 2, "steps": [compare]}],
    }
    log = [
        {"timestamp": "2025-05-01T10:01:00Z", "stage": 1, "sub_task_id": "sub-1",
         "step_narrative": "Reading offer A", "tool_name": "ReadWebpageTool", "status": "FAILED",
         "input_payload": {"url": "https://a.example"},
         "result_data": None, "error_info": {"message": "timeout", "details": {"ms": 5000}},
         "duration_ms": 5000},
        {"timestamp": "2025-05-01T10:02:00Z", "stage": "System", "sub_task_id": None,
         "step_narrative": "Context summarized", "tool_name": "System", "status": "SYSTEM_ACTION",
         "result_data": None, "duration_ms": None},
        {"timestamp": "2025-05-01T10:03:00Z", "stage": 1, "sub_task_id": "sub-2",
         "step_narrative": "Reading offer A", "tool_name": "ReadWebpageTool", "status": "COMPLETED",
         "result_data": {"price": 12}, "duration_ms": 800,
         "worker": 7},
        {"timestamp": "2025-05-01T10:04:00Z", "stage": 2, "sub_task_id": "sub-3",
         "step_narrative": "Comparing",
         "tool_name": "LLM", "status": "SKIPPED", "result_data": None, "duration_ms": 0},
    ]  # fmt: skip
    (at / "metadata.json").write_text(json.dumps(metadata))
    for name, plan in plans.items():
        (at / name).write_text(json.dumps(plan))
    (at / "execution.log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in log))
    (at / "final_answer.md").write_text("**Offer A** is cheapest.\n")
    (at / "context_history" / "00_initial_context.txt").write_text("Three offers.")
    (at / "context_history" / "01_after_summarization_initial.txt").write_text("Offers, summarised.")
    return at


def test_a_folder_of_another_project_becomes_a_task(memory, tmp_path):
    foreign(tmp_path)
    report = memory.import_bank(tmp_path)
    (task_id,) = report.tasks
    assert report.warnings == ()
    task = memory.task_get(task_id)
    assert task.request == "Compare the three offers\nand tell me which is cheapest."
    assert task.name == "Compare the three offers"
    assert task.status == "completed"
    assert task.answer == "**Offer A** is cheapest.\n"
    assert task.seq == report.added
    assert memory.verify().ok
    came = task.metadata["bank"]
    assert (came["parentTaskId"], came["taskStatus"]) == (UUID, "COMPLETED_SUCCESS")
    assert came["executionMode"] == "EXECUTE_FULL_PLAN"
    assert came["timestamps"]["createdAt"] == "2025-05-01T10:00:00.000Z"
    assert {event.origin.channel for event in memory.events(task_id)} == {"import"}


def test_plans_log_and_contexts_of_another_project_keep_all_they_say(memory, tmp_path):
    foreign(tmp_path)
    (task_id,) = memory.import_bank(tmp_path).tasks
    assert [[item.title for item in plan.steps] for plan in memory.task_plans(task_id)] == [
        ["Read A"],
        ["Read A", "Compare"],
    ]
    first, second = memory.task_get(task_id).steps
    assert (first.status, first.basis, first.stage) == ("completed", "inferred", "1")
    assert first.detail == {
        "tool": "ReadWebpageTool", "input": {"url": "https://a.example"}, "narrative": "Reading offer A",
    }  # fmt: skip
    assert (second.status, second.stage) == ("skipped", "2")
    actions = memory.task_drill_down(task_id, "s1").actions
    assert [(action.status, action.stage, action.sub_task_id) for action in actions] == [
        ("failed", "1", "sub-1"),
        ("completed", "1", "sub-2"),
    ]
    assert actions[0].error == {"message": "timeout", "details": {"ms": 5000}}
    log = [event for event in memory.events(task_id) if event.type == "action"]
    assert [event.data["recorded_at"] for event in log] == [f"2025-05-01T10:0{n}:00Z" for n in (1, 2, 3, 4)]
    assert log[2].data["bank"] == {"worker": 7}
    assert log[1].data["type"] == "system"
    contexts = memory.task_history(task_id, type="snapshot")
    assert [(entry.key, entry.summary, entry.data["summarized"]) for entry in contexts] == [
        ("initial context", "Three offers.", False),
        ("after summarization initial", "Offers, summarised.", True),
    ]


def test_what_came_from_another_project_goes_out_as_it_came(memory, tmp_path):
    at = foreign(tmp_path / "in")
    (task_id,) = memory.import_bank(at).tasks
    out = Path(memory.export_bank(tmp_path / "out", task_id).path)

    def lines(folder):
        found = [json.loads(line) for line in (folder / "execution.log.jsonl").read_text().splitlines()]
        return [{key: value for key, value in line.items() if key != "ringbolt"} for line in found]

    assert lines(out) == lines(at)
    metadata = json.loads((out / "metadata.json").read_text())
    theirs = json.loads((at / "metadata.json").read_text())
    for name in ("createdAt", "planGeneratedAt", "executionStartedAt", "synthesisStartedAt", "completedAt"):
        assert metadata["timestamps"][name] == theirs["timestamps"][name]
    assert (metadata["originalUserTask"], metadata["taskStatus"]) == (
        theirs["originalUserTask"], theirs["taskStatus"],
    )  # fmt: skip
    for name in ("final_answer.md", "context_history/00_initial_context.txt"):
        assert (out / name).read_bytes() == (at / name).read_bytes()
    for name in ("plan_v1.json", "plan.json"):
        steps = [step for stage in json.loads((out / name).read_text()) for step in stage["steps"]]
        expected = [step for stage in json.loads((at / name).read_text()) for step in stage["steps"]]
        for step, their_step in zip(steps, expected, strict=True):
            assert {**step, **their_step} == step


def test_a_folder_of_another_project_goes_out_without_loss(memory, tmp_path):
    times = {
        "createdAt": "2025-05-01T10:00:00.000Z", "planGeneratedAt": None, "executionStartedAt": None,
        "synthesisStartedAt": "2025-05-01T10:05:00.000Z", "completedAt": None, "reviewedAt": "2025-05-02",
    }  # fmt: skip
    error = {"failedAtStage": 2, "failedStepNarrative": "Compare", "errorMessage": "no", "retryable": True}
    at = foreign(
        tmp_path / "in", taskStatus="FAILED_EXECUTION", timestamps=times, errorSummary=error,
        executionMode="EXECUTE_FULL_PLAN", owner={"team": 7},
    )  # fmt: skip
    (task_id,) = memory.import_bank(at).tasks
    out = Path(memory.export_bank(tmp_path / "out", task_id).path)
    theirs = json.loads((at / "metadata.json").read_text())
    ours = json.loads((out / "metadata.json").read_text())
    assert (ours["parentTaskId"], ours["executionMode"], ours["owner"]) == (
        theirs["parentTaskId"], "EXECUTE_FULL_PLAN", {"team": 7},
    )  # fmt: skip
    for name in ("createdAt", "synthesisStartedAt", "reviewedAt"):
        assert ours["timestamps"][name] == times[name]
    assert ours["errorSummary"] == error


def test_another_projects_folder_is_imported_once_from_wherever(memory, tmp_path, opened, store_url):
    at = foreign(tmp_path)
    first = memory.import_bank(tmp_path)
    again = opened(store_url, workspace="/elsewhere", session="T").import_bank(at)
    assert (again.tasks, again.added, again.known) == (first.tasks, 0, first.added)
    with (at / "execution.log.jsonl").open("a") as log:
        log.write('{"step_narrative": "One more", "status": "COMPLETED"}\n')
    grown = memory.import_bank(at)
    assert grown.added == first.added + 1
    assert first.tasks[0] in grown.warnings[0]
    assert memory.task_get(first.tasks[0]).seq == first.added


def test_an_import_is_not_the_current_task_of_the_session(memory, task, tmp_path):
    foreign(tmp_path, taskStatus="EXECUTING_PLAN")
    memory.import_bank(tmp_path)
    assert memory.task_get().id == task


@pytest.mark.parametrize("word", [row[0] for row in TASK_WORDS["bank"]])
def test_every_status_of_the_source_comes_in_and_goes_out(memory, tmp_path, word):
    foreign(tmp_path / "in", taskStatus=word)
    (task_id,) = memory.import_bank(tmp_path / "in").tasks
    at = Path(memory.export_bank(tmp_path / "out", task_id).path)
    assert json.loads((at / "metadata.json").read_text())["taskStatus"] == word


def test_the_error_summary_of_a_failed_task_is_kept(memory, tmp_path):
    summary = {"failedAtStage": 1, "failedStepNarrative": "Reading offer A", "errorMessage": "timeout"}
    foreign(tmp_path / "in", taskStatus="FAILED_EXECUTION", errorSummary=summary, finalAnswerFile=None)
    (task_id,) = memory.import_bank(tmp_path / "in").tasks
    error = memory.task_get(task_id).error
    assert (error.message, error.stage, error.step) == ("timeout", "1", "Reading offer A")
    at = Path(memory.export_bank(tmp_path / "out", task_id).path)
    assert json.loads((at / "metadata.json").read_text())["errorSummary"] == summary


def test_an_answer_and_an_error_of_a_task_that_goes_on_are_remembered(memory, tmp_path):
    foreign(tmp_path, taskStatus="SYNTHESIZING_ANSWER", errorSummary={"errorMessage": "one tool failed"})
    (task_id,) = memory.import_bank(tmp_path).tasks
    task = memory.task_get(task_id)
    assert (task.status, task.phase) == ("active", "synthesizing")
    assert [note.detail for note in task.notes] == ["**Offer A** is cheapest.\n"]
    assert [error.summary for error in task.errors] == ["one tool failed"]


def test_a_folder_with_little_in_it_is_imported(memory, tmp_path):
    at = tmp_path / "some task"
    at.mkdir()
    (at / "metadata.json").write_text('{"originalUserTask": null, "taskStatus": null, "timestamps": null}')
    (task_id,) = memory.import_bank(at).tasks
    task = memory.task_get(task_id)
    assert (task.name, task.request, task.status, task.steps) == ("some task", None, "active", ())


def test_what_is_odd_in_a_folder_is_imported_as_far_as_it_goes_and_said(memory, tmp_path):
    at = foreign(tmp_path, finalAnswerFile="answer.md")
    (at / "final_answer.md").unlink()
    (at / "context_history" / "02_empty.txt").write_text("\n")
    (at / "context_history" / "readme.txt").write_text("hello")
    append(at / "execution.log.jsonl", '\n\n{"status": "COMPL')
    report = memory.import_bank(at)
    said = "\n".join(report.warnings)
    for words in (
        "Line 7 of execution.log.jsonl is cut off",
        "02_empty.txt is empty",
        "readme.txt",
        "'answer.md'",
    ):
        assert words in said
    assert len(report.warnings) == 4


@pytest.mark.parametrize(
    ("file", "content", "naming"),
    [
        ("execution.log.jsonl", b'{"status": "FAILED"}\n\n{oops\n{}\n', "Line 3 of"),
        ("execution.log.jsonl", b'{"status": "MAYBE"}\n', "'MAYBE' is not the status"),
        ("execution.log.jsonl", b'{}\n{"a": "\xff"}\n', "Line 2 of"),
        ("execution.log.jsonl", b'{"input_payload": 1e999}\n', "Line 1 of"),
        ("metadata.json", b"{\n,", "line 2"),
        ("metadata.json", b'{"taskStatus": "HAPPY"}', "'HAPPY' is not a task status"),
        ("metadata.json", b'{"taskStatus": 3}', "'3' is not a task status"),
        ("metadata.json", b'{"originalUserTask": ["a"]}', "originalUserTask"),
        ("metadata.json", b'{"version": "7"}', "version is '7'"),
        ("plan.json", b'{"a": 1}', "not a JSON array"),
        ("plan.json", b'[{"stage": 1, "steps": [{"toolName": "x"}]}]', "no title"),
        ("plan.json", b"[" * 50_000, "nested"),
        ("context_history/03_x.txt", b"\xff", "03_x.txt"),
    ],
)
def test_what_cannot_be_read_is_refused_by_file_and_line_and_nothing_is_written(
    memory, tmp_path, file, content, naming
):
    (foreign(tmp_path) / file).write_bytes(content)
    with refused(memory, "import_invalid", naming=naming) as caught:
        memory.import_bank(tmp_path)
    assert file in str(caught.value)


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "..", "a/b", "", 5, "\0"])
def test_the_answers_file_is_read_from_the_folder_only(memory, tmp_path, name):
    (tmp_path / "secret").write_text("secret")
    foreign(tmp_path / "bank", finalAnswerFile=name)
    with refused(memory, "import_invalid"):
        memory.import_bank(tmp_path / "bank")


@pytest.mark.parametrize(
    "name", ["metadata.json", "plan.json", "execution.log.jsonl", "final_answer.md", "events.jsonl"]
)
def test_links_that_lead_out_and_pipes_are_never_read(memory, tmp_path, name):
    at = foreign(tmp_path / "bank")
    secret = tmp_path / "secret"
    secret.write_text('{"originalUserTask": "secret"}')
    for make in (lambda: (at / name).symlink_to(secret), lambda: os.mkfifo(at / name)):
        (at / name).unlink(missing_ok=True)
        make()
        if name == "plan.json":  # which need not be there
            assert "'plan.json' is not a regular file" in memory.import_bank(at).warnings[0]
            continue
        with refused(memory, "import_invalid"):
            memory.import_bank(at)


def test_folders_behind_links_are_not_read(memory, tmp_path):
    at = foreign(tmp_path / "bank")
    shutil.move(at / "context_history", tmp_path / "elsewhere")
    (at / "context_history").symlink_to(tmp_path / "elsewhere")
    report = memory.import_bank(at)
    assert memory.task_history(report.tasks[0], type="snapshot") == ()
    assert "'context_history' is not a regular file" in report.warnings[0]
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "task").symlink_to(at)
    with refused(memory, "import_invalid", naming="metadata.json"):
        memory.import_bank(tmp_path / "links")


def test_files_that_are_too_large_are_refused(opened, store_url, tmp_path):
    memory = opened(store_url, max_text_bytes=1024, max_json_bytes=1024)
    at = foreign(tmp_path)
    (at / "final_answer.md").write_text("x" * 2000)
    with refused(memory, "import_invalid", naming="1,024 bytes"):
        memory.import_bank(at)
    (at / "final_answer.md").write_text("x")
    (at / "execution.log.jsonl").write_text("x" * 2000)
    with refused(memory, "import_invalid", naming="Line 1"):
        memory.import_bank(at)


# --- states -----------------------------------------------------------------------------------------


def test_states_are_read_back_equal(played, opened, new_store_url, tmp_path):
    memory, task = played
    report = memory.export_states(tmp_path / "one", task)
    assert report.files == tuple(sorted(f".{name}" for name in (
        "active-task", f"context-map-{task}.md", f"decisions-{task}.md", f"task-{task}.json",
    )))  # fmt: skip
    assert (tmp_path / "one" / ".active-task").read_text() == f"{task}\n"
    other = opened(new_store_url())
    found = other.import_states(tmp_path / "one")
    (task_id,) = found.tasks
    assert (found.active, found.warnings) == (task_id, ())
    ours, theirs = memory.task_get(task), other.task_get(task_id)
    for name in (
        "name", "goal", "request", "status", "phase", "reason", "blockers", "variables", "next_step",
        "done", "total", "next", "acceptance",
    ):  # fmt: skip
        assert getattr(ours, name) == getattr(theirs, name), name
    assert states(other, task_id, tmp_path / "two") == states(memory, task, tmp_path / "one")
    assert other.verify().ok


def states(memory, task, folder) -> list[str]:
    """What a states folder says of a task, without what names this task and its events."""
    memory.export_states(folder, task)
    pages = []
    for kind in ("decisions", "context-map"):
        text = (folder / f".{kind}-{task}.md").read_text()
        pages.append("\n".join(line for line in text.split("\n") if not line.startswith("<!-- ringbolt")))
        for line in text.split("\n"):
            if line.startswith("<!-- ringbolt"):
                own = json.loads(line[14:-4])
                own.pop("by", None)  # what was imported is an import
                # The files do not have the steps that were dropped: what they say of one is said by its name.
                about = sorted({own.pop("step", ""), *own.pop("relevance_to", [])} - {""})
                pages.append(json.dumps({**own, "seq": 0, "task": "", "about": about}))
    state = json.loads((folder / f".task-{task}.json").read_text())
    own = state.pop("ringbolt")
    state["id"] = ""
    kept = {name: own.get(name) for name in ("request", "kind", "acceptance", "answer", "error", "archived")}
    return [*pages, json.dumps(state), json.dumps(kept)]


def test_importing_states_twice_adds_nothing(played, opened, new_store_url, tmp_path):
    memory, task = played
    memory.export_states(tmp_path, task)
    for target in (opened(new_store_url()), memory):
        first = target.import_states(tmp_path)
        before = contents(target)
        again = target.import_states(tmp_path)
        assert (again.tasks, again.added, again.warnings) == (first.tasks, 0, ())
        assert contents(target) == before
    assert first.tasks == (task,)


def test_decisions_and_exclusions_that_someone_adds_by_hand_reach_the_task(played, tmp_path):
    memory, task = played
    memory.export_states(tmp_path, task)
    with (tmp_path / f".decisions-{task}.md").open("a") as file:
        file.write(
            "\n### [2026-03-02 09:00] Decision: Keep the index\n"
            "- **Choice**: Keep it\n- **Reasoning**: 38 ms\n"
        )
    with (tmp_path / f".context-map-{task}.md").open("a") as file:
        file.write("\n- **What**: VACUUM FULL\n- **Why**: locks the table\n- **Symptom**: shop down\n")
    report = memory.import_states(tmp_path)
    assert (report.tasks, report.added) == ((task,), 2)
    found = memory.task_get(task)
    assert (found.decisions[-1].summary, found.decisions[-1].data["reasoning"]) == ("Keep the index", "38 ms")
    assert found.decisions[-1].data["recorded_at"] == "2026-03-02 09:00"
    assert found.decisions[-1].origin.channel == "import"
    assert found.exclusions[-1].data["symptom"] == "shop down"
    assert memory.import_states(tmp_path).added == 0
    # The next export keeps what was edited, and has it all itself.
    report = memory.export_states(tmp_path, task)
    assert len(report.warnings) == 2
    assert "Keep the index" in (tmp_path / f".decisions-{task}.md").read_text()


def test_a_state_that_says_otherwise_than_the_task_is_reported_and_not_written(played, tmp_path):
    memory, task = played
    memory.export_states(tmp_path, task)
    memory.task_update(task, blockers=[], phase="reviewing")
    memory.task_set(task, "p99_before_ms", 1)
    before = contents(memory)
    report = memory.import_states(tmp_path)
    assert [warning.partition(": ")[2].split(" of task")[0] for warning in report.warnings] == [
        "phase", "blockers", "variable p99_before_ms",
    ]  # fmt: skip
    assert contents(memory) == before


def test_states_as_the_guide_writes_them_become_a_task(memory, tmp_path):
    (tmp_path / ".active-task").write_text("auth-42")
    (tmp_path / ".task-auth-42.json").write_text(json.dumps({
        "goal": "Log in with one click", "phase": "executing",
        "progress": {"done": ["Read the code"], "next": ["Write the test", "Deploy"]},
        "blockers": ["No staging server"], "variables": {"port": 8080, "url": "https://x", "retries": None},
        "mood": "good",
    }))  # fmt: skip
    (tmp_path / ".decisions-auth-42.md").write_text(
        "### [2026-03-01 14:30] Decision: Session over JWT\n- **Choice**: Session\n"
        "- **Options considered**: JWT, Session\n- **Reasoning**: middleware is there\n"
    )
    report = memory.import_states(tmp_path)
    task = memory.task_get(report.active)
    assert (task.goal, task.phase, task.blockers) == (
        "Log in with one click",
        "executing",
        ("No staging server",),
    )
    assert task.variables == {"port": 8080, "url": "https://x", "retries": None}
    assert [(item.title, item.status) for item in task.steps] == [
        ("Read the code", "completed"), ("Write the test", "pending"), ("Deploy", "pending"),
    ]  # fmt: skip
    (decision,) = task.decisions
    assert decision.data["options"] == ["JWT, Session"]
    assert task.metadata["states"]["mood"] == "good"
    assert memory.import_states(tmp_path).added == 0


def test_lines_that_belong_to_nothing_and_odd_words_are_reported(memory, tmp_path):
    (tmp_path / ".task-x.json").write_text('{"goal": "g", "phase": "dreaming"}')
    (tmp_path / ".decisions-x.md").write_text("Just prose.\n")
    report = memory.import_states(tmp_path)
    assert "Line 1 of .decisions-x.md does not belong to an entry" in report.warnings[0]
    assert "'dreaming' is not a phase" in report.warnings[1]


@pytest.mark.parametrize(
    ("name", "text", "naming"),
    [
        (".task-x.json", "{oops", "line 1"),
        (".task-x.json", '{"variables": {"": 1}}', ".task-x.json"),
        (".task-x.json", '{"status": "happy"}', "'happy'"),
        (".decisions-x.md", "### Decision: a\n\n### Decision: " + "x" * 1001, "Line 3"),
        (".context-map-x.md", "- **What**: a\n- **Until**: soon", "Line 1"),
    ],
)
def test_states_that_cannot_be_read_are_refused_and_nothing_is_written(memory, tmp_path, name, text, naming):
    (tmp_path / ".task-x.json").write_text('{"goal": "g"}')
    (tmp_path / name).write_text(text)
    with refused(memory, "import_invalid", naming=naming):
        memory.import_states(tmp_path)


def test_a_folder_without_states_is_refused(memory, tmp_path):
    with refused(memory, "import_invalid", naming=".task-<id>.json"):
        memory.import_states(tmp_path / "nothing")


def test_states_never_lead_out_of_their_folder(memory, tmp_path):
    (tmp_path / "states").mkdir()
    (tmp_path / "secret.json").write_text('{"goal": "secret"}')
    (tmp_path / "states" / ".task-a.json").symlink_to(tmp_path / "secret.json")
    with refused(memory, "import_invalid"):
        memory.import_states(tmp_path / "states")
    (tmp_path / "states" / ".task-b.json").write_text('{"goal": "g"}')
    (tmp_path / "states" / ".decisions-b.md").symlink_to(tmp_path / "secret.json")
    with refused(memory, "import_invalid", naming="outside"):
        memory.import_states(tmp_path / "states")


# --- any task, any argument -------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
SAID = TEXTS | st.sampled_from(
    ["### [x] Decision: y\n- **Choice**: z", "../../etc/passwd", "a\n\n\nb", "``1``", "1. x"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | SAID,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SAID, inner, max_size=3),
    max_leaves=5,
)
STATUSES = st.sampled_from(["started", "completed", "failed", "skipped", "SYSTEM_ACTION", "SYSTEM_ERROR"])
ITEMS = st.none() | st.integers(1, 4)
CALLS = st.one_of(
    st.tuples(st.just("task_plan_replace"), st.fixed_dictionaries({"plan": st.lists(SAID, max_size=4)})),
    st.tuples(st.just("task_plan_append"), st.fixed_dictionaries({"items": st.lists(SAID, max_size=2)})),
    st.tuples(st.just("task_item_update"), st.fixed_dictionaries(
        {"item": ITEMS, "status": st.sampled_from(["active", "completed", "failed", "pending"])},
        optional={"note": SAID, "active_issue": SAID})),
    st.tuples(st.just("task_log_action"), st.fixed_dictionaries(
        {"summary": SAID, "type": st.sampled_from(ACTION_TYPES), "status": STATUSES},
        optional={"input": JSON, "output": JSON, "error": JSON, "item": ITEMS, "stage": SAID, "tool": SAID,
                  "files": st.lists(SAID, max_size=2)})),
    st.tuples(st.just("task_log_action"), st.fixed_dictionaries(
        {"action": st.integers(2, 6), "status": st.sampled_from(["completed", "failed"]), "output": JSON})),
    st.tuples(st.just("task_snapshot"), st.fixed_dictionaries(
        {"content": SAID, "label": SAID, "summarized": st.booleans()})),
    st.tuples(st.just("task_decide"), st.fixed_dictionaries(
        {"choice": SAID},
        optional={"title": SAID, "options": st.lists(JSON, max_size=3), "reasoning": SAID,
                  "risks": SAID | st.lists(SAID, max_size=2), "if_wrong": SAID, "context": SAID,
                  "item": ITEMS,
                  "supersedes": st.integers(2, 6)})),
    st.tuples(st.just("task_exclude"), st.fixed_dictionaries(
        {"what": SAID},
        optional={"why": SAID, "symptom": SAID, "signature": SAID, "until": st.just("2026-05-01")})),
    st.tuples(st.just("task_set"), st.fixed_dictionaries({"name": SAID, "value": JSON})),
    st.tuples(st.just("task_remember"), st.fixed_dictionaries(
        {"summary": SAID, "type": st.sampled_from(ENTRY_TYPES)},
        optional={"detail": SAID, "data": st.dictionaries(SAID, JSON, max_size=2),
                  "tags": st.lists(SAID, max_size=2)})),
    st.tuples(st.just("task_update"), st.fixed_dictionaries(
        {"message": SAID},
        optional={"status": st.sampled_from(TASK_STATUSES), "phase": st.sampled_from(PHASES),
                  "blockers": st.lists(SAID, max_size=2), "next": SAID, "attention": SAID})),
    st.tuples(st.just("task_undo"), st.just({})),
    st.tuples(st.just("task_finish"), st.fixed_dictionaries(
        {"answer": st.none() | SAID},
        optional={"error": st.fixed_dictionaries({"message": SAID, "stage": SAID})})),
)  # fmt: skip


@settings(
    max_examples=examples(6),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    plan=st.lists(SAID.filter(str.strip), max_size=4),
    request=st.none() | SAID,
    calls=st.lists(CALLS, max_size=12),
)
def test_any_task_comes_back_from_its_folders(new_store_url, tmp_path_factory, plan, request, calls):
    folder = tmp_path_factory.mktemp("any")
    memory, other, plain = (open_memory(new_store_url(), Clock()) for _ in range(3))
    try:
        task = memory.task_register("Any", plan, request=request).task_id
        for call, arguments in calls:
            try:
                getattr(memory, call)(task, **arguments)
            except RingboltError:
                continue
        memory.export_bank(folder / "bank", task)
        report = other.import_bank(folder / "bank")
        assert report.warnings == ()
        same_task(memory, other, task)
        # And without the ledger, as far as the plain files go.
        (folder / "bank" / task / "events.jsonl").unlink()
        (found,) = plain.import_bank(folder / "bank").tasks
        assert plain_files(plain, found, folder / "again") == plain_files(memory, task, folder / "first")
        assert plain.verify().ok
        # And as states.
        memory.export_states(folder / "states", task)
        report = plain.import_states(folder / "states")
        assert report.warnings == ()
        assert states(plain, report.tasks[0], folder / "two") == states(memory, task, folder / "one")
    finally:
        for opened_memory in (memory, other, plain):
            opened_memory.close()
        shutil.rmtree(folder)


def plain_files(memory, task, folder) -> dict:
    """What the plain files of a bank folder say that does not depend on when and where it was written."""
    memory.export_bank(folder, task)
    at = folder / task
    metadata = json.loads((at / "metadata.json").read_text())
    own = metadata["ringbolt"]
    found = {
        "metadata": {name: metadata.get(name) for name in ("originalUserTask", "taskStatus", "errorSummary")},
        "own": {
            name: own.get(name) for name in ("name", "status", "phase", "reason", "next_step", "blockers")
        },
        "variables": own.get("variables"),
        "answer": (at / "final_answer.md").read_text() if metadata["finalAnswerFile"] else None,
    }
    for name in sorted(path.name for path in at.glob("plan*.json")):
        found[name] = [
            (stage["stage"], step["stepDescription"], step["narrative_step"])
            for stage in json.loads((at / name).read_text())
            for step in stage["steps"]
        ]
    found["log"] = [
        {key: value for key, value in json.loads(line).items() if key != "ringbolt"}
        for line in (at / "execution.log.jsonl").read_text().splitlines()
    ]
    if (at / "context_history").exists():
        rows = json.loads((at / "context_history" / "index.json").read_text())
        found["contexts"] = [
            (row["file"], row["label"], row["summarized"], (at / "context_history" / row["file"]).read_text())
            for row in rows
        ]
    return found


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("export_bank", "folder"), ("export_bank", "task_id"), ("export_states", "folder"),
        ("export_states", "task_id"), ("import_bank", "folder"), ("import_states", "folder"),
    ],
)  # fmt: skip
def test_whatever_a_folder_or_task_is_only_our_own_errors_come(
    memory, task, tmp_path, monkeypatch, call, name
):
    monkeypatch.chdir(tmp_path)
    others = {}
    for what, value in HOSTILE.items():
        if name == "folder" and isinstance(value, str) and value.startswith("../"):
            continue  # a path as good as any other, and not the test's to write to
        arguments = {"folder": tmp_path / "x", name: value}
        before = newest(memory)
        try:
            getattr(memory, call)(**arguments)
        except Exception as error:  # noqa: BLE001 - that is what this test looks for
            if found := complaint(error):
                others[what] = found
        assert newest(memory) == before
    assert others == {}
