"""Names of event files, which sort by time, and the digests that they and side files are named with.

<boot>-<monotonic ns>-<process>-<random>-<session>-<outcome and call>.json, written by
hosts/capture_hook.py. The outcome is `f` for a call that failed, `c` for any other call, each with digests
of the programs it ran, `p` for a prompt that may forbid something, `e` for everything else.
"""

from __future__ import annotations

from ..model.validate import blake2b
from ..system.processes import boot as boot


def session_in(name: str) -> str:
    """The digest of the session in the name of an event file; empty if it is not such a name."""
    parts = name.removesuffix(".json").split("-")
    return parts[4] if len(parts) == 6 and parts[5] else ""


def boot_in(name: str) -> str:
    """The boot in the name of an event file; empty if it is not such a name."""
    return name[:8] if len(name) > 26 and name[8] == name[25] == "-" else ""


def session_digest(session: str) -> str:
    """The digest of a session in the names of files."""
    return blake2b(session.encode("utf-8", "replace"), digest_size=4).hexdigest()
