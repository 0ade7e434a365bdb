"""What the tests of adapters share. A file is collected only where its framework is installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from ringbolt import TaskMemory

# The files here that need a framework, and the module that shows that it is there.
NEEDS = {
    "test_langchain.py": "langchain",
    "test_openai_agents.py": "agents",
    "test_pydantic_ai.py": "pydantic_ai",
    "test_langgraph.py": "langgraph",
    "test_claude_agent_sdk.py": "claude_agent_sdk",
    "test_anthropic_memory.py": "anthropic",
    "test_google_adk.py": "google.adk",
    "test_strands.py": "strands",
    "test_agent_framework.py": "agent_framework",
}


def is_installed(module: str) -> bool:
    """Whether a module is there, without importing it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package it would be in is missing
        return False


collect_ignore = [file for file, module in NEEDS.items() if not is_installed(module)]


@pytest.fixture
def place(tmp_path):
    """Where the store of a test is."""
    return tmp_path / "tasks.db"


@pytest.fixture
def memory(place):
    with TaskMemory.open(place, workspace="/w", principal="owner", synchronous="off") as opened:
        yield opened


@pytest.fixture
def another(place):
    """The same store as another process opens it."""
    with TaskMemory.open(place, workspace="/w", principal="owner", synchronous="off") as opened:
        yield opened
