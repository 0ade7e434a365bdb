"""The history itself: undo, events, verify, export, import, backup, restore."""

from __future__ import annotations

import json
import os
import stat

import pytest

from ringbolt import TaskMemory
from ringbolt.model.validate import dumps
from ringbolt.store.hashes import content_digest
from tests.support import (
    contents,
    export_lines,
    foreign_database,
    newest,
    open_memory,
    path_of,
    refused,
    sqlite_only,
)

# --- undo -------------------------------------------------------------------------------------------


def state(memory, task, steps=None) -> dict:
    """A task (with these steps only) without what tells only that something has happened."""
    shown = memory.task_get(task).to_dict()
    for name in ("seq", "version", "updated_at", "timestamps", "messages", "actions"):
        del shown[name]
    for item in shown["steps"]:
        del item["version"], item["cause"]
    shown["steps"] = [item for item in shown["steps"] if steps is None or item["id"] in steps]
    return shown


CHANGES = {
    "message": lambda m, t: m.task_update(t, "hello"),
    "status": lambda m, t: m.task_update(t, status="waiting", reason="r", blockers=["b"], next="n"),
    "name": lambda m, t: m.task_update(t, name="Other", attention="look"),
    "goal": lambda m, t: m.task_update(t, goal="other", metadata={"a": 2, "b": 3}),
    "archived": lambda m, t: m.task_update(t, archived=True),
    "step": lambda m, t: m.task_update(t, "done", step=1, step_status="completed"),
    "item": lambda m, t: m.task_item_update(t, 2, status="active", note="n", title="t", depends_on=["s1"]),
    "finish": lambda m, t: m.task_finish(t, "answer"),
    "fail": lambda m, t: m.task_finish(t, error="broken"),
    "replace": lambda m, t: m.task_plan_replace(t, ["Run", "New"]),
    "variable": lambda m, t: m.task_set(t, "v", 2),
    "new variable": lambda m, t: m.task_set(t, "w", 1),
    "entry": lambda m, t: m.task_remember(t, "x", type="error", tags=["t"]),
    "decision": lambda m, t: m.task_decide(t, choice="y", supersedes=3),
    "close": lambda m, t: m.task_remember(t, resolves=3),
    "outcome": lambda m, t: m.task_outcome(t, intent=4, outcome="did"),
    "file": lambda m, t: m.task_log_action(t, "edit", files=["a.py", "b.py"]),
    "end": lambda m, t: m.task_log_action(t, action=5, status="failed", files=["c.py"]),
    "link": lambda m, t: m.task_link(t, target="a goal", kind="goal"),
    "unlink": lambda m, t: m.task_link(t, target="first goal", kind="goal", remove=True),
}


@pytest.fixture
def begun(memory, task):
    """A task with a variable (#2), a decision (#3), an intent (#4), an action (#5) and a link (#6)."""
    return begin(memory, task)


def begin(memory, task):
    memory.task_set(task, "v", 1)
    memory.task_decide(task, choice="x")
    memory.task_intent(task, what="x")
    memory.task_log_action(task, "x", status="started", files=["a.py"])
    memory.task_link(task, target="first goal", kind="goal")
    memory.task_update(task, metadata={"a": 1})
    return task


FIRST_STEPS = ("s1", "s2", "s3")


def test_a_change_is_undone_and_done_again(memory):
    for name in CHANGES:
        task = memory.task_register("Deploy", ["Build", "Push", "Run"], request="Deploy it, please.").task_id
        is_undone_and_done_again(memory, begin(memory, task), name)
    assert memory.verify().ok


def is_undone_and_done_again(memory, begun, name):
    before = state(memory, begun)
    changed = CHANGES[name](memory, begun)
    after = state(memory, begun)
    assert after != before or name == "message", name
    undone = memory.task_undo(begun, changed.seq, reason="a mistake")
    assert state(memory, begun, FIRST_STEPS) == before
    event = memory.task_thread(begun).events[-1]
    assert (event.type, event.ref, event.text) == ("undone", changed.seq, "a mistake")
    assert memory.verify(begun).ok
    memory.task_undo(begun, undone.seq)
    assert state(memory, begun) == after
    assert memory.verify(begun).ok


def test_steps_that_were_added_are_dropped_and_not_erased(memory, begun):
    added = memory.task_plan_append(begun, ["New"], after="Build")
    memory.task_undo(begun, added.seq)
    assert [item.title for item in memory.task_get(begun).steps if item.dropped_in is None] == [
        "Build",
        "Push",
        "Run",
    ]
    (gone,) = [item for item in memory.task_get(begun).steps if item.title == "New"]
    assert (gone.status, gone.dropped_in) == ("cancelled", 1)
    assert memory.verify().ok


