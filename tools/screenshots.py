"""Take screenshots of the web page for the documentation, with invented data: `python tools/screenshots.py`.

It needs a browser (tools/browser.sh) and the development tools. The pictures go to docs/images.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, Route, sync_playwright

from ringbolt import TaskMemory
from ringbolt.hosts import drill
from ringbolt.model.validate import stamp
from ringbolt.store import sessions
from ringbolt.store.sessions import WAITING, WORKING, Session
from ringbolt.surfaces.demo import fill
from ringbolt.surfaces.http.auth import make_tokens

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
HOUR = 3600.0
# Shown in the pictures instead of the real folder and machine name.
SHOWN_FOLDER, SHOWN_MACHINE = "/home/mia/.local/share/ringbolt", "laptop"
# Tasks: name, folder, agent, the number of steps that are done, and the steps.
STORIES = (
    (
        "Move the checkout to the new payment API", "shop", "claude-code", 3,
        "Read what changed; Replace the client; Handle the new webhooks; Pay in the sandbox; Switch over",
    ),
    (
        "Find why the nightly import is slow", "warehouse", "codex", 2,
        "Measure one night; Read the query plans; Add the missing index; Measure again",
    ),
    (
        "Translate the onboarding mails", "mails", "claude-code", 4,
        "Collect the texts; Translate into German; Translate into French; Check the placeholders; Publish",
    ),
    (
        "Upgrade the billing service to Python 3.13", "billing", "cursor", 1,
        "Read the release notes; Update the dependencies; Fix the tests; Build the image; Deploy to staging",
    ),
    (
        "Write tests for the date parser", "warehouse", "gemini-cli", 3,
        "List the formats; Write the tests; Fix what they find",
    ),
    (
        "Remove the old feature flags", "shop", "claude-code", 4,
        "Find the flags; Remove the dead branches; Run the tests; Delete the settings",
    ),
)  # fmt: skip


class Clock:
    """A clock that the stories move."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        self.now += 7.0
        return self.now


def tell(store: Path) -> dict[str, str]:
    """Some work of some agents over a day; returns the ids of the tasks and of the goal that are shown."""
    now = time.time()
    clock = Clock(now - 20 * HOUR)
    with TaskMemory.open(store, workspace=None, clock=clock, reserve_bytes=0) as memory:
        for turn, (name, place, agent, done, steps) in enumerate(STORIES):
            clock.now = now - (19 - 3 * turn) * HOUR
            _work(
                memory.acting_as(agent=agent, workspace=f"/home/mia/{place}", session=f"s{turn}"),
                name,
                steps.split("; "),
                done,
            )
        clock.now = now - 0.2 * HOUR
        waiting = memory.acting_as(agent="codex", workspace="/home/mia/site")
        task = waiting.task_register("Publish the spring sale page", ["Build", "Review", "Publish"]).task_id
        waiting.task_update(task, "Built", step=1, step_status="completed")
        waiting.smart_wait(target="manual:Mia approves the page", task_id=task, block=False, timeout=86400)
        asking = memory.acting_as(agent="cursor", workspace="/home/mia/billing")
        task = asking.task_register(
            "Migrate the invoices table", ["Dump", "Convert", "Load", "Check"]
        ).task_id
        asking.task_update(task, "Dumped 1.2 million rows", step=1, step_status="completed")
        asking.task_remember(task, "May I drop the column legacy_id? Nothing reads it.", type="question")
        goal = memory.acting_as(channel="user", workspace="/home/mia/shop").goal_create(
            "The shop takes euros",
            ["A test order in euros went through", "Mia has seen the bill"],
            budget={"attempts": 6, "tokens": 2_000_000},
        )
        (checkout,) = memory.task_list(text="checkout", workspace=None).tasks
        memory.task_link(checkout.id, target=goal.task_id, kind="goal")
        first = memory.goal_status(goal.task_id)[0].criteria[0]
        memory.acting_as(channel="user").goal_decide(
            goal.task_id, first.seq, "met", reason="order 1001, 12.50 euros"
        )
        clock.now = now - 200
        for text, said in (
            ("checkout", "The sandbox accepts an order"),
            ("mails", "German and French are ready"),
        ):
            (busy,) = memory.task_list(text=text, workspace=None).tasks
            memory.acting_as(agent="claude-code").task_update(busy.id, said)
        seen = stamp(now)
        for row in (
            Session(id="s0", turn=WORKING, started_at=seen, seen_at=seen),
            Session(id="s1", started_at=seen, seen_at=seen, ended_at=seen),
            Session(id="s2", turn=WAITING, started_at=seen, seen_at=seen),
        ):
            memory.store.write(lambda tx, row=row: sessions.put(tx, row))
        clock.now = now - 120
        deploy = fill(memory)
        memory.task_receipt(
            deploy, command="docker image inspect coursefolio:v1.2.3", exit_code=0, item="build"
        )
        memory.acting_as(channel="user").task_remember(
            deploy, "Tell me before you switch the traffic over.", type="user_instruction"
        )
        memory.task_snapshot(
            deploy,
            "The user asked: Deploy coursefolio v1.2.3 to the production server, please. Do not touch the"
            " database. Done so far: Build the Docker image, Push it to the registry, Connect to the server."
            " In progress: Pull the image and run the container. Version: v1.2.3. Remaining: Check the health"
            " endpoint. The image went to ghcr.io.",
            label="after compaction",
            summarized=True,
        )
        drill.run(memory, deploy)
    return {"deploy": deploy, "goal": goal.task_id}


