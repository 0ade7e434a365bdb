"""What the tests of waits share: looks at one target, and how the waits of a task ended."""

from __future__ import annotations

from ringbolt.waits import CheckContext, begin, check, read_watch


def ends(memory, task):
    """The events with which the waits of a task ended."""
    return [event for event in memory.events(task) if event.type == "wait.ended"]


def context(**more):
    """CheckContext in which nothing is allowed and no time has passed."""
    return CheckContext(**{"now": 0.0, "waited": 0.0, "status_of": lambda name: None, **more})


class Watched:
    """A target as a wait has it: the state goes from one look to the next."""

    def __init__(self, target, until=None, **more):
        self.watch = read_watch(target, until)
        self.state = begin(self.watch)
        self.more = more

    def check(self, **more):
        verdict, self.state = check(self.watch, self.state, context(**{**self.more, **more}))
        return verdict

    def met(self, **more):
        return self.check(**more).met
