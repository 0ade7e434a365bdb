"""Mirrors: files that follow the store, never torn, never older, and never in the way of a write."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ringbolt import AsyncTaskMemory, config, copy_store
from ringbolt.files import mirror_keeper, projection
from ringbolt.files.views import MARKDOWN, VIEWS, View
from ringbolt.model.settings import SETTINGS
from ringbolt.packet.resume import resume_packet
from ringbolt.packet.state import yaml_state
from tests.reliability.small_disks import done_as_root, small_disk
from tests.support import lock_held, open_memory, refused, run_python, sqlite_only

STAMP = re.compile(r"# ringbolt: task=(\w+) seq=(\d+) head=[0-9a-f]{8} digest=[0-9a-f]{16}")


@pytest.fixture
def workspace(tmp_path):
    """A folder to work in, which is no repository."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def mirrored(opened, store_url, workspace):
    """A memory whose tasks have state files in the workspace."""
    return opened(store_url, workspace=str(workspace), mirrors="state")


@pytest.fixture
def kinds(monkeypatch):
    """A function that adds a kind of mirror for the length of a test."""

    def add(**fields) -> View:
        kind = View(**{"scope": "task", "comment": MARKDOWN, **fields})
        monkeypatch.setitem(VIEWS, kind.name, kind)
        mirrors = SETTINGS["mirrors"]
        monkeypatch.setitem(SETTINGS, "mirrors", mirrors.replace(words=(*mirrors.words, kind.name)))
        return kind

    return add


def state_file(folder, task: str) -> Path:
    return Path(folder) / ".ringbolt" / f"{task}.state.yaml"


def seq_in(path: Path) -> int:
    return int(STAMP.fullmatch(path.read_text().splitlines()[-1])[2])


def settle(memory) -> None:
    """Wait until nothing is late: the thread lives only as long as something is."""
    thread = memory._mirrors.thread
    if thread is not None:
        thread.join(100)
        assert not thread.is_alive()


def reasons(memory) -> list[str]:
    return [reason for status in memory.mirrors_status() for reason in status.reasons]


def temps(folder) -> list[str]:
    return [name for _, _, names in os.walk(folder) for name in names if name.endswith(".ringbolt-tmp")]


class StoppedClock:
    """A clock for the rests between refreshes, which a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


# --- settings ---------------------------------------------------------------------------------------


def test_every_kind_can_be_asked_for_and_no_other():
    assert set(SETTINGS["mirrors"].words) == set(VIEWS)


@pytest.mark.parametrize(
    ("given", "meant"), [("state", "state"), (" state , state,", "state"), ("none", ""), ("", "")]
)
def test_the_kinds_are_read(given, meant):
    assert config.load_settings({}, mirrors=given).mirrors == meant


@pytest.mark.parametrize(
    "bad",
    [
        {"mirrors": "state,unknown"},
        {"mirrors": "state resume"},
        {"mirrors": 1},
        {"mirrors": ["state"]},
        {"mirror_folder": "below/here"},
        {"mirror_folder": "/a\0b"},
        {"mirror_folder": 1},
        {"mirror_gitignore": "maybe"},
    ],
)
def test_a_bad_setting_is_refused_by_name(bad, tmp_path):
    with refused(None, "invalid_argument", naming=next(iter(bad))):
        open_memory(tmp_path / "store.db", **bad)


def test_a_home_folder_is_understood(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config.load_settings({}, mirror_folder="~/mirrors").mirror_folder == f"{tmp_path}/mirrors"


def test_without_mirrors_nothing_is_written(tmp_path, workspace):
    code = """
