"""What a look finds, what it may need to know, and how it judges: shared by the looks at every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..model.types import Value
from ..model.validate import blake2b
from . import files
from .conditions import Watch, pattern, seconds

State = dict[str, Any]

Judge = Callable[[str, str | bytes], tuple[bool | None, str]]


JUDGE_SECONDS = 5.0  # between two questions to a model, at least
MOST_JUDGED = 6000  # bytes that a model is shown


def anything(path: str) -> bool:
    """Every file may be looked into."""
    return True


class Verdict(Value, frozen=True, kw_only=True):
    """What a look has found: whether it is as wanted, in a few words, and whether it never can be."""

    met: bool
    said: str
    failed: bool = False


class Surroundings(Value, frozen=True, kw_only=True):
    """What a look may need to know: the time, how long it has waited, what is allowed, and other tasks."""

    now: float
    waited: float
    status_of: Callable[[str], str | None]
    folder: str | None = None
    private: bool = False
    commands: bool = False
    decided: str | None = None
    readable: Callable[[str], bool] = anything
    judge: Judge | None = None


def has_wanted(content: bytes, watch: Watch) -> bool:
    """Whether a content has what is wanted."""
    if watch.word == "matches ":
        return bool(pattern(watch.argument).search(content))
    return watch.argument.encode() in content


def judged(watch: Watch, state: State, around: Surroundings, seen: str | bytes) -> tuple[Verdict, State]:
    """What a model says of what is seen; it is asked about what it has not seen yet, and not too often."""
    raw = seen.encode("utf-8", "replace") if isinstance(seen, str) else seen
    digest = blake2b(raw, digest_size=16).hexdigest()
    said = state.get("opinion") or "no model has judged it yet"
    soon = around.waited - state.get("asked", -JUDGE_SECONDS) < JUDGE_SECONDS
    if digest == state.get("judged") or soon:
        return Verdict(met=False, said=said), state
    if around.judge is None:
        return Verdict(met=False, said="no model is set that could judge it"), state
    met, said = around.judge(watch.argument, seen)
    state = {**state, "asked": around.waited, "opinion": said}
    return Verdict(met=bool(met), said=said), state if met is None else {**state, "judged": digest}


def shown_to_model(content: bytes) -> str:
    """The end of a content, for a model."""
    return content[-MOST_JUDGED:].decode("utf-8", "replace")


def look_whether_stable(watch: Watch, state: State, around: Surroundings, seen: Any) -> tuple[Verdict, State]:
    """Whether what is seen has been the same for long enough."""
    if seen is None:
        return Verdict(met=False, said="it is not there"), {**state, "seen": None}
    if state.get("seen") != seen:
        return Verdict(met=False, said="it changes"), {**state, "seen": seen, "since": around.waited}
    wanted = seconds(watch.argument) if watch.argument else files.STABLE_SECONDS
    met = around.waited - state["since"] >= (wanted or 0)
    return Verdict(met=met, said="it is stable" if met else "it changes"), state
