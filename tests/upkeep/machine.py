"""A machine for tests: the clock that people set, and the one that counts since the machine was started."""

from __future__ import annotations

HOUR, DAY = 3600.0, 86_400.0


class Machine:
    """Both clocks go on together, unless one is set."""

    def __init__(self, clock) -> None:
        self.clock = clock
        self.boot = "first"
        self.steady = 1000.0

    def __call__(self) -> tuple[str, float]:
        return self.boot, self.steady

    def passes(self, seconds: float) -> None:
        """Time goes by."""
        self.steady += seconds
        self.clock.forward(seconds)

    def set_clock(self, seconds: float) -> None:
        """Someone sets the clock."""
        self.clock.forward(seconds)

    def restarts(self, seconds: float = 60.0) -> None:
        """The machine is off for a while, and starts anew."""
        self.clock.forward(seconds)
        self.boot += "+"
        self.steady = 10.0

    def known_to(self, memory):
        """Let a memory's upkeep see that the clock keeps; gives it back."""
        memory._machine = self
        memory.upkeep_run()
        self.passes(2 * HOUR)
        report = memory.upkeep_run()
        assert report.clock_sure
        return memory
