"""Repair: what a damaged store still has goes into a new one, and what was lost is named."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import apsw
import pytest

from ringbolt import TaskMemory
from ringbolt.core.repair import LOST, repair
from tests.store.full_fold import check_pasts
from tests.surfaces.command_line import run

PAGE = 4096
EVENTS = 400


@pytest.fixture
def old(tmp_path) -> Path:
    """A store with three tasks, all of it in its file."""
    path = tmp_path / "old" / "store.db"
    with TaskMemory.open(path, session="s", agent="codex") as memory:
        tasks = [memory.task_register(f"Task {n}", plan=["Build", "Push", "Run"]).task_id for n in range(3)]
        for number in range(EVENTS // 4):
            task = tasks[number % 3]
            memory.task_update(task, f"message {number} " + "of some length " * 12, next=f"step {number}")
            memory.task_decide(task, choice=f"choice {number}", reasoning="long " * 50)
            memory.task_set(task, "version", number)
            memory.task_log_action(task, f"run {number}", output="x" * 300, files=[f"src/{number % 7}.py"])
        memory.task_log_action(tasks[0], "a long one", output="y" * 20_000)
        memory.task_update(tasks[0], step=1, step_status="completed")
        memory.task_log_action(tasks[0], "…", output="z" * 100)
    flushed(path)
    return path


def flushed(path: Path) -> None:
    """Bring everything into the file itself."""
    connection = apsw.Connection(str(path))
    connection.execute("SELECT count(*) FROM events").fetchall()  # only then it knows of the WAL
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def whole(path: Path) -> dict[str, list]:
    with TaskMemory.open(path, create=False) as memory:
        return by_task(memory)


def by_task(memory: TaskMemory) -> dict[str, list]:
    events: dict[str, list] = {}
    for event in memory.events():
        events.setdefault(event.task_id, []).append(event)
    return events


def pages_of(path: Path, *names: str) -> list[int]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    marks = ", ".join("?" * len(names))
    rows = connection.execute(f"SELECT pageno FROM dbstat WHERE name IN ({marks})", names).fetchall()
    connection.close()
    return [row[0] for row in rows]


def zero(path: Path, pages: list[int]) -> None:
    with open(path, "r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(bytes(PAGE))


def repaired(old: Path, **options):
    """The report, and the events of the new store; the old one must stay as it was."""
    before = {name: (old.parent / name).read_bytes() for name in os.listdir(old.parent) if "." in name
              if (old.parent / name).is_file()}  # fmt: skip
    new = old.parent.parent / f"new{random.random()}.db"
    with TaskMemory.open(new) as memory:
        report = repair(str(old), memory, **options)
        events = by_task(memory)
        assert report.verified.ok, report.verified.problems
        assert check_pasts(memory, 50)
    for name, content in before.items():
        assert (old.parent / name).read_bytes() == content, name
    return report, events


def lost_seqs(report, task: str) -> set[int]:
    return {seq for gap in report.lost if gap.task_id == task for seq in range(gap.first, gap.last + 1)}


def compare(report, events, before) -> int:
    """Every event is there as it was, except those that the report names; returns how many are lost."""
    assert set(events) <= set(before)
    count = 0
    for task, own in before.items():
        gone = lost_seqs(report, task)
        there = {event.seq: event for event in events.get(task, ()) if event.data.get("lost") is None}
        for event in own:
            if event.seq in gone:
                count += 1
                continue
            same = there[event.seq]
            assert (same.text, same.data, same.sets, same.at) == (
                event.text,
                event.data,
                event.sets,
                event.at,
            )
    return count


def test_an_intact_store_is_saved_whole_with_the_same_hashes(old):
    before = whole(old)
    flushed(old)
    report, events = repaired(old)
    assert (report.ok, report.lost, report.unproven) == (True, (), 0)
    assert events == before


def test_what_is_only_in_the_wal_is_saved_too(old):
    with TaskMemory.open(old, session="s", agent="codex") as memory:
        memory.task_update(memory.task_list().tasks[0].id, "only in the WAL")
        before = by_task(memory)
        assert Path(f"{old}-wal").stat().st_size
        copy = old.parent.parent / "copy" / "store.db"
        shutil.copytree(old.parent, copy.parent)
    report, events = repaired(copy)
    assert report.ok
    assert events == before


def test_zeroed_indexes_and_pointers_lose_nothing(old):
    before = whole(old)
    flushed(old)
    connection = apsw.Connection(str(old))
    interior = [row[0] for row in connection.execute(
        "SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'internal'"
    )]  # fmt: skip
    connection.close()
    assert interior
    zero(old, [1, *interior, *pages_of(old, "events_by_task", "events_by_type", "steps", "records", "heads")])
    report, events = repaired(old)
    assert (report.lost, report.unproven) == ((), 0)
    assert events == before


def test_a_zeroed_page_loses_the_events_on_it_and_names_them(old):
    before = whole(old)
    flushed(old)
    leaves = pages_of(old, "events")
    zero(old, leaves[5:7])
    report, events = repaired(old)
    assert not report.ok
    lost = compare(report, events, before)
    assert 0 < lost < 60
    assert all("no file has it" in gap.why for gap in report.lost)
    # Numbers stay: an event of its own stands for each lost one.
    assert all([event.seq for event in own] == list(range(1, len(own) + 1)) for own in events.values())
    assert any(event.type == LOST for own in events.values() for event in own)


def test_flipped_bits_are_noticed_by_the_hashes(old):
    before = whole(old)
    flushed(old)
    chance = random.Random(7)
    content = bytearray(old.read_bytes())
    for page in chance.sample(pages_of(old, "events"), 6):
        content[(page - 1) * PAGE + chance.randrange(PAGE // 2, PAGE)] ^= 1 << chance.randrange(8)
    old.write_bytes(bytes(content))
    report, events = repaired(old)
    assert compare(report, events, before) <= 12


def test_a_truncated_file_loses_its_end(old):
    before = whole(old)
    flushed(old)
    with open(old, "r+b") as file:
        file.truncate(old.stat().st_size * 6 // 10 + 100)
    report, events = repaired(old)
    assert report.lost
    assert 0 < compare(report, events, before) < sum(map(len, before.values()))


def test_a_missing_wal_is_noticed(old):
    with TaskMemory.open(old, session="s", agent="codex") as memory:
        memory.task_update(memory.task_list().tasks[0].id, "only in the WAL")
        copy = old.parent.parent / "copy" / "store.db"
        shutil.copytree(old.parent, copy.parent)
    for end in ("-wal", "-shm"):
        Path(f"{copy}{end}").unlink()
    report, _ = repaired(copy)
    assert [gap.task_id for gap in report.lost] == [""]


def test_lost_authors_leave_the_words_but_not_their_rank(old):
    flushed(old)
    zero(old, pages_of(old, "origins"))
    report, events = repaired(old)
    assert report.unproven == sum(map(len, events.values()))
    assert {event.origin.channel for own in events.values() for event in own} == {"import"}


def test_a_backup_and_an_export_fill_the_gaps(old, tmp_path):
    with TaskMemory.open(old, session="s", agent="codex") as memory:
        memory.backup(tmp_path / "earlier.backup")
        memory.export_events(tmp_path / "exports" / "events.jsonl") if (
            tmp_path / "exports"
        ).mkdir() is None else 0
        before = by_task(memory)
    flushed(old)
    zero(old, pages_of(old, "events")[5:9])
    for source in ("earlier.backup", "exports"):
        report, events = repaired(old, others=[str(tmp_path / source)])
        assert (report.ok, report.lost) == (True, ())
        assert sum(report.elsewhere.values()) > 10
        assert events == before


def test_events_of_hooks_that_wait_are_copied(old, tmp_path):
    waiting = old.parent / "store.db.journal" / "new"
    waiting.mkdir(parents=True, exist_ok=True)
    (waiting / "0-1-x.json").write_text("{}")
    with TaskMemory.open(tmp_path / "new" / "store.db") as memory:
        report = repair(str(old), memory)
    assert report.waiting == 1
    assert (tmp_path / "new" / "store.db.journal" / "new" / "0-1-x.json").exists()
    assert (waiting / "0-1-x.json").exists()


def test_forgotten_and_purged_content_does_not_come_back(old, tmp_path):
    with TaskMemory.open(old, session="s", agent="codex") as memory:
        user = memory.acting_as(channel="user")
        first, second, _ = [card.id for card in memory.task_list().tasks]
        secret = memory.task_update(first, "hunter2-in-the-cellar").seq
        memory.backup(tmp_path / "earlier.backup")
        user.forget(f"event:{first}#{secret}", confirm=user.forget(f"event:{first}#{secret}").token)
        user.task_finish(second, "done")
        user.purge(task_id=second, confirm=user.purge(task_id=second).token)
    flushed(old)
    report, events = repaired(old, others=[str(tmp_path / "earlier.backup")])
    assert second not in events
    assert "hunter2" not in str(events[first])
    assert report.verified.ok


def test_the_command_says_what_was_lost(old, tmp_path):
    flushed(old)
    zero(old, pages_of(old, "events")[5:6])
    done = run("repair", str(old), "--to", str(tmp_path / "new.db"), "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["data"]["lost"]
    text = run("repair", str(old), "--to", str(tmp_path / "again.db"))
    assert "lost: " in text.stdout
    assert "see above" in text.stdout
    assert "exists" in run("repair", str(old), "--to", str(tmp_path / "new.db")).stderr
    assert "There is no file" in run("repair", str(tmp_path / "x.db"), "--to", str(tmp_path / "y.db")).stderr
