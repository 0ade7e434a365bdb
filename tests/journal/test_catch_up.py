"""Catching up before a store is used: nothing is missed, and an empty journal costs next to nothing."""

from __future__ import annotations

import os
import threading

import pytest

from ringbolt.journal import catch_up as module
from ringbolt.journal.cards import Card, bounded, make_stale, read_card, write_card
from ringbolt.journal.catch_up import CatchUp
from ringbolt.journal.event_files import Journal
from ringbolt.journal.health import STALE_SECONDS, health_lines, journal_health
from ringbolt.journal.names import session_digest
from ringbolt.journal.side_files import PendingSideFiles, SideFiles
from tests.journal.writing import new_name, write_event
from tests.support import until


@pytest.fixture
def journal(tmp_path):
    return Journal([str(tmp_path / "s.journal")])


class Drain:
    """Stands in for a drain: takes every file away, and counts how often it was asked."""

    def __init__(self, journal, *, able=True):
        self.journal, self.able, self.calls, self.taken = journal, able, 0, 0

    def __call__(self) -> bool:
        self.calls += 1
        files = self.journal.waiting() if self.able else []
        self.journal.remove(files)
        self.taken += len(files)
        return bool(files)


def test_no_event_is_missed_however_quickly_they_come(journal):
    drain = Drain(journal)
    catch_up = CatchUp(journal, drain)
    for number in range(300):  # many within one step of the file system's clock
        write_event(journal, new_name("s"), {})
        catch_up()
        assert drain.taken == number + 1


def test_an_empty_journal_is_looked_at_once(journal, monkeypatch):
    drain = Drain(journal)
    catch_up = CatchUp(journal, drain)
    catch_up()
    assert drain.calls == 0
    write_event(journal, new_name("s"), {})
    catch_up()
    new = os.path.join(journal.folders[0], "new")
    os.utime(new, ns=(1_000_000_000, 1_000_000_000))  # long ago
    catch_up()
    looked = []
    monkeypatch.setattr(module.os, "scandir", lambda folder: looked.append(folder))
    for _ in range(3):
        catch_up()
    assert looked == []
    assert drain.calls == 1


def test_the_second_folder_is_looked_into_soon_and_the_first_at_once(tmp_path):
    journal = Journal([str(tmp_path / "s.journal"), str(tmp_path / "away.journal")])
    drain = Drain(journal)
    catch_up = CatchUp(journal, drain)
    catch_up()
    write_event(Journal(journal.folders[1:]), new_name("s"), {})
    until(lambda: catch_up() or drain.taken == 1)
    write_event(journal, new_name("s"), {})
    catch_up()
    assert drain.taken == 2
    assert module._SELDOM < module.WATCH_SECONDS


def test_a_drain_without_progress_is_not_retried_at_every_call(journal, monkeypatch):
    monkeypatch.setattr(module, "_REST", 100.0)
    drain = Drain(journal, able=False)
    catch_up = CatchUp(journal, drain)
    write_event(journal, new_name("s"), {})
    for _ in range(50):
        catch_up()
    assert drain.calls == 1


def test_an_event_after_one_that_another_process_took_is_drained_at_once(journal):
    class Slower(Drain):
        def __call__(self) -> bool:
            if not self.calls:  # another process was faster
                self.journal.remove(self.journal.waiting())
            return super().__call__()

    drain = Slower(journal)
    catch_up = CatchUp(journal, drain)
    for _ in range(2):
        write_event(journal, new_name("s"), {})
        catch_up()
    assert (drain.calls, drain.taken) == (2, 1)


def test_a_drain_that_uses_the_store_does_not_drain_again(journal):
    calls = []

    def drain() -> bool:
        calls.append(1)
        catch_up()  # as each read and write does
        return True

    catch_up = CatchUp(journal, drain)
    write_event(journal, new_name("s"), {})
    catch_up()
    assert calls == [1]


def test_a_watcher_takes_in_events_without_being_asked(journal):
    taken, stop = threading.Event(), threading.Event()

    def drain() -> bool:
        journal.remove(journal.waiting())
        taken.set()
        return True

    thread = threading.Thread(target=CatchUp(journal, drain).watch, args=(stop,))
    thread.start()
    try:
        write_event(journal, new_name("s"), {})
        assert taken.wait(100)
    finally:
        stop.set()
        thread.join()
    assert module.WATCH_SECONDS <= 0.25


# --- side files, cards, health ----------------------------------------------------------------------


def test_changes_of_a_drain_take_effect_when_they_are_written(journal):
    files = SideFiles(journal)
    files.set("sessions/a", "before")
    pending = PendingSideFiles(journal)
    pending.set("sessions/a", None)
    pending.set("sessions/b", "new")
    assert (pending.read("sessions/a"), pending.read("sessions/b")) == ("", "new")
    assert (files.read("sessions/a"), files.read("sessions/b")) == ("before", "")
    pending.write()
    assert (files.read("sessions/a"), files.read("sessions/b")) == ("", "new")


def test_a_side_file_of_a_disk_that_was_read_only_is_not_believed_later(tmp_path):
    (tmp_path / "beside").write_text("in the way")
    journal = Journal([str(tmp_path / "beside"), str(tmp_path / "away")])
    files = SideFiles(journal)
    files.set("sessions/a", "old")
    (tmp_path / "beside").unlink()
    files.set("sessions/a", "new")
    assert files.read("sessions/a") == "new"
    files.set("sessions/a", None)
    assert files.read("sessions/a") == ""


def test_a_card_is_read_as_it_was_written_and_means_every_call_when_it_is_stale(journal):
    files, digest = SideFiles(journal), session_digest("s-1")
    card = Card(heads=("make all",), hints=(("c", "push"),), agents=("s-1/a",), shared="r1")
    write_card(files, digest, card)
    assert read_card(files, digest) == card
    make_stale(files, "s-1/agent")  # a helper's call is looked up on the card of its session
    assert read_card(files, digest) == card.replace(stale=True)
    write_card(files, digest, Card())
    assert files.read(f"cards/{digest}") == ""
    files.set(f"cards/{session_digest('s-2')}", '{"heads": 7, "more": [1]}')
    assert read_card(files, session_digest("s-2")) == Card()
    assert bounded(["a", "b", "a", "c"], 2) == ("a", "c")  # the last ones, each once


def test_health_counts_what_waits_and_what_was_given_up(journal):
    assert health_lines(journal) == []
    path = write_event(journal, new_name("s"), {})
    journal.reject_content("x.json", {}, "it is rubbish")
    journal.reject_content("y.json", {}, "it is rubbish")
    os.utime(path, (1.0, 1.0))
    found = journal_health(journal)
    assert (found.waiting, found.rejected, found.reasons) == (1, 2, {"it is rubbish": 2})
    assert found.oldest > STALE_SECONDS
    assert len(health_lines(journal)) == 2
