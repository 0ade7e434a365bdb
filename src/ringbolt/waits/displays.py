"""Looking at what people look at: the panes of a terminal, a screen, a window on it."""

from __future__ import annotations

from typing import Any

from ..model.errors import InvalidInput
from ..model.validate import blake2b
from ..system.http_client import error_text
from . import screens, terminals
from .conditions import JUDGED, Watch
from .verdicts import MOST_JUDGED, State, Surroundings, Verdict, has_wanted, judged, look_whether_stable

SECONDS = 10.0  # the most that tmux may take


def end_of_terminal(pane: str) -> list[int] | None:
    """Where the output of a pane ends now; None if there is no such pane."""
    try:
        return terminals.seen(pane, SECONDS)[1]
    except OSError:
        return None  # it may come later


def look_at_terminal(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    """Look at what was added to a pane."""
    try:
        lines, place = terminals.seen(watch.value, SECONDS)
    except OSError as error:
        return Verdict(met=False, said=f"it cannot be seen: {error_text(error)}"), state
    if watch.word.startswith("stable"):
        digest = blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()
        return look_whether_stable(watch, state, around, [*place, digest])
    # A pane that is another by now is new from its beginning, and so is one that was cleared.
    start = state["first"][1] if state["first"] and state["first"][0] == place[0] else 0
    content = "\n".join(lines[start:] if start <= place[1] else lines).strip()
    if watch.word == "grows":
        return Verdict(met=bool(content), said="it has grown" if content else "nothing was added"), state
    if watch.word == JUDGED:
        return judged(watch, state, around, content[-MOST_JUDGED:])
    met = has_wanted(content.encode(), watch)
    return Verdict(met=met, said="what was added has that" if met else "nothing added has that"), state


def first_picture(watch: Watch) -> str | None:
    """What a screen or window looks like now; an error if there is no such display."""
    try:
        return _picture(watch)[0]
    except OSError as error:
        hint = "Name a display that is there, as DISPLAY does: screen::0."
        why = f"{watch.target} cannot be seen: {error_text(error)}."
        raise InvalidInput("invalid_argument", why, hint) from None


def _picture(watch: Watch) -> tuple[str | None, Any]:
    """What tells one picture of a screen or window from another, and the picture; None if there is none."""
    display, _, title = watch.value.partition("/")
    picture = screens.grabbed(display, title if watch.kind == "window" else None)
    if picture is None:
        return None, None
    whole = f"{picture.size}".encode() + picture.tobytes()
    return blake2b(whole, digest_size=16).hexdigest(), picture


def look_at_screen(watch: Watch, state: State, around: Surroundings) -> tuple[Verdict, State]:
    """Look at a screen or a window."""
    try:
        seen, picture = _picture(watch)
    except OSError as error:
        return Verdict(met=False, said=f"it cannot be seen: {error_text(error)}"), state
    there = "it is there" if seen else "it is not there"
    if watch.word in ("exists", "gone"):
        return Verdict(met=bool(seen) == (watch.word == "exists"), said=there), state
    if watch.word == "changed":
        changed = seen != state["first"]
        return Verdict(met=changed, said="it has changed" if changed else "it has not changed"), state
    if watch.word.startswith("stable"):
        return look_whether_stable(watch, state, around, seen)
    if picture is None:
        return Verdict(met=False, said=there), state
    return judged(watch, state, around, screens.as_png(picture))
