"""How often the guard speaks when it should, and when it should not.

    python bench/guard.py                       # made cases, through the real hook process
    python bench/guard.py --half tune -v        # one half, with every try that went wrong
    python bench/guard.py --real ../shared/data # recorded sessions: every alarm, and what came of the call
    python bench/guard.py --gate                # exit with 1 when a goal is missed

The made cases (`guard_cases.py`) are told to the hook as Claude Code tells them: one process for each
event, built and started as `ringbolt install` sets it up. The recorded sessions run through the same code
in one process; all sessions of a repository share a store and a folder, in the order of their time, so that
what was forbidden in one holds in the next. An alarm is called right if the call then failed or had been
forbidden, which `labels/guard.json` says for each alarm after reading it: session, number of the call,
verdict.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from guard_cases import FRESH, TEST, TUNE
from speed import Figure, at_least, at_most, child_environment, table

from ringbolt import TaskMemory
from ringbolt.hosts.capture_hook import CapturedEvent
from ringbolt.hosts.hook_parts.embedded_parts import host_facts
from ringbolt.hosts.install.installer import Installer
from ringbolt.signals.calls.failures import rejection

HOST = "claude-code"
LEAST_HITS = 0.80
MOST_FALSE = 1.0  # per 1,000 real calls
LABELS = Path(__file__).parent / "labels" / "guard.json"
_PLANS = ("TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "AskUserQuestion", "ExitPlanMode")
_PATIENT = {"RINGBOLT_HOOK_DEADLINE_MS": "30000", "RINGBOLT_HOOK_COMPACT_MS": "30000"}


class Try(NamedTuple):
    """A call that the guard was asked about."""

    story: str
    call: str
    wanted: bool
    text: str

    @property
    def ok(self) -> bool:
        return bool(self.text) == self.wanted


class Story:
    """A story that is told to the hook, in a store and a folder of its own."""

    def __init__(self, folder: Path, name: str, commands: dict[str, str] | None) -> None:
        self.name, self._commands = name, commands
        self._store, self._work = folder / "store.db", folder / "work"
        self._work.mkdir()
        self._session_id, self._number, self._announced = "first", 0, 0
        self._environment = {
            **child_environment(),
            **_PATIENT,
            "HOME": os.environ["HOME"],
            "XDG_DATA_HOME": os.environ["XDG_DATA_HOME"],
        }

    def tries(self, text: str) -> Iterator[Try]:
        """Tell the story; returns what the guard said at each try."""
        self._tell("SessionStart", source="startup")
        for line in filter(None, text.splitlines()):
            word, _, rest = line.partition(" ")
            if word in ("warn", "quiet"):
                yield Try(self.name, rest, word == "warn", self._on_a_copy(*_call(rest)))
            else:
                getattr(self, f"_{word}")(rest)

    # --- lines of a story

    def _user(self, text: str) -> None:
        self._tell("Stop", last_assistant_message="I am done with that.")
        self._tell("UserPromptSubmit", prompt=text)

    def _ok(self, text: str) -> None:
        command, _, output = text.partition(" => ")
        self._after("Bash", {"command": command}, {"stdout": output, "stderr": ""})

    def _fail(self, text: str) -> None:
        command, _, output = text.partition(" => ")
        self._after("Bash", {"command": command}, f"Exit code 1\n{output}", failed=True)

    def _reject(self, text: str) -> None:
        command, _, output = text.partition(" => ")
        self._after("Bash", {"command": command}, output, failed=True)

    def _edit(self, path: str) -> None:
        self._after("Edit", _call(f"edit {path}")[1], {})

    def _read(self, path: str) -> None:
        self._after("Read", {"file_path": path}, {"file": {"content": "x"}})

    def _tool(self, text: str) -> None:
        call, _, output = text.partition(" => ")
        self._after(*_call(f"tool {call}"), output)

    def _exclude(self, text: str) -> None:
        with self._memory() as memory:
            memory.task_exclude(**{key: value for key, value in json.loads(text).items() if key != "worked"})

    def _intent(self, text: str) -> None:
        with self._memory() as memory:
            self._announced = memory.task_intent(**json.loads(text)).seq

    def _outcome(self, word: str) -> None:
        with self._memory() as memory:
            memory.task_outcome(intent=self._announced, outcome=word)

    def _session(self, name: str) -> None:
        self._tell("SessionEnd", reason="other")
        self._session_id = name.replace(" ", "-")
        self._tell("SessionStart", source="startup")

    # --- events

    def _memory(self) -> TaskMemory:
        return TaskMemory.open(self._store, workspace=str(self._work), session=self._session_id)

    def _on_a_copy(self, tool: str, given: dict[str, Any]) -> str:
        """Ask about a call that is not made: on a copy of the store, which would else wait for its result."""
        with tempfile.TemporaryDirectory(dir=self._store.parent.parent) as name:
            shutil.copytree(self._store.parent, Path(name) / "copy")
            store, self._store = self._store, Path(name) / "copy" / self._store.name
            try:
                return self._before(tool, given)
            finally:
                self._store = store

    def _before(self, tool: str, given: dict[str, Any]) -> str:
        said = self._tell("PreToolUse", tool_name=tool, tool_input=given, tool_use_id="try")
        return json.loads(said)["hookSpecificOutput"]["additionalContext"] if said.strip() else ""

    def _after(self, tool: str, given: dict[str, Any], result: Any, *, failed: bool = False) -> None:
        self._number += 1
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"t{self._number}"}
        self._tell("PreToolUse", **call)
        event, field = ("PostToolUseFailure", "error") if failed else ("PostToolUse", "tool_response")
        self._tell(event, **call, **{field: result})

    def _tell(self, event: str, **fields: Any) -> str:
        told = {"session_id": self._session_id, "cwd": str(self._work), "hook_event_name": event, **fields}
        data = json.dumps(told).encode()
        if self._commands is None:
            return _in_process(event, data, str(self._store))
        done = subprocess.run(
            ["/bin/sh", "-c", self._commands[event]],
            input=data,
            capture_output=True,
            env={**self._environment, "RINGBOLT_STORE": str(self._store)},
            check=True,
        )
        if done.stderr:
            raise RuntimeError(f"{event} of {self.name!r}: {done.stderr.decode()[:300]}")
        return done.stdout.decode()


def _call(text: str) -> tuple[str, dict[str, Any]]:
    """The tool and the input that a line names."""
    word, _, rest = text.partition(" ")
    if word == "edit":
        return "Edit", {"file_path": rest, "old_string": "a", "new_string": "b"}
    if word == "read":
        return "Read", {"file_path": rest}
    if word == "tool":
        name, _, given = rest.partition(" ")
        return name, json.loads(given)
    return "Bash", {"command": text}


def _in_process(event: str, data: bytes, store: str) -> str:
    os.environ.update({**_PATIENT, "RINGBOLT_STORE": store, "RINGBOLT_SYNCHRONOUS": "off"})
    return CapturedEvent(HOST, event, host_facts(HOST), data, time.monotonic_ns()).run()


def installed(folder: Path) -> dict[str, str]:
    """The command lines that `ringbolt install` writes, by event, for a user of our own."""
    own = {"HOME": str(folder / "home"), "XDG_DATA_HOME": str(folder / "data")}
    os.environ.update(own)
    (folder / "home").mkdir()
    Installer(HOST, scope="user", environ=own).install()
    settings = json.loads((folder / "home/.claude/settings.json").read_text())
    return {event: groups[0]["hooks"][0]["command"] for event, groups in settings["hooks"].items()}


def made_cases(folder: Path, half: str, in_process: bool, only: str = "") -> list[Try]:
    """All tries of one half."""
    commands = installed(folder)
    stories = {"tune": TUNE, "test": TEST, "fresh": FRESH}[half]
    found: list[Try] = []
    for number, (name, text) in enumerate(stories.items()):
        if only in name:
            (own := folder / f"{half}{number}").mkdir()
            found += Story(own, name, None if in_process else commands).tries(text)
    return found


def figures_of(half: str, tries: list[Try]) -> Iterator[Figure]:
    wanted, unwanted = [one for one in tries if one.wanted], [one for one in tries if not one.wanted]
    hits, false = sum(one.ok for one in wanted), sum(not one.ok for one in unwanted)
    note = f"{hits} of {len(wanted)}"
    title = f"made cases, {half}: hits"
    share = hits / len(wanted) if wanted else 1.0
    yield (
        at_least(title, share, LEAST_HITS, note)
        if half == "test"
        else Figure(title, f"{share:.2f}", note=note)
    )
    yield Figure(
        f"made cases, {half}: false alarms", str(false), note=f"of {len(unwanted)} calls without a reason"
    )


# --- recorded sessions --------------------------------------------------------------------------------


class Alarm(NamedTuple):
    """A line before a recorded call, and what came of the call."""

    session: str
    number: int
    call: str
    text: str
    outcome: str


def recorded(path: Path) -> tuple[dict[str, Any], list[tuple[str, int, dict[str, Any]]]]:
    """A session: what it is about, and its events as a host reports them, with their numbers."""
    with gzip.open(path, "rt") as lines:
        meta, *events = [json.loads(line) for line in lines]
    calls = {event["i"]: event for event in events if event["k"] == "call"}
    found: list[tuple[str, int, dict[str, Any]]] = []
    for event in events:
        if event["k"] == "user":
            found += [("Stop", event["i"], {}), ("UserPromptSubmit", event["i"], {"prompt": event["text"]})]
        elif event["k"] == "compact":
            found += [("PreCompact", event["i"], {"trigger": "auto"})]
            found += [("SessionStart", event["i"], {"source": "compact"})]
        elif event["k"] == "result" and event["tool"] not in _PLANS and event["call_i"] in calls:
            given = calls[event["call_i"]]["input"]
            used = {"tool_name": event["tool"], "tool_input": given, "tool_use_id": str(event["call_i"])}
            failed = bool(event.get("error"))
            result = {"error": event["text"]} if failed else {"tool_response": event["text"]}
            found.append(("PreToolUse", event["call_i"], used))
            found.append(("PostToolUseFailure" if failed else "PostToolUse", event["i"], {**used, **result}))
    return {**meta, "ts": next((event["ts"] for event in events if event.get("ts")), "")}, found


def replay(folder: Path, traces: list[Path]) -> tuple[int, int, list[Alarm]]:
    """Tell recorded sessions to the hook's code: the calls, those that asked the store, and the alarms."""
    by_repository: dict[str, list[Any]] = defaultdict(list)
    for path in traces:
        meta, events = recorded(path)
        by_repository[meta.get("repo") or ""].append((meta, events))
    calls = asked = 0
    alarms: list[Alarm] = []
    for number, sessions in enumerate(by_repository.values()):
        (own := folder / f"real{number}").mkdir()
        (work := own / "work").mkdir()
        for meta, events in sorted(sessions, key=lambda one: str(one[0]["ts"])):
            session = meta["session"]
            for event, place, fields in [
                ("SessionStart", 0, {"source": "startup"}),
                *events,
                ("SessionEnd", 0, {}),
            ]:
                told = {"session_id": session, "cwd": str(work), "hook_event_name": event, **fields}
                data = json.dumps(told)
                if meta.get("cwd"):
                    data = data.replace(meta["cwd"], str(work))
                if event != "PreToolUse":
                    _in_process(event, data.encode(), str(own / "store.db"))
                    if (
                        alarms
                        and fields.get("tool_use_id") == str(alarms[-1].number)
                        and alarms[-1].session == session
                    ):
                        alarms[-1] = alarms[-1]._replace(outcome=_outcome(fields))
                    continue
                calls += 1
                captured = _Asked(HOST, event, host_facts(HOST), data.encode(), time.monotonic_ns())
                os.environ.update(
                    {**_PATIENT, "RINGBOLT_STORE": str(own / "store.db"), "RINGBOLT_SYNCHRONOUS": "off"}
                )
                said = captured.run()
                asked += captured.asked
                if said:
                    text = json.loads(said)["hookSpecificOutput"]["additionalContext"]
                    call = json.dumps(fields["tool_input"])[:200]
                    alarms.append(Alarm(session, place, call, text, "?"))
    return calls, asked, alarms


