"""`ringbolt drill` as a person and as a program uses it."""

from __future__ import annotations

import json

from tests.surfaces.command_line import data, run


def test_the_command_prints_the_table_and_its_exit_code_tells(place):
    task = data("register", "Deploy", "--step", "Build", "--step", "Push")["task_id"]
    data("decide", "Push to ghcr.io", "--because", "the key works there", "--task", task)
    data("update", "hello", "--task", task)
    done = run("drill", task[:6], "--at", "2")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[1] == "Context cut after #2 of 3: as requested."
    assert lines[2].split() == ["WHAT", "WANTED", "N", "PACKET@500", "PACKET@1500", "ASKING", "HOST"]
    assert any(
        line.split() == "last 3 decisions, reasons 100 % 1 100 % 100 % 100 % -".split() for line in lines
    )
    assert any(line.split() == "variables 95 % 0 nothing to measure".split() for line in lines)
    assert "The host's own summary is not known, so there is nothing to compare with." in lines
    answer = json.loads(run("drill", "--all", "--json").stdout)["data"]
    assert answer["ok"] is True
    assert [one["task_id"] for one in answer["drills"]] == [task]
    # Both are kept, and none moves the place of the next one.
    kept = data("op", "drill_results", f"task_id={task}")["results"]
    assert sorted((one["cut"], one["because"], one["last"]) for one in kept) == [
        (1, "60 %", 3),
        (2, "asked", 3),
    ]
    before = data("show", task)["seq"]
    assert run("drill", task, "--no-keep", "--at", "3").exit_code == 0
    assert run("drill", task).exit_code == 0
    assert data("show", task)["seq"] == before
    assert run("drill", "--all", "--at", "2").exit_code == 2
    assert run("drill", "zzzz").exit_code == 3


def test_something_lost_fails_the_command_and_is_listed(place, tmp_path):
    task = data("register", "Deploy", "--step", "Build")["task_id"]
    data("decide", "Push to ghcr.io", "--because", "the key works there", "--task", task)
    said = tmp_path / "said.txt"
    said.write_text("decision: Push to ghcr.io\ndead end: the mirror in Oslo rejects unsigned images\n")
    done = run("drill", task, "--at", "2", "--truth", str(said))
    assert done.exit_code == 1, done.output
    lines = done.stdout.splitlines()
    assert any(line.split() == "said: decision 80 % 1 100 % 100 % 100 % -".split() for line in lines)
    (row,) = [line for line in lines if line.startswith("said: dead end")]
    assert row.split()[-1] == "MISSED"
    lost = "  said: dead end: the mirror in Oslo rejects unsigned images (nothing found it)"
    assert lines[lines.index("Lost from the packet of 1,500 tokens:") + 1] == lost
    assert lines[-1] == "Failed: the packet of 1,500 tokens lacks said: dead end."
    answer = json.loads(run("drill", task, "--at", "2", "--truth", str(said), "--json").stdout)["data"]
    assert (answer["ok"], answer["missed"], answer["truth"]) == (False, ["said: dead end"], "a file")
    said.write_text("something\n")
    assert run("drill", task, "--truth", str(said)).exit_code == 5
    assert run("drill", "--all", "--truth", str(said)).exit_code == 2
    assert run("drill", task, "--model").exit_code == 5
