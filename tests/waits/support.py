"""What the tests of waits share: looks at one target, and how the waits of a task ended."""

from __future__ import annotations

from ringbolt.model.capabilities import POWERS
from ringbolt.system.gate import Gate
from ringbolt.waits import CheckContext, begin, check, read_watch


def ends(memory, task):
    """The events with which the waits of a task ended."""
    return [event for event in memory.events(task) if event.type == "wait.ended"]


# Everything but addresses that are not public.
OPEN_GATE = Gate(powers=tuple(POWERS), folders=("/",))


def context(*, private=None, **more):
    """CheckContext with an open gate, in which no time has passed."""
    gate = more.pop("gate", OPEN_GATE)
    if private is not None:
        gate = gate.replace(private=private)
    return CheckContext(**{"now": 0.0, "waited": 0.0, "status_of": lambda name: None, "gate": gate, **more})


class Watched:
    """A target as a wait has it: the state goes from one look to the next."""

    def __init__(self, target, until=None, **more):
        self.watch = read_watch(target, until)
        self.state = begin(self.watch, more.get("gate", OPEN_GATE))
        self.more = more

    def check(self, **more):
        verdict, self.state = check(self.watch, self.state, context(**{**self.more, **more}))
        return verdict

    def met(self, **more):
        return self.check(**more).met
