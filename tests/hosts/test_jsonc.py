"""JSON with comments, changed in place: nothing is lost, and what was put in comes out without a trace."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.hosts.hook_build import HookProgram
from ringbolt.hosts.install import jsonc
from ringbolt.hosts.install.json_settings import Before, HookEntry, JsonFile, ServerEntry

EVENTS = ("SessionStart", "Stop")
OURS = HookProgram(path="/opt/a b/ringbolt-hook")
COMMAND = OURS.command("claude-code", "Stop")
FILE = JsonFile(
    path="settings.json",
    entries=(
        *(
            HookEntry(
                host="claude-code",
                event=event,
                value={"hooks": [{"type": "command", "command": command, "timeout": 5}]},
                command=command,
            )
            for event in EVENTS
            for command in [OURS.command("claude-code", event)]
        ),
        ServerEntry(
            value={"command": "/opt/a b/ringbolt", "args": ["mcp"]},
            command="/opt/a b/ringbolt",
            path=("mcpServers",),
        ),
    ),
    required={"version": 1},
)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=6),
    st.sampled_from(["//", "/*", "é\n", '"', "https://x"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
groups = st.fixed_dictionaries(
    {
        "hooks": st.lists(
            st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=8)}), max_size=2
        )
    }
)
events = st.dictionaries(st.sampled_from((*EVENTS, "Other")), st.lists(groups | values.filter(
    lambda value: not isinstance(value, dict)), max_size=2), max_size=3)  # fmt: skip
documents = st.builds(
    lambda some, hooks, servers, version: {**some, **hooks, **servers, **version},
    st.dictionaries(st.text(max_size=4), values, max_size=3),
    st.just({}) | events.map(lambda value: {"hooks": value}),
    st.just({})
    | st.dictionaries(st.sampled_from("ab"), values, max_size=2).map(lambda value: {"mcpServers": value}),
    st.just({}) | st.just({"version": 7}),
).flatmap(lambda document: st.permutations(list(document.items())).map(dict))


@st.composite
def texts(draw) -> str:
    """A document as somebody may have written it: any layout, with comments and trailing commas."""
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    kind = draw(st.sampled_from(["plain", "tight", "wild"]))
    document = draw(documents)
    if kind == "plain":
        text = json.dumps(document, indent=draw(st.sampled_from([1, 2, 4, "\t"])), ensure_ascii=False)
        return text.replace("\n", line_end) + draw(st.sampled_from(["", line_end]))
    if kind == "tight":
        return json.dumps(document, separators=draw(st.sampled_from([(",", ":"), (", ", ": ")])))
    gaps = st.sampled_from(
        [
            "",
            "",
            " ",
            "\t",
            line_end,
            f"{line_end}  ",
            "/* } */",
            f"/*{line_end}*/",
            f" // ], {{{line_end}",
            f"//{line_end}",
        ]
    )

    def written(value) -> str:
        if not isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        parts = (
            [f"{json.dumps(key)}{draw(gaps)}:{draw(gaps)}{written(inner)}" for key, inner in value.items()]
            if isinstance(value, dict)
            else [written(inner) for inner in value]
        )
        body = "".join(
            f"{draw(gaps)}{part}{draw(gaps)}" + ("," if index < len(parts) - 1 or draw(st.booleans()) else "")
            for index, part in enumerate(parts)
        )
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return f"{opening}{body}{draw(gaps)}{closing}"

    return f"{draw(gaps)}{written(document)}{draw(gaps)}"


def read(text: str) -> object:
    root = jsonc.parse(text)
    return None if root is None else jsonc.value_of(text, root)


def lies_in(small: object, big: object) -> bool:
    """Whether all of a document is still there, in its order, with more beside it."""
    if isinstance(small, dict) and isinstance(big, dict):
        kept = [key for key in big if key in small]
        return kept == list(small) and all(lies_in(value, big[key]) for key, value in small.items())
    if isinstance(small, list) and isinstance(big, list):
        return len(big) - len(small) in (0, 1) and all(map(lies_in, small, big))
    return small == big


@given(texts())
def test_nothing_is_lost_and_all_comes_out_again(before):
    after, created = FILE.installed(before)
    assert lies_in(read(before), read(after))
    assert set(FILE.states(after).values()) == {"installed"}
    assert FILE.installed(after) == (after, [])
    assert FILE.removed(after, Before(created=created)) == before
    # Without a memory of what was there: nothing of ours is left, and nothing else but empty boxes goes.
    left = FILE.removed(after, None)
    assert set(FILE.states(left).values()) == {"not installed"}
    assert [left.count(mark) for mark in ("/*", "// ]")] == [before.count(mark) for mark in ("/*", "// ]")]


@given(values, st.sampled_from([None, 1, "\t"]))
def test_json_is_read_as_the_standard_reader_reads_it(value, indent):
    text = json.dumps(value, indent=indent)
    assert read(text) == value


@pytest.mark.parametrize("text", ["", " \n", "// nothing\n", "/* nothing */"])
def test_a_file_of_comments_alone_is_restored_exactly(text):
    after, created = FILE.installed(text)
    assert set(FILE.states(after).values()) == {"installed"}
    assert FILE.removed(after, Before(created=created, text=text)) == text


@pytest.mark.parametrize(
    "text",
    ["{", "}", "{]", "[}", '{"a" 1}', '{"a":}', "{a:1}", "{'a':1}", '{"a":1,,}', "{,}", "{} {}", "nul", "01",
     '"\n"', '{"a":1 "b":2}', "/* open", '{"a":"\\x"}', "{} x", '"', "-", "[1 2]", '{"a":1}]'],
)  # fmt: skip
def test_a_text_that_is_not_json_is_refused_with_its_line(text):
    with pytest.raises(jsonc.NotJson, match=r"line [12]"):
        jsonc.parse(text)


def test_a_very_deep_document_is_no_trouble():
    before = '{"a":' + "[" * 5_000 + "]" * 5_000 + "}"
    after, created = FILE.installed(before)
    assert FILE.removed(after, Before(created=created)) == before


def test_comments_stay_with_what_they_are_about():
    before = '{\n  "hooks": {\n    "Stop": [\n      1 // one\n      // two\n    ] // three\n  } // four\n}\n'
    after, _ = FILE.installed(before)
    assert "      1, // one\n      {\n" in after
    assert "    ], // three\n" in after
    assert "  }, // four\n" in after


def test_a_hook_that_shares_a_group_with_others_goes_alone():
    before = {"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": COMMAND}, {"command": "b"}]}]}}
    text = json.dumps(before)
    assert FILE.states(text)["Stop"] == "installed"
    left = json.loads(FILE.removed(text, None) or "")
    assert left["hooks"]["Stop"] == [{"hooks": [{"command": "a"}, {"command": "b"}]}]


def test_a_moved_program_is_put_right_where_it_stands():
    after, _ = FILE.installed('{"a": 1}')
    moved = after.replace("/opt/a b/", "/old/")
    assert set(FILE.states(moved).values()) == {"outdated"}
    assert FILE.installed(moved) == (after.replace("'/old/", "'/opt/a b/"), [])
