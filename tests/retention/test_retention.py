"""Forgetting a source and purging tasks: what goes, what stays, and that it is gone from the files, too."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringbolt.core.copying import copy_store
from ringbolt.journal.event_files import Journal
from ringbolt.journal.health import journal_health
from ringbolt.journal.names import session_digest
from ringbolt.journal.side_files import SideFiles, card_file, compaction_file, transcript_file
from ringbolt.model.errors import NotFound, RingboltError
from tests.core.calls import READS
from tests.journal.writing import new_name, write_event
from tests.support import path_of, refused, rows, sqlite_only

TABLES = (
    "events heads extras steps records labels files links claims keys distilled jobs learned_patterns"
).split()
MARK = "zebrafish"  # one word, so that the index has it as it is written


def confirmed(memory, operation, **arguments):
    """Make the dry run and confirm it."""
    token = getattr(memory.acting_as(channel="user"), operation)(**arguments).token
    return getattr(memory.acting_as(channel="user"), operation)(**arguments, confirm=token)


def fill(memory, secret=MARK):
    """A task that another session has written to, in every way there is."""
    task = memory.task_register("Deploy", ["Build", "Push", "Run"], request="Deploy it, please.").task_id
    memory.task_set(task, "region", "eu-west")
    other = memory.acting_as(session="leaky", agent="spy")
    other.task_update(
        task, f"{secret} message", next=f"{secret} next", blockers=[f"{secret} blocker"],
        name=f"{secret} name", goal=f"{secret} goal", attention=f"{secret} attention",
        metadata={"note": f"{secret} metadata"},
    )  # fmt: skip
    other.task_set(task, "password", f"{secret} value")
    other.task_decide(task, choice=f"{secret} choice", reasoning=f"{secret} why", tags=[f"{secret}-tag"])
    other.task_plan_append(task, [f"{secret} step"], note=f"{secret} note")
    other.task_item_update(task, "s1", note=f"{secret} note", active_issue=f"{secret} issue")
    other.task_log_action(
        task, f"{secret} action", type="cli", input={"command": f"echo {secret}"}, output=secret,
        error=f"{secret} failed", status="failed", files=[f"/{secret}/file"],
    )  # fmt: skip
    other.task_snapshot(task, f"{secret} context", label=f"{secret} label")
    other.task_intent(task, what=f"{secret} intent")
    other.memory_store(entity="person", key="name", value=secret, category="fact")
    memory.task_update(task, "The build is done.", step="s1", step_status="completed")
    memory.task_remember(task, "the port is 8080")
    memory.task_distill(task)
    return task


def raw(memory) -> dict[str, int]:
    """How often the mark is in each file of the store."""
    return {
        name: Path(name).read_bytes().lower().count(MARK.encode())
        for name in memory.store.files()
        if Path(name).exists()
    }


def everything(memory, task) -> str:
    """All that operations say of a task, and of what others have learned from it."""
    parts = [
        memory.task_get(task), memory.task_get(task, at=3), memory.task_resume(task), memory.task_state(task),
        memory.task_thread(task, limit=500), memory.task_summary(task, detail="full"),
        memory.task_recall(MARK).hits, memory.memory_recall(MARK, history=True), memory.learned_patterns(),
        memory.task_history(task, type="variable"), memory.task_plans(task), memory.task_drill_down(task),
        memory.task_list(status="all", workspace=None, archived=True, kind=None), memory.task_ask(task),
        memory.active_tasks(completed=True), memory.jobs_status(), memory.task_line(task),
        list(memory.events()),
    ]  # fmt: skip
    return "\n".join(map(repr, parts)).lower()


def test_what_came_from_a_session_is_gone_everywhere_and_the_rest_is_as_it_was(memory):
    task = fill(memory)
    assert MARK in everything(memory, task)
    said = memory.acting_as(channel="user").forget("session:leaky")
    assert (said.done, said.tasks, said.token is not None) == (False, 2, True)
    assert MARK in everything(memory, task)
    done = memory.acting_as(channel="user").forget("session:leaky", confirm=said.token)
    assert (done.done, done.events, done.scrubbed) == (True, said.events, True)
    assert MARK not in everything(memory, task)
    assert sum(raw(memory).values()) == 0
    after = memory.task_get(task)
    assert (after.request, after.variables, after.name) == (
        "Deploy it, please.",
        {"region": "eu-west"},
        "[forgotten]",
    )
    assert [note.summary for note in after.notes] == ["the port is 8080"]
    assert memory.verify().problems == ()


def test_nothing_of_it_is_in_any_row_of_any_table(memory, store_url):
    task = fill(memory)
    memory.task_extract(task)
    memory.task_summary(task)
    confirmed(memory, "forget", source="session:leaky")
    for table in TABLES:
        for row in rows(store_url, f"SELECT * FROM {table}"):
            assert MARK not in repr(row).lower(), table


def test_what_others_wrote_but_repeats_it_goes_along_and_is_counted(memory, clock):
    task = memory.task_register("T", ["one"]).task_id
    leaky = memory.acting_as(session="leaky")
    leaky.task_update(task, next=f"{MARK} next")
    memory.task_update(task, "on", next="else")
    memory.task_undo(task)  # sets what the other session had written
    leaky.task_update(task, metadata={"note": MARK})
    memory.task_update(task, "carries", metadata={"mine": "x"})  # metadata are set as a whole
    leaky.task_log_action(
        task,
        f"make {MARK}",
        type="cli",
        input={"command": f"make {MARK}"},
        status="failed",
        error=f"{MARK}: no",
    )
    memory.task_extract(task)  # by another author, from those events
    leaky.smart_wait(f"file:/{MARK}", timeout=1, task_id=task, block=False)
    clock.forward(5)
    memory.wait_status()  # tells how it ended, in the words of the wait
    memory.task_update(task, "not about that at all")
    said = memory.acting_as(channel="user").forget("session:leaky")
    assert said.carried >= 3
    confirmed(memory, "forget", source="session:leaky")
    assert MARK not in everything(memory, task)
    assert "not about that at all" in everything(memory, task)
    assert memory.task_get(task).next_step is None
    assert memory.task_get(task).metadata["mine"] == "x"  # said anew, for it was in the same event
    assert sum(raw(memory).values()) == 0
    assert memory.verify().ok


QUESTIONS = [
    "",
    "why?",
    "What is next?",
    "which commits?",
    "what failed?",
    "what is the plan?",
    "what changed?",
]


def test_a_task_of_which_all_is_forgotten_can_still_be_read_in_every_way(memory, prepared):
    memory.task_plan_replace(prepared, ["Other"], reason="r")
    wait = memory.smart_wait("manual:", task_id=prepared, block=False).wait_id
    memory.task_finish(prepared, "answer")
    confirmed(memory, "forget", source=f"task:{prepared}")
    for name, arguments in READS.items():
        with suppress(RingboltError):  # a step or an event may not be there: that is said, nothing breaks
            getattr(memory.acting_as(channel="user"), name)(
                **({} if name == "task_list" else {"task_id": prepared}), **arguments
            )
    assert all(memory.task_ask(prepared, question).text for question in QUESTIONS)
    assert [one.state for one in memory.wait_status(wait)] == ["cancelled"]
    memory.task_update(prepared, "on again", status="active")
    assert (memory.task_get(prepared).name, memory.verify().problems) == ("[forgotten]", ())


def test_a_task_whose_waits_are_forgotten_goes_on_and_one_that_waits_for_more_does_not(memory):
    other = memory.acting_as(session="leaky")
    task = memory.task_register("Deploy").task_id
    other.smart_wait("manual:", task_id=task, block=False, message=f"{MARK} is asked")
    left = memory.smart_wait("manual:", task_id=task, block=False)
    confirmed(memory, "forget", source="session:leaky")
    found = memory.task_get(task)
    assert (found.status, found.reason, found.metadata["active_wait_ids"]) == (
        "waiting",
        "wait",
        [left.wait_id],
    )
    memory.acting_as(channel="user").wait_update(left.wait_id, message="go")
    assert memory.task_get(task).status == "active"
    only = other.smart_wait("manual:", task_id=task, block=False)
    confirmed(memory, "forget", source="session:leaky")
    found = memory.task_get(task)
    assert (found.status, found.reason, found.metadata["active_wait_ids"]) == ("active", None, [])
    assert memory.wait_status(only.wait_id)[0].state == "cancelled"
    assert memory.jobs_status().kinds == {}
    assert memory.verify().problems == ()


SECRET = "the quokka password is 7771"


def leaked(memory, name: str) -> str:
    """A task of another session in which something was said that is to be forgotten."""
    leaky = memory.acting_as(session="leaky", channel="user")
    task = memory.task_register(name, ["Look", f"Use {MARK}"], request="Deploy it, please.").task_id
    leaky.task_remember(task, f"Now something else: {SECRET} {MARK}", type="user_instruction")
    leaky.task_remember(task, f"{MARK} is in the vault", type="discovery")
    return task


def test_forgetting_follows_what_was_copied_when_a_task_was_split(memory):
    task = leaked(memory, "Deploy")
    at = memory.task_get(task).instructions[0].seq
    new = memory.acting_as(channel="user").task_split(task, at=at).task_id
    assert SECRET in everything(memory, new)
    assert confirmed(memory, "forget", source="session:leaky").tasks == 2
    for one in (task, new):
        assert SECRET not in everything(memory, one)
        assert "vault" not in everything(memory, one)
    assert memory.verify().problems == ()


def test_forgetting_follows_what_was_copied_twice(memory):
    task, other = leaked(memory, "Deploy"), memory.task_register("Tidy").task_id
    at = memory.task_get(task).instructions[0].seq
    new = memory.acting_as(channel="user").task_split(task, at=at).task_id
    memory.task_merge(other, other=new)
    assert SECRET in everything(memory, other)
    assert confirmed(memory, "forget", source=f"event:{task}#{at}").tasks == 3
    assert SECRET not in everything(memory, other)
    assert "vault" in everything(memory, other)  # only that one event was to be forgotten


def test_to_forget_a_copy_is_to_forget_the_original(memory):
    task = leaked(memory, "Deploy")
    at = memory.task_get(task).instructions[0].seq
    new = memory.acting_as(channel="user").task_split(task, at=at).task_id
    confirmed(memory, "forget", source=f"event:{new}#1")
    for one in (task, new):
        assert SECRET not in everything(memory, one)


def test_forgetting_a_task_takes_the_steps_that_another_one_copied(memory):
    gone = memory.task_register("Deploy", ["Look", f"Use {MARK}"]).task_id
    kept = memory.task_register("Tidy", ["Sweep"]).task_id
    memory.task_merge(kept, other=gone)
    assert MARK in everything(memory, kept)
    confirmed(memory, "forget", source=f"task:{gone}")
    assert MARK not in everything(memory, kept)
    assert "Sweep" in [item.title for item in memory.task_get(kept).steps]


def test_a_goal_that_was_made_of_a_task_forgets_with_it(memory):
    task = memory.task_register(
        f"{MARK} task", request=f"{MARK} request", acceptance=[f"{MARK} holds"]
    ).task_id
    goal = memory.goal_promote(task, criteria=["tests pass"]).task_id
    memory.task_update(task, "stuck", blockers=[f"{MARK} is down"])
    confirmed(memory, "forget", source=f"task:{task}")
    assert MARK not in everything(memory, task)
    (status,) = memory.goal_status(goal)
    assert MARK not in repr(status)
    assert [one.text for one in status.criteria] == ["tests pass"]
    assert memory.verify().ok


@pytest.mark.parametrize(
    "source", ["file:/z/leak.txt", "url:https://leak.example/", "text:hunter2!%_", "event"]
)
def test_a_source_is_also_a_file_an_address_a_text_or_one_event(memory, source):
    task = memory.task_register("T", ["one"]).task_id
    memory.task_remember(task, "it is hunter2!%_ there", detail='in "quotes"')
    memory.task_remember(task, "see https://leak.example/page")
    memory.task_log_action(task, "wrote it", files=["/z/leak.txt"])
    memory.task_log_action(task, "wrote another", files=["/z/leak.txt.old"])
    before = {event.seq: event for event in memory.events(task)}
    wanted = {"text:hunter2!%_": 2, "url:https://leak.example/": 3, "file:/z/leak.txt": 4, "event": 5}[source]
    said = confirmed(memory, "forget", source=f"event:{task}#5" if source == "event" else source)
    assert (said.events, said.carried) == (1, 0)
    for event in memory.events(task):
        if event.seq == wanted:
            assert (event.forgotten, event.text, event.data, event.hash) == (
                True, None, {}, before[wanted].hash,
            )  # fmt: skip
        elif event.seq in before:
            assert event == before[event.seq]
    last = memory.task_thread(task, limit=1).events[-1]
    assert (last.type, last.data["events"], last.origin.agent) == ("forgotten", 1, "tester")
    assert memory.verify().ok


def test_a_tombstone_cannot_be_undone_and_later_undoings_bring_nothing_back(memory, task):
    memory.task_update(task, next=f"{MARK} next")
    memory.task_update(task, next="other")
    confirmed(memory, "forget", source=f"event:{task}#2")
    with refused(memory, "not_undoable", naming="forgotten"):
        memory.task_undo(task, 2)
    with refused(memory, "not_undoable"):
        memory.task_undo(task, 4)  # that it was forgotten
    memory.task_undo(task, 3)
    assert memory.task_get(task).next_step is None
    assert MARK not in everything(memory, task)


def test_a_store_with_tombstones_is_exported_imported_and_copied_whole(
    memory, opened, new_store_url, tmp_path
):
    task = fill(memory)
    memory.export_events(tmp_path / "before.jsonl")
    confirmed(memory, "forget", source="session:leaky")
    memory.export_events(tmp_path / "out.jsonl")
    assert MARK not in (tmp_path / "out.jsonl").read_text()
    there = opened(new_store_url())
    there.import_events(tmp_path / "out.jsonl")
    assert list(there.events()) == list(memory.events())
    assert there.task_get(task) == memory.task_get(task)
    assert there.verify().ok
    assert copy_store(memory, opened(new_store_url())).ok
    # An export from before does not bring it back.
    assert memory.import_events(tmp_path / "before.jsonl").added == 0
    assert MARK not in everything(memory, task)
    # And nobody can hide other words behind a tombstone.
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    number = next(
        number for number, one in enumerate(lines) if '"forgotten"' in one and '"next_step":null' in one
    )
    forged = lines[number].replace('"next_step":null', '"next_step":"pay me"')
    (tmp_path / "forged.jsonl").write_text("\n".join([*lines[:number], forged, *lines[number + 1 :]]))
    with refused(None, "import_invalid", naming="forgotten"):
        opened(new_store_url()).import_events(tmp_path / "forged.jsonl")


def test_a_keyed_call_that_was_forgotten_is_not_written_again(memory, task):
    first = memory.task_update(task, f"{MARK} once", key="k")
    confirmed(memory, "forget", source=f"event:{task}#2")
    assert memory.task_update(task, f"{MARK} once", key="k").seq == first.seq
    assert MARK not in everything(memory, task)


def test_tokens_are_for_one_thing_and_a_short_time(memory, task, clock):
    memory.task_update(task, f"{MARK} one")
    with refused(memory, "invalid_argument", naming="without confirm"):
        memory.acting_as(channel="user").forget(f"task:{task}", confirm="yes")
    with refused(memory, "stale_version", naming="does not match"):
        memory.acting_as(channel="user").forget(
            f"task:{task}", confirm=memory.acting_as(channel="user").forget("session:S").token
        )
    token = memory.acting_as(channel="user").forget(f"task:{task}").token
    memory.task_update(task, "two")
    with refused(memory, "stale_version", naming="changed"):
        memory.acting_as(channel="user").forget(f"task:{task}", confirm=token)
    token = memory.acting_as(channel="user").forget(f"task:{task}").token
    clock.forward(601)
    with refused(memory, "stale_version", naming="expired"):
        memory.acting_as(channel="user").forget(f"task:{task}", confirm=token)
    for source, code in [
        ("session:nobody", "record_not_found"), ("nonsense", "invalid_argument"),
        ("text:ab", "invalid_argument"),
        ("session:", "invalid_argument"), ("drop:table", "invalid_argument"), ("task:zzzz", "task_not_found"),
        (f"event:{task}#99", "record_not_found"), (f"event:{task}", "invalid_argument"),
        ("", "invalid_argument"), (5, "invalid_argument"), ("session:%", "record_not_found"),
        ("session:x' OR '1'='1", "record_not_found"),
    ]:  # fmt: skip
        with refused(memory, code):
            memory.acting_as(channel="user").forget(source)


# --- purging ----------------------------------------------------------------------------------------


def old_tasks(memory, clock):
    """Ended and archived, ended, failed, open, and in another workspace; then a hundred days pass."""
    made = {
        name: memory.task_register(f"{MARK} {name}", ["one"]).task_id
        for name in ("archived", "ended", "failed", "open")
    }
    elsewhere = memory.acting_as(workspace="/elsewhere").task_register("there").task_id
    for name in ("archived", "ended"):
        memory.task_finish(made[name], f"{MARK} answer")
    memory.task_finish(made["failed"], error=f"{MARK} error")
    memory.task_finish(elsewhere, "done")
    for task in (made["archived"], elsewhere):
        memory.task_update(task, archived=True)
    clock.forward(100 * 86_400)
    return {**made, "elsewhere": elsewhere}


def ids(memory):
    return {event.task_id for event in memory.events() if event.type != "purged"}


def test_a_policy_purges_what_it_names_and_leaves_a_line_about_each(memory, clock):
    made = old_tasks(memory, clock)
    assert memory.purge(older_than="90d").task_ids == (made["archived"],)
    assert set(memory.purge(older_than="90d", archived=False).task_ids) == {
        made["archived"], made["ended"], made["failed"],
    }  # fmt: skip
    assert memory.purge(older_than="90d", archived=False, status="failed").task_ids == (made["failed"],)
    assert memory.purge(older_than="101d", archived=False).tasks == 0
    assert set(memory.purge(older_than="90d", workspace=None).task_ids) == {
        made["archived"],
        made["elsewhere"],
    }
    done = confirmed(memory, "purge", older_than="90d", archived=False, status=["completed", "failed"])
    assert (done.done, done.tasks, done.scrubbed) == (True, 3, True)
    left = {made["open"], made["elsewhere"]}
    assert {
        card.id for card in memory.task_list(status="all", workspace=None, archived=True, kind="task").tasks
    } == left
    for name in ("archived", "ended", "failed"):
        with refused(memory, "task_not_found"):
            memory.task_get(made[name])
    assert {hit.task_id for hit in memory.task_recall(MARK, workspace=None).hits} == {made["open"]}
    lines = [event for event in memory.events() if event.type == "purged"]
    assert {one.data["task"] for one in lines} == {made["archived"], made["ended"], made["failed"]}
    assert MARK not in repr(lines)
    assert memory.verify().problems == ()
    confirmed(memory, "purge", task_id=made["elsewhere"])
    assert ids(memory) & set(made.values()) == {made["open"]}


def test_a_purge_needs_a_dry_run_and_never_takes_what_is_open_or_held(memory, clock, task):
    made = old_tasks(memory, clock)
    for wanted, code in [
        ({}, "invalid_argument"), ({"older_than": "soon"}, "invalid_time"),
        ({"older_than": "90d", "task_id": task}, "invalid_argument"),
        ({"older_than": "90d", "status": "open"}, "invalid_argument"),
        ({"older_than": "90d", "status": ["completed", "active"]}, "invalid_argument"),
        ({"older_than": "90d", "confirm": "0-0"}, "stale_version"), ({"task_id": task}, "illegal_transition"),
        ({"older_than": "90d", "limit": 0}, "invalid_argument"),
        ({"older_than": "90d", "kind": "facts"}, "unknown_word"),
        ({"older_than": "90d", "confirm": "; drop"}, "invalid_argument"),
    ]:  # fmt: skip
        with refused(memory, code):
            memory.purge(**wanted)
    token = memory.purge(older_than="90d", archived=False).token
    with refused(memory, "stale_version"):
        memory.purge(older_than="90d", archived=False, status="failed", confirm=token)
    memory.task_update(made["ended"], "one more word")
    with refused(memory, "stale_version", naming="changed"):
        memory.purge(older_than="90d", archived=False, confirm=token)
    child = memory.task_register("child", parent=made["archived"]).task_id
    assert memory.purge(older_than="90d").tasks == 0
    with refused(memory, "illegal_transition", naming="parent or goal"):
        memory.purge(task_id=made["archived"])
    memory.task_finish(child, "done")
    assert memory.purge(older_than="90d").tasks == 1


def test_an_import_does_not_bring_back_what_was_purged(memory, clock, tmp_path, opened, new_store_url):
    made = old_tasks(memory, clock)
    memory.export_events(tmp_path / "out.jsonl")
    confirmed(memory, "purge", older_than="90d")
    report = memory.import_events(tmp_path / "out.jsonl")
    assert (report.added, report.purged > 0) == (0, True)
    assert made["archived"] not in ids(memory)
    there = opened(new_store_url())
    assert there.import_events(tmp_path / "out.jsonl").purged == 0


# --- files ------------------------------------------------------------------------------------------


@sqlite_only
def test_the_bytes_are_gone_from_the_store_its_mirrors_and_the_journal(opened, store_url, tmp_path):
    workspace = tmp_path / "work"
    workspace.mkdir()
    memory = opened(store_url, workspace=str(workspace), mirrors="state,resume,active-tasks,bank,states")
    other = opened(store_url, workspace=str(workspace))  # another connection, with pages of its own
    task = fill(memory)
    other.task_recall(MARK)
    memory.close()
    memory = opened(store_url, workspace=str(workspace), mirrors="state,resume,active-tasks,bank,states")

    def found() -> list[str]:
        places = [*workspace.rglob("*"), *tmp_path.glob("stores/*")]
        return [str(one) for one in places if one.is_file() and MARK.encode() in one.read_bytes().lower()]

    journal = Journal.of(path_of(store_url))
    memory.store.catch_up = None  # what waits is to go on waiting
    for session, text in (("leaky", MARK), ("other", "stays")):
        told = {"session_id": session, "prompt": text}
        write_event(
            journal, new_name(session), {"host": "codex", "event": "UserPromptSubmit", "payload": told}
        )
    line = {"id": "3", "host": "codex", "raw": f"{MARK} rubbish", "payload": {"session": "leaky"}}
    journal.reject_content("3.json", line, "it cannot be read")
    files = SideFiles(journal)

    def kept(session):
        names = (compaction_file(session), transcript_file(session), card_file(session_digest(session)))
        return [files.read(name) for name in names]

    for session in ("leaky", "other"):
        for name in (compaction_file(session), transcript_file(session), card_file(session_digest(session))):
            files.set(name, "pending")
    assert len(found()) > 6
    said = confirmed(memory, "forget", source="session:leaky")
    assert (kept("leaky"), kept("other")) == ([""] * 3, ["pending"] * 3)
    assert said.waiting == 2
    assert found() == []
    health = journal_health(journal)
    assert (health.waiting, health.rejected) == (1, 0)
    assert memory.verify().ok
    assert [one.reasons for one in memory.mirrors_status() if one.stale] == []
    memory.task_finish(task, f"{MARK} answer")
    assert found()
    confirmed(memory, "purge", task_id=task)
    assert found() == []


FORGETTING = """
import sys
from ringbolt import TaskMemory
memory = TaskMemory.open(sys.argv[1], workspace="/w", synchronous="off", reserve_bytes=0)
token = memory.acting_as(channel="user").forget("session:leaky").token
print("now", flush=True)
memory.acting_as(channel="user").forget("session:leaky", confirm=token)
print("done", flush=True)
"""


@sqlite_only
@pytest.mark.reliability
def test_one_that_is_killed_while_forgetting_leaves_a_sound_store_and_can_be_repeated(opened, new_store_url):
    finished = 0
    for milliseconds in range(0, 120, 8):
        url = new_store_url()
        memory = opened(url)
        for _ in range(6):
            fill(memory)
        child = subprocess.Popen([sys.executable, "-c", FORGETTING, url], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "now\n"
        with suppress(subprocess.TimeoutExpired):
            child.wait(milliseconds / 1000)
        child.kill()
        finished += child.communicate()[0] == "done\n"
        assert memory.verify().problems == ()
        confirmed(memory, "forget", source="session:leaky")
        assert (memory.verify().problems, sum(raw(memory).values())) == ((), 0)
    assert finished < 15  # else nobody was killed in time


@sqlite_only
def test_copies_of_other_owners_are_named_and_left_alone(memory, task, tmp_path):
    memory.backup(tmp_path / "copy.db")
    kept = memory.acting_as(channel="user").restore(tmp_path / "copy.db")
    assert memory.acting_as(channel="user").forget(f"task:{task}").elsewhere == (kept,)


# --- nothing else -----------------------------------------------------------------------------------

CALLS = [
    lambda memory, task, word: memory.task_update(task, word, next=word),
    lambda memory, task, word: memory.task_update(task, metadata={word: word}),
    lambda memory, task, word: memory.task_set(task, "name", word),
    lambda memory, task, word: memory.task_decide(task, choice=word, tags=[word]),
    lambda memory, task, word: memory.task_plan_append(task, [word]),
    lambda memory, task, word: memory.task_log_action(task, word, files=[f"/{word}"]),
    lambda memory, task, word: memory.task_item_update(task, 1, note=word),
    lambda memory, task, word: memory.task_undo(task),
    lambda memory, task, word: memory.task_exclude(task, what=word, why=word),
]


WRITES = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, len(CALLS) - 1)), min_size=3, max_size=14
)
SLOWLY = {"suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}


@settings(max_examples=4, **SLOWLY)
@given(data=WRITES, purges=st.booleans())
def test_nothing_outside_of_what_was_named_changes(opened, new_store_url, data, purges):
    with opened(new_store_url()) as memory:  # hundreds of open ones would use up the server's connections
        remove_and_compare(memory, data, purges)


@pytest.mark.reliability
@settings(max_examples=200, **SLOWLY)
@given(data=WRITES, purges=st.booleans())
def test_nothing_outside_of_what_was_named_ever_changes(opened, new_store_url, data, purges):
    with opened(new_store_url()) as memory:  # hundreds of open ones would use up the server's connections
        remove_and_compare(memory, data, purges)


def remove_and_compare(memory, data, purges):
    """Let two sessions write to two tasks, forget one of them or purge a task, and compare all the rest."""
    tasks = [memory.task_register(f"task {number}", ["step"]).task_id for number in range(2)]
    for number, (who, which, call) in enumerate(data):
        writer = memory if who else memory.acting_as(session="leaky")
        with suppress(RingboltError):
            CALLS[call](writer, tasks[which], f"word{number}{'own' if who else MARK}")
    if purges:
        memory.task_finish(tasks[0], "done")
    before = {(event.task_id, event.seq): event for event in memory.events()}
    named = (
        {"operation": "purge", "task_id": tasks[0]}
        if purges
        else {"operation": "forget", "source": "session:leaky"}
    )
    other = memory.task_get(tasks[1])
    others = [
        {name: value for name, value in memory.task_get(task).metadata.items() if MARK not in name}
        for task in tasks
    ]
    with suppress(NotFound):  # the session may have written nothing
        said = confirmed(memory, **named)
        gone = 0
        now = {(event.task_id, event.seq): event for event in memory.events()}
        for place, event in before.items():
            if place not in now:
                gone += 1
                assert purges
                assert event.task_id == tasks[0]
            elif now[place].forgotten:
                gone += 1
                assert now[place].hash == event.hash
                assert event.origin.session == "leaky" or MARK in repr(event)
            else:
                assert now[place] == event
        assert gone == said.events + said.carried
        if purges:
            assert memory.task_get(tasks[1]) == other
        else:
            assert MARK not in repr(now)
            assert MARK not in repr([memory.task_get(task) for task in tasks])
            assert [memory.task_get(task).metadata for task in tasks] == others
    assert memory.verify().problems == ()
