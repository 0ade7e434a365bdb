"""Names: what the work uses is found in what was said, typed and printed, and what matters comes first."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.extract.names import KEPT, MOST, SHOWN, Names, find_names
from ringbolt.model.types import Event, Origin

SORTS = {
    "see src/app/main_window.py:31": {("path", "main_window.py")},
    "README.md and CHANGELOG.md.": {("path", "README.md"), ("path", "CHANGELOG.md")},
    "call parseHeader() or parse_header": {("ident", "parseHeader"), ("ident", "parse_header")},
    "os.EnvKeyNotSet is returned": {("ident", "EnvKeyNotSet")},
    "MAX_RETRIES=3": {("const", "MAX_RETRIES")},
    "fixed in 1a2b3c4 (v1.22.0), ABC-123 and #4711": {
        ("commit", "1a2b3c4"),
        ("version", "v1.22.0"),
        ("ticket", "ABC-123"),
        ("ticket", "#4711"),
    },
    "open https://example.org/x?y=1.": {("url", "https://example.org/x?y=1")},
    "commit 0123456789abcdef0123456789abcdef01234567": {("commit", "0123456")},
    "session 28c304f6-3c5f-4539-af1d-07ae450e639d": set(),
    "Nothing here, e.g. no names; the IDs and PRs of it.": set(),
    "deadbeef and 12345678 are words and numbers": set(),
}


def event(seq: int, text: str = "", channel: str = "agent", **data: object) -> Event:
    who = Origin(channel=channel)
    return Event(task_id="t", seq=seq, type="message", at="", origin=who, text=text, data=data, sets={})


def ranked(*events: Event) -> list[str]:
    names = Names()
    for one in events:
        names.observe(one)
    return [name.name for name in names.best()]


@pytest.mark.parametrize(("text", "wanted"), SORTS.items())
def test_names_are_found_by_their_form(text, wanted):
    assert find_names(text) == wanted


def test_names_come_from_inputs_and_outputs_too():
    found = ranked(
        event(1, "Reading the handler", input={"file_path": "/w/handler.go"}, output="func handleStop() {}")
    )
    assert found == ["handler.go", "handleStop"]


def test_what_is_used_again_and_again_comes_before_what_was_seen_once():
    events = [event(seq, "editing state_machine.go") for seq in range(1, 5)]
    assert ranked(*events, event(5, output="other_file.go"))[0] == "state_machine.go"


def test_what_was_used_lately_comes_before_what_was_used_long_ago():
    old = [event(seq, "now old_thing.go") for seq in (1, 2)]
    rest = [event(seq, "nothing") for seq in range(3, 200)]
    assert (
        ranked(*old, *rest, event(200, "now new_thing.go"), event(201, "new_thing.go"))[0] == "new_thing.go"
    )


def test_what_was_said_or_typed_comes_before_what_was_only_printed():
    found = ranked(event(1, "look at WidgetMaker", output="WidgetTaker"))
    assert found == ["WidgetMaker", "WidgetTaker"]


def test_our_own_state_line_before_a_compaction_uses_no_names():
    line = event(2, "[STATE] Task: old_name.py").replace(type="snapshot")
    assert ranked(event(1, "old_name.py"), line) == ranked(event(1, "old_name.py"))
    kept = line.replace(text="The host sums up new_name.py", data={"summarized": True})
    assert "new_name.py" in ranked(event(1, "old_name.py"), kept)


def test_a_name_has_the_channel_of_the_event_that_had_it_last():
    names = Names()
    names.observe(event(1, "thing_one.py"))
    names.observe(event(2, output="thing_one.py", channel="tool"))
    (found,) = names.best()
    assert (found.seq, found.channel, found.kind) == (2, "tool", "path")


def test_continuing_from_a_state_gives_the_same_names():
    events = [
        event(seq, f"file_{seq % 7}.py calls makeThing{seq % 5}", output=f"out_{seq}") for seq in range(1, 60)
    ]
    whole, halves = Names(), Names()
    for one in events:
        whole.observe(one)
        halves = Names(json.loads(json.dumps(halves.state())))
        halves.observe(one)
    assert halves.state() == whole.state()


def test_the_state_is_bounded_however_many_names_there_are():
    names = Names()
    for seq in range(1, 400):
        names.observe(event(seq, " ".join(f"name_{seq}_{n}.py" for n in range(20))))
    state = names.state()
    assert KEPT <= len(state["known"]) <= MOST + 20
    assert len(json.dumps(state)) < 200_000
    shown = names.shown()
    assert len(shown) == SHOWN
    assert shown[0]["name"].startswith("name_399_")


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    assert all(name and name in text for _, name in find_names(text))
