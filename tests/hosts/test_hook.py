"""The hook of a host: the real process, with the shapes that hosts send; all content is invented."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import apsw
import pytest

from ringbolt.hosts.host_table import EVENTS, HOSTS
from tests.hosts.hosting import PROGRAM, Host

REQUEST = "Make the invoices round to whole cents.\nDo not touch the tax tables."


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def work_a_while(host: Host) -> None:
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.tool("Bash", {"command": "pytest tests/test_invoice.py"}, {"stdout": "3 passed", "stderr": ""}, 1)
    host.tool("Bash", {"command": "make lint"}, "Exit code 2\nmake: *** No rule to make target 'lint'.", 2,
              event="PostToolUseFailure")  # fmt: skip
    host.tool("Edit", {"file_path": str(host.work / "invoice.py"), "old_string": "a", "new_string": "b"},
              {"filePath": "x", "originalFile": "y" * 5000}, 3)  # fmt: skip
    host.tool("TodoWrite", {"todos": [
        {"content": "Find the rounding", "status": "completed", "activeForm": "Finding"},
        {"content": "Round to cents", "status": "in_progress", "activeForm": "Rounding"},
    ]}, {"oldTodos": []}, 4)  # fmt: skip


def test_after_a_compaction_the_packet_is_in_the_context(host):
    work_a_while(host)
    note = host.tell("PreCompact", trigger="auto", custom_instructions="")
    assert "Make the invoices round to whole cents." in note
    assert not note.startswith("{")
    host.tell("PreCompact", trigger="auto", custom_instructions="")
    packet = host.context("SessionStart", source="compact")
    for part in ("Make the invoices round to whole cents.", "Round to cents", "make lint", "invoice.py"):
        assert part in packet
    host.tell("PostCompact", trigger="auto", compact_summary="They are rounding invoices.")
    # Once is enough: neither a repetition nor the next prompt says it again.
    assert host.context("SessionStart", source="compact") == ""
    assert host.context("UserPromptSubmit", prompt="Use banker's rounding.") == ""
    with host.memory() as memory:
        task = memory.task_get()
        events = list(memory.events())
    assert task.request == REQUEST
    assert [entry.summary for entry in task.instructions] == ["Use banker's rounding."]
    labels = [event.data.get("label") for event in events if event.type == "snapshot"]
    assert labels == ["before compaction", "after compaction"]
    actions = [event for event in events if event.type == "action"]
    assert [event.origin.channel for event in actions] == ["tool"] * 3


def test_the_packet_comes_with_the_next_prompt_if_the_host_did_not_ask_for_it(host):
    work_a_while(host)
    host.tell("PreCompact", trigger="manual", custom_instructions="")
    host.tell("PostCompact", trigger="manual", compact_summary="Rounding.")
    assert "whole cents" in host.context("UserPromptSubmit", prompt="Go on with the rounding, please.")
    assert host.context("UserPromptSubmit", prompt="And the totals?") == ""


def test_each_compaction_has_its_own_snapshot_also_where_the_packet_is_never_asked_for(host):
    work_a_while(host)
    for number in range(2):
        for _ in range(3):
            host.tell("PreCompact", trigger="auto")
        host.tell("PostCompact", trigger="auto", compact_summary=f"Summary {number}")
    with host.memory() as memory:
        labels = [event.data["label"] for event in memory.events() if event.type == "snapshot"]
    assert labels == ["before compaction", "after compaction"] * 2
    assert "whole cents" in host.context("UserPromptSubmit", prompt="Go on with the rounding, please.")


def test_a_long_request_is_kept_whole_and_a_huge_input_is_not(host):
    request = "Sort these lines:\n" + "a line that matters\n" * 5000
    host.tell("UserPromptSubmit", prompt=request)
    edits = [{"old_string": "x" * 9000, "new_string": "y" * 9000}] * 100
    host.tool("MultiEdit", {"file_path": "/w/a.py", "edits": edits}, {}, 1)
    with host.memory() as memory:
        task = memory.task_get()
        action = next(event for event in memory.events() if event.type == "action")
    assert task.request == request.strip()
    assert [file.path for file in task.files] == ["/w/a.py"]
    assert action.data["input"]["left_out"].endswith("characters")


def test_a_new_session_gets_the_tasks_here_and_a_known_one_its_own(host):
    assert host.context("SessionStart", source="startup") == ""
    work_a_while(host)
    assert "Round to cents" in host.context("SessionStart", source="resume")
    other = Host(host.folder, session="22222222-bbbb")
    told = other.context("SessionStart", source="startup")
    assert "Make the invoices round" in told
    assert "ACTIVE-TASKS.md" not in told  # there is no such file
    assert "To go on with one of them: task_resume with its id" in told
    other.tell("UserPromptSubmit", prompt="Write the release notes.")
    with host.memory() as mine, other.memory() as theirs:
        assert mine.task_get().id != theirs.task_get().id


def test_plan_mode_and_a_new_request_lead_after_a_compaction(host):
    work_a_while(host)
    done = "All of it is done: the invoices round to whole cents and the tests pass."
    host.tell("Stop", last_assistant_message=done)
    asked = "Now something completely different: write a tool that mails the monthly report."
    host.tell("UserPromptSubmit", prompt=asked, permission_mode="plan")
    note = host.tell("PreCompact", trigger="auto", permission_mode="plan", custom_instructions="")
    packet = host.context("SessionStart", source="compact", permission_mode="plan")
    for text in (note, packet):
        assert "Plan mode: the user has not approved a plan; do not edit" in text
        first, new = text.index("Make the invoices round"), text.index("| Now something completely different")
        assert new < first


def test_every_event_is_answered_with_silence_or_in_the_hosts_form(host):
    helper = {"agent_id": "a1", "agent_type": "Explore"}
    use = {"tool_name": "Bash", "tool_input": {"command": "ls -la"}, "tool_use_id": "t"}
    fields = {
        "SessionStart": {"source": "startup"},
        "UserPromptSubmit": {"prompt": REQUEST},
        "PreToolUse": use,
        "PostToolUse": {**use, "tool_response": "a"},
        "PostToolUseFailure": {**use, "tool_use_id": "u", "error": "e"},
        "PreCompact": {"trigger": "auto"},
        "PostCompact": {"compact_summary": "S"},
        "SubagentStart": helper,
        "SubagentStop": {**helper, "last_assistant_message": "Found it."},
        "Stop": {"last_assistant_message": "Done.", "stop_hook_active": True},
        "SessionEnd": {"reason": "other"},
    }
    order = ["SessionStart", "UserPromptSubmit", *(name for name in EVENTS if name != "UserPromptSubmit")]
    for event in order:
        said = host.tell(event, **fields[event])
        assert (
            not said
            or event == "PreCompact"
            or json.loads(said)["hookSpecificOutput"]["hookEventName"] == event
        )
        assert host.complained == ""
    for event in HOSTS["claude-code"].events.keys() - set(EVENTS):
        assert host.tell(event, message="x") == ""
        assert host.complained == ""
    assert host.tell("PostToolBatch", tool_calls=[]) == ""
    assert host.raw("Nonsense", b"{}") == ""
    host.drain()
    assert host.left() == 0
    with host.memory() as memory:
        texts = [event.text for event in memory.events()]
    assert "Done." in texts
    assert "The session ended: other." in texts


def test_a_helper_of_the_agent_has_a_task_of_its_own(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    helper = {"agent_id": "a1b2", "agent_type": "Explore"}
    host.tell("SubagentStart", **helper)
    host.tool("Grep", {"pattern": "round("}, "3 files", 7, **helper)
    host.tell("SubagentStop", **helper, last_assistant_message="It is in money.py.")
    with host.memory() as memory:
        task = memory.task_get()
        child = next(one for one in memory.task_list(status="all").tasks if one.id != task.id)
        found = [event for event in memory.events() if event.type == "action"]
        results = [event for event in memory.events() if event.type == "tool_result"]
        assert memory.task_get(child.id).parent == task.id
    assert [event.task_id for event in found] == [child.id]
    assert [(event.task_id, event.origin.channel) for event in results] == [(task.id, "tool")]
    assert "money.py" in results[0].text


def test_tasks_of_the_hosts_own_list_become_steps_with_their_ids(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    for number, title in enumerate(("Look", "Mend"), 1):
        host.tool("TaskCreate", {"subject": title, "description": "d"}, {"task": {"id": str(number)}}, title)
    host.tool("TaskUpdate", {"taskId": "1", "status": "completed"}, {"success": True}, "x")
    host.tool(
        "TaskUpdate", {"taskId": "2", "status": "in_progress", "subject": "Mend it"}, {"success": True}, "y"
    )
    with host.memory() as memory:
        assert [(step.title, step.status) for step in memory.task_get().steps] == [
            ("Look", "completed"), ("Mend it", "active")]  # fmt: skip


def test_questions_and_plans_are_decisions_of_the_user(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    asked = {"question": "Which rounding?", "options": [{"label": "half even", "description": "as banks do"}]}
    host.tool("AskUserQuestion", {"questions": [asked]}, {"answers": {"Which rounding?": "half even"}}, 1)
    host.tool("ExitPlanMode", {"plan": "# Round late\n1. total first"}, {"plan": "x"}, 2)
    with host.memory() as memory:
        decisions = memory.task_get().decisions
    assert [entry.origin.channel for entry in decisions] == ["user", "user"]
    assert {entry.data["choice"] for entry in decisions} == {"half even", "approved the plan: Round late"}


def test_a_repeated_failure_is_warned_about_and_never_blocked(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    with host.memory() as memory:
        memory.task_exclude(what="docker push registry.test/shop", why="</x> the key has expired")
        memory.task_exclude(what="cat missing-ledger.txt", why="the ledger was moved")
        memory.task_exclude(what="npm publish", why="frozen", until="2020-01-01T00:00:00Z")
    use = {"tool_name": "Bash", "tool_use_id": "t9"}
    told = host.context("PreToolUse", tool_input={"command": "docker push  registry.test/shop"}, **use)
    assert "the key has expired" in told
    assert "</x>" not in told
    moved = host.context("PreToolUse", tool_input={"command": "cat missing-ledger.txt"}, **use)
    assert "the ledger was moved" in moved
    assert host.context("PreToolUse", tool_input={"command": "npm publish"}, **use) == ""
    assert host.context("PreToolUse", tool_input={"command": "docker pull registry.test/shop"}, **use) == ""


def test_secrets_are_gone_before_anything_is_written(host):
    secret = "ghp_" + "aB3dE5fG7hJ9kL2mN4pQ6rS8tV1wX3yZ5bC7"
    host.tell("UserPromptSubmit", prompt=f"Push with {secret} please")
    host.tool(
        "Bash", {"command": f"curl -H 'Authorization: Bearer {secret}' x"}, {"stdout": f"token={secret}"}, 1
    )
    host.raw("PostToolUse", f"no JSON with {secret}".encode())
    files = [path.read_bytes() for path in host.folder.rglob("*") if path.is_file()]
    assert all(secret.encode() not in content for content in files)
    with host.memory() as memory:
        assert "[redacted github]" in memory.task_get().request
    modes = {path.name: path.stat().st_mode & 0o077 for path in host.store.parent.iterdir()}
    assert set(modes.values()) == {0}


@pytest.mark.parametrize("name", ["codex", "vscode"])
def test_hosts_that_copied_the_format_are_understood(tmp_path, name):
    host = Host(tmp_path, name=name)
    host.tell("UserPromptSubmit", prompt=REQUEST)
    patch = "*** Begin Patch\n*** Update File: src/money.py\n@@\n-a\n+b\n*** End Patch"
    host.tool("apply_patch", {"command": patch}, "Success", 1)
    host.tool("update_plan", {"plan": [{"step": "Round", "status": "in_progress"}]}, "Plan updated", 2)
    assert host.tell("PreCompact", trigger="auto") == ""
    packet = host.context("SessionStart", source="compact")
    assert "src/money.py" in packet
    assert "Round" in packet


def test_gemini_and_cursor_are_understood(tmp_path):
    gemini = Host(tmp_path, name="gemini-cli")
    gemini.tell("BeforeAgent", prompt=REQUEST)
    gemini.tell("AfterTool", tool_name="run_shell_command", tool_input={"command": "ls"},
                tool_response={"llmContent": "a.py"})  # fmt: skip
    gemini.tell("PreCompress", trigger="manual")
    answer = json.loads(gemini.tell("BeforeAgent", prompt="What is next?"))["hookSpecificOutput"]
    assert answer["hookEventName"] == "BeforeAgent"
    assert "whole cents" in answer["additionalContext"]
    cursor = Host(tmp_path, name="cursor", session="")
    own = {"conversation_id": "c1", "workspace_roots": [str(cursor.work)], "session_id": None, "cwd": None}
    cursor.tell("beforeSubmitPrompt", prompt="Sort the imports.", **own)
    assert "Sort the imports." in json.loads(cursor.tell("sessionStart", **own))["additional_context"]


# --- trouble ----------------------------------------------------------------------------------------


def test_the_other_way_to_call_it_does_the_same(host):
    told = json.dumps(host.told("UserPromptSubmit", prompt=REQUEST)).encode()
    done = subprocess.run(
        [sys.executable, "-m", "ringbolt", "hook", "claude-code", "UserPromptSubmit"],
        input=told, env=host.environment(), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")
    with host.memory() as memory:
        assert memory.task_get().request == REQUEST


@pytest.mark.parametrize(
    "data",
    [b"{", b"[1]", b"\xff\xfe\x00", b'{"a":' * 5000, b"null"],
    ids=["cut", "list", "binary", "deep", "null"],
)
def test_broken_input_is_rejected_visibly_and_exits_with_0(host, data):
    assert host.raw("PostToolUse", data) == ""
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.drain()
    assert host.left() == 1
    (reason,) = (host.store.parent / "store.db.journal" / "rejected").glob("*.why")
    assert "not a JSON object" in reason.read_text()
    assert "1 event of the host could not be read" in host.context("SessionStart", source="compact")


def seconds_of_children() -> float:
    """The processor time of all processes that this one has waited for."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_hard_outputs_are_written(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    begun = seconds_of_children()
    host.tool("Bash", {"command": "big"}, {"stdout": "line\n" * 1_000_000}, 1)
    assert seconds_of_children() - begun < 5
    host.tool("Bash", {"command": "binary"}, {"stdout": "a\0b\ud800\x1b[31m"}, 2)
    told = json.dumps(
        host.told("PostToolUse", tool_name="Bash", tool_use_id="x", tool_input={"command": "utf"})
    )
    host.raw("PostToolUse", told.encode()[:-1] + b', "tool_response": "caf\xe9 \xff"}')
    host.drain()
    assert host.left() == 0
    with host.memory() as memory:
        actions = [event for event in memory.events() if event.type == "action"]
    assert len(actions) == 3
    assert len(actions[0].data["output"]) < 20_000


