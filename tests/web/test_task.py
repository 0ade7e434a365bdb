"""The task screen: what it shows, and what a person can do there."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

from ringbolt import TaskMemory
from ringbolt.hosts import drill
from ringbolt.store import workers
from tests.web.conftest import call


@pytest.fixture
def new_task(site):
    """A function that registers a task with a short plan."""

    def begin(name="Paint the fence", plan=("Buy paint", "Paint", "Wait")):
        return call(site, "task_register", name=name, plan=list(plan))["task_id"]

    return begin


def act(page, button, yes=None, **fields):
    """Click an action, fill in its dialog, and wait until it has closed."""
    wanted = page.get_by_role("button", name=button, exact=True)
    menu = page.locator(".menu-list").get_by_text(button, exact=True)
    expect(wanted.or_(menu).first).to_be_attached()
    if menu.count():
        page.locator(".menu > summary").click()
    wanted.first.click()
    dialog = page.locator("dialog")
    for label, value in fields.items():
        field = dialog.get_by_label(label)
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    dialog.get_by_role("button", name=yes or button).click()
    expect(dialog.or_(dialog.locator(".trouble"))).to_have_count(0)


def tasks_named(site, text):
    """The tasks with this text in their name."""
    return call(site, "task_list", token="read", text=text, status="all", workspace="*")["tasks"]


def test_the_plan_shows_dependencies_evidence_and_tombstones(site, visit, new_task):
    task = call(
        site,
        "task_register",
        name="Bake",
        plan=[{"id": "mix", "title": "Mix"}, {"id": "bake", "title": "Bake", "depends_on": ["mix"]}, "Sing"],
    )["task_id"]
    call(site, "task_update", task_id=task, message="mixed", step="mix", step_status="completed")
    call(site, "task_receipt", task_id=task, command="taste", exit_code=0, item="mix")
    page = visit(site).open(f"/task/{task}")
    act(page, "Edit the plan", "Replace the plan", Steps="Mix\nBake\nEat", Why="no time to sing")
    expect(page.locator("#step-mix")).to_contain_text("verified")
    expect(page.locator("#step-bake .after")).to_have_text("after Mix")
    page.get_by_text("1 dropped step").click()
    expect(page.locator(".tombstone")).to_contain_text("Sing")
    page.get_by_text("Earlier plans").click()
    page.get_by_text("Plan 1,").click()
    expect(page.locator(".earlier li")).to_have_text(["Mix", "Bake", "Sing"])


def test_the_timeline_can_be_filtered_and_shows_an_event_in_full(site, visit):
    task = site.ids["deploy"]
    page = visit(site).open(f"/task/{task}?tab=timeline")
    expect(page.locator(".moment .seq").first).to_have_text("#1")
    page.get_by_role("button", name=re.compile("^decision")).first.click()
    expect(page.locator(".moment")).to_have_count(1)
    assert "types=decision" in page.url
    page.locator(".moment button").click()
    expect(page.locator(".event")).to_contain_text("the deploy key already works there")
    page.get_by_role("link", name="View the task at this point").click()
    expect(page.locator(".changes", has_text="ghcr.io").first).to_be_visible()


def test_the_packet_tab_shows_what_the_model_gets_at_every_budget(site, visit):
    task = site.ids["replayed"]
    page = visit(site).open(f"/task/{task}?tab=packet")
    for budget in (1500, 500):
        slider = page.get_by_label("Budget")
        slider.fill(str(budget))
        packet = call(site, "task_resume", token="read", task_id=task, budget=budget)
        expect(page.locator(".tokens")).to_have_text(f"{packet['tokens']:,} tokens")
        assert page.locator(".packet-text").evaluate("node => node.textContent") == packet["text"]


def test_the_time_slider_shows_any_past_state_and_what_changed(site, visit):
    task = site.ids["deploy"]
    page = visit(site).open(f"/task/{task}?tab=time")
    page.get_by_label("After event").fill("5")
    changed = page.get_by_role("region", name="What this event changed")
    expect(changed).to_contain_text("Build the Docker image")
    expect(changed.locator("ins")).to_contain_text(["completed"])
    then = page.get_by_role("region", name="As it was")
    expect(then).to_contain_text("1/5")
    expect(then).to_contain_text("0 decisions, 0 ruled out")
    page.get_by_role("button", name="◀ Previous").click()
    expect(page.get_by_role("region", name="As it was")).to_contain_text("0/5")


def test_an_answer_cites_events_and_the_citation_links_there(site, visit):
    page = visit(site).open(f"/task/{site.ids['deploy']}")
    page.get_by_label("Ask about this task").fill("why did we choose ghcr.io?")
    page.get_by_role("button", name="Ask", exact=True).click()
    cite = page.locator(".answer .cite").first
    seq = cite.text_content()
    cite.click()
    expect(page.locator(".event h2")).to_have_text(f"Event {seq}")
    expect(page.locator(".moment.chosen .seq")).to_be_in_viewport()


def test_search_goes_from_a_hit_to_its_context_to_the_full_event(site, visit):
    page = visit(site).open("/search")
    page.get_by_label("Search everything").fill("docker.io rights")
    page.keyboard.press("Enter")
    hit = page.locator(".hit", has_text="Pushing to docker.io").first
    hit.locator(".hit-line").click()
    expect(hit.locator(".around > li")).to_have_count(7)
    expect(hit.locator(".whole-event")).to_contain_text("requested access to the resource is denied")


def test_a_drill_runs_and_is_compared_with_the_hosts_summary(site, visit, new_task):
    task = new_task("Paint the shed")
    call(site, "task_decide", task_id=task, title="Colour", choice="ochre", reasoning="it hides the dust")
    call(
        site,
        "task_snapshot",
        task_id=task,
        content="Paint the shed.",
        label="after compaction",
        summarized=True,
    )
    page = visit(site).open("/recovery")
    page.get_by_label("Task").select_option(task)
    page.get_by_role("button", name="Run drill").click()
    drilled = page.locator(".drill").first
    expect(drilled.locator(".verdict")).to_have_text("✓ whole")  # the packet has everything, the host has not
    expect(drilled.locator(".kept")).to_contain_text(
        re.compile(r"brought back all \d.*host's own summary \d+ of")
    )
    decided = drilled.locator(".kind-row", has_text="The last decisions")
    expect(decided.locator("td").last).to_have_text("0 of 1")
    # What was lost is named, side by side with what came back.
    expect(drilled.locator("tr", has_text="ochre")).to_contain_text("✓ came back")
    expect(drilled.locator("tr", has_text="ochre").locator("td").last).to_have_text("✕ lost")
    # What there was nothing of is not a success.
    expect(drilled.locator("p", has_text="Nothing was recorded of")).to_contain_text("values")


def test_stored_drills_are_shown_over_time(site, visit):
    with TaskMemory.open(site.store, workspace=None) as memory:
        drill.run(memory, site.ids["replayed"])
    page = visit(site).open("/recovery")
    kept = page.locator(".drill summary")
    expect(kept.first).to_contain_text(re.compile("whole|lost"))
    kept.first.click()
    expect(page.locator(".drill[open] tbody tr").first).to_be_visible()
    expect(page.locator(".drill[open] .kept")).to_contain_text("Ringbolt's packet brought back")
    expect(page.locator(".drill[open]").get_by_role("link", name=re.compile("#")).first).to_be_visible()


def test_tidying_up_is_previewed_and_then_applied(site, visit):
    page = visit(site).open("/system")
    tidy = page.get_by_role("region", name="Tidy up")
    tidy.get_by_role("button", name="Duplicates").click()
    expect(tidy.locator("tbody tr")).to_contain_text(["Rename the old service"])
    lines = """cell => {
        const words = new Range();
        words.selectNodeContents(cell);
        return words.getClientRects().length;
    }"""
    assert [cell.evaluate(lines) for cell in tidy.locator("td").all()[:2]] == [1, 1]  # no word is broken
    found = tasks_named(site, "Rename the old")
    assert {task["status"] for task in found} == {"active"}
    act(page, "Apply …", "Apply")
    found = tasks_named(site, "Rename the old")
    assert sorted(task["status"] for task in found) == ["active", "superseded"]


def test_a_person_pauses_resumes_and_ends_a_task(site, visit, new_task):
    task = new_task()
    page = visit(site).open(f"/task/{task}")
    status = page.locator(".task-line .status")
    act(page, "Pause")
    expect(status).to_contain_text("paused")
    act(page, "Resume")
    expect(status).to_contain_text("active")
    act(page, "Cancel", "Cancel the task", Why="not needed")
    expect(status).to_contain_text("cancelled")
    act(page, "Undo the last change", "Undo")
    expect(status).to_contain_text("active")
    act(page, "Finish", Answer="It is white.")
    expect(page.locator(".note.good")).to_contain_text("It is white.")
    events = call(site, "task_thread", task_id=task, token="read")["events"]
    assert {event["origin"]["channel"] for event in events[1:]} == {"user"}


def test_an_instruction_is_in_the_next_packet_as_a_user_instruction(site, visit, new_task):
    task = new_task()
    page = visit(site).open(f"/task/{task}")
    act(page, "Instruct", "Add instruction", Instruction="Use the green paint.")
    expect(page.get_by_role("region", name="User instructions")).to_contain_text("green paint")
    (entry,) = call(site, "task_get", token="read", task_id=task)["instructions"]
    assert entry["origin"]["channel"] == "user"
    assert "Use the green paint." in call(site, "task_resume", token="read", task_id=task)["text"]


def test_the_plan_can_be_edited_and_a_stale_edit_is_refused(site, visit, new_task):
    task = new_task()
    window = visit(site)
    page = window.open(f"/task/{task}")
    act(page, "Edit the plan", "Replace the plan", Steps="Buy paint\nPaint twice", Why="one coat is thin")
    expect(page.locator(".step:not(.tombstone) .title")).to_have_text(["Buy paint", "Paint twice"])
    page.locator(".menu > summary").click()
    page.get_by_role("button", name="Edit the plan").click()
    dialog = page.locator("dialog")
    dialog.get_by_label("Steps").fill("Buy paint")
    dialog.get_by_label("Why").fill("I was not looking")
    call(site, "task_plan_replace", task_id=task, plan=["Buy paint", "Paint twice", "Dry"], reason="it drips")
    expect(page.locator(".step .title", has_text="Dry")).to_be_attached()
    dialog.get_by_role("button", name="Replace the plan").click()
    expect(dialog.get_by_role("alert")).to_contain_text("stale_version")
    assert "409 (Conflict)" in window.complaints.pop()
    dialog.get_by_role("button", name="Back").click()
    page.locator(".step .title").first.click()
    act(page, "Change this step", "Save", Status="completed", Note="two litres")
    expect(page.locator(".step").first).to_contain_text("reported")


def test_steps_with_the_same_title_keep_their_identity(site, visit, new_task):
    task = new_task("Do the laundry", ("Wash", "Dry", "Wash"))
    call(site, "task_update", task_id=task, message="clean", step=1, step_status="completed")
    page = visit(site).open(f"/task/{task}")
    act(page, "Edit the plan", "Replace the plan", Steps="Wash\nDry\nWash\nIron", Why="it creases")
    expect(page.locator(".step .title")).to_have_text(["Wash", "Dry", "Wash", "Iron"])
    steps = call(site, "task_get", token="read", task_id=task)["steps"]
    assert [step["status"] for step in steps] == ["completed", "pending", "pending", "pending"]


def test_a_person_settles_questions_waits_claims_and_side_effects(site, visit, new_task):
    task = new_task()
    call(site, "task_remember", task_id=task, summary="Which green?", type="question")
    call(site, "smart_wait", task_id=task, target="manual:colour approved", block=False, timeout=600)
    call(site, "task_claim", task_id=task)
    call(site, "task_intent", task_id=task, what="Order ten litres", verify="look at the orders")
    page = visit(site).open(f"/task/{task}?tab=memory")
    act(page, "Answer …", "Send answer", Your="The dark one.")
    expect(page.get_by_role("region", name="Questions")).to_contain_text("No open questions")
    page = visit(site).open(f"/task/{task}?tab=work")
    act(page, "Decide …", "Decide", Your="approved")
    waits = page.get_by_role("region", name="Waits", exact=True)
    expect(waits).to_contain_text("resolved")
    waits.get_by_role("button", name="show checks").click()
    expect(waits.locator(".lines li")).to_have_count(3)
    act(page, "Record outcome …", "Record", Outcome="did_not")
    expect(page.get_by_role("region", name="Side effects")).to_contain_text("not done")
    act(page, "Release …", "Release", Why="the agent is gone")
    expect(page.get_by_text("Nobody has claimed this task")).to_be_visible()


def test_waits_are_shown_with_their_current_settings(site, visit, new_task, tmp_path):
    task = new_task()
    wait = call(site, "smart_wait", task_id=task, target="file:nowhere", block=False, timeout=600)["wait_id"]
    call(site, "wait_update", wait_id=wait, timeout=7200)
    (log := tmp_path / "log").write_text("well\n")
    model = {"model_local_url": "http://127.0.0.1:9/v1", "model_local_name": "m"}
    with TaskMemory.open(site.store, workspace=None, wait_folders=str(tmp_path), **model) as memory:
        memory.smart_wait(target=f"log:{log}", until="it looks well", task_id=task, block=False)
    page = visit(site).open(f"/task/{task}?tab=work")
    waits = page.get_by_role("region", name="Waits").locator(".entry")
    expect(waits.nth(0)).to_contain_text("judged by a model")
    expect(waits.nth(1)).to_contain_text("at most 2 h")
    expect(waits.nth(1)).not_to_contain_text("model")


def test_a_goal_shows_its_criteria_and_tasks_and_a_person_decides(site, visit):
    goal = call(site, "goal_create", name="Sell gloves", criteria=["Mia likes it"], blocker_limit=2)[
        "task_id"
    ]
    for name in ("Knit gloves", "Dye gloves"):
        task = call(site, "task_register", name=name, related_goal=goal)["task_id"]
        call(site, "task_update", task_id=task, blockers=["There is no wool"])
    page = visit(site).open(f"/task/{task}")
    page.locator(".facts").get_by_role("link", name=goal).click()
    tasks = page.get_by_role("region", name="Tasks of this goal")
    expect(tasks).to_contain_text("Knit gloves")
    expect(tasks).to_contain_text("2 times: There is no wool")
    act(page, "Unblock …", "Unblock", Why="wool has come")
    expect(page.locator(".task-line .status")).to_contain_text("active")
    act(page, "Set status …", "Record", Status="met", How="she said so")
    criteria = page.get_by_role("region", name="Criteria")
    expect(criteria).to_contain_text("she said so")
    expect(criteria.locator("h2")).to_contain_text("1/1")
    act(page, "Finish", Answer="They sell.")
    expect(page.locator(".task-line .status")).to_contain_text("done")


def test_the_system_tells_of_workers_and_of_what_hosts_could_not_write(site, visit):
    with TaskMemory.open(site.store, workspace=None) as memory:
        memory.store.write(lambda tx: workers.begin(tx, "box:7:1", ("mirror",), time.time()))
        memory.store.write(lambda tx: workers.beat(tx, "box:7:1", ("mirror",), time.time(), ended=True))
    page = visit(site).open("/system")
    worker = page.locator(".workers li", has_text="box:7:1")
    expect(worker).to_contain_text("stopped")
    expect(worker).to_contain_text("last seen")
    health = page.get_by_role("region", name="Health")
    expect(health.locator(".finding", has_text="journal")).to_contain_text("no hook events are waiting")
    expect(health.locator(".finding", has_text="hosts")).to_contain_text("installed:")


def test_a_hand_off_can_be_downloaded(site, visit):
    page = visit(site).open(f"/task/{site.ids['deploy']}")
    with page.expect_download() as downloading:
        page.locator(".menu > summary").click()
        page.get_by_role("link", name="Download hand-off").click()
    text = downloading.value.path().read_text(encoding="utf-8")
    assert "Deploy coursefolio" in text
    assert "docker.io" in text


def test_a_reader_is_offered_no_actions(site, visit):
    page = visit(site, kind="read").open(f"/task/{site.ids['deploy']}?tab=timeline&seq=3")
    expect(page.get_by_role("link", name="View the task at this point")).to_be_visible()
    assert page.get_by_role("button", name=re.compile("Pause|Cancel|Undo|Edit")).count() == 0


def notes_of(site, task):
    """The texts of a task's notes."""
    return [one["summary"] for one in call(site, "task_get", task_id=task)["notes"]]


