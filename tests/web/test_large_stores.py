"""Large stores: the first view stays small, and only visible rows are in the page.

How fast the page reacts is measured by `bench/web.py`.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import running_site, written
from tests.web.stories import crowd

MOST_BYTES = 150_000


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A site with a thousand tasks, one of them with a hundred thousand events."""
    story = written(tmp_path_factory.mktemp("crowd"), crowd)
    with running_site(tmp_path_factory.mktemp("site"), story) as site:
        yield site


def test_the_first_view_is_small_over_the_wire(crowded, visit):
    window = visit(crowded)
    page = window.page
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    received = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    page.reload()
    page.locator(".task-row").first.wait_for()
    page.locator(".activity").wait_for()
    assert 10_000 < sum(received) < MOST_BYTES
    assert page.locator(".task-row").count() < 60


def test_a_thousand_tasks_can_be_filtered_and_scrolled(crowded, visit):
    page = visit(crowded).open()
    expect(page.locator(".chip.in-active")).to_contain_text("900")
    field = page.get_by_label("Filter tasks by text")
    field.fill("Task 77 of")
    expect(page.locator(".task-row")).to_have_count(1)
    field.fill("")
    page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    expect(page.locator(".task-row").nth(12)).to_be_in_viewport()
    assert page.locator(".task-row").count() < 60


def test_a_hundred_thousand_events_can_be_scrolled_and_filtered(crowded, visit):
    page = visit(crowded).open(f"/task/{crowded.ids['long']}?tab=timeline")
    expect(page.locator(".moment .seq").last).to_have_text("#100000")
    box = page.locator(".moments")
    box.evaluate("box => box.scrollTop = box.scrollHeight / 2")
    expect(page.locator(".moment", has_text="This is event 50005")).to_be_in_viewport()
    assert page.locator(".moment").count() < 80
    page.get_by_role("button", name="decision 9,999").or_(
        page.get_by_role("button", name="decision")
    ).first.click()
    expect(page.locator(".timeline-list p")).to_contain_text("10,000 of 100,000 events")
