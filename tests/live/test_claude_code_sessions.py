"""Claude Code, the program itself: which task each of several sessions works on, and what it is told."""

from __future__ import annotations

import json

import pytest

from tests.live.model_servers import Asked, Call, Turn, calls, refuses, says
from tests.live.programs import ClaudeCode, actions, command_that_hangs, release, wait_until

pytestmark = pytest.mark.hosts

INVOICES = "Round the invoices to whole cents."
NOTES = "Write the release notes for version 3."
PACKET = "Recorded state of a task, kept by Ringbolt"
NOTE, REGISTER, RESUME = (f"mcp__ringbolt__task_{name}" for name in ("note", "register", "resume"))


@pytest.fixture
def claude(tmp_path, server):
    claude = ClaudeCode(tmp_path, server)
    claude.install("--user")
    return claude


def decides(text: str) -> Turn:
    return calls(NOTE, kind="decision", text=text, why="the tests say so")


def results(asked: Asked) -> list[dict]:
    """What tools gave, as the model reads it."""
    contents = [message["content"] for message in asked.body["messages"]]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [part for part in parts if part["type"] == "tool_result"]


def assert_nothing_refused(claude: ClaudeCode) -> None:
    answers = {json.dumps(one) for asked in claude.server.script.main() for one in results(asked)}
    assert not [one for one in answers if '"is_error": true' in one or "ambiguous" in one]


def decided(task) -> list[str]:
    return [entry.summary for entry in task.decisions]


def done(claude: ClaudeCode, task) -> list[str]:
    """The commands that were run for a task."""
    with claude.memory() as memory:
        return [command for _, command, _ in actions(list(memory.events(task.id)))]


def packet(asked: Asked) -> str:
    """The last packet that the model can read."""
    _, found, text = asked.text.rpartition(PACKET)
    assert found, "no packet reached the model"
    return text.partition("</ringbolt")[0]


def test_in_the_second_session_a_call_without_an_id_is_about_its_own_task(claude):
    script = claude.server.script
    script.turns = [calls("Bash", command="echo one"), says("The invoices are rounded.")]
    claude.run(INVOICES)
    script.turns = [decides("Markdown"), calls(RESUME), says("They are written.")]
    claude.run(NOTES)
    answer = json.dumps(results(script.main()[-1])[-1])
    assert NOTES in answer
    assert INVOICES not in answer
    tasks = claude.tasks()
    assert {name: decided(task) for name, task in tasks.items()} == {INVOICES: [], NOTES: ["Markdown"]}
    # A session that has ended leaves its task at rest.
    assert {(task.status, task.reason) for task in tasks.values()} == {("paused", "session ended")}
    assert_nothing_refused(claude)
    assert not claude.unwritten()


def test_registering_after_work_has_begun_gives_the_draft_its_plan(claude):
    script = claude.server.script
    script.turns = [
        calls("Bash", command="echo one"),
        calls(REGISTER, name="Rounding", plan=["Find it", "Round it"], request="Round all invoices."),
        decides("half up"),
        calls("Bash", command="echo two"),
        says("Half of it is done."),
    ]
    with claude.conversation() as session:
        session.say(INVOICES)
        session.say("/compact")
        session.say("How far is it?")
        session.end()
    told = packet(script.main()[-1])
    for part in (INVOICES, "Rounding", "Find it", "Round it", "half up", "echo one", "echo two"):
        assert part in told
    (task,) = claude.tasks().values()
    assert (task.name, task.request) == ("Rounding", INVOICES)
    assert [step.title for step in task.steps] == ["Find it", "Round it"]
    assert decided(task) == ["half up"]
    assert done(claude, task) == ["echo one", "echo two"]
    assert [event.type for event in claude.events()].count("task.registered") == 1
    assert_nothing_refused(claude)


