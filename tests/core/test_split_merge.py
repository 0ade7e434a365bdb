"""Splitting a task at an instruction, merging two tasks, and undoing both."""

from __future__ import annotations

import random

import pytest

from ringbolt import TaskMemory
from ringbolt.model.errors import Conflict, InvalidInput, NotFound

FIRST = "Round the invoices to cents."
SECOND = "Now translate the manual into German."


@pytest.fixture
def story(memory):
    """A task with two requests, each with a plan, entries and work of its own."""
    return _story(memory)


def _story(memory):
    user = memory.acting_as(channel="user")
    task = user.task_register("Round invoices", ["Find it", "Fix it"], request=FIRST).task_id
    memory.task_item_update(task, "s1", status="completed")
    memory.task_decide(task, choice="Decimal", reasoning="floats lose cents")
    memory.task_set(task, "version", "1")
    memory.task_update(task, next="Run the tests")
    user.task_remember(task, "Never touch the ledger.", type="user_instruction")
    at = user.task_remember(task, SECOND, type="user_instruction", tags=["request", "previous open"]).seq
    memory.task_plan_append(task, ["Read the manual", "Translate it"])
    memory.task_item_update(task, "s3", status="completed", note="12 pages")
    memory.acting_as(channel="web").task_plan_append(task, ["Check the words"])
    memory.task_decide(task, choice="formal", title="Form of address", item="s4", relevance_to=["s4"])
    memory.task_exclude(task, what="machine translation", why="clumsy", signature="mt")
    memory.task_set(task, "version", "2")
    memory.task_set(task, "language", "de")
    memory.task_intent(task, what="Upload the draft", verify="curl it")
    user.task_remember(task, "Use short sentences.", type="user_instruction")
    memory.task_remember(task, "Which dialect?", type="question")
    memory.task_log_action(task, "Wrote the first page", status="completed", item="s4")
    memory.task_update(task, next="Translate page two")
    return task, at


def _state(memory, task_id):
    """What a task is like, without seqs and times and tombstones."""
    task = memory.task_get(task_id)

    def entries(some):
        return [(one.type, one.summary, one.status, one.key, one.tags, one.origin.channel) for one in some]

    return {
        "card": [
            getattr(task, name)
            for name in (
                "name status phase reason kind done total current next next_step blockers session goal"
                " request variables archived parent plan_version metadata"
            ).split()
        ],
        "items": [
            (one.id, one.ordinal, one.title, one.status, one.note, one.depends_on, one.stage)
            for one in task.steps
            if one.dropped_in is None
        ],
        **{
            name: entries(getattr(task, name))
            for name in "decisions exclusions errors questions instructions notes".split()
        },
        "effects": [(one.what, one.status, one.verify) for one in task.effects],
        "links": [(one.kind, one.target) for one in task.links],
        "files": [one.path for one in task.files],
        "requests": [(one.text, one.status) for one in task.requests],
        "sources": {name: source.channel for name, source in task.sources.items()},
    }


def _summaries(entries):
    return [entry.summary for entry in entries]


def test_a_task_knows_its_requests(memory, story):
    task, at = story
    requests = memory.task_get(task).requests
    assert [(one.seq, one.text, one.status) for one in requests] == [
        (1, FIRST, "open"),
        (at, SECOND, "current"),
    ]
    third = memory.acting_as(channel="user").task_remember(
        task, "Next: fix the logo.", type="user_instruction", tags=["request", "previous finished"]
    )
    assert [one.status for one in memory.task_get(task).requests] == ["open", "finished", "current"]
    memory.task_finish(task, "all done")
    assert memory.task_get(task).requests[-1].status == "finished"
    assert memory.task_get(task, at=third.seq).requests[-1].status == "current"


