"""Recall, lists and packets across the worktrees of one repository, by choice."""

from __future__ import annotations

import subprocess

import pytest

from ringbolt.model.capabilities import Grant
from ringbolt.model.errors import RingboltError


def git(folder, *words) -> None:
    who = ["-c", "user.name=T", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def worktrees(opened, store_url, tmp_path):
    """Memories in two worktrees of a repository, and one in another folder."""
    folders = [tmp_path / name for name in ("main", "feature", "elsewhere")]
    folders[0].mkdir()
    folders[2].mkdir()
    git(folders[0], "init", "--quiet")
    git(folders[0], "commit", "--quiet", "--allow-empty", "-m", "First")
    git(folders[0], "worktree", "add", "--quiet", str(folders[1]))
    return [opened(store_url, workspace=str(folder), session="") for folder in folders]


def test_other_worktrees_are_covered_only_by_choice(worktrees):
    main, feature, elsewhere = worktrees
    task = main.task_register("Parser", goal="Read the zebra format").task_id
    elsewhere.task_register("Other", goal="Paint the zebra")
    assert not feature.task_list().tasks
    assert [card.id for card in feature.task_list(repository=True).tasks] == [task]
    assert not feature.task_recall("zebra").hits
    assert {hit.task_id for hit in feature.task_recall("zebra", repository=True).hits} == {task}
    with pytest.raises(RingboltError):
        feature.task_resume()
    assert feature.task_resume(repository=True).task_id == task


def test_a_folder_without_a_repository_and_a_bound_caller_are_refused(worktrees):
    main, _, elsewhere = worktrees
    bound = main.acting_as(grant=Grant(workspaces=(main.workspace,)))
    for memory, code in ((elsewhere, "invalid_argument"), (bound, "wrong_workspace")):
        for call in (memory.task_list, memory.task_recall, memory.task_resume):
            with pytest.raises(RingboltError) as refusal:
                call(repository=True)
            assert refusal.value.code == code
