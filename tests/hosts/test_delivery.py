"""When a host's model is given the state of its task, and when the task is distilled."""

from __future__ import annotations

import json
import subprocess

import pytest

from ringbolt.hosts.answers import tree_status
from ringbolt.hosts.handover import handover_prompt
from ringbolt.journal.health import journal_health
from ringbolt.packet.tokens import exact
from tests.hosts.hosting import QuickHost

REQUEST = "Move the invoices to the new currency. Never touch ledger_entries."


@pytest.fixture
def host(tmp_path, monkeypatch):
    found = QuickHost(tmp_path, monkeypatch)
    found.tell("SessionStart", source="startup")
    found.tell("UserPromptSubmit", prompt=REQUEST)
    return found


def todo(host, *statuses):
    todos = [{"content": f"Part {n}", "status": status} for n, status in enumerate(statuses)]
    given = {"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_response": {}}
    host.tell("PostToolUse", **given, tool_use_id=f"todo-{'-'.join(statuses)}")


def is_distilled(host) -> bool:
    with host.memory() as memory:
        count = "SELECT count(*) FROM distilled WHERE kind = 'names_state'"
        return bool(memory.store.read(lambda tx: tx.cell(count)))


def test_a_packet_that_was_not_asked_for_comes_with_the_next_call_of_a_tool(host):
    host.tell("PreCompact", trigger="auto")
    given = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1", "tool_response": "x"}
    assert "Move the invoices" in host.context("PostToolUse", **given)
    assert host.context("PostToolUse", **{**given, "tool_use_id": "t2"}) == ""


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_the_end_of_a_turn_and_of_a_session_distil(host, event):
    assert not is_distilled(host)
    host.tell(event, last_assistant_message="Moved.", stop_hook_active=False, reason="other")
    assert is_distilled(host)


def test_a_session_that_died_is_distilled_when_it_goes_on(host):
    host.bash("pytest", "3 passed", 1, transcript_path=str(host.folder / "transcript.jsonl"))
    host.tell("SessionStart", source="resume")
    assert is_distilled(host)


def usage(host, tokens: int, separators=(",", ":")) -> None:
    """A transcript as long as a session of that many tokens has, with what its last request used."""
    message = {"role": "assistant", "content": [{"type": "text", "text": "word " * 60_000}]}
    used = {"input_tokens": 7, "cache_creation_input_tokens": 1_000, "cache_read_input_tokens": tokens}
    line = {"type": "assistant", "uuid": f"u{tokens}", "message": {**message, "usage": used}}
    with (host.folder / "transcript.jsonl").open("a") as file:
        file.write(json.dumps(line, separators=separators) + "\n")


def test_a_context_that_is_nearly_full_is_distilled_once(host):
    usage(host, 120_000)
    host.bash("ls", "x", 1, transcript_path=str(host.folder / "transcript.jsonl"))
    assert not is_distilled(host)
    usage(host, 165_000, separators=(", ", ": "))
    host.bash("ls -l", "x", 2, transcript_path=str(host.folder / "transcript.jsonl"))
    assert is_distilled(host)
    with host.memory() as memory:
        memory.store.write(lambda tx: tx.database.run("DELETE FROM distilled WHERE kind = 'names_state'", {}))
    usage(host, 170_000)
    host.bash("ls -la", "x", 3, transcript_path=str(host.folder / "transcript.jsonl"))
    assert not is_distilled(host)


def test_a_turn_gets_a_short_block_only_if_configured_and_changed(host, monkeypatch):
    todo(host, "in_progress", "pending")
    assert host.context("UserPromptSubmit", prompt="And?") == ""
    monkeypatch.setenv("RINGBOLT_HOOK_TURN_BLOCK", "on")
    block = host.context("UserPromptSubmit", prompt="How far are you?")
    assert "0 of 2 steps done" in block
    assert "Now: s1" in block
    assert exact()(block) <= 150
    host.bash("ls", "x", 1, transcript_path=str(host.folder / "transcript.jsonl"))
    assert host.context("UserPromptSubmit", prompt="Still at it?") == ""
    todo(host, "completed", "in_progress")
    assert "1 of 2 steps done" in host.context("UserPromptSubmit", prompt="And now?")


def test_a_reason_given_after_a_rejection_replaces_the_entry_without_one(host):
    refusal = "The user doesn't want to proceed with this tool use."
    host.bash("git push --force origin main", refusal, 1, failed=True)
    host.tell("Stop", last_assistant_message="It is not pushed.", stop_hook_active=False)
    assert [entry.data["why"] for entry in host.task().exclusions] == ["The user rejected it."]
    host.tell("UserPromptSubmit", prompt="Never force a push to main.")
    host.tell("Stop", last_assistant_message="Understood.", stop_hook_active=False)
    assert [entry.data["why"] for entry in host.task().exclusions] == ["Never force a push to main."]


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_a_session_start_with_nothing_to_write_leaves_its_own_event_to_the_next_drain(host):
    host.tell("Stop", last_assistant_message="Moved.", stop_hook_active=False)
    for source in ("resume", "resume", "compact"):
        assert "Move the invoices" in host.context("SessionStart", source=source)
        assert journal_health(host.journal()).waiting == 1
        host.memory().close()  # drains
    # A host may ask again for the same compaction.
    assert host.context("SessionStart", source="compact") == ""
    other = host.other("s-2")
    assert "Move the invoices" in other.context("SessionStart", source="startup")


def test_a_session_that_continues_sees_what_happened_to_the_working_tree_meanwhile(host, monkeypatch):
    monkeypatch.setattr(tree_status, "SECONDS", 30.0)  # the machine may be busy
    git(host.work, "init", "-q", "-b", "main")
    host.tell("Stop", last_assistant_message="Moved.", stop_hook_active=False)
    host.context("SessionStart", source="resume")
    (host.work / "by_hand.py").write_text("1\n")
    assert "by_hand.py" in host.context("SessionStart", source="resume")


@pytest.mark.parametrize("prompt", ["go on. The cents may be rounded.", "continue", "Mach weiter, bitte."])
def test_a_prompt_that_goes_on_in_a_new_session_gets_the_packet_at_once(host, prompt):
    host.tell("SessionEnd", reason="other")
    later = host.other("s-2")
    assert "Move the invoices" in later.context("SessionStart", source="startup")
    assert "Never touch ledger_entries" in later.context("UserPromptSubmit", prompt=prompt)
    assert later.task().id == host.task().id
    assert later.bash("ls", "x", 1) == ""


def test_a_new_request_in_a_new_session_gets_no_packet(host):
    host.tell("SessionEnd", reason="other")
    later = host.other("s-2")
    later.tell("SessionStart", source="startup")
    assert later.context("UserPromptSubmit", prompt="Fix the typo in the imprint.") == ""
    assert later.bash("ls", "x", 1) == ""
    assert later.task().id != host.task().id


def test_a_prompt_that_hands_the_task_over_with_its_packet_gets_no_second_one(host):
    with host.memory() as memory:
        prompt = handover_prompt(memory, host.task().id, "claude-code")
    later = host.other("s-2")
    later.tell("SessionStart", source="startup")
    assert later.context("UserPromptSubmit", prompt=prompt) == ""
    assert later.bash("ls", "x", 1) == ""
    assert later.task().id == host.task().id
