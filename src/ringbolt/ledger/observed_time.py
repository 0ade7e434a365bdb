"""How old things are, even if the system clock was set meanwhile.

Each run of the upkeep reads two clocks: the wall clock and the monotonic clock since boot. Where they
diverge, the wall clock was set by the difference, and everything written before is that much younger than it
seems. The clock of a new boot is trusted after it has run for an hour without a jump; until then, time counts
only up to what an earlier observation has seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import validate
from ..model.types import Value

KIND = "upkeep"  # the distilled kind that stores the observations
KEEPS = 3600.0  # seconds without a jump after which a clock is trusted
# How far the clocks may diverge without a jump: leap seconds, and slewing per second.
APART, SLEW = 60.0, 0.001
MOST_BOOTS, MOST_JUMPS = 8, 16


class Look(Value, frozen=True, kw_only=True):
    """One observation: the boot id, both clocks, and the position of the newest event."""

    boot: str
    steady: float
    wall: float
    position: int


class Ages(Value, frozen=True, kw_only=True):
    """The ages of things, as far as they can be known.

    `as_of`: the moment up to which time counts, or None. `jumps` are (seen, found, seconds): how far the
    clock was set, at some point after the event at position `seen` and before the one at `found`.
    """

    as_of: float | None
    jumps: tuple[tuple[int, int, float], ...] = ()
    sure: bool = True
    jumped: float | None = None

    def age(self, moment: str, place: int) -> float:
        """Seconds since a moment that was written at a position; negative if it is not known."""
        if self.as_of is None:
            return -1.0
        return self.as_of - validate.seconds_of(moment) - self.set_since(place)

    def before(self, seconds: float) -> tuple[str, str] | None:
        """Two times: nothing written after the first can be that old, and everything written before the
        second is. None if nothing is that old."""
        if self.as_of is None:
            return None
        places = [place + more for jump in self.jumps for place in jump[:2] for more in (0, 1)]
        since = [self.set_since(place) for place in (0, *places)]
        moments = [max(self.as_of - seconds - one, 0.0) for one in (min(since), max(since))]
        return validate.stamp(moments[0]), validate.stamp(moments[1])

    def set_since(self, place: int) -> float:
        """How far the clock was set forward after a position; if in doubt, so that things are younger."""
        return sum(by for seen, found, by in self.jumps if place <= (found if by > 0 else seen))


def observe(state: Mapping[str, Any], look: Look, trust: bool = False) -> tuple[dict[str, Any], Ages]:
    """Add an observation to the stored state; returns the new state and the ages that follow.

    `trust`: the caller vouches for the clock.
    """
    known: dict[str, Any] = dict(state.get("boots", {}))
    mark: dict[str, Any] | None = known.pop(look.boot, None)
    jumped = None
    earlier = max(known.values(), key=lambda other: other["wall"], default=None)
    if mark is None:
        jumps = list(earlier["jumps"]) if earlier else []
        if (
            earlier and (apart := look.wall - earlier["wall"]) < -APART
        ):  # it was set back, by at least that much
            jumps = _few([*jumps, [earlier["position"], look.position, apart]])
        mark = {"since": look.steady, "sure": False, "jumps": jumps}
    else:
        passed = max(look.steady - mark["at"], 0.0)
        apart = look.wall - mark["wall"] - passed
        if abs(apart) > APART + SLEW * passed:
            jumped = apart
            jumps = _few([*mark["jumps"], [mark["position"], look.position, apart]])
            mark = {**mark, "since": look.steady, "jumps": jumps}
        elif look.steady - mark["since"] >= KEEPS:
            mark = {**mark, "sure": True}
    mark = {**mark, "sure": mark["sure"] or trust}
    mark.update(at=look.steady, wall=look.wall, position=look.position)
    as_of = look.wall if mark["sure"] else min(earlier["wall"], look.wall) if earlier else None
    for name in sorted(known, key=lambda name: known[name]["wall"])[: 1 - MOST_BOOTS]:
        del known[name]
    jumps = tuple((int(seen), int(found), float(by)) for seen, found, by in mark["jumps"])
    boots = {**known, look.boot: mark}
    return {"boots": boots}, Ages(as_of=as_of, jumps=jumps, sure=mark["sure"], jumped=jumped)


def _few(jumps: list[Any]) -> list[Any]:
    """Limit the number of jumps: the oldest two are merged so that nothing looks older than it is."""
    while len(jumps) > MOST_JUMPS:
        (seen, _, one), (_, found, other), *rest = jumps
        jumps = [[seen, found, one + other], *rest]
    return jumps