def test_a_split_moves_what_came_after_the_instruction(memory, story):
    task, at = story
    last = memory.task_get(task).seq
    written = memory.acting_as(channel="user").task_split(task, at=at)
    new = memory.task_get(written.task_id)
    assert written.task_id != task
    assert (written.status, written.done, written.total) == ("active", 1, 3)
    assert new.request == SECOND
    assert new.sources["request"].channel == "user"
    assert memory.task_event(new.id, 1).data["from"] == f"{task}#{at}"
    assert [(one.title, one.status, one.note) for one in new.steps] == [
        ("Read the manual", "completed", "12 pages"),
        ("Translate it", "pending", None),
        ("Check the words", "pending", None),
    ]
    assert [one.sources["title"].channel for one in new.steps] == ["agent", "agent", "web"]
    assert _summaries(new.decisions) == ["Form of address"]
    assert (new.decisions[0].step, new.decisions[0].relevance_to) == ("s4", ("s4",))
    assert new.decisions[0].data["from"].startswith(f"{task}#")
    assert [(one.summary, one.key) for one in new.exclusions] == [("machine translation", "mt")]
    assert _summaries(new.questions) == ["Which dialect?"]
    assert [(one.summary, one.origin.channel) for one in new.instructions] == [
        ("Use short sentences.", "user")
    ]
    assert new.variables == {"version": "2", "language": "de"}
    assert [(one.what, one.verify) for one in new.effects] == [("Upload the draft", "curl it")]
    assert new.next_step == "Translate page two"
    assert new.phase == "executing"
    assert any(f"{task}#{at}-{last}" in note.summary for note in new.notes)
    assert new.actions == 0

    old = memory.task_get(task)
    live = [one for one in old.steps if one.dropped_in is None]
    assert [(one.title, one.status) for one in live] == [
        ("Find it", "completed"),
        ("Fix it", "pending"),
        ("Read the manual", "completed"),
    ]
    moved = next(one for one in old.steps if one.title == "Translate it")
    assert (moved.status, moved.note) == ("cancelled", f"Moved to task {new.id}.")
    assert _summaries(old.decisions) == ["Decimal"]
    assert (old.exclusions, old.questions, old.effects) == ((), (), ())
    assert _summaries(old.instructions) == ["Never touch the ledger."]
    assert old.variables == {"version": "1"}
    assert [(one.text, one.status) for one in old.requests] == [(FIRST, "current")]
    assert old.next_step is None
    assert old.actions == 1
    gone = next(e for e in memory.task_history(task, type="user_instruction") if e.seq == at)
    assert (gone.status, gone.replaced_by) == ("superseded", last + 1)
    assert [(link.kind, link.target) for link in old.links] == [("related", new.id)]
    assert [(link.kind, link.target) for link in new.links] == [("related", task)]
    assert memory.verify().ok


def test_the_session_goes_on_with_the_new_task(memory):
    agent = memory.acting_as(session="tuesday")
    task, at = _story(agent)
    new = agent.task_split(at=at).task_id
    assert agent.task_get().id == new
    assert agent.task_get(new).session == "tuesday"
    agent.task_undo()
    assert agent.task_get().id == task


def test_a_session_that_has_turned_elsewhere_stays_there(memory):
    agent = memory.acting_as(session="tuesday")
    task, at = _story(agent)
    elsewhere = agent.task_register("Something else").task_id
    agent.task_split(task, at=at)
    assert agent.task_get().id == elsewhere


def test_a_given_name_is_the_callers_and_the_request_stays_the_users(memory, story):
    task, at = story
    new = memory.task_get(
        memory.acting_as(channel="user").task_split(task, at=at, name="German manual").task_id
    )
    assert new.name == "German manual"
    assert new.sources["name"].channel == "user"
    assert new.sources["request"].channel == "user"
    assert "draft" not in new.metadata


@pytest.mark.parametrize("side", ["old", "new"])
def test_undoing_a_split_restores_both_tasks(memory, story, side):
    task, at = story
    before = _state(memory, task)
    new = memory.acting_as(channel="user").task_split(task, at=at).task_id
    split = _state(memory, task), _state(memory, new)
    memory.acting_as(channel="user").task_undo(task if side == "old" else new)
    assert _state(memory, task) == before
    undone = memory.task_get(new)
    assert (undone.status, undone.reason) == ("superseded", "split undone")
    assert (undone.decisions, undone.total, undone.links) == ((), 0, ())
    with pytest.raises(Conflict, match="already undone"):
        memory.acting_as(channel="user").task_undo(
            new, memory.task_thread(task).events[-1].ref if side == "none" else _pair(memory, new)
        )
    # The undo can itself be undone, from either side.
    memory.acting_as(channel="user").task_undo(new, memory.task_get(new).seq)
    assert (_state(memory, task), _state(memory, new)) == split
    memory.acting_as(channel="user").task_undo(task)
    assert _state(memory, task) == before
    assert memory.verify().ok


