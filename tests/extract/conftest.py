from __future__ import annotations

import pytest

from ringbolt.worker.worker import HANDLERS, Worker, extraction
from tests.worker.stand_in import StandIn


@pytest.fixture
def worker(memory):
    """A worker on the test's memory, with the small extractor."""
    return Worker(memory, handlers={**HANDLERS, "extract": extraction(StandIn)})
