"""Live updates: every window shows each event once, also across a restart of the server."""

from __future__ import annotations

import signal

from playwright.sync_api import expect

from tests.web.conftest import call, running_site


def shown_events(page):
    """The numbers of the events that a timeline shows, in order."""
    return page.locator(".moment .seq").evaluate_all(
        "nodes => nodes.map(node => Number(node.textContent.slice(1)))"
    )


def test_two_browsers_see_one_write(site, visit):
    task = call(site, "task_register", name="Seen by two")["task_id"]
    first, second = (visit(site).open(f"/task/{task}?tab=timeline") for _ in range(2))
    for page in (first, second):
        expect(page.locator(".live")).to_have_text("live")
    call(site, "task_update", task_id=task, message="One write for two")
    for page in (first, second):
        expect(page.locator(".moment", has_text="One write for two")).to_have_count(1)


def test_a_filtered_timeline_grows_by_matching_events(site, visit):
    task = call(site, "task_register", name="Filtered")["task_id"]
    page = visit(site).open(f"/task/{task}?tab=timeline&types=message")
    expect(page.get_by_text("No events match")).to_be_visible()
    for number in range(3):
        call(site, "task_update", task_id=task, message=f"message {number}")
        call(site, "task_set", task_id=task, name="n", value=number)
    expect(page.locator(".moment")).to_have_count(3)
    assert shown_events(page) == [2, 4, 6]


def test_a_hidden_page_rests_and_loses_neither_events_nor_typed_text(site, visit):
    task = call(site, "task_register", name="Seen again")["task_id"]
    window = visit(site, kind=None)
    page = window.page
    page.clock.install()
    window.sign_in()
    window.open(f"/task/{task}?tab=timeline")
    expect(page.locator(".live")).to_have_text("live")
    page.get_by_role("button", name="Instruct", exact=True).click()
    page.get_by_role("textbox", name="Instruction").fill("half a thought")
    turn = """hidden => {
        Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});
        document.dispatchEvent(new Event('visibilitychange'));
    }"""
    page.evaluate(turn, True)
    page.clock.fast_forward(31_000)
    expect(page.locator(".live")).to_have_text("resting")
    call(site, "task_update", task_id=task, message="while nobody looked")
    page.evaluate(turn, False)
    expect(page.locator(".live")).to_have_text("live")
    expect(page.locator(".moment", has_text="while nobody looked")).to_have_count(1)
    expect(page.get_by_role("textbox", name="Instruction")).to_have_value("half a thought")


def test_a_server_restart_neither_loses_nor_repeats_events(tmp_path, story, visit):
    with running_site(tmp_path, story) as site:
        task = call(site, "task_register", name="Goes on")["task_id"]
        page = visit(site)
        page.complaints = []  # the browser logs errors while the server is down
        page.page.remove_listener("console", page._heard)
        page = page.open(f"/task/{task}?tab=timeline")
        expect(page.locator(".live")).to_have_text("live")
        page.evaluate(
            """async task => {
                const main = document.querySelector('script[type=module]').src;
                const {live} = await import(main.replace('main.js', 'live.js'));
                window.heard = [];
                live.on(event => event.task_id === task && window.heard.push(event.seq));
            }""",
            task,
        )
        for number in range(3):
            call(site, "task_update", task_id=task, message=f"before {number}")
        for how in (signal.SIGTERM, signal.SIGKILL):
            site.stop(how)
            expect(page.locator(".live")).to_have_text("connecting …")
            site.start()
            for number in range(3):  # written while no stream is open, or just as it reconnects
                call(site, "task_update", task_id=task, message=f"after {number}")
        expect(page.locator(".live")).to_have_text("live")
        expect(page.locator(".moment")).to_have_count(10)
        assert shown_events(page) == list(range(1, 11))
        assert page.evaluate("window.heard") == list(range(2, 11))
