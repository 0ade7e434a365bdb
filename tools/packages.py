"""Writes the files that other programs install Ringbolt from, out of the declarations of the project.

    .venv/bin/python tools/packages.py            # write them
    .venv/bin/python tools/packages.py --formula  # also the Homebrew formula, with digests from the index

Plugins and marketplaces of hosts, server.json for the MCP registry, the manifest of the MCPB bundle, the
version of the npm package, man pages, shell completion and llms.txt. `make docs` writes them too, a test
compares them with what is here, and `make dist` builds archives of them.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

sys.path.insert(0, str(Path(__file__).parent))

from manual import HOOK_PAGE, manual

from ringbolt import __version__
from ringbolt.hosts.install.plugins import PLUGIN_HOSTS, marketplace_file, plugin_files
from ringbolt.surfaces.mcp.tools import listed, tool

ROOT = Path(__file__).parent.parent
REPOSITORY = "https://github.com/ringbolt-memory/ringbolt"
NAME = "io.github.ringbolt-memory/ringbolt"
ABOUT = "Task memory for agents that survives compaction, restarts, crashes and hand-overs."
ICON = "src/ringbolt/surfaces/web/static/favicon.svg"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
LLMS_PARTS = {"How-to guides": "how-to", "Reference": "reference", "Optional": "explanation"}
SHELLS = {"bash": "ringbolt.bash", "zsh": "_ringbolt", "fish": "ringbolt.fish"}


def files() -> dict[str, str]:
    """Every generated file by its path, except the formula, which needs the package index."""
    made = {
        "server.json": as_json(server()),
        "llms.txt": llms(),
        "packaging/mcpb/manifest.json": as_json(bundle_manifest()),
        "packaging/mcpb/pyproject.toml": bundle_project(),
        "packaging/npm/package.json": as_json(npm_package()),
        "packaging/man/ringbolt.1": manual(),
        "packaging/man/ringbolt-hook.1": HOOK_PAGE,
        **{f"packaging/completion/{file}": completion(shell) for shell, file in SHELLS.items()},
    }
    for host, (_, marketplace) in PLUGIN_HOSTS.items():
        made |= {f"plugins/{host}/{name}": text for name, text in plugin_files(host).items()}
        made[marketplace] = marketplace_file(host, f"plugins/{host}")
    return made


def as_json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


# --- the MCP registry, bundles and links ------------------------------------------------------------


def server() -> dict[str, Any]:
    """server.json, for the MCP registry. The README has the name too, as proof that the package is ours."""
    variables = {
        "RINGBOLT_STORE": ("Path or URL of the store; else the user's own. A URL may hold a password.", True),
        "RINGBOLT_SESSION": (
            "The agent's session; its current task is the one it used last.",
            False,
        ),
    }
    return {
        "$schema": SCHEMA,
        "name": NAME,
        "title": "Ringbolt",
        "description": ABOUT,
        "version": __version__,
        "websiteUrl": REPOSITORY,
        "repository": {"url": REPOSITORY, "source": "github"},
        "icons": [
            {
                "src": f"https://raw.githubusercontent.com/{REPOSITORY.partition('.com/')[2]}/main/{ICON}",
                "mimeType": "image/svg+xml",
                "sizes": ["any"],
            }
        ],
        "packages": [
            {
                "registryType": "pypi",
                "registryBaseUrl": "https://pypi.org",
                "identifier": "ringbolt",
                "version": __version__,
                "runtimeHint": "uvx",
                "packageArguments": [{"type": "positional", "value": "mcp"}],
                "transport": {"type": "stdio"},
                "environmentVariables": [
                    {"name": name, "description": about, "isRequired": False, "isSecret": secret}
                    for name, (about, secret) in variables.items()
                ],
            }
        ],
    }


def bundle_manifest() -> dict[str, Any]:
    """The manifest of the MCPB bundle: uv runs the wheel in it, in an environment that uv makes."""
    tools = [tool(operation, "core") for operation in listed("core").values()]
    return {
        "manifest_version": "0.4",
        "name": "ringbolt",
        "display_name": "Ringbolt",
        "version": __version__,
        "description": ABOUT,
        "author": {"name": "Ringbolt", "url": REPOSITORY},
        "repository": {"type": "git", "url": REPOSITORY},
        "homepage": REPOSITORY,
        "license": "Apache-2.0",
        "keywords": ["memory", "tasks", "compaction", "context"],
        "icon": "icon.png",
        "server": {
            "type": "uv",
            "entry_point": "main.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--quiet", "--project", "${__dirname}", "ringbolt", "mcp"],
            },
        },
        "tools": [{"name": each["name"], "description": each["description"]} for each in tools],
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": ">=3.11"}},
    }


def bundle_project() -> str:
    """The project that uv installs in a bundle: the wheel beside it."""
    wheel = f"ringbolt-{__version__}-py3-none-any.whl"
    return (
        '[project]\nname = "ringbolt-bundle"\n'
        f'version = "{__version__}"\nrequires-python = ">=3.11"\ndependencies = ["ringbolt"]\n\n'
        f'[tool.uv]\npackage = false\n\n[tool.uv.sources]\nringbolt = {{ path = "{wheel}" }}\n'
    )


def links() -> dict[str, str]:
    """Links that add the MCP server to an editor, by the name of the editor."""
    start: dict[str, Any] = {"command": "uvx", "args": ["ringbolt", "mcp"]}
    packed = json.dumps(start, separators=(",", ":"))
    cursor = urlencode({"name": "ringbolt", "config": base64.b64encode(packed.encode()).decode()})
    code = urlencode({"name": "ringbolt", "config": packed}, quote_via=quote)
    return {
        "Cursor": f"https://cursor.com/en/install-mcp?{cursor}",
        "VS Code": f"https://vscode.dev/redirect/mcp/install?{code}",
    }


def npm_package() -> dict[str, Any]:
    """package.json of the package that `npx ringbolt` fetches."""
    return {
        "name": "ringbolt",
        "version": __version__,
        "description": "Task memory for LLM agents. Starts the Python program, or fetches it with uv.",
        "license": "Apache-2.0",
        "repository": {"type": "git", "url": f"git+{REPOSITORY}.git", "directory": "packaging/npm"},
        "homepage": REPOSITORY,
        "keywords": ["mcp", "memory", "agents", "llm", "tasks"],
        "bin": {"ringbolt": "bin/ringbolt.js"},
        "files": ["bin"],
        "engines": {"node": ">=18"},
        "mcpName": NAME,
    }


# --- shells and readers -----------------------------------------------------------------------------


def completion(shell: str) -> str:
    """The completion script that `ringbolt completion SHELL` prints."""
    from click.shell_completion import get_completion_class

    from ringbolt.surfaces.cli.main import main

    kind = get_completion_class(shell)
    if kind is None:
        raise LookupError(shell)
    made = kind(main, {}, "ringbolt", "_RINGBOLT_COMPLETE")
    return made.source_template % made.source_vars()


def llms() -> str:
    """llms.txt: what the project is, and every page of its documentation with what it is for."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    title, introduction, command = readme.split("\n\n")[:3]
    parts = [f"{title}\n", f"> {introduction.replace(chr(10), ' ')}\n", f"{command}\n"]
    first = [("Quickstart", "quickstart/index.md", "watch a task survive a compaction")]
    sections = {"Quickstart": first, **{title: pages(folder) for title, folder in LLMS_PARTS.items()}}
    for title, rows in sections.items():
        lines = [f"- [{name}]({REPOSITORY}/blob/main/docs/{path}): {about}" for name, path, about in rows]
        parts.append("\n".join([f"## {title}\n", *lines, ""]))
    return "\n".join(parts)


