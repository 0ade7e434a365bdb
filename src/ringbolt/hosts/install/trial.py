"""Try what was installed: start the hook and the MCP server once, as the host will.

Both run on a store of their own in a temporary folder, so nothing of the user's is read or written.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from typing import Any

from ...journal.event_files import Journal
from ...model.types import Value
from ..hook_build import HookProgram

SECONDS = 30  # a first start may compile everything
_NAME = "io.modelcontextprotocol"
_ENVELOPE: dict[str, Any] = {f"{_NAME}/protocolVersion": "2026-07-28", f"{_NAME}/clientCapabilities": {}}
_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": _ENVELOPE}}
_EVENT = "UserPromptSubmit"
_REINSTALL = (
    "Install Ringbolt again, for example with `pipx install --force ringbolt`, and run this once more."
)


class Trial(Value, frozen=True, kw_only=True):
    """What works, and what does not, with what to do about it."""

    works: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def try_installed(hook: HookProgram, environ: Mapping[str, str] = os.environ) -> Trial:
    """Record one event with the hook, and list the tools of the MCP server."""
    server = os.path.join(os.path.dirname(hook.path), "ringbolt")
    with tempfile.TemporaryDirectory(prefix="ringbolt-") as folder:
        store = os.path.join(folder, "store.db")
        own = {name: value for name, value in environ.items() if not name.startswith("RINGBOLT_")}
        own["RINGBOLT_STORE"] = store
        found = [_try_hook(hook, folder, store, own), _try_server(server, folder, own)]
    return Trial(
        works=tuple(text for ok, text in found if ok), problems=tuple(text for ok, text in found if not ok)
    )


def _try_hook(hook: HookProgram, folder: str, store: str, environ: Mapping[str, str]) -> tuple[bool, str]:
    event = {"session_id": "trial", "cwd": folder, "hook_event_name": _EVENT, "prompt": "Does it work?"}
    line = hook.command("claude-code", _EVENT)
    failed = _run(["sh", "-c", line], json.dumps(event), folder, environ)[1]
    if not failed and not Journal.of(store, "").is_empty():
        return True, "The hook records events."
    return False, f"The hook recorded nothing{failed and ': ' + failed}. {_REINSTALL}"


def _try_server(program: str, folder: str, environ: Mapping[str, str]) -> tuple[bool, str]:
    output, failed = _run([program, "mcp"], json.dumps(_LIST) + "\n", folder, environ)
    try:
        tools = [tool["name"] for tool in json.loads(output)["result"]["tools"]]
    except (ValueError, KeyError, TypeError):
        return False, f"The MCP server does not answer{failed and ': ' + failed}. {_REINSTALL}"
    return True, f"The MCP server answers with {len(tools)} tools: {', '.join(tools)}."


def _run(words: list[str], text: str, folder: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The output of a program, and why it failed."""
    try:
        done = subprocess.run(
            words,
            input=text,
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:300]
    return done.stdout, last if done.returncode else ""
