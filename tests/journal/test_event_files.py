"""Event files: where they lie, in which order they come, and what becomes of those that cannot be read."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ringbolt.hosts.hook_parts import system_calls
from ringbolt.journal import event_files, names
from ringbolt.journal.event_files import Journal, NotAnEvent
from ringbolt.journal.folders import journal_folders
from ringbolt.journal.names import boot_in, session_digest, session_in
from tests.journal.writing import new_name, write_event

BOOT = names.boot()


@pytest.fixture
def journal(tmp_path):
    return Journal([str(tmp_path / "store.db.journal"), str(tmp_path / "away.journal")])


def name(ticks: int, session: str = "s", boot: str = BOOT, outcome: str = "e") -> str:
    return f"{boot}-{ticks:016x}-1-abcd-{session_digest(session)}-{outcome}.json"


def ticks_in(file) -> int:
    return int(file.name.split("-")[1], 16)


# --- where ------------------------------------------------------------------------------------------


def test_a_store_has_a_folder_beside_it_and_one_with_the_users_data(tmp_path):
    beside, away = journal_folders(str(tmp_path / "s.db"))
    assert beside == f"{tmp_path}/s.db.journal"
    assert away.startswith(os.environ["XDG_DATA_HOME"] + "/ringbolt/journals/")
    (tmp_path / "link.db").symlink_to(tmp_path / "s.db")
    for same in (f"sqlite://{tmp_path}/s.db", f"file://{tmp_path}/s.db", f"{tmp_path}/x/../s.db",
                 str(tmp_path / "link.db")):  # fmt: skip
        assert journal_folders(same) == [beside, away]


def test_a_database_server_has_one_folder_for_each_database_and_tenant():
    one = journal_folders("postgresql://me:secret@host:5432/db?sslmode=require")
    assert len(one) == 1
    assert journal_folders("postgresql://you@host:5432/db") == one
    assert journal_folders("postgresql://you@host:5432/db", "default") == one
    others = ["postgresql://me@host:5432/other", "postgresql://me@host:5432/db?tenant=a",
              "postgresql://me@/db?host=/run/a", "postgresql://me@/db?host=/run/b"]  # fmt: skip
    assert len({*one, *(journal_folders(other)[0] for other in others)}) == 5
    by_setting = journal_folders("postgresql://me@host:5432/db", "a")
    assert by_setting == journal_folders("postgresql://me@host:5432/db?tenant=a")


# --- names ------------------------------------------------------------------------------------------


def test_a_name_says_of_which_boot_and_session_it_is(tmp_path):
    path = write_event(Journal([str(tmp_path)]), new_name("s-1"), {})
    found = os.path.basename(path)
    assert (boot_in(found), session_in(found)) == (BOOT, session_digest("s-1"))
    assert [session_in(odd) for odd in ("x.json", "a-x-c-d-e-.json", "")] == [""] * 3


def test_events_come_in_the_order_of_a_clock_that_nobody_sets(journal):
    for ticks, at in ((3, 10.0), (1, 30.0), (2, 20.0)):  # the wall clock was set back twice
        write_event(journal, name(ticks), {"at": at})
    # An earlier boot, whose monotonic clock had come further, and something that nobody can place.
    write_event(journal, name(9, boot="11111111"), {"at": 7.0})
    write_event(journal, name(8, boot="22222222"), {"at": 5.0})
    write_event(journal, "unknown.json", {"at": 1.0})
    order = [(boot, ticks_in(file)) if (boot := boot_in(file.name)) else None for file in journal.waiting()]
    assert order == [("22222222", 8), ("11111111", 9), (BOOT, 1), (BOOT, 2), (BOOT, 3), None]


_WRITER = """
import sys
from ringbolt.journal.event_files import Journal
from tests.journal.writing import new_name, write_event
journal = Journal([sys.argv[1]])
for number in range(int(sys.argv[3])):
    assert write_event(journal, new_name(sys.argv[2]), {"session": sys.argv[2], "number": number})
