# pyright: reportPrivateUsage=false
"""What an agent and its user said before a cut, as somebody other than our rules understood it.

What the rules infer from the narration must not be graded by the rules themselves. The truth comes from a
person, who writes it to a file, or from the configured model, which reads the narration and must quote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...memory import TaskMemory
from ...model.errors import InvalidInput
from ...model.types import Event
from ...packet.tokens import estimate
from ...system.files import read_bounded
from .row_match import RowText

KINDS = ("decision", "dead end", "value", "constraint", "blocker", "question", "fact", "next")
# The entries of a model that are such things; one of the type `context` says in its data which kind it is.
_KIND_OF_ENTRY = {
    "decision": "decision",
    "exclusion": "dead end",
    "variable": "value",
    "question": "question",
    "discovery": "fact",
}
_MOST_BYTES = 1 << 20
_CHUNK_TOKENS = 1500  # a small model has a context of 4,096 tokens


class Narrated(NamedTuple):
    """One thing that was said, and the event with it, if that is known."""

    kind: str
    text: str
    seq: int | None = None


def read_truth(path: str) -> list[Narrated]:
    """Read a file that a person wrote: a line `KIND: TEXT` for each thing that was said, `#` for comments.

    Raises InvalidInput for a line of another form, because what is not read cannot be missed.
    """
    try:
        text = read_bounded(path, _MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            "invalid_argument", f"{path} cannot be read: {error}.", "Check the path."
        ) from None
    found: list[Narrated] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        kind, _, text = line.partition(":")
        if kind.strip().lower() not in KINDS or not text.strip():
            raise InvalidInput(
                "invalid_argument",
                f"Line {number} of {path} is not `KIND: TEXT`.",
                f"Kinds are {', '.join(KINDS)}.",
            )
        found.append(Narrated(kind.strip().lower(), text.strip()))
    return found


def truth_of_model(memory: TaskMemory, task: str, narration: Sequence[Event]) -> list[Narrated]:
    """What the configured model finds in the narration. Only what it quotes from the events it cites counts.

    Raises InvalidInput if no model is set, or if none of its answers holds anything, which is also so if it
    cannot be reached: a drill without a truth would pass. The usage is recorded in the task's ledger.
    """
    if not memory.settings.model_local_url:
        raise InvalidInput(
            "invalid_argument",
            "No model is set.",
            "Set model_local_url, or write what was said to a file and pass it with --truth.",
        )
    found: dict[tuple[str, str], Narrated] = {}
    for chunk in _chunks(narration):
        texts = {event.seq: RowText(event.text or "") for event in chunk}
        for entry in memory._found_by_model(task, chunk) or ():
            quoted = [seq for seq in entry.seqs if seq in texts and texts[seq].holds(entry.summary)]
            kind = _KIND_OF_ENTRY.get(entry.type) or str(entry.data.get("kind") or "")
            if quoted and kind in KINDS:
                found.setdefault((kind, entry.summary), Narrated(kind, entry.summary, quoted[0]))
    if not found:
        raise InvalidInput(
            "invalid_argument",
            f"The model quoted nothing from the {len(narration)} messages before the cut.",
            "Check that it answers (`ringbolt doctor`), or write what was said to a file and pass --truth.",
        )
    return list(found.values())


def _chunks(events: Sequence[Event]) -> Iterator[list[Event]]:
    chunk: list[Event] = []
    room = _CHUNK_TOKENS
    for event in events:
        cost = estimate(event.text or "")
        if chunk and cost > room:
            yield chunk
            chunk, room = [], _CHUNK_TOKENS
        chunk.append(event)
        room -= cost
    if chunk:
        yield chunk
