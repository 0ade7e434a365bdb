"""A model that a test writes the lines for."""

from __future__ import annotations

import pytest

from tests.live.model_servers import model_server


@pytest.fixture
def server():
    with model_server() as server:
        yield server