def test_nothing_is_erased_by_undoing(memory, begun):
    before = list(memory.events())
    memory.task_undo(begun)
    assert list(memory.events())[: len(before)] == before


def test_without_a_number_the_last_change_is_undone_and_then_the_one_before(memory, task):
    for name in ("two", "three", "four"):
        memory.task_update(task, name=name)
    found = []
    for _ in range(3):
        memory.task_undo(task)
        found.append(memory.task_get(task).name)
    assert found == ["three", "two", "Deploy"]
    with refused(memory, "record_not_found", naming="nothing to undo"):
        memory.task_undo(task)


def test_a_change_that_was_done_again_is_the_next_to_be_undone(memory, task):
    for name in ("two", "three"):
        memory.task_update(task, name=name)
    undone = memory.task_undo(task)
    memory.task_undo(task, undone.seq)
    assert memory.task_get(task).name == "three"
    memory.task_undo(task)
    assert memory.task_get(task).name == "two"


def test_a_message_can_be_undone_done_again_and_undone(memory, task):
    message = memory.task_update(task, "hello")
    undone = memory.task_undo(task, message.seq)
    memory.task_undo(task, undone.seq)
    assert memory.task_undo(task).seq == 5
    assert memory.task_thread(task).events[-1].ref == message.seq


def test_an_action_on_a_file_with_lines_in_its_name_can_be_undone(memory, task):
    memory.task_log_action(task, "Write it", type="other", files=["notes\n- one"])
    assert [file.path for file in memory.task_get(task).files] == ["notes\n- one"]
    memory.task_undo(task)
    assert memory.task_get(task).files == ()


def test_what_is_undone_already_is_not_undone_again(memory, task):
    changed = memory.task_update(task, name="two").seq
    memory.task_undo(task, changed)
    with refused(memory, "not_undoable", naming=f"#{changed}"):
        memory.task_undo(task, changed)


@pytest.mark.parametrize("call", ["task_claim", "task_focus"])
def test_a_beginning_a_claim_and_a_focus_cannot_be_undone(memory, task, call):
    seq = getattr(memory, call)(task).seq
    for number in (1, seq):
        with refused(memory, "not_undoable", naming=f"#{number}"):
            memory.task_undo(task, number)


LATER = {
    "name": (lambda m, t: m.task_update(t, name="two"), lambda m, t: m.task_update(t, name="three")),
    "status": (lambda m, t: m.task_update(t, status="paused"), lambda m, t: m.task_finish(t)),
    "step": (
        lambda m, t: m.task_item_update(t, 2, status="active"),
        lambda m, t: m.task_item_update(t, 2, status="completed"),
    ),
    "entry": (lambda m, t: m.task_remember(t, resolves=3), lambda m, t: m.task_remember(t, invalidates=3)),
    "variable": (lambda m, t: m.task_set(t, "v", 2), lambda m, t: m.task_set(t, "v", 3)),
    "plan": (
        lambda m, t: m.task_plan_append(t, ["New"]),
        lambda m, t: m.task_item_update(t, "New", status="completed"),
    ),
    "replaced plan": (
        lambda m, t: m.task_plan_replace(t, ["New"]),
        lambda m, t: m.task_item_update(t, "New", status="completed"),
    ),
    "file": (
        lambda m, t: m.task_log_action(t, "make", files=[{"path": "n.py", "change": "created"}]),
        lambda m, t: m.task_log_action(t, "edit", files=["n.py"]),
    ),
    "link": (
        lambda m, t: m.task_link(t, target="second goal", kind="goal"),
        lambda m, t: m.task_link(t, target="second goal", kind="goal", remove=True),
    ),
    "intent": (
        lambda m, t: m.task_intent(t, what="pay"),
        lambda m, t: m.task_outcome(t, intent=m.task_get(t).seq, outcome="did"),
    ),
    "action": (
        lambda m, t: m.task_log_action(t, "pay", status="started"),
        lambda m, t: m.task_log_action(t, action=m.task_get(t).seq),
    ),
    "decision": (
        lambda m, t: m.task_decide(t, choice="y"),
        lambda m, t: m.task_decide(t, choice="z", supersedes=m.task_get(t).seq),
    ),
}