import sys
from ringbolt import TaskMemory
memory = TaskMemory.open(sys.argv[1], workspace=sys.argv[2])
memory.task_register("Deploy", ["Build"])
print(memory.mirrors_status(), memory.mirrors_refresh())
"""
    done = run_python(code, str(tmp_path / "store.db"), str(workspace))
    assert done.stdout.strip() == "() ()"
    assert os.listdir(workspace) == []


# --- refreshing -------------------------------------------------------------------------------------


def test_a_task_has_its_state_file_as_soon_as_it_is_registered(mirrored, workspace):
    task = mirrored.task_register("Deploy", ["Build", "Push"]).task_id
    lines = state_file(workspace, task).read_text().splitlines()
    assert '  name: "Deploy"  # #1a' in lines
    assert STAMP.fullmatch(lines[-1])[1] == task
    assert seq_in(state_file(workspace, task)) == 1
    assert state_file(workspace, task).stat().st_mode & 0o777 == 0o600
    assert (workspace / ".ringbolt").stat().st_mode & 0o777 == 0o700


def test_the_status_says_what_is_shown_and_when_it_was_written(mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id
    (status,) = mirrored.mirrors_status()
    assert (status.kind, status.path) == ("state", str(state_file(workspace, task)))
    assert (status.task_id, status.workspace) == (task, None)
    assert (status.seq_shown, status.seq_now, status.stale, status.reasons) == (1, 1, False, ())
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT.*Z", status.refreshed_at)
    assert status.failed_at is None


def test_the_write_is_in_the_store_before_a_file_is_touched(kinds, opened, store_url, workspace):
    seen = []

    def render(memory, task):
        seen.append(opened(store_url, workspace=None).task_get(task).seq)  # a connection of its own
        return {"SEEN.md": "seen\n"}

    kinds(name="seen", place="SEEN.md", render=render)
    memory = opened(store_url, workspace=str(workspace), mirrors="seen")
    memory.task_register("Deploy")
    assert seen == [1]
    assert (workspace / "SEEN.md").read_text().startswith("seen\n<!-- ringbolt: task=")


def test_writes_that_follow_at_once_are_shown_together_a_moment_later(mirrored, workspace):
    mirrored._mirrors.clock = clock = StoppedClock()
    task = mirrored.task_register("Deploy").task_id
    for number in range(20):
        mirrored.task_update(task, f"message {number}")
    assert seq_in(state_file(workspace, task)) == 1, "only the first write of a quiet time refreshes itself"
    assert reasons(mirrored) == ["behind"]
    clock.now += 10
    settle(mirrored)
    assert seq_in(state_file(workspace, task)) == 21
    assert reasons(mirrored) == []
    clock.now += 10
    mirrored.task_update(task, "after a while")
    assert seq_in(state_file(workspace, task)) == 22, "and here is the first one again"


def test_a_refresh_that_was_slow_is_followed_by_a_longer_rest(kinds, opened, store_url, workspace):
    clock = StoppedClock()

    def render(_memory, _task):
        clock.now += 2  # seconds
        return {"SLOW.md": "slow\n"}

    kinds(name="slow", place="SLOW.md", render=render)
    memory = opened(store_url, workspace=str(workspace), mirrors="slow")
    memory._mirrors.clock = clock
    memory.task_register("Deploy")
    assert memory._mirrors.next_refresh == clock.now + 20


def test_closing_shows_what_is_late(opened, store_url, workspace):
    memory = opened(store_url, workspace=str(workspace), mirrors="state")
    memory._mirrors.clock = StoppedClock()
    task = memory.task_register("Deploy").task_id
    memory.task_update(task, "the last word")
    memory.close()
    assert seq_in(state_file(workspace, task)) == 2
    memory.close()


def test_a_process_that_ends_without_closing_shows_what_is_late(tmp_path, workspace):
    code = """
import sys
from ringbolt import TaskMemory
memory = TaskMemory.open(sys.argv[1], workspace=sys.argv[2], mirrors="state")
memory._mirrors.clock = lambda: 1000.0
task = memory.task_register("Deploy").task_id
for number in range(5):
    memory.task_update(task, "message")