"""


def test_eight_writers_at_once_lose_nothing_and_keep_their_order(journal):
    def write(session: str) -> None:
        words = [sys.executable, "-c", _WRITER, journal.folders[0], session, "25"]
        subprocess.run(words, check=True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, (f"s{number}" for number in range(8))))
    found = [journal.read(file)[0] for file in journal.waiting()]
    for number in range(8):
        own = [event["number"] for event in found if event["session"] == f"s{number}"]
        assert own == list(range(25))


# --- writing ----------------------------------------------------------------------------------------


def test_files_are_for_the_owner_alone(journal):
    path = write_event(journal, new_name("s"), {"a": 1})
    assert os.stat(path).st_mode & 0o777 == 0o600
    for folder in (journal.folders[0], os.path.dirname(path)):
        assert os.stat(folder).st_mode & 0o777 == 0o700


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_nothing_half_written(journal, monkeypatch, step):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(system_calls.system, step, full)
        with pytest.raises(OSError, match="No space"):
            write_event(journal, new_name("s"), {})
    assert journal.is_empty()
    assert not any(files for _, _, files in os.walk(os.path.dirname(journal.folders[0])))


def test_half_written_files_of_killed_writers_are_removed_and_never_read(journal):
    write_event(journal, name(1), {"at": 1})
    half = os.path.join(journal.folders[0], "tmp", name(2))
    with open(half, "w") as file:
        file.write('{"at":')
    assert [ticks_in(file) for file in journal.waiting()] == [1]
    journal.sweep(os.stat(half).st_mtime + 10)
    assert os.path.exists(half)  # somebody may still be at it
    journal.sweep(os.stat(half).st_mtime + 4000)
    assert not os.path.exists(half)


# --- reading and rejecting --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "not JSON"), (b"{", "not JSON"), (b"\xff", "not JSON"), (b"[1]", "not a JSON object"),
     (b"[" * 100_000, "not JSON"), (b'"x"' + b" " * event_files.MOST_BYTES, "more than")],
    ids=["empty", "cut", "binary", "list", "deep", "huge"],
)  # fmt: skip
def test_a_file_without_an_event_is_explained(journal, content, why):
    path = write_event(journal, name(1), {})
    with open(path, "wb") as file:
        file.write(content)
    (waiting,) = journal.waiting()
    with pytest.raises(NotAnEvent, match=why):
        journal.read(waiting)
    journal.reject(waiting, "it is rubbish")
    assert journal.is_empty()
    folder = os.path.join(journal.folders[0], "rejected")
    assert sorted(os.listdir(folder)) == [name(1), name(1) + ".why"]
    with open(os.path.join(folder, name(1) + ".why")) as file:
        assert file.read() == "it is rubbish"


def test_characters_that_no_engine_stores_are_replaced(journal):
    path = write_event(journal, name(1), {})
    with open(path, "w") as file:
        file.write(json.dumps({"payload": {"a\0": ["x\0", "\ud800", "\N{GRINNING FACE}"]}}))
    event, _ = journal.read(journal.waiting()[0])
    assert event == {"payload": {"a\ufffd": ["x\ufffd", "?", "\N{GRINNING FACE}"]}}


def test_dropping_takes_events_wherever_they_lie(journal):
    for number, session in enumerate("aab"):
        write_event(journal, name(number, session), {"session": session})
    journal.reject(journal.waiting()[0], "for a test")
    assert journal.count(lambda event: event.get("session") == "a") == 2
    journal.drop(lambda event: event.get("session") == "a")
    assert [journal.read(file)[0]["session"] for file in journal.waiting()] == ["b"]
    assert os.listdir(os.path.join(journal.folders[0], "rejected")) == []


def test_a_link_in_the_journal_is_not_followed(journal, tmp_path):
    (tmp_path / "secret.json").write_text('{"host": "claude-code"}')
    path = write_event(journal, name(1), {})
    os.unlink(path)
    os.symlink(tmp_path / "secret.json", path)
    with pytest.raises(NotAnEvent, match="cannot be read"):
        journal.read(journal.waiting()[0])
