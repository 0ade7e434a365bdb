"""What a reader is told first: the story of a task and what needs a person; and the keys of the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from ringbolt.surfaces.web.reads import repository_folder
from tests.web.conftest import call

PHONE = {"width": 390, "height": 844}


def test_the_story_tells_what_was_decided_and_each_line_leads_to_its_event(site, visit):
    page = visit(site).open(f"/task/{site.ids['deploy']}")
    decided = page.get_by_role("region", name="What was decided, and why")
    expect(decided).to_contain_text("ghcr.io")
    expect(page.get_by_role("region", name="What is next")).to_contain_text("Pull the image")
    link = decided.locator(".cite").first
    seq = link.text_content()
    link.click()
    expect(page.locator(".event h2")).to_have_text(f"Event {seq}")


def test_the_header_is_small_and_on_a_phone_the_content_starts_in_the_first_third(site, visit):
    page = visit(site).open(f"/task/{site.ids['deploy']}")
    expect(page.locator(".story-line").first).to_be_visible()
    assert page.locator(".task-head").bounding_box()["height"] <= 120
    page.set_viewport_size(PHONE)
    assert page.locator(".tab").bounding_box()["y"] <= PHONE["height"] / 3
    page.goto(f"{site.url}#/task/{site.ids['deploy']}?tab=time")
    expect(page.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=0.95)


def test_a_long_request_is_read_as_markdown_and_opened_on_demand(site, visit):
    request = "# Plan\n\n" + "\n".join(f"- part {number} of the *work*" for number in range(30))
    task = call(site, "task_register", name="Wax the floor", request=request)["task_id"]
    page = visit(site).open(f"/task/{task}")
    asked = page.get_by_role("region", name="What was asked")
    expect(asked.locator(".md-heading")).to_have_text("Plan")
    short = asked.bounding_box()["height"]
    asked.get_by_role("button", name="show all").click()
    expect(asked.get_by_role("button", name="show less")).to_be_visible()
    assert asked.bounding_box()["height"] > 2 * short


def test_what_needs_a_person_opens_on_the_question_with_its_answer_box(site, visit):
    task = call(site, "task_register", name="Glaze the pots")["task_id"]
    call(site, "task_remember", task_id=task, summary="Blue or **green**?", type="question")
    page = visit(site, viewport={"width": 1280, "height": 4000}).open()
    page.get_by_role("link", name="Glaze the pots").click()
    box = page.get_by_label("Your answer")
    expect(box).to_be_focused()
    expect(page.locator(".need strong")).to_have_text("green")
    box.fill("Blue.")
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.locator(".need")).to_have_count(0)
    assert call(site, "task_get", task_id=task)["questions"] == []


def test_keys_move_through_the_list_and_are_listed(site, visit):
    page = visit(site).open()
    expect(page.locator(".task-row").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".task-row.chosen")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("next row of the list")


def test_no_chip_counts_nothing_and_hits_are_highlighted(site, visit):
    window = visit(site)
    page = window.open()
    expect(page.locator(".chip").first).to_be_visible()
    assert "0" not in page.locator(".chip strong").all_text_contents()
    window.open("/search?q=registry")
    expect(page.locator(".hit mark").first).to_have_text("registry", ignore_case=True)


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/srv/shop/.git", "/srv/shop"),
        ("/w/cli/.worktrees/a/b", "/w/cli"),
        ("/w/cli/.claude/worktrees/x", "/w/cli"),
        ("/w/cli", "/w/cli"),
    ],
)
def test_a_work_tree_belongs_to_its_repository(path, folder):
    assert repository_folder(path) == folder
