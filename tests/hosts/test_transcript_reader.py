"""The transcript reader on recorded sessions: whole, in pieces and up to a size they hold the same events."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.hosts.transcripts.events import Answers, Compaction, Message, Prompt, TodoList, ToolCall
from ringbolt.hosts.transcripts.lines import member
from ringbolt.hosts.transcripts.reader import TranscriptReader, parser_for
from tests.hosts.recordings import HOSTS, hook_reports, transcript


def reader(host, content=None, **more):
    path = transcript(host)
    file = io.BytesIO(path.read_bytes() if content is None else content)
    return TranscriptReader(file, parser_for(file, str(path)), **more)


def whole(host):
    return list(reader(host).events())


def test_a_session_of_claude_code():
    events = whole("claude-code")
    kinds = Counter(type(event).__name__ for event in events)
    assert kinds == {"Prompt": 3, "Message": 10, "Notice": 3, "Compaction": 1, "Answers": 1, "TodoList": 9,
                     "ToolCall": 21}  # fmt: skip
    assert {(event.session, event.agent, event.folder) for event in events} == {
        (events[0].session, "", "/home/user/shop")
    }
    assert [event.text.splitlines()[0] for event in events if isinstance(event, Prompt)] == [
        "The import of orders stops at line 900.",
        "Now make the importer log each line that it skips.",
        "Write a note about it for the changelog.",
    ]
    (answers,) = (event.answers for event in events if isinstance(event, Answers))
    assert answers == {"What should happen to a broken line?": "Skip it"}
    *_, todos = (event.items for event in events if isinstance(event, TodoList))
    assert [(item["text"], item["status"]) for item in todos] == [
        ("Reproduce the failure", "completed"), ("Fix the importer", "completed"), ("Test it", "completed"),
    ]  # fmt: skip
    failed = [event for event in events if isinstance(event, ToolCall) and event.failed]
    assert [(event.tool, event.input.get("command", "")) for event in failed] == [
        ("Bash", failed[0].input["command"]),
        ("Bash", "cat missing-orders.csv"),
        ("Bash", "rm -r archive"),
        ("Edit", ""),
        ("Bash", "python3 -m no_such_linter importer.py"),
        ("Grep", ""),
    ]
    assert failed[2].output == "Keep the archive, the auditors need it."
    (compaction,) = (event for event in events if isinstance(event, Compaction))
    assert "logging is next" in compaction.text


def test_a_session_of_codex():
    events = whole("codex")
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert next(event.text for event in events if isinstance(event, Message)) == "I make a plan first."
    assert sum(isinstance(event, Prompt) for event in events) == 2
    assert sum(isinstance(event, Compaction) for event in events) == 1
    assert [(call.tool, call.input["cmd"]) for call in calls if call.failed and "cmd" in call.input][1:] == [
        ("exec_command", "cat missing-orders.csv"),
        ("exec_command", "python3 -m no_such_linter importer.py"),
    ]
    patched = [call.input["path"] for call in calls if call.tool == "apply_patch"]
    assert patched == ["importer.py", "test_importer.py", "nowhere.py"]
    *_, todos = (event.items for event in events if isinstance(event, TodoList))
    assert {item["status"] for item in todos} == {"completed"}


@pytest.mark.parametrize("host", HOSTS)
def test_every_line_is_known_and_every_event_has_a_key_of_its_own(host):
    reading = reader(host)
    keys = [event.key for event in reading.events()]
    assert (reading.skipped, reading.position) == (0, transcript(host).stat().st_size)
    assert len(set(keys)) == len(keys) > 20


@pytest.mark.parametrize("host", HOSTS)
def test_reading_up_to_each_hook_yields_every_event_once(host):
    file = io.BytesIO(transcript(host).read_bytes())
    parser, position, found = parser_for(file, ""), 0, []
    for report in hook_reports(host):
        reading = TranscriptReader(file, parser, position=position, upto=report.transcript_bytes)
        found += reading.events()
        position = reading.position
        assert position == report.transcript_bytes
    found += TranscriptReader(file, parser, position=position).events()
    assert found == whole(host)


@given(sizes=st.lists(st.integers(min_value=0, max_value=45_000), max_size=5))
def test_wherever_it_stops_it_goes_on_without_a_gap(sizes):
    file = io.BytesIO(transcript("claude-code").read_bytes())
    parser, position, found = parser_for(file, ""), 0, []
    for upto in (*sorted(sizes), *[None] * 10):
        reading = TranscriptReader(file, parser, position=position, upto=upto, most=5_000)
        found += reading.events()
        position = reading.position
        assert upto is None or position <= upto
    assert found == whole("claude-code")


def test_a_last_line_without_an_end_is_left_unless_it_is_wanted():
    content = transcript("claude-code").read_bytes()[:-1]
    assert len(list(reader("claude-code", content).events())) == len(whole("claude-code")) - 1
    assert list(reader("claude-code", content, partial=True).events()) == whole("claude-code")


def test_lines_without_the_wanted_bytes_are_passed_over():
    reading = reader("claude-code", only=(b'"type":"assistant"',))
    assert {type(event) for event in reading.events()} == {Message}
    assert reading.position == transcript("claude-code").stat().st_size


def test_an_earlier_line_is_found_by_what_it_contains(tmp_path):
    path = transcript("claude-code")
    with open(path, "rb") as file:
        reading = TranscriptReader(file, parser_for(file, ""), position=path.stat().st_size)
        call = next(e.key for e in whole("claude-code") if isinstance(e, ToolCall) and e.failed)
        line = reading.line_before(member("id", f'"{call}"'))
        assert line["message"]["content"][0]["name"] == "Bash"
        assert reading.line_before(member("id", '"nowhere"')) == {}
