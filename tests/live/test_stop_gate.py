"""The Stop gate in Claude Code, the program itself: one more turn, and then the end."""

from __future__ import annotations

import pytest

from tests.live.model_servers import calls, says
from tests.live.programs import ClaudeCode

pytestmark = pytest.mark.hosts

REASON = "was called done, but its last check failed"


class Gated(ClaudeCode):
    def environment(self):
        return {**super().environment(), "RINGBOLT_STOP_GATE": "on"}


def test_a_claim_that_its_check_contradicts_costs_one_more_turn(tmp_path, server):
    claude = Gated(tmp_path, server)
    claude.install("--project")
    script = server.script
    script.turns = [
        calls("mcp__ringbolt__task_plan", steps=["Write the parser", "Rename the option"]),
        calls("mcp__ringbolt__task_update", message="Began", step=1, step_status="active"),
        calls("Bash", command="make test"),
        calls("mcp__ringbolt__task_update", message="Written", step=1, step_status="completed"),
        says("The parser is written."),
        says("Its check fails: there is no such target yet."),
    ]
    claude.run("Write the parser and rename the option")
    asked = script.main()
    assert [REASON in one.text for one in asked] == [False] * 5 + [True]
    assert script.turns == []
    script.turns = [says("Nothing new.")]
    claude.run("--continue", "What is next?")
    assert script.turns == []
