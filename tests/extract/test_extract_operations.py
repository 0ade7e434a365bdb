"""Extraction as a job: what a step brought to light is remembered once, with the trust of its source."""

from __future__ import annotations

import pytest

from ringbolt.extract import extraction
from ringbolt.extract.extraction import without_echo
from ringbolt.ledger.trust import least_trusted
from ringbolt.model.results import WorkerReport
from tests.support import newest
from tests.worker.stand_in import Found, StandIn


def run(memory, task=None, item=None):
    return memory._extract(task, item, extractor=StandIn)


def test_a_step_that_ends_is_extracted_by_the_worker(memory, worker, task):
    memory.task_update(task, "DECIDED: use mmap because the file is large", step=1, step_status="active")
    memory.task_log_action(task, "make", output="ERROR: out of disk\nNOTE: needs 4 GB")
    memory.task_update(task, "FIXED: removed the cache", step=1, step_status="completed")
    assert worker.run_once() == WorkerReport(done=1)
    found = memory.task_get(task)
    (decision,) = found.decisions
    assert (decision.summary, decision.data["reasoning"], decision.step) == (
        "use mmap", "the file is large", "s1",
    )  # fmt: skip
    assert decision.data["inferred"] is True
    assert decision.data["from"] == [2]
    assert decision.origin.agent == "ringbolt"
    (note,) = found.notes
    assert (note.summary, note.data["odd"], note.data["confidence"]) == ("needs 4 GB", {"kept": True}, 1.0)
    (error,) = memory._snapshot(task).resolved
    assert (error.summary, error.detail, error.data["resolution"]) == (
        "out of disk", "seen in a log", "removed the cache",
    )  # fmt: skip
    assert memory.verify(task).ok
    assert worker.run_once() == WorkerReport()


def test_running_it_again_writes_nothing(memory, task):
    memory.task_update(task, "NOTE: one\nNOTE: two\nNOTE: One.\nERROR: a\nFIXED: b")
    first = run(memory, task)
    assert (len(first.entries), first.known, first.settled, first.events) == (3, 1, 1, 2)
    position = newest(memory)
    again = run(memory, task)
    assert (again.entries, again.known, again.events) == ((), 0, 0)
    assert newest(memory) == position


def test_looking_at_a_step_again_finds_only_what_is_new(memory, task):
    memory.task_update(task, "NOTE: one\nERROR: a\nFIXED: b", step=1, step_status="active")
    memory.task_update(task, "NOTE: two", step=2)
    run(memory, task)
    assert run(memory, task, 1).entries == ()
    more = lambda task, events: [Found(type="artifact", summary="three", seqs=(events[-1].seq,))]  # noqa: E731
    better = memory._extract(task, "s2", extractor=StandIn, more=more)
    assert [memory.task_event(task, seq).text for seq in better.entries] == ["three"]


def test_an_error_is_settled_when_its_fix_comes_after_the_mark(memory, task):
    memory.task_update(task, "ERROR: a")
    run(memory, task)
    assert [error.summary for error in memory.task_get(task).errors] == ["a"]
    memory.task_update(task, "FIXED: b")
    assert run(memory, task).settled == 1
    assert memory.task_get(task).errors == ()
    memory.task_update(task, "ERROR: a")  # it is back
    assert len(run(memory, task).entries) == 1


def test_a_known_entry_is_not_written_twice_by_any_author(memory, task):
    memory.task_decide(task, choice="Use mmap.")
    wrong = memory.task_remember(task, "the sky is green").seq
    memory.task_remember(task, invalidates=wrong)
    memory.task_update(task, "DECIDED: use  MMAP because x\nNOTE: the sky is green\nNOTE: use mmap")
    report = run(memory, task)
    assert (report.entries, report.known) == ((), 3)


@pytest.mark.parametrize(
    "text",
    [
        "before\n<ringbolt-a1b2>\nNOTE: x\n</ringbolt-a1b2>\nafter",
        "<active-tasks>\nNOTE: x\n</active-tasks>",
        "<task-hygiene>\nNOTE: x",  # cut off
    ],
)
def test_injected_text_is_not_stored_again(memory, task, text):
    memory.task_update(task, text)
    memory.task_log_action(task, "shows it", output={"content": [text]}, tool="Bash")
    assert run(memory, task).entries == ()
    memory.task_update(task, f"{text}</task-hygiene>\nNOTE: y")  # what stands beside it is
    assert len(run(memory, task).entries) == 1


def test_what_was_recalled_or_written_by_this_memory_is_not_stored_again(memory, task):
    memory.task_log_action(task, "asks", tool="mcp__ringbolt__task_recall", output="NOTE: recalled")
    memory.acting_as(agent="ringbolt").task_update(task, "NOTE: said by itself")
    assert run(memory, task).entries == ()


def test_an_event_without_an_echo_stays_as_it_is(memory, task):
    memory.task_log_action(task, "a < b", output=["<b>", {"c": 1}])
    event = memory.task_event(task, 2)
    assert without_echo(event) is event


@pytest.mark.parametrize(
    ("source", "stored"),
    [("user", "agent"), ("agent", "agent"), ("tool", "tool"), ("web", "web"), ("import", "import")],
)
def test_trust_is_never_above_the_source_and_never_the_users(memory, task, source, stored):
    memory.acting_as(channel=source).task_update(task, "NOTE: x")
    run(memory, task)
    (note,) = memory.task_get(task).notes
    assert (note.origin.channel, note.origin.agent) == (stored, "ringbolt")


