"""Imports that someone has tampered with, hashes and all: refused in our words, on every engine alike."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from uuid import uuid4

import pytest

from ringbolt import RingboltError
from tests.files.forged import changed, exported_lines, places, rehashed
from tests.support import examples, open_memory

ODD = [None, True, 0, -1, 5, 2**63, 2**70, 1.5, "", "x", "5", "a\0b", [], [1], {}, {"a": 1}]


@pytest.fixture
def exported(opened, tmp_path):
    """The lines of an export in which every operation has left its events."""
    return exported_lines(opened(tmp_path / "source.db"), tmp_path / "events")


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
    for _ in range(examples(20)):
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