print(task)
"""
    task = run_python(code, str(tmp_path / "store.db"), str(workspace)).stdout.strip()
    assert seq_in(state_file(workspace, task)) == 6


def test_a_memory_for_someone_else_refreshes_too(mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id
    mirrored.acting_as(agent="other", workspace=None).task_update(task, "hello")
    settle(mirrored)
    assert seq_in(state_file(workspace, task)) == 2


def test_every_kind_of_write_reaches_the_mirror(opened, new_store_url, mirrored, workspace, tmp_path):
    def shown(task):
        settle(mirrored)
        return seq_in(state_file(workspace, task))

    task = mirrored.task_register("Deploy", ["Build"]).task_id
    mirrored.task_claim(task)
    assert shown(task) == 2
    mirrored.task_heartbeat(task)
    mirrored.task_update(task, "hello")
    assert shown(task) == 3
    mirrored.task_undo(task)
    assert shown(task) == 4
    other = opened(new_store_url(), workspace=str(workspace))
    imported = other.task_register("From elsewhere").task_id
    other.export_events(tmp_path / "export.jsonl")
    mirrored.import_events(tmp_path / "export.jsonl")
    assert shown(imported) == 1
    copied = other.task_register("Copied").task_id
    assert copy_store(other, mirrored).copied == 1
    assert shown(copied) == 1


def test_a_task_that_has_ended_is_shown_once_more_and_then_left_alone(opened, mirrored, store_url, workspace):
    task = mirrored.task_register("Deploy").task_id
    mirrored.task_finish(task, "done")
    settle(mirrored)
    file = state_file(workspace, task)
    assert '  status: "completed"' in file.read_text()
    file.unlink()
    opened(store_url, workspace=str(workspace), mirrors="state")
    assert mirrored.mirrors_refresh() == ()
    assert not file.exists()


def test_an_archived_task_is_shown_once_more_and_then_left_alone(mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id
    mirrored.task_update(task, "away with it", archived=True)
    settle(mirrored)
    assert seq_in(state_file(workspace, task)) == 2
    state_file(workspace, task).unlink()
    assert mirrored.mirrors_refresh() == ()


def test_an_end_that_was_not_shown_is_shown_on_the_next_open(opened, store_url, mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id
    opened(store_url, workspace=None).task_finish(task, "done")  # by someone without mirrors
    assert reasons(mirrored) == ["behind"]
    opened(store_url, workspace=str(workspace), mirrors="state")
    assert seq_in(state_file(workspace, task)) == 2


# --- where ------------------------------------------------------------------------------------------


def test_a_task_without_a_folder_on_this_machine_has_no_mirror(opened, store_url, tmp_path):
    for workspace in (None, "/no/such/folder", "not a path"):
        memory = opened(store_url, workspace=workspace, mirrors="state")
        memory.task_register("Deploy")
        assert memory.mirrors_status() == ()
    assert not os.path.exists("/no")
    assert not list(tmp_path.rglob("*.state.yaml"))


def test_a_folder_of_ones_own_takes_the_mirrors_of_all_workspaces(opened, store_url, workspace, tmp_path):
    folder = tmp_path / "new" / "mirrors"
    for place in (str(workspace), "/no/such/folder", None):
        memory = opened(store_url, workspace=place, mirrors="state", mirror_folder=str(folder))
        task = memory.task_register("Deploy").task_id
        assert seq_in(state_file(folder, task)) == 1
    assert os.listdir(workspace) == []
    assert len(memory.mirrors_status()) == 3, "without a workspace: all"


def test_the_folder_of_a_workspace_is_found_through_a_link(opened, store_url, workspace, tmp_path):
    (tmp_path / "link").symlink_to(workspace)
    memory = opened(store_url, workspace=None, mirrors="state")
    task = memory.task_register("Deploy", workspace=str(tmp_path / "link")).task_id
    assert seq_in(state_file(workspace, task)) == 1


def test_no_link_leads_out_of_the_folder(mirrored, workspace, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / ".ringbolt").symlink_to(outside)
    mirrored.task_register("Deploy")
    assert os.listdir(outside) == []
    assert reasons(mirrored) == ["a link leads out of the folder"]


def test_a_link_in_the_place_of_a_mirror_is_neither_followed_nor_replaced(mirrored, workspace, tmp_path):
    task = mirrored.task_register("Deploy").task_id
    precious = tmp_path / "precious"
    precious.write_text("mine")
    state_file(workspace, task).unlink()
    state_file(workspace, task).symlink_to(precious)
    mirrored.task_update(task, "hello")
    settle(mirrored)
    assert precious.read_text() == "mine"
    assert state_file(workspace, task).is_symlink()
    assert reasons(mirrored) == ["foreign file in the way"]


@pytest.mark.parametrize("path", ["../out.md", "/tmp/out.md", "a/../../out.md", "a/..", ""])
def test_a_kind_cannot_write_outside_the_folder(path, kinds, opened, store_url, workspace):
    kinds(name="stray", place="in.md", render=lambda _memory, _task: {path: "x"})
    memory = opened(store_url, workspace=str(workspace), mirrors="stray")
    memory.task_register("Deploy")
    assert set(os.listdir(workspace)) == {".ringbolt"}
    assert not Path("/tmp/out.md").exists()
    assert "failed: a link leads out of the folder" in reasons(memory)


# --- git --------------------------------------------------------------------------------------------


def git(folder, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def notes(kinds):
    """A kind whose file stands in the workspace folder itself."""
    return kinds(
        name="notes",
        scope="workspace",
        place="NOTES [1].md",
        render=lambda memory, place: {
            "NOTES [1].md": f"{len(memory.task_list(workspace=place).tasks)} tasks\n"
        },
        ignored=r"NOTES\ \[1\].md",
    )


def test_git_overlooks_mirrors_and_the_users_own_list_is_not_touched(notes, opened, store_url, workspace):
    git(workspace, "init", "-q")
    (workspace / ".gitignore").write_text("build/\n")
    exclude = workspace / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("# without an end of line")
    memory = opened(store_url, workspace=str(workspace), mirrors="state,notes")
    task = memory.task_register("Deploy").task_id
    assert (workspace / "NOTES [1].md").exists()
    assert state_file(workspace, task).exists()
    assert git(workspace, "status", "--porcelain", "-uall").split() == ["??", ".gitignore"]
    assert (workspace / ".gitignore").read_text() == "build/\n"
    opened(store_url, workspace=str(workspace), mirrors="state,notes").task_update(task, "again")
    assert exclude.read_text() == "# without an end of line\n/NOTES\\ \\[1\\].md\n", "one entry, once"


def test_a_mirror_folder_below_a_worktree_is_overlooked_by_its_path(notes, opened, store_url, tmp_path):
    git(tmp_path, "init", "-q", "main")
    git(tmp_path / "main", "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-mx")
    git(tmp_path / "main", "worktree", "add", "-q", str(tmp_path / "linked"))
    folder = tmp_path / "linked" / "my mirrors"
    memory = opened(
        store_url, workspace=str(tmp_path / "main"), mirrors="state,notes", mirror_folder=str(folder)
    )
    memory.task_register("Deploy")
    assert len(list(folder.rglob("NOTES*.md"))) == 1
    assert git(tmp_path / "linked", "status", "--porcelain", "-uall") == ""
    assert git(tmp_path / "main", "status", "--porcelain", "-uall") == ""


def test_git_sees_mirrors_if_the_setting_says_so(opened, store_url, workspace):
    git(workspace, "init", "-q")
    memory = opened(store_url, workspace=str(workspace), mirrors="state", mirror_gitignore="off")
    task = memory.task_register("Deploy").task_id
    assert f".ringbolt/{task}.state.yaml" in git(workspace, "status", "--porcelain", "-uall")


def test_a_list_of_ignored_files_in_our_folder_is_left_as_it_is(mirrored, workspace):
    (workspace / ".ringbolt").mkdir()
    (workspace / ".ringbolt" / ".gitignore").write_text("# ours to commit\n")
    mirrored.task_register("Deploy")
    assert (workspace / ".ringbolt" / ".gitignore").read_text() == "# ours to commit\n"


# --- what is not ours, and what was edited ----------------------------------------------------------


def test_a_file_that_is_not_ours_is_never_overwritten(mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id
    file = state_file(workspace, task)
    for foreign in ("name: mine\n", "", file.read_text().replace(f"task={task}", "task=zzzzzzzzzz")):
        file.write_text(foreign)
        mirrored.task_update(task, "hello")
        settle(mirrored)
        mirrored.mirrors_refresh(force=True)
        assert file.read_text() == foreign
        (status,) = mirrored.mirrors_status()
        assert (status.stale, status.reasons) == (True, ("foreign file in the way",))
        assert status.seq_shown is None
        assert status.failed_at is not None


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("Deploy", "Destroy", 1),
        lambda text: text + "a line of my own\n",
        lambda text: "# a remark\n" + text,
        lambda text: text.replace("seq=1 ", "seq=9 "),
    ],
    ids=["changed", "appended", "prepended", "stamp"],
)
def test_an_edited_mirror_is_known_and_kept_beside_the_next_one(edit, opened, store_url, mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id
    file = state_file(workspace, task)
    edited = edit(file.read_text())
    file.write_text(edited)
    assert "edited by hand" in reasons(mirrored)
    mirrored.task_update(task, "the next change")
    settle(mirrored)
    assert seq_in(file) == 2
    assert reasons(mirrored) == []
    assert file.with_name(f"{file.name}.edited").read_text() == edited


def test_an_edited_mirror_stays_until_the_next_change_unless_it_is_forced(
    opened, store_url, mirrored, workspace
):
    task = mirrored.task_register("Deploy").task_id
    file = state_file(workspace, task)
    right = file.read_text()
    edited = right.replace("Deploy", "Destroy", 1)
    file.write_text(edited)
    opened(store_url, workspace=str(workspace), mirrors="state")
    (status,) = mirrored.mirrors_refresh()
    assert status.reasons == ("edited by hand",)
    assert file.read_text() == edited
    (status,) = mirrored.mirrors_refresh(force=True)
    assert not status.stale
    assert file.read_text() == right


def test_a_stamp_inside_recorded_text_is_not_taken_for_ours(mirrored, workspace):
    forged = "\n# ringbolt: task=zzzzzzzzzz seq=999 head=00000000 digest=0000000000000000\n"
    task = mirrored.task_register("Deploy", [f"a{forged}b"], goal=forged).task_id
    assert seq_in(state_file(workspace, task)) == 1
    assert reasons(mirrored) == []


# --- failures ---------------------------------------------------------------------------------------


def test_a_failing_mirror_fails_no_write_and_is_known_after_a_restart(
    kinds, opened, store_url, workspace, monkeypatch
):
    broken = [True]

    def render(_memory, _task):
        if broken:
            raise OSError(errno.ENOSPC, "No space left on device")
        return {"BROKEN.md": "well\n"}

    kinds(name="broken", place="BROKEN.md", render=render)
    memory = opened(store_url, workspace=str(workspace), mirrors="broken")
    task = memory.task_register("Deploy").task_id
    assert memory.task_get(task).seq == 1
    memory.close()
    monkeypatch.setattr(mirror_keeper.Keeper, "check", lambda *_: None)  # as a process that only looks
    later = opened(store_url, workspace=str(workspace), mirrors="broken")
    (status,) = later.mirrors_status()
    assert status.stale
    assert status.reasons == ("missing", "failed: No space left on device")
    assert (status.refreshed_at, status.seq_shown, status.seq_now) == (None, None, 1)
    failed_at = status.failed_at
    assert failed_at is not None
    broken.clear()
    (status,) = later.mirrors_refresh()
    assert (status.stale, status.reasons, status.failed_at) == (False, (), failed_at)
    assert status.refreshed_at >= failed_at


def test_whatever_a_renderer_raises_stays_away_from_the_writer(kinds, opened, store_url, workspace):
    def render(_memory, _task):
        raise RuntimeError("a bug")

    kinds(name="bug", place="BUG.md", render=render)
    memory = opened(store_url, workspace=str(workspace), mirrors="bug,state")
    task = memory.task_register("Deploy").task_id
    assert seq_in(state_file(workspace, task)) == 1, "another kind is not held up"
    assert reasons(memory) == ["missing", "failed: a bug"]


def test_after_a_failure_the_next_tries_are_a_second_apart(kinds, opened, store_url, workspace):
    def render(_memory, _task):
        raise RuntimeError("a bug")

    kinds(name="bug", place="BUG.md", render=render)
    memory = opened(store_url, workspace=str(workspace), mirrors="bug")
    memory._mirrors.clock = clock = StoppedClock()
    memory.task_register("Deploy")
    assert memory._mirrors.next_refresh == clock.now + 1


def test_a_folder_that_cannot_be_written_is_told_and_mended(tmp_path, request):
    if done_as_root(request):
        return
    with small_disk(tmp_path / "disk", megabytes=1) as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        memory = open_memory(tmp_path / "store.db", workspace=str(disk), mirrors="state")
        task = memory.task_register("Deploy").task_id
        assert memory.task_get(task).seq == 1
        assert reasons(memory) == ["missing", "failed: Read-only file system"]
        with open_memory(tmp_path / "store.db", workspace=str(disk), mirrors="state") as later:
            assert reasons(later) == ["missing", "failed: Read-only file system"]
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        assert [status.stale for status in memory.mirrors_refresh()] == [False]
        assert seq_in(state_file(disk, task)) == 1
        memory.close()


def test_a_full_disk_costs_the_mirror_and_not_the_write(tmp_path, request):
    if done_as_root(request):
        return
    with small_disk(tmp_path / "disk", megabytes=1) as disk:
        memory = open_memory(tmp_path / "store.db", workspace=str(disk), mirrors="state")
        task = memory.task_register(
            "Deploy", [f"Step {number} " + "x" * 100 for number in range(100)]
        ).task_id
        before = state_file(disk, task).read_text()
        with open(disk / "filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        memory.task_update(task, "no room for this", goal="y" * 20_000)
        settle(memory)
        assert memory.task_get(task).seq == 2
        assert state_file(disk, task).read_text() == before, "old, but whole"
        assert reasons(memory) == ["behind", "failed: No space left on device"]
        assert temps(disk) == []
        (disk / "filler").unlink()
        assert [status.stale for status in memory.mirrors_refresh()] == [False]
        memory.close()


def test_a_folder_that_was_deleted_is_made_again(mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id
    for path in (workspace / ".ringbolt").iterdir():
        path.unlink()
    (workspace / ".ringbolt").rmdir()
    assert reasons(mirrored) == ["missing"]
    mirrored.task_update(task, "hello")
    settle(mirrored)
    assert seq_in(state_file(workspace, task)) == 2
    assert (workspace / ".ringbolt" / ".gitignore").exists()


def test_a_workspace_that_is_gone_has_no_mirror_and_stops_nobody(mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id
    workspace.rename(workspace.with_name("moved"))
    mirrored.task_update(task, "hello")
    settle(mirrored)
    assert mirrored.mirrors_status() == ()
    assert not workspace.exists()


@pytest.mark.parametrize("replaced", [".", ".ringbolt"])
def test_a_file_in_the_place_of_a_folder_stops_nobody(replaced, opened, store_url, tmp_path):
    folder = tmp_path / "mirrors"
    memory = opened(store_url, mirrors="state", mirror_folder=str(folder))
    task = memory.task_register("Deploy").task_id
    spot = folder / replaced
    spot.rename(tmp_path / "away")
    spot.write_text("a file")
    memory.task_update(task, "hello")
    settle(memory)
    (status,) = memory.mirrors_refresh()
    assert status.stale
    assert status.reasons[-1].startswith("failed: ")
    assert memory.task_get(task).seq == 2
    assert spot.read_text() == "a file"
    opened(store_url, mirrors="state", mirror_folder=str(folder))


def test_a_damaged_list_of_failures_is_no_failure(mirrored):
    place = Path(config.user_folder("data")) / "mirrors.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    for damaged in ("{", "[]", '{"a": 1}', '{"a": {"at": 1}}', "[" * 100_000):
        place.write_text(damaged)
        mirrored.task_register("Deploy")
        assert {status.failed_at for status in mirrored.mirrors_status()} == {None}


# --- on opening -------------------------------------------------------------------------------------


def test_a_store_whose_mirrors_are_late_is_mended_on_the_next_open(opened, store_url, mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id
    elsewhere = opened(store_url, workspace=None)  # another machine, or a process that was killed
    elsewhere.task_update(task, "hello")
    assert seq_in(state_file(workspace, task)) == 1
    opened(store_url, workspace=str(workspace), mirrors="state")
    assert seq_in(state_file(workspace, task)) == 2
    elsewhere.task_update(task, "again")
    mirrored.task_update(task, "and we")
    settle(mirrored)
    assert seq_in(state_file(workspace, task)) == 4, "or by the next write"


def test_opening_when_all_is_well_reads_once_and_writes_nothing(
    opened, store_url, mirrored, workspace, monkeypatch
):
    for number in range(5):
        mirrored.task_register(f"Task {number}")
    settle(mirrored)
    before = {path: path.stat().st_mtime_ns for path in workspace.rglob("*")}
    reads = []
    kind = type(mirrored.store)
    read = kind.read
    monkeypatch.setattr(kind, "read", lambda *args, **more: (reads.append(1), read(*args, **more))[1])
    opened(store_url, workspace=str(workspace), mirrors="state")
    assert len(reads) == 1
    assert {path: path.stat().st_mtime_ns for path in workspace.rglob("*")} == before


def test_many_late_mirrors_do_not_hold_up_opening_and_are_mended_all_the_same(
    opened, store_url, workspace, monkeypatch
):
    memory = opened(store_url, workspace=str(workspace))
    tasks = [memory.task_register(f"Task {number}").task_id for number in range(12)]
    monkeypatch.setattr(mirror_keeper, "ON_OPEN", -1.0)
    later = opened(store_url, workspace=str(workspace), mirrors="state")
    settle(later)
    assert {seq_in(state_file(workspace, task)) for task in tasks} == {1}


def test_left_over_files_of_processes_that_are_gone_are_swept(opened, store_url, mirrored, workspace):
    mirrored.task_register("Deploy")
    left = workspace / ".ringbolt" / ".x.state.yaml.1-1.ringbolt-tmp"
    left.write_text("half")
    opened(store_url, workspace=str(workspace), mirrors="state")
    assert temps(workspace) == []


def test_a_file_that_is_being_written_is_not_swept(opened, store_url, mirrored, workspace):
    from ringbolt.system.files import replacing

    mirrored.task_register("Deploy")
    with replacing(str(workspace / ".ringbolt" / "x")) as file:
        file.write(b"half")
        opened(store_url, workspace=str(workspace), mirrors="state")
        assert len(temps(workspace)) == 1
    assert (workspace / ".ringbolt" / "x").read_text() == "half"


@sqlite_only
def test_a_store_that_was_restored_is_shown_as_it_is(mirrored, workspace, tmp_path):
    task = mirrored.task_register("Deploy").task_id
    mirrored.backup(tmp_path / "copy.db")
    mirrored.task_update(task, "after the backup")
    settle(mirrored)
    assert seq_in(state_file(workspace, task)) == 2
    mirrored.acting_as(channel="user").restore(tmp_path / "copy.db")
    assert seq_in(state_file(workspace, task)) == 1
    assert reasons(mirrored) == []


# --- workspaces and folders -------------------------------------------------------------------------


def test_a_mirror_of_a_workspace_follows_all_its_tasks(notes, opened, store_url, workspace, tmp_path):
    memory = opened(store_url, workspace=str(workspace), mirrors="notes")
    memory.task_register("One")
    memory.task_register("Two")
    settle(memory)
    file = workspace / "NOTES [1].md"
    assert file.read_text().startswith("2 tasks\n<!-- ringbolt: workspace=")
    (status,) = memory.mirrors_status()
    assert (status.task_id, status.workspace, status.stale) == (None, str(workspace), False)
    assert status.seq_shown == status.seq_now > 0
    opened(store_url, workspace=str(workspace)).task_register("Three")
    assert reasons(memory) == ["behind"]
    opened(store_url, workspace=str(workspace), mirrors="notes")
    assert file.read_text().startswith("3 tasks\n")


def test_in_a_folder_of_ones_own_each_workspace_has_a_file(notes, opened, store_url, tmp_path):
    folder = tmp_path / "mirrors"
    for place in ("/w/one", "/w/two", "/v/two", None):
        memory = opened(store_url, workspace=place, mirrors="notes", mirror_folder=str(folder))
        memory.task_register("Deploy")
    names = sorted(path.parent.name.rpartition("-")[0] for path in folder.rglob("NOTES*.md"))
    assert names == ["one", "two", "two"]


@pytest.fixture
def bank(kinds):
    """A kind that is a folder of files which can hold no stamp."""

    def render(memory, task):
        found = memory.task_get(task)
        return {
            f"bank/{task}/metadata.json": json.dumps({"name": found.name, "seq": found.seq}),
            f"bank/{task}/history/00.txt": "".join(f"{e.seq}\n" for e in memory.events(task)),
            f"bank/{task}/fixed.txt": "always the same\n",
        }

    return kinds(name="bank", place="bank/{}", render=render, comment=None, ignored="bank/")


def bank_of(folder, task) -> tuple[int, int]:
    place = Path(folder) / "bank" / task
    return json.loads((place / "metadata.json").read_text())["seq"], len(
        (place / "history" / "00.txt").read_text().splitlines()
    )


def test_a_folder_of_files_without_stamps_is_kept_too(bank, opened, store_url, workspace):
    git(workspace, "init", "-q")
    memory = opened(store_url, workspace=str(workspace), mirrors="bank")
    task = memory.task_register("Deploy").task_id
    fixed = workspace / "bank" / task / "fixed.txt"
    written = fixed.stat().st_mtime_ns
    memory.task_update(task, "hello")
    settle(memory)
    assert bank_of(workspace, task) == (2, 2)
    assert fixed.stat().st_mtime_ns == written, "what is the same is not written again"
    (status,) = memory.mirrors_status()
    assert (status.path, status.seq_shown, status.stale) == (str(workspace / "bank" / task), 2, False)
    assert git(workspace, "status", "--porcelain", "-uall") == ""


def test_a_folder_knows_what_is_missing_edited_or_foreign(bank, opened, store_url, workspace):
    memory = opened(store_url, workspace=str(workspace), mirrors="bank")
    task = memory.task_register("Deploy").task_id
    place = workspace / "bank" / task
    (place / "fixed.txt").unlink()
    assert reasons(memory) == ["missing"]
    memory.mirrors_refresh()
    assert (place / "fixed.txt").read_text() == "always the same\n"
    (place / "metadata.json").write_text("mine")
    assert reasons(memory) == ["edited by hand"]
    memory.task_update(task, "hello")
    settle(memory)
    assert reasons(memory) == []
    assert (place / "metadata.json.edited").read_text() == "mine"
    assert bank_of(workspace, task) == (2, 2)


def test_a_file_that_is_not_ours_in_a_folder_is_left_alone(bank, opened, store_url, workspace):
    memory = opened(store_url, workspace=str(workspace), mirrors="bank")
    memory._mirrors.clock = StoppedClock()
    task = "0" * 10
    place = workspace / "bank" / task
    place.mkdir(parents=True)
    (place / "fixed.txt").write_text("mine")
    memory._random = lambda size: bytes(size)
    assert memory.task_register("Deploy").task_id == task
    assert (place / "fixed.txt").read_text() == "mine"
    assert bank_of(workspace, task) == (1, 1), "the others are written"
    assert "failed: foreign file in the way: bank/0000000000/fixed.txt" in reasons(memory)
    (workspace / ".ringbolt" / f"{task}.bank.json").write_text('{"not": "ours"}')
    assert reasons(memory)[0] == "foreign file in the way"


@pytest.mark.parametrize("killed_at", range(1, 5))
def test_a_folder_that_was_left_half_written_is_known_and_mended(
    bank, opened, store_url, workspace, monkeypatch, killed_at
):
    memory = opened(store_url, workspace=str(workspace), mirrors="bank")
    task = memory.task_register("Deploy").task_id
    write, count = projection.write_atomic, []

    def dying(path, content, **more):
        count.append(path)
        if len(count) == killed_at:
            raise RuntimeError("killed")
        write(path, content, **more)

    with monkeypatch.context() as patch:
        patch.setattr(projection, "write_atomic", dying)
        memory.task_update(task, "hello")
        settle(memory)
    assert len(count) == killed_at, "the list, two files, and the list again"
    assert "behind" in reasons(memory)
    assert "edited by hand" not in reasons(memory)
    opened(store_url, workspace=str(workspace), mirrors="bank")
    assert reasons(memory) == []
    assert bank_of(workspace, task) == (2, 2)
    assert not list(workspace.rglob("*.edited"))


# --- threads, processes, forks ----------------------------------------------------------------------


def test_threads_that_write_at_once_leave_the_last_state(mirrored, workspace):
    task = mirrored.task_register("Deploy").task_id

    def work(name):
        for number in range(20):
            mirrored.task_update(task, f"{name}:{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settle(mirrored)
    assert seq_in(state_file(workspace, task)) == 161
    assert reasons(mirrored) == []


_WRITER = """
import sys
from ringbolt import TaskMemory
url, work, task, count = sys.argv[1:]
memory = TaskMemory.open(url, workspace=work, mirrors="state", synchronous="off")
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(count)):
    memory.task_update(task, f"message {number}")
