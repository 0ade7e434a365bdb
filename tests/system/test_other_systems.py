"""A store, a hook, the MCP server and the calls of the system on a Python that looks like another system's.

Neither macOS nor Windows can be had where this runs. What those systems lack is removed for our modules
before they are imported (other_systems/sitecustomize.py), in this process and in all that it starts. `make
test-platforms` runs whole suites like this.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.mcp_servers import ENVELOPE

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SYSTEMS = ("macos", "windows")


def simulated(system: str, *words: str, text: object = None, **more: str) -> subprocess.CompletedProcess:
    """Run Python as on another system, with a JSON value as its input."""
    environ = {**os.environ, "RINGBOLT_SIMULATE": system, "PYTHONPATH": str(HERE / "other_systems"), **more}
    environ.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [sys.executable, *words],
        input=json.dumps(text) + "\n", env=environ, cwd=ROOT, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip


def test_the_simulation_removes_what_the_systems_lack(tmp_path):
    (tmp_path / "ringbolt").mkdir()
    (tmp_path / "ringbolt" / "__init__.py").write_text(
        "import os, signal, sys\n"
        "has = [hasattr(os, 'posix_fallocate'), hasattr(os, 'pread'), hasattr(signal, 'SIGALRM')]\n"
        "print(sys.platform, *has, os.path.exists('/proc/self'))\n"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import ringbolt"
    found = {system: simulated(system, "-c", code).stdout.split() for system in SYSTEMS}
    assert found == {
        "macos": ["darwin", "False", "True", "True", "False"],
        "windows": ["win32", "False", "False", "False", "False"],
    }


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_calls_of_the_system_keep_their_promises(system):
    done = simulated(system, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/system/test_os_calls.py")
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_store_is_written_drained_and_served(tmp_path, system):
    """One process writes and reads, a hook leaves an event, and the MCP server answers with both."""
    store, call = tmp_path / "store.db", {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    code = """
import sys
from ringbolt import TaskMemory
with TaskMemory.open(sys.argv[1], workspace=sys.argv[2], session="") as memory:
    task = memory.task_register("Deploy", ["Build"], request="Deploy it.").task_id
    memory.task_update(task, "Built.", step=1, step_status="completed")
    assert memory.verify().ok
    print(memory.store.info()["reserve_bytes"])
"""
    done = simulated(system, "-c", code, str(store), str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0, "space is reserved without posix_fallocate"
    event = {
        "session_id": "s",
        "cwd": str(tmp_path),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "And test it.",
    }
    more = {"RINGBOLT_STORE": str(store)}
    hook = simulated(
        system, "-m", "ringbolt.hosts.capture_hook", "claude-code", "UserPromptSubmit", text=event, **more
    )
    assert hook.returncode == 0, hook.stderr
    call["params"] = {"name": "task_list", "arguments": {"status": "all"}, "_meta": ENVELOPE}
    words = ("-m", "ringbolt", "mcp", "--store", str(store), "--workspace", str(tmp_path))
    answered = json.loads(simulated(system, *words, text=call).stdout)["result"]["content"][0]["text"]
    assert "Deploy" in answered
    assert "Test it" in answered or "test it" in answered
