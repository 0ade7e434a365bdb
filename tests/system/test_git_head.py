"""Whether another branch was checked out, by git's log of HEAD."""

from __future__ import annotations

from pathlib import Path

from ringbolt.system.git_head import branch_changed


def write_log(folder: Path, *moves: tuple[int, str]) -> None:
    lines = [f"{'0' * 40} {'1' * 40} A B <a@b.c> {at} +0100\t{what}\n" for at, what in moves]
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    (folder / "logs" / "HEAD").write_text("".join(lines), encoding="utf-8")


def test_a_checkout_between_two_times_changes_the_branch(tmp_path: Path) -> None:
    moves = [(100, "commit: x"), (200, "checkout: moving from main to feat/a"), (300, "commit: y")]
    write_log(tmp_path / ".git", *moves)
    assert branch_changed(str(tmp_path), 150.0, 250.0)
    assert not branch_changed(str(tmp_path), 200.0, 400.0)
    assert not branch_changed(str(tmp_path), 50.0, 150.0)


def test_there_and_back_is_no_change(tmp_path: Path) -> None:
    moves = [(200, "checkout: moving from main to feat/a"), (210, "checkout: moving from feat/a to main")]
    write_log(tmp_path / ".git", *moves)
    assert not branch_changed(str(tmp_path), 150.0, 250.0)
    assert branch_changed(str(tmp_path), 205.0, 250.0)


def test_a_linked_worktree_has_its_own_log(tmp_path: Path) -> None:
    tree, private = tmp_path / "tree", tmp_path / "main" / ".git" / "worktrees" / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {private}\n", encoding="utf-8")
    write_log(private, (200, "checkout: moving from main to feat/a"))
    assert branch_changed(str(tree), 150.0, 250.0)


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    moves = [(n, "commit: x") for n in range(1000)]
    write_log(tmp_path / ".git", *moves, (2000, "checkout: moving from main to feat/a"))
    assert branch_changed(str(tmp_path), 1500.0, 2500.0)


def test_without_a_repository_nothing_changed(tmp_path: Path) -> None:
    assert not branch_changed(str(tmp_path), 0.0, 1e12)
    assert not branch_changed(str(tmp_path / "missing"), 0.0, 1e12)
    (tmp_path / ".git").write_bytes(b"\xff\xfe")
    assert not branch_changed(str(tmp_path), 0.0, 1e12)
