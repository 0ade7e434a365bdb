"""The resume packet: what matters is there at any budget, and nothing gets out of its fence."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringbolt.model.types import WorkTree
from ringbolt.packet import resume, resume_rows, tokens
from ringbolt.packet.operations import read_whole_task
from tests.packet.golden import golden
from tests.packet.payloads import broken_out
from tests.packet.tasks import cook, deployment, long_plan, recipes
from tests.support import Clock, open_memory, refused

BUDGETS = (300, 500, 1500, 8000)


def tag_of(text: str) -> str:
    return re.match(r"<(ringbolt-[0-9a-f]{8})>\n", text)[1]


def test_a_packet_that_a_reader_can_judge(memory):
    assert memory.task_resume(deployment(memory)).text == golden(
        "resume.txt", memory.task_resume().text, tag="ringbolt-[0-9a-f]{8}", task=memory.task_get().id
    )


def test_what_matters_most_is_there_at_every_budget(memory):
    task = long_plan(memory, 400)
    memory.task_update(task, blockers=["the old server is down"], next="wait for the old server")
    memory.task_intent(task, what="drop the old schema", verify="psql -l")
    packets = {budget: memory.task_resume(task, budget=budget).text for budget in BUDGETS}
    for wanted in (
        "Move all tables to the new server",
        "200 of 400 steps done",
        '[>] s201 a "Convert table number 201"',
        '[ ] s202 a "Convert table number 202"',
        "Now: s201",
        "Next: s202",
        "the old server is down",
        "wait for the old server",
        "drop the old schema",
        "psql -l",
    ):
        for budget, text in packets.items():
            assert wanted in text, budget


def test_a_larger_budget_shows_more_and_says_how_much_is_missing(memory):
    task = long_plan(memory, 400)
    packets = [memory.task_resume(task, budget=budget) for budget in BUDGETS]
    sizes = [len(packet.text) for packet in packets]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    for found in packets:
        assert found.tokens <= found.budget
        shown = len(re.findall(r"(?m)^#\d+a \"Keep the key", found.text))
        assert shown + found.left_out.get("decision", 0) == 20
        if 0 < shown < 20:
            assert f"Decisions ({shown} of 20)" in found.text
        steps = len(re.findall(r"(?m)^\[.\] s\d+ ", found.text))
        assert steps + found.left_out.get("step", 0) == 400
    assert "decision" not in packets[-1].left_out


def test_the_newest_decisions_come_before_older_ones(memory):
    task = long_plan(memory, 400)
    text = memory.task_resume(task, budget=700).text
    assert "Keep the key of table 200" in text
    assert "Keep the key of table 10 " not in text


def test_the_request_is_shown_word_for_word_when_there_is_room(memory):
    request = (
        "First line.\n\n  Second line, with   spaces & <tags>.\n# not a heading\n" + "More words. " * 200
    )
    task = memory.task_register("x", request=request).task_id
    text = memory.task_resume(task, budget=8000).text
    lines = [line[2:] for line in text.splitlines() if line.startswith("|")]
    assert "\n".join(lines).replace("&lt;", "<").rstrip() == request.rstrip()
    small = memory.task_resume(task, budget=300).text
    assert "| First line." in small
    assert "…" in small


def test_each_row_says_who_wrote_it(memory):
    task = memory.task_register("x", ["A"], request="r").task_id
    for channel in ("user", "agent", "tool", "web", "import", "system"):
        actor = memory.acting_as(channel=channel)
        actor.task_remember(task, f"noted by {channel}", type="discovery")
        actor.task_decide(task, choice=f"chosen by {channel}")
        actor.task_set(task, f"set by {channel}", 1)
    memory.acting_as(channel="web").task_update(task, next="go there", blockers=["it rains"])
    memory.acting_as(channel="tool").task_plan_append(task, ["Named by a tool"])
    memory.acting_as(channel="web").task_item_update(task, 1, note="noted on the web")
    text = memory.task_resume(task).text
    for channel in ("user", "agent", "tool", "web", "import", "system"):
        letter = channel[0]
        assert re.search(rf'#\d+{letter} discovery "noted by {channel}"', text)
        assert re.search(rf'#\d+{letter} "chosen by {channel}"', text)
        assert re.search(rf"#\d+{letter} set by {channel} = 1\n", text)
    assert re.search(r'To do next #\d+w: "go there"', text)
    assert re.search(r'Blocked #\d+w: "it rains"', text)
    assert '[ ] s2 t "Named by a tool"' in text
    assert re.search(r'\[ \] s1 a "A"; note #\d+w "noted on the web"', text)


def test_a_text_that_is_brought_back_by_undo_is_still_whose_it_was(memory):
    task = memory.task_register("x", ["A"]).task_id
    memory.acting_as(channel="web").task_update(task, next="said on the web")
    changed = memory.task_update(task, next="said by the agent").seq
    memory.task_undo(task, changed)
    assert re.search(r'To do next #2w: "said on the web"', memory.task_resume(task).text)


def test_marks_distinguish_reported_verified_inferred_failed_skipped_and_dropped_steps(memory):
    task = memory.task_register("x", ["A", "B", "C", "D", "E", "F"]).task_id
    memory.task_update(task, step="A", step_status="completed")
    memory.task_update(task, step="B", step_status="completed")
    memory.task_receipt(task, "make test", item="B")
    memory.task_update(task, step="C", step_status="failed")
    memory.task_update(task, step="D", step_status="skipped")
    memory.task_plan_replace(task, ["A", "B", "C", "D", "E"])
    memory.task_update(task, step="E", step_status="active")
    text = memory.task_resume(task).text
    for row in ("[x] s1", "[v] s2", "[!] s3", "[-] s4", "[>] s5", "[/] s6"):
        assert f"\n{row} a " in text
    assert "x done" in text
    assert "v verified" in text


def test_files_are_named_from_the_workspace_and_marked_by_their_change(memory):
    task = memory.task_register("x").task_id
    memory.task_log_action(
        task, "edits", files=["/w/inside.py", {"path": "/srv/new.py", "change": "created"}]
    )
    memory.task_log_action(task, "more", files=[{"path": "old/gone.py", "change": "deleted"}])
    text = memory.task_resume(task).text
    assert "Changed (a)\nold/gone.py (deleted), inside.py*, /srv/new.py+\n" in text
    memory.task_log_action(task, "look", input={"file_path": "/w/deep/inside.py"}, type="other")
    memory.task_distill(task)
    text = memory.task_resume(task).text
    assert "Files (*changed +new, uncommitted; a)\ninside.py*" in text


def test_a_small_packet_names_files_without_their_folders(memory):
    task = memory.task_register("x").task_id
    memory.task_log_action(task, "edits", files=[f"source/part_{n}/file_{n}.py" for n in range(80)])
    assert "file_50.py*, " in (small := memory.task_resume(task, budget=300).text)
    assert "part_50/" not in small
    assert "part_50/file_50.py" in memory.task_resume(task, budget=1500).text


def distilled(memory, task: str):
    memory.task_update(task, "Now parse_header in header_parser.py, then writeBody; see v1.2.3 and ABC-12")
    memory.task_log_action(task, "look", files=["src/header_parser.py"], output="somewhere in footer.py")
    memory.task_log_action(task, "search", input={"pattern": "render_footer"}, type="other")
    memory.task_distill(task)
    return memory.task_resume(task).text


def test_names_in_use_are_listed_once_and_only_where_no_other_row_has_them(memory):
    task = memory.task_register("Mend writeBody").task_id
    text = distilled(memory, task)
    (names,) = re.findall(r"(?m)^Names in use \(t\)\n(.*)$", text)
    assert names == "render_footer"  # the others are in the last message
    assert "\nsrc/header_parser.py*\n" in text
    assert "footer.py" not in text  # only seen, and once


def test_a_packet_shows_no_names_of_another_task(memory):
    distilled(memory, memory.task_register("One").task_id)
    other = memory.task_register("Two").task_id
    memory.task_distill(other)
    assert "footer.py" not in memory.task_resume(other).text


def test_what_the_user_ruled_out_comes_before_what_merely_failed(memory):
    task = memory.task_register("x").task_id
    for number in range(20):
        memory.task_exclude(
            task, what=f"attempt {number}", why=f"it failed for reason {number} of many reasons"
        )
    memory.task_exclude(task, what="the other library", why="the user does not want it")
    user = memory.acting_as(channel="user")
    user.task_exclude(task, what="Dropping the table", why="keep the old data")
    assert "keep the old data" in memory.task_resume(task, budget=300).text


def test_commits_have_a_part_of_their_own(memory):
    task = memory.task_register("x").task_id
    memory.task_remember(task, "commit 1a2b3c4: Mend the parser", type="artifact", tags=["commit"])
    memory.task_remember(task, "a report", type="artifact")
    text = memory.task_resume(task).text
    assert 'Commits\n#2a "1a2b3c4: Mend the parser"\n' in text
    assert 'Notes\n#3a artifact "a report"\n' in text


def test_what_the_user_said_last_is_there_at_every_budget(memory):
    task = long_plan(memory, 60)
    user = memory.acting_as(channel="user")
    for number in range(12):
        user.task_remember(
            task, f"Instruction number {number}: " + "and so on " * 20, type="user_instruction"
        )
    assert "Instruction number 11" in memory.task_resume(task, budget=300).text


def test_a_task_that_is_over_says_how_it_ended(memory):
    task = memory.task_register("x", ["A"]).task_id
    memory.task_finish(task, "It is live at https://x.example", status="completed")
    assert 'Answer #2a: "It is live at https://x.example"' in memory.task_resume(task).text
    other = memory.task_register("y", ["A"]).task_id
    memory.task_finish(other, error="the disk is full")
    text = memory.task_resume(other).text
    assert 'Failed #2a: "the disk is full"' in text
    assert ": failed" in text.splitlines()[2]


def test_the_same_state_gives_the_same_bytes(memory, opened, store_url, clock):
    task = deployment(memory)
    first = memory.task_resume(task).text
    clock.forward(600)
    assert memory.task_resume(task).text == first
    assert opened(store_url, agent="another", session="T").task_resume(task).text == first


def test_a_read_only_call_does_not_change_the_beginning(memory):
    task = deployment(memory)
    memory.task_distill(task)
    before = memory.task_resume(task).text
    memory.task_log_action(task, "ls", type="cli", output="README.md\nsrc")
    memory.task_distill(task)
    after = memory.task_resume(task).text
    head, _, _ = before.partition("\nFiles (")
    assert "Decisions" not in head
    assert after.startswith(head)
    assert before.splitlines()[: len(head.splitlines())] == after.splitlines()[: len(head.splitlines())]


def test_ages_are_coarse_and_stand_at_the_end(memory, clock):
    task = deployment(memory)
    assert memory.task_resume(task).text.rstrip().splitlines()[-2].endswith("within the hour.")
    clock.forward(5 * 3600 + 600)
    assert memory.task_resume(task).text.rstrip().splitlines()[-2].endswith("5 h ago.")
    clock.forward(5 * 86400)
    assert memory.task_resume(task).text.rstrip().splitlines()[-2].endswith("5 d ago.")


@pytest.mark.parametrize("budget", [0, 299, 8001, "500", 1.5, None, True])
def test_a_budget_out_of_bounds_is_refused(memory, task, budget):
    with refused(memory, "invalid_argument", naming="budget"):
        memory.task_resume(task, budget=budget)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(recipes(), st.integers(300, 8000))
def test_any_task_at_any_budget_stays_within_it_and_within_its_fence(tmp_path_factory, recipe, budget):
    with open_memory(str(tmp_path_factory.mktemp("packet") / "store.db"), Clock()) as memory:
        task = cook(memory, recipe)
        snapshot = memory._snapshot(task)
    for count in {tokens.estimate, tokens.counter(True)}:
        found = resume.resume_packet(snapshot, budget, count=count, now=snapshot.updated_at)
        assert count(found.text) == found.tokens <= budget
        assert broken_out(found.text, tag_of(found.text)) == []
        assert found == resume.resume_packet(snapshot, budget, count=count, now=snapshot.updated_at)


def test_waits_and_the_health_of_the_memory_are_shown(memory):
    from ringbolt.ledger.base import Draft

    task = deployment(memory)

    def wait(tx, head, now):
        data = {"target": "file:/srv/ready", "until": "it exists"}
        return Draft("wait.started", data=data, record={"type": "wait", "status": "watching"})

    seq = memory._write("wait", task, wait).seq
    snapshot = memory._snapshot(task)
    text = resume.resume_packet(snapshot, health=["2 events wait in the spool"]).text
    assert f'Waiting for\n#{seq}a "file:/srv/ready" until "it exists"' in text
    assert 'Memory: "2 events wait in the spool"' in text


def test_of_an_error_the_line_that_sums_it_up_is_never_cut_off(memory):
    task = memory.task_register("x").task_id
    place = "packages/core/src/very/deep/folder/of/the/project/checkout_totals_test.py:333: want 2, got 3"
    error = f"{place}, for a reason that takes a while to tell | --- FAIL: TestTotalsAreRounded"
    memory.task_exclude(task, what="go test ./...", why=error)
    short = memory.task_resume(task, budget=300).text
    assert "--- FAIL: TestTotalsAreRounded" in short
    assert "…" in short
    assert error in memory.task_resume(task).text


def test_what_worked_instead_is_shown_from_where_it_differs(memory):
    task = memory.task_register("x").task_id
    for command, error in (("gh api notes --jq .x", "cannot parse"), ("gh api notes --slurp", None)):
        memory.acting_as(channel="tool").task_log_action(
            task, command, type="cli", tool="Bash", input={"command": command}, error=error,
            status="failed" if error else "completed",
        )  # fmt: skip
    memory.task_distill(task)
    (entry,) = memory.task_get(task).exclusions
    shortest = resume_rows.exclusion(entry, 1).forms[0][1]
    assert shortest().endswith('"gh api notes --jq .x": "cannot parse"; instead "…--slurp"')


def test_open_steps_are_there_before_anything_that_is_only_worth_its_room(memory):
    task = memory.task_register("x", [f"Step number {number} of the plan" for number in range(12)]).task_id
    for number in range(40):
        memory.task_exclude(task, what=f"attempt {number}", why=f"it failed for reason {number}")
    text = memory.task_resume(task, budget=500).text
    assert all(f"Step number {number} of the plan" in text for number in range(12))


def test_files_are_marked_when_only_some_of_them_are_not_committed(memory):
    task = memory.task_register("x").task_id
    memory.task_log_action(task, "edits", files=["/w/src/a.py", "/w/src/b.py"])
    seen = memory.store.read(lambda tx: read_whole_task(memory, tx, task))
    tree = WorkTree(dirty=("src/a.py",), dirty_count=1, at=seen.updated_at, seq=2)
    assert "\nsrc/b.py*, src/a.py*!\n" in resume.resume_packet(seen.replace(work_tree=tree), 500).text
    tree = tree.replace(dirty=("src/a.py", "src/b.py"), dirty_count=2)
    text = resume.resume_packet(seen.replace(work_tree=tree), 500).text
    assert "uncommitted" in text
    assert "\nsrc/b.py*, src/a.py*\n" in text


def test_a_question_is_not_repeated_once_the_user_has_spoken(memory):
    task = memory.task_register("Fonts", request="Make the fonts smaller.").task_id
    memory.task_update(task, "All three are below 45 kB. Which text should the page show?")
    assert "Which text should" in memory.task_resume(task).text
    user = memory.acting_as(channel="user", agent="")
    user.task_remember(task, type="user_instruction", summary="Take the annual report, pages 3 to 5.")
    text = memory.task_resume(task).text
    assert "All three are below 45 kB." in text
    assert "Which text should" not in text


def test_nothing_is_read_twice(memory):
    task = memory.task_register("Fonts", request="Make the fonts smaller.").task_id
    user = memory.acting_as(channel="user", agent="")
    for said in ("Does the page load faster now?", "Yes, go on.", "Does the page load faster now?"):
        user.task_remember(task, type="user_instruction", summary=said)
    for command in ("make fonts", "make pages"):
        error = memory.task_remember(
            task, command, type="error", data={"symptom": "No rule to make the target glyphs.json"}
        ).seq
        memory.task_remember(task, "It was added.", resolves=error)
    text = memory.task_resume(task).text
    assert text.count("Does the page load faster now?") == 1
    assert text.count("No rule to make the target") == 1


def test_room_that_nothing_else_needs_has_what_the_agent_said_before(memory):
    task = memory.task_register("Fonts", request="Make the fonts smaller.").task_id
    for number in range(12):
        memory.task_update(
            task, f"Font {number} has glyphs for {number + 3} scripts that no page of ours uses."
        )
    assert "Font 0 has glyphs" in memory.task_resume(task, budget=2000).text
    small = memory.task_resume(task, budget=300).text
    assert "Font 11 has glyphs" in small
    assert "Font 0 has glyphs" not in small


def test_why_the_user_refused_something_is_shown_in_full(memory):
    task = memory.task_register("x").task_id
    why = f"have a look at {'the notes about this matter ' * 6}first, I wrote them a while ago"
    data = {"what": "gh pr comment 172", "why": why, "rejected": True}
    memory.task_remember(task, "gh pr comment 172", type="exclusion", data=data)
    assert why in memory.task_resume(task, budget=300).text
