"""What we publish, used by the hosts' own programs: the wheel, and plugins from a copy of the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.model_servers import calls, says
from tests.live.programs import SECONDS, ClaudeCode, Codex, actions

pytestmark = pytest.mark.hosts

ROOT = Path(__file__).parents[2]
UVX = Path(sys.prefix) / "release/bin/uvx"
REQUEST = "Round the invoices to whole cents.\nLeave the tax tables alone."
PACKET = "Recorded state of a task, kept by Ringbolt"


def run(*words: object, **more) -> str:
    done = subprocess.run(
        list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        **{"timeout": SECONDS, **more},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copy_of_the_repository(folder: Path) -> Path:
    """What a colleague who clones the repository has of the plugins, in another place."""
    for name in ("plugins", ".claude-plugin", ".agents"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.mark.skipif(not UVX.exists(), reason="needs uv: sh tools/side_venv.sh release")
def test_from_an_empty_home_one_line_is_all(tmp_path, server):
    claude = ClaudeCode(tmp_path, server)
    run(Path(sys.prefix) / "bin/hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RINGBOLT_", "XDG_"))}
    environ = {**kept, "HOME": str(claude.home), "PATH": f"{UVX.parent}:/usr/bin:/bin"}
    said = run(UVX, "--from", wheel, "ringbolt", "install", "claude-code", env=environ, cwd=claude.work)
    assert "works: the hook records events" in said
    assert "works: the MCP server answers with 8 tools: task_resume" in said
    server.script.turns = [
        calls("Bash", command="echo three-passed"),
        calls("mcp__ringbolt__task_resume"),
        says("Done."),
    ]
    claude.run(REQUEST)
    assert "echo three-passed" in server.script.main()[2].text
    server.script.turns = [says("Going on.")]
    claude.run("--continue", "Please go on with the invoices.")
    assert PACKET in server.script.main()[3].text
    assert actions(claude.events()) == [("Bash", "echo three-passed", False)]


def test_claude_code_installs_the_plugin_from_a_copy_of_the_repository(tmp_path, server):
    claude = ClaudeCode(tmp_path, server)
    claude.have_programs()
    place = copy_of_the_repository(tmp_path / "colleague")
    program, within = claude.command()[0], {"env": claude.environment(), "cwd": claude.work}
    for folder in (place, place / "plugins/claude-code"):
        run(program, "plugin", "validate", folder, **within)
    run(program, "plugin", "marketplace", "add", place, **within)
    run(program, "plugin", "install", "ringbolt@ringbolt", **within)
    server.script.turns = [
        calls("Bash", command="echo three-passed"),
        calls("mcp__plugin_ringbolt_ringbolt__task_resume"),
        says("Done."),
    ]
    claude.run(REQUEST)
    assert "echo three-passed" in json.dumps(server.script.main()[2].body["messages"][-1])
    server.script.turns = [says("Going on.")]
    claude.run("--continue", "Please go on with the invoices.")
    assert PACKET in server.script.main()[3].text
    assert actions(claude.events()) == [("Bash", "echo three-passed", False)]


def test_codex_installs_the_plugin_from_a_copy_of_the_repository(tmp_path, server):
    codex = Codex(tmp_path, server)
    codex.have_programs()
    place = copy_of_the_repository(tmp_path / "colleague")
    program, within = codex.command()[0], {"env": codex.environment(), "cwd": codex.work}
    run(program, "plugin", "marketplace", "add", place, **within)
    run(program, "plugin", "add", "ringbolt@ringbolt", **within)
    server.script.turns = [calls("exec_command", cmd="echo three-passed"), says("Done.")]
    codex.run(REQUEST)
    server.script.turns = [calls("mcp__ringbolt/task_resume"), says("Going on.")]
    codex.run("resume", "--last", "Please go on with the invoices.")
    asked = server.script.main()
    assert PACKET in asked[2].text  # from a hook
    assert "echo three-passed" in json.dumps(asked[3].body["input"][-1])  # from the server
    assert actions(codex.events()) == [("Bash", "echo three-passed", False)]
