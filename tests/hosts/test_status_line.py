"""The status line of Claude Code: from the card of a session, without the store."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from ringbolt.hosts.install.installer import Installer
from ringbolt.hosts.status_line import status_line
from ringbolt.journal.cards import make_stale
from ringbolt.journal.side_files import SideFiles
from ringbolt.model.errors import Conflict
from tests.hosts.hosting import Host

RINGBOLT = os.path.join(os.path.dirname(sys.executable), "ringbolt")
PLAN = [{"content": "Build", "status": "completed"}, {"content": "Push\nit", "status": "in_progress"},
        {"content": "Run", "status": "pending"}]  # fmt: skip


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def shown(host, given=None):
    """What the real process prints; it must not open the store."""
    given = json.dumps({"session_id": host.session, "model": {"id": "m"}}) if given is None else given
    done = subprocess.run(
        [RINGBOLT, "statusline"],
        input=given,
        env=host.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def worked(host):
    host.tell("UserPromptSubmit", prompt="Deploy the shop to staging, please")
    host.tool("TodoWrite", {"todos": PLAN}, {"newTodos": PLAN}, 1)
    host.tell("Stop", last_assistant_message="Built.", stop_hook_active=False)


def test_it_shows_the_task_the_step_and_the_place_in_the_plan(host):
    worked(host)
    line = shown(host)
    assert line.count("\n") == 1
    assert "1/3 Push it" in line
    assert "shop" in line
    with host.memory() as memory:
        memory.smart_wait("manual:", block=False)
    host.tool("Bash", {"command": "ls"}, {"stdout": "a"}, 2)
    host.drain()
    assert shown(host).rstrip().endswith("waits for manual:")
    make_stale(SideFiles(host.journal()), host.session)
    assert "1/3" in shown(host)


def test_it_needs_no_store(host):
    worked(host)
    for path in host.store.parent.glob("store.db*"):
        if path.is_file():
            path.unlink()
    assert "1/3 Push it" in shown(host)
    assert not host.store.exists()


def test_it_is_empty_without_a_task_and_after_its_end(host):
    assert shown(host) == ""
    for given in ("", "nonsense", "[]", "{}", '{"session_id": 7}', '{"session_id": "../../x"}'):
        assert shown(host, given) == ""
    worked(host)
    with host.memory() as memory:
        memory.task_finish(answer="Done")
    host.leave("Notification", notification_type="idle_prompt")
    host.drain()
    assert shown(host) == ""


def test_nothing_on_a_card_controls_the_terminal(host, monkeypatch):
    worked(host)
    (card,) = [
        path
        for path in (host.store.parent / "store.db.journal/cards").iterdir()
        if "status" in path.read_text()
    ]
    card.write_text(json.dumps({"v": 2, "status": "a\x1b[31mb\nc" + "d" * 1000}))
    monkeypatch.setenv("RINGBOLT_STORE", str(host.store))
    line = status_line(json.dumps({"session_id": host.session}).encode())
    assert line.startswith("a[31mbcd")
    assert len(line) == 200


# --- installation -----------------------------------------------------------------------------------


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    path = tmp_path / ".claude/settings.json"
    path.parent.mkdir()
    return path


def test_it_is_set_up_kept_up_to_date_and_removed(settings):
    before = '{\n  // mine\n  "model": "opus"\n}\n'
    settings.write_text(before)
    Installer("claude-code").install()
    assert "statusLine" not in settings.read_text()
    Installer("claude-code", status_line=True).install()
    assert f'"command": "{RINGBOLT} statusline"' in settings.read_text()
    once = settings.read_text()
    assert Installer("claude-code", status_line=True).install().changed == ()
    settings.write_text(once.replace(f"{RINGBOLT} statusline", "/old/bin/ringbolt statusline"))
    assert Installer("claude-code").check().state == "outdated"
    Installer("claude-code").install()
    assert settings.read_text() == once
    Installer("claude-code").remove()
    assert settings.read_text() == before


def test_a_status_line_of_the_users_own_stays(settings):
    own = '{"statusLine": {"type": "command", "command": "~/mine.sh"}}\n'
    settings.write_text(own)
    with pytest.raises(Conflict) as refused:
        Installer("claude-code", status_line=True).install()
    assert refused.value.code == "not_ours"
    assert settings.read_text() == own
    Installer("claude-code").install()
    Installer("claude-code").remove()
    assert settings.read_text() == own
