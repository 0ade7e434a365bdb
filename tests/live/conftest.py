"""A model that follows a test's script."""

from __future__ import annotations

import pytest

from tests.live.model_servers import model_server


@pytest.fixture
def server():
    with model_server() as server:
        yield server
