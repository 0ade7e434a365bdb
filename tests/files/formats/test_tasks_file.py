"""ACTIVE-TASKS.md as the truth: no line is lost, edits change only what they must, what we write we read."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ringbolt.files.active_tasks import is_completed
from ringbolt.files.tasks_file import complete, find, parse, upsert, write
from ringbolt.model.errors import RingboltError
from ringbolt.model.results import ActiveRow, Projection
from ringbolt.packet.encode import clean
from tests.files.rendering import render
from tests.packet.payloads import HOSTILE

NOW = "2026-03-05T12:00:00.000Z"
BY_HAND = """\
\ufeff# Our work

A paragraph that someone wrote.

## Active

<!-- a comment
### [hidden]: not a row
-->
### [api: v2]: Deploy the API
- **Branch:** feat/api
- **Status:** In progress
- **Owner:** Ada
- **Next:** Run it on C:\\temp\\new & "quote"
  over two lines
* **Updated**: 2026-03-01

Notes under the row.
- [ ] a task list

### [no-times]: No times here
- **Status:** whatever this means

```
### [code]: not a row either
```

## Ideas
### [idea]: not ours
- **Status:** Done

## Completed
### [old]: Old one
"""

pieces = st.sampled_from(
    [
        "# T\n", "## Active\n", "## Active Tasks\n", "## Completed\n", "## Stale — revisit\n", "## Other\n",
        "\n",
        "### [a]: one\n", "### [b]: two\r\n", "### [c:d]: x\n", "- **Status:** Done\n", "- **Next:** go\n",
        "- **Updated:** Unknown\n", "* **Branch**: x\n", "<!--\n", "-->\n", "```\n", "~~~\n", "text\n",
        "\r\n",
        "\ufeff", "### broken\n", "### [x]\n", "- **Odd:** 1\n", "_Not shown: 1._\n", "No active tasks.\n",
        "###\n",
        "<!-- ringbolt: active-tasks content=0123456789abcdef -->\n",
    ]
)  # fmt: skip
files = st.lists(st.one_of(pieces, st.text(max_size=20)), max_size=25).map("".join)


@given(st.one_of(files.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary(max_size=200)))
def test_whatever_a_file_holds_writing_it_gives_the_same_bytes(content):
    assert write(parse(content)) == content


@example("<!-- ringbolt: active-tasks content=0123456789abcdef -->\n# T\n### [a]: one\n", "b", "Done")
@given(files, st.sampled_from(["a", "b", "c:d", "new", "x]y"]), st.sampled_from(["Done", "Waiting", None]))
def test_an_edit_keeps_every_other_line_and_says_what_was_asked_or_is_refused(text, label, status):
    before = parse(text)
    try:
        after = upsert(before, label, {"title": "T", "next": "N", "status": status, "updated": NOW})
    except RingboltError:
        assert "<!--" in text or "```" in text or "~~~" in text  # something is not closed
        return
    row = find(after, label).row
    assert (row.title, row.next, row.updated) == ("T", "N", NOW)
    if status:
        assert row.status == status
    block = find(before, label)
    own = set(range(block.start, block.end)) if block else set()
    kept = [line.strip() for number, line in enumerate(before.lines) if number not in own]
    found = [line.strip() for line in after.lines]
    for line in kept:
        if line and line != "No active tasks.":
            assert kept.count(line) <= found.count(line), line
    others = [each.label for each in before.rows if each.label != label]
    assert sorted(each.label for each in after.rows if each.label != label) == sorted(others)


texts = st.text(max_size=40)
moments = st.sampled_from([None, NOW, "2026-01-01T00:00:00.000Z"])


@given(
    st.lists(
        st.builds(
            ActiveRow,
            label=texts.map(clean), title=texts.map(clean), status=st.sampled_from(["In progress",
            "Waiting", "Done", "Failed"]),
            next=st.one_of(st.none(), texts.map(clean)), branch=st.one_of(st.none(), texts.map(clean)),
            subagent=st.one_of(st.none(), texts.map(clean)), handoff=st.one_of(st.none(), texts.map(clean)),
            related_goal=st.one_of(st.none(), texts.map(clean)), stash_commit=st.one_of(st.none(),
            texts.map(clean)),
            started=moments, updated=moments, stale=st.booleans(),
        ),
        max_size=6,
    ),
    st.booleans(),
)  # fmt: skip
def test_what_is_rendered_is_read_back_equal(rows, sectioned):
    def whole(row):
        completed = is_completed(row.status)
        empty = {
            name: getattr(row, name) or None
            for name in ("next", "branch", "subagent", "handoff", "related_goal", "stash_commit")
        }
        return row.replace(completed=completed, stale=row.stale and not completed and sectioned, **empty)

    rows = [row.replace(completed=is_completed(row.status)) for row in rows]
    text = render(rows, Projection(mode="full", sectioned=sectioned), position=1)
    found = parse(text).rows
    key = repr
    assert sorted(found, key=key) == sorted(map(whole, rows), key=key)
    assert write(parse(text)).decode() == text


# --- by hand ----------------------------------------------------------------------------------------


def test_rows_are_read_from_a_file_that_people_wrote():
    rows = {row.label: row for row in parse(BY_HAND).rows}
    assert set(rows) == {"api: v2", "no-times", "old"}
    api = rows["api: v2"]
    assert (api.branch, api.status) == ("feat/api", "In progress")
    assert api.next == 'Run it on C:\\temp\\new & "quote"'
    assert api.updated == "2026-03-01T00:00:00.000Z"
    assert api.started is None
    assert rows["no-times"].updated is None
    assert rows["no-times"].status == "whatever this means"
    assert not rows["no-times"].completed
    assert rows["old"].completed


@pytest.mark.parametrize(
    "heading",
    ["Active", "Active Tasks", "Stale — revisit", "Stale - revisit", "active", "Completed", "ACTIVE  TASKS"],
)
def test_every_section_that_is_rendered_is_known(heading):
    (row,) = parse(f"## {heading}\n### [a]: b\n").rows
    assert row.label == "a"
    assert row.completed is (heading == "Completed")


def changed_lines(before: str, after: str) -> list[str]:
    import difflib

    return [
        line for line in difflib.ndiff(before.splitlines(True), after.splitlines(True)) if line[0] in "+-"
    ]


def edited(text: str, label: str, **changes) -> str:
    return write(upsert(parse(text), label, changes)).decode()


def test_changing_a_field_changes_its_line_alone():
    after = edited(BY_HAND, "api: v2", next="Something else", status="In progress")
    assert changed_lines(BY_HAND, after) == [
        '- - **Next:** Run it on C:\\temp\\new & "quote"\n',
        "+ - **Next:** Something else\n",
    ]


def test_a_field_that_was_missing_is_added_after_the_others():
    after = edited(BY_HAND, "no-times", branch="b", updated=NOW)
    assert changed_lines(BY_HAND, after) == ["+ - **Branch:** b\n", f"+ - **Updated:** {NOW}\n"]


def test_a_missing_time_stays_missing_and_is_never_made_up():
    after = edited(BY_HAND, "no-times", next="go")
    assert changed_lines(BY_HAND, after) == ["+ - **Next:** go\n"]
    assert find(parse(after), "no-times").row.updated is None
    assert find(parse(after), "no-times").row.started is None


def test_a_title_is_changed_in_its_heading():
    after = edited(BY_HAND, "api: v2", title="Deploy it ]( <!--")
    assert changed_lines(BY_HAND, after) == [
        "- ### [api: v2]: Deploy the API\n",
        "+ ### [api: v2]: Deploy it &#93;( &#60;!--\n",
    ]


def test_an_empty_value_takes_the_line_away():
    assert changed_lines(BY_HAND, edited(BY_HAND, "api: v2", branch="")) == ["- - **Branch:** feat/api\n"]


def test_completing_moves_the_row_with_all_that_stands_under_it():
    after = write(complete(parse(BY_HAND), "api: v2", NOW)).decode()
    completed = after.partition("## Completed")[2]
    for line in (
        "- **Status:** Done",
        "- **Owner:** Ada",
        "  over two lines",
        "Notes under the row.",
        "- [ ] a task list",
    ):
        assert line in completed
    assert "api: v2" not in after.partition("## Completed")[0]
    assert find(parse(after), "api: v2").row.completed
    changed = {
        "- **Status:** In progress": "- **Status:** Done",
        "* **Updated**: 2026-03-01": f"* **Updated**: {NOW}",
    }
    before = [changed.get(line, line) for line in BY_HAND.split("\n")]
    assert sorted(filter(None, after.split("\n"))) == sorted(filter(None, before))


def test_what_goes_on_again_moves_back():
    after = edited(BY_HAND, "old", status="In progress")
    assert "[old]" in after.partition("## Ideas")[0]


def test_a_flat_list_stays_flat():
    flat = "## Active Tasks\n\n### [a]: b\n- **Status:** In progress\n"
    after = write(complete(parse(flat), "a", None)).decode()
    assert after == "## Active Tasks\n\n### [a]: b\n- **Status:** Done\n"


def test_a_new_row_goes_to_the_end_of_the_active_section():
    after = edited(BY_HAND, "new: one]", title="T", status="Waiting")
    assert after.index("[new: one&#93;]: T") < after.index("## Ideas")
    assert find(parse(after), "new: one]").row.status == "Waiting"
    assert all(line in after for line in BY_HAND.splitlines())


@pytest.mark.parametrize("text", ["", "no newline at the end", "# Title\n", "## Completed\n### [old]: x"])
def test_a_section_is_made_where_there_is_none(text):
    after = edited(text, "new", title="T")
    assert after.count("## Active\n") == 1
    assert [row.label for row in parse(after).rows if not row.completed] == ["new"]
    assert all(line in after for line in text.splitlines())


def test_line_ends_stay_as_they_are():
    text = BY_HAND.replace("\n", "\r\n")
    after = edited(text, "new", title="T", branch="b")
    assert "\n" not in after.replace("\r\n", "")


def test_the_sentence_that_there_are_none_goes_when_there_is_one():
    after = edited(render([]), "new", title="T")
    assert "No active tasks." not in after
    assert len(parse(after).rows) == 1


def test_a_row_that_nobody_would_see_is_refused():
    for text in ("## Active\n<!-- open\n", "## Active\n```\n"):
        with pytest.raises(RingboltError) as caught:
            edited(text, "new", title="T")
        assert "not closed" in caught.value.message


def test_completing_a_row_that_is_not_there_names_those_that_are():
    with pytest.raises(RingboltError) as caught:
        complete(parse(BY_HAND), "nope", NOW)
    assert caught.value.code == "task_not_found"
    assert "api: v2" in caught.value.hint


def test_a_hostile_value_stays_in_its_line():
    before = parse(BY_HAND)
    for text in HOSTILE:
        label = text if text.strip() and clean(text).strip() else "x"
        after = parse(edited(BY_HAND, label, title=text, next=text, branch=text))
        assert len(after.rows) == len(before.rows) + 1, ascii(text)
        for row in before.rows:
            assert row in after.rows, ascii(text)


def test_bytes_that_are_no_text_are_kept_and_shown_as_such():
    content = b"## Active\n### [a]: \xff\xfe\n- **Next:** \x80\n"
    document = parse(content)
    assert write(document) == content
    assert document.rows[0].title == "\N{REPLACEMENT CHARACTER}" * 2
    assert b"\xff\xfe" in write(upsert(document, "a", {"status": "Waiting"}))
