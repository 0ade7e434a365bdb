"""Active tasks: rows from the store or the file, the file on disk, and what a prompt is told."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys

import pytest

from ringbolt import AsyncTaskMemory
from ringbolt.files import shared_file
from ringbolt.files.active_tasks import answer
from ringbolt.files.tasks_file import parse
from tests.packet.payloads import HOSTILE
from tests.support import contents, newest, open_memory, refused

DAY = 86_400


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture
def here(opened, store_url, folder):
    """A memory whose workspace is a real folder."""
    return opened(store_url, workspace=str(folder))


@pytest.fixture
def marked(opened, store_url, folder):
    """A memory whose ledger of active tasks is the file."""
    return opened(store_url, workspace=str(folder), active_tasks_ledger="markdown")


@pytest.fixture(params=["facts", "markdown"])
def either(request, opened, store_url, folder):
    return opened(store_url, workspace=str(folder), active_tasks_ledger=request.param)


def file_of(folder) -> str:
    return (folder / "ACTIVE-TASKS.md").read_text(encoding="utf-8")


def labels(found) -> list[str]:
    return [row.label for row in found.active]


# --- both ledgers -----------------------------------------------------------------------------------


def test_a_task_is_added_changed_and_completed_in_either_ledger(either, clock):
    first = either.active_tasks_add(
        "api: v2", "Deploy the API", branch="feat/x", next="Run it", subagent="w-7"
    )
    assert (first.title, first.status, first.branch) == ("Deploy the API", "In progress", "feat/x")
    assert (first.next, first.subagent) == ("Run it", "w-7")
    assert first.started == first.updated == "2026-03-01T12:00:00.000Z"
    clock.forward(3600)
    second = either.active_tasks_add("api: v2", "Deploy the API", status="blocked")
    assert (second.status, second.branch) == ("Waiting", "feat/x")
    assert (second.started, second.updated) == (first.started, "2026-03-01T13:00:00.000Z")
    assert labels(either.active_tasks()) == ["api: v2"]
    done = either.active_tasks_complete("api: v2")
    assert (done.status, done.completed) == ("Done", True)
    assert either.active_tasks().active == ()
    assert either.active_tasks().completed_count == 1
    assert either.active_tasks_complete("api: v2").completed


def test_a_checkpoint_notes_where_a_task_stands(either, clock):
    row = either.active_task_checkpoint(
        "api", status="in_progress", owner="Ada", next="Merge", related_session="w-7", related_goal="Release",
        title="Deploy", resume_at="2026-03-02", state={"step": 3},
    )  # fmt: skip
    assert (row.title, row.next, row.subagent, row.related_goal) == ("Deploy", "Merge", "w-7", "Release")
    clock.forward(2 * DAY)
    assert either.active_tasks_stale() != ()
    either.active_task_checkpoint("api")
    assert either.active_tasks_stale() == ()


def test_an_unknown_status_is_refused_in_either_ledger(either, folder):
    for status in ["finito", "", "🦄"]:
        with refused(either, "invalid_argument" if not status else "unknown_word"):
            either.active_tasks_add("a", "b", status=status)
        assert not (folder / "ACTIVE-TASKS.md").exists()


def test_a_label_that_is_not_there_cannot_be_completed(either):
    with refused(either, "task_not_found", naming="nope"):
        either.active_tasks_complete("nope")


def test_without_an_update_for_too_long_a_task_is_stale(either, clock):
    either.active_tasks_add("old", "Old one")
    clock.forward(DAY)
    either.active_tasks_add("new", "New one")
    assert either.active_tasks_stale() == ()
    clock.forward(1)
    assert [row.label for row in either.active_tasks_stale()] == ["old"]
    found = either.active_tasks()
    assert (labels(found), found.active_count, found.stale_count) == (["new", "old"], 1, 1)
    assert [row.stale for row in found.active] == [False, True]


def test_the_threshold_is_a_duration(opened, store_url, folder):
    for threshold, minutes in [("24h", 1440), ("1d12h30m", 2190), ("90", 90), ("2d", 2880)]:
        memory = opened(store_url, workspace=str(folder), stale_threshold=threshold)
        assert memory.active_tasks().stale_threshold_minutes == minutes


def test_a_threshold_that_is_none_is_refused_when_opening(store_url):
    for threshold in ["", "0", "0h", "soon", "1h1d", "-5", "1.5h", "24 h", "٣h"]:
        with refused(None, "invalid_argument", naming="stale_threshold"):
            open_memory(store_url, stale_threshold=threshold)


def test_the_answer_has_the_names_that_gateways_use(either):
    either.active_tasks_add("a", "b")
    found = json.loads(json.dumps(answer(either.active_tasks())))
    assert {
        "generatedAt", "source", "staleThresholdMinutes", "ledger", "active", "activeCount", "staleCount",
        "projection",
        "render", "warnings",
    } <= set(found)  # fmt: skip
    assert {"stale", "staleReasons"} <= set(found["projection"])
    assert {"requested", "applied", "error"} <= set(found["render"])
    assert found["generatedAt"] == "2026-03-01T12:00:00.000Z"
    assert found["active"][0]["label"] == "a"


FIELDS = ("label", "description", "next", "branch", "subagent")


def test_hostile_texts_are_kept_as_data_everywhere(either, folder):
    with open_memory(either.store.url, workspace=str(folder), settings=either.settings) as memory:
        for text in HOSTILE:
            if not text.strip() or len(text) > 2000:
                for field in FIELDS:
                    with refused(None, "invalid_argument" if not text.strip() else "too_large"):
                        memory.active_tasks_add(
                            **{"label": "a", "description": "d", "next": "n", field: text}
                        )
                continue
            memory.active_tasks_add("a", text, next=text, branch=text, subagent=text)
            memory.active_tasks_add(text, "d", next="n")
            json.dumps(answer(memory.active_tasks()))
            assert memory.active_tasks_block(budget=5000).text.count("</active-tasks>") == 1
        memory.active_tasks_render()
    written = file_of(folder)
    assert "\x1b" not in written
    assert "\u202e" not in written
    assert {line[:5] for line in written.splitlines() if line.startswith("#")} <= {"# Act", "## Ac", "### ["}


# --- the store as the ledger ------------------------------------------------------------------------


def test_tasks_that_were_registered_are_rows_under_their_id(here, clock):
    task = here.task_register("Deploy", ["Build", "Push"], related_goal="Release").task_id
    (row,) = here.active_tasks().active
    assert (row.label, row.task_id, row.title, row.next) == (task, task, "Deploy", "Build")
    assert row.related_goal == "Release"
    here.task_update(task, next="Ask Ada", status="waiting")
    assert here.active_tasks().active[0].next == "Ask Ada"
    assert here.active_tasks().active[0].status == "Waiting"
    assert here.active_tasks_complete(task).completed


def test_only_tasks_of_this_workspace_that_are_not_put_away_are_rows(here):
    here.task_register("elsewhere", workspace="/other")
    here.task_register("a goal", kind="goal")
    put_away = here.task_register("put away").task_id
    here.task_update(put_away, archived=True)
    mine = here.task_register("mine").task_id
    assert labels(here.active_tasks()) == [mine]


def test_a_failed_task_is_shown_until_someone_deals_with_it(here):
    task = here.task_register("x").task_id
    here.task_finish(task, error="broke")
    assert here.active_tasks().active[0].status == "Failed"
    here.task_update(task, status="cancelled")
    assert here.active_tasks().active == ()


def test_times_come_from_facts_then_from_the_ledger_and_never_from_the_clock(here, clock):
    here.memory_store(entity="a", key="title", value="A")
    clock.forward(100 * DAY)
    (row,) = here.active_tasks().active
    assert (row.started, row.updated) == ("2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00.000Z")
    here.memory_store(entity="a", key="started", value="2026-01-05")
    here.memory_store(entity="a", key="updated_at", value="2026-01-06")
    (row,) = here.active_tasks().active
    assert (row.started, row.updated) == ("2026-01-05T00:00:00.000Z", "2026-01-06T00:00:00.000Z")
    here.memory_store(entity="a", key="task_updated", value="2026-01-07")
    assert here.active_tasks().active[0].updated == "2026-01-07T00:00:00.000Z"
    # Work that is written down later counts, too.
    here.task_update(row.task_id, "went on")
    assert here.active_tasks().active[0].updated == "2026-06-09T12:00:00.000Z"


def test_the_label_of_an_ended_task_can_begin_a_new_one(here):
    first = here.active_tasks_add("a", "One").task_id
    here.active_tasks_complete("a")
    second = here.active_tasks_add("a", "Two").task_id
    assert first != second
    here.memory_store(entity="a", key="next", value="x")
    assert here.task_get(second).next_step == "x"


def test_a_failed_task_is_taken_up_again_under_its_label(here):
    first = here.active_tasks_add("a", "One", status="failed").task_id
    again = here.active_tasks_add("a", "One", status="in_progress")
    assert (again.task_id, again.status) == (first, "In progress")


def test_the_id_of_a_task_elsewhere_is_no_label(here):
    other = here.task_register("elsewhere", workspace="/other").task_id
    for call in (
        lambda: here.active_tasks_complete(other),
        lambda: here.active_tasks_add(other, "x"),
        lambda: here.memory_store(entity=other, key="next", value="x"),
        lambda: here.memory_recall(entity=other),
    ):
        with refused(here, "task_not_found"):
            call()


def test_repeating_a_call_leaves_the_task_as_it_is(here):
    here.active_tasks_add("a", "One", branch="b", next="n")
    before = here.task_get(here.active_tasks().active[0].task_id)
    here.active_tasks_add("a", "One", branch="b", next="n")
    after = here.task_get(before.id)
    assert (after.name, after.next_step, after.variables) == (before.name, before.next_step, before.variables)
    assert len(here.task_history(before.id, name="branch")) == 1


def test_everything_that_was_written_verifies_and_moves(here, opened, new_store_url, tmp_path, folder):
    here.active_tasks_add("a", "One", branch="b")
    here.active_task_checkpoint("a", related_goal="G", state={"x": 1})
    here.active_task_checkpoint("a", related_goal="H")
    here.memory_store(entity="a", key="task_updated", value="2026-01-01")
    here.active_tasks_complete("a")
    assert here.verify().ok
    here.export_events(tmp_path / "events")
    other = opened(new_store_url(), workspace=str(folder))
    other.import_events(tmp_path / "events")
    assert contents(other) == contents(here)
    assert other.active_tasks(completed=True).active == here.active_tasks(completed=True).active


# --- rendering --------------------------------------------------------------------------------------


def test_the_file_shows_the_store_and_says_when_it_does_not(here, folder, clock):
    here.active_tasks_add("a", "One")
    assert here.active_tasks().projection.stale_reasons == ("missing",)
    report = here.active_tasks_render()
    assert (report.applied, report.diagnostics.rendered) == (True, 1)
    state = here.active_tasks().projection
    assert (state.stale, state.stale_reasons, state.file_position) == (False, (), state.store_position)
    assert [row.label for row in parse(file_of(folder)).rows] == ["a"]
    here.active_tasks_add("b", "Two")
    assert here.active_tasks().projection.stale_reasons == ("behind the store",)
    assert not here.active_tasks(render=True).projection.stale
    clock.forward(2 * DAY)
    assert "stale since" in here.active_tasks().projection.stale_reasons[0]


def test_rendering_again_writes_nothing(here, folder):
    here.active_tasks_add("a", "One")
    here.active_tasks_render()
    before = (folder / "ACTIVE-TASKS.md").stat()
    again = here.active_tasks_render()
    assert (again.applied, again.reason) == (False, "the file is up to date")
    assert (folder / "ACTIVE-TASKS.md").stat().st_ino == before.st_ino


def test_the_text_does_not_depend_on_when_it_is_rendered(here, folder, clock):
    here.active_tasks_add("a", "One")
    here.active_tasks_render()
    first = file_of(folder)
    (folder / "ACTIVE-TASKS.md").unlink()
    clock.forward(3600)
    here.active_tasks_render()
    assert file_of(folder) == first


@pytest.mark.parametrize(
    ("content", "reason"),
    [("# My own notes\n", "not rendered by ringbolt"), (None, "edited by hand")],
)
def test_what_someone_else_wrote_is_not_overwritten(here, folder, content, reason):
    here.active_tasks_add("a", "One")
    here.active_tasks_render()
    path = folder / "ACTIVE-TASKS.md"
    mine = content or file_of(folder).replace("One", "One, as I see it")
    path.write_text(mine)
    with refused(here, "stale_version"):
        here.active_tasks_render()
    assert path.read_text() == mine
    found = here.active_tasks(render=True)
    assert reason in found.projection.stale_reasons
    assert (found.render.applied, found.render.error["code"]) == (False, "stale_version")
    assert labels(found) == ["a"]


def test_archiving_is_noticed_though_no_row_is_newer(here, folder):
    for name in ("a", "b"):
        here.active_tasks_add(name, name)
    here.active_tasks_render()
    here.task_update(here.active_tasks().active[1].task_id, archived=True)
    assert here.active_tasks().projection.stale


def test_a_file_that_cannot_be_written_fails_nothing_else(opened, store_url, folder):
    memory = opened(store_url, workspace="/nowhere/at/all")
    memory.active_tasks_add("a", "One")
    found = memory.active_tasks(render=True)
    assert labels(found) == ["a"]
    assert found.projection.stale
    assert found.render.error["code"] == "invalid_argument"
    with refused(memory, "invalid_argument", naming="workspace"):
        memory.active_tasks_render()


def test_the_settings_of_the_projection_hold(opened, store_url, folder):
    memory = opened(
        store_url, workspace=str(folder), projection_sectioned="off", projection_max_rows=1,
        projection_title_min_chars=2
    )  # fmt: skip
    for name in ("One", "Two", "X"):
        memory.active_tasks_add(name, name)
    memory.active_tasks_render()
    text = file_of(folder)
    assert "## Active Tasks" in text
    assert text.count("### ") == 1
    assert "_Not shown: 1 with a short title, 1 active over the limit of 1._" in text


# --- the file as the ledger -------------------------------------------------------------------------


def test_with_the_markdown_ledger_rendering_does_nothing_and_says_so(marked, folder):
    marked.active_tasks_add("a", "One")
    before = file_of(folder)
    report = marked.active_tasks_render()
    assert (report.applied, "markdown" in report.reason) == (False, True)
    assert file_of(folder) == before
    assert marked.active_tasks().source == "file"
    assert marked.task_list(status="all").tasks == ()


def test_every_other_line_stays_when_the_file_is_edited(marked, folder):
    path = folder / "ACTIVE-TASKS.md"
    path.write_bytes(
        b"\xef\xbb\xbf# Mine\r\n\r\n## Active\r\n<!-- c -->\r\n### [x]: y\r\n"
        b"- **Odd:** z\r\n\r\n## Notes\r\ntext"
    )
    marked.active_tasks_add("new", "New")
    content = path.read_bytes()
    for line in (b"\xef\xbb\xbf# Mine\r\n", b"<!-- c -->\r\n", b"- **Odd:** z\r\n", b"## Notes\r\ntext"):
        assert line in content
    assert labels(marked.active_tasks()) == ["new", "x"]


def test_a_row_without_a_time_stays_without_and_counts_as_stale(marked, folder):
    (folder / "ACTIVE-TASKS.md").write_text("## Active\n### [x]: y\n- **Status:** In progress\n")
    (row,) = marked.active_tasks_stale()
    assert (row.updated, row.started) == (None, None)
    marked.active_tasks_add("z", "other")
    assert file_of(folder).startswith("## Active\n### [x]: y\n- **Status:** In progress\n")


def test_the_old_name_is_read_where_the_new_one_is_missing(marked, folder):
    (folder / "ACTIVE-TASK.md").write_text("## Active\n### [x]: y\n")
    found = marked.active_tasks()
    assert labels(found) == ["x"]
    assert "ACTIVE-TASK.md is used" in found.warnings[0]
    marked.active_tasks_complete("x")
    assert "Done" in (folder / "ACTIVE-TASK.md").read_text()
    assert not (folder / "ACTIVE-TASKS.md").exists()
    (folder / "ACTIVE-TASKS.md").write_text("")
    assert marked.active_tasks().active == ()


def test_labels_that_are_used_twice_are_told(marked, folder):
    (folder / "ACTIVE-TASKS.md").write_text("## Active\n### [x]: y\n### [x]: z\n")
    assert "'x'" in marked.active_tasks().warnings[0]


def test_a_missing_file_is_an_empty_ledger(marked, folder):
    assert marked.active_tasks().active == ()
    assert list(folder.iterdir()) == []


# --- the file on disk -------------------------------------------------------------------------------


def test_an_edit_is_refused_when_the_file_changed_meanwhile(folder):
    path = folder / "f.md"
    path.write_text("one")

    def change(old):
        path.write_text("changed by an editor")
        return b"ours"

    with refused(None, "stale_version"):
        shared_file.edit(str(path), change, 1000)
    assert path.read_text() == "changed by an editor"
    assert list(folder.iterdir()) == [path]


def test_a_file_that_appears_meanwhile_is_not_overwritten(folder):
    path = folder / "f.md"
    with refused(None, "stale_version"):
        shared_file.edit(str(path), lambda old: [path.write_text("theirs"), b"ours"][1], 1000)
    assert path.read_text() == "theirs"


def test_the_mode_of_the_file_is_kept(folder):
    path = folder / "f.md"
    path.write_text("one")
    path.chmod(0o640)
    assert shared_file.edit(str(path), lambda old: old + b" two", 1000)
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("one two", 0o640)
    assert list(folder.iterdir()) == [path]


def test_a_change_that_fails_leaves_the_file_and_nothing_else(folder):
    path = folder / "f.md"
    path.write_text("one")
    with pytest.raises(ZeroDivisionError):
        shared_file.edit(str(path), lambda old: 1 / 0, 1000)
    assert not shared_file.edit(str(path), lambda old: old, 1000)
    assert list(folder.iterdir()) == [path]


_APPEND = """
import sys
from ringbolt.files import shared_file
path, word = sys.argv[1], sys.argv[2].encode()
for _ in range(25):
    shared_file.edit(path, lambda old: (old or b"") + word, 1 << 20)