@pytest.mark.parametrize("apart", [False, True], ids=["one folder", "two worktrees"])
def test_two_sessions_at_once_have_a_task_each(claude, apart):
    other = claude.worktree("notes") if apart else claude.work
    script = claude.server.script
    with command_that_hangs(claude.work) as (command, began), claude.conversation() as first:
        script.talks[INVOICES] = [
            calls("Bash", command=command),
            decides("half up"),
            calls(RESUME),
            calls("Bash", command="echo one"),
            says("Rounded."),
        ]
        script.talks[NOTES] = [decides("Markdown"), calls("Bash", command="echo two"), says("Written.")]
        first.ask(INVOICES)
        wait_until(began.exists, "the first session is at work")
        with claude.conversation(work=other) as second:
            second.say(NOTES)
            release(claude.work)
            first.answer()
            script.talks[NOTES] = [decides("one page"), calls(RESUME), says("Shorter now.")]
            second.say("Keep it short.")
            live = [session for session in claude.sessions() if session.is_live(0.0)]
            assert sorted(session.workspace or "" for session in live) == sorted(
                map(str, (claude.work, other))
            )
            second.end()
        first.end()
    tasks = claude.tasks()
    assert set(tasks) == {INVOICES, NOTES}
    assert decided(tasks[INVOICES]) == ["half up"]
    assert decided(tasks[NOTES]) == ["Markdown", "one page"]
    assert done(claude, tasks[INVOICES]) == [command, "echo one"]
    assert done(claude, tasks[NOTES]) == ["echo two"]
    for own, foreign in ((INVOICES, "Markdown"), (NOTES, "half up")):
        answer = json.dumps(results(script.main(own)[-1]))
        assert own in answer
        assert foreign not in answer
    assert_nothing_refused(claude)


def killed_at_work(claude: ClaudeCode) -> None:
    """A session that was killed in the middle of its work."""
    with command_that_hangs(claude.work) as (command, began), claude.conversation() as session:
        claude.server.script.turns = [
            calls(REGISTER, name="Rounding", plan=["Find it", "Round it"]),
            calls("Bash", command=command),
        ]
        session.ask(INVOICES)
        wait_until(began.exists, "the command has begun")
        session.kill()


def test_another_session_takes_over_the_task_of_one_that_was_killed(claude):
    killed_at_work(claude)
    script = claude.server.script
    old = claude.tasks()[INVOICES].id
    script.turns = [
        calls(RESUME, task_id=old),
        calls("Bash", command="echo two"),
        decides("half up"),
        says("It goes on."),
    ]
    with claude.conversation() as session:
        session.say("Look after the task with the invoices that was left.")
        session.say("/compact")
        session.say("What is next?")
    assert "Find it" in packet(script.main()[-1])
    assert old in packet(script.main()[-1])
    task = claude.tasks()[INVOICES]
    assert decided(task) == ["half up"]
    assert "echo two" in done(claude, task)
    # What the user said went along, and the draft that was made of it is gone.
    said = [entry.summary for entry in task.instructions]
    assert said == ["Look after the task with the invoices that was left.", "What is next?"]
    with claude.memory() as memory:
        assert [one.id for one in memory.task_list().tasks] == [old]
    assert_nothing_refused(claude)


def test_a_prompt_takes_over_the_task_that_it_names(claude):
    killed_at_work(claude)
    script = claude.server.script
    script.turns = [decides("half up"), calls("Bash", command="echo two"), says("It goes on.")]
    claude.run("Continue with the invoices.")
    (task,) = claude.tasks().values()
    assert task.name == "Rounding"
    assert decided(task) == ["half up"]
    assert "echo two" in done(claude, task)
    assert [entry.summary for entry in task.instructions] == ["Continue with the invoices."]
    assert_nothing_refused(claude)


@pytest.mark.parametrize("begin", ["New task: write the", "Now something completely different: write the"])
def test_after_a_compaction_a_new_topic_comes_before_the_old_one(claude, begin):
    script = claude.server.script
    new = f"{begin} release notes for version 3."
    with claude.conversation() as session:
        script.turns = [calls("Bash", command="echo one"), says("All done: the invoices are rounded.")]
        session.say(INVOICES)
        script.turns = [calls("Bash", command="echo two"), says("I am reading the history.")]
        session.say(new)
        session.say("/compact")
        session.say("Go on.")
        session.end()
    (task,) = claude.tasks().values()
    (asked,) = task.instructions
    assert asked.summary == new
    assert asked.tags == ("previous finished", "request")
    assert "release notes" in task.name
    told = packet(script.main()[-1])
    assert told.index(f"| {new}") < told.index(INVOICES)


