"""Sessions that tools/record_sessions.py recorded: what hooks were given, and the transcripts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

RECORDED = Path(__file__).parent / "recorded"
HOSTS = ("claude-code", "codex")
WORK, TRANSCRIPTS = "/home/user/shop", "/home/user/transcripts"


@dataclass(frozen=True)
class Report:
    """What a hook was given, and how long the transcript was then."""

    event: str
    told: dict
    transcript_bytes: int


def transcript(host: str) -> Path:
    return RECORDED / host / "session.jsonl"


def hook_reports(host: str) -> list[Report]:
    lines = (RECORDED / host / "session-hooks.jsonl").read_text(encoding="utf-8").splitlines()
    return [Report(**json.loads(line)) for line in lines]
