"""Which workspace a folder belongs to, in real repositories."""

from __future__ import annotations

import os
import subprocess

import pytest

from ringbolt.model.scope import workspace_of


def git(folder, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(folder), *words],
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    return folder


@pytest.fixture
def worktree(repository, tmp_path):
    folder = tmp_path / "feature"
    git(repository, "worktree", "add", "--quiet", str(folder), "-b", "feature")
    return folder


def test_a_repository_is_a_workspace_from_any_folder_in_it(repository):
    deep = repository / "src" / "deep"
    deep.mkdir(parents=True)
    for folder in (repository, deep):
        assert workspace_of(str(folder)) == (str(repository), str(repository / ".git"))


def test_a_linked_worktree_is_a_workspace_of_its_own_in_the_same_repository(repository, worktree):
    (worktree / "src").mkdir()
    assert workspace_of(str(worktree)) == (str(worktree), str(repository / ".git"))
    assert workspace_of(str(worktree / "src")) == workspace_of(str(worktree))
    assert workspace_of(str(repository))[1] == workspace_of(str(worktree))[1]


def test_a_worktree_inside_its_repository_is_still_its_own(repository):
    git(repository, "worktree", "add", "--quiet", str(repository / "inner"), "-b", "inner")
    assert workspace_of(str(repository / "inner")) == (str(repository / "inner"), str(repository / ".git"))


def test_a_plain_folder_is_its_own_workspace_without_a_repository(tmp_path):
    (tmp_path / "plain").mkdir()
    assert workspace_of(str(tmp_path / "plain")) == (str(tmp_path / "plain"), None)


def test_a_folder_that_is_not_there_is_a_workspace_too(tmp_path):
    assert workspace_of(str(tmp_path / "gone")) == (str(tmp_path / "gone"), None)


def test_a_submodule_is_a_workspace_of_its_own_with_its_own_repository(repository):
    modules = repository / ".git" / "modules" / "library"
    modules.mkdir(parents=True)
    (repository / "library" / "src").mkdir(parents=True)
    (repository / "library" / ".git").write_text("gitdir: ../.git/modules/library\n")
    assert workspace_of(str(repository / "library" / "src")) == (str(repository / "library"), str(modules))


def test_a_symbolic_link_leads_to_the_same_workspace(repository, tmp_path):
    (tmp_path / "link").symlink_to(repository)
    assert workspace_of(str(tmp_path / "link")) == workspace_of(str(repository))


@pytest.mark.parametrize("content", [b"", b"\n", b"gitdir: ", b"nonsense", b"\xff\xfe\x00", b"x gitdir: /y"])
def test_a_broken_git_file_is_as_good_as_none(repository, tmp_path, content):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / ".git").write_bytes(content)
    assert workspace_of(str(broken)) == (str(broken), None)
    inside = repository / "inside"
    inside.mkdir()
    (inside / ".git").write_bytes(content)
    assert workspace_of(str(inside)) == (str(repository), str(repository / ".git"))


def test_a_git_file_that_leads_to_itself_ends(tmp_path):
    (tmp_path / ".git").symlink_to(tmp_path / ".git")
    assert workspace_of(str(tmp_path)) == (str(tmp_path), None)


def test_no_git_is_run(repository, worktree, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert workspace_of(str(worktree)) == (str(worktree), str(repository / ".git"))