memory.close()
"""


@pytest.mark.parametrize(
    ("processes", "writes"), [(4, 20), pytest.param(8, 40, marks=pytest.mark.reliability)]
)
def test_processes_that_write_at_once_leave_the_last_state_and_never_an_older_one(
    opened, store_url, workspace, processes, writes
):
    memory = opened(store_url, workspace=str(workspace), mirrors="state")
    task = memory.task_register("Deploy").task_id
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, store_url, str(workspace), task, str(writes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(processes)
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    seen = []
    while any(writer.poll() is None for writer in writers):
        seen.append(seq_in(state_file(workspace, task)))
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    assert seen == sorted(seen), "a slower process put an older state over a newer one"
    assert len(set(seen)) > 2
    assert seq_in(state_file(workspace, task)) == 1 + processes * writes
    shown = state_file(workspace, task).read_text().rpartition("# ringbolt:")[0]
    assert shown == yaml_state(memory._snapshot(task))
    assert temps(workspace) == []


def test_while_another_process_refreshes_nobody_waits_and_the_last_state_is_shown_after_it(
    mirrored, workspace
):
    task = mirrored.task_register("Deploy").task_id
    with lock_held(str(workspace / ".ringbolt" / "_")[:-1]):
        mirrored._mirrors.next_refresh = 0.0
        mirrored.task_update(task, "hello")
        assert seq_in(state_file(workspace, task)) == 1
        assert mirrored._mirrors.thread is not None
    settle(mirrored)
    assert seq_in(state_file(workspace, task)) == 2


@sqlite_only
def test_a_forked_child_and_its_parent_both_refresh(store_url, workspace):
    code = """
