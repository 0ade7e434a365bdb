"""Edit JSON with comments in place: insert or remove a member and leave every other byte unchanged.

Removing an inserted member restores the text exactly. For that, the white space between an inserted member
and the token before it belongs to the member, and a container that was empty gets exactly one newline and its
indentation after it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...model.types import Value

_TOKEN = re.compile(
    r"""(?P<skip>[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)
      | (?P<punctuation>[{}\[\]:,])
      | (?P<scalar>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"
          |-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)""",
    re.DOTALL | re.VERBOSE,
)
_COMMENTS_ON_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/))*")
_INDENT = re.compile(r"[ \t]*")
_ONE_LINE_END = re.compile(r"\r?\n")


class NotJson(ValueError):
    """A text that is not JSON, even with comments and trailing commas; the message names the line."""

    def __init__(self, what: str, text: str, position: int) -> None:
        super().__init__(f"{what} in line {text.count(chr(10), 0, position) + 1}")


class Member:
    """One member of an object, or one element of an array."""

    __slots__ = ("comma", "key", "start", "value")

    def __init__(self, key: str | None, start: int) -> None:
        self.key = key
        self.start = start
        self.value = Node("scalar", start)
        self.comma: int | None = None  # the position of the comma after it


class Node:
    """A value and its position in the text."""

    __slots__ = ("end", "kind", "members", "start")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.end = start
        self.members: list[Member] = []

    def get(self, key: str) -> Member | None:
        """The member of an object with a name: the last, if there are several."""
        return next((member for member in reversed(self.members) if member.key == key), None)


def parse(text: str) -> Node | None:
    """Parse a text; None if it holds only comments and white space."""
    root: Node | None = None
    boxes: list[Node] = []
    state = "value"  # what comes next: value, key, colon, comma, end; with * perhaps a closing bracket
    position = 0
    while position < len(text):
        if (found := _TOKEN.match(text, position)) is None:
            raise NotJson(f"unexpected {text[position : position + 1]!r}", text, position)
        position = found.end()
        if found.lastgroup == "skip":
            continue
        piece, start = found[0], found.start()
        if state.startswith("value") and (piece in "{[" or found.lastgroup == "scalar"):
            node = Node({"{": "object", "[": "array"}.get(piece, "scalar"), start)
            node.end = position
            if not boxes:
                root = node
            elif boxes[-1].kind == "object":
                boxes[-1].members[-1].value = node
            else:
                boxes[-1].members.append(Member(None, start))
                boxes[-1].members[-1].value = node
            if node.kind == "scalar":
                state = "comma*" if boxes else "end"
            else:
                boxes.append(node)
                state = "key*" if piece == "{" else "value*"
        elif state.startswith("key") and piece[0] == '"':
            boxes[-1].members.append(Member(json.loads(piece), start))
            state = "colon"
        elif state == "colon" and piece == ":":
            state = "value"
        elif state == "comma*" and piece == ",":
            boxes[-1].members[-1].comma = start
            state = "key*" if boxes[-1].kind == "object" else "value*"
        elif state.endswith("*") and piece == ("}" if boxes[-1].kind == "object" else "]"):
            boxes.pop().end = position
            state = "comma*" if boxes else "end"
        else:
            raise NotJson(f"unexpected {piece[:20]!r}", text, start)
    if root is not None and state != "end":
        raise NotJson("the end comes too early", text, len(text))
    return root


def value_of(text: str, node: Node) -> Any:
    """A node as a Python value."""
    if node.kind == "scalar":
        return json.loads(text[node.start : node.end])
    if node.kind == "array":
        return [value_of(text, member.value) for member in node.members]
    return {member.key: value_of(text, member.value) for member in node.members}


def string_of(text: str, member: Member | None) -> str | None:
    """The value of a member if that is a string."""
    if member is None or text[member.value.start : member.value.start + 1] != '"':
        return None
    return json.loads(text[member.value.start : member.value.end])


# --- style ------------------------------------------------------------------------------------------


class Style(Value, frozen=True, kw_only=True):
    """The layout of a text."""

    line_end: str
    indent: str  # one step
    lines: bool  # whether each member has its own line
    space: str  # after a comma or colon, otherwise


def style_of(text: str, root: Node | None) -> Style:
    """The layout of a text, so that insertions look like the rest."""
    line_end = found[0] if (found := _ONE_LINE_END.search(text)) else "\n"
    inside = text[root.start : root.end] if root is not None else ""
    indent = "  "
    for member in root.members if root is not None else ():
        lead = _lead(text, member.start)
        if lead and text[: member.start].endswith(lead) and _starts_line(text, member.start):
            indent = lead
            break
    lines = root is None or not root.members or "\n" in inside
    space = "" if re.search(r'"[:,]\S', inside) else " "
    return Style(line_end=line_end, indent=indent, lines=lines, space=space)


def _lead(text: str, position: int) -> str:
    """The white space at the beginning of the line of a position."""
    found = _INDENT.match(text, text.rfind("\n", 0, position) + 1)
    return found[0] if found else ""


def _starts_line(text: str, position: int) -> bool:
    begin = text.rfind("\n", 0, position) + 1
    return begin > 0 and not text[begin:position].strip(" \t")


def render(key: str | None, value: Any, style: Style, lead: str) -> str:
    """A member as text in a style; its first line is not indented."""
    if style.lines:
        body = json.dumps(value, ensure_ascii=False, indent=style.indent)
        body = body.replace("\n", style.line_end + lead)
        colon = ": "
    else:
        body = json.dumps(value, ensure_ascii=False, separators=("," + style.space, ":" + style.space))
        colon = ":" + style.space
    return body if key is None else json.dumps(key, ensure_ascii=False) + colon + body


# --- changes ----------------------------------------------------------------------------------------


def insert(text: str, box: Node, key: str | None, value: Any, style: Style) -> str:
    """The text with one more member at the end of an object or array."""
    last = box.members[-1] if box.members else None
    if last is not None and _starts_line(text, last.start):
        lead = _lead(text, last.start)
    else:
        lead = _lead(text, box.start) + style.indent
    before = style.line_end + lead if style.lines else style.space if last is not None else ""
    piece = before + render(key, value, style, lead)
    if last is None:
        place = _after_comments(text, box.start + 1)
        if style.lines:
            piece += style.line_end + _lead(text, box.start)
        return text[:place] + piece + text[place:]
    if last.comma is not None:
        place = _after_comments(text, last.comma + 1)
        return text[:place] + piece + "," + text[place:]
    end = last.value.end
    place = _after_comments(text, end)
    return text[:end] + "," + text[end:place] + piece + text[place:]


def _after_comments(text: str, position: int) -> int:
    """The end of the comments that follow on the same line: they belong to the token before them."""
    found = _COMMENTS_ON_LINE.match(text, position)
    return found.end() if found else position


def remove(text: str, box: Node, index: int) -> str:
    """The text without one member of an object or array; comments stay."""
    member = box.members[index]
    left = _without(text, box, index, len(text[: member.start].rstrip(" \t\r\n")))
    try:
        parse(left)
    except NotJson:  # the removed newline was needed to end a comment
        return _without(text, box, index, member.start)
    return left


def _without(text: str, box: Node, index: int, start: int) -> str:
    member = box.members[index]
    end = member.value.end
    cuts = [(start, end)]
    if member.comma is not None:
        cuts.append((member.comma, member.comma + 1))
        end = member.comma + 1
    elif index and (comma := box.members[index - 1].comma) is not None:
        cuts.append((comma, comma + 1))
    if len(box.members) == 1 and (found := _ONE_LINE_END.match(text, end)):
        lead = _lead(text, box.start)
        if text.startswith(lead, found.end()):
            cuts.append((end, found.end() + len(lead)))
    for begin, finish in sorted(cuts, reverse=True):
        text = text[:begin] + text[finish:]
    return text


def replace_scalar(text: str, node: Node, value: Any) -> str:
    """The text with a scalar replaced."""
    return text[: node.start] + json.dumps(value, ensure_ascii=False) + text[node.end :]