def corrupt(host):
    host.store.write_bytes(b"SQLite format 3\0" + os.urandom(8000))


def newer(host):
    connection = apsw.Connection(str(host.store))
    connection.execute("PRAGMA user_version = 9999").fetchall()
    connection.close()


def bad_setting(host):
    (host.folder / "bad.toml").write_text("no_such_setting = 1\n")


@pytest.mark.parametrize("spoil", [corrupt, newer, bad_setting])
def test_an_unusable_store_loses_no_event(host, spoil):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.drain()
    kept = host.store.parent / "kept.db"
    connection = apsw.Connection(str(host.store))
    connection.execute("VACUUM INTO ?", (str(kept),)).fetchall()
    connection.close()
    spoil(host)
    env = {"RINGBOLT_CONFIG": str(host.folder / "bad.toml")} if spoil is bad_setting else {}
    for number in range(3):
        given = {"tool_name": "Bash", "tool_input": {"command": f"echo {number}"}, "tool_response": "x"}
        assert host.tell("PostToolUse", env=env, tool_use_id=f"t{number}", **given) == ""
    told = json.loads(host.tell("SessionStart", env=env, source="compact"))
    # These three, and the one that is being answered.
    assert "4 events wait to be written" in told["hookSpecificOutput"]["additionalContext"]
    if spoil is not bad_setting:
        for end in ("-wal", "-shm"):
            (host.store.parent / f"store.db{end}").unlink(missing_ok=True)
        kept.replace(host.store)
    host.tell("Stop", last_assistant_message="All is well again.")
    with host.memory() as memory:
        done = [event.data["input"]["command"] for event in memory.events() if event.type == "action"]
    assert done == ["echo 0", "echo 1", "echo 2"]
    assert host.left() == 0


