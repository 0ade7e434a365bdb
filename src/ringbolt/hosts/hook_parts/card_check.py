"""Whether a card has something about a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .calls import FILE_FIELDS, command_line, first_text, may_act_outside, separated
from .plain_json import is_list, parse
from .system_calls import read_small

MOST_CONTENT = 40_000


def card_has(cards: str, session: str, tool: str, tool_input: Mapping[str, Any], heads: list[str]) -> bool:
    """Whether a call may be meant by a session's card, or by the card of its repository."""
    card = parse(read_small(f"{cards}/{session}"))
    if card is None:
        return False
    if card.get("stale") is True or card_means(card, tool, tool_input, heads):
        return True
    shared = card.get("shared")
    if not isinstance(shared, str) or not shared.isalnum():
        return False
    common = parse(read_small(f"{cards}/{shared}"))
    return common is not None and card_means(common, tool, tool_input, heads)


def card_means(card: Mapping[str, Any], tool: str, tool_input: Mapping[str, Any], heads: list[str]) -> bool:
    """Whether a card has a program of a call, or words that are all in it."""
    known, hints = card.get("heads"), card.get("hints")
    if is_list(known) and any(head in known for head in heads):
        return True
    done = card.get("done")
    if is_list(done) and any(head in done for head in heads) and may_act_outside(tool, tool_input):
        return True
    if not is_list(hints) or not hints:
        return False
    texts = call_texts(tool, tool_input)
    for hint in hints:
        if not is_list(hint) or len(hint) < 2 or not all(isinstance(word, str) for word in hint):
            continue
        text = texts.get(hint[0])
        if text and all(word in text for word in hint[1:]):
            return True
    return False


def call_texts(tool: str, tool_input: Mapping[str, Any]) -> dict[str, str]:
    """What hints are looked for in: the command (`c`), the file to be changed (`p`), everything (`a`)."""
    command = "\n".join(separated(command_line(tool_input))).replace("\\", "").lower()
    path = first_text(tool_input, FILE_FIELDS).lower()
    values = [value[:MOST_CONTENT] for value in tool_input.values() if isinstance(value, str)]
    every = " ".join([tool, *values])[:MOST_CONTENT].lower()
    if "__" in tool:  # a tool of an MCP server
        command = every
    if "patch" in tool.lower():
        command, path = "", every
    return {"c": command, "p": path, "a": f"{command} {every}"}
