"""Builds and checks everything that is published: `make dist` and `make release-check`.

    .venv/bin/python tools/release.py build    # wheel, sdist, MCPB bundle and npm package, each checked
    .venv/bin/python tools/release.py check    # install and use them, on every Python of this machine

The tools are in .venv/release (constraints-release.txt) and .venv/npm. From the environment: SERVER_SCHEMA, a
file with the published schema of server.json, where its address cannot be reached.
"""

from __future__ import annotations

import asyncio
import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import Parser
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from conformance import node
from packages import SCHEMA, files

from ringbolt import __version__

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
TOOLS = ROOT / ".venv" / "release" / "bin"
NPM = ROOT / ".venv" / "npm"
MCPB = "@anthropic-ai/mcpb@2.1.2"
WHEEL = DIST / f"ringbolt-{__version__}-py3-none-any.whl"
SDIST = DIST / f"ringbolt-{__version__}.tar.gz"
BUNDLE = DIST / f"ringbolt-{__version__}.mcpb"
NPM_PACKAGE = DIST / f"ringbolt-{__version__}.tgz"
# Files whose absence from the wheel nobody would notice before a user does.
IN_WHEEL = (
    "ringbolt/py.typed",
    "ringbolt/surfaces/mcp/core_tools.json",
    "ringbolt/surfaces/web/static/index.html",
    "ringbolt/hosts/install/templates/skill.md",
    "ringbolt/store/migrations/sqlite/0001_ledger.sql",
    f"ringbolt-{__version__}.data/data/share/man/man1/ringbolt.1",
    f"ringbolt-{__version__}.dist-info/licenses/LICENSE",
)
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def run(*words: object, quiet: bool = True, **more: Any) -> str:
    """The output of a program; what it said is shown if it fails."""
    done = subprocess.run(list(map(str, words)), capture_output=quiet, text=True, check=False, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} failed:\n{done.stdout or ''}{done.stderr or ''}")
    return done.stdout or ""


def say(text: str) -> None:
    print(text, flush=True)


# --- building ---------------------------------------------------------------------------------------


def build() -> None:
    """Build every archive, and check each as far as it can be without installing it."""
    stale = [name for name, text in files().items() if not _is(ROOT / name, text)]
    if stale:
        raise SystemExit(f"Not up to date, run `make docs`: {', '.join(stale)}")
    shutil.rmtree(DIST, ignore_errors=True)
    run(ROOT / ".venv/bin/hatchling", "build", "-d", DIST, cwd=ROOT)
    run(TOOLS / "twine", "check", "--strict", WHEEL, SDIST)
    check_wheel()
    check_sdist()
    say(check_server_json())
    run(TOOLS / "hadolint", "--failure-threshold", "info", ROOT / "packaging/docker/Dockerfile")
    build_bundle()
    build_npm()
    for path in sorted(DIST.iterdir()):
        say(f"{path.stat().st_size / 1e6:8.2f} MB  {path.relative_to(ROOT)}")


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def check_wheel() -> None:
    """The wheel has every file that it must have, no other top-level package, and full metadata."""
    with zipfile.ZipFile(WHEEL) as archive:
        names = set(archive.namelist())
        metadata = Parser().parsestr(archive.read(f"ringbolt-{__version__}.dist-info/METADATA").decode())
    if missing := [name for name in IN_WHEEL if name not in names]:
        raise SystemExit(f"Not in the wheel: {', '.join(missing)}")
    strange = {name.split("/")[0] for name in names} - {"ringbolt"}
    if any(not name.startswith(f"ringbolt-{__version__}.") for name in strange):
        raise SystemExit(f"Also in the wheel: {', '.join(strange)}")
    urls = {text.split(",")[0] for text in metadata.get_all("Project-URL", [])}
    if not {"Homepage", "Documentation", "Changelog", "Issues", "Source"} <= urls:
        raise SystemExit(f"The metadata has only these addresses: {', '.join(urls)}")
    if "Typing :: Typed" not in metadata.get_all("Classifier", []):
        raise SystemExit("The metadata does not say that the package is typed.")


