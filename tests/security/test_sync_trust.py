"""What another machine sends hides none of the user's words, whatever it claims, unless it has our key."""

from __future__ import annotations

from ringbolt import RingboltError
from tests.security import users_words
from tests.sync.machines import machine, new_remote, settle


def words_lost(tmp_path, **settings):
    """The user's words that cannot be seen any more after another machine, as its user, changed the task."""
    remote = new_remote("folder", tmp_path)
    with machine(tmp_path, "one") as one, machine(tmp_path, "two", **settings) as two:
        user = one.acting_as(channel="user", agent="")
        task, seqs = users_words.prepare(user, one)
        settle((one, two), remote)
        before = users_words.visible(one, task)
        theirs = two.acting_as(channel="user", agent="")
        calls = [
            lambda: theirs.task_note(task, "no", type="decision", replaces=seqs["decision"]),
            lambda: theirs.task_undo(task, seqs["instruction"]),
            lambda: theirs.task_update(task, goal="another", next="another", blockers=[]),
            lambda: theirs.task_set(task, "colour", "grey"),
            lambda: theirs.task_plan_replace(task, ["Another"]),
        ]
        done = 0
        for call in calls:
            try:
                call()
                done += 1
            except RingboltError:
                continue  # their own store refuses it: the words are imports there
        theirs.task_note(task, "A word from the other machine")
        settle((one, two), remote)
        assert "A word from the other machine" in str(one.task_thread(task, limit=1000).events)
        return done, before - users_words.visible(one, task), one.verify().ok


def test_a_machine_with_another_key_hides_nothing(tmp_path):
    done, lost, verified = words_lost(tmp_path, signing_key=str(tmp_path / "key"))
    assert done
    assert verified
    assert not lost


def test_the_same_machine_with_our_key_does(tmp_path):
    """The positive control: the calls are such as hide words."""
    _, lost, _ = words_lost(tmp_path)
    assert {name for _, name in lost} >= {"decision", "goal", "variable"}
