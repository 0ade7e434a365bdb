from __future__ import annotations

import pytest

from tests.upkeep.machine import Machine


@pytest.fixture
def machine(clock):
    """A machine whose two clocks a test moves."""
    return Machine(clock)


@pytest.fixture
def kept(memory, machine):
    """A memory on a fresh store whose upkeep has known the clock for long."""
    return machine.known_to(memory)
