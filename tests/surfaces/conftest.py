"""A place for the command line: a folder, and a store that the environment names."""

from __future__ import annotations

import pytest

from tests.surfaces.command_line import data


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A workspace with a store of its own, which is not made yet."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RINGBOLT_STORE", str(tmp_path / "store" / "tasks.db"))
    monkeypatch.setenv("RINGBOLT_SYNCHRONOUS", "off")
    monkeypatch.setenv("RINGBOLT_SESSION", "S")
    return folder


@pytest.fixture
def task(place):
    """The id of a task with three steps."""
    return data("register", "Deploy", "--step", "Build", "--step", "Push", "--step", "Run")["task_id"]
