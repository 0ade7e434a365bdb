"""Writes the exact versions of all that goes into .venv, with the hashes of every file of each release.

    .venv/bin/python tools/lock.py           # the versions that are installed, with hashes from the package
    index .venv/bin/python tools/lock.py --check   # whether what is installed is what the files say

`constraints.txt` has everything, `constraints-run.txt` what the product itself needs. Set-up installs from
them with --require-hashes: a file that is not one of these is refused, on any platform, whatever the index
serves. To renew: install the newer versions into .venv (`pip install -U …`), run the tests, then run this
program.
"""

from __future__ import annotations

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
FILES = {"constraints.txt": "dev", "constraints-run.txt": "serve"}
HEAD = """\
# Exact versions with hashes; set-up accepts no other file. Renew them with tools/lock.py.
"""


def closure(extra: str) -> dict[str, str]:
    """The packages that the project needs with an extra, on any platform, with their installed versions."""
    found: dict[str, str] = {}
    waiting = [("ringbolt", frozenset({extra})), *((name, frozenset[str]()) for name in BACKEND)]
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


def hashes(name: str, version: str, index: str) -> list[str]:
    """The SHA-256 of every file of a release, as the index has them."""
    with urlopen(Request(urljoin(index.rstrip("/") + "/", f"{name}/")), timeout=60) as answer:  # noqa: S310
        page = answer.read().decode()
    # The simple form of an index: links to files, each with its hash behind a #.
    files = re.findall(r"""href=["'][^"'#]*?([^"'/#]+)#sha256=([0-9a-f]{64})""", page)
    found = {digest for filename, digest in files if is_of(unquote(filename), version)}
    if not found:
        raise SystemExit(f"lock: the index has no file of {name} {version}")
    return sorted(found)


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
    for name, extra in FILES.items():
        (ROOT / name).write_text(written(closure(extra), index, known))
    return 0


if __name__ == "__main__":
    sys.exit(main())