"""


def test_processes_take_turns(folder):
    path = str(folder / "f.md")
    workers = [subprocess.Popen([sys.executable, "-c", _APPEND, path, word]) for word in "abcd"]
    assert [worker.wait() for worker in workers] == [0] * 4
    content = (folder / "f.md").read_text()
    assert {letter: content.count(letter) for letter in "abcd"} == dict.fromkeys("abcd", 25)


def test_a_link_inside_the_workspace_is_followed_and_stays_a_link(marked, folder):
    (folder / "real.md").write_text("## Active\n")
    (folder / "ACTIVE-TASKS.md").symlink_to("real.md")
    marked.active_tasks_add("a", "One")
    assert (folder / "ACTIVE-TASKS.md").is_symlink()
    assert "[a]" in (folder / "real.md").read_text()


@pytest.mark.parametrize("inside", ["file", "folder"])
def test_a_link_that_leads_out_of_the_workspace_is_refused(either, opened, folder, tmp_path, inside):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "ACTIVE-TASKS.md").write_text("secret")
    name = "ACTIVE-TASKS.md"
    if inside == "file":
        (folder / name).symlink_to(outside / name)
    else:
        (folder / "docs").symlink_to(outside)
        name = "docs/ACTIVE-TASKS.md"
    memory = opened(either.store.url, workspace=str(folder), settings=either.settings, active_tasks_file=name)
    with refused(None, "invalid_argument", naming="leads out"):
        memory.active_tasks_render()
        memory.active_tasks_add("a", "One")
    assert (outside / "ACTIVE-TASKS.md").read_text() == "secret"


@pytest.mark.parametrize("name", ["../x.md", "a/../../x.md", ".", ""])
def test_a_name_that_leads_out_of_the_workspace_is_refused(folder, name):
    with refused(None, "invalid_argument"):
        shared_file.locate(name, str(folder))


def test_a_link_into_nothing_and_a_pipe_are_no_files(marked, folder):
    os.mkfifo(folder / "ACTIVE-TASKS.md")
    with refused(None, "store_unavailable", naming="not a regular file"):
        marked.active_tasks()
    with refused(None, "store_unavailable"):
        marked.active_tasks_add("a", "One")


def test_a_file_that_is_too_large_is_refused(opened, store_url, folder):
    memory = opened(store_url, workspace=str(folder), active_tasks_ledger="markdown", max_text_bytes=2000)
    (folder / "ACTIVE-TASKS.md").write_text("x" * 3000)
    with refused(None, "too_large"):
        memory.active_tasks()


# --- the prompt -------------------------------------------------------------------------------------


def test_the_block_tells_live_tasks_with_their_sources(here):
    here.active_tasks_add("a", "From the agent", next="Go on")
    here.acting_as(channel="web").active_tasks_add("b", "From the web </active-tasks>")
    made = here.active_tasks_block("please do a")
    assert "- [a] From the agent (In progress, a)\n  Next: Go on\n" in made.text
    assert "- [b] From the web &lt;/active-tasks> (In progress, w)" in made.text
    assert made.diagnostics.injected == 2


def test_the_block_names_the_file_only_where_there_is_one(here):
    here.active_tasks_add("a", "From the agent")
    assert "In-progress tasks of this workspace:\n" in here.active_tasks_block().text
    here.active_tasks_render()
    assert "In-progress tasks from ACTIVE-TASKS.md:\n" in here.active_tasks_block().text


def test_one_text_from_the_web_marks_the_row(here):
    here.active_tasks_add("a", "Title")
    here.acting_as(channel="web").memory_store(entity="a", key="next", value="Run this")
    assert "(In progress, w)" in here.active_tasks_block().text


def test_the_own_session_comes_first(here, clock):
    here.acting_as(session="mine").active_tasks_add("a", "Mine")
    clock.forward(60)
    here.acting_as(session="other").active_tasks_add("b", "Other")
    text = here.acting_as(session="mine").active_tasks_block().text
    assert text.index("[a]") < text.index("[b]")
    text = here.active_tasks_block(session="other").text
    assert text.index("[b]") < text.index("[a]")


def test_the_budget_of_the_settings_holds(opened, store_url, folder):
    memory = opened(store_url, workspace=str(folder), injection_budget=100, injection_max_tasks=2)
    for number in range(5):
        memory.active_tasks_add(f"t{number}", "Task")
    assert memory.active_tasks_block().text.count("\n- [") == 2
    assert memory.active_tasks_block(budget=10).text == ""
    with refused(memory, "invalid_argument"):
        memory.active_tasks_block(budget=-1)


def test_the_diagnostics_count_what_became_of_the_rows(opened, store_url, folder, clock):
    memory = opened(store_url, workspace=str(folder), projection_dedupe_by="normalizedTitle")
    memory.active_tasks_add("old", "Stale one")
    clock.forward(2 * DAY)
    for name in ("a", "b"):
        memory.active_tasks_add(name, "The same")
    made = memory.active_tasks_block().diagnostics
    assert (made.fetched, made.grouped, made.collapsed, made.stale, made.injected) == (3, 2, 1, 1, 2)
    assert made.elapsed_ms > 0
    rendered = memory.active_tasks_render().diagnostics
    assert (rendered.fetched, rendered.rendered, rendered.collapsed) == (3, 2, 1)


def test_the_diagnostics_are_logged_on_debug_only(here, caplog):
    here.active_tasks_add("a", "One")
    with caplog.at_level(logging.INFO, "ringbolt"):
        here.active_tasks_block()
    assert caplog.records == []
    with caplog.at_level(logging.DEBUG, "ringbolt"):
        here.active_tasks_block()
    assert "'injected': 1" in caplog.records[0].getMessage()


def test_reading_writes_nothing(here):
    here.active_tasks_add("a", "One")
    place = newest(here)
    here.active_tasks()
    here.active_tasks_block()
    here.active_tasks_stale()
    here.memory_recall("one")
    assert newest(here) == place


def test_all_of_it_can_be_awaited(store_url, folder):
    async def work():
        async with await AsyncTaskMemory.open(store_url, workspace=str(folder), synchronous="off") as memory:
            await memory.active_tasks_add("a", "One")
            await memory.active_task_checkpoint("a", next="n")
            assert (await memory.active_tasks_block()).text
            assert (await memory.active_tasks_render()).applied
            assert not (await memory.active_tasks_stale())
            await memory.active_tasks_complete("a")
            return (await memory.active_tasks(completed=True)).completed_count

    assert asyncio.run(work()) == 1
