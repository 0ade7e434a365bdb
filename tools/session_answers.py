# ruff: noqa: E501 - texts
"""Write docs/explanation/answers.md: questions about a recorded session, with the answers as they came.

Run it with `.venv/bin/python tools/session_answers.py`. The session was recorded by tools/record_sessions.py
with the real Claude Code; its events go through the code of the hooks, and the answers are not edited.
`--check` writes nothing and fails if the page differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from ringbolt import TaskMemory  # noqa: E402 - after the path is set
from ringbolt.hosts import host_schemas  # noqa: E402
from ringbolt.hosts.capture import events  # noqa: E402
from ringbolt.hosts.transcripts.tail import apply_transcript_tail  # noqa: E402
from ringbolt.journal.event_files import Journal  # noqa: E402
from ringbolt.journal.side_files import SideFiles  # noqa: E402
from ringbolt.model.redaction import Redactor  # noqa: E402
from ringbolt.worker.worker import Worker  # noqa: E402
from tests.hosts import recordings  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "answers.md"
HOST, NOON = "claude-code", 1772366400.0
QUESTIONS = (
    "Where was I?", "What did the user ask for at the start?", "What did the user say last?", "What is done?",
    "What is left?", "What is done and what comes next?", "Which files did I change?", "Did I change importer.py?",
    "Did I change the tax tables?", "What failed?", "Why did it stop at line 900?", "May I delete the archive?",
    "What did the user decide about broken lines?", "Why do we skip a broken line?", "What is blocking us?",
    "Was anything pushed?", "Who approved it?", "How many orders were lost?", "Was ist erledigt?",
    "Quelle était la demande initiale ?", "¿Qué falló?", "接下来做什么?",
)  # fmt: skip
OPENING = """# Answers, unedited

A session of Claude Code that we recorded ourselves (`tests/hosts/recorded/claude-code`), told to Ringbolt by its hooks,
and then questions. No model is involved. `tools/session_answers.py` writes this page; nothing is left out or reworded,
only the path of the workspace is cut off.
Where nothing is recorded, the answer says so and names the nearest thing.

| Question | Answer |
| --- | --- |
"""


def replayed(folder: Path) -> TaskMemory:
    """A memory with the recorded session in it."""
    whole = recordings.transcript(
        HOST
    ).read_bytes()  # as long as the hooks saw it, with its placeholder paths
    path, store = folder / "transcript.jsonl", str(folder / "store.db")
    files = SideFiles(Journal.of(store))
    now, redactor = NOON, Redactor()
    memory = TaskMemory.open(
        store, workspace=recordings.WORK, session="page", clock=lambda: now, time_zone="UTC"
    )
    for number, report in enumerate(recordings.hook_reports(HOST)):
        now = NOON + 20 * number
        path.write_bytes(whole[: report.transcript_bytes])
        told = {**report.told, "transcript_path": str(path)}
        found = host_schemas.read_event(HOST, report.event, told, report.transcript_bytes)
        if found is None:
            continue
        found = {
            **events.cleaned(events.tidied(found), redactor),
            "transcript_bytes": report.transcript_bytes,
        }
        speaker = memory.acting_as(session=str(found.get("session") or "page"), agent=HOST)

        def write(one: dict, key: str, speaker: TaskMemory = speaker) -> object:
            return events.apply(speaker, one, key)

        apply_transcript_tail(files, "claude", found, redactor, write)
        events.apply(speaker, found, f"page/{number}")
    return memory


def page() -> str:
    """The page as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        memory = replayed(Path(folder))
        Worker(memory).run_once()  # extraction, progress and the summary, as in a running store
        task = max(memory.task_list(status="all").tasks, key=lambda card: card.seq).id
        rows = [f"| {one} | {_cell(memory.task_ask(task, one).text)} |\n" for one in QUESTIONS]
        memory.close()
    return OPENING + "".join(rows)


def _cell(text: str) -> str:
    text = text.replace(f"{recordings.WORK}/", "").replace(recordings.WORK, "the workspace")
    return text.replace("|", "\\|").replace("\n", "<br>").replace("<", "&lt;").replace("&lt;br>", "<br>")


def main() -> int:
    parser = argparse.ArgumentParser(description="Write docs/explanation/answers.md.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if the page differs")
    options = parser.parse_args()
    text = page()
    if options.check:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
