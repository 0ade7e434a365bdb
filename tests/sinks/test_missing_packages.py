"""A sink whose package is missing says what to install; this needs none of them."""

from __future__ import annotations

import sys

import pytest

from ringbolt.worker.pool import Pool
from ringbolt.worker.publishing import publishing


@pytest.mark.parametrize(("sink", "package"), [("lark", "lark_oapi"), ("redis", "redis")])
def test_a_missing_package_is_named_in_the_jobs_and_nothing_else_fails(
    memory, opened, store_url, monkeypatch, sink, package
):
    monkeypatch.setitem(sys.modules, package, None)
    shop = opened(store_url, publish=sink)
    task = shop.task_register("Move the shop").task_id
    Pool(shop, handlers={"publish": publishing()}).run_once()
    assert {f"pip install 'ringbolt[{sink}]'" in job.error for job in shop.jobs_status().failing} == {True}
    assert shop.task_get(task).status == "active"


def test_without_the_setting_nothing_is_added(memory):
    memory.task_register("Move the shop")
    Pool(memory).run_once()
    assert "publish" not in memory.jobs_status().kinds