def _pair(memory, task_id):
    """The seq of the event by which a task was split off."""
    events = memory.task_thread(task_id, limit=1000).events
    return next(event.seq for event in events if event.type == "task.split")


def test_a_split_is_not_undone_once_the_new_task_has_gone_on(memory, story):
    task, at = story
    new = memory.acting_as(channel="user").task_split(task, at=at).task_id
    memory.task_update(new, "Page two is done.")
    with pytest.raises(Conflict) as error:
        memory.acting_as(channel="user").task_undo(task)
    assert error.value.code == "undo_conflict"
    assert "task_merge" in error.value.hint
    memory.task_merge(task, other=new)
    merged = memory.task_get(task)
    assert [one.text for one in merged.requests] == [FIRST, SECOND]
    assert merged.variables == {"version": "2", "language": "de"}
    assert memory.task_get(new).status == "superseded"
    assert memory.verify().ok


def test_a_split_is_written_once_for_a_key(memory, story):
    task, at = story
    first = memory.acting_as(channel="user").task_split(task, at=at, key="k")
    assert memory.acting_as(channel="user").task_split(task, at=at, key="k") == first
    with pytest.raises(Conflict) as error:
        memory.acting_as(channel="user").task_split(task, at=at + 1, key="k")
    assert error.value.code == "key_reused"
    assert len(memory.task_list().tasks) == 2


def test_a_split_needs_an_instruction_of_the_user(memory, story):
    task, at = story
    agents = memory.task_remember(task, "Do not stop.", type="user_instruction").seq
    for wrong in (1, 2, at + 1, agents):
        with pytest.raises(InvalidInput) as error:
            memory.acting_as(channel="user").task_split(task, at=wrong)
        assert f"#{at}" in error.value.hint
    with pytest.raises(NotFound):
        memory.acting_as(channel="user").task_split(task, at=1000)
    memory.acting_as(channel="user").task_split(task, at=at)
    with pytest.raises(InvalidInput):
        memory.acting_as(channel="user").task_split(task, at=at)


def test_ended_archived_and_goals_are_refused(memory, story):
    task, at = story
    other = memory.task_register("Other").task_id
    goal = memory.task_register("A goal", kind="goal").task_id
    with pytest.raises(InvalidInput, match="goal"):
        memory.acting_as(channel="user").task_split(goal, at=1)
    with pytest.raises(InvalidInput, match="goal"):
        memory.task_merge(task, other=goal)
    with pytest.raises(InvalidInput, match="itself"):
        memory.task_merge(task, other=task)
    elsewhere = memory.task_register("Elsewhere", workspace="/elsewhere").task_id
    with pytest.raises(InvalidInput, match="different workspaces"):
        memory.task_merge(task, other=elsewhere)
    with pytest.raises(NotFound):
        memory.task_merge(task, other="zzzzzzzzzz")
    memory.task_finish(other, "done")
    with pytest.raises(Conflict, match="completed"):
        memory.task_merge(task, other=other)
    with pytest.raises(Conflict, match="completed"):
        memory.task_merge(other, other=task)
    memory.acting_as(channel="user").task_update(task, archived=True)
    with pytest.raises(Conflict, match="archived"):
        memory.acting_as(channel="user").task_split(task, at=at)


@pytest.fixture
def pair(memory):
    """Two tasks that should be one."""
    return _two(memory)


def _two(memory):
    user = memory.acting_as(channel="user")
    one = user.task_register("Round invoices", ["Find it", "Fix it"], request=FIRST).task_id
    memory.task_set(one, "version", "1")
    memory.task_set(one, "owner", "ann")
    two = user.task_register("Translate", ["Read it", "Write it"], request=SECOND).task_id
    memory.task_item_update(two, "s1", status="completed")
    memory.task_decide(two, choice="formal", item="s2")
    memory.task_set(two, "version", "2")
    memory.task_set(one, "owner", "bob")
    memory.task_intent(two, what="Upload the draft")
    user.task_remember(two, "Use short sentences.", type="user_instruction")
    user.task_remember(two, "Now French.", type="user_instruction", tags=["request", "previous finished"])
    memory.task_log_action(two, "Wrote", status="completed")
    return one, two


