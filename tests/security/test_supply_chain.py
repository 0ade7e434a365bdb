"""What others made: every file is one that we know."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from ringbolt.surfaces.web.vendored import FOLDER, VENDORED

ROOT = Path(__file__).parents[2]


def test_each_vendored_file_is_the_published_one():
    assert {path.name for path in FOLDER.iterdir()} == {file.path for file in VENDORED}
    for file in VENDORED:
        assert sha256((FOLDER / file.path).read_bytes()).hexdigest() == file.sha256


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-run.txt"])
def test_every_locked_package_has_a_version_and_hashes(name):
    entries = (ROOT / name).read_text().split("\n")
    text = re.sub(r"\\\n\s*", " ", "\n".join(entries))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) > 30
    for line in lines:
        assert re.fullmatch(r"[a-z0-9-]+==\S+(?: ; [^-]+)?(?: +--hash=sha256:[0-9a-f]{64})+", line), line


def test_what_runs_is_a_part_of_what_develops():
    def packages(name):
        return set(re.findall(r"(?m)^[a-z0-9-]+==\S+", (ROOT / name).read_text()))

    assert packages("constraints-run.txt") < packages("constraints.txt")


def test_a_file_with_another_hash_is_refused(tmp_path):
    """With the options that set-up uses, pip installs nothing whose hash is not in the list."""
    wheel = tmp_path / "evil-1.0-py3-none-any.whl"
    wheel.write_bytes(b"PK")
    listed = tmp_path / "list.txt"
    listed.write_text(f"evil==1.0 --hash=sha256:{'0' * 64}\n")
    options = ["--no-index", "--no-input", "--find-links", str(tmp_path), "--target", str(tmp_path / "t")]
    command = [sys.executable, "-m", "pip", "install", *options, "--require-hashes", "-r", str(listed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr.upper()
    assert "--require-hashes" in (ROOT / "tools/setup.sh").read_text()


def test_the_bill_of_materials_names_what_runs(tmp_path):
    target = tmp_path / "sbom.json"
    subprocess.run(
        [sys.executable, ROOT / "tools/sbom.py", target], check=True, capture_output=True, timeout=60
    )
    found = json.loads(target.read_text())
    names = {component["name"] for component in found["components"]}
    assert (found["bomFormat"], "apsw" in names, "starlette" in names, "pytest" in names) == (
        "CycloneDX", True, True, False,
    )  # fmt: skip
    assert all(component["hashes"] for component in found["components"])
