"""The suites of the store, the journal, hooks, MCP and commands on a Python that looks like another system's.

Neither macOS nor Windows can be had where this runs. What those systems lack is removed before anything is
imported (other_systems/sitecustomize.py), in this process and in all that it starts.
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
# Suites that use the operating system, and what cannot be simulated in them: tests that look into /proc
# themselves, and durations across processes, for which macOS has another source.
SUITES = [
    "tests/journal", "tests/store/test_store_file.py", "tests/store/test_jobs.py",
    "tests/hosts/test_drain.py", "tests/surfaces/test_mcp_stdio.py", "tests/waits/test_waiting.py",
]  # fmt: skip
LEFT_OUT = "postgres or no_file_open or which_boot or clock_that_jumps"


def simulated(*words: str, text: object = None, **more: str) -> subprocess.CompletedProcess:
    """Run Python as on macOS, with a JSON value as its input."""
    environ = {**os.environ, "RINGBOLT_SIMULATE": system, "PYTHONPATH": str(HERE / "other_systems"), **more}
    environ.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [sys.executable, *words],
        input=json.dumps(text) + "\n", env=environ, cwd=ROOT, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip


def test_the_simulation_removes_what_macos_lacks():
    code = "import os, sys; print(sys.platform, hasattr(os, 'posix_fallocate'), os.path.exists('/proc/self'))"
    assert simulated("-c", code).stdout.split() == ["darwin", "False", "False"]


def test_a_store_is_written_drained_and_served_on_macos(tmp_path):
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
    done = simulated("-c", code, str(store), str(tmp_path))
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
        "-m", "ringbolt.hosts.capture_hook", "claude-code", "UserPromptSubmit", text=event, **more
    )
    assert hook.returncode == 0, hook.stderr
    call["params"] = {"name": "task_list", "arguments": {"status": "all"}, "_meta": ENVELOPE}
    words = ("-m", "ringbolt", "mcp", "--store", str(store), "--workspace", str(tmp_path))
    answered = json.loads(simulated(*words, text=call).stdout)["result"]["content"][0]["text"]
    assert "Deploy" in answered
    assert "Test it" in answered or "test it" in answered


@pytest.mark.reliability
def test_the_suites_of_the_operating_system_pass_on_macos():
    done = simulated("-m", "pytest", "-q", "-p", "no:cacheprovider", *SUITES, "-k", f"not ({LEFT_OUT})")
    assert done.returncode == 0, done.stdout[-3000:]
