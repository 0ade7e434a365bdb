"""What the rows of a packet are worth, in tokens: how much room a row deserves when room is scarce.

Measured: `bench/packet_worth.py` asks of every row that the recorded sessions could have shown whether it
told something that was needed afterwards, and prints the mean by kind. The figures here are those of the
half of the sessions that was tuned on, rounded, times `SCALE`. What the recorded sessions cannot tell is
judged: nobody there repeats a side effect, so they say nothing about those that are done.
"""

from __future__ import annotations

from ..model.lazy_regex import lazy_regex
from ..model.types import Entry, Item
from .budget import MUSTS, Worth

# Tuned on recorded sessions.
_TUNED = {
    "commit": 100.0,
    "decision": 108.0,
    "rejected": 110.0,
    "worked": 70.0,  # an attempt that failed, and what worked instead
    "settled: same": 58.0,  # an error after which the same call worked
    "settled: left": 54.0,  # one that nobody came back to
    "settled: edited": 28.0,
    "step: done": 31.0,
    "step: open": 60.0,
    "step: dropped": 3.0,
    "branch": 10.0,
    "check": 10.0,
    "not committed": 8.0,
    "file": 40.0,
    "other file": 26.0,
}
# Judged.
_JUDGED = {
    "request": 120.0,  # more of the sentences of the request
    "newest": 70.0,  # and of what the user said last
    "merge": 14.0,  # a commit that only merges
    "ruled out": 20.0,  # an approach that was only said not to work
    "error": 35.0,
    "did": 36.0,
    "did not": 16.0,
    "instruction": 12.0,
    "run": 8.0,
    "last words": 12.0,
    "value": 20.0,
    "surely decided": 10.0,  # inferred, with a high confidence
    "perhaps decided": 5.0,
    "step: said": 22.0,  # one that was only announced
    "step: said and done": 9.0,
}
STATED = 0.8  # the confidence from which an inferred entry counts like one that was recorded
UNDERSTOOD = 80  # characters of an instruction that can be understood alone; a "yes" cannot
REASON = 0.6  # of a decision's worth, for its reason
NEXT_STEPS = 12
FADES = 25  # rows of one kind after which one more is worth half as much


_MERGES = lazy_regex(r": Merge (?:remote-tracking )?(?:branch|pull request|tag) ")


def worth(kind: str, age: float = 0) -> Worth:
    """What a row of a kind is worth; `age` counts the newer ones of that kind."""
    return Worth((_TUNED.get(kind) or _JUDGED[kind]) / (1 + age / FADES))


def of_entry(entry: Entry, age: int) -> Worth:
    """What an entry is worth among those of its type."""
    data = entry.data
    if data.get("rejected"):
        kind = "rejected"
    elif entry.type == "decision":
        kind = _decision(entry)
    elif entry.type == "variable":
        kind = "value" if is_stated(entry) else "perhaps decided"
    elif entry.type == "user_instruction":
        return Worth(worth("instruction", age) * min(1, len(entry.summary) / UNDERSTOOD))
    elif entry.type == "exclusion":
        kind = "worked" if data.get("worked") else "ruled out"
    elif entry.status == "resolved":
        kind = _settled(str(data.get("resolution") or ""))
    elif entry.type == "error":
        kind = "error"
    else:
        kind = "merge" if _MERGES.search(entry.summary) else "commit"
    return worth(kind, age)


def _decision(entry: Entry) -> str:
    if not entry.data.get("inferred"):
        return "decision"
    return "surely decided" if is_stated(entry) else "perhaps decided"


def _settled(how: str) -> str:
    if how.startswith("edited "):
        return "settled: edited"
    return "settled: same" if how == "the same worked later" else "settled: left"


def is_stated(entry: Entry) -> bool:
    """Whether an entry was recorded, or read from a place that states such things: a heading, a table, a
    line like `Phase: 3`."""
    return entry.data.get("confidence", 1) >= STATED or entry.data.get("kind") == "state"


def of_step(item: Item, said: bool, distance: int) -> float:
    """What a step of the plan is worth, `distance` steps from the current one; `said`: only announced.

    The next open ones of a plan that was recorded must be there.
    """
    over = item.status in ("completed", "skipped", "cancelled")
    if item.dropped_in is not None:
        kind = "step: dropped"
    elif said:
        kind = "step: said and done" if over else "step: said"
    else:
        if not over and abs(distance) <= NEXT_STEPS:
            return MUSTS - 0.1 + abs(distance) / 1000
        kind = "step: done" if over else "step: open"
    return worth(kind, abs(distance) / 3)
