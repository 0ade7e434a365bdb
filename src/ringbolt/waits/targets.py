"""Check a target once, within limits of time and size.

`begin` records the state of a target when the wait starts; `check` compares with it. The state is plain JSON
and stored with the wait, so that another process can continue after a crash. A verdict never quotes content
that was read: a log may hold secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from ..model.errors import InvalidInput, RingboltError
from ..model.rules import ENDED
from ..model.types import Value
from ..model.validate import blake2b, seconds_of
from ..system import http_client, os_calls, processes
from ..system.commands import run
from ..system.gate import REFUSED, Gate, LookRefused
from . import file_targets, json_conditions, screens, terminals
from .conditions import GROUPS, JUDGED, Watch, pattern, seconds

State = dict[str, Any]
Judge = Callable[[str, str | bytes], tuple[bool | None, str]]

CHECK_SECONDS = 10.0  # the time limit for one check
TMUX_SECONDS = 10.0
MOST_BYTES = 1 << 20  # of an HTTP answer, or of a command's output
JUDGE_SECONDS = 5.0  # at least, between two questions to a model
MOST_JUDGED = 6000  # bytes that a model is shown
# Conditions on the content of a target.
CONTENT = ("contains ", "matches ")


class Verdict(Value, frozen=True, kw_only=True):
    """The result of a check: whether the condition is met, a short explanation, and whether it never can
    be."""

    met: bool
    detail: str
    failed: bool = False


class CheckContext(Value, frozen=True, kw_only=True):
    """Everything a check may need besides the target: the time, the gate, and the statuses of tasks.

    `waited` counts the seconds since the wait started; `decided` is a person's decision, if there is one.
    """

    now: float
    waited: float
    status_of: Callable[[str], str | None]
    folder: str | None = None
    gate: Gate = Gate()
    decided: str | None = None
    judge: Judge | None = None


Checked = tuple[Verdict, State]  # the verdict, and the state for the next check


def begin(watch: Watch, gate: Gate) -> State:
    """The state of a target when the wait starts. Raises LookRefused."""
    if watch.parts:
        return {"parts": [begin(part, gate) for part in watch.parts]}
    if not gate.admits(watch.kind):
        raise LookRefused
    if watch.kind == "file":
        if watch.word in CONTENT or watch.word == JUDGED:
            gate.check_path(watch.value, content=True)
        return {"first": file_targets.signature(watch.value, gate)}
    if watch.kind == "log":
        if watch.word != "grows":
            gate.check_path(watch.value, content=True)
        return file_targets.log_end(watch.value, gate)
    if watch.kind == "process":
        return {"started": _process_start(watch.value)}
    if watch.kind == "terminal":
        return {"first": _terminal_end(watch.value)}
    if watch.kind in ("screen", "window"):
        return {"first": _first_picture(watch)}
    return {}


def check(watch: Watch, state: State, context: CheckContext) -> Checked:
    """Check a target or a group of targets once."""
    if watch.kind == "not":
        return _check_opposite(watch, state, context)
    if watch.kind in GROUPS:
        return _check_parts(watch, state, context)
    try:
        if not context.gate.admits(watch.kind):
            raise LookRefused
        return _CHECKS[watch.kind](watch, state, context)
    except RingboltError as error:
        return Verdict(met=False, detail=error.message, failed=True), state
    except LookRefused:
        return Verdict(met=False, detail=REFUSED, failed=True), state


# --- groups -----------------------------------------------------------------------------------------


def _check_opposite(watch: Watch, state: State, context: CheckContext) -> Checked:
    verdict, new = check(watch.parts[0], state["parts"][0], context)
    detail = f"{watch.parts[0].criteria}: {verdict.detail}"
    opposite = Verdict(met=not (verdict.met or verdict.failed), detail=detail, failed=verdict.failed)
    return opposite, {**state, "parts": [_without_met(new)]}


def _without_met(state: State) -> State:
    """A state without its met parts: inside `not`, a part that was true once must be true again."""
    plain = {name: value for name, value in state.items() if name != "met"}
    return {**plain, "parts": [_without_met(part) for part in state["parts"]]} if "parts" in state else plain


def _check_parts(watch: Watch, state: State, context: CheckContext) -> Checked:
    verdicts: list[Verdict] = []
    states: list[State] = []
    for part, old in zip(watch.parts, state["parts"], strict=True):
        if "met" in old:  # a part of `all` that was met once counts as met
            verdict, new = Verdict(met=True, detail=old["met"]), old
        else:
            verdict, new = check(part, old, context)
            new = {**new, "met": verdict.detail} if verdict.met else new
        verdicts.append(verdict)
        states.append(new)
    met = [part.criteria for part, verdict in zip(watch.parts, verdicts, strict=True) if verdict.met]
    enough, too_many = (any, all) if watch.kind == "any" else (all, any)
    done = enough(verdict.met for verdict in verdicts)
    failed = not done and too_many(verdict.failed for verdict in verdicts)
    if failed:
        detail = next(verdict.detail for verdict in verdicts if verdict.failed)
    elif done and watch.kind == "any":
        detail = f"{met[0]}: {next(verdict.detail for verdict in verdicts if verdict.met)}"
    else:
        detail = f"{len(met)} of {len(verdicts)}" + (f": {', '.join(met)}" if met else "")
    return Verdict(met=done, detail=detail, failed=failed), {**state, "parts": states}


# --- conditions that several kinds share ------------------------------------------------------------


def _matches(watch: Watch, content: bytes) -> bool:
    """Whether content meets `contains …` or `matches …`."""
    if watch.word == "matches ":
        return bool(pattern(watch.argument).search(content))
    return watch.argument.encode() in content


def _check_content(watch: Watch, state: State, content: bytes, where: str) -> Checked:
    met = _matches(watch, content)
    return Verdict(met=met, detail=f"{where} {'matches' if met else 'does not match'}"), state


def _check_signature(watch: Watch, state: State, context: CheckContext, seen: Any) -> Checked | None:
    """Check the conditions that need only a signature (None: the target does not exist); None for others."""
    if watch.word in ("exists", "gone"):
        detail = "it exists" if seen else "it does not exist"
        return Verdict(met=bool(seen) == (watch.word == "exists"), detail=detail), state
    if watch.word == "changed":
        changed = seen != state["first"]
        return Verdict(met=changed, detail="it has changed" if changed else "it has not changed"), state
    if watch.word.startswith("stable"):
        return _check_stable(watch, state, context, seen)
    return None


def _check_growth(state: State, added: str | bytes) -> Checked:
    return Verdict(met=bool(added), detail="it has grown" if added else "nothing was added"), state


def _check_stable(watch: Watch, state: State, context: CheckContext, seen: Any) -> Checked:
    if seen is None:
        return Verdict(met=False, detail="it does not exist"), {**state, "seen": None}
    if state.get("seen") != seen:
        return Verdict(met=False, detail="it is changing"), {**state, "seen": seen, "since": context.waited}
    wanted = seconds(watch.argument) if watch.argument else file_targets.STABLE_SECONDS
    met = context.waited - state["since"] >= wanted
    return Verdict(met=met, detail="it is stable" if met else "it is changing"), state


def _ask_model(watch: Watch, state: State, context: CheckContext, seen: str | bytes) -> Checked:
    """Ask a model about content: only if it has not judged this content yet, and not too often."""
    raw = seen.encode("utf-8", "replace") if isinstance(seen, str) else seen
    digest = blake2b(raw, digest_size=16).hexdigest()
    detail = state.get("opinion") or "no model has judged it yet"
    soon = context.waited - state.get("asked", -JUDGE_SECONDS) < JUDGE_SECONDS
    if digest == state.get("judged") or soon:
        return Verdict(met=False, detail=detail), state
    if context.judge is None:
        return Verdict(met=False, detail="no model is configured to judge it"), state
    met, detail = context.judge(watch.argument, seen)
    state = {**state, "asked": context.waited, "opinion": detail}
    return Verdict(met=bool(met), detail=detail), state if met is None else {**state, "judged": digest}


def _shown_to_model(content: bytes) -> str:
    return content[-MOST_JUDGED:].decode("utf-8", "replace")


# --- files and logs ---------------------------------------------------------------------------------


def _check_file(watch: Watch, state: State, context: CheckContext) -> Checked:
    seen = file_targets.signature(watch.value, context.gate)
    if (result := _check_signature(watch, state, context, seen)) is not None:
        return result
    content, problem = file_targets.content(watch.value, context.gate)
    if content is None:
        return Verdict(met=False, detail=problem), state
    if watch.word == JUDGED:
        return _ask_model(watch, state, context, _shown_to_model(content))
    return _check_content(watch, state, content, "its content")


def _check_log(watch: Watch, state: State, context: CheckContext) -> Checked:
    if watch.word == JUDGED:
        content = file_targets.last_added(watch.value, state, MOST_JUDGED, context.gate)
        return _ask_model(watch, state, context, _shown_to_model(content))
    gate = context.gate
    if watch.word == "grows" and gate.anywhere:  # this tells no content
        gate = gate.replace(folders=("/",))
    content, state = file_targets.appended(watch.value, state, gate)
    if watch.word == "grows":
        return _check_growth(state, content)
    return _check_new_lines(watch, state, content)


def _check_new_lines(watch: Watch, state: State, content: bytes) -> Checked:
    met = _matches(watch, content)
    return Verdict(met=met, detail="new lines match" if met else "no new line matches"), state


# --- processes and commands -------------------------------------------------------------------------


def _process_start(pid: str) -> str | None:
    """When a process started, so that a later process with its number is not mistaken for it; None if it has
    exited."""
    process = processes.look_up(pid)
    return f"{os_calls.boot_id()} {process.start}" if process and process.runs else None


def _check_process(watch: Watch, state: State, context: CheckContext) -> Checked:
    now = _process_start(watch.value)
    over = now is None or now != state["started"]
    return Verdict(met=over, detail="it has exited" if over else "it is running"), state


def _check_command(watch: Watch, state: State, context: CheckContext) -> Checked:
    try:
        code, output = run(json.loads(watch.value), context.folder, CHECK_SECONDS, MOST_BYTES)
    except TimeoutError as error:
        return Verdict(met=False, detail=str(error)), state
    except OSError as error:
        return Verdict(
            met=False, detail=f"it cannot be run: {http_client.error_text(error)}", failed=True
        ), state
    if watch.word == JUDGED:
        return _ask_model(watch, state, context, f"exit code {code}\n{_shown_to_model(output)}")
    if watch.word in CONTENT:
        return _check_content(watch, state, output, "its output")
    return Verdict(met=code == int(watch.argument or 0), detail=f"exit code {code}"), state


# --- network ----------------------------------------------------------------------------------------


def _check_port(watch: Watch, state: State, context: CheckContext) -> Checked:
    host, _, port = watch.value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")

    def allowed(ip: str) -> bool:
        # Asking this machine itself whether a port is open sends nothing to anyone.
        loopback = ip_address(ip.partition("%")[0]).is_loopback
        return context.gate.private or loopback or http_client.is_public(ip)

    try:
        opened = http_client.is_open(host, int(port), CHECK_SECONDS, allowed)
    except http_client.Forbidden as error:
        return Verdict(met=False, detail=f"{error} (wait_private)", failed=True), state
    except OSError as error:
        return Verdict(met=False, detail=f"it cannot be reached: {http_client.error_text(error)}"), state
    detail = "it is open" if opened else "it is closed"
    return Verdict(met=opened == (watch.word == "open"), detail=detail), state


def _check_url(watch: Watch, state: State, context: CheckContext) -> Checked:
    address = http_client.read_url(watch.value, "the URL")
    allowed = None if context.gate.private else http_client.is_public
    try:
        status, body = http_client.exchange(address, None, {}, CHECK_SECONDS, MOST_BYTES, allowed=allowed)
    except http_client.Forbidden as error:
        return Verdict(met=False, detail=f"{error} (wait_private)", failed=True), state
    except OSError as error:
        return Verdict(met=False, detail=f"no answer: {http_client.error_text(error)}"), state
    if watch.word == JUDGED:
        return _ask_model(watch, state, context, f"status {status}\n{_shown_to_model(body[:MOST_JUDGED])}")
    if watch.word == "json ":
        met, what = json_conditions.parse(watch.argument).check(body)
        return Verdict(met=met and 200 <= status < 300, detail=f"status {status}, {what}"), state
    if watch.word in CONTENT:
        return _check_content(watch, state, body, f"status {status}, its body")
    met = {"answers": True, "ok": 200 <= status < 300}.get(watch.word, str(status) == watch.argument)
    return Verdict(met=met, detail=f"status {status}"), state


# --- terminals and screens --------------------------------------------------------------------------


def _terminal_end(pane: str) -> list[int] | None:
    """The current end of a pane's output; None if the pane does not exist yet."""
    try:
        return terminals.pane_lines(pane, TMUX_SECONDS)[1]
    except OSError:
        return None