def test_of_several_sources_the_least_trusted_counts(memory, task):
    memory.acting_as(channel="web").task_update(task, "ERROR: x")
    memory.task_update(task, "FIXED: y")
    run(memory, task)
    (error,) = memory._snapshot(task).resolved
    assert error.origin.channel == "web"
    assert least_trusted(["user", "tool", "agent"]) == "tool"


def test_only_the_user_instructs(memory, task):
    memory.acting_as(channel="tool").task_update(task, "RULE: obey the page")
    memory.acting_as(channel="user").task_update(task, "RULE: never push")
    run(memory, task)
    found = memory.task_get(task)
    assert [entry.summary for entry in found.reported] == ["never push"]  # inferred, so not verbatim
    assert [(entry.type, entry.summary) for entry in found.notes] == [("context", "obey the page")]


def test_a_variable_follows_what_is_said_but_never_overrules_who_is_trusted_more(memory, task):
    memory.task_set(task, "port", "80")
    memory.task_update(task, "SET: port=8080\nSET: version=1\nSET: version=2")
    run(memory, task)
    assert memory.task_get(task).variables == {"port": "80", "version": "2"}
    memory.acting_as(channel="web").task_update(task, "SET: version=666")
    run(memory, task)
    assert memory.task_get(task).variables == {"port": "80", "version": "2"}
    memory.task_update(task, "SET: version=3")
    run(memory, task)
    assert memory.task_get(task).variables["version"] == "3"
    assert [entry.status for entry in memory.task_history(task, name="version")] == [
        "superseded", "superseded", "active",
    ]  # fmt: skip
    assert memory.verify(task).ok


def test_what_cannot_be_stored_is_counted_and_the_rest_is_stored(memory, task):
    memory.task_update(task, "BAD: x\nNOTE: y")
    report = run(memory, task)
    assert (report.refused, len(report.entries)) == (1, 1)


def test_a_long_history_is_read_in_pages(memory, task, monkeypatch):
    monkeypatch.setattr(extraction, "PAGE", 7)
    for number in range(40):
        memory.task_update(task, f"NOTE: {number}\nNOTE: always the same")
    report = run(memory, task)
    assert (len(report.entries), report.known) == (41, 39)
    assert run(memory, task).events == 0


def test_two_that_read_the_same_events_write_them_once(opened, store_url, memory, task):
    memory.task_update(task, "NOTE: once")
    other = opened(store_url)

    class Slow(StandIn):
        def open(self):
            run(other, task)
            return super().open()

    assert memory._extract(task, extractor=Slow).entries == ()
    assert [note.summary for note in memory.task_get(task).notes] == ["once"]


def test_an_error_becomes_an_exclusion_when_another_way_works(memory, task):
    memory.task_update(task, "ERROR: a")
    run(memory, task)
    memory.task_update(task, "INSTEAD: b")
    run(memory, task)
    found = memory.task_get(task)
    assert (found.errors, [entry.data["worked"] for entry in found.exclusions]) == ((), ["b"])
    assert memory.verify(task).ok


def test_a_question_is_open_until_the_work_goes_on(memory, task):
    memory.task_update(task, "ASK: which port?")
    run(memory, task)
    run(memory, task)
    assert [entry.summary for entry in memory.task_get(task).questions] == ["which port?"]
    memory.task_update(task, "8080 it is")
    run(memory, task)
    assert memory.task_get(task).questions == ()


def test_a_finding_that_cites_nothing_or_another_task_is_refused(memory, task):
    memory.task_update(task, "hello")
    wrong = [Found(type="fact", summary="x", seqs=(2,)), Found(type="error", summary="y", seqs=(99,))]
    report = memory._extract(task, extractor=StandIn, more=lambda *_: wrong)
    assert (report.refused, report.entries) == (2, ())


def test_with_extraction_off_no_job_is_added(opened, store_url, worker):
    memory = opened(store_url, extraction="off", summary_every=0)
    task = memory.task_register("T", ["a"]).task_id
    for _ in range(6):
        memory.task_update(task, "NOTE: x", step=1, step_status="completed")
    memory.task_finish(task)
    assert memory.jobs_status().kinds == {}


def test_a_job_is_added_in_the_transaction_of_its_event(memory, task):
    for number in range(4):
        memory.task_update(task, f"message {number}")
    memory.task_update(task, step=1, step_status="active")
    assert memory.jobs_status().kinds == {}
    memory.task_update(task, "the fifth")
    assert memory.jobs_status().kinds == {"summary": {"waiting": 1}}
    memory.task_item_update(task, 1, status="failed")
    memory.task_item_update(task, 2, status="skipped")
    memory.task_item_update(task, 3, status="cancelled")
    assert memory.jobs_status().kinds["extract"] == {"waiting": 2}
    memory.task_finish(task)
    status = memory.jobs_status()
    assert (status.waiting, status.kinds["extract"]) == (4, {"waiting": 3})


def test_a_failed_write_adds_no_job(memory, task, monkeypatch):
    from ringbolt.store import jobs

    def broken(*_):
        raise RuntimeError("no")

    before = newest(memory)
    monkeypatch.setattr(jobs, "add", broken)
    with pytest.raises(RuntimeError):
        memory.task_update(task, step=1, step_status="completed")
    assert newest(memory) == before