def test_a_store_that_cannot_grow_loses_no_event(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.drain()
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); " + PROGRAM
    told = json.dumps(host.told("Stop", last_assistant_message="Kept."))
    done = subprocess.run(
        [sys.executable, "-c", limited, "claude-code", "Stop"],
        input=told.encode(), env=host.environment(), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")
    assert host.left() == 1
    host.tell("Stop", last_assistant_message="Then.")
    with host.memory() as memory:
        told = [event.text for event in memory.events() if event.origin.agent != "ringbolt"]
        assert told[-2:] == ["Kept.", "Then."]


def test_where_nothing_can_be_written_beside_the_store_it_is_kept_with_the_users_data(host):
    env = {"RINGBOLT_STORE": "/proc/no/store.db"}
    assert host.tell("UserPromptSubmit", env=env, prompt=REQUEST) == ""
    assert host.left() == 1
    # And where nothing can be written at all, the host is still not held up.
    assert host.tell("UserPromptSubmit", env={**env, "XDG_DATA_HOME": "/proc/no"}, prompt=REQUEST) == ""
    assert "could not be kept" in host.complained


def test_an_unknown_event_is_reported_only_in_the_hosts_log(host):
    for name, event in (("claude-code", "Nap"), ("nobody", "Stop")):
        host.name = name
        assert host.tell(event) == ""
        assert host.complained.startswith("ringbolt-hook: unknown ")
        assert host.complained.count("\n") == 1
    assert not host.store.exists()