def _check_terminal(watch: Watch, state: State, context: CheckContext) -> Checked:
    try:
        lines, place = terminals.pane_lines(watch.value, TMUX_SECONDS)
    except OSError as error:
        return Verdict(met=False, detail=f"it cannot be seen: {http_client.error_text(error)}"), state
    if watch.word.startswith("stable"):
        digest = blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()
        return _check_stable(watch, state, context, [*place, digest])
    # A pane with another process, or one that was cleared, is new from its first line.
    start = state["first"][1] if state["first"] and state["first"][0] == place[0] else 0
    content = "\n".join(lines[start:] if start <= place[1] else lines).strip()
    if watch.word == "grows":
        return _check_growth(state, content)
    if watch.word == JUDGED:
        return _ask_model(watch, state, context, content[-MOST_JUDGED:])
    return _check_new_lines(watch, state, content.encode())


def _first_picture(watch: Watch) -> str | None:
    """The digest of a picture of a screen or window; InvalidInput if the display does not exist."""
    try:
        return _picture(watch)[0]
    except OSError as error:
        hint = "Name a display that exists, as DISPLAY does: screen::0."
        why = f"{watch.target} cannot be seen: {http_client.error_text(error)}."
        raise InvalidInput("invalid_argument", why, hint) from None


def _picture(watch: Watch) -> tuple[str | None, Any]:
    """A picture of a screen or window with its digest; both None if the window does not exist."""
    display, _, title = watch.value.partition("/")
    picture = screens.grab(display, title if watch.kind == "window" else None)
    if picture is None:
        return None, None
    whole = f"{picture.size}".encode() + picture.tobytes()
    return blake2b(whole, digest_size=16).hexdigest(), picture


