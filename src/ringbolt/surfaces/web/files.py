"""The static files of the web page: read and compressed once, served under a hash of their content."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from ...model.types import Value

_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INDEX = "index.html"


class WebFile(Value, frozen=True, kw_only=True):
    """A static file, plain and compressed."""

    media_type: str
    plain: bytes
    gzipped: bytes


class WebFiles(Value, frozen=True, kw_only=True):
    """All static files. `version` is a hash over them all, because together they are one program."""

    version: str
    index: WebFile
    files: dict[str, WebFile]


@cache
def web_files() -> WebFiles:
    """The static files of this package."""
    contents = {
        name: content
        for name, content in _walk(files("ringbolt.surfaces.web") / "static", "")
        if _media_type(name)
    }
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    version = digest.hexdigest()[:16]
    index = contents.pop(_INDEX).replace(b"{version}", version.encode())
    return WebFiles(
        version=version,
        index=_web_file(_INDEX, index),
        files={name: _web_file(name, content) for name, content in contents.items()},
    )


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    contents: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            contents += _walk(entry, f"{prefix}{entry.name}/")
        else:
            contents.append((f"{prefix}{entry.name}", entry.read_bytes()))
    return contents


def _media_type(name: str) -> str:
    return next((kind for ending, kind in _MEDIA_TYPES.items() if name.endswith(ending)), "")


def _web_file(name: str, content: bytes) -> WebFile:
    return WebFile(media_type=_media_type(name), plain=content, gzipped=gzip.compress(content, 9, mtime=0))