import os, sys
from ringbolt import TaskMemory
memory = TaskMemory.open(sys.argv[1], workspace=sys.argv[2], mirrors="state")
memory._mirrors.clock = lambda: 1000.0
first = memory.task_register("Deploy").task_id
memory.task_update(first, "late")  # the parent's thread has this to do
assert memory._mirrors.thread is not None
child = os.fork()
if not child:
    assert memory._mirrors.thread is None
    assert not memory._mirrors.pending
    memory.task_update(first, "of the child")
    print(first, memory.mirrors_status()[0].seq_shown, flush=True)
    memory.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
memory.task_update(first, "of the parent")
memory.close()
"""
    done = run_python(code, store_url, str(workspace))
    task, shown = done.stdout.split()
    assert shown == "3", "the child refreshes at once: to it the time is quiet"
    assert seq_in(state_file(workspace, task)) == 4


@sqlite_only
def test_a_child_does_not_keep_the_lock_of_a_parent_that_is_killed(kinds, store_url, workspace):
    code = """
import os, sys
from ringbolt import TaskMemory
from ringbolt.files.projection import Folder
os.makedirs(sys.argv[2] + "/.ringbolt")
import ringbolt.files.mirror_keeper
with Folder(sys.argv[2]).lock(0) as got:
    assert got
    if not os.fork():
        print("child", os.getpid(), flush=True)
        sys.stdin.readline()
        os._exit(0)
    os.kill(os.getpid(), 9)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", code, store_url, str(workspace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    word, child = parent.stdout.readline().split()
    assert word == "child"
    assert parent.wait(100) == -signal.SIGKILL
    os.kill(int(child), 0)  # it lives
    with projection.Folder(str(workspace)).lock(5) as got:
        assert got
    parent.stdin.close()
    parent.stdout.close()


