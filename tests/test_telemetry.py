"""Spans and durations: what operations report, by the conventions, and nothing that a task says."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ringbolt import telemetry
from ringbolt.model.errors import NotFound
from ringbolt.model.operation import declared
from ringbolt.operations import OPERATIONS
from ringbolt.surfaces.mcp.handlers import Caller, Handlers
from ringbolt.telemetry import memory_operation
from tests.support import refused

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture(scope="session")
def exporters():
    """The SDK of this process, which can be set only once."""
    from opentelemetry import metrics, trace
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([reader]))
    return spans, reader


@pytest.fixture
def spans(exporters):
    exporters[0].clear()
    return exporters[0]


@pytest.fixture
def traced(opened, tmp_path, spans):
    return opened(tmp_path / "on.db", otel="on")


def told(spans):
    """(name, attributes without the store) of each span."""
    return [
        (span.name, {key: value for key, value in span.attributes.items() if key != "gen_ai.memory.store.id"})
        for span in spans.get_finished_spans()
    ]


def test_operations_are_named_by_the_conventions(traced, spans):
    task = traced.task_register("Secret name", ["One"]).task_id
    traced.task_update(task, "Secret words", step=1, step_status="completed")
    hits = traced.task_recall("Secret words").hits
    traced.jobs_status()
    names = [
        "gen_ai.operation.name",
        "ringbolt.operation",
        "gen_ai.memory.record.id",
        "gen_ai.memory.record.count",
    ]
    assert [(name, *map(seen.get, names)) for name, seen in told(spans)] == [
        ("create_memory", "create_memory", "task_register", f"{task}#1", None),
        ("update_memory", "update_memory", "task_update", f"{task}#2", None),
        ("search_memory", "search_memory", "task_recall", None, len(hits)),
        ("jobs_status", None, "jobs_status", None, None),
    ]
    stores = {span.attributes.get("gen_ai.memory.store.id") for span in spans.get_finished_spans()}
    assert len(stores - {None}) == 1
    assert "ecret" not in str([span.to_json() for span in spans.get_finished_spans()])


def test_an_operation_within_another_is_part_of_it(traced, spans):
    traced.task_register("One", ["A"])
    before = len(told(spans))
    traced.task_resume()
    assert len(told(spans)) == before + 1


def test_an_error_is_told_by_its_code_alone(traced, spans):
    with pytest.raises(NotFound):
        traced.task_get("zzzzzzzzzz")
    (span,) = spans.get_finished_spans()
    assert (span.attributes["error.type"], span.status.is_ok, span.events) == ("task_not_found", False, ())
    assert "zzzzzzzzzz" not in span.to_json()


def test_durations_are_counted_by_operation_and_error(traced, exporters):
    def counts():
        data = exporters[1].get_metrics_data()
        if data is None:
            return {}
        return {
            (point.attributes["gen_ai.operation.name"], point.attributes.get("error.type")): point.count
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == "gen_ai.client.operation.duration" and metric.unit == "s"
            for point in metric.data.data_points
        }

    before = counts()
    traced.task_list()
    with pytest.raises(NotFound):
        traced.task_get("zzzzzzzzzz")
    after = counts()
    for key in (("search_memory", None), ("search_memory", "task_not_found")):
        assert after[key] == before.get(key, 0) + 1


def test_the_parent_comes_from_the_request_of_mcp(traced, spans):
    task = traced.task_register("One", ["A"]).task_id
    spans.clear()
    params = {"name": "task_update", "arguments": {"task_id": task, "message": "Begun"}}
    handlers, caller = Handlers("core"), Caller(memory=lambda: traced)
    handlers.answer("tools/call", {**params, "_meta": {"traceparent": f"00-{TRACE}-{PARENT}-01"}}, caller)
    handlers.answer("tools/call", params, caller)
    handlers.answer("tools/call", {**params, "_meta": {"traceparent": "no such thing"}}, caller)
    with_parent, without, broken = spans.get_finished_spans()
    assert (f"{with_parent.context.trace_id:032x}", f"{with_parent.parent.span_id:016x}") == (TRACE, PARENT)
    assert without.parent is None
    assert broken.parent is None


def test_memories_without_the_setting_report_nothing(traced, opened, tmp_path, spans):
    off = opened(tmp_path / "off.db")
    off.task_register("One")
    assert told(spans) == []
    traced.task_register("One")
    assert len(told(spans)) == 1


def test_every_operation_that_writes_to_a_task_has_a_name_of_the_conventions():
    named = {name: memory_operation(operation) for name, operation in OPERATIONS.items()}
    assert set(named.values()) == {"create_memory", "update_memory", "search_memory", "delete_memory", None}
    assert [name for name, kind in named.items() if kind == "delete_memory"] == ["forget", "purge"]
    assert {name for name, kind in named.items() if kind is None and name.startswith("task_")} == set()
    assert {declared(operation.method) for operation in OPERATIONS.values()} == {None}


def test_a_missing_package_is_named(opened, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    monkeypatch.setattr(telemetry, "observers", [])
    with refused(None, "otel_missing"):
        opened(tmp_path / "on.db", otel="on")


def test_nothing_is_imported_unless_it_is_wanted(tmp_path):
    program = """
import sys
from ringbolt import TaskMemory
TaskMemory.open(sys.argv[1]).task_register("One")
print(any(name.startswith("opentelemetry") for name in sys.modules))
"""
    for on, imported in (("off", "False"), ("on", "True")):
        run = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / f"{on}.db")],
            env={"RINGBOLT_OTEL": on, "HOME": str(tmp_path), "PATH": ""},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert run.stdout.strip() == imported
