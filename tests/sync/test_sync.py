"""Several machines: two stores and one remote end up with the same histories, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from ringbolt.model.errors import RingboltError
from ringbolt.sync.sync_state import sync_folder

from .machines import KINDS, histories, interleave, machine, new_remote, settle, texts


@pytest.fixture(params=KINDS)
def remote(request, tmp_path):
    return new_remote(request.param, tmp_path)


@pytest.fixture
def pair(tmp_path):
    with machine(tmp_path, "one") as one, machine(tmp_path, "two") as two:
        yield one, two


def refused(call) -> str:
    with pytest.raises(RingboltError) as refusal:
        call()
    return refusal.value.code


def check_partitions(tmp_path, remote, writes):
    with machine(tmp_path, "one") as one, machine(tmp_path, "two") as two:
        written = interleave((one, two), remote, writes, 3)
        settle((one, two), remote)
        assert histories(one) == histories(two)
        assert len(histories(one)) > len({root for root, _, _ in histories(one)})  # there were conflicts
        for memory in (one, two):
            kept = texts(memory)
            names = {task.name for task in memory.task_list(workspace=None, limit=1000).tasks}
            assert written <= kept | names
            assert memory.verify().ok


def test_machines_have_equal_histories_after_partitions(tmp_path, remote):
    check_partitions(tmp_path, remote, 70)


@pytest.mark.reliability
@pytest.mark.timeout(1200)
def test_a_thousand_writes_and_three_partitions_lose_nothing(tmp_path, remote):
    check_partitions(tmp_path, remote, 1000)


def test_a_task_continues_on_the_other_machine_with_its_origins(pair, remote):
    one, two = pair
    task = one.task_register("Deploy", goal="Bring it up").task_id
    assert one.sync(remote).sent == 1
    assert two.sync(remote).tasks == (task,)
    two.task_note(task, "Done on two")
    assert two.sync(remote).sent == 1
    report = one.sync(remote)
    assert (report.sent, report.received, report.conflicts) == (0, 1, ())
    assert histories(one) == histories(two)
    assert [event.origin.channel for event in one.events(task)] == ["agent", "agent"]


def test_a_second_sync_moves_nothing(pair, remote):
    pair[0].task_register("Deploy")
    settle(pair, remote)
    for memory in (*pair, *pair):
        report = memory.sync(remote)
        assert (report.sent, report.received, report.known) == (0, 0, 0)


def test_a_conflict_is_kept_named_and_grows_on(pair, remote):
    one, two = pair
    task = one.task_register("Deploy").task_id
    settle(pair, remote)
    one.task_note(task, "From one")
    two.task_note(task, "From two")
    one.sync(remote)
    (conflict,) = two.sync(remote).conflicts
    assert (conflict.task_id, conflict.seq) == (task, 2)
    assert two.task_get(conflict.kept_as).conflict_of == task
    one.sync(remote)
    one.task_note(task, "One again")
    two.task_note(task, "Two again")
    two.task_note(conflict.kept_as, "Two on the history of one")
    settle(pair, remote)
    assert histories(one) == histories(two)
    assert len(histories(one)) == 3
    assert one.verify().ok
    assert two.verify().ok


def test_without_the_state_nothing_is_written_twice(pair, remote):
    one = pair[0]
    interleave(pair, remote, 30, 1)
    settle(pair, remote)
    before = histories(one)
    for name in os.listdir(sync_folder(one)):
        if name.endswith(".json"):
            os.unlink(os.path.join(sync_folder(one), name))
    report = one.sync(remote)
    assert (report.sent, report.received) == (0, 0)
    assert report.known
    assert histories(one) == before


def test_a_restored_backup_gets_everything_back(pair, remote, tmp_path):
    one, two = pair
    task = one.task_register("Deploy").task_id
    one.backup(tmp_path / "early")
    one.task_note(task, "Later")
    settle(pair, remote)
    with one.acting_as(channel="user") as user:
        user.restore(tmp_path / "early")
        assert user.sync(remote).received == 1
        assert histories(user) == histories(two)


def test_one_task_alone_is_synced(pair, remote):
    one, two = pair
    wanted, other = (one.task_register(name).task_id for name in ("Wanted", "Other"))
    assert one.sync(remote, wanted).sent == 1
    assert {root for root, _, _ in (two.sync(remote), histories(two))[1]} == {wanted}
    one.sync(remote)
    two.task_note(wanted, "More")
    assert two.sync(remote, wanted).received == 0
    assert two.sync(remote).received == 1
    settle(pair, remote)
    assert histories(one) == histories(two)
    assert other in {root for root, _, _ in histories(two)}


def test_a_dry_run_counts_and_changes_nothing(pair, remote):
    one, two = pair
    one.task_register("Deploy")
    one.sync(remote)
    two.task_register("Other")
    report = two.sync(remote, dry_run=True)
    assert (report.dry_run, report.sent, report.received) == (True, 1, 1)
    assert len(histories(two)) == 1
    assert one.sync(remote).received == 0


def test_purged_tasks_stay_purged(pair, remote):
    one, two = pair
    task = one.task_register("Deploy").task_id
    settle(pair, remote)
    with two.acting_as(channel="user") as user:
        user.task_finish(task, answer="x")
        user.purge(task_id=task, confirm=user.purge(task_id=task).token)
        one.task_note(task, "More")
        one.sync(remote)
        report = user.sync(remote)
        assert (report.received, report.purged, report.waiting) == (0, 1, 0)
        assert task not in {root for root, _, _ in histories(user)}


def test_another_key_makes_it_an_import_and_the_answer_comes_back_as_one(tmp_path, remote):
    with machine(tmp_path, "one") as one, machine(tmp_path, "two", signing_key=str(tmp_path / "key")) as two:
        task = one.task_register("Deploy", goal="Bring it up").task_id
        settle((one, two), remote)
        assert [event.origin.channel for event in two.events(task)] == ["import"]
        two.task_note(task, "From two")
        two.sync(remote)
        assert one.sync(remote).conflicts == ()
        one.task_note(task, "From one")
        settle((one, two), remote)
        assert [event.origin.channel for event in one.events(task)] == ["agent", "import", "agent"]
        assert [event.origin.channel for event in two.events(task)] == ["import", "agent", "import"]
        for name in os.listdir(sync_folder(two)):
            if name.endswith(".json"):
                os.unlink(os.path.join(sync_folder(two), name))
        two.task_note(task, "After the state is lost")
        settle((one, two), remote)
        assert len(histories(one)) == len(histories(two)) == 1
        assert texts(one) == texts(two)


def test_syncs_at_once_lose_nothing(pair, remote, tmp_path):
    one, two = pair
    for number in range(20):
        (one, two)[number % 2].task_register(f"Task {number}")
    failures = []

    def run(memory):
        try:
            memory.sync(remote)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=run, args=(memory,)) for memory in (one, two, one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settle(pair, remote)
    assert not failures
    assert len(histories(one)) == 20
    assert histories(one) == histories(two)


# --- encryption -------------------------------------------------------------------------------------


def key_file(folder: Path, name: str, secret: str = "a long passphrase of ours") -> str:
    path = folder / name
    path.write_text(secret)
    path.chmod(0o600)
    return str(path)


def stored_bytes(remote: str) -> bytes:
    place = Path(remote)
    if (place / "objects").is_dir():
        listed = subprocess.run(
            ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=place, capture_output=True, check=True
        )
        return listed.stdout
    return b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())


def test_an_encrypted_remote_shows_nothing_and_needs_the_key(pair, remote, tmp_path):
    one, two = pair
    key = key_file(tmp_path, "k")
    task = one.task_register("Deploy").task_id
    one.sync(remote, key_file=key)
    assert b"aes-256-gcm" in stored_bytes(remote)
    assert task.encode() not in stored_bytes(remote)
    assert refused(lambda: two.sync(remote)) == "sync_key"
    wrong = key_file(tmp_path, "wrong", "quite another passphrase")
    assert refused(lambda: two.sync(remote, key_file=wrong)) == "sync_key"
    assert two.sync(remote, key_file=key).received == 1


def test_a_plain_segment_on_an_encrypted_remote_is_rejected(pair, remote, tmp_path):
    one, two = pair
    key = key_file(tmp_path, "k")
    one.task_register("Deploy")
    one.sync(remote, key_file=key)
    two.sync(remote, key_file=key)
    with machine(tmp_path, "stranger") as stranger:
        stranger.task_register("Forged")
        assert refused(lambda: stranger.sync(remote)) == "sync_key"


def test_a_key_that_others_can_read_is_refused(pair, remote, tmp_path):
    path = key_file(tmp_path, "k")
    os.chmod(path, 0o644)
    assert refused(lambda: pair[0].sync(remote, key_file=path)) == "sync_key"
    assert refused(lambda: pair[0].sync(remote, key_file=key_file(tmp_path, "s", "short"))) == "sync_key"


# --- damaged and hostile remotes --------------------------------------------------------------------


def test_a_damaged_segment_is_named_and_the_others_are_taken(pair, tmp_path):
    one, two = pair
    remote = new_remote("folder", tmp_path)
    for name in ("First", "Second"):
        one.task_register(name)
        one.sync(remote)
    first = sorted((Path(remote) / "ringbolt-sync").iterdir())[0]
    first.write_bytes(first.read_bytes()[:-9])
    report = two.sync(remote)
    assert report.received == 1
    assert [line.partition(":")[0] for line in report.rejected] == [first.name]


def test_a_folder_that_does_not_exist_is_refused(pair, tmp_path):
    assert refused(lambda: pair[0].sync(str(tmp_path / "unmounted"))) == "sync_remote"
    assert refused(lambda: pair[0].sync("")) == "sync_remote"


# --- git --------------------------------------------------------------------------------------------


def git(folder, *words) -> str:
    return subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.com", *words],
        cwd=folder, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip


def test_a_repository_keeps_its_branches_index_and_working_tree(tmp_path, pair):
    one, two = pair
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "--quiet", "-b", "main")
    (work / "file").write_text("content")
    git(work, "add", "file")
    git(work, "commit", "--quiet", "-m", "First")
    (work / "file").write_text("changed")
    before = git(work, "status", "--porcelain=v2", "--branch"), git(work, "for-each-ref", "refs/heads")
    one.task_register("Deploy")
    one.sync(str(work))
    assert two.sync(str(work)).received == 1
    after = git(work, "status", "--porcelain=v2", "--branch"), git(work, "for-each-ref", "refs/heads")
    assert after == before
    assert git(work, "for-each-ref", "--format=%(refname)", "refs/ringbolt").split() == ["refs/ringbolt/sync"]


def test_a_remote_of_the_workspace_is_found_by_its_name(tmp_path):
    bare = new_remote("git", tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "--quiet")
    git(work, "remote", "add", "origin", bare)
    with machine(tmp_path, "one", workspace=str(work)) as one:
        one.task_register("Deploy")
        assert one.sync("origin").sent == 1
    assert "refs/ringbolt/sync" in git(bare, "for-each-ref")


def test_a_git_remote_that_cannot_be_reached_says_so(tmp_path, pair):
    assert refused(lambda: pair[0].sync(f"file://{tmp_path}/nowhere")) == "sync_failed"


def test_no_message_shows_the_credentials_of_a_remote(pair):
    for credentials in ("Aq7xTokenInPlaceOfAUser", "user:Aq7xTokenAsThePassword", "user:Aq7x@Token"):
        with pytest.raises(RingboltError) as failure:
            pair[0].sync(f"git+http://{credentials}@127.0.0.1:9/repository.git")
        assert "Aq7x" not in str(failure.value)
        assert "127.0.0.1:9/repository.git" in str(failure.value)
