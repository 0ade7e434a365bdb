"""A small extractor for the tests: it finds what is marked, in what agents say and tools answer."""

from __future__ import annotations

from ringbolt.extract import extractor


def Found(**fields):
    usual = {"data": {}, "key": None, "seqs": (), "channel": "agent", "confidence": 1.0}
    return extractor.Found(**{**usual, **fields})


class StandIn:
    """Reads `ERROR: x` and a later `FIXED: y` or `INSTEAD: y`, `DECIDED: x because y`, `SET: name=value`,
    `NOTE: x`, `RULE: x`, `ASK: x`."""

    def __init__(self, state=None) -> None:
        self._failed = list((state or {}).get("failed", []))
        self._asked = list((state or {}).get("asked", []))

    def state(self):
        return {"failed": self._failed, "asked": self._asked}

    def open(self):
        return [_error(*one) for one in self._failed] + [
            Found(type="question", summary=text, seqs=(seq,)) for text, seq in self._asked
        ]

    def observe(self, event):
        parts = (event.text, event.data.get("output"), event.data.get("error"))
        self._asked = []
        return [
            one
            for line in "\n".join(str(part) for part in parts if part).splitlines()
            for one in self._read(event, *line.strip().partition(": ")[::2])
        ]

    def _read(self, event, word, rest):
        given = {"seqs": (event.seq,), "channel": event.origin.channel}
        if word == "ERROR":
            self._failed.append([rest, event.seq, event.origin.channel])
        elif word in ("FIXED", "INSTEAD") and self._failed:
            error = _error(*self._failed.pop())
            seqs = (*error.seqs, event.seq)
            if word == "INSTEAD":
                yield error.replace(type="exclusion", data={"worked": rest}, seqs=seqs)
            else:
                yield error.replace(data={"resolved": True, "fixed_by": rest}, seqs=seqs)
        elif word == "DECIDED":
            choice, _, why = rest.partition(" because ")
            yield Found(type="decision", summary=choice, data={"choice": choice, "reasoning": why}, **given)
        elif word == "SET":
            name, _, value = rest.partition("=")
            yield Found(type="variable", summary=rest, key=name, data={"value": value}, **given)
        elif word == "ASK":
            self._asked = [[rest, event.seq]]
        elif word in ("NOTE", "RULE", "BAD"):
            kind = {"NOTE": "discovery", "RULE": "user_instruction", "BAD": "no such type"}[word]
            yield Found(type=kind, summary=rest, data={"odd": {"kept": True}}, **given)


def _error(text, seq, channel):
    return Found(
        type="error", summary=text, detail="seen in a log", key=f"e {text}", seqs=(seq,), channel=channel
    )