def test_background_work_is_in_the_packet_after_a_compaction(claude):
    script = claude.server.script
    helper = {
        "description": "Count the files",
        "prompt": "Count them by their kind.",
        "subagent_type": "general-purpose",
        "run_in_background": True,
    }
    shell = {"command": "sleep 600", "run_in_background": True}
    with command_that_hangs(claude.work) as (command, began), claude.conversation() as session:
        script.talks["Sort the files"] = [
            Turn(calls=(Call("Agent", helper), Call("Bash", shell))),
            says("I wait for them."),
        ]
        script.talks[helper["prompt"]] = [calls("Bash", command=command)]
        session.say("Sort the files by date.")
        wait_until(began.exists, "the helper is at work")
        session.say("/compact")
        session.say("How far are they?")
        (known,) = (one for one in claude.sessions() if one.at_work)
        session.kill()
    assert {(one["type"], one["description"]) for one in known.at_work} == {
        ("subagent", "Count the files"),
        ("shell", "sleep 600"),
    }
    (parent,) = (task for task in claude.tasks().values() if task.parent is None)
    (child,) = (task for task in claude.tasks().values() if task.parent == parent.id)
    assert (child.name, child.status) == ("Count the files", "active")
    told = packet(script.main()[-1])
    at_work = [line for line in told.splitlines() if "at work" in line.lower()]
    for what in ("Count the files", "sleep 600"):
        assert [line for line in at_work if what in line]


def test_plan_mode_is_in_the_packet_after_a_compaction(claude):
    script = claude.server.script
    script.turns = [calls("Read", file_path=str(claude.home / ".claude/settings.json")), says("Here is how.")]
    with claude.conversation("--permission-mode", "plan") as session:
        session.say("Think about how to round the invoices. Do not write code yet.")
        session.say("/compact")
        session.say("What is next?")
        assert [one.mode for one in claude.sessions()] == ["plan"]
        session.end()
    told = packet(script.main()[-1])
    assert "plan mode" in told.lower()
    assert "Do not write code yet." in told


def test_a_usage_limit_is_recorded_and_in_the_packet_of_the_resumed_session(claude):
    script = claude.server.script
    script.turns = [calls("Bash", command="echo one"), refuses("You have hit your usage limit.")]
    with claude.conversation() as session:
        assert session.say(INVOICES)["is_error"]
        # The program does not wait for this hook.
        wait_until(lambda: claude.sessions()[0].interruption, "the interruption is on record")
        (known,) = claude.sessions()
        assert "limit" in json.dumps(known.interruption)
        session.end()
    (task,) = claude.tasks().values()
    assert task.status == "paused"
    script.turns = [says("Going on.")]
    claude.run("--continue", "Go on with the invoices.")
    assert "limit" in packet(script.main()[-1])
    (task,) = claude.tasks().values()
    assert [entry.summary for entry in task.instructions] == ["Go on with the invoices."]


def test_after_clear_the_same_server_works_for_the_new_session(claude):
    script = claude.server.script
    with claude.conversation() as session:
        script.turns = [decides("half up"), says("Rounded.")]
        session.say(INVOICES)
        session.say("/clear")
        script.turns = [decides("Markdown"), calls(RESUME), says("Written.")]
        session.say(NOTES)
        assert len(claude.sessions()) == 2
        session.end()
    assert INVOICES not in json.dumps(results(script.main()[-1]))
    assert {name: decided(task) for name, task in claude.tasks().items()} == {
        INVOICES: ["half up"],
        NOTES: ["Markdown"],
    }
    assert_nothing_refused(claude)
