"""Whatever another channel than the user's calls, the user's words stay where they can be seen.

The calls are made of the declarations of the operations, so a new operation is tried without a new line here.
"""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from ringbolt.operations import OPERATIONS
from ringbolt.store.overruling import Overruling
from tests.security import users_words
from tests.support import examples, open_memory

LOWER = ["agent", "tool", "web", "import", "system"]


def lost_words(folder, data, number=4):
    """The calls that were made, and the words that could be seen before them and cannot be seen now."""
    memory = open_memory(f"{folder}/{len(list(folder.iterdir()))}.db")
    with memory:
        user = memory.acting_as(channel="user", agent="")
        task, seqs = users_words.prepare(user, memory)
        before = users_words.visible(memory, task)
        assert {name for _, name in before} == set(users_words.WORDS)  # else it would show nothing
        channel = data.draw(st.sampled_from(LOWER))
        made = data.draw(st.lists(users_words.calls(task, seqs), min_size=1, max_size=number))
        for name, arguments in made:
            users_words.attempt(memory.acting_as(channel=channel), name, arguments)
        if memory.store.read(lambda tx: tx.head(task)) is None:
            return made, before
        return made, before - users_words.visible(memory, task)


@settings(max_examples=examples(30))
@given(st.data())
def test_the_users_words_never_become_fewer_by_a_call_of_another_channel(tmp_path_factory, data):
    made, lost = lost_words(tmp_path_factory.mktemp("stores"), data)
    assert not lost, made


def test_without_the_rule_words_get_lost(tmp_path_factory, monkeypatch):
    """The property can fail: with the rule switched off, the same search finds a call that hides words."""
    monkeypatch.setattr(Overruling, "check_trust", lambda *_: None)

    @seed(1)
    @settings(max_examples=150, database=None, report_multiple_bugs=False, phases=[Phase.generate])
    @given(st.data())
    def search(data):
        made, lost = lost_words(tmp_path_factory.mktemp("stores"), data, number=2)
        assert not lost, made

    with pytest.raises(AssertionError):
        search()


def test_every_operation_that_writes_is_among_the_calls():
    tried = set(OPERATIONS) - users_words.LEFT_OUT
    assert {"task_undo", "task_note", "task_split", "forget", "purge", "wait_update", "goal_decide"} <= tried


@pytest.mark.parametrize("channel", LOWER)
def test_each_operation_alone_hides_nothing(tmp_path, channel):
    """A fixed call of each operation, aimed at the user's words: what chance may miss."""
    memory = open_memory(f"{tmp_path}/store.db")
    user = memory.acting_as(channel="user", agent="")
    task, seqs = users_words.prepare(user, memory)
    before = users_words.visible(memory, task)
    other = memory.acting_as(channel=channel)
    aimed = [("task_undo", {"seq": seq}) for seq in seqs.values()]
    aimed += [("task_note", {"text": "no", "type": "decision", "replaces": seq}) for seq in seqs.values()]
    for name in ("supersedes", "resolves", "invalidates"):
        aimed += [("task_remember", {"summary": "no", name: seq}) for seq in seqs.values()]
        aimed += [("task_remember", {name: seq}) for seq in seqs.values()]
    aimed += [
        ("task_set", {"name": "colour", "value": "grey"}),
        ("task_update", {"goal": "another", "next": "another", "blockers": [], "name": "another"}),
        ("task_update", {"status": "cancelled"}),
        ("task_update", {"archived": True}),
        ("task_finish", {"status": "abandoned"}),
        ("task_plan_replace", {"plan": ["Another"]}),
        ("task_plan_sync", {"steps": ["Another"]}),
        ("task_step_update", {"step": "s2", "status": "cancelled", "title": "Another"}),
        ("task_split", {"at": seqs["later"]}),
        ("wait_cancel", {"wait_id": f"{task}#{seqs['wait']}"}),
        ("task_finish", {"answer": "done"}),
    ]
    # To look for every word takes a while: it is done once for each group of calls that do the same.
    for (name, parameters), calls in groupby(aimed, lambda call: (call[0], sorted(call[1]))):
        made = [arguments for _, arguments in calls]
        for arguments in made:
            own = arguments if name == "wait_cancel" else {"task_id": task, **arguments}
            users_words.attempt(other, name, own)
        lost = before - users_words.visible(memory, task)
        assert not lost, (name, parameters, made)
    memory.close()
