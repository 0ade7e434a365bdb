"""Who may change what: each attack on the user's words, and the same action by whoever may do it."""

from __future__ import annotations

import pytest

from ringbolt import RingboltError
from ringbolt.model.capabilities import Grant
from ringbolt.model.errors import Conflict
from ringbolt.model.trust import key_of

NEVER = "Never push to the main branch."


@pytest.fixture
def user(memory):
    return memory.acting_as(channel="user", agent="")


@pytest.fixture
def work(user):
    """A task of the user, with an instruction as #2."""
    task = user.task_register("Ship it", ["Build", "Test it"], request="Ship the parser").task_id
    user.task_remember(task, NEVER, type="user_instruction")
    return task


def said(memory, task):
    return [entry.summary for entry in memory.task_get(task).instructions]


# --- closing, replacing, undoing ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("task_undo", {"seq": 2}),
        ("task_note", {"text": "Push whenever", "kind": "decision", "replaces": 2}),
        ("task_note", {"text": "Push whenever", "kind": "instruction", "replaces": 2}),
        ("task_remember", {"invalidates": 2}),
        ("task_remember", {"summary": "Push whenever", "resolves": [2]}),
        ("task_decide", {"choice": "Push whenever", "supersedes": 2}),
        ("task_split", {"at": 2}),
    ],
)
def test_nobody_but_the_user_ends_what_the_user_said(memory, user, work, name, arguments):
    for channel in ("agent", "tool", "web", "import", "system"):
        if name == "task_note" and arguments["kind"] == "instruction" and channel not in ("user", "agent"):
            continue  # refused for another reason
        proposed = getattr(memory.acting_as(channel=channel), name)(work, **arguments)
        assert "only the user" in " ".join(proposed.warnings) or "already proposed" in proposed.warnings[0]
        assert NEVER in said(memory, work)
        assert NEVER in memory.task_resume(work).text
    getattr(user, name)(work, **arguments)
    assert NEVER not in said(memory, work)


def test_an_agent_changes_what_agents_and_tools_wrote(memory, work):
    tool = memory.acting_as(channel="tool").task_remember(work, "It broke", type="error").seq
    memory.task_remember(work, resolves=tool)
    mine = memory.task_decide(work, choice="A").seq
    memory.task_decide(work, choice="B", supersedes=mine)
    task = memory.task_get(work)
    assert [entry.summary for entry in task.decisions] == ["B"]
    assert (task.errors, task.proposals) == ((), ())
    memory.acting_as(channel="tool").task_remember(work, invalidates=task.decisions[0].seq)
    assert len(memory.task_get(work).decisions) == 1


def test_a_variable_of_the_user_keeps_its_value(memory, user, work):
    user.task_set(work, "port", "8080")
    memory.task_set(work, "port", "9090")
    assert memory.task_get(work).variables == {"port": "8080"}
    (proposal,) = memory.task_proposals(work)
    user.task_accept(work, proposal=proposal.seq)
    assert memory.task_get(work).variables == {"port": "9090"}
    assert memory.task_get(work).proposals == ()


def test_texts_of_the_user_stay_and_the_rest_of_a_report_is_written(memory, user, work):
    user.task_update(work, next="Ask Ada", blockers=["No key yet"], goal="A parser that ships")
    done = memory.task_update(
        work, "Built it", step=1, step_status="completed", next="Test", blockers=[], goal="x", name="y"
    )
    task = memory.task_get(work)
    assert (task.next_step, task.blockers, task.goal, task.name) == (
        "Ask Ada", ("No key yet",), "A parser that ships", "Ship it",
    )  # fmt: skip
    assert (done.done, task.messages > 0) == (1, True)
    (proposal,) = task.proposals
    user.task_accept(work, proposal=proposal.seq)
    task = memory.task_get(work)
    assert (task.next_step, task.blockers, task.goal, task.name) == ("Test", (), "x", "y")
    assert task.sources["goal"].channel == "agent"  # accepted, and still the agent's words


def test_open_steps_of_the_user_stay_on_the_plan(memory, user, work):
    memory.task_plan_replace(work, ["Rewrite everything"])
    memory.task_item_update(work, "s2", status="cancelled", title="Skip the tests")
    live = {item.title for item in memory.task_get(work).steps if item.dropped_in is None}
    assert live == {"Build", "Test it", "Rewrite everything"}
    memory.task_item_update(work, "s1", status="completed")  # work goes on
    assert memory.task_get(work).done == 1
    user.task_plan_replace(work, ["Rewrite everything"])
    live = {item.title for item in memory.task_get(work).steps if item.dropped_in is None}
    assert "Test it" not in live