def test_it_works_from_an_event_loop(store_url, workspace):
    async def work():
        memory = await AsyncTaskMemory.open(
            store_url, workspace=str(workspace), mirrors="state", synchronous="off"
        )
        task = (await memory.task_register("Deploy")).task_id
        await asyncio.gather(*(memory.task_update(task, f"message {n}") for n in range(50)))
        statuses = await memory.mirrors_refresh()
        assert [status.stale for status in statuses] == [False]
        assert await memory.mirrors_status() == statuses
        await memory.task_update(task, "the last word")
        await memory.close()
        return task

    assert seq_in(state_file(workspace, asyncio.run(work()))) == 52


def test_no_thread_is_left_when_nothing_is_late(mirrored):
    task = mirrored.task_register("Deploy").task_id
    mirrored.task_update(task, "hello")
    settle(mirrored)
    assert mirrored._mirrors.thread is None
    assert not [thread for thread in threading.enumerate() if thread.name == "ringbolt-mirrors"]


# --- the views that are kept ------------------------------------------------------------------------


def test_every_view_can_be_kept_and_says_what_its_operation_says(opened, store_url, workspace, new_store_url):
    memory = opened(store_url, workspace=str(workspace), mirrors=",".join(VIEWS))
    task = memory.task_register("Deploy coursefolio", ["Build", "Run"], request="Deploy it.").task_id
    memory.task_decide(task, choice="ghcr.io", reasoning="the key works there")
    memory.task_snapshot(task, "the context", label="initial")
    memory.task_update(task, "built", step=1, step_status="completed")
    memory.task_finish(task, "It is live.")
    memory.task_update(task, status="active")
    settle(memory)
    statuses = memory.mirrors_status()
    assert {status.kind for status in statuses} == set(VIEWS)
    assert [status.reasons for status in statuses] == [()] * len(VIEWS)

    snapshot = memory._snapshot(task)
    own = workspace / ".ringbolt"
    assert own.joinpath(f"{task}.state.yaml").read_text().startswith(yaml_state(snapshot))
    assert own.joinpath(f"{task}.resume.md").read_text().startswith(resume_packet(snapshot).text)
    assert memory.active_tasks().projection.stale is False
    other = opened(new_store_url())
    report = other.import_bank(workspace / "task_memory_bank")
    assert report.warnings == ()
    assert tuple(other.events(task)) == tuple(memory.events(task))
    third = opened(new_store_url())
    assert third.import_states(workspace / "memory" / "states").warnings == ()
    assert (workspace / "memory" / "states" / ".active-task").read_text() == f"{task}\n"