def pages(folder: str) -> list[tuple[str, str, str]]:
    """The pages that the table of an index page lists: title, path below docs/, and what for."""
    text = (ROOT / "docs" / folder / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[([^\]]+)\]\(([\w./-]+)\) \| (.+?) \|$", text, re.MULTILINE)
    return [(title, f"{folder}/{path}", about) for title, path, about in rows]


# --- Homebrew ---------------------------------------------------------------------------------------


def formula(index: str) -> str:
    """The Homebrew formula: the source archive of this version, and those of what it needs."""
    import lock

    needed = lock.closure(backend=())
    resources = "\n".join(_resource(name, version, index) for name, version in needed.items())
    template = (ROOT / "packaging/homebrew/template.rb").read_text(encoding="utf-8")
    return template.replace("{{version}}", __version__).replace("{{resources}}", resources.rstrip())


def _resource(name: str, version: str, index: str) -> str:
    import lock

    found = lock.listed_files(name, index)
    file, digest = next(one for one in found if one[0].endswith(".tar.gz") and lock.is_of(one[0], version))
    url = f"https://files.pythonhosted.org/packages/source/{file[0]}/{name}/{file}"
    return f'  resource "{name}" do\n    url "{url}"\n    sha256 "{digest}"\n  end\n'


def main() -> int:
    made = files()
    if "--formula" in sys.argv:
        import lock

        made["packaging/homebrew/ringbolt.rb"] = formula(lock.index_url())
    for name, text in made.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
