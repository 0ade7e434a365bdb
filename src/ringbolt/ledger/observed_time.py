"""How old something is, whatever the clock was set to meanwhile.

Each run of the upkeep looks at two clocks: the one that people set, and the one that counts since the machine
was started. Where they went apart, the first was set, by so much: what was written before that is so much
younger than it seems. A clock that was not seen before (the first run, a machine that was started anew) is
believed when it has kept for an hour; until then, time counts only as far as an earlier look has seen it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import validate
from ..model.types import Value

KIND = "upkeep"  # of what is kept from one look to the next
KEEPS = 3600.0  # seconds that a clock must keep to be believed
# What the two clocks may go apart without one being set: a leap, and what is slewed.
APART, SLEW = 60.0, 0.001
MOST_BOOTS, MOST_JUMPS = 8, 16


class Look(Value, frozen=True, kw_only=True):
    """What one run sees: which start of which machine, both clocks, and the place of the newest event."""

    boot: str
    steady: float
    wall: float
    position: int


class Ages(Value, frozen=True, kw_only=True):
    """How long ago things were, as far as that can be known.

    `as_of`: the moment up to which time counts; None: none does. `jumps`: how far the clock was set and when:
    what was written up to the place `seen` was there before that for sure, what came after `found` was not.
    """

    as_of: float | None
    jumps: tuple[tuple[int, int, float], ...] = ()
    sure: bool = True
    jumped: float | None = None

    def age(self, moment: str, place: int) -> float:
        """Seconds since a moment that was written down at a place; less than nothing: it is not known."""
        if self.as_of is None:
            return -1.0
        return self.as_of - validate.seconds_of(moment) - self.set_since(place)

    def before(self, seconds: float) -> tuple[str, str] | None:
        """Two times: only what was written down before the first may be that old, and all that was written
        before the second is. None: nothing is."""
        if self.as_of is None:
            return None
        places = [place + more for jump in self.jumps for place in jump[:2] for more in (0, 1)]
        since = [self.set_since(place) for place in (0, *places)]
        moments = [max(self.as_of - seconds - one, 0.0) for one in (min(since), max(since))]
        return validate.stamp(moments[0]), validate.stamp(moments[1])

    def set_since(self, place: int) -> float:
        """How far the clock was set forward since; in doubt, as far as makes things young."""
        return sum(by for seen, found, by in self.jumps if place <= (found if by > 0 else seen))


def observe(state: Mapping[str, Any], look: Look, trust: bool = False) -> tuple[dict[str, Any], Ages]:
    """What a look adds to what earlier ones saw, and how old things are by it.

    `trust`: somebody says that the clock is right.
    """
    known: dict[str, Any] = dict(state.get("boots", {}))
    mark: dict[str, Any] | None = known.pop(look.boot, None)
    jumped = None
    earlier = max(known.values(), key=lambda other: other["wall"], default=None)
    if mark is None:
        jumps = list(earlier["jumps"]) if earlier else []
        if earlier and (apart := look.wall - earlier["wall"]) < -APART:  # it was set back, by that or more
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
    """Not too many jumps: the oldest two become one, that makes nothing older than it is."""
    while len(jumps) > MOST_JUMPS:
        (seen, _, one), (_, found, other), *rest = jumps
        jumps = [[seen, found, one + other], *rest]
    return jumps
