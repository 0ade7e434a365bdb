"""Rendering is pure: one engine is enough here; tests/core reads tasks on both."""

from __future__ import annotations

from itertools import count

import pytest


@pytest.fixture(params=["sqlite"])
def new_store_url(tmp_path):
    """A function that gives the URL of another store that is not there yet."""
    numbers = count(1)
    return lambda: f"sqlite://{tmp_path}/stores/{next(numbers)}.db"
