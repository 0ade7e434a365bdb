"""ACTIVE-TASKS.md as a projection: sections, filters, footers, times, and nothing but the rows."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from ringbolt.files.active_tasks import (
    STARTED,
    UPDATED,
    is_bookkeeping,
    is_completed,
    is_stale,
    known_moment,
    read_stamp,
    real_next,
    resolved,
    select,
)
from ringbolt.files.tasks_file import parse
from ringbolt.model.results import ActiveRow, Projection
from ringbolt.model.trust import least_trusted
from ringbolt.packet.encode import clean, from_markdown_row, markdown_row
from tests.files.rendering import render
from tests.packet.payloads import HOSTILE

GOLDEN = Path(__file__).parents[2] / "golden"
T = "2026-03-0{}T12:00:00.000Z".format


def row(label, title="A title", **fields) -> ActiveRow:
    return ActiveRow(label=label, title=title, updated=fields.pop("updated", T(1)), **fields)


EXAMPLE = [
    row(
        "deploy-api", "Deploy the API", next="Run the migration on staging", branch="feat/deploy",
        stash_commit="a1b2c3d", started=T(1), updated=T(3), related_goal="Release 2.0", channel="agent",
    ),
    row("docs", "Write the docs", status="Waiting", subagent="agent:main:subagent:77", started=T(1),
    updated=T(2)),
    row("flaky", "Find the flaky test", stale=True, started=T(1), updated=None, handoff="See notes.md"),
    row("login", "Fix the login page", status="Done", completed=True, started=T(1), updated=T(2)),
    row("noise", "Project task"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "projection", "rows"),
    [
        ("active-tasks.md", Projection(), EXAMPLE),
        ("active-tasks-flat.md", Projection(sectioned=False, mode="full"), EXAMPLE),
        ("active-tasks-capped.md", Projection(max_rows=1), EXAMPLE),
        ("active-tasks-empty.md", Projection(), []),
    ],
)
def test_the_file_is_as_a_reader_judged_it(name, projection, rows):
    found = render(rows, projection, position=42)
    assert found == (GOLDEN / name).read_text(encoding="utf-8")


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


def test_sections_that_are_empty_are_left_out():
    assert headings(render([row("a")])) == ["# Active tasks", "## Active", "### [a]: A title"]
    done = render([row("a", completed=True, status="Done")])
    assert headings(done) == ["# Active tasks", "## Completed", "### [a]: A title"]
    assert headings(render([row("a", stale=True)]))[1] == "## Stale — revisit"


def test_with_no_rows_at_all_there_is_one_section_that_says_so():
    assert "## Active\n\nNo active tasks.\n" in render([])
    assert "## Active Tasks\n\nNo active tasks.\n" in render([], Projection(sectioned=False))


def test_the_same_rows_in_any_order_give_the_same_bytes():
    texts = {render(rows, position=7) for rows in permutations(EXAMPLE)}
    assert len(texts) == 1


@pytest.mark.parametrize("title", ["Project task", "project TASK", "  Project task "])
def test_a_placeholder_title_is_left_out_unless_it_is_wanted(title):
    assert "1 with a placeholder title" in render([row("a", title)])
    assert "[a]" in render([row("a", title)], Projection(exclude_generic_title=False))
    assert "[a]" in render([row("a", title)], Projection(mode="full"))


def test_a_title_that_only_has_the_placeholder_in_it_is_shown():
    assert "[a]" in render([row("a", "Project task for Ada")])


def test_short_titles_are_left_out_only_when_asked_and_only_in_readable_mode():
    rows = [row("a", "abc"), row("b", "abcd")]
    assert "[a]" in render(rows)
    found = render(rows, Projection(title_min_chars=4))
    assert "[a]" not in found
    assert "[b]" in found
    assert "1 with a short title" in found
    assert "[a]" in render(rows, Projection(title_min_chars=4, mode="full"))


def labels(rows, **projection) -> set[str]:
    found = select(rows, Projection(**projection))
    return {each.label for each in (*found.active, *found.stale, *found.completed)}


def test_duplicates_are_kept_unless_asked_otherwise():
    rows = [row("a", "Fix it"), row("b", "fix  IT!")]
    assert labels(rows) == {"a", "b"}
    assert len(labels(rows, dedupe_by="normalizedTitle")) == 1
    assert labels(rows, dedupe_by="label") == {"a", "b"}
    assert labels(rows, dedupe_by="normalizedTitle", mode="full") == {"a", "b"}


def test_of_duplicates_the_one_updated_last_stays():
    rows = [
        row("a", "Fix it", updated=T(1)),
        row("b", "Fix it", updated=T(2)),
        row("c", "Fix it", updated=None),
    ]
    assert labels(rows, dedupe_by="normalizedTitle") == {"b"}
    assert select(rows, Projection(dedupe_by="normalizedTitle")).collapsed == 2


@pytest.mark.parametrize("updated", [T(1), None])
def test_in_a_tie_what_is_done_beats_what_is_in_progress(updated):
    rows = [
        row("x", updated=updated, next="go on"),
        row("x", updated=updated, status="Done", completed=True),
    ]
    for order in permutations(rows):
        assert select(order, Projection(dedupe_by="label")).completed == (rows[1],)
        assert select(order, Projection(dedupe_by="label")).active == ()


def test_titles_of_punctuation_are_no_duplicates_of_one_another():
    assert labels([row("a", "---"), row("b", "***")], dedupe_by="normalizedTitle") == {"a", "b"}


def test_each_section_is_capped_by_itself_and_the_footer_counts_the_rest():
    rows = [row(f"a{number}") for number in range(5)] + [row(f"s{number}", stale=True) for number in range(2)]
    found = render(rows, Projection(max_rows=2))
    assert found.count("### ") == 4
    assert "_Not shown: 3 active over the limit of 2._" in found
    assert "Not shown" not in render(rows, Projection(max_rows=5))


# --- times ------------------------------------------------------------------------------------------


def test_unknown_times_are_called_unknown():
    found = render([ActiveRow(label="a", title="b")])
    assert "- **Started:** Unknown\n- **Updated:** Unknown\n" in found


@pytest.mark.parametrize("keys", [STARTED, UPDATED])
def test_times_come_from_the_first_fact_that_can_be_read(keys):
    for number, key in enumerate(keys):
        facts = (
            dict.fromkeys(keys[:number], "soon") | {key: T(5)} | {name: T(6) for name in keys[number + 1 :]}
        )
        assert resolved(facts, keys, T(1)) == T(5)
    assert resolved({}, keys, T(1)) == T(1)
    assert resolved(dict.fromkeys(keys, "soon"), keys, None) is None


def test_a_time_is_read_or_unknown():
    for value, expected in [
        (T(1), T(1)),
        ("2026-03-01", "2026-03-01T00:00:00.000Z"),
        ("2026-03-01T13:00:00+01:00", T(1)),
        (1772366400.0, T(1)),
        ("Unknown", None),
        ("", None),
        (None, None),
        ("yesterday", None),
        (True, None),
        ([], None),
        ({}, None),
        ("2026-99-01T12:00:00.000Z", None),
        (1e30, None),
    ]:
        assert known_moment(value) == expected


def test_a_row_is_stale_after_the_threshold_and_where_nothing_is_known():
    noon = 1_772_366_400.0
    assert not is_stale(T(1), noon + 86_400, 1440)
    assert is_stale(T(1), noon + 86_401, 1440)
    assert is_stale(None, noon, 1440)
    assert not is_stale(T(2), noon, 1440)  # a clock that was set back


# --- what is said -----------------------------------------------------------------------------------


def test_a_placeholder_is_no_next_step():
    for text in [
        "",
        "-",
        "TBD",
        "todo",
        "None",
        "n/a",
        "Task [a] next:",
        "task a next: ",
        "Task [b c] next: TBD",
    ]:
        assert real_next(row("a", next=text)) is None


@pytest.mark.parametrize(
    ("text", "real"), [("Task [a] next: run it", "run it"), ("Run it", "Run it"), ("Nextcloud", "Nextcloud")]
)
def test_a_real_next_step_stays(text, real):
    assert real_next(row("a", next=text)) == real


def test_a_sub_agent_with_nothing_to_do_is_left_out():
    key = "agent:main:subagent:77"
    assert is_bookkeeping(row(key))
    assert is_bookkeeping(row("x", key, next="Task [x] next:"))
    assert is_bookkeeping(row("x", "worker-7", subagent="worker-7"))
    assert not is_bookkeeping(row(key, next="Merge its branch"))
    assert not is_bookkeeping(row("x", "Build the page", subagent=key))
    assert labels([row(key), row("b")]) == {"b"}
    assert labels([row(key), row("b")], mode="full") == {key, "b"}


def test_what_is_over_and_what_is_not():
    for word, over in [
        ("Done", True),
        ("completed", True),
        ("cancelled", True),
        ("closed", True),
        ("superseded", True),
        ("abandoned", True),
        ("In progress", False),
        ("Waiting", False),
        ("Stalled", False),
        ("Failed", False),
        ("whatever", False),
        ("", False),
    ]:
        assert is_completed(word) is over


def test_a_row_is_as_trustworthy_as_its_worst_text():
    assert least_trusted(["user", "agent"]) == "agent"
    assert least_trusted(["agent", "web", "tool"]) == "web"
    assert least_trusted(["user", None]) is None


# --- the stamp --------------------------------------------------------------------------------------


def test_the_last_line_says_what_the_file_shows_and_whether_it_was_edited():
    text = render(EXAMPLE, position=42)
    assert read_stamp(text) == (42, True)
    assert read_stamp(text.replace("\n", "\r\n")) == (42, True)
    assert read_stamp(text.replace("Deploy", "Destroy")) == (42, False)
    assert read_stamp(text + "\nmore\n") == (42, False)
    assert read_stamp(render(EXAMPLE)) == (None, True)
    assert read_stamp("# Active tasks\n") is None
    assert read_stamp("") is None


# --- hostile texts ----------------------------------------------------------------------------------

FIELDS = ["label", "title", "status", "next", "branch", "stash_commit", "subagent", "related_goal", "handoff"]


def test_no_text_breaks_out_of_its_line_and_all_come_back():
    for field in FIELDS:
        for text in HOSTILE:
            one = row("a", next="n").replace(**{field: text})
            found = render([one, row("other", "Another")], Projection(mode="full"))
            assert len(headings(found)) == 4, text
            assert all(letter == "\n" or letter.isprintable() for letter in found), text
            rows = parse(found).rows
            assert {each.label for each in rows} == {clean(one.label), "other"}, text
            (back,) = (each for each in rows if each.title != "Another")
            # A text of nothing but what nobody sees is none.
            nothing = {"status": "In progress", "title": "", "label": ""}.get(field)
            assert getattr(back, field) == (clean(text) or nothing), ascii(text)


@pytest.mark.parametrize("bracketed", [False, True])
def test_markdown_gives_back_what_went_in(bracketed):
    for text in HOSTILE:
        line = markdown_row(text, bracketed=bracketed)
        assert from_markdown_row(line) == clean(text)
        assert "\n" not in line
        assert line == line.strip(" ")
        assert "<!--" not in line
        assert "](" not in line
        assert not bracketed or not {"[", "]"} & set(line)