def test_a_task_is_split_where_another_request_begins_and_the_undo_joins_it_again(site, visit, new_task):
    task, hinge = new_task("Plant the beans"), "The hinge is rusty."
    for text in ("Use the small spade.", "Now repair the gate."):
        said = call(site, "task_remember", token="user", task_id=task, summary=text, type="user_instruction")
    call(site, "task_remember", task_id=task, summary=hinge, type="discovery")
    page = visit(site).open(f"/task/{task}")
    fields = {"The new task begins with": str(said["seq"]), "Name of the new task": "Mend the gate"}
    act(page, "Split", "Split the task", **fields)
    (new,) = tasks_named(site, "Mend the gate")
    expect(page.locator(".notice")).to_contain_text(new["id"])
    assert hinge in notes_of(site, new["id"])
    assert hinge not in notes_of(site, task)
    act(page, "Undo the last change")
    assert hinge in notes_of(site, task)
    assert call(site, "task_get", task_id=new["id"])["status"] == "superseded"


def test_another_task_of_the_workspace_is_taken_in_and_the_undo_separates_them(site, visit, new_task):
    task, other = new_task("Clean the pond"), new_task("Feed the fish", plan=["Buy food"])
    page = visit(site).open(f"/task/{task}")
    act(page, "Merge", "Merge the tasks", **{"The task to merge": other})
    assert call(site, "task_get", task_id=other)["status"] == "superseded"
    expect(page.locator(".step", has_text="Buy food")).to_be_visible()
    act(page, "Undo the last change")
    assert call(site, "task_get", task_id=other)["status"] == "active"
    expect(page.get_by_text("1 dropped step")).to_be_visible()


def test_a_task_with_one_request_cannot_be_split(site, visit, new_task):
    page = visit(site).open(f"/task/{new_task('Count the eggs')}")
    page.locator(".menu > summary").click()
    expect(page.get_by_role("button", name="Merge", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Split", exact=True)).to_have_count(0)
