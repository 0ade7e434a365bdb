"""Exports that are tampered with, hashes and all."""

from __future__ import annotations

import json
from contextlib import suppress

from ringbolt import RingboltError
from ringbolt.model.types import Origin
from ringbolt.store.hashes import event_hash, first_link, origin_id
from tests.core.calls import REGISTER, WRITES, prepare, with_other


def rehashed(lines):
    """The lines with hashes that fit, as far as their shape allows."""
    last = {}
    for line in lines[1:]:
        origin = Origin(**line.get("origin", {}))
        row = {
            "seq": line["seq"], "event_type": line["type"], "timestamp": line["at"],
            "item_id": line.get("step"), "ref_seq": line.get("ref"), "origin_id": origin_id(origin),
            "forgotten": None,
            "correlation_id": line.get("correlation", ""), "text": line.get("text"),
            "data": json.dumps(line.get("data", {}), ensure_ascii=False, separators=(",", ":")),
            "sets": json.dumps(line["sets"], ensure_ascii=False, separators=(",", ":"))
            if line.get("sets") is not None else None,
        }  # fmt: skip
        before = last.get(line["task"]) or first_link(line.get("root", line["task"]))
        last[line["task"]] = event_hash(before, row)
        line["hash"] = last[line["task"]].hex()
    return lines


def places(value, way=()):
    """The way to every value inside a JSON value."""
    if way:
        yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from places(each, (*way, name))


def changed(lines, way, value):
    """A copy of the lines with another value at a way; KeyError removes it."""
    copy = json.loads(json.dumps(lines))
    place = copy
    for name in way[:-1]:
        place = place[name]
    if value is KeyError:
        del place[way[-1]]
    else:
        place[way[-1]] = value
    return copy


def exported_lines(memory, path):
    """The lines of an export in which every operation has left its events."""
    memory.task_register(**REGISTER)
    task = memory.task_register("n", ["A", "B", "C"]).task_id
    prepare(memory, task)
    for call, (needed, more) in WRITES.items():
        for arguments in (needed, {**needed, **more}):
            with suppress(RingboltError):
                getattr(memory, call)(task, **with_other(memory, arguments))
    for key in ("title", "status", "next", "task_updated", "related_goal", "branch"):
        memory.memory_store(entity="e", key=key, value="2026-01-01" if key == "task_updated" else "done")
    memory.memory_store("t", entity="x", key="k", value=1, category="fact", at="2026-01-01", tags=["t"])
    memory.export_events(path)
    return [json.loads(line) for line in path.read_text().splitlines()]
