"""Looking once at what is watched: bounded in time and in size, whatever it turns out to be.

`begin` notes how a target stands when the wait begins; `look` compares. Both work on a state that is plain
JSON and is kept by whoever waits, so that another process can go on where one has died. Nothing of what is
read is repeated in a verdict: a log may hold secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from ipaddress import ip_address

from ..model.errors import RingboltError
from ..model.rules import ENDED
from ..model.validate import seconds_of
from ..system import http_client
from ..system.commands import run
from . import displays, files, json_paths, verdicts
from .conditions import GROUPS, JUDGED, Watch, seconds
from .verdicts import (
    State,
    Surroundings,
    Verdict,
    anything,
    has_wanted,
    judged,
    look_whether_stable,
    shown_to_model,
)

LOOK_SECONDS = 10.0  # the most that one look takes
MOST_BYTES = 1 << 20  # of an answer, or of what a command prints


def begin(watch: Watch) -> State:
    """How a target stands when the wait begins."""
    if watch.parts:
        return {"parts": [begin(part) for part in watch.parts]}
    if watch.kind == "file":
        return {"first": files.signature(watch.value)}
    if watch.kind == "log":
        return files.log_end(watch.value)
    if watch.kind == "process":
        return {"started": _started(watch.value)}
    if watch.kind == "terminal":
        return {"first": displays.end_of_terminal(watch.value)}
    if watch.kind in ("screen", "window"):
        return {"first": displays.first_picture(watch)}
    return {}


def look(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    """Look once; the verdict, and the state for the next look."""
    if watch.kind == "not":
        return _look_at_opposite(watch, state, around)
    if watch.kind in GROUPS:
        return _look_at_parts(watch, state, around)
    try:
        return _LOOKS[watch.kind](watch, state, around)
    except RingboltError as error:
        return Verdict(met=False, said=error.message, failed=True), state
    except files.NotAllowed as error:
        return Verdict(met=False, said=str(error), failed=True), state


def _look_at_opposite(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    verdict, new = look(watch.parts[0], state["parts"][0], around)
    said = f"{watch.parts[0].criteria}: {verdict.said}"
    opposite = Verdict(met=not (verdict.met or verdict.failed), said=said, failed=verdict.failed)
    return opposite, {**state, "parts": [_unmarked(new)]}


def _unmarked(state: State) -> State:
    """A state in which nothing counts any more for having been true once: the opposite is wanted."""
    plain = {name: value for name, value in state.items() if name != "met"}
    return {**plain, "parts": [_unmarked(part) for part in state["parts"]]} if "parts" in state else plain


def _look_at_parts(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    verdicts: list[Verdict] = []
    states: list[State] = []
    for part, old in zip(watch.parts, state["parts"], strict=True):
        if "met" in old:  # what was once true of a part of `all` counts
            verdict, new = Verdict(met=True, said=old["met"]), old
        else:
            verdict, new = look(part, old, around)
            new = {**new, "met": verdict.said} if verdict.met else new
        verdicts.append(verdict)
        states.append(new)
    met = [part.criteria for part, verdict in zip(watch.parts, verdicts, strict=True) if verdict.met]
    whole = any if watch.kind == "any" else all
    done = whole(verdict.met for verdict in verdicts)
    failed = not done and (all if watch.kind == "any" else any)(verdict.failed for verdict in verdicts)
    if done and watch.kind == "any":
        said = f"{met[0]}: {next(verdict.said for verdict in verdicts if verdict.met)}"
    else:
        said = f"{len(met)} of {len(verdicts)}" + (f": {', '.join(met)}" if met else "")
    if failed:
        said = next(verdict.said for verdict in verdicts if verdict.failed)
    return Verdict(met=done, said=said, failed=failed), {**state, "parts": states}


# --- files ------------------------------------------------------------------------------------------


def _look_at_file(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    seen = files.signature(watch.value)
    there = "it is there" if seen else "it is not there"
    if watch.word in ("exists", "gone"):
        return Verdict(met=bool(seen) == (watch.word == "exists"), said=there), state
    if watch.word == "changed":
        changed = seen != state["first"]
        return Verdict(met=changed, said="it has changed" if changed else "it has not changed"), state
    if watch.word.startswith("stable"):
        return look_whether_stable(watch, state, around, seen)
    content, problem = files.content(watch.value, around.readable)
    if content is None:
        return Verdict(met=False, said=problem), state
    if watch.word == JUDGED:
        return judged(watch, state, around, shown_to_model(content))
    met = has_wanted(content, watch)
    return Verdict(met=met, said=f"it {'has' if met else 'does not have'} that"), state


def _look_at_log(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    if watch.word == JUDGED:
        content = files.end_of(watch.value, state, verdicts.MOST_JUDGED, around.readable)
        return judged(watch, state, around, shown_to_model(content))
    readable = anything if watch.word == "grows" else around.readable
    content, state = files.appended(watch.value, state, readable)
    if watch.word == "grows":
        return Verdict(met=bool(content), said="it has grown" if content else "nothing was added"), state
    met = has_wanted(content, watch)
    return Verdict(met=met, said="what was added has that" if met else "nothing added has that"), state


# --- processes and commands -------------------------------------------------------------------------


@cache
def boot() -> str:
    """What tells one run of this machine from another."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def _started(pid: str) -> str | None:
    """When a process began, which no other with its number shares; None if it is not there or has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name of a program may have any characters: what counts comes after its last bracket.
            fields = file.read(4096).rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in (b"Z", b"X") else f"{boot()} {fields[19].decode()}"


def _look_at_process(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    now = _started(watch.value)
    over = now is None or now != state["started"]
    return Verdict(met=over, said="it is not there any more" if over else "it runs"), state


def _look_at_command(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    if not around.commands:
        return Verdict(met=False, said="commands are not allowed here (wait_commands)", failed=True), state

    try:
        code, output = run(json.loads(watch.value), around.folder, LOOK_SECONDS, MOST_BYTES)
    except TimeoutError as error:
        return Verdict(met=False, said=str(error)), state
    except OSError as error:
        return Verdict(
            met=False, said=f"it cannot be run: {http_client.error_text(error)}", failed=True
        ), state
    if watch.word == JUDGED:
        return judged(watch, state, around, f"exit code {code}\n{shown_to_model(output)}")
    if watch.word in ("contains ", "matches "):
        met = has_wanted(output, watch)
        return Verdict(met=met, said=f"its output {'has' if met else 'does not have'} that"), state
    return Verdict(met=code == int(watch.argument or 0), said=f"exit code {code}"), state


# --- network ----------------------------------------------------------------------------------------


def _is_loopback(ip: str) -> bool:

    return ip_address(ip.partition("%")[0]).is_loopback


def _look_at_port(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    host, _, port = watch.value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")

    def allowed(ip: str) -> bool:
        # To learn whether a port of this machine is open, nothing has to be sent to anyone.
        return around.private or _is_loopback(ip) or http_client.is_public(ip)

    try:
        opened = http_client.is_open(host, int(port), LOOK_SECONDS, allowed)
    except http_client.Forbidden as error:
        return Verdict(met=False, said=f"{error} (wait_private)", failed=True), state
    except OSError as error:
        return Verdict(met=False, said=f"nobody knows: {http_client.error_text(error)}"), state
    said = "it is open" if opened else "it is closed"
    return Verdict(met=opened == (watch.word == "open"), said=said), state


def _look_at_url(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    address = http_client.read_url(watch.value, "the URL")
    allowed = None if around.private else http_client.is_public
    try:
        status, body = http_client.exchange(address, None, {}, LOOK_SECONDS, MOST_BYTES, allowed=allowed)
    except http_client.Forbidden as error:
        return Verdict(met=False, said=f"{error} (wait_private)", failed=True), state
    except OSError as error:
        return Verdict(met=False, said=f"no answer: {http_client.error_text(error)}"), state
    if watch.word == JUDGED:
        return judged(
            watch, state, around, f"status {status}\n{shown_to_model(body[: verdicts.MOST_JUDGED])}"
        )
    if watch.word == "json ":
        met, found = json_paths.read(watch.argument).holds(body)
        return Verdict(met=met and 200 <= status < 300, said=f"status {status}, {found}"), state
    if watch.word in ("contains ", "matches "):
        met = has_wanted(body, watch)
        return Verdict(met=met, said=f"status {status}, {'with' if met else 'without'} that"), state
    met = {"answers": True, "ok": 200 <= status < 300}.get(watch.word, str(status) == watch.argument)
    return Verdict(met=met, said=f"status {status}"), state


# --- time, tasks and people -------------------------------------------------------------------------


def time_left(watch: Watch, around: Surroundings) -> float | None:
    """The seconds until a time, or the first of some, is there; None if no time is waited for."""
    if watch.parts:
        return min(
            (left for part in watch.parts if (left := time_left(part, around)) is not None), default=None
        )
    if watch.kind != "time":
        return None
    if watch.value[-1:] in "dhms":
        return (seconds(watch.value) or 0) - around.waited
    return seconds_of(watch.value) - around.now


def _look_at_time(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    left = time_left(watch, around)
    met = left is not None and left <= 0
    return Verdict(met=met, said="the time is there" if met else "not yet"), state


def _look_at_task(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:

    status = around.status_of(watch.value)
    if status is None:
        return Verdict(met=False, said="it does not exist", failed=True), state
    met = status in ENDED if watch.word == "ended" else status == watch.word
    return Verdict(met=met, said=f"it is {status}"), state


def _look_at_person(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    met = around.decided is not None
    return Verdict(met=met, said=around.decided or "nobody has decided"), state


_LOOKS: dict[str, Callable[[Watch, State, Surroundings], tuple[Verdict, State]]] = {
    "file": _look_at_file,
    "log": _look_at_log,
    "process": _look_at_process,
    "command": _look_at_command,
    "port": _look_at_port,
    "http": _look_at_url,
    "time": _look_at_time,
    "task": _look_at_task,
    "item": _look_at_task,
    "manual": _look_at_person,
    "terminal": displays.look_at_terminal,
    "screen": displays.look_at_screen,
    "window": displays.look_at_screen,
}