def _work(memory: TaskMemory, name: str, steps: list[str], done: int) -> None:
    task = memory.task_register(name, steps).task_id
    for number in range(done):
        memory.task_update(task, step=number + 1, step_status="active")
        for turn in range(4):
            memory.task_log_action(task, f"pytest tests/test_{turn}.py", type="cli", output={"exit_code": 0})
        memory.task_update(task, f"{steps[number]}: done", step=number + 1, step_status="completed")
    if done == len(steps):
        memory.task_finish(task, answer=f"{name}: done, and every test passes.")
    else:
        memory.task_update(task, step=done + 1, step_status="active")


def hide_machine(page: Page, folder: str) -> None:
    """Make the page show an invented folder and machine instead of the real ones."""

    def answer(route: Route) -> None:
        response = route.fetch()
        text = response.text().replace(folder, SHOWN_FOLDER).replace(os.uname().nodename, SHOWN_MACHINE)
        route.fulfill(response=response, body=text)

    for path in ("doctor", "system"):
        page.route(f"**/api/{path}", answer)


def shoot(page: Page, url: str, ids: dict[str, str]) -> None:
    """Take a picture of every screen, of some also in dark mode or on a phone."""
    deploy = ids["deploy"]
    views = [
        ("overview", "/", ".task-row", DESKTOP, "light"),
        ("overview-dark", "/", ".task-row", DESKTOP, "dark"),
        ("overview-phone", "/", ".task-row", PHONE, "light"),
        ("task", f"/task/{deploy}", ".step", DESKTOP, "light"),
        ("task-phone", f"/task/{deploy}", ".step", PHONE, "dark"),
        ("timeline", f"/task/{deploy}?tab=timeline&seq=8", ".event .pairs", DESKTOP, "light"),
        ("memory", f"/task/{deploy}?tab=memory", ".decision", DESKTOP, "dark"),
        ("packet", f"/task/{deploy}?tab=packet", ".packet-text", DESKTOP, "light"),
        ("time", f"/task/{deploy}?tab=time&at=9", ".changes ins", DESKTOP, "light"),
        ("goal", f"/task/{ids['goal']}", ".criterion", DESKTOP, "light"),
        ("search", "/search?q=registry", ".hit", DESKTOP, "light"),
        ("recovery", f"/recovery?task={deploy}", "form", DESKTOP, "light"),
        ("system", "/system", ".finding", DESKTOP, "dark"),
    ]
    for name, place, wanted, size, theme in views:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.goto(f"{url}#{place}")
        page.locator(wanted).first.wait_for()
        if name == "recovery":
            page.get_by_role("button", name="Run drill").click()
            page.locator(".drill tbody").first.wait_for()
        page.locator(".loading").first.wait_for(state="detached")
        _keep(page.screenshot(type="png"), IMAGES / f"{name}.png")


def _keep(picture: bytes, path: Path) -> None:
    """Store a picture, compressed if Pillow is installed."""
    try:
        from PIL import Image
    except ImportError:
        path.write_bytes(picture)
        return
    image = Image.open(io.BytesIO(picture)).convert("RGB").quantize(128)
    image.save(path, optimize=True)


def main() -> int:
    """Serve a store with invented work, and take the pictures."""
    browser = subprocess.run(
        ["sh", str(ROOT / "tools" / "browser.sh")], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ringbolt-pictures-") as name:
        folder = Path(name)
        (folder / "ringbolt").mkdir()
        tokens = make_tokens(str(folder / "ringbolt" / "tokens.json"))
        ids = tell(folder / "tasks.db")
        server = subprocess.Popen(
            [sys.executable, "-m", "ringbolt", "serve", "--port", "0", "--store", str(folder / "tasks.db")],
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "HOME": name, "XDG_DATA_HOME": name, "XDG_CONFIG_HOME": name},
        )
        try:
            line = server.stdout.readline() if server.stdout else ""
            url = line.rpartition(" at ")[2].strip()
            with sync_playwright() as playwright:
                launched = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
                page = launched.new_page(viewport=DESKTOP)
                hide_machine(page, name)
                page.goto(url)
                page.get_by_label("Token").fill(tokens["user"])
                page.get_by_role("button", name="Sign in").click()
                page.locator(".task-row").first.wait_for()
                shoot(page, url, ids)
                launched.close()
        finally:
            server.terminate()
            server.communicate(timeout=60)
    return 0


if __name__ == "__main__":
    sys.exit(main())
