"""Two sessions in one workspace: whatever the order of hook events and calls, each has its own task.

A third one has no hooks, only our MCP server. Hook events wait in the journal until somebody drains it.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringbolt.core.draft_tasks import turn_to
from ringbolt.hosts.drain import drain
from ringbolt.journal.event_files import Journal
from ringbolt.store import sessions
from tests.hosts.hosting import leave
from tests.support import examples, open_memory

SESSIONS = ("first", "second", "without hooks")
HOOKS = "start prompt tool list stop done end compact".split()
CALLS = "note update decide register complete resume turn".split()
WORDS = "invoices tax ledger parser cache index chart login export backup theme queue".split()


class Workspace:
    """One store, and what each session reported to it."""

    def __init__(self, folder: str) -> None:
        self._url = f"sqlite://{folder}/store.db"
        self._memory = open_memory(self._url, clock=time.time, session="", catch_up=False)
        self._journal = Journal.of(self._url)
        self._number = 0
        self.reported: dict[str, set[str]] = defaultdict(set)  # the facts of each session
        self._tasks: dict[str, str] = {}  # the session of each task

    def fact(self, session: str) -> str:
        """A text that nobody else writes."""
        self._number += 1
        word = WORDS[self._number % len(WORDS)]
        text = f"Work on the {word} number {self._number} of {session}."
        self.reported[session].add(text)
        return text

    def drain(self) -> None:
        done = drain(self._memory, self._journal)
        assert (done.rejected, done.left) == (0, 0)

    def hook(self, session: str, event: str, **fields) -> None:
        leave(self._journal, session, event, cwd="/w", **fields)

    def tell(self, session: str, what: str) -> None:
        """Something happens that hooks tell of."""
        if what == "start":
            self.hook(session, "SessionStart", source="startup")
        elif what == "prompt":
            self.hook(session, "UserPromptSubmit", prompt=self.fact(session))
        elif what == "tool":
            text = self.fact(session)
            self._tool(session, "Bash", {"command": text}, {"stdout": "fine", "stderr": ""})
        elif what == "list":
            steps = [{"content": f"Step {number}", "status": "completed"} for number in (1, 2)]
            self._tool(session, "TodoWrite", {"todos": steps}, {})
        elif what == "stop":
            self.hook(session, "Stop", last_assistant_message=f"Message {self._number} of {session}.")
        elif what == "done":
            self.hook(session, "Stop", last_assistant_message="All done: everything is implemented.")
        elif what == "end":
            self.hook(session, "SessionEnd", reason="other")
        else:
            self.hook(session, "PreCompact", trigger="auto")
            self.hook(session, "SessionStart", source="compact")
            self.hook(session, "PostCompact", trigger="auto", compact_summary="In short.")

    def _tool(self, session: str, name: str, given: dict, output: dict) -> None:
        self._number += 1
        call = f"call-{self._number}"
        self.hook(
            session, "PostToolUse", tool_name=name, tool_input=given, tool_response=output, tool_use_id=call
        )

    def call(self, session: str, what: str) -> None:
        """A call without an id as our MCP server makes it, or `turn`: one with the id of its first task."""
        memory = self._memory.acting_as(session=session, agent="claude-code")
        own = [task for task, whose in self._tasks.items() if whose == session]
        if what in ("resume", "turn"):
            task = own[0] if what == "turn" and own else None
            turn_to(memory, task)
            if own:
                shown = memory.task_resume(task)
                assert self._memory.task_get(shown.task_id).session == session
            return
        if what == "note":
            done = memory.task_note(None, self.fact(session))
        elif what == "update":
            done = memory.task_update(None, self.fact(session))
        elif what == "decide":
            done = memory.task_decide(None, choice=self.fact(session))
        elif what == "register":
            done = memory.task_register("A task", plan=["Step 1", "Step 3"])
        else:
            done = memory.task_update(None, self.fact(session), status="completed")
        assert self._tasks.setdefault(done.task_id, session) == session

    def check(self) -> None:
        """Each task has one session, and each fact is on one task of its own session, once."""
        self.drain()
        found: dict[str, list[str]] = defaultdict(list)
        for task in self._memory.task_list(status="all", limit=200).tasks:
            if task.status == "superseded":  # its words are on the task that took its place
                continue
            events = list(self._memory.events(task.id))
            whose = {event.origin.session for event in events}
            assert len(whose) == 1, (task, whose)
            for event in events:
                for text in {event.text, (event.data.get("input") or {}).get("command")} - {None}:
                    found[text].append(next(iter(whose)))
        for session, texts in self.reported.items():
            assert {text: found[text] for text in texts} == {text: [session] for text in texts}
        assert self._memory.verify().ok

    def close(self) -> None:
        self._memory.close()


moves = st.one_of(
    st.tuples(st.sampled_from(SESSIONS[:2]), st.sampled_from(HOOKS)),
    st.tuples(st.sampled_from(SESSIONS), st.sampled_from(CALLS)),
    st.just(("", "drain")),
)


@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck), deadline=None)
@given(st.lists(moves, min_size=2, max_size=25))
def test_each_session_writes_to_its_own_task_and_nothing_is_refused(steps):
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        try:
            for session, what in steps:
                if what == "drain":
                    workspace.drain()
                elif what in HOOKS:
                    workspace.tell(session, what)
                else:
                    workspace.call(session, what)
            workspace.check()
        finally:
            workspace.close()


# --- turning to another task --------------------------------------------------------------------------


def decisions(memory, task):
    return [entry.summary for entry in memory.task_get(task).decisions]


def test_a_draft_with_a_finding_stays_when_its_session_turns_away(opened, store_url):
    memory = opened(store_url, session="")
    old = memory.acting_as(session="before").task_register("Old").task_id
    agent = memory.acting_as(session="now")
    draft = agent.task_decide(None, choice="half up").task_id
    turn_to(agent, old)
    assert memory.task_get(draft).status == "active"
    assert agent.task_decide(None, choice="Markdown").task_id == old
    assert (decisions(memory, draft), decisions(memory, old)) == (["half up"], ["Markdown"])


def test_messages_follow_a_session_that_leaves_its_empty_draft(opened, store_url):
    memory = opened(store_url, session="")
    old = memory.acting_as(session="before").task_register("Old").task_id
    agent = memory.acting_as(session="now")
    draft = agent.task_update(None, "I am about to deploy.").task_id
    agent.acting_as(channel="user").task_remember(draft, "Not on a Friday.", type="user_instruction")
    turn_to(agent, old)
    assert memory.task_get(draft).status == "superseded"
    said = [(event.text, event.origin.channel) for event in memory.events(old) if event.text]
    assert said == [("I am about to deploy.", "agent"), ("Not on a Friday.", "user")]
    assert memory.verify().ok


def test_a_task_that_has_ended_is_only_read(opened, store_url):
    memory = opened(store_url, session="")
    over = memory.acting_as(session="before").task_register("Over").task_id
    memory.task_finish(over, "Done.")
    agent = memory.acting_as(session="now")
    own = agent.task_register("Own").task_id
    turn_to(agent, over)
    assert agent.task_resume(over).task_id == over
    assert agent.task_update(None, "Going on.").task_id == own


def test_a_hosts_session_that_takes_over_a_task_of_another_worktree_stays_there(opened, store_url):
    memory = opened(store_url, session="", clock=time.time)
    old = memory.acting_as(session="before", workspace="/other").task_register("Old").task_id
    leave(Journal.of(store_url), "now", "UserPromptSubmit", cwd="/w", prompt="Round the invoices.")
    bash = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}}
    leave(Journal.of(store_url), "now", "PostToolUse", cwd="/w", tool_use_id="1", **bash)
    agent = memory.acting_as(session="now")
    assert agent.task_get().request == "Round the invoices."
    turn_to(agent, old)
    assert agent.task_decide(None, choice="Markdown").task_id == old
    leave(Journal.of(store_url), "now", "PostToolUse", cwd="/w", tool_use_id="2", **bash)
    assert agent.task_get(old).actions == 1


def test_a_helper_is_named_for_its_purpose_whichever_event_comes_first(opened, store_url):
    memory = opened(store_url, session="", clock=time.time)
    journal = Journal.of(store_url)
    launch = {"tool_name": "Agent", "tool_input": {"description": "Count the files", "prompt": "Count."}}
    for session, order in (("one", (0, 1)), ("two", (1, 0))):
        leave(journal, session, "UserPromptSubmit", cwd="/w", prompt=f"Sort the files of {session}.")
        output = {"isAsync": True, "status": "async_launched", "agentId": f"a{session}"}
        told = (
            ("PostToolUse", {**launch, "tool_response": output, "tool_use_id": session}),
            ("SubagentStart", {"agent_id": f"a{session}", "agent_type": "general-purpose"}),
        )
        for number in order:
            leave(journal, session, told[number][0], cwd="/w", **told[number][1])
    assert drain(memory, journal).left == 0
    helpers = [task for task in memory.task_list(status="all").tasks if task.parent]
    assert [task.name for task in helpers] == ["Count the files", "Count the files"]


def test_sessions_that_were_last_seen_long_ago_are_not_kept(opened, store_url):
    memory = opened(store_url, session="", clock=time.time)
    journal = Journal.of(store_url)
    leave(journal, "old", "SessionStart", cwd="/w", source="startup")
    drain(memory, journal)
    memory.store.write(lambda tx: tx.database.run("UPDATE sessions SET seen_at = '2020-01-01'", {}))
    leave(journal, "new", "SessionStart", cwd="/w", source="startup")
    drain(memory, journal)
    assert memory.store.read(lambda tx: [sessions.get(tx, name) is None for name in ("old", "new")]) == [
        True,
        False,
    ]
