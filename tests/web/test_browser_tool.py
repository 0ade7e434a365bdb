"""`tools/browser.sh` finds a browser for these tests, or says what to install."""

from __future__ import annotations

import os
import shutil
import subprocess

from tests.web.conftest import TOOL


def run(**environ):
    shell = shutil.which("sh")
    return subprocess.run([shell, str(TOOL)], env=environ, capture_output=True, text=True, check=False)


def test_a_named_browser_is_used_or_reported_missing():
    found = run(PATH=os.environ["PATH"], RINGBOLT_TEST_BROWSER="sh")
    assert (found.returncode, found.stdout.strip()) == (0, shutil.which("sh"))
    missed = run(PATH=os.environ["PATH"], RINGBOLT_TEST_BROWSER="no-such-browser")
    assert missed.returncode == 1
    assert "no-such-browser" in missed.stderr


def test_without_a_browser_it_says_what_to_install(tmp_path):
    for name in ("id", "cat"):
        (tmp_path / name).symlink_to(shutil.which(name))
    found = run(PATH=str(tmp_path))
    assert found.returncode == 1
    assert "apt-get install chromium" in found.stderr
    assert "RINGBOLT_TEST_BROWSER" in found.stderr
