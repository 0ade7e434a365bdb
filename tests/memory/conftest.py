"""What the tests of the operations share."""

from __future__ import annotations

import pytest

from tests.memory.calls import prepare


@pytest.fixture
def prepared(memory, task):
    """A task with an action (#2), an intent (#3), an entry (#4) and a claim on step s3."""
    prepare(memory, task)
    return task