@pytest.fixture
def executing(memory, begun):
    """The same task, at a step, so that no later change begins the execution."""
    memory.task_item_update(begun, 3, status="active")
    return begun


@pytest.mark.parametrize("name", LATER)
def test_what_later_events_build_on_is_not_undone_before_them(memory, executing, name):
    first, second = LATER[name]
    changed = first(memory, executing).seq
    second(memory, executing)
    with refused(memory, "undo_conflict"):
        memory.task_undo(executing, changed)


@pytest.mark.parametrize("name", LATER)
def test_changes_that_build_on_one_another_are_undone_the_last_one_first(memory, executing, name):
    before = state(memory, executing)
    changes = [change(memory, executing).seq for change in LATER[name]]
    for seq in reversed(changes):
        memory.task_undo(executing, seq)
    assert state(memory, executing, FIRST_STEPS) == before
    assert memory.verify().ok


def test_a_conflict_names_the_later_event(memory, task):
    first = memory.task_update(task, name="two").seq
    second = memory.task_update(task, name="three").seq
    with refused(memory, "undo_conflict", naming=f"#{second}") as caught:
        memory.task_undo(task, first)
    assert caught.value.details["later"] == second


def test_an_undo_that_cannot_be_is_refused(memory, task):
    for arguments, code in [
        ({"seq": 99}, "record_not_found"),
        ({"seq": 0}, "invalid_argument"),
        ({"seq": "1"}, "invalid_argument"),
        ({"seq": 2**63}, "invalid_argument"),
        ({"reason": 5}, "invalid_argument"),
        ({"token": 1}, "stale_token"),
    ]:
        memory.task_update(task, "x")
        with refused(memory, code):
            memory.task_undo(task, **arguments)


# --- events and verify ------------------------------------------------------------------------------


def test_all_events_come_task_by_task_the_longest_unchanged_first(memory, clock):
    first, second = memory.task_register("first").task_id, memory.task_register("second").task_id
    for number in range(6):
        clock.forward(1)
        memory.task_update(first if number % 2 else second, f"message {number}")
    told = [event.text for event in memory.events() if event.text]
    assert told == [f"message {n}" for n in (0, 2, 4, 1, 3, 5)]
    assert [event.seq for event in memory.events(first[:6])] == [1, 2, 3, 4]
    assert {event.task_id for event in memory.events(second)} == {second}


def test_events_after_a_number_are_the_later_ones(memory, task):
    last = [memory.task_update(task, f"message {number}").seq for number in range(5)][-1]
    assert [event.text for event in memory.events(task, after=last - 1)] == ["message 4"]
    assert list(memory.events(task, after=last)) == []
    with refused(memory, "invalid_argument"):
        list(memory.events(after=1))


def test_a_store_that_grows_while_its_events_are_read_gives_those_that_were_there(memory, task):
    seen = 0
    for _ in memory.events():
        memory.task_update(task, "one more")
        seen += 1
    assert seen == 1


def test_every_event_is_chained_to_the_one_before(memory, task):
    memory.task_update(task, "same")
    memory.task_update(task, "same")
    hashes = [event.hash for event in memory.events(task)]
    assert len(set(hashes)) == 3
    assert all(len(bytes.fromhex(digest)) == 16 for digest in hashes)


def test_verify_counts_what_it_has_folded(memory, begun):
    memory.task_register("other")
    report = memory.verify()
    assert (report.ok, report.tasks, report.events, report.problems) == (True, 2, 8, ())
    assert memory.verify(begun[:6]).events == 7
    with refused(memory, "task_not_found"):
        memory.verify("zzzzzzzzzz")


# --- export and import ------------------------------------------------------------------------------


@pytest.fixture
def there(opened, new_store_url, memory):
    """A memory on another, empty store."""
    return opened(new_store_url())


def export(memory, tmp_path, name="export.jsonl"):
    path = tmp_path / name
    memory.export_events(path)
    return path


def grown(memory, clock) -> list[str]:
    """Tasks to which a lot has happened."""
    ids = [
        memory.task_register(f"Task {n}", ["A", "B", "C"], request=f"Request {n}").task_id for n in range(3)
    ]
    for number, task in enumerate(ids):
        clock.forward(60)
        for name, change in CHANGES.items():
            if name not in ("decision", "close", "outcome", "end", "finish", "fail"):
                change(memory, task)
        memory.task_update(task, "é 😀 \u200b\x1b[2J \u2028", key=f"key {number}")
        memory.task_claim(task)
        memory.task_undo(task)
    return ids


