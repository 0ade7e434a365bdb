"""Every screen with real data: light and dark, desktop and phone, and accessible."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visit

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
TABLET = {"width": 1024, "height": 768}
# A route, and the element that must be visible there.
PLACES = {
    "overview": ("/", ".task-row .doing"),
    "story": ("/task/{replayed}", ".story-line"),
    "timeline": ("/task/{replayed}?tab=timeline&seq=3", ".event .pairs, .event .whole"),
    "memory": ("/task/{deploy}?tab=memory", ".decision .options .taken"),
    "work": ("/task/{hostile}?tab=work", ".entry .mark"),
    "thread": ("/task/{replayed}?tab=thread", ".message"),
    "packet": ("/task/{replayed}?tab=packet", ".packet-text"),
    "goal": ("/task/{goal}", ".criterion"),
    "time": ("/task/{deploy}?tab=time&at=9", ".changes ins"),
    "search": ("/search?q=registry", ".hit"),
    "recovery": ("/recovery", "form button"),
    "system": ("/system", ".finding"),
}
RULES = """async contrastOnly => (await axe.run(
    document, {runOnly: contrastOnly ? ["color-contrast"] : ["wcag2a", "wcag2aa", "wcag21aa"]}
)).violations.filter(one => ["serious", "critical"].includes(one.impact)).map(
    one => one.id + ": " + one.nodes.map(node => node.html.slice(0, 160)).slice(0, 3).join(" | "))"""


@pytest.fixture(scope="module")
def window(browser, site):
    """One window for all of these tests, signed in once."""
    context = browser.new_context(viewport=DESKTOP, color_scheme="light")
    visit = Visit(context.new_page(), site)
    visit.sign_in()
    yield visit
    context.close()
    assert visit.complaints == []


def findings(page, contrast_only=False):
    """Serious accessibility violations, by axe's rules."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8") + "\n;undefined")
    return page.evaluate(RULES, contrast_only)


@pytest.mark.parametrize("name", PLACES)
def test_a_screen_works_light_and_dark_on_desktop_and_phone(window, name):
    place, wanted = PLACES[name]
    page = window.page
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(DESKTOP)
    window.open(place.format(**window.site.ids))
    expect(page.locator(wanted).first).to_be_visible()
    assert findings(page) == []
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert findings(page, contrast_only=True) == []
    for size in (TABLET, PHONE):
        page.set_viewport_size(size)
        expect(page.locator(wanted).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert findings(page) == []
        page.emulate_media(color_scheme="light")
    assert findings(page, contrast_only=True) == []


def test_the_sign_in_and_a_dialog_are_accessible(browser, site, window):
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    page.goto(site.url)
    page.get_by_label("Token").wait_for()
    assert findings(page) == []
    context.close()
    window.page.set_viewport_size(DESKTOP)
    page = window.open(f"/task/{site.ids['deploy']}")
    page.locator(".menu > summary").click()
    page.get_by_role("button", name="Edit the plan").click()
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)


def test_a_chosen_theme_overrides_the_system_theme_and_persists(site, visit):
    page = visit(site, color_scheme="light").open()
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Use dark colours").click()
    page.reload()
    page.locator(".task-row").first.wait_for()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_the_page_works_with_the_keyboard_alone(site, visit):
    window = visit(site, kind=None)
    page = window.page
    page.goto(site.url)
    page.get_by_label("Token").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type(site.tokens["user"])
    page.keyboard.press("Enter")
    page.locator(".task-row").first.wait_for()

    def tab_to(name, most=60):
        for _ in range(most):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent").strip() == name:
                assert page.evaluate("document.activeElement.matches(':focus-visible')")
                return
        raise AssertionError(f"{name} is out of reach")

    page.keyboard.press("/")
    page.keyboard.type("coursefolio")
    tab_to("Deploy coursefolio")
    page.keyboard.press("Enter")
    page.locator(".step").first.wait_for()
    tab_to("Pause")
    page.keyboard.press("Enter")
    expect(page.locator("dialog")).to_be_visible()
    tab_to("Pause")
    page.keyboard.press("Enter")
    expect(page.locator(".task-line .status")).to_contain_text("paused")
    tab_to("Resume")
    page.keyboard.press("Enter")
    tab_to("Resume")
    page.keyboard.press("Enter")
    expect(page.locator(".task-line .status")).to_contain_text("active")