def check_sdist() -> None:
    """A wheel that is built from the sdist has the same files."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(SDIST) as archive:
            archive.extractall(folder, filter="data")
        source = Path(folder) / f"ringbolt-{__version__}"
        run(ROOT / ".venv/bin/hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
        with zipfile.ZipFile(WHEEL) as ours, zipfile.ZipFile(Path(folder) / WHEEL.name) as theirs:
            if different := set(ours.namelist()) ^ set(theirs.namelist()):
                raise SystemExit(f"Wheels from checkout and sdist differ: {', '.join(sorted(different))}")


def check_server_json() -> str:
    """Validate server.json; returns a sentence about it."""
    import jsonschema

    try:
        if place := os.environ.get("SERVER_SCHEMA"):
            schema = json.loads(Path(place).read_text())
        else:
            with urllib.request.urlopen(SCHEMA, timeout=20) as answer:  # noqa: S310 - https
                schema = json.loads(answer.read())
    except (OSError, urllib.error.URLError) as error:
        return f"server.json was NOT compared with its published schema ({error}); set SERVER_SCHEMA."
    validator = jsonschema.validators.validator_for(schema)
    found = list(validator(schema).iter_errors(json.loads((ROOT / "server.json").read_text())))
    if found:
        raise SystemExit("\n".join(f"server.json: {error.message} at {error.json_path}" for error in found))
    return f"server.json is valid against {schema.get('$id', 'SERVER_SCHEMA')}."


def build_bundle() -> None:
    """Pack the MCPB bundle with its own tool, which also validates the manifest."""
    program = NPM / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"
    if not program.exists():
        run(node("node"), node("npm"), "install", "--prefix", NPM, "--no-audit", "--no-fund",
            "--ignore-scripts", MCPB)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "packaging/mcpb", folder, dirs_exist_ok=True)
        shutil.copy(WHEEL, folder)
        run(node("node"), program, "validate", Path(folder) / "manifest.json")
        run(node("node"), program, "pack", folder, BUNDLE)


def build_npm() -> None:
    """Pack the npm package."""
    run(node("node"), node("npm"), "pack", "--silent", "--pack-destination", DIST, cwd=ROOT / "packaging/npm")
    with tarfile.open(NPM_PACKAGE) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    if names != {"package.json", "README.md", "bin/ringbolt.js"}:
        raise SystemExit(f"The npm package has {', '.join(sorted(names))}")


# --- using what was built ---------------------------------------------------------------------------


def check() -> None:
    """Install the wheel into a bare environment for each Python, and use it as a host does."""
    for name, python in pythons().items():
        with tempfile.TemporaryDirectory(prefix="ringbolt-release-") as folder:
            begun = time.perf_counter()
            size = try_wheel(python, Path(folder))
            took = time.perf_counter() - begun
            say(f"Python {name}: MCP client, hook and commands work; installed {size:.1f} MB; {took:.0f} s")
    missing = [name for name in PYTHONS if name not in pythons()]
    if missing:
        say(f"Not tried, because it is not on this machine: Python {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="ringbolt-release-") as folder:
        try_bundle(Path(folder))
        say("MCPB bundle: uv starts it, and an MCP client uses it")
    with tempfile.TemporaryDirectory(prefix="ringbolt-release-") as folder:
        try_container(Path(folder))
        say("Container: its steps install the server, which answers with its store in PostgreSQL")


def pythons() -> dict[str, str]:
    """The interpreters of this machine that we support, by version."""
    found: dict[str, str] = {}
    for version in PYTHONS:
        installed = sorted(glob.glob(f"{Path.home()}/.pyenv/versions/{version}.*/bin/python"))
        for place in filter(None, [shutil.which(f"python{version}"), *installed]):
            if subprocess.run([place, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
                found.setdefault(version, place)
    return found


def try_wheel(python: str, folder: Path) -> float:
    """Install the wheel with pip and nothing else, and use it; returns the installed size in MB."""
    venv = folder / "venv"
    run(python, "-m", "venv", "--without-pip", venv)
    pip = [sys.executable, "-m", "pip", "--python", venv / "bin/python", "install", "-q", "--no-compile"]
    run(*pip, "--no-input", WHEEL)
    size = sum(path.stat().st_size for path in (venv / "lib").rglob("*") if path.is_file()) / 1e6
    environ = clean_environ(folder)
    smoke(folder, environ, str(venv / "bin/ringbolt"))
    event = {"session_id": "s1", "cwd": str(folder), "prompt": "Paint it blue."}
    hook = [venv / "bin/ringbolt-hook", "claude-code", "UserPromptSubmit"]
    run(*hook, input=json.dumps(event), env=environ, cwd=folder)
    listed = run(venv / "bin/ringbolt", "list", "--json", env=environ, cwd=folder)
    if "Paint it blue" not in listed:
        raise SystemExit(f"The hook's event is not in the store: {listed}")
    run(venv / "bin/python", "-c", "import ringbolt, ringbolt.memory", env=environ)
    return size


def clean_environ(folder: Path) -> dict[str, str]:
    """An environment with an empty home, in which no other installation is seen."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RINGBOLT_", "XDG_"))}
    home = folder / "home"
    home.mkdir(exist_ok=True)
    cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache/uv")
    return {**kept, "HOME": str(home), "UV_CACHE_DIR": cache}


