"""The capture hook as a host runs it: a process of its own for each event."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from ringbolt.hosts import hook_build
from ringbolt.hosts.hook_parts.hook_settings import journal_folders

# boot, monotonic time, process, random, session, outcome with digests of the programs
NAME = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{16}-\d+-[0-9a-f]{4}-[0-9a-f]{8}-([ep]|[cf](?:[0-9a-f]{8}){0,4})\.json"
)
# A package of which the hook finds nothing but this: it says what it was asked.
STORE_HOOK = """
import json, sys, time
def answer(host, event, event_file, told, deadline):
    left = deadline - time.monotonic()
    return json.dumps([host, event, event_file, told, 0 < left < 60, sys.executable])
"""


def asking_package(folder: Path) -> Path:
    """A stand-in for the package: its answer says what the hook asked."""
    package = folder / "stand-in" / "ringbolt"
    hosts, model = package / "hosts", package / "model"
    for place in (package, hosts, hosts / "answers", model):
        place.mkdir(parents=True)
        (place / "__init__.py").touch()
    (hosts / "answers" / "store_hook.py").write_text(STORE_HOOK)
    (model / "quick_start.py").write_text("def load_msgspec():\n    pass\n")
    (model / "lazy_regex.py").touch()
    return folder / "stand-in"


def built_hook(folder: Path, monkeypatch) -> Path:
    """A build of the hook whose slow path finds the stand-in."""
    package = {"paths": [str(asking_package(folder))], "python": "/the/python"}
    monkeypatch.setattr(hook_build, "_package", lambda: package)
    path = folder / hook_build.PROGRAM
    path = path.with_name(f"{hook_build.PROGRAM}-test.pyc")
    path.write_bytes(hook_build.compiled())
    monkeypatch.undo()
    return path


class Capturing:
    """One store, and a hook that captures for it."""

    def __init__(self, folder: Path, build: Path | None) -> None:
        self.folder = folder
        self.store = folder / "data" / "store.db"
        base = getattr(sys, "_base_executable", sys.executable)
        module = [sys.executable, "-m", "ringbolt.hosts.capture_hook"]
        self.words = module if build is None else [base, "-I", "-S", str(build)]
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "RINGBOLT_STORE": str(self.store),
            "RINGBOLT_HOOK_DEADLINE_MS": "50000",
            "RINGBOLT_HOOK_COMPACT_MS": "50000",
        }
        self.journal = Path(f"{self.store}.journal")
        self.complaint = ""

    def folders(self) -> list[Path]:
        """The folders that the journal may be in."""
        away = self.folder / "home/.local/share/ringbolt/journals"
        digest = Path(journal_folders(str(self.store))[1]).name
        return [self.journal, away / digest]

    def run(self, event: str, data: bytes, host: str = "claude-code", **more) -> str:
        """What the hook says on standard output; it must end with 0, and complain in one line at most."""
        done = subprocess.run(
            [*self.words, host, event], input=data, capture_output=True, env=self.environment,
            cwd=self.folder, timeout=60, check=False, **more,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        self.complaint = done.stderr.decode()
        assert "Traceback" not in self.complaint
        assert self.complaint.count("\n") <= 1
        return done.stdout.decode()

    def tell(self, event: str, host: str = "claude-code", **fields) -> str:
        told = {"session_id": "s-1", "cwd": "/w", "hook_event_name": event, **fields}
        return self.run(event, json.dumps(told).encode(), host)

    def bash(self, command: str, output: str = "", event: str = "PostToolUse", **fields) -> str:
        return self.tell(event, tool_name="Bash", tool_input={"command": command},
                         tool_response={"stdout": output, "stderr": ""}, **fields)  # fmt: skip

    def asked(self, event: str, **fields) -> list:
        """What the store was asked for an event; an empty list if it was not."""
        return json.loads(self.tell(event, **fields) or "[]")

    def events(self) -> list[tuple[str, dict]]:
        """The event files by name, and what is in them; nothing may be left half written."""
        found = []
        for folder in self.folders():
            if (folder / "tmp").is_dir():
                assert list((folder / "tmp").iterdir()) == []
            for path in sorted((folder / "new").glob("*")) if folder.is_dir() else ():
                assert NAME.fullmatch(path.name), path.name
                assert path.stat().st_mode & 0o777 == 0o600
                found.append((path.name, json.loads(path.read_bytes())))
        return found

    def take(self) -> list[tuple[str, dict]]:
        """The same, and the journal is empty again."""
        found = self.events()
        for folder in self.folders():
            for path in (folder / "new").glob("*"):
                path.unlink()
        return found
