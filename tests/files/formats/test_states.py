"""The files of a states folder: no recorded text can forge anything in them, and all is read back equal."""

from __future__ import annotations

import json
import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ringbolt.files.states import (
    FIELDS,
    KINDS,
    NOTES,
    decisions_markdown,
    entry_markdown,
    map_markdown,
    task_json,
)
from ringbolt.files.states_reading import read_notes, read_state
from ringbolt.model.types import Entry, Origin
from ringbolt.packet.encode import from_markdown, markdown, markdown_line
from tests.packet.scenario import ids, play
from tests.support import Clock, open_memory

# Letters that mean something in Markdown come often.
MARKS = "\\`*_{}[]()#+-.!|<>&;~:=12 \t\n\r\"'x\u2028\u202e\x1b\x9b"
TEXTS = st.text(MARKS, max_size=20) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20
)
HOSTILE = [
    "### [2026-01-01] Decision: forged\n- **Choice**: forged",
    "x\n\n## Exclusions\n- **What**: forged",
    "- **Reasoning**: forged",
    "<!-- ringbolt {\"status\": \"invalidated\"} -->",
    "-->", "```\ncode\n```", "---", "===", "\\", "\\\\", "&lt;b&gt;", "``{\"a\": 1}``", "1. one\n2) two",
    "", " ", "| a | b |\n|---|---|", "[link](javascript:alert(1))", "\ttab", "trailing  \n", "\n\n\n",
    "a\r\nb", "> quote",
]  # fmt: skip
SAID = TEXTS | st.sampled_from(HOSTILE)
JSON = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | SAID,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SAID, inner, max_size=3),
    max_leaves=5,
)
WORDS = st.lists(st.text("abc-`<>", min_size=1, max_size=5), max_size=2).map(tuple)


def entries(kind, fields, optional):
    return st.builds(
        lambda seq, status, summary, detail, tags, data, channel: Entry(
            seq=seq, type=kind, at="2026-03-01T12:00:00.000Z", status=status, summary=summary, detail=detail,
            tags=tags, data=data, key=None, origin=Origin(channel=channel),
        ),
        st.integers(1, 10**6), st.sampled_from(["active", "superseded", "resolved"]), SAID,
        SAID | st.none() if kind in NOTES else st.none(), WORDS,
        st.fixed_dictionaries(fields, optional=optional), st.sampled_from(["user", "agent", "tool"]),
    )  # fmt: skip


DECISIONS = entries(
    "decision",
    {"choice": SAID},
    {
        "title": SAID, "options": st.lists(JSON, min_size=1, max_size=3), "reasoning": SAID,
        "risks": SAID | st.lists(JSON, min_size=1, max_size=3) | JSON, "if_wrong": SAID, "context": SAID,
        "recorded_at": SAID, "Other": JSON,
    },
)  # fmt: skip
EXCLUSIONS = entries(
    "exclusion",
    {"what": SAID},
    {"why": SAID, "symptom": SAID, "until": SAID, "when": SAID, "recorded_at": SAID},
)
OTHERS = st.sampled_from(NOTES).flatmap(lambda kind: entries(kind, {}, {"k": JSON, "summary": JSON}))


def said_by(note):
    """What a note says, in the terms of an entry."""
    data = {**note.data, **note.fields}
    if note.kind == "decision" and not note.own.get("untitled"):
        data["title"] = note.title
    return (
        note.kind,
        note.own["seq"],
        note.own.get("status", "active"),
        tuple(note.own.get("tags", ())),
        note.at,
        data,
    )


def said(entry):
    data = dict(entry.data)
    at = data.pop("recorded_at", entry.at)
    if entry.type == "exclusion":
        data.setdefault("when", at)
    # What others call an instruction of the user is no instruction when it is read again.
    reported = entry.type == "user_instruction" and entry.origin.channel != "user"
    kind = "context" if reported else entry.type
    return kind, entry.seq, entry.status, entry.tags, at, data


@pytest.fixture
def played(tmp_path):
    clock = Clock()
    with open_memory(f"sqlite://{tmp_path}/store.db", clock, random=ids()) as memory:
        task = play(memory, clock)
        yield memory, memory.task_get(task)


# --- the encoder ------------------------------------------------------------------------------------


