"""Writes what the product is made of as CycloneDX JSON: `make sbom` puts it into build/sbom.cdx.json.

The packages are those that the product itself needs (its extra `serve`), with the versions, licences and
dependencies of the installed metadata and the hashes of constraints-run.txt; the vendored files of the web
page with their own hashes.
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from lock import BACKEND, ROOT, closure
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ringbolt.surfaces.web.vendored import FOLDER, VENDORED

TARGET = ROOT / "build" / "sbom.cdx.json"


def locked_hashes() -> dict[str, list[str]]:
    """The hashes of each package in constraints-run.txt."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in (ROOT / "constraints-run.txt").read_text().splitlines():
        if line[:1].isalnum():
            name = line.partition("==")[0]
        elif "--hash=sha256:" in line:
            found.setdefault(name, []).append(line.partition("sha256:")[2].split()[0])
    return found


def component(name: str, installed: Distribution, hashes: list[str]) -> dict[str, Any]:
    licence = installed.metadata.get("License-Expression") or installed.metadata.get("License") or ""
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{installed.version}",
        "purl": f"pkg:pypi/{name}@{installed.version}",
        "name": name,
        "version": installed.version,
        **({"licenses": [{"license": {"name": licence.splitlines()[0][:200]}}]} if licence else {}),
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in hashes],
    }


def needs(installed: Distribution, known: dict[str, str]) -> list[str]:
    wanted = {canonicalize_name(Requirement(text).name) for text in installed.requires or ()}
    return sorted(f"pkg:pypi/{name}@{known[name]}" for name in wanted if name in known)


def document() -> dict[str, Any]:
    versions = {name: version for name, version in closure("serve").items() if name not in BACKEND}
    hashes = locked_hashes()
    own = distribution("ringbolt")
    root = f"pkg:pypi/ringbolt@{own.version}"
    vendored = [
        {
            "type": "file",
            "bom-ref": f"vendored:{file.path}",
            "name": file.name,
            "version": file.version,
            "hashes": [{"alg": "SHA-256", "content": sha256((FOLDER / file.path).read_bytes()).hexdigest()}],
        }
        for file in VENDORED
    ]
    packages = [component(name, distribution(name), hashes.get(name, [])) for name in versions]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": root, "name": "ringbolt", "version": own.version}
        },
        "components": [*packages, *vendored],
        "dependencies": [
            {"ref": root, "dependsOn": [*needs(own, versions), *(file["bom-ref"] for file in vendored)]},
            *(
                {"ref": f"pkg:pypi/{name}@{version}", "dependsOn": needs(distribution(name), versions)}
                for name, version in versions.items()
            ),
        ],
    }


def main() -> int:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(document(), indent=1) + "\n")
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