def test_an_export_has_one_line_for_each_event_and_says_what_it_is(memory, task, tmp_path):
    memory.task_update(task, "hello")
    path = tmp_path / "export.jsonl"
    assert memory.export_events(path) == 2
    header, first, second = [json.loads(line) for line in path.read_text().splitlines()]
    assert header == {"ringbolt": "events", "version": 1}
    assert (first["task"], first["seq"], first["type"]) == (task, 1, "task.registered")
    assert (second["text"], second["seq"]) == ("hello", 2)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert os.listdir(tmp_path).count("export.jsonl.part") == 0


def test_an_export_can_be_of_one_task(memory, task, tmp_path):
    memory.task_register("other")
    memory.task_update(task, "hello")
    assert memory.export_events(tmp_path / "one.jsonl", task[:7]) == 2
    assert {json.loads(line)["task"] for line in (tmp_path / "one.jsonl").read_text().splitlines()[1:]} == {
        task
    }


def test_an_import_of_an_export_gives_an_equal_store(memory, there, clock, tmp_path):
    ids = grown(memory, clock)
    path = export(memory, tmp_path)
    report = there.import_events(path)
    events = len(list(memory.events()))
    assert (report.events, report.added, report.known) == (events, events, 0)
    assert (set(report.tasks), report.conflicts) == (set(ids), ())
    assert contents(there) == contents(memory)
    assert export(there, tmp_path, "again.jsonl").read_bytes() == path.read_bytes()
    assert there.verify().ok
    assert [card.id for card in there.task_list().tasks] == [card.id for card in memory.task_list().tasks]


def test_an_imported_task_goes_on_where_it_was(memory, there, clock, tmp_path):
    (task, *_) = grown(memory, clock)
    there.import_events(export(memory, tmp_path))
    first = memory.task_update(task, "é 😀 \u200b\x1b[2J \u2028", key="key 0")
    assert there.task_update(task, "é 😀 \u200b\x1b[2J \u2028", key="key 0") == first
    assert there.task_update(task, "and on").seq == memory.task_get(task).seq + 1
    assert there.verify().ok


def test_importing_twice_adds_nothing(memory, there, clock, tmp_path):
    grown(memory, clock)
    path = export(memory, tmp_path)
    there.import_events(path)
    before = contents(there)
    report = there.import_events(path)
    assert (report.added, report.known, report.tasks, report.conflicts) == (0, report.events, (), ())
    assert contents(there) == before
    assert memory.import_events(path).added == 0


def test_a_store_that_grew_brings_the_other_up_to_date(memory, there, clock, tmp_path):
    (task, *_) = grown(memory, clock)
    there.import_events(export(memory, tmp_path))
    memory.task_update(task, "later")
    new = memory.task_register("new").task_id
    report = there.import_events(export(memory, tmp_path))
    assert (report.added, set(report.tasks), report.conflicts) == (2, {task, new}, ())
    assert contents(there) == contents(memory)


def test_stores_with_different_tasks_become_one(memory, there, clock, tmp_path):
    ours, theirs = grown(memory, clock), grown(there, clock)
    memory.import_events(export(there, tmp_path, "there.jsonl"))
    there.import_events(export(memory, tmp_path))
    assert contents(memory)[1] == contents(there)[1]
    assert {task.id for task in contents(there)[1]} == {*ours, *theirs}
    assert memory.verify().ok
    assert there.verify().ok


@pytest.fixture
def apart(memory, there, task, tmp_path):
    """A task that two stores continued differently after #3."""
    memory.task_update(task, "shared")
    memory.task_set(task, "version", "v1")
    there.import_events(export(memory, tmp_path))
    memory.task_update(task, "ours", step=1, step_status="completed")
    there.task_update(task, "theirs", name="Their name")
    there.task_set(task, "version", "v2")
    return task


def test_where_two_stores_went_apart_both_sides_are_kept_and_the_conflict_is_reported(
    memory, there, apart, tmp_path
):
    ours, theirs = memory.task_get(apart), there.task_get(apart)
    report = memory.import_events(export(there, tmp_path))
    (conflict,) = report.conflicts
    assert (conflict.task_id, conflict.seq) == (apart, 4)
    assert (report.events, report.known, report.added) == (5, 3, 2)
    assert memory.task_get(apart) == ours
    kept = memory.task_get(conflict.kept_as)
    assert kept == theirs.replace(id=conflict.kept_as, conflict_of=apart)
    assert [event.hash for event in memory.events(kept.id)] == [event.hash for event in there.events(apart)]
    assert memory.verify().ok