def test_a_merge_takes_the_other_task_in(memory, pair):
    one, two = pair
    last = memory.task_get(two).seq
    written = memory.task_merge(one, other=two)
    assert (written.task_id, written.total) == (one, 3)
    task = memory.task_get(one)
    assert [(request.text, request.status) for request in task.requests] == [
        (FIRST, "open"),
        (SECOND, "finished"),
        ("Now French.", "current"),
    ]
    assert [(entry.summary, entry.origin.channel) for entry in task.instructions] == [
        (SECOND, "user"),
        ("Use short sentences.", "user"),
        ("Now French.", "user"),
    ]
    assert task.instructions[0].data["from"] == f"{two}#1"
    assert [(item.id, item.title, item.status) for item in task.steps] == [
        ("s1", "Find it", "pending"),
        ("s2", "Fix it", "pending"),
        ("s3", "Write it", "pending"),
    ]
    assert task.decisions[0].step == "s3"
    assert task.variables == {"version": "2", "owner": "bob"}
    assert [effect.what for effect in task.effects] == ["Upload the draft"]
    assert any(f"{two}#1-{last}" in note.summary for note in task.notes)
    assert [(link.kind, link.target) for link in task.links] == [("supersedes", two)]
    assert memory.task_get(two).status == "superseded"
    assert memory.verify().ok


@pytest.mark.parametrize("side", [0, 1])
def test_undoing_a_merge_restores_both_tasks(memory, pair, side):
    one, two = pair
    before = _state(memory, one), _state(memory, two)
    memory.task_merge(one, other=two)
    merged = _state(memory, one), _state(memory, two)
    memory.acting_as(channel="user").task_undo(pair[side])
    assert (_state(memory, one), _state(memory, two)) == before
    memory.acting_as(channel="user").task_undo(pair[1 - side], memory.task_get(pair[1 - side]).seq)
    assert (_state(memory, one), _state(memory, two)) == merged
    memory.acting_as(channel="user").task_undo(one)
    assert (_state(memory, one), _state(memory, two)) == before
    assert memory.verify().ok


def test_after_a_merge_is_undone_the_next_undo_goes_to_what_was_before_it(memory, pair):
    one, two = pair
    memory.task_merge(one, other=two)
    memory.acting_as(channel="user").task_undo(one)
    memory.acting_as(channel="user").task_undo(one)
    assert memory.task_get(one).variables == {"version": "1", "owner": "ann"}


def test_the_session_of_the_other_task_turns_to_the_merged_one(memory):
    agent = memory.acting_as(session="tuesday")
    one, two = _two(agent)
    assert agent.task_get().id == two
    agent.task_merge(one, other=two)
    assert agent.task_get().id == one
    agent.acting_as(channel="user").task_undo(one)
    assert agent.task_get().id == two


def test_a_merge_takes_no_task_away_from_the_session_that_asks(memory):
    agent = memory.acting_as(session="tuesday")
    own = agent.task_register("Mine").task_id
    other = memory.acting_as(session="monday").task_register("Theirs").task_id
    written = agent.task_merge(other=other)
    assert written.task_id == own
    assert "task_focus" in written.warnings[0]
    assert agent.task_get().id == own


def test_a_turn_to_another_session_does_not_stop_the_undo(memory):
    agent = memory.acting_as(session="tuesday")
    one, two = _two(agent)
    agent.task_merge(one, other=two)
    memory.acting_as(session="wednesday").task_focus(one)
    memory.acting_as(channel="user").task_undo(one)
    assert memory.task_get(one).session == "wednesday"
    assert memory.task_get(two).status == "active"


def test_a_merge_is_written_once_for_a_key(memory, pair):
    one, two = pair
    first = memory.task_merge(one, other=two, key="k")
    assert memory.task_merge(one, other=two, key="k") == first
    assert len(memory.task_get(one).instructions) == 3


def test_time_travel_sees_both_sides(memory, story):
    task, at = story
    before = memory.task_get(task)
    new = memory.acting_as(channel="user").task_split(task, at=at).task_id
    memory.task_merge(task, other=new)
    then = memory.task_get(task, at=before.seq)
    assert then.variables == before.variables
    assert [item.id for item in then.steps] == [item.id for item in before.steps]
    assert _summaries(then.instructions) == _summaries(before.instructions)
    assert memory.task_plans(new)[0].version == 1