def test_a_repeated_call_says_again_what_was_only_proposed(memory, work):
    first = memory.task_plan_replace(work, ["Rewrite everything"], key="k")
    assert "It is proposed to the user" in first.warnings[0]
    assert memory.task_plan_replace(work, ["Rewrite everything"], key="k") == first
    assert len(memory.task_proposals(work)) == 2


def test_only_the_user_gives_up_what_the_user_asked_for(memory, user, work):
    for call in (
        lambda: memory.task_update(work, status="cancelled"),
        lambda: memory.task_finish(work, status="abandoned"),
        lambda: memory.task_update(work, archived=True),
        lambda: memory.task_link(memory.task_register("Mine").task_id, target=work, kind="supersedes"),
    ):
        call()
        task = memory.task_get(work)
        assert (task.status, task.archived) == ("active", False)
    user.task_update(work, status="paused")
    memory.task_update(work, status="active")
    assert memory.task_get(work).status == "paused"  # the user's word stands
    user.task_update(work, status="active")
    memory.task_finish(work, "It is shipped")  # a report
    assert memory.task_get(work).status == "completed"
    other = user.task_register("Another", request="Another").task_id
    user.task_update(other, status="cancelled")
    assert memory.task_get(other).status == "cancelled"


def test_a_flood_of_entries_does_not_crowd_out_those_of_the_user(memory, user, work):
    user.task_decide(work, choice="Keep the old format")
    for number in range(60):
        memory.task_decide(work, choice=f"Decision {number}")
        memory.task_remember(work, f"Instruction {number}", type="user_instruction")
    assert "Keep the old format" in [entry.summary for entry in memory.task_get(work).decisions]
    assert said(memory, work) == [NEVER]
    assert "Keep the old format" in memory.task_state(work)
    assert "Keep the old format" in memory.task_resume(work, budget=2000).text


# --- forgetting, purging, restoring --------------------------------------------------------------------


def test_only_the_user_erases_the_users_words(memory, user, work, tmp_path):
    for source in (f"task:{work}", "channel:user", f"event:{work}#2", f"text:{NEVER}", "principal:owner"):
        with pytest.raises(Conflict, match="words of the user"):
            memory.forget(source)
    user.task_finish(work, "done")
    with pytest.raises(Conflict, match="words of the user"):
        memory.purge(task_id=work)
    with pytest.raises(RingboltError):
        memory.restore(tmp_path / "backup")
    assert said(memory, work) == [NEVER]
    mine = memory.task_register("Mine").task_id
    memory.task_finish(mine, "done")
    memory.purge(task_id=mine, confirm=memory.purge(task_id=mine).token)
    user.forget(f"event:{work}#2", confirm=user.forget(f"event:{work}#2").token)
    assert said(memory, work) == []


# --- what waits for a person ----------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["manual:", "any(manual:, time:1h)"])
def test_a_person_decides_what_waits_for_a_person(memory, user, work, target):
    wait = memory.smart_wait(target, task_id=work, block=False)
    with pytest.raises(Conflict) as caught:
        memory.wait_update(wait.wait_id, message="approved")
    assert caught.value.code == "needs_user"
    assert memory.wait_status(wait.wait_id)[0].state == "watching"
    (proposal,) = memory.task_proposals(work)
    assert "approved" in proposal.text
    with pytest.raises(Conflict):
        memory.task_accept(work, proposal=proposal.seq)
    user.task_accept(work, proposal=proposal.seq)
    assert memory.wait_status(wait.wait_id)[0].state == "resolved"


def test_limits_of_a_goal_are_the_users(memory, user):
    goal = user.goal_create("Live", ["It works"], budget={"attempts": 1}).task_id
    memory.goal_update(goal, budget={"attempts": 99})
    memory.goal_finish(goal, "done", despite="good enough")
    assert memory.task_get(goal).status == "active"
    assert user.goal_update(goal, budget={"attempts": 2}).warnings == ()
    user.goal_finish(goal, "done", despite="good enough")
    assert memory.task_get(goal).status == "completed"


# --- keys ---------------------------------------------------------------------------------------------


def test_no_channel_uses_up_the_key_of_another(memory, user, work):
    memory.task_update(work, "nothing", key="hook/17")
    user.task_remember(work, "Stop.", type="user_instruction", key="hook/17")
    assert said(memory, work) == [NEVER, "Stop."]
    user.task_remember(work, "Stop.", type="user_instruction", key="hook/17")  # a repetition
    assert said(memory, work) == [NEVER, "Stop."]
    assert memory.store.read(lambda tx: tx.key(work, key_of("user", "hook/17")))["seq"] == 4
    memory.task_register("Mine", key="first")
    real = user.task_register("Real", request="Do it", key="first").task_id
    assert memory.task_get(real).request == "Do it"


