"""Files of others that we ship: where they come from, their versions, and their checksums.

A test compares the files with this list, and `make sbom` names them.
"""

from __future__ import annotations

from pathlib import Path

from ...model.types import Value

FOLDER = Path(__file__).parent / "static" / "vendor"


class VendoredFile(Value, frozen=True, kw_only=True):
    """A file of another project, unchanged."""

    path: str
    name: str
    version: str
    source: str
    sha256: str


VENDORED = (
    VendoredFile(
        path="preact.js",
        name="htm with preact",
        version="3.1.1",
        source="the file preact/standalone.module.js of the npm package htm",
        sha256="72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
    ),
)
