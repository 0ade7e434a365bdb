"""The static files of the web page: read and compressed once, served under a hash of their content."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path, PurePath

from ...model.types import Value

_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOLDER = Path(__file__).parent / "static"


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
        path.relative_to(_FOLDER).as_posix(): path.read_bytes()
        for path in _FOLDER.rglob("*")
        if path.suffix in _MEDIA_TYPES
    }
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    version = digest.hexdigest()[:16]
    index = contents.pop("index.html").replace(b"{version}", version.encode())
    return WebFiles(
        version=version,
        index=_web_file("index.html", index),
        files={name: _web_file(name, content) for name, content in contents.items()},
    )


def _web_file(name: str, content: bytes) -> WebFile:
    media_type = _MEDIA_TYPES[PurePath(name).suffix]
    return WebFile(media_type=media_type, plain=content, gzipped=gzip.compress(content, 9, mtime=0))