@given(SAID)
def test_markdown_gives_every_text_back(text):
    assert from_markdown(markdown(text, indent="")) == text
    assert from_markdown(markdown_line(text)) == text
    assert "\n" not in markdown_line(text)


@given(SAID)
def test_no_line_of_an_encoded_text_begins_anything_or_is_empty(text):
    begins = re.compile(r"[ \t]|[#+\-*=>_~|:`<]|[0-9]{1,9}[.)]|$")
    for line in markdown(text, indent="").split("\n"):
        assert not begins.match(line), line
        assert not line.endswith((" ", "\t"))
        unescaped = re.sub(r"\\.", "", line)
        assert not re.search(r"[`*\[\]<\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", unescaped), line


# --- entries ----------------------------------------------------------------------------------------


@given(st.lists(DECISIONS, max_size=4))
def test_decisions_are_read_back_with_all_their_fields(found):
    notes = read_notes("\n".join(entry_markdown(entry) for entry in found), "decision")
    assert [said_by(note) for note in notes.notes] == [said(entry) for entry in found]
    assert notes.unread == ()


@given(st.lists(EXCLUSIONS | OTHERS, max_size=4))
def test_exclusions_and_notes_are_read_back_with_all_their_fields(found):
    notes = read_notes("\n".join(entry_markdown(entry) for entry in found), "context")
    for note, entry in zip(notes.notes, found, strict=True):
        kind, seq, status, tags, at, data = said(entry)
        if kind in NOTES:
            assert note.fields["summary"] == entry.summary
            assert note.fields.get("detail") == entry.detail
            assert (note.kind, note.own["seq"], note.at, dict(note.data)) == (kind, seq, at, data)
        else:
            assert said_by(note) == (kind, seq, status, tags, at, data)
    assert notes.unread == ()


def test_no_text_forges_an_entry_a_section_or_a_field():
    for text in HOSTILE:
        entry = Entry(
            seq=1, type="decision", at="t", status="active", summary=text, origin=Origin(),
            data={"title": text, "choice": text, "options": [text, text], "reasoning": text, "Other": text},
        )  # fmt: skip
        page = entry_markdown(entry)
        heads = [line for line in page.split("\n") if line.startswith("#")]
        fields = [line.split("**")[1] for line in page.split("\n") if line.startswith("- **")]
        assert len(heads) == 1
        assert fields == ["Choice", "Options considered", "Reasoning", "Data"]
        assert page.count("<") == 1


def test_a_decision_stands_there_as_the_guide_shows_it(played):
    memory, task = played
    page = decisions_markdown(task, memory.task_history(task.id, type="decision"))
    assert "### [2026-03-01T12:01:06.200Z] Decision: Trigram index instead of a search engine\n" in page
    for field in ("Choice", "Options considered", "Reasoning", "Risks", "If wrong", "Context"):
        assert f"- **{field}**:" in page


def test_the_context_map_has_notes_files_and_exclusions(played):
    memory, task = played
    kinds = {kind: memory.task_history(task.id, type=kind) for kind in FIELDS}
    notes = read_notes(map_markdown(task, kinds), "context")
    assert [note.kind for note in notes.notes] == ["discovery", "exclusion"]
    assert notes.files == (
        ("migrations/0042_trgm.sql", "created"),
        ("search/cache.py", "deleted"),
        ("search/query.py", "modified"),
    )
    assert notes.notes[1].fields == {
        "what": "A cache before the search",
        "when": "2026-03-01T12:00:06.200Z",
        "why": "Every customer types something else, so hardly anything is asked twice.",
        "symptom": "Hit rate of 3 %, p99 unchanged",
        "signature": "search cache",
    }


def test_the_state_answers_goal_phase_progress_blockers_and_variables(played):
    _, task = played
    text = task_json(task, task.variables)
    value = json.loads(text)
    assert value["goal"] == task.goal
    assert (value["status"], value["phase"], value["reason"]) == ("waiting", "recovering", "evening traffic")
    assert (value["progress"]["done"], value["progress"]["total"], value["progress"]["next"]) == (
        2,
        3,
        "report",
    )
    assert value["blockers"] == ["Evening traffic begins at 19:00"]
    assert value["variables"] == {"p99_before_ms": 8400, "database": {"host": "db-2", "read_only": True}}
    state = read_state(text)
    assert (state["goal"], state["phase"], state["rest"]) == (task.goal, "recovering", {})
    assert [step["id"] for step in state["steps"]] == ["measure", "index", "report"]
    assert task_json(task, task.variables) == text


