"""Builds the documentation as a site in build/site/html: `make docs-site`.

The pages stay as they are in the repository. For the site they are copied, the README becomes the first page,
and links to files that are not pages lead to the repository. Zensical builds them strictly. Then this program
checks every link, anchor and file of the built pages, that nothing is loaded from another server, and, with
`--search`, that a browser without a network finds a page from the folder alone.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "site"
PAGES = BUILD / "pages"
HTML = BUILD / "html"
# Scripts that the site would load from unpkg.com: what lets a page from a folder start a worker, which the
# search is, and what draws diagrams. npm fetches them; name: version, integrity, file.
SCRIPTS = {
    "iframe-worker": (
        "1.0.4",
        "sha512-roeaaI+Lg1LJNfgpCjoRe/+WzEjy9+Z08LoEvu85MCPbBjwm+qXz8Ag5U05lHa6V1CysZyGzE0SOkAtSUA5q7Q==",
        "shim/index.js",
    ),
    "mermaid": (
        "12.3.0",
        "sha512-4113TdXeLAsMruJ79OpFL5O8+LTFXhQqZ260rF3tgUmiNAtRm4Uume04I+65PRN6yZ69J4f8rVYWW8zRk65UYw==",
        "dist/mermaid.min.js",
    ),
}
REPOSITORY = "https://github.com/ringbolt-memory/ringbolt/blob/main/"
WORKER_SHIM = "https://unpkg.com/iframe-worker/shim"
# Pages that have another place in the site than in the repository.
MOVED = {
    "README.md": "index.md",
    "docs/README.md": "documentation.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
ICON = "src/ringbolt/surfaces/web/static/favicon.svg"
PARTS = {"How-to": "how-to", "Explanation": "explanation", "Reference": "reference", "Decisions": "adr"}
_LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )([^)\s#]*)(#[^)\s]*)?", re.MULTILINE)
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def main() -> int:
    prepare()
    zensical = ROOT / ".venv" / "docs" / "bin" / "zensical"
    # It works in the folder of its configuration.
    subprocess.run([zensical, "build", "--strict", "--clean"], cwd=BUILD, check=True)
    add_scripts()
    problems = broken(HTML)
    if "--search" in sys.argv:
        problems += search_problems()
    print("\n".join(problems) or f"{len(list(HTML.rglob('*.html')))} pages in {HTML}, every link checked")
    return 1 if problems else 0


# --- pages ------------------------------------------------------------------------------------------


def places() -> dict[str, str]:
    """Every page by its path in the repository, with its path in the site."""
    found = {str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")}
    return {name: MOVED.get(name, name.removeprefix("docs/")) for name in (*found, *MOVED)}


def prepare() -> None:
    """Write the pages, pictures and configuration that mkdocs builds from."""
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "images", PAGES / "images")
    shutil.copy(ROOT / ICON, PAGES / "images" / "favicon.svg")
    known = places()
    for name, place in known.items():
        target = PAGES / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(name, known), encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (BUILD / "mkdocs.yml").write_text(settings + yaml.safe_dump({"nav": navigation()}), encoding="utf-8")


def page(name: str, known: dict[str, str]) -> str:
    """A page with links that are right in the site; code is left alone."""
    text = (ROOT / name).read_text(encoding="utf-8")

    def link(match: re.Match[str]) -> str:
        before, target, anchor = match[1], match[2], match[3] or ""
        if not target or ":" in target:
            return match[0]
        path = os.path.normpath(os.path.join(os.path.dirname(name), target))
        if path not in known and path.startswith("docs/images/"):
            target = os.path.relpath(path.removeprefix("docs/"), os.path.dirname(known[name]))
        elif path not in known:
            if not (ROOT / path).exists():
                raise SystemExit(f"{name} links to {target}, which does not exist")
            target = REPOSITORY + path
        else:
            target = os.path.relpath(known[path], os.path.dirname(known[name]))
        return f"{before}{target}{anchor}"

    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in _FENCE.split(text))


def navigation() -> list[dict[str, object]]:
    """The order of the pages: that of the tables on the index pages."""
    entries: list[dict[str, object]] = [{"Ringbolt": "index.md"}, {"Quickstart": "quickstart/index.md"}]
    for title, folder in PARTS.items():
        index = "README.md" if folder == "adr" else "index.md"
        text = (ROOT / "docs" / folder / index).read_text(encoding="utf-8")
        listed = list(dict.fromkeys(re.findall(r"\]\(((?:[\w-]+/)?[\w-]+\.md)", text)))
        for inner in [name for name in listed if "/" in name]:  # the index of a folder, with its pages
            below = inner.rpartition("/")[0]
            inside = (ROOT / "docs" / folder / inner).read_text(encoding="utf-8")
            pages = dict.fromkeys(f"{below}/{name}" for name in re.findall(r"\]\(([\w-]+\.md)", inside))
            listed[listed.index(inner) + 1 : listed.index(inner) + 1] = [
                page for page in pages if page != inner
            ]
        entries.append({title: [f"{folder}/{name}" for name in dict.fromkeys((index, *listed))]})
    about = ["documentation.md", "requirements.md", "contributing.md", "changelog.md", "security.md"]
    return [*entries, {"Project": about}]


# --- scripts and search -----------------------------------------------------------------------------


def add_scripts() -> None:
    """Put the scripts into the site, and let the pages that need them load them from there."""
    worker, mermaid = (add_script(name) for name in SCRIPTS)
    for path in HTML.rglob("*.html"):
        text = path.read_text(encoding="utf-8").replace(WORKER_SHIM, os.path.relpath(worker, path.parent))
        if 'class="mermaid"' in text:
            tag = f'<script src="{os.path.relpath(mermaid, path.parent)}"></script></head>'
            text = text.replace("</head>", tag, 1)
        path.write_text(text, encoding="utf-8")


def add_script(name: str) -> Path:
    """A script in the site, with its licence beside it; fetched if it is not there yet."""
    from conformance import node

    version, integrity, file = SCRIPTS[name]
    packed = ROOT / ".venv" / "docs" / "npm" / f"{name}-{version}.tgz"
    if not packed.exists():
        packed.parent.mkdir(exist_ok=True)
        words = [node("node"), node("npm"), "pack", "--silent", f"{name}@{version}"]
        subprocess.run(words, cwd=packed.parent, stdout=subprocess.DEVNULL, check=True)
    digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != integrity:
        raise SystemExit(f"{packed} has another digest than {name} {version}")
    folder = HTML / "assets" / name
    folder.mkdir()
    with tarfile.open(packed) as archive:
        for member in (file, "LICENSE"):
            content = archive.extractfile(f"package/{member}")
            (folder / os.path.basename(member)).write_bytes(content.read() if content else b"")
    return folder / os.path.basename(file)


def search_problems() -> list[str]:
    """Search from the folder, in a browser without a network; returns what goes wrong."""
    from playwright.sync_api import Error as PlaywrightError
    from playwright.sync_api import sync_playwright

    foreign: list[str] = []
    browser = subprocess.run(["sh", ROOT / "tools/browser.sh"], capture_output=True, text=True, check=True)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=browser.stdout.strip().splitlines()[-1], args=["--no-sandbox"]
        )
        context = launched.new_context(offline=True)
        opened = context.new_page()
        opened.on("requestfailed", lambda one: foreign.append(f"the first page asks for {one.url}"))
        opened.goto((HTML / "index.html").as_uri())
        opened.get_by_role("button", name="Search").click()
        opened.keyboard.type("disk full")
        found = opened.get_by_role("option", name="When the disk is full")
        try:
            found.first.wait_for(timeout=60_000)
        except PlaywrightError as error:
            foreign.append(f"the search finds nothing: {error.message}")
        launched.close()
    return foreign


# --- the built pages --------------------------------------------------------------------------------


class _Found(HTMLParser):
    """The anchors of a page, its links, and the files that it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {given[name] or "" for name in ("id", "name") if name in given}
        if given.get("href") and tag == "a":
            self.links.append(given["href"] or "")
        if tag in ("img", "script", "iframe") and given.get("src"):
            self.loaded.append(given["src"] or "")
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given["href"] or "")


def broken(folder: Path) -> list[str]:
    """Links and files that are not there, and files from other servers."""
    pages = {path: _Found(path) for path in folder.rglob("*.html") if path.name != "404.html"}
    problems: list[str] = []
    for path, found in pages.items():
        where = path.relative_to(folder)
        for link in (*found.links, *found.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in found.loaded and parts.scheme != "data":
                    problems.append(f"{where} loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                problems.append(f"{where}: no {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                problems.append(f"{where}: no anchor {link}")
    return problems


if __name__ == "__main__":
    sys.exit(main())