def _check_screen(watch: Watch, state: State, context: CheckContext) -> Checked:
    try:
        seen, picture = _picture(watch)
    except OSError as error:
        return Verdict(met=False, detail=f"it cannot be seen: {http_client.error_text(error)}"), state
    if (result := _check_signature(watch, state, context, seen)) is not None:
        return result
    if picture is None:
        return Verdict(met=False, detail="it does not exist"), state
    return _ask_model(watch, state, context, screens.as_png(picture))


# --- times, tasks and people ------------------------------------------------------------------------


def time_left(watch: Watch, context: CheckContext) -> float | None:
    """The seconds until the time, or the first of several; None if the wait is not for a time."""
    if watch.parts:
        times = (time_left(part, context) for part in watch.parts)
        return min((left for left in times if left is not None), default=None)
    if watch.kind != "time":
        return None
    if watch.value[-1:] in "dhms":
        return seconds(watch.value) - context.waited
    return seconds_of(watch.value) - context.now


def _check_time(watch: Watch, state: State, context: CheckContext) -> Checked:
    left = time_left(watch, context)
    met = left is not None and left <= 0
    return Verdict(met=met, detail="the time has come" if met else "not yet"), state


def _check_task(watch: Watch, state: State, context: CheckContext) -> Checked:
    status = context.status_of(watch.value)
    if status is None:
        return Verdict(met=False, detail="it does not exist", failed=True), state
    met = status in ENDED if watch.word == "ended" else status == watch.word
    return Verdict(met=met, detail=f"it is {status}"), state


def _check_person(watch: Watch, state: State, context: CheckContext) -> Checked:
    met = context.decided is not None
    return Verdict(met=met, detail=context.decided or "nobody has decided yet"), state


_CHECKS: dict[str, Callable[[Watch, State, CheckContext], Checked]] = {
    "file": _check_file,
    "log": _check_log,
    "process": _check_process,
    "command": _check_command,
    "port": _check_port,
    "http": _check_url,
    "time": _check_time,
    "task": _check_task,
    "step": _check_task,
    "manual": _check_person,
    "terminal": _check_terminal,
    "screen": _check_screen,
    "window": _check_screen,
}
