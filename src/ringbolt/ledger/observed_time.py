"""The age of events, even if the system clock was set in the meantime.

Each upkeep run reads two clocks: the wall clock and the monotonic clock since boot. Where they diverge, the
wall clock was set by the difference, and everything written before is that much younger than it seems. The
clock of a new boot is trusted at once if the kernel keeps it synchronised, otherwise after it has run for a
minute without a jump; until then, time counts only up to the last earlier observation. A minute is enough:
what upkeep does by a wrong clock is undone by the next write about the task, or by `task_undo`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import validate
from ..model.types import Value

KIND = "upkeep"  # the distilled kind that stores the observations
TRUSTED_AFTER = 60.0  # seconds without a jump after which a clock is trusted
# How far the clocks may diverge without a jump: leap seconds, and slewing per second.
APART, SLEW = 60.0, 0.001
MOST_BOOTS, MOST_JUMPS = 8, 16


class Observation(Value, frozen=True, kw_only=True):
    """One observation: the boot id, both clocks, the position of the newest event, and whether the kernel
    says that the wall clock is synchronised."""

    boot: str
    steady: float
    wall: float
    position: int
    synchronised: bool = False


class Ages(Value, frozen=True, kw_only=True):
    """The ages of events, as far as they can be known.

    `as_of`: the moment up to which time counts, or None. Each jump is (before, after, seconds): how far the
    clock was set, at some point between the events at these two positions.
    """

    as_of: float | None
    jumps: tuple[tuple[int, int, float], ...] = ()
    sure: bool = True
    jumped: float | None = None

    def age(self, moment: str, place: int) -> float:
        """Seconds since a moment that was written at a position; negative if unknown."""
        if self.as_of is None:
            return -1.0
        return self.as_of - validate.seconds_of(moment) - self.set_since(place)

    def before(self, seconds: float) -> tuple[str, str] | None:
        """Two times: events written after the first cannot be that old, events written before the second
        are. None if nothing is that old."""
        if self.as_of is None:
            return None
        places = [place + more for jump in self.jumps for place in jump[:2] for more in (0, 1)]
        since = [self.set_since(place) for place in (0, *places)]
        moments = [max(self.as_of - seconds - shift, 0.0) for shift in (min(since), max(since))]
        return validate.stamp(moments[0]), validate.stamp(moments[1])

    def set_since(self, place: int) -> float:
        """How far the clock was set forward after a position; in doubt, the value that makes events
        younger."""
        return sum(by for before, after, by in self.jumps if place <= (after if by > 0 else before))


def observe(state: Mapping[str, Any], new: Observation, trust: bool = False) -> tuple[dict[str, Any], Ages]:
    """Add an observation to the stored state; returns the new state and the ages that follow from it.

    `trust`: the caller knows that the clock is right.
    """
    known: dict[str, Any] = dict(state.get("boots", {}))
    mark: dict[str, Any] | None = known.pop(new.boot, None)
    jumped = None
    earlier = max(known.values(), key=lambda other: other["wall"], default=None)
    if mark is None:
        jumps = list(earlier["jumps"]) if earlier else []
        if earlier and (apart := new.wall - earlier["wall"]) < -APART:  # set back by at least that much
            jumps = _limited([*jumps, [earlier["position"], new.position, apart]])
        mark = {"since": new.steady, "sure": False, "jumps": jumps}
    else:
        passed = max(new.steady - mark["at"], 0.0)
        apart = new.wall - mark["wall"] - passed
        if abs(apart) > APART + SLEW * passed:
            jumped = apart
            jumps = _limited([*mark["jumps"], [mark["position"], new.position, apart]])
            mark = {**mark, "since": new.steady, "jumps": jumps}
        elif new.steady - mark["since"] >= TRUSTED_AFTER:
            mark = {**mark, "sure": True}
    mark = {**mark, "sure": mark["sure"] or trust or new.synchronised}
    mark.update(at=new.steady, wall=new.wall, position=new.position)
    as_of = new.wall if mark["sure"] else min(earlier["wall"], new.wall) if earlier else None
    for name in sorted(known, key=lambda name: known[name]["wall"])[: 1 - MOST_BOOTS]:
        del known[name]
    jumps = tuple((int(before), int(after), float(by)) for before, after, by in mark["jumps"])
    boots = {**known, new.boot: mark}
    return {"boots": boots}, Ages(as_of=as_of, jumps=jumps, sure=mark["sure"], jumped=jumped)


def _limited(jumps: list[Any]) -> list[Any]:
    """Limit the number of jumps: merge the oldest two, so that nothing looks older than it is."""
    while len(jumps) > MOST_JUMPS:
        (before, _, first), (_, after, second), *rest = jumps
        jumps = [[before, after, first + second], *rest]
    return jumps