def test_importing_a_conflict_again_adds_nothing(memory, there, apart, tmp_path):
    path = export(there, tmp_path)
    (conflict,) = memory.import_events(path).conflicts
    before = contents(memory)
    report = memory.import_events(path)
    assert (report.added, report.known) == (0, 5)
    assert {again.kept_as for again in report.conflicts} <= {conflict.kept_as}
    assert contents(memory) == before


def test_the_kept_side_of_a_conflict_goes_on_when_the_other_store_grows(memory, there, apart, tmp_path):
    (conflict,) = memory.import_events(export(there, tmp_path)).conflicts
    there.task_update(apart, "theirs goes on", step=2, step_status="active")
    there.task_decide(apart, choice="x")
    ours = memory.task_get(apart)
    report = memory.import_events(export(there, tmp_path))
    assert (report.added, report.tasks) == (2, (conflict.kept_as,))
    assert memory.task_get(apart) == ours
    assert memory.task_get(conflict.kept_as) == there.task_get(apart).replace(
        id=conflict.kept_as, conflict_of=apart
    )
    assert memory.verify().ok


def test_both_stores_know_both_sides_after_importing_each_other(memory, there, apart, tmp_path):
    ours, theirs = export(memory, tmp_path, "ours.jsonl"), export(there, tmp_path, "theirs.jsonl")
    memory.import_events(theirs)
    there.import_events(ours)
    both = [{task.variables["version"] for task in contents(store)[1]} for store in (memory, there)]
    assert both == [{"v1", "v2"}, {"v1", "v2"}]
    assert there.verify().ok


def test_an_export_with_a_conflict_in_it_is_imported_whole(
    memory, there, apart, opened, new_store_url, tmp_path
):
    memory.import_events(export(there, tmp_path))
    third = opened(new_store_url())
    report = third.import_events(export(memory, tmp_path, "both.jsonl"))
    assert report.conflicts == ()
    assert contents(third) == contents(memory)
    assert third.verify().ok


@pytest.mark.timeout(20)
def test_a_conflict_of_the_conflict_is_kept_too(memory, there, apart, tmp_path):
    (conflict,) = memory.import_events(export(there, tmp_path)).conflicts
    memory.task_update(conflict.kept_as, "taken up here")
    there.task_update(apart, "and there")
    report = memory.import_events(export(there, tmp_path))
    assert len(list(memory.task_list(status="all").tasks)) == 3
    assert {task.seq for task in contents(memory)[1]} == {4, 6}
    kept = memory.task_get(report.conflicts[-1].kept_as)
    assert [event.text for event in memory.events(kept.id)][-1] == "and there"
    assert memory.verify().ok


def test_a_conflict_leaves_the_current_task_of_a_session_alone(opened, new_store_url, tmp_path):
    ours = opened(new_store_url())
    sessions = [ours.acting_as(session=f"session {number}") for number in range(8)]
    ids = [session.task_register("shared").task_id for session in sessions]
    theirs = opened(new_store_url())
    theirs.import_events(export(ours, tmp_path))
    for task in ids:
        ours.task_update(task, "ours")
        theirs.task_update(task, "theirs")
    ours.import_events(export(theirs, tmp_path))
    assert [session.task_get().id for session in sessions] == ids


# --- imports that are refused -----------------------------------------------------------------------


def edited(lines: list[str], number: int, **changes) -> str:
    """An export in which one line is another (numbered from 1); None removes a field."""
    fields = {**json.loads(lines[number - 1]), **changes}
    line = json.dumps({name: value for name, value in fields.items() if value is not None})
    return "".join([*lines[: number - 1], line + "\n", *lines[number:]])


@pytest.fixture
def lines(memory, task, tmp_path):
    """The lines of an export: header, registered, message, variable, decision."""
    memory.acting_as(correlation="c").task_update(task, "hello", step=1)
    memory.task_set(task, "version", "v1")
    memory.task_decide(task, choice="x")
    return export_lines(memory, tmp_path / "good.jsonl")


def refused_import(there, path, text: str | bytes, line: int) -> None:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if not newest(there):
        there.task_register("already here")
    with refused(there, "import_invalid", naming=f"ine {line}") as caught:
        there.import_events(path)
    assert caught.value.details["line"] == line


