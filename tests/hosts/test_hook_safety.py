"""What a host's model is told: facts within a fence, whatever tools printed and whatever users typed."""

from __future__ import annotations

import json
import re

import pytest

from ringbolt.hosts.host_table import HOSTS
from tests.hosts.hosting import QuickHost
from tests.packet.payloads import UNSEEN, broken_out, hostile

REQUEST = "Make the invoices round to whole cents."
PAYLOADS = [text for text in hostile(300) if text.strip()]
# Words that order a model about, at the beginning of a sentence.
ORDERS = re.compile(
    r"(?:^|[.!:] )(?:You (?:must|should|need)|Please|Do not|Don't|Never|Always|Make sure|Remember|Ignore|Call"
    r"|Use|Run|Read|Continue|Resume|Follow)\b"
)


@pytest.fixture
def attacked(tmp_path, monkeypatch):
    """A session in which all that a tool prints, a file is called, or a list says is hostile."""
    host = QuickHost(tmp_path, monkeypatch)
    host.tell("UserPromptSubmit", prompt=f"{REQUEST} {PAYLOADS[0]}")
    for number, text in enumerate(PAYLOADS[:60]):
        if number % 3 == 0:
            host.bash(f"make {number} {text}", f"Exit code 1\nerror: {text}", number, failed=True)
        elif number % 3 == 1:
            host.bash(f"cat {number}", text, number)
        else:
            host.tell("PostToolUse", tool_name="Edit", tool_input={"file_path": f"/w/{text}"},
                      tool_use_id=str(number), tool_response={})  # fmt: skip
    todos = [{"content": text[:300], "status": "pending"} for text in PAYLOADS[60:80] if text.strip()]
    todos[0]["status"] = "in_progress"
    host.tell(
        "PostToolUse", tool_name="TodoWrite", tool_input={"todos": todos}, tool_use_id="l", tool_response={}
    )
    for number, text in enumerate(PAYLOADS[80:90]):
        host.tell("UserPromptSubmit", prompt=f"Rule {number}: {text}")
        host.tell("Stop", last_assistant_message=text)
    host.tell("SubagentStart", agent_id="a1", agent_type=PAYLOADS[91][:40])
    host.tell(
        "SubagentStop", agent_id="a1", agent_type=PAYLOADS[91][:40], last_assistant_message=PAYLOADS[92]
    )
    return host


def fenced(text: str) -> list[str]:
    return broken_out(text, re.match(r"<(ringbolt-\w{8})>\n", text)[1])


def test_nothing_that_was_captured_leaves_its_fence(attacked):
    attacked.tell("PreCompact", trigger="auto")
    packet = attacked.context("SessionStart", source="compact")
    assert fenced(packet) == []
    assert not UNSEEN.search(packet)
    listed = attacked.other("s-2").context("SessionStart", source="startup")
    assert not UNSEEN.search(listed)
    tags = re.findall(r"<(/?)([\w-]+)>", listed)
    assert [name for slash, name in tags if not slash] == [name for slash, name in tags if slash]
    assert {name for _, name in tags} <= {"active-tasks", "stale-tasks", "task-hygiene"}


def test_the_note_before_a_compaction_quotes_recorded_text_with_a_margin(attacked):
    note = attacked.tell("PreCompact", trigger="auto")
    assert not UNSEEN.search(note)
    assert len(note) <= 4000
    # A line is ours, or it stands at a margin.
    ours = (
        "This session has task",
        "The user's request",
        "Instructions of the user",
        "The current step: ",
        "Paths, ",
    )
    assert all(line.startswith((*ours, "|")) for line in note.splitlines()), note
    assert not re.search(r"<[\w/!?|]|```", note)


def test_a_line_of_advice_stays_a_line(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch)
    host.tell("UserPromptSubmit", prompt=REQUEST)
    for number, text in enumerate(PAYLOADS[:40]):
        command = f"make {number}"
        host.bash(command, f"Exit code 1\n{text}", number, failed=True)
        told = host.before(command)
        assert told
        assert "\n" not in told
        assert not UNSEEN.search(told)
        assert not re.search(r"<[\w/!?|]|```", told)


@pytest.mark.parametrize(
    "name", sorted(name for name, host in HOSTS.items() if "SessionStart" in host.injects)
)
def test_our_own_texts_state_facts_and_give_no_orders(tmp_path, monkeypatch, name):
    host = QuickHost(tmp_path, monkeypatch, name=name)
    events = {ours: event for event, ours in HOSTS[name].events.items()}
    own = {"conversation_id": host.session}
    host.tell(events["UserPromptSubmit"], prompt="Rounding of invoices.", **own)
    with host.memory() as memory:
        memory.task_plan_append(None, ["look", "mend"])
        memory.task_decide(None, choice="half even", reasoning="as banks do")
        memory.task_exclude(None, what="floats", why="they lose cents")
    host.journal().reject_content("x.json", {}, "it is rubbish")
    said = [host.tell(events["PreCompact"], trigger="manual", **own)]
    said += [host.tell(events["SessionStart"], source=source, **own) for source in ("resume", "compact")]
    said += [host.other("s-2").tell(events["SessionStart"], source="startup")]
    for text in said:
        text = next(iter(json.loads(text).values())) if text.startswith("{") else text
        text = text["additionalContext"] if isinstance(text, dict) else text
        assert [line for line in text.splitlines() if ORDERS.search(line)] == []
    assert sum("1 event of the host could not be read" in text for text in said) >= 2


def test_a_problem_is_reported_in_place_of_the_packet(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch)
    host.tell("UserPromptSubmit", prompt=REQUEST)
    assert host.task().request == REQUEST
    host.store.write_bytes(b"no store at all" * 1000)
    for end in ("-wal", "-shm"):
        (host.store.parent / f"store.db{end}").unlink(missing_ok=True)
    told = host.context("SessionStart", source="startup")
    assert "the store cannot be read now" in told
    assert "1 event waits to be written" in told