def smoke(folder: Path, environ: dict[str, str], command: str, *arguments: str) -> None:
    """Register a task with the SDK's MCP client, in both eras, and read it back."""
    for mode in ("legacy", "auto"):
        said = asyncio.run(_register(folder, environ, mode, command, *arguments))
        if "Build the image" not in said:
            raise SystemExit(f"The MCP server answered ({mode}): {said}")


async def _register(folder: Path, environ: dict[str, str], mode: str, command: str, *arguments: str) -> str:
    import mcp.client.session
    from mcp import Client, StdioServerParameters

    mcp.client.session.DISCOVER_TIMEOUT_SECONDS = 60.0  # the machine may be busy
    program = StdioServerParameters(command=command, args=[*arguments, "mcp"], env=environ, cwd=str(folder))
    async with Client(program, mode=mode) as client:
        await client.call_tool("task_register", {"name": f"Deploy {mode}", "plan": ["Build the image"]})
        answer = await client.call_tool("task_resume", {})
        return str(answer.content)


def try_bundle(folder: Path) -> None:
    """Unpack the bundle, and start it with the command of its manifest."""
    bundle = folder / "bundle"
    with zipfile.ZipFile(BUNDLE) as archive:
        archive.extractall(bundle)  # noqa: S202 - we made it
    config = json.loads((bundle / "manifest.json").read_text())["server"]["mcp_config"]
    words = [word.replace("${__dirname}", str(bundle)) for word in config["args"]]
    environ = {**clean_environ(folder), "PATH": f"{TOOLS}:{os.environ['PATH']}"}
    run(
        TOOLS / "uv", "sync", "--quiet", "--project", bundle, env=environ
    )  # as the host does when it installs
    smoke(folder, environ, config["command"], *words[:-1])


def try_container(folder: Path) -> None:
    """Run the steps of the Dockerfile in an environment, and the server with a real PostgreSQL."""
    venv = folder / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    pip = [sys.executable, "-m", "pip", "--python", venv / "bin/python", "install", "-q", "--no-input"]
    run(*pip, "--require-hashes", "-r", ROOT / "constraints-server.txt")
    run(*pip, "--no-deps", WHEEL)
    with postgres() as url:
        environ = {**clean_environ(folder), "RINGBOLT_STORE": url, "RINGBOLT_HTTP_HOSTS": "localhost:7420"}
        words = [venv / "bin/ringbolt", "serve", "--host", "0.0.0.0", "--port", "0"]  # noqa: S104
        server = subprocess.Popen(
            words, env=environ, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        try:
            line = (server.stdout.readline() if server.stdout else "").strip()
            port = line.rstrip("/").rpartition(":")[2]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60) as answer:
                if answer.status != 200 or "postgresql" not in line:
                    raise SystemExit(f"The server said: {line}; health {answer.status}")
        finally:
            server.terminate()
            server.communicate(timeout=60)


@contextmanager
def postgres() -> Iterator[str]:
    """An empty database on a PostgreSQL server of its own, as the tests use it."""
    sys.path.insert(0, str(ROOT))
    from tests.servers import fresh_database, shared_server

    with shared_server() as server, fresh_database(server, "ringbolt_release") as url:
        yield url


if __name__ == "__main__":
    {"build": build, "check": check}[sys.argv[1]]()
