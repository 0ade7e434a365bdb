"""The files of the web page: read once, compressed once, and named by their content: they never change."""

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
    """A file of the page, as it is and compressed."""

    media_type: str
    plain: bytes
    gzipped: bytes


class WebFiles(Value, frozen=True, kw_only=True):
    """All files of the page under one version, which is a hash of them all: together they are one program."""

    version: str
    index: WebFile
    files: dict[str, WebFile]


@cache
def web_files() -> WebFiles:
    """The files that come with this package."""
    found = {
        name: content
        for name, content in _walk(files("ringbolt.surfaces.web") / "static", "")
        if _media_type(name)
    }
    digest = hashlib.sha256()
    for name, content in sorted(found.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    version = digest.hexdigest()[:16]
    index = found.pop(_INDEX).replace(b"{version}", version.encode())
    return WebFiles(
        version=version,
        index=_file(_INDEX, index),
        files={name: _file(name, content) for name, content in found.items()},
    )


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _walk(one, f"{prefix}{one.name}/")
        else:
            found.append((f"{prefix}{one.name}", one.read_bytes()))
    return found


def _media_type(name: str) -> str:
    return next((kind for ending, kind in _MEDIA_TYPES.items() if name.endswith(ending)), "")


def _file(name: str, content: bytes) -> WebFile:
    return WebFile(media_type=_media_type(name), plain=content, gzipped=gzip.compress(content, 9, mtime=0))