EDITS = {
    "text": {"text": "HELLO"},
    "no text": {"text": None},
    "type": {"type": "decision"},
    "time": {"at": "2020-01-01T00:00:00.000Z"},
    "step": {"step": "s2"},
    "reference": {"ref": 1},
    "data": {"data": {"x": 1}},
    "sets": {"sets": {"heads": {"name": "Stolen"}}},
    "who": {"origin": {"principal": "root", "agent": "tester", "session": "S"}},
    "channel": {"origin": {"principal": "owner", "agent": "tester", "channel": "user", "session": "S"}},
    "correlation": {"correlation": "d"},
    "hash": {"hash": "00" * 16},
    "short hash": {"hash": "00"},
    "no hash": {"hash": None},
    "bad hash": {"hash": "xyz"},
    "number": {"seq": 3},
    "zero": {"seq": 0},
    "true": {"seq": True},
    "huge": {"seq": 2**63},
    "no number": {"seq": None},
    "task": {"task": "../../etc"},
    "short task": {"task": "abc"},
    "table": {"sets": {"sqlite_master": {"x": 1}}},
    "column": {"sets": {"heads": {"last_seq": 7}}},
    "injection": {"sets": {"heads": {"name = 1; --": 7}}},
    "shape": {"sets": [1]},
    "rows": {"sets": {"steps": 5}},
    "unknown channel": {"origin": {"channel": "root"}},
    "unknown origin": {"origin": {"colour": "red"}},
    "text that is none": {"text": ["hello"]},
}


def test_a_line_that_was_edited_is_refused_by_its_number_and_nothing_is_written(there, lines, tmp_path):
    for name in EDITS:
        refused_import(there, tmp_path / "bad.jsonl", edited(lines, 3, **EDITS[name]), 3)


BROKEN = {
    "cut": lambda lines: ("".join(lines)[:-20], 5),
    "no json": lambda lines: ("".join([*lines[:2], "{not json}\n", *lines[3:]]), 3),
    "empty line": lambda lines: ("".join([*lines[:2], "\n", *lines[2:]]), 3),
    "a list": lambda lines: ("".join([*lines[:2], "[]\n", *lines[2:]]), 3),
    "null": lambda lines: ("".join([*lines[:2], "null\n", *lines[2:]]), 3),
    "a line is missing": lambda lines: ("".join([*lines[:2], *lines[3:]]), 3),
    "a line comes twice": lambda lines: ("".join([*lines[:3], *lines[2:]]), 4),
    "two lines changed places": lambda lines: ("".join([*lines[:2], lines[3], lines[2], lines[4]]), 3),
    "a line of another task": lambda lines: (edited(lines, 3, task="zzzzzzzzzz"), 4),
    "no header": lambda lines: ("".join(lines[1:]), 1),
    "another format": lambda lines: ('{"ringbolt":"backup","version":1}\n', 1),
    "a newer format": lambda lines: ("".join(['{"ringbolt":"events","version":2}\n', *lines[1:]]), 1),
    "not utf-8": lambda lines: (b"".join([lines[0].encode(), b"\xff\xfe\n"]), 2),
    "depth": lambda lines: ("".join([*lines[:2], "[" * 10_000 + "]" * 10_000 + "\n"]), 3),
    "NaN": lambda lines: (
        "".join([*lines[:2], lines[2].replace('"data":{', '"data":{"x":NaN,'), *lines[3:]]),
        3,
    ),
}


def test_a_file_that_was_damaged_is_refused_by_the_number_of_its_line(there, lines, tmp_path):
    for name in BROKEN:
        text, line = BROKEN[name](lines)
        refused_import(there, tmp_path / "bad.jsonl", text, line)


def test_the_undamaged_file_is_imported(there, lines, tmp_path):
    assert there.import_events(tmp_path / "good.jsonl").added == 4


