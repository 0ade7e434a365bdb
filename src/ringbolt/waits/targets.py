"""Look once at what a wait watches, within bounds of time and size.

`begin` notes how a target stands when the wait starts; `look` compares with that. Both work on a plain JSON
state that the wait keeps, so that another process can continue where one died. A verdict never repeats what
was read: a log may hold secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from ipaddress import ip_address
from typing import Any

from ..model.errors import InvalidInput, RingboltError
from ..model.rules import ENDED
from ..model.types import Value
from ..model.validate import blake2b, seconds_of
from ..system import http_client
from ..system.commands import run
from . import file_targets, json_conditions, screens, terminals
from .conditions import GROUPS, JUDGED, Watch, pattern, seconds

State = dict[str, Any]
Judge = Callable[[str, str | bytes], tuple[bool | None, str]]

LOOK_SECONDS = 10.0  # the most that one look takes
TMUX_SECONDS = 10.0
MOST_BYTES = 1 << 20  # of an HTTP answer, or of a command's output
JUDGE_SECONDS = 5.0  # at least, between two questions to a model
MOST_JUDGED = 6000  # bytes that a model is shown


class Verdict(Value, frozen=True, kw_only=True):
    """What a look found: whether the condition is met, in a few words, and whether it never can be."""

    met: bool
    said: str
    failed: bool = False


def any_file(path: str) -> bool:
    """Every file may be read."""
    return True


class Surroundings(Value, frozen=True, kw_only=True):
    """What a look may need besides the target: the time, what the operator allows, and other tasks.

    `waited` counts the seconds since the wait started; `decided` is a person's decision, if there is one.
    """

    now: float
    waited: float
    status_of: Callable[[str], str | None]
    folder: str | None = None
    private: bool = False
    commands: bool = False
    decided: str | None = None
    readable: Callable[[str], bool] = any_file
    judge: Judge | None = None


Found = tuple[Verdict, State]  # the verdict, and the state for the next look


def begin(watch: Watch) -> State:
    """How a target stands when the wait starts."""
    if watch.parts:
        return {"parts": [begin(part) for part in watch.parts]}
    if watch.kind == "file":
        return {"first": file_targets.signature(watch.value)}
    if watch.kind == "log":
        return file_targets.log_end(watch.value)
    if watch.kind == "process":
        return {"started": _process_start(watch.value)}
    if watch.kind == "terminal":
        return {"first": _terminal_end(watch.value)}
    if watch.kind in ("screen", "window"):
        return {"first": _first_picture(watch)}
    return {}


def look(watch: Watch, state: State, around: Surroundings) -> Found:
    """Look once at a target or a group of them."""
    if watch.kind == "not":
        return _look_at_opposite(watch, state, around)
    if watch.kind in GROUPS:
        return _look_at_parts(watch, state, around)
    try:
        return _LOOKS[watch.kind](watch, state, around)
    except RingboltError as error:
        return Verdict(met=False, said=error.message, failed=True), state
    except file_targets.NotAllowed as error:
        return Verdict(met=False, said=str(error), failed=True), state


# --- groups -----------------------------------------------------------------------------------------


def _look_at_opposite(watch: Watch, state: State, around: Surroundings) -> Found:
    verdict, new = look(watch.parts[0], state["parts"][0], around)
    said = f"{watch.parts[0].criteria}: {verdict.said}"
    opposite = Verdict(met=not (verdict.met or verdict.failed), said=said, failed=verdict.failed)
    return opposite, {**state, "parts": [_without_met(new)]}


def _without_met(state: State) -> State:
    """A state that forgets which parts were met: below `not`, what was true once must be true again."""
    plain = {name: value for name, value in state.items() if name != "met"}
    return {**plain, "parts": [_without_met(part) for part in state["parts"]]} if "parts" in state else plain


def _look_at_parts(watch: Watch, state: State, around: Surroundings) -> Found:
    verdicts: list[Verdict] = []
    states: list[State] = []
    for part, old in zip(watch.parts, state["parts"], strict=True):
        if "met" in old:  # a part of `all` that was met once counts as met
            verdict, new = Verdict(met=True, said=old["met"]), old
        else:
            verdict, new = look(part, old, around)
            new = {**new, "met": verdict.said} if verdict.met else new
        verdicts.append(verdict)
        states.append(new)
    met = [part.criteria for part, verdict in zip(watch.parts, verdicts, strict=True) if verdict.met]
    enough, too_many = (any, all) if watch.kind == "any" else (all, any)
    done = enough(verdict.met for verdict in verdicts)
    failed = not done and too_many(verdict.failed for verdict in verdicts)
    if failed:
        said = next(verdict.said for verdict in verdicts if verdict.failed)
    elif done and watch.kind == "any":
        said = f"{met[0]}: {next(verdict.said for verdict in verdicts if verdict.met)}"
    else:
        said = f"{len(met)} of {len(verdicts)}" + (f": {', '.join(met)}" if met else "")
    return Verdict(met=done, said=said, failed=failed), {**state, "parts": states}


# --- conditions that several kinds share ------------------------------------------------------------


def _matches(watch: Watch, content: bytes) -> bool:
    """Whether a content fulfils `contains …` or `matches …`."""
    if watch.word == "matches ":
        return bool(pattern(watch.argument).search(content))
    return watch.argument.encode() in content


def _look_at_content(watch: Watch, state: State, content: bytes, where: str) -> Found:
    met = _matches(watch, content)
    return Verdict(met=met, said=f"{where} {'matches' if met else 'does not match'}"), state


def _look_at_signature(watch: Watch, state: State, around: Surroundings, seen: Any) -> Found | None:
    """The conditions that need only a signature, None for a target that does not exist; None for others."""
    if watch.word in ("exists", "gone"):
        said = "it exists" if seen else "it does not exist"
        return Verdict(met=bool(seen) == (watch.word == "exists"), said=said), state
    if watch.word == "changed":
        changed = seen != state["first"]
        return Verdict(met=changed, said="it has changed" if changed else "it has not changed"), state
    if watch.word.startswith("stable"):
        return _look_whether_stable(watch, state, around, seen)
    return None


def _look_for_growth(state: State, added: str | bytes) -> Found:
    return Verdict(met=bool(added), said="it has grown" if added else "nothing was added"), state


def _look_whether_stable(watch: Watch, state: State, around: Surroundings, seen: Any) -> Found:
    if seen is None:
        return Verdict(met=False, said="it does not exist"), {**state, "seen": None}
    if state.get("seen") != seen:
        return Verdict(met=False, said="it is changing"), {**state, "seen": seen, "since": around.waited}
    wanted = seconds(watch.argument) if watch.argument else file_targets.STABLE_SECONDS
    met = around.waited - state["since"] >= wanted
    return Verdict(met=met, said="it is stable" if met else "it is changing"), state


def _ask_model(watch: Watch, state: State, around: Surroundings, seen: str | bytes) -> Found:
    """Ask a model about what is seen: only about what it has not judged yet, and not too often."""
    raw = seen.encode("utf-8", "replace") if isinstance(seen, str) else seen
    digest = blake2b(raw, digest_size=16).hexdigest()
    said = state.get("opinion") or "no model has judged it yet"
    soon = around.waited - state.get("asked", -JUDGE_SECONDS) < JUDGE_SECONDS
    if digest == state.get("judged") or soon:
        return Verdict(met=False, said=said), state
    if around.judge is None:
        return Verdict(met=False, said="no model is configured to judge it"), state
    met, said = around.judge(watch.argument, seen)
    state = {**state, "asked": around.waited, "opinion": said}
    return Verdict(met=bool(met), said=said), state if met is None else {**state, "judged": digest}


def _shown_to_model(content: bytes) -> str:
    return content[-MOST_JUDGED:].decode("utf-8", "replace")


# --- files and logs ---------------------------------------------------------------------------------


def _look_at_file(watch: Watch, state: State, around: Surroundings) -> Found:
    seen = file_targets.signature(watch.value)
    if (found := _look_at_signature(watch, state, around, seen)) is not None:
        return found
    content, problem = file_targets.content(watch.value, around.readable)
    if content is None:
        return Verdict(met=False, said=problem), state
    if watch.word == JUDGED:
        return _ask_model(watch, state, around, _shown_to_model(content))
    return _look_at_content(watch, state, content, "its content")


def _look_at_log(watch: Watch, state: State, around: Surroundings) -> Found:
    if watch.word == JUDGED:
        content = file_targets.last_added(watch.value, state, MOST_JUDGED, around.readable)
        return _ask_model(watch, state, around, _shown_to_model(content))
    readable = any_file if watch.word == "grows" else around.readable
    content, state = file_targets.appended(watch.value, state, readable)
    if watch.word == "grows":
        return _look_for_growth(state, content)
    return _look_at_new_lines(watch, state, content)


def _look_at_new_lines(watch: Watch, state: State, content: bytes) -> Found:
    met = _matches(watch, content)
    return Verdict(met=met, said="new lines match" if met else "no new line matches"), state


# --- processes and commands -------------------------------------------------------------------------


@cache
def boot_id() -> str:
    """Tells one boot of this machine from another."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def _process_start(pid: str) -> str | None:
    """When a process started, so that a later process with its number is not taken for it; None if it has
    exited."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # A program name may hold any character, also a bracket: the numbers follow its last one.
            fields = file.read(4096).rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in (b"Z", b"X") else f"{boot_id()} {fields[19].decode()}"


def _look_at_process(watch: Watch, state: State, around: Surroundings) -> Found:
    now = _process_start(watch.value)
    over = now is None or now != state["started"]
    return Verdict(met=over, said="it has exited" if over else "it is running"), state


def _look_at_command(watch: Watch, state: State, around: Surroundings) -> Found:
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
        return _ask_model(watch, state, around, f"exit code {code}\n{_shown_to_model(output)}")
    if watch.word in ("contains ", "matches "):
        return _look_at_content(watch, state, output, "its output")
    return Verdict(met=code == int(watch.argument or 0), said=f"exit code {code}"), state


# --- network ----------------------------------------------------------------------------------------


def _look_at_port(watch: Watch, state: State, around: Surroundings) -> Found:
    host, _, port = watch.value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")

    def allowed(ip: str) -> bool:
        # Asking this machine itself whether a port is open sends nothing to anyone.
        loopback = ip_address(ip.partition("%")[0]).is_loopback
        return around.private or loopback or http_client.is_public(ip)

    try:
        opened = http_client.is_open(host, int(port), LOOK_SECONDS, allowed)
    except http_client.Forbidden as error:
        return Verdict(met=False, said=f"{error} (wait_private)", failed=True), state
    except OSError as error:
        return Verdict(met=False, said=f"it cannot be reached: {http_client.error_text(error)}"), state
    said = "it is open" if opened else "it is closed"
    return Verdict(met=opened == (watch.word == "open"), said=said), state


def _look_at_url(watch: Watch, state: State, around: Surroundings) -> Found:
    address = http_client.read_url(watch.value, "the URL")
    allowed = None if around.private else http_client.is_public
    try:
        status, body = http_client.exchange(address, None, {}, LOOK_SECONDS, MOST_BYTES, allowed=allowed)
    except http_client.Forbidden as error:
        return Verdict(met=False, said=f"{error} (wait_private)", failed=True), state
    except OSError as error:
        return Verdict(met=False, said=f"no answer: {http_client.error_text(error)}"), state
    if watch.word == JUDGED:
        return _ask_model(watch, state, around, f"status {status}\n{_shown_to_model(body[:MOST_JUDGED])}")
    if watch.word == "json ":
        met, what = json_conditions.parse(watch.argument).check(body)
        return Verdict(met=met and 200 <= status < 300, said=f"status {status}, {what}"), state
    if watch.word in ("contains ", "matches "):
        return _look_at_content(watch, state, body, f"status {status}, its body")
    met = {"answers": True, "ok": 200 <= status < 300}.get(watch.word, str(status) == watch.argument)
    return Verdict(met=met, said=f"status {status}"), state


# --- terminals and screens --------------------------------------------------------------------------


def _terminal_end(pane: str) -> list[int] | None:
    """Where the output of a pane ends now; None if there is no such pane yet."""
    try:
        return terminals.pane_lines(pane, TMUX_SECONDS)[1]
    except OSError:
        return None


def _look_at_terminal(watch: Watch, state: State, around: Surroundings) -> Found:
    try:
        lines, place = terminals.pane_lines(watch.value, TMUX_SECONDS)
    except OSError as error:
        return Verdict(met=False, said=f"it cannot be seen: {http_client.error_text(error)}"), state
    if watch.word.startswith("stable"):
        digest = blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()
        return _look_whether_stable(watch, state, around, [*place, digest])
    # A pane with another process is new from its first line, and so is one that was cleared.
    start = state["first"][1] if state["first"] and state["first"][0] == place[0] else 0
    content = "\n".join(lines[start:] if start <= place[1] else lines).strip()
    if watch.word == "grows":
        return _look_for_growth(state, content)
    if watch.word == JUDGED:
        return _ask_model(watch, state, around, content[-MOST_JUDGED:])
    return _look_at_new_lines(watch, state, content.encode())


def _first_picture(watch: Watch) -> str | None:
    """The digest of what a screen or window shows now; an error if there is no such display."""
    try:
        return _picture(watch)[0]
    except OSError as error:
        hint = "Name a display that exists, as DISPLAY does: screen::0."
        why = f"{watch.target} cannot be seen: {http_client.error_text(error)}."
        raise InvalidInput("invalid_argument", why, hint) from None


def _picture(watch: Watch) -> tuple[str | None, Any]:
    """A picture of a screen or window with its digest; None and None if there is no such window."""
    display, _, title = watch.value.partition("/")
    picture = screens.grab(display, title if watch.kind == "window" else None)
    if picture is None:
        return None, None
    whole = f"{picture.size}".encode() + picture.tobytes()
    return blake2b(whole, digest_size=16).hexdigest(), picture


def _look_at_screen(watch: Watch, state: State, around: Surroundings) -> Found:
    try:
        seen, picture = _picture(watch)
    except OSError as error:
        return Verdict(met=False, said=f"it cannot be seen: {http_client.error_text(error)}"), state
    if (found := _look_at_signature(watch, state, around, seen)) is not None:
        return found
    if picture is None:
        return Verdict(met=False, said="it does not exist"), state
    return _ask_model(watch, state, around, screens.as_png(picture))


# --- times, tasks and people ------------------------------------------------------------------------


def time_left(watch: Watch, around: Surroundings) -> float | None:
    """The seconds until a time, or the first of several, is reached; None if none is waited for."""
    if watch.parts:
        found = (time_left(part, around) for part in watch.parts)
        return min((left for left in found if left is not None), default=None)
    if watch.kind != "time":
        return None
    if watch.value[-1:] in "dhms":
        return seconds(watch.value) - around.waited
    return seconds_of(watch.value) - around.now


def _look_at_time(watch: Watch, state: State, around: Surroundings) -> Found:
    left = time_left(watch, around)
    met = left is not None and left <= 0
    return Verdict(met=met, said="the time has come" if met else "not yet"), state


def _look_at_task(watch: Watch, state: State, around: Surroundings) -> Found:
    status = around.status_of(watch.value)
    if status is None:
        return Verdict(met=False, said="it does not exist", failed=True), state
    met = status in ENDED if watch.word == "ended" else status == watch.word
    return Verdict(met=met, said=f"it is {status}"), state


def _look_at_person(watch: Watch, state: State, around: Surroundings) -> Found:
    met = around.decided is not None
    return Verdict(met=met, said=around.decided or "nobody has decided yet"), state


_LOOKS: dict[str, Callable[[Watch, State, Surroundings], Found]] = {
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
    "terminal": _look_at_terminal,
    "screen": _look_at_screen,
    "window": _look_at_screen,
}