def test_facts_and_checkpoints_refresh_the_list_of_tasks(opened, store_url, workspace):
    memory = opened(store_url, workspace=str(workspace), mirrors="active-tasks")
    memory.memory_store(entity="deploy", key="next", value="ask for the key")
    memory._mirrors.next_refresh = 0.0
    memory.active_task_checkpoint("deploy", title="Deploy coursefolio")
    settle(memory)
    text = (workspace / "ACTIVE-TASKS.md").read_text()
    assert "### [deploy]: Deploy coursefolio" in text
    assert "- **Next:** ask for the key" in text


def test_with_the_markdown_ledger_the_file_is_no_mirror(opened, store_url, workspace):
    memory = opened(
        store_url, workspace=str(workspace), mirrors="active-tasks", active_tasks_ledger="markdown"
    )
    memory.task_register("Deploy")
    settle(memory)
    assert memory.mirrors_status() == ()
    assert not (workspace / "ACTIVE-TASKS.md").exists()


def test_the_resume_packet_says_when_a_mirror_cannot_be_written(opened, store_url, workspace):
    memory = opened(store_url, workspace=str(workspace), mirrors="state")
    task = memory.task_register("Deploy").task_id
    assert "Memory:" not in memory.task_resume(task).text
    shutil.rmtree(workspace / ".ringbolt")
    (workspace / ".ringbolt").write_text("in the way")
    memory._mirrors.next_refresh = 0.0
    memory.task_update(task, "built")
    settle(memory)
    assert 'Memory: "1 mirror files cannot be written' in memory.task_resume(task).text
