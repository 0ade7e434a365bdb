"""Waits for what a screen, a window or a terminal shows, each against a real one."""

from __future__ import annotations

import base64
import signal
import subprocess
import time
from contextlib import closing

import pytest

from ringbolt.model.errors import RingboltError
from ringbolt.waits.terminals import pane_lines
from tests.model_server import says, serving
from tests.support import open_memory
from tests.waits.displays import Desk, needed, x_server
from tests.waits.support import Watched


def test_a_screen_and_its_windows_are_seen_to_change(tmp_path, monkeypatch):
    with x_server() as (display, server), closing(Desk(display)) as desk:
        changed = Watched(f"screen:{display}", "changes")
        still = Watched(f"screen:{display}", "is still for 5s")
        there, gone = (Watched(f"window:{display}/build LOG", until) for until in ("exists", "gone"))
        assert not any(one.met() for one in (changed, still, there))
        assert gone.met()
        assert still.met(waited=6.0)
        window = desk.window("The build log")
        assert changed.met()
        assert not still.met(waited=12.0)
        assert there.met()
        assert not gone.met()
        inside = Watched(f"window:{display}/build log", "changed")
        desk.window("Another one", x=100)
        assert not inside.met()
        window.change_attributes(background_pixel=0xFF0000)
        window.clear_area()
        desk.sync()
        assert inside.met()
        window.destroy()
        desk.sync()
        assert gone.met()
        # A display that hangs holds nobody up.
        monkeypatch.setattr("ringbolt.waits.wake.CHECK_SECONDS", 0.2)
        server.send_signal(signal.SIGSTOP)
        with open_memory(f"sqlite://{tmp_path}/s.db") as memory:
            watch = changed.watch
            with pytest.raises(RingboltError, match="hangs"):
                memory._first_state(watch)


def test_a_display_that_is_not_there_is_refused(tmp_path):
    with open_memory(f"sqlite://{tmp_path}/s.db") as memory:
        memory.task_register("T", metadata={"display": ":54321"})
        with pytest.raises(RingboltError, match=r"screen::54321 cannot be seen|is needed"):
            memory.smart_wait("screen:", block=False)


def test_a_picture_is_judged_by_a_model_that_is_shown_it_once(tmp_path):
    with x_server() as (display, _), serving(says({"true": False}), says({"true": True})) as model:
        options = {"model_local_url": model.url, "model_local_name": "eyes"}
        with closing(Desk(display)) as desk, open_memory(f"sqlite://{tmp_path}/s.db", **options) as memory:
            task = memory.task_register("T", metadata={"display": display}).task_id
            wait = memory.smart_wait("screen:", until="a white window is shown", block=False)
            assert (wait.target, wait.judged_by) == (f"screen:{display}", "model")
            seq = wait.seq
            memory._check_once(memory._wait(task, seq))
            memory._check_once(memory._wait(task, seq))  # the same picture: no question
            assert len(model.asked) == 1
            text, picture = model.asked[0]["messages"][1]["content"][::-1]
            assert "a white window is shown" in text["text"]
            head, _, body = picture["image_url"]["url"].partition(",")
            assert head == "data:image/png;base64"
            assert base64.b64decode(body).startswith(b"\x89PNG")
            desk.window("W")
            live = memory._wait(task, seq)
            live = live.replace(data={**live.data, "waited": live.data["waited"] + 60})  # not asked too often
            memory._check_once(live)
            (over,) = memory.wait_status(wait.wait_id)
            assert (over.state, over.result, over.judged_by) == ("resolved", "eyes says yes", "model")
            used = [event.data["purpose"] for event in memory.events(task) if event.type == "model.used"]
            assert used == ["judge", "judge"]


def test_what_a_terminal_shows_from_now_on(tmp_path, monkeypatch):
    needed("tmux", "tmux")
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    monkeypatch.delenv("TMUX", raising=False)

    def tmux(*words):
        subprocess.run(["tmux", *words], check=True)

    late = Watched("terminal:later", "contains READY")
    assert "cannot be seen" in late.check().detail
    tmux("-f", "/dev/null", "new-session", "-d", "-s", "later", "-x", "80", "-y", "10", "cat")
    try:

        def say(line):
            tmux("send-keys", "-t", "later", line, "Enter")

        def until_met(watched):
            until = time.monotonic() + 10
            while not watched.met():
                assert time.monotonic() < until

        say("READY of old")
        until_met(late)
        while "\n".join(pane_lines("later", 10)[0]).count("READY of old") < 2:
            pass  # the terminal has shown what was typed, but not yet what `cat` answers
        fresh, grows = Watched("terminal:later", "contains READY"), Watched("terminal:later")
        quiet = Watched("terminal:later", "stable for 3s")
        assert not any(one.met() for one in (fresh, grows, quiet))
        assert quiet.met(waited=4.0)
        say("\n".join(f"line {number}" for number in range(30)))
        say("READY again")
        until_met(fresh)
        until_met(grows)
        assert not quiet.met(waited=9.0)
    finally:
        tmux("kill-server")
