"""The overview: every task at a glance, live."""

from __future__ import annotations

import re
import time
from urllib.error import HTTPError

import pytest
from playwright.sync_api import expect

from ringbolt import TaskMemory
from ringbolt.model.validate import stamp
from ringbolt.store import sessions
from ringbolt.store.sessions import WAITING, WORKING, Session
from ringbolt.system import processes
from tests.web.conftest import call

# Other tests add tasks too, and only visible rows are in the DOM.
TALL = {"width": 1280, "height": 4000}


def test_the_overview_puts_what_needs_a_person_first(site, visit):
    page = visit(site, viewport=TALL).open()
    headings = page.locator(".group-row h2")
    expect(headings.first).to_contain_text("Needs you")
    asking = page.locator(".task-row", has_text="Migrate the billing tables")
    expect(asking).to_contain_text("Asks: May I drop the column")
    deploy = page.locator(".task-row", has_text="Deploy coursefolio")
    expect(deploy).to_contain_text("Pull the image and run the container")
    expect(deploy).to_contain_text("3/5")
    expect(deploy).to_contain_text("deployer")
    # One is claimed, a sub-task of another is waiting, and no session is known of the third.
    for busy in ("Watch the oven", "Tidy the attic", "Sort the photos"):
        expect(page.locator(".task-row.in-active", has_text=busy)).to_be_visible()
    # Nobody is known to work on it. Another test may have tidied up one of the two.
    expect(page.locator(".task-row.in-paused", has_text="Rename the old service").first).to_be_visible()
    expect(page.locator(".task-row.in-finished", has_text="Write the release notes")).to_be_visible()


def test_tasks_waiting_for_a_person_need_attention_and_goals_are_listed(site, visit):
    waiting = call(site, "task_register", name="Publish the page")["task_id"]
    wait = call(site, "smart_wait", task_id=waiting, target="manual:Mia approves", block=False)["wait_id"]
    goal = call(site, "goal_create", name="Sell socks", criteria=["Mia likes it"], blocker_limit=2)["task_id"]
    page = visit(site, viewport=TALL).open()
    row = page.locator(".task-row", has_text="Publish the page")
    expect(row).to_contain_text("Wants your decision: Mia approves")
    with pytest.raises(HTTPError, match="409"):  # only a person decides
        call(site, "wait_update", wait_id=wait, message="approved")
    expect(row).to_contain_text("Wants your decision: Mia approves")
    call(site, "wait_update", token="user", wait_id=wait, message="approved")
    expect(row).not_to_contain_text("Wants your decision: Mia approves")
    expect(page.locator(".task-row.in-active", has_text="Sell socks")).to_contain_text("goal")
    expect(page.get_by_role("progressbar", name="criteria of Sell socks")).to_have_attribute(
        "aria-valuemax", "1"
    )
    for name in ("Knit", "Dye"):
        task = call(site, "task_register", name=name, related_goal=goal)["task_id"]
        call(site, "task_update", task_id=task, blockers=["There is no wool"])
    expect(page.locator(".task-row.in-attention", has_text="Sell socks")).to_contain_text("reset the goal")


def test_a_task_is_stuck_only_where_a_live_session_is_silent(site, visit):
    hour_ago = time.time() - 3 * 3600
    here = {"process": processes.ancestors()[0], "machine": processes.boot()}
    told = {"Bake the bread": {"turn": WAITING, "seen_at": stamp(time.time())}, "Slice the bread": {},
            "Knead the bread": here}  # fmt: skip
    with TaskMemory.open(site.store, workspace=None, clock=lambda: hour_ago, reserve_bytes=0) as memory:
        for name, fields in told.items():
            memory.acting_as(session=name).task_register(name, ["One"])
            row = Session(**{"id": name, "turn": WORKING, "seen_at": stamp(hour_ago), **fields})
            memory.store.write(lambda tx, row=row: sessions.put(tx, row))
        done = memory.task_register("Eat the bread", ["One"]).task_id
        memory.task_update(done, step=1, step_status="completed")
        over = memory.task_register("Buy the bread").task_id
        memory.task_update(over, status="completed", reason="inferred")
    page = visit(site, viewport=TALL).open()
    chips = page.get_by_role("group", name="States")
    for word in ("waiting for you", "active", "resting", "stuck", "done"):
        expect(chips.get_by_role("button", name=re.compile(rf"^[1-9]\d* {word}$"))).to_be_visible()
    baked = page.locator(".task-row.in-yours", has_text="Bake the bread")
    expect(baked.get_by_role("img", name="waiting for you")).to_be_visible()
    kneaded = page.locator(".task-row.in-stuck", has_text="Knead the bread")
    expect(kneaded.get_by_role("img", name="stuck")).to_be_visible()
    with TaskMemory.open(site.store, workspace=None, reserve_bytes=0) as memory:
        cards = [memory.task_list(text=name, status="all", workspace=None).tasks[0] for name in told]
    assert [card.life for card in cards] == ["waiting for you", "resting", "stuck"]
    sliced = page.locator(".task-row.in-paused", has_text="Slice the bread")
    expect(sliced.get_by_role("img", name="resting")).to_be_visible()
    expect(page.locator(".task-row.in-active", has_text="Eat the bread")).to_be_visible()
    bought = page.locator(".task-row.in-finished", has_text="Buy the bread")
    expect(bought).to_contain_text("done (inferred)")
    chips.get_by_role("button", name="resting").click()
    expect(sliced).to_be_visible()
    expect(baked).to_have_count(0)
    page.goto(f"{site.url}#/task/{over}")
    expect(page.locator(".task-line .status")).to_contain_text("done (inferred)")


def test_a_task_appears_and_moves_by_itself(site, visit):
    page = visit(site, viewport=TALL).open()
    expect(page.locator(".live")).to_have_text("live")
    task = call(site, "task_register", name="Appears by itself")["task_id"]
    expect(page.locator(".task-row.in-active", has_text="Appears by itself")).to_be_visible()
    call(site, "task_finish", task_id=task)
    expect(page.locator(".task-row.in-finished", has_text="Appears by itself")).to_be_visible()


def test_the_last_row_is_inside_the_list_on_every_screen(site, visit):
    page = visit(site).open()
    for size in ({"width": 1280, "height": 800}, {"width": 390, "height": 844}):
        page.set_viewport_size(size)
        expect(page.locator(".task-row").first).to_be_visible()
        page.evaluate("scrollTo(0, 1e6)")
        last = page.locator(".task-row").last
        expect(last).to_be_in_viewport()
        bottom = "one => one.getBoundingClientRect().bottom"
        assert last.evaluate(bottom) <= page.locator(".virtual-all").evaluate(bottom) + 1


def test_filters_are_in_the_address(site, visit):
    page = visit(site, viewport=TALL).open()
    page.get_by_label("Filter tasks by text").fill("release")
    expect(page.locator(".task-row")).to_have_count(1)
    page.get_by_label("Agent").select_option("builder")
    assert re.search(r"#/\?text=release&agent=builder$", page.url)
    page.reload()
    expect(page.locator(".task-row")).to_have_count(1)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".task-row", has_text="Deploy coursefolio")).to_be_visible()