def _outcome(fields: dict[str, Any]) -> str:
    if "error" not in fields:
        return "worked"
    return "failed" if rejection(str(fields["error"])) is None else "rejected"


class _Asked(CapturedEvent):
    """An event that knows whether the store was asked."""

    asked = 0

    def _ask_store(self, path: str | None) -> str:
        self.asked = 1
        return super()._ask_store(path)


def judged(alarms: list[Alarm]) -> dict[str, list[Alarm]]:
    """Alarms by verdict: true, false, or unread."""
    labels = json.loads(LABELS.read_text()) if LABELS.exists() else {}
    found: dict[str, list[Alarm]] = defaultdict(list)
    for alarm in alarms:
        found[labels.get(alarm.session, {}).get(str(alarm.number), "unread")].append(alarm)
    return found


def real_figures(calls: int, asked: int, alarms: list[Alarm]) -> Iterator[Figure]:
    verdicts = judged(alarms)
    outcomes = Counter(alarm.outcome for alarm in alarms)
    note = ", ".join(f"{name} {count}" for name, count in outcomes.items())
    yield Figure(f"alarms in {calls:,} recorded calls", str(len(alarms)), note=f"the call then: {note}")
    false = len(verdicts["false"]) + len(verdicts["unread"])
    note = f"{false} false or unread, {len(verdicts['true'])} true"
    yield at_most("false alarms per 1,000 recorded calls", 1000 * false / max(1, calls), MOST_FALSE, note)
    yield Figure(
        "recorded calls for which the store was asked", f"{asked / max(1, calls):.3f}", note=f"{asked} calls"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the guard.")
    parser.add_argument("--half", choices=("tune", "test", "fresh", "all"), default="all")
    parser.add_argument("--only", default="", help="stories with this text in their name")
    parser.add_argument(
        "--in-process", action="store_true", help="no process for each event: faster, less real"
    )
    parser.add_argument("--real", type=Path, help="a folder with recorded sessions in traces/")
    parser.add_argument("--limit", type=int, default=0, help="of the recorded sessions, the first so many")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a goal is missed")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show every try that went wrong, every alarm"
    )
    options = parser.parse_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(dir=".", prefix=".bench-tmp-") as name:
        folder = Path(name).resolve()
        for half in ("tune", "test", "fresh") if options.half == "all" else (options.half,):
            if options.real:
                break
            (own := folder / half).mkdir()
            tries = made_cases(own, half, options.in_process, options.only)
            figures += figures_of(half, tries)
            for one in tries if options.verbose else ():
                if not one.ok:
                    print(f"{'MISS' if one.wanted else 'FALSE'} {one.story}: {one.call}\n      {one.text}")
        if options.real:
            traces = sorted((options.real / "traces").glob("*.gz"))
            calls, asked, alarms = replay(folder, traces[: options.limit or None])
            figures += real_figures(calls, asked, alarms)
            for verdict, some in judged(alarms).items() if options.verbose else ():
                for alarm in some:
                    print(f"{verdict} {alarm.session} {alarm.number} {alarm.outcome}: {alarm.call}")
                    print(f"      {alarm.text}")
    print(table(figures))
    return 1 if options.gate and any(figure.ok is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
