"""Small disks that fill up; only root can mount one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


def done_as_root(request: pytest.FixtureRequest) -> bool:
    """Whether the test was run by a root of a namespace of its own: only root mounts disks."""
    if os.geteuid() == 0:
        return False
    test = f"{request.node.path}::{request.node.originalname}"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    ran = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", *command], capture_output=True)
    assert ran.returncode == 0, ran.stdout.decode()[-3000:] + ran.stderr.decode()[-1000:]
    return True


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int = 4) -> Iterator[Path]:
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], capture_output=True
    )
    if made.returncode:
        pytest.fail(f"this test needs to mount a small tmpfs: {made.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