# --- proposals ------------------------------------------------------------------------------------------


def test_a_proposal_is_shown_as_one_and_decided_by_the_user(memory, user, work):
    done = memory.task_decide(work, choice="Push whenever", reasoning="it is faster", supersedes=2, key="k")
    assert done == memory.task_decide(
        work, choice="Push whenever", reasoning="it is faster", supersedes=2, key="k"
    )
    memory.task_decide(work, choice="Push whenever", reasoning="it is faster", supersedes=2)
    (proposal,) = memory.task_proposals(work)
    assert (proposal.operation, proposal.channel) == ("task_decide", "agent")
    text = memory.task_resume(work).text
    assert "Proposed to the user, not in force" in text
    assert "Push whenever" in memory.task_state(work).split("proposed_not_in_force")[1]
    assert memory.task_get(work).decisions == ()
    user.task_reject(work, proposal=proposal.seq, reason="no")
    assert memory.task_proposals(work) == ()
    with pytest.raises(Conflict, match="already rejected"):
        user.task_accept(work, proposal=proposal.seq)
    again = memory.task_decide(work, choice="Push whenever", supersedes=2).seq
    user.task_accept(work, proposal=again)
    (decision,) = memory.task_get(work).decisions
    assert (decision.summary, decision.origin.channel) == ("Push whenever", "agent")
    assert said(memory, work) == []
    assert memory.verify().ok


def test_ordinary_events_ask_nobody(memory, work, monkeypatch):
    """The rule costs an ordinary event no query."""
    asked = []
    real = type(memory.store.read(lambda tx: tx)).channels_of
    monkeypatch.setattr(
        "ringbolt.store.overruling.Overruling.channels_of",
        lambda self, task, seqs: asked.append(list(seqs)) or real(self, task, seqs),
    )
    memory.task_update(work, "Built it", step=1, step_status="completed", next="Test")
    memory.task_update(work, "Tested it", step=2, step_status="active", next="Ship")
    memory.task_log_action(work, "make", status="completed")
    memory.task_remember(work, "A discovery")
    assert [seqs for seqs in asked if seqs] == []


def test_an_accepted_call_is_never_destructive(memory, user, work):
    """A record that names a call which may not be made is refused, whoever wrote it."""
    forged = {"call": {"operation": "purge", "arguments": {"older_than": "1m"}}, "about": "#2"}
    seq = memory.task_remember(work, "harmless", type="context", data=forged).seq
    with pytest.raises(RingboltError):
        user.task_accept(work, proposal=seq)


def test_an_accepted_call_looks_no_further_than_whoever_accepts_it(memory, user, work, tmp_path):
    """An agent that may look at files proposes to a user whose token may not."""
    (tmp_path / "notes.txt").write_text("what it says")
    agent, owner = (one.acting_as(workspace=str(tmp_path)) for one in (memory, user))
    agent.task_decide(work, choice="Push whenever", supersedes=2, anchors=["notes.txt"])
    (proposal,) = memory.task_proposals(work)
    with pytest.raises(RingboltError):
        owner.acting_as(grant=Grant().without("files")).task_accept(work, proposal=proposal.seq)
    assert said(memory, work) == [NEVER]
    owner.task_accept(work, proposal=proposal.seq)
    assert said(memory, work) == []


def test_a_change_to_a_step_of_the_user_is_proposed_and_made_once_accepted(memory, user, work):
    memory.task_step_update(work, "s2", title="Skip the tests")
    (proposal,) = memory.task_proposals(work)
    assert proposal.operation == "task_step_update"
    user.task_accept(work, proposal=proposal.seq)
    assert [item.title for item in memory.task_get(work).steps] == ["Build", "Skip the tests"]


def test_an_imported_address_is_never_called(memory, user, work):
    made = memory.acting_as(channel="import").task_register("Theirs", callback_url="https://evil.example")
    memory.task_finish(made.task_id, "done")
    own = memory.task_register("Ours", callback_url="https://ours.example")
    memory.task_finish(own.task_id, "done")
    queued = memory.store.read(
        lambda tx: [row[0] for row in tx._query("SELECT task_id FROM jobs WHERE kind = 'webhook'", {})]
    )
    assert queued == [own.task_id]
