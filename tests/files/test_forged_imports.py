"""Imports that someone has tampered with, hashes and all: refused in our words, on every engine alike."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from uuid import uuid4

import pytest

from ringbolt import RingboltError
from ringbolt.model.types import Origin
from ringbolt.store.tx import event_hash, first_link, origin_id
from tests.core.calls import REGISTER, WRITES, prepare
from tests.support import open_memory

ODD = [None, True, 0, -1, 5, 2**63, 2**70, 1.5, "", "x", "5", "a\0b", [], [1], {}, {"a": 1}]


def rehashed(lines):
    """The lines with hashes that fit, as far as their shape allows."""
    last = {}
    for line in lines[1:]:
        origin = Origin(**line.get("origin", {}))
        row = {
            "seq": line["seq"], "event_type": line["type"], "timestamp": line["at"],
            "item_id": line.get("item"), "ref_seq": line.get("ref"), "origin_id": origin_id(origin),
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
    if way:
        yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from places(each, (*way, name))


def changed(lines, way, value):
    copy = json.loads(json.dumps(lines))
    place = copy
    for name in way[:-1]:
        place = place[name]
    if value is KeyError:
        del place[way[-1]]
    else:
        place[way[-1]] = value
    return copy


@pytest.fixture
def exported(opened, tmp_path):
    """The lines of an export in which every operation has left its events."""
    memory = opened(tmp_path / "source.db")
    memory.task_register(**REGISTER)
    task = memory.task_register("n", ["A", "B", "C"]).task_id
    prepare(memory, task)
    for call, (needed, more) in WRITES.items():
        for arguments in (needed, {**needed, **more}):
            with suppress(RingboltError):
                getattr(memory, call)(task, **arguments)
    for key in ("title", "status", "next", "task_updated", "related_goal", "branch"):
        memory.memory_store(entity="e", key=key, value="2026-01-01" if key == "task_updated" else "done")
    memory.memory_store("t", entity="x", key="k", value=1, category="fact", at="2026-01-01", tags=["t"])
    memory.export_events(tmp_path / "events")
    return [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]


def outcome(url, path):
    """What an import gave, and whether what is there then is sound; nothing raw may come out."""
    with open_memory(url) as memory:
        try:
            told = repr(memory.import_events(path))
        except RingboltError as error:
            told = f"{error.code}"
        memory.memory_recall("t", history=True, limit=1000)
        memory.active_tasks(completed=True)
        memory.active_tasks_block(budget=5000, heartbeat=True)
        report = memory.verify()
        assert report.ok, report.problems[:3]
        return told, report.events


@pytest.fixture
def both(tmp_path, postgres_url):
    def importing(lines):
        path = tmp_path / "forged"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        found = [
            outcome(url, path)
            for url in (f"sqlite://{tmp_path}/{uuid4().hex}.db", f"{postgres_url}&tenant={uuid4().hex}")
        ]
        assert found[0] == found[1]
        return found[0]

    return importing


def test_an_honest_export_is_taken(exported, both):
    told, events = both(rehashed(exported))
    assert told.startswith("ImportReport(")
    assert events == len(exported) - 1


def test_what_was_tampered_with_is_refused_or_sound_and_alike_on_both_engines(exported, both):
    chance = random.Random(7)
    codes = set()
    for _ in range(40):
        number = chance.randrange(1, len(exported))
        way = chance.choice([way for way in places(exported[number]) if way[0] != "hash"])
        forged = changed(exported, (number, *way), chance.choice([*ODD, KeyError]))
        with suppress(KeyError, TypeError, AttributeError, ValueError):
            forged = rehashed(forged)  # else they do not fit, which is one more way to be wrong
        codes.add(both(forged)[0].partition("(")[0])
    assert codes <= {"ImportReport", "import_invalid"}
    assert "import_invalid" in codes


def test_a_step_that_is_added_twice_is_refused(exported, both):
    lines = json.loads(json.dumps(exported))
    begun = {line["task"]: line["sets"]["+steps"] for line in lines[1:] if "+steps" in line.get("sets", {})}
    later = next(line for line in lines[1:] if line["seq"] == 5 and line["task"] in begun)
    later.setdefault("sets", {})["+steps"] = begun[later["task"]]
    assert both(rehashed(lines))[0] == "import_invalid"
