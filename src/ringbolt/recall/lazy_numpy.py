"""numpy, imported on first use because that takes longer than a hook may run."""

from __future__ import annotations

import os
from typing import Any

from ..model.errors import StoreError


def numpy() -> Any:
    """The module numpy, limited to one thread: two are far slower on a busy machine."""
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ.setdefault(name, "1")
    try:
        import numpy as module
    except ImportError as error:
        raise not_installed(error) from None
    finally:
        if before is None:
            del os.environ[name]
    return module


def not_installed(error: object) -> StoreError:
    """The error for a package that is missing."""
    return StoreError(
        "embedder_unavailable",
        f"Semantic search needs packages that are not installed ({error}).",
        "Install ringbolt with its extra: pip install 'ringbolt[semantic]'; or set embedder to none.",
    )
