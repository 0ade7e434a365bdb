"""Spans and durations of operations by OpenTelemetry, as its conventions for memory name them.

Only the API is used: the program that runs Ringbolt configures the SDK and its exporters. Nothing is imported
unless the setting `otel` is on. Spans have ids and counts, never the text of a task, a query or an error.
See https://github.com/open-telemetry/semantic-conventions-genai (`gen_ai.memory.client`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from time import perf_counter
from typing import Any, cast

from ._version import __version__
from .model.errors import InvalidInput, RingboltError
from .model.operation import Operation, observers
from .model.validate import blake2b

_CREATES = (
    "register",
    "create",
    "remember",
    "store",
    "decide",
    "exclude",
    "log",
    "add",
    "record",
    "promote",
    "note",
)
_DELETES = ("forget", "purge")
_PARENT = ("traceparent", "tracestate")
# The advised boundaries of gen_ai.client.operation.duration, in seconds.
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_inside: ContextVar[bool] = ContextVar("ringbolt_inside", default=False)
_carrier: ContextVar[Mapping[str, str]] = ContextVar("ringbolt_carrier")


@contextmanager
def called_from(meta: Mapping[str, Any]) -> Generator[None]:
    """Within the block, the parent of a span is the one that these fields of a request name, if any."""
    found = {name: value for name in _PARENT if isinstance(value := meta.get(name), str)}
    if not observers or not found:
        yield
        return
    token = _carrier.set(found)
    try:
        yield
    finally:
        _carrier.reset(token)


def install() -> None:
    """Observe the operations of memories whose setting `otel` is on; safe to call twice."""
    if observers:
        return
    try:
        observers.append(Observer())
    except ImportError:
        raise InvalidInput(
            "otel_missing",
            "The setting otel needs the package opentelemetry-api.",
            "Install it: pip install 'ringbolt[otel]'; or set otel to off.",
        ) from None


def memory_operation(operation: Operation) -> str | None:
    """The conventions' name of an operation; None if it is about the store as a whole, or files."""
    words = operation.name.split("_")
    if operation.name in _DELETES:
        return "delete_memory"
    if operation.whole_store or words[0] not in (
        "task",
        "goal",
        "memory",
        "query",
        "smart",
        "wait",
        "active",
    ):
        return None
    if operation.scope == "read":
        return "search_memory"
    return "create_memory" if words[-1] in _CREATES or words[1] in _CREATES else "update_memory"


class Observer:
    """Makes a span and a duration of each operation; operations that it calls in turn belong to it."""

    def __init__(self) -> None:
        self._trace: Any = import_module("opentelemetry.trace")
        propagation: Any = import_module("opentelemetry.trace.propagation.tracecontext")
        self._propagator: Any = propagation.TraceContextTextMapPropagator()
        metrics: Any = import_module("opentelemetry.metrics")
        self._tracer: Any = self._trace.get_tracer("ringbolt", __version__)
        self._duration: Any = metrics.get_meter("ringbolt", __version__).create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    def __call__(self, operation: Operation, memory: Any, call: Callable[[], Any]) -> Any:
        """The result of a call."""
        if _inside.get():
            return call()
        token = _inside.set(True)
        try:
            return self._observed(operation, memory, call)
        finally:
            _inside.reset(token)

    def _observed(self, operation: Operation, memory: Any, call: Callable[[], Any]) -> Any:
        named = memory_operation(operation)
        attributes = {"ringbolt.operation": operation.name}
        if named is not None:
            attributes |= {"gen_ai.operation.name": named}
            attributes |= {"gen_ai.memory.store.id": store_id(memory.store.url, memory.settings.tenant)}
        carrier = _carrier.get(None)
        # Exceptions are not recorded as events: their messages quote what they are about.
        with self._tracer.start_as_current_span(
            named or operation.name,
            context=None if carrier is None else self._propagator.extract(carrier),
            kind=self._trace.SpanKind.INTERNAL,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            begun = perf_counter()
            failure = {}
            try:
                result = call()
            except BaseException as error:
                code = error.code if isinstance(error, RingboltError) else type(error).__name__
                failure = {"error.type": code}
                span.set_status(self._trace.Status(self._trace.StatusCode.ERROR))
                span.set_attributes(failure)
                raise
            finally:
                if named is not None:
                    self._duration.record(perf_counter() - begun, {"gen_ai.operation.name": named, **failure})
            if named is not None:
                span.set_attributes(_records(result))
            return result


@cache
def store_id(url: str, tenant: str) -> str:
    """An id for a store that does not show where it is, or its password."""
    return blake2b(f"{url}\n{tenant}".encode(), digest_size=8).hexdigest()


def _records(result: Any) -> dict[str, Any]:
    """The record that an operation was about, or how many it found."""
    found = next(
        (rows for name in ("hits", "tasks") if (rows := getattr(result, name, None)) is not None), result
    )
    if isinstance(found, tuple):
        return {"gen_ai.memory.record.count": len(cast("tuple[Any, ...]", found))}
    task_id, seq = getattr(result, "task_id", None), getattr(result, "seq", None)
    if isinstance(task_id, str) and task_id:
        return {"gen_ai.memory.record.id": f"{task_id}#{seq}" if seq else task_id}
    return {}
