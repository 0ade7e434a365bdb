"""Event files as a hook writes them, for tests that need a journal and no hook."""

from __future__ import annotations

import json
import os
import time

from ringbolt.hosts.hook_parts import journal_files
from ringbolt.journal.names import session_digest


def new_name(session: str, outcome: str = "e") -> str:
    """A name for an event that happens now."""
    random, at = os.urandom(2).hex(), time.monotonic_ns()
    return (
        f"{journal_files.boot_id()}-{at:016x}-{os.getpid()}-{random}-{session_digest(session)}-{outcome}.json"
    )


def write_event(journal, name: str, event: dict) -> str:
    """Write an event to the first folder of a journal; returns its path."""
    return journal_files.write_event(journal.folders[0], name, json.dumps(event).encode())
