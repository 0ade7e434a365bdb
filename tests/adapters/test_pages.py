"""The examples on the pages about adapters run, each where its framework is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.conftest import NEEDS, is_installed
from tests.doc_blocks import run_page

PAGES = Path(__file__).parents[2] / "docs" / "how-to" / "adapters"
MODULES = {file.removeprefix("test_").removesuffix(".py"): module for file, module in NEEDS.items()}
NAMES = [page.stem.replace("-", "_") for page in sorted(PAGES.glob("*.md"))]


def test_every_adapter_has_a_page_and_every_page_an_adapter():
    assert set(MODULES) == set(NAMES) - {"index", "javascript"}


@pytest.mark.adapters
@pytest.mark.parametrize("name", [name for name in MODULES if is_installed(MODULES[name])])
def test_the_example_runs_and_prints_what_the_page_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(PAGES / f"{name.replace('_', '-')}.md")
