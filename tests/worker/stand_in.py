"""A small extractor for the tests: it finds what is marked, in what agents say and tools answer."""

from __future__ import annotations

from holdfast.types import Record


class Found(Record):
    type: str
    summary: str
    detail: str | None = None
    data: dict = {}  # noqa: RUF012
    key: str | None = None
    seq: tuple[int, ...] = ()
    channel: str = "agent"
    weight: float = 1.0


def texts(event) -> str:
    parts = (event.text, event.data.get("output"), event.data.get("error"))
    return "\n".join(str(part) for part in parts if part)


def extract(events) -> list[Found]:
    """`ERROR: x` and a later `FIXED: y`, `DECIDED: x because y`, `SET: name=value`, `NOTE: x`, `RULE: x`."""
    found: list[Found] = []
    for event in events:
        for line in texts(event).splitlines():
            word, _, rest = line.strip().partition(": ")
            given = {"seq": (event.seq,), "channel": event.origin.channel}
            if word == "ERROR":
                found.append(Found(type="error", summary=rest, detail="seen in a log", **given))
            elif word == "FIXED":
                last = max(n for n, one in enumerate(found) if one.type == "error")
                error = found[last]
                found[last] = error.replace(data={"fix": rest}, seq=(*error.seq, event.seq))
            elif word == "DECIDED":
                choice, _, why = rest.partition(" because ")
                found.append(
                    Found(type="decision", summary=choice, data={"choice": choice, "reasoning": why}, **given)
                )
            elif word == "SET":
                name, _, value = rest.partition("=")
                found.append(Found(type="variable", summary=rest, key=name, data={"value": value}, **given))
            elif word in ("NOTE", "RULE", "BAD"):
                kind = {"NOTE": "discovery", "RULE": "user_instruction", "BAD": "no such type"}[word]
                found.append(Found(type=kind, summary=rest, data={"odd": {"kept": True}}, **given))
    return found
