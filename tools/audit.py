"""Compares the locked versions with a database of known vulnerabilities; `make check` calls it.

Without the database (no network, or an index that has none) it says so in one line and is content: the check
must work on a machine without a network, and a proxy that has no such database is not a vulnerability.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LOCKED = Path(__file__).parent.parent / "constraints.txt"
SECONDS = 120
OPTIONS = ["--require-hashes", "--disable-pip", "--progress-spinner", "off", "--timeout", "3", "-f", "json"]


def audited(locked: str) -> list[dict[str, Any]]:
    """What the database says of the packages in a list; empty if it knows none or cannot be reached."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(locked)
        file.flush()
        command = [sys.executable, "-m", "pip_audit", *OPTIONS, "-r", file.name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
            found = json.loads(done.stdout)["dependencies"]
        except (ValueError, KeyError, subprocess.TimeoutExpired):
            return []
    return [package for package in found if "skip_reason" not in package]


def main() -> int:
    locked = LOCKED.read_text()
    # One package first: without a database, asking for all of them would take long.
    known = audited(locked) if audited(re.split(r"\n(?=\w)", locked)[1]) else []
    if not known:
        print("audit: skipped, the database of vulnerabilities cannot be reached")
        return 0
    for package in known:
        for problem in package["vulns"]:
            fixed = ", ".join(problem["fix_versions"]) or "no version yet"
            print(f"audit: {package['name']} {package['version']}: {problem['id']}, fixed in {fixed}")
    return int(any(package["vulns"] for package in known))


if __name__ == "__main__":
    sys.exit(main())