def test_an_empty_file_is_not_an_export(there, tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with refused(there, "import_invalid"):
        there.import_events(tmp_path / "empty.jsonl")


def test_content_cannot_be_forged_by_calling_it_forgotten(memory, there, lines, tmp_path):
    original = json.loads(lines[2])
    row = {"text": original["text"], "data": dumps(original["data"]), "sets": None}
    forged = edited(lines, 3, text="FORGED", forgotten=content_digest(row).hex())
    refused_import(there, tmp_path / "forged.jsonl", forged, 3)


def test_a_piece_of_a_task_is_refused_where_the_rest_of_it_is_not(there, lines, tmp_path):
    refused_import(there, tmp_path / "piece.jsonl", "".join([lines[0], *lines[3:]]), 2)


def test_a_piece_of_a_task_is_imported_where_the_rest_of_it_is(memory, there, task, lines, tmp_path):
    there.import_events(tmp_path / "good.jsonl")
    memory.task_update(task, "later")
    all_lines = export_lines(memory, tmp_path / "all.jsonl")
    (tmp_path / "piece.jsonl").write_text("".join([all_lines[0], *all_lines[4:]]))
    assert there.import_events(tmp_path / "piece.jsonl").added == 1
    assert there.task_get(task) == memory.task_get(task)


def test_a_long_import_that_is_refused_at_its_end_has_written_nothing(memory, there, task, tmp_path):
    other = memory.task_register("other").task_id
    for number in range(1100):
        memory.task_update(task, f"message {number}")
    memory.task_update(other, "its second event")
    lines = export_lines(memory, tmp_path / "good.jsonl")
    beheaded = [line for line in lines if f'"task":"{other}"' not in line or '"seq":2' in line]
    (tmp_path / "bad.jsonl").write_text("".join(beheaded))
    with refused(there, "import_invalid"):
        there.import_events(tmp_path / "bad.jsonl")


def test_a_piece_that_does_not_fit_what_is_here_has_written_nothing(memory, there, task, tmp_path):
    other = memory.task_register("other").task_id
    there.import_events(export(memory, tmp_path))
    for number in range(1100):
        memory.task_update(task, f"message {number}")
    memory.task_update(other, "ours")
    memory.task_update(other, "ours again")
    there.task_update(other, "theirs")
    lines = export_lines(memory, tmp_path / "whole.jsonl")
    last = [line for line in lines if f'"task":"{other}"' in line and '"seq":3' in line]
    rest = [line for line in lines if f'"task":"{other}"' not in line]
    assert len(last) == 1
    (tmp_path / "piece.jsonl").write_text("".join([*rest, *last]))
    with refused(there, "import_invalid", naming=f"ine {len(rest) + 1}"):
        there.import_events(tmp_path / "piece.jsonl")


# --- backup and restore -----------------------------------------------------------------------------


@sqlite_only
def test_a_backup_is_a_whole_store_for_its_owner_alone(memory, begun, tmp_path):
    copy = tmp_path / "backups" / "copy.db"
    memory.backup(copy)
    with open_memory(str(copy)) as again:
        assert contents(again) == contents(memory)
        assert again.verify().ok
    assert stat.S_IMODE(os.stat(copy).st_mode) == 0o600
    assert not copy.with_name("copy.db.part").exists()


@sqlite_only
def test_a_backup_takes_the_place_of_an_older_one(memory, task, tmp_path):
    memory.backup(tmp_path / "copy.db")
    memory.task_update(task, "later")
    memory.backup(str(tmp_path / "copy.db"))
    with open_memory(str(tmp_path / "copy.db")) as again:
        assert again.task_get(task).messages == 1


@sqlite_only
def test_what_a_broken_backup_left_behind_does_not_spoil_the_next(memory, task, tmp_path):
    (tmp_path / "copy.db.part").write_bytes(b"half a backup" * 1000)
    memory.backup(tmp_path / "copy.db")
    with open_memory(str(tmp_path / "copy.db")) as again:
        assert contents(again) == contents(memory)


@sqlite_only
def test_a_restore_brings_back_what_was_and_keeps_what_is(memory, task, tmp_path):
    before = contents(memory)
    memory.backup(tmp_path / "copy.db")
    memory.task_update(task, "after the backup")
    memory.task_register("after the backup")
    after = contents(memory)
    kept = memory.acting_as(channel="user").restore(tmp_path / "copy.db")
    assert contents(memory) == before
    assert memory.verify().ok
    with open_memory(kept) as old:
        assert contents(old) == after
    memory.task_update(task, "life goes on")
    assert memory.verify().ok


@sqlite_only
def test_every_restore_keeps_its_own_copy(memory, task, tmp_path):
    memory.backup(tmp_path / "copy.db")
    kept = {memory.acting_as(channel="user").restore(str(tmp_path / "copy.db")) for _ in range(3)}
    assert len(kept) == 3
    assert all(os.path.exists(path) for path in kept)


@sqlite_only
def test_others_who_have_the_store_open_see_what_was_restored(memory, task, store_url, opened, tmp_path):
    other = opened(store_url)
    memory.backup(tmp_path / "copy.db")
    other.task_update(task, "after the backup")
    memory.acting_as(channel="user").restore(tmp_path / "copy.db")
    assert other.task_get(task).messages == 0
    assert other.task_update(task, "again").seq == 2
    assert memory.task_get(task).messages == 1


@sqlite_only
def test_a_backup_can_be_restored_into_another_store(memory, there, task, tmp_path):
    memory.backup(tmp_path / "copy.db")
    there.acting_as(channel="user").restore(tmp_path / "copy.db")
    assert contents(there) == contents(memory)


@sqlite_only
def test_backup_and_restore_read_the_users_folder_alike(memory, task, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    memory.backup("~/copy.db")
    assert (tmp_path / "copy.db").exists()
    memory.task_update(task, "later")
    memory.acting_as(channel="user").restore("~/copy.db")
    assert memory.task_get(task).messages == 0


def test_export_and_import_read_the_users_folder_alike(memory, task, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    memory.export_events("~/export.jsonl")
    assert (tmp_path / "export.jsonl").exists()
    assert memory.import_events("~/export.jsonl").known == 1


@sqlite_only
def test_a_file_that_is_not_a_backup_is_not_restored(memory, task, tmp_path):
    (tmp_path / "text.db").write_text("no database at all, " * 100)
    with refused(memory, "store_corrupt", naming="text.db"):
        memory.acting_as(channel="user").restore(tmp_path / "text.db")
    (tmp_path / "empty.db").write_text("")
    with refused(memory, "not_a_store", naming="empty.db"):
        memory.acting_as(channel="user").restore(tmp_path / "empty.db")
    with refused(memory, "store_unavailable", naming="nowhere.db"):
        memory.acting_as(channel="user").restore(tmp_path / "nowhere.db")


@sqlite_only
@pytest.mark.parametrize("version", [0, 1, 7])
def test_a_database_of_another_program_is_not_restored(memory, task, tmp_path, version):
    path = foreign_database(tmp_path / "foreign.db", version)
    with refused(memory, "not_a_store", naming="foreign.db"):
        memory.acting_as(channel="user").restore(path)


@sqlite_only
def test_a_store_does_not_lose_itself_when_it_is_restored_from_itself(memory, task, store_url):
    before = contents(memory)
    memory.acting_as(channel="user").restore(path_of(store_url))
    assert contents(memory) == before


@pytest.mark.parametrize(
    "call",
    [
        lambda memory, folder: memory.task_get("a"),
        lambda memory, folder: memory.task_get("a", at=1),
        lambda memory, folder: memory.task_update("a", "x"),
        lambda memory, folder: memory.task_heartbeat("a"),
        lambda memory, folder: memory.verify(),
        lambda memory, folder: list(memory.events()),
        lambda memory, folder: memory.export_events(folder / "new.jsonl"),
        lambda memory, folder: memory.import_events(folder / "export.jsonl"),
    ],
    ids="get at update heartbeat verify events export import".split(),
)
def test_a_memory_that_was_closed_does_nothing_more(memory, task, tmp_path, call):
    memory.export_events(tmp_path / "export.jsonl")
    memory.close()
    memory.close()
    with refused(None, "store_closed"):
        call(memory, tmp_path)
    assert [name for name in os.listdir(tmp_path) if name.startswith("new")] == []


@sqlite_only
def test_a_closed_memory_can_neither_back_up_nor_restore(memory, task, tmp_path):
    memory.backup(tmp_path / "copy.db")
    memory.close()
    with refused(None, "store_closed"):
        memory.backup(tmp_path / "new.db")
    with refused(None, "store_closed"):
        memory.acting_as(channel="user").restore(tmp_path / "copy.db")
    assert [name for name in os.listdir(tmp_path) if name.startswith("new")] == []


def test_a_memory_closes_itself_at_the_end_of_a_block(store_url):
    with TaskMemory.open(store_url, workspace=None) as memory:
        memory.task_register("x")
    with refused(None, "store_closed"):
        memory.task_list()


def test_two_stores_that_merged_into_each_other_hold_the_same_histories(memory, there, apart, tmp_path):
    """Each side knows its own history again when it comes back as the other one's conflict."""
    memory.import_events(export(there, tmp_path))
    there.import_events(export(memory, tmp_path))
    assert len(there.task_list(status="all").tasks) == 2

    def histories(store):
        ids = [card.id for card in store.task_list(status="all").tasks]
        return {tuple(event.hash for event in store.events(task)) for task in ids}

    assert histories(memory) == histories(there)
    assert memory.import_events(export(there, tmp_path)).added == 0
    assert there.import_events(export(memory, tmp_path)).added == 0
