"""What the rows of a packet are worth, in tokens: how much room a row deserves when room is scarce.

`bench/packet_worth.py` asks of every row that the recorded sessions could have shown whether it told
something that was true and needed afterwards, and prints the mean by kind. From these figures, on one half of
the sessions, `_TUNED` was set and then tuned. `_JUDGED` is what those sessions cannot tell: nobody there
repeats a side effect or asks what the user said an hour ago, so no figure rewards the rows that prevent it.
"""

from __future__ import annotations

from ..ledger.inferred_plan import EARLIER, FROM_PROSE
from ..model.lazy_regex import lazy_regex
from ..model.types import Entry, Step
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
    "newest": 130.0,  # and of what the user said last
    "merge": 14.0,  # a commit that only merges
    "ruled out": 20.0,  # an approach that was only said not to work
    "error": 35.0,
    "did": 46.0,
    "did not": 16.0,
    "instruction": 24.0,
    "run": 11.0,
    "last words": 20.0,
    "recorded": 90.0,  # a value or a dead end that somebody took the trouble to record
    "value": 20.0,
    "surely decided": 36.0,  # inferred, with a high confidence
    "perhaps decided": 15.0,
    "step: said": 22.0,  # one that was only announced
    "step: said and done": 9.0,
    "step: earlier": 6.0,
}
STATED = 0.8  # the confidence from which an inferred entry counts like one that was recorded
UNDERSTOOD = 80  # characters of an instruction that can be understood alone; a "yes" cannot
REASON = 0.8  # of a decision's worth, for its reason
ANSWERED = 0.4  # of an instruction's worth, for a question that the work went on from
NEXT_STEPS = 12
SOON_OLD = 8  # how much faster a decision fades that was only spoken or written in a summary
FADES = 25  # rows of one kind after which one more is worth half as much


_MERGES = lazy_regex(r": Merge (?:remote-tracking )?(?:branch|pull request|tag) ")


def worth(kind: str, age: float = 0) -> Worth:
    """What a row of a kind is worth; `age` counts the newer ones of that kind."""
    return Worth((_TUNED.get(kind) or _JUDGED[kind]) / (1 + age / FADES))


def of_entry(entry: Entry, age: int) -> Worth:
    """What an entry is worth; `age` counts the newer ones of its type."""
    found = worth(kind := kind_of_entry(entry), age * (SOON_OLD if kind.endswith("decided") else 1))
    if entry.type == "user_instruction":
        answered = ANSWERED if age and entry.summary.rstrip().endswith("?") else 1.0
        return Worth(found * answered * min(1, len(entry.summary) / UNDERSTOOD))
    return found


def kind_of_entry(entry: Entry) -> str:
    """The kind of an entry in the tables above."""
    data = entry.data
    if data.get("rejected"):
        return "rejected"
    if entry.type == "decision":
        if not data.get("inferred"):
            return "decision"
        return "surely decided" if is_stated(entry) else "perhaps decided"
    if entry.type in ("variable", "exclusion") and not data.get("inferred"):
        return "recorded"
    if entry.type == "variable":
        return "value" if is_stated(entry) else "perhaps decided"
    if entry.type == "user_instruction":
        return "instruction"
    if entry.type == "exclusion":
        return "worked" if data.get("worked") else "ruled out"
    if entry.type == "error":
        return _settled(str(data.get("resolution") or "")) if entry.status == "resolved" else "error"
    return "merge" if _MERGES.search(entry.summary) else "commit"


def _settled(how: str) -> str:
    if how.startswith("edited "):
        return "settled: edited"
    return "settled: same" if how == "the same worked later" else "settled: left"


def is_stated(entry: Entry) -> bool:
    """Whether an entry was recorded, or read from a place that states such things: a heading, a table, a
    line like `Phase: 3`."""
    return entry.data.get("confidence", 1) >= STATED or entry.data.get("kind") == "state"


def of_step(item: Step, distance: int) -> float:
    """What a step of the plan is worth, `distance` steps from the current one.

    The next open ones of a plan that was recorded must be there.
    """
    kind = kind_of_step(item)
    if kind == "step: open" and abs(distance) <= NEXT_STEPS:
        return MUSTS - 0.1 + abs(distance) / 1000
    return worth(kind, abs(distance) / 3)


def kind_of_step(item: Step) -> str:
    """The kind of a step in the tables above."""
    over = item.status in ("completed", "skipped", "cancelled")
    if item.dropped_in is not None:
        return "step: dropped"
    if EARLIER in item.detail:
        return "step: earlier"
    if FROM_PROSE in item.detail:
        return "step: said and done" if over else "step: said"
    return "step: done" if over else "step: open"