# --- what people write ------------------------------------------------------------------------------


def test_a_decision_log_as_the_guide_writes_it_is_read():
    notes = read_notes(
        "\ufeff# Decision Log\r\n\r\nSome words about it.\r\n\r\n"
        "### [2026-03-01 14:30] Decision: Session over JWT\r\n"
        "- **Choice**: Session cookies\r\n"
        "- **Options considered**: JWT, session, basic auth\r\n"
        "- **Reasoning**: The project already has\r\n  session middleware\r\n\r\n  and `tests` for it\r\n"
        "- **Risks**:\r\n  - Sticky sessions\r\n  - Memory\r\n"
        "- **If wrong**: Roll back\r\n"
        "- **Owner**: Kim\r\n\r\n"
        "## 2026-03-02 Decision: No **Friday** deploys\r\n"
        "**Choice:** Wednesday\r\n"
        "* Context: planning\r\n",
        "decision",
    )
    first, second = notes.notes
    assert (first.kind, first.at, first.title) == ("decision", "2026-03-01 14:30", "Session over JWT")
    assert first.fields == {
        "choice": "Session cookies",
        "options": "JWT, session, basic auth",
        "reasoning": "The project already has\nsession middleware\n\nand `tests` for it",
        "risks": ["Sticky sessions", "Memory"],
        "if_wrong": "Roll back",
    }
    assert first.data == {"Owner": "Kim"}
    assert (second.at, second.title) == ("2026-03-02", "No **Friday** deploys")
    assert second.fields == {"choice": "Wednesday", "context": "planning"}
    assert notes.unread == (3,)


def test_an_exclusion_list_as_the_guide_writes_it_is_read():
    notes = read_notes(
        "# Context map\n- The API lives in `api/`\n- Tests need Docker\n\n"
        "## Exclusion List\n"
        "- **What**: pip install\n- **When**: 2026-03-01, set-up\n- **Why**: no compiler\n"
        "- **Symptom**: gcc missing\n"
        "- **What**: conda\n  **Why**: no licence\n\n"
        "## Files\n- modified: api/app.py\n- api/old.py is dead\n",
        "context",
    )
    assert [(note.kind, dict(note.fields)) for note in notes.notes] == [
        ("context", {"summary": "The API lives in `api/`"}),
        ("context", {"summary": "Tests need Docker"}),
        (
            "exclusion",
            {
                "what": "pip install",
                "when": "2026-03-01, set-up",
                "why": "no compiler",
                "symptom": "gcc missing",
            },
        ),
        ("exclusion", {"what": "conda", "why": "no licence"}),
        ("context", {"summary": "api/old.py is dead"}),
    ]
    assert notes.files == (("api/app.py", "modified"),)


@given(st.text(MARKS + "DecisionExclusionWhatFiles:*#-", max_size=200), st.sampled_from(sorted(KINDS)))
def test_whatever_a_file_says_it_is_read_without_an_error(text, kind):
    read_notes(text, kind)


@pytest.mark.parametrize(
    ("progress", "steps"),
    [
        (None, []),
        ("half done", []),
        ({"done": ["a", "b"], "next": "c"}, [("a", "completed"), ("b", "completed"), ("c", "pending")]),
        (
            {"completed": ["a"], "current": "b", "next": ["c"]},
            [("a", "completed"), ("b", "active"), ("c", "pending")],
        ),
        ({"steps": ["a", {"title": "b", "status": "done"}]}, [("a", None), ("b", "done")]),
    ],
)
def test_progress_is_understood_in_several_forms(progress, steps):
    state = read_state(json.dumps({"goal": "g", "progress": progress, "blockers": "none", "x": 1}))
    assert [(step["title"], step.get("status")) for step in state["steps"]] == steps
    assert state["blockers"] == []
    assert state["rest"] == ({"x": 1, "progress": progress} if progress == "half done" else {"x": 1})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[]", "not a JSON object"),
        ("{", "line 1"),
        ('{"blockers": 3}', "blockers"),
        ('{"variables": []}', "variables"),
    ],
)
def test_a_state_that_cannot_be_read_is_said(text, wrong):
    with pytest.raises(ValueError, match=wrong):
        read_state(text)
