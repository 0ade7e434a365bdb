"""A real browser, a real server process on a real store, and a page that is signed in."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from ringbolt.surfaces.http.auth import make_tokens
from tests.web.stories import fill

expect.set_options(timeout=20_000)  # the machine may be busy
TOOL = Path(__file__).parents[2] / "tools" / "browser.sh"


class Site:
    """A server in its own process, with its own store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "tasks.db"
        self.port = 0
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RINGBOLT_")},
            "XDG_DATA_HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        (folder / "ringbolt").mkdir(parents=True)
        self.tokens = make_tokens(str(folder / "ringbolt" / "tokens.json"))
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self, *options: str) -> None:
        """Start on the same port as before, if any, and wait until the server listens."""
        words = ["-m", "ringbolt", "serve", "--port", str(self.port), "--store", str(self.store), *options]
        self._process = subprocess.Popen(
            [sys.executable, *words, "--no-worker"],
            stdout=subprocess.PIPE,
            text=True,
            env=self._environ,
            cwd=self.folder,
        )
        line = self._process.stdout.readline()
        assert " at http://127.0.0.1:" in line, line
        self.port = int(line.rstrip("/\n").rpartition(":")[2])

    def sign_in_link(self) -> str:
        """The link that the server printed; it was started with --as-user."""
        return next(line.strip() for line in self._process.stdout if "#/sign-in/" in line)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.communicate(timeout=60)
            self._process = None


def written(folder: Path, story):
    """Write a story to a new store, ignoring the developer's own settings; returns its path and the ids."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("RINGBOLT_"):
                patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        return folder / "tasks.db", story(folder / "tasks.db")


@contextmanager
def running_site(folder: Path, story):
    """A site on a copy of a story's store; `site.ids` has the ids of its tasks."""
    site = Site(folder)
    store, site.ids = story
    for part in store.parent.glob(f"{store.name}*"):  # with the write-ahead log
        (shutil.copytree if part.is_dir() else shutil.copy)(part, site.folder / part.name)
    site.start()
    try:
        yield site
    finally:
        site.stop()


@pytest.fixture(scope="session")
def browser_program():
    """The path of a browser. Without one the tests fail and say what to install."""
    found = subprocess.run(["sh", str(TOOL)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


@pytest.fixture(scope="package")
def browser(browser_program):
    """A browser for this folder: while Playwright's sync API is active, no other event loop can run."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser_program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def story(tmp_path_factory):
    """A store with a story in it, to be copied, and the ids of its tasks by role."""
    return written(tmp_path_factory.mktemp("story"), fill)


@pytest.fixture(scope="session")
def site(tmp_path_factory, story):
    """A server with a story in its store, shared by the tests that only add to it."""
    with running_site(tmp_path_factory.mktemp("site"), story) as made:
        yield made


# The browser logs this for every visit that is not signed in yet.
EXPECTED = "401 (Unauthorized)"


class Visit:
    """A browser window, and the errors it logged."""

    def __init__(self, page, site: Site) -> None:
        self.page = page
        self.site = site
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._heard)

    def _heard(self, message) -> None:
        if message.type == "error" and EXPECTED not in message.text:
            self.complaints.append(message.text)

    def sign_in(self, kind: str = "user") -> None:
        self.page.goto(self.site.url)
        self.page.get_by_label("Token").fill(self.site.tokens[kind])
        self.page.get_by_role("button", name="Sign in").click()
        self.page.locator("header.bar").wait_for()

    def open(self, place: str = "/"):
        """Go to a route of the page, such as /task/ID?tab=plan."""
        self.page.goto(f"{self.site.url}#{place}")
        self.page.locator("#screen").wait_for()
        return self.page


@pytest.fixture
def visit(browser):
    """A function that opens a signed-in window. The test fails if the browser logs an error."""
    opened = []

    def visit(site, kind="user", **options) -> Visit:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.set_default_timeout(20_000)
        made = Visit(context.new_page(), site)
        opened.append((context, made))
        if kind:
            made.sign_in(kind)
        return made

    yield visit
    for context, made in opened:
        context.close()
        assert made.complaints == []


def call(site, operation, token="write", **arguments):
    """Call an operation of a site with a token, as a program would."""
    import urllib.request

    request = urllib.request.Request(
        f"{site.url}api/{operation}",
        json.dumps(arguments).encode(),
        {"Authorization": f"Bearer {site.tokens[token]}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())["data"]
