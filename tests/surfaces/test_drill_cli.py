"""`ringbolt drill` as a person and as a program uses it."""

from __future__ import annotations

import json

from tests.surfaces.command_line import data, run


def test_the_command_prints_the_table_and_its_exit_code_tells(place):
    task = data("register", "Deploy", "--step", "Build", "--step", "Push")["task_id"]
    data("decide", "Push to ghcr.io", "--because", "the key works there", "--task", task)
    data("update", "built", "--task", task)
    done = run("drill", task[:6], "--at", "2")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[1] == "Context cut after #2 of 3: as requested."
    assert lines[2].split() == ["WHAT", "WANTED", "N", "PACKET@500", "PACKET@1500", "ASKING", "HOST"]
    assert "last 3 decisions, reasons  100 %   1  100 %       100 %        100 %   -" in lines
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