def test_what_a_merge_copies_answers_no_question(memory, pair):
    """The user's words were said on the other task, before anybody asked here."""
    one, two = pair
    user = memory.acting_as(channel="user")
    user.task_remember(two, "Use the short names.", type="user_instruction")
    memory.task_remember(one, "Which names shall I use?", type="question")
    asked = _summaries(memory.task_get(one).questions)
    memory.task_merge(one, other=two)
    assert "Use the short names." in _summaries(memory.task_get(one).instructions)
    assert _summaries(memory.task_get(one).questions) == asked
    assert "Which names shall I use?" in asked


def test_an_export_holds_both_tasks_and_can_still_be_undone(memory, story, tmp_path):
    task, at = story
    before = _state(memory, task)
    new = memory.acting_as(channel="user").task_split(task, at=at).task_id
    memory.export_events(tmp_path / "all.jsonl")
    with TaskMemory.open(tmp_path / "other.db", workspace=None) as other:
        other.import_events(tmp_path / "all.jsonl")
        assert _state(other, new) == _state(memory, new)
        other.acting_as(channel="user").task_undo(new)
        assert _state(other, task) == before
        assert other.verify().ok
    memory.export_events(tmp_path / "one.jsonl", task)
    with TaskMemory.open(tmp_path / "half.db", workspace=None) as half:
        half.import_events(tmp_path / "one.jsonl")
        with pytest.raises(Conflict) as error:
            half.acting_as(channel="user").task_undo(task)
        assert error.value.code == "not_undoable"


@pytest.mark.parametrize("seed", range(6))
def test_whatever_was_recorded_a_split_and_a_merge_can_be_undone(memory, seed):
    """Random histories of two tasks, split at a random instruction, merged, and undone in between."""
    chance = random.Random(seed)
    user = memory.acting_as(channel="user")
    tasks = [user.task_register(f"Task {n}", ["A", "B"], request=f"Do {n}.").task_id for n in range(2)]
    said: list[int] = []
    for number in range(60):
        task = chance.choice(tasks)
        steps = [item.id for item in memory.task_get(task).steps if item.dropped_in is None]
        match chance.randrange(9):
            case 0:
                written = user.task_remember(task, f"Say {number}.", type="user_instruction")
                said += [written.seq] if task == tasks[0] else []
            case 1:
                tags = ["request", chance.choice(["previous finished", "previous open"])]
                written = user.task_remember(task, f"Ask {number}.", type="user_instruction", tags=tags)
                said += [written.seq] if task == tasks[0] else []
            case 2:
                memory.task_plan_append(task, [f"Step {number}"], after=chance.choice(steps or [None]))
            case 3:
                if steps:
                    status = chance.choice(["active", "completed", "skipped"])
                    memory.task_update(task, step=chance.choice(steps), step_status="pending")
                    memory.task_update(task, "moves", step=chance.choice(steps), step_status=status)
            case 4:
                memory.task_set(task, chance.choice("xyz"), number)
            case 5:
                known = [entry.seq for entry in memory.task_get(task).decisions]
                old = chance.choice([None, *known])
                memory.task_decide(task, choice=f"Choice {number}", supersedes=old)
            case 6:
                memory.task_plan_replace(task, [f"Plan {number}", "A", "B"])
            case 7:
                memory.task_update(task, next=f"Next {number}", blockers=[f"Blocker {number}"])
            case _:
                memory.task_intent(task, what=f"Effect {number}")
    standing = {entry.seq for entry in memory.task_get(tasks[0]).instructions}
    before = [_state(memory, task) for task in tasks]
    for at in chance.sample(sorted(standing & set(said)), 2):
        new = memory.acting_as(channel="user").task_split(tasks[0], at=at).task_id
        split = [_state(memory, task) for task in (*tasks, new)]
        memory.task_merge(tasks[0], other=tasks[1])
        memory.acting_as(channel="user").task_undo(chance.choice(tasks))
        assert [_state(memory, task) for task in (*tasks, new)] == split
        memory.acting_as(channel="user").task_undo(chance.choice([tasks[0], new]))
        assert [_state(memory, task) for task in tasks] == before
    assert memory.verify().ok
