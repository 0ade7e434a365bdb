"""Encoders, one for each sink: recorded text goes into a prompt, YAML, Markdown or a terminal as data.

Recorded text may come from a web page or a tool. In no sink can it close what encloses it, begin a heading
or a tag, speak as the system, or carry invisible characters.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from ..model.lazy_regex import lazy_regex
from ..model.types import Channel
from ..model.validate import dumps

# The author of a row, in one letter that costs one token.
CLASS: dict[Channel | None, str] = {
    "user": "u", "agent": "a", "tool": "t", "web": "w", "import": "i", "system": "s", None: "?",
}  # fmt: skip

# Terminal escape sequences: colours and cursors, titles and links (OSC), and the remains of broken ones. What
# a sequence contains ends where another begins, so that no character is read twice.
_ANSI = lazy_regex(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])(?:[^\x07\x1b\x90\x98\x9c-\x9f]{0,4000}+(?:\x07|\x1b\\\\|\x9c))?"
    "|\x1b[ -/]*[0-~]?"
)
# Invisible characters: controls, format characters (zero width, direction, tags), fillers, variation
# selectors, and noncharacters. Line ends and tabs are replaced before.
_UNSEEN = lazy_regex(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_LINE_ENDS = lazy_regex("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACES = lazy_regex(r"\s+")
# A `<` that a tag could begin with, an `&` that a character reference could begin with, and a code fence.
# Others stay as they are: commands are full of them, and a reader may want to run one.
_MARKUP_SIGNS = ("<", "&", "```", "~~~")
_MARKUP = lazy_regex(r"<(?=[\w/!?|<%$]|$)|&(?=[\w#]|$)|`{3,}|~{3,}")
_QUOTE = lazy_regex(r'(?<!\\)(\\*+)("|$)')


def clean(text: str) -> str:
    """A text without terminal sequences and invisible characters; every line end is a `\\n`."""
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text or not text.isascii():
        text = _ANSI.sub("", text)
    return _UNSEEN.sub("", _LINE_ENDS.sub("\n", text).replace("\t", " "))


def one_line(text: str) -> str:
    """A clean text on one line, with single spaces."""
    if text.isascii() and text.isprintable() and "  " not in text:  # most are: this takes a tenth of the time
        return text.strip()
    return _SPACES.sub(" ", clean(text)).strip()


def clip(text: str, most: int) -> str:
    """At most `most` characters of a text, cut at a nearby word end, with `…` for the rest."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    space = cut.rfind(" ")
    if space > most * 2 // 3:
        cut = cut[:space]
    return cut.rstrip() + "…"


def clip_to_sentence(text: str, most: int) -> str:
    """At most `most` characters of a text, cut after a sentence where one ends in its second half."""
    if len(text) <= most:
        return text
    end = max(text.rfind(stop, 0, most - 1) for stop in (". ", "! ", "? ", ": ", "; "))
    return f"{text[: end + 1]} …" if end > most // 2 else clip(text, most)


# --- prompt -----------------------------------------------------------------------------------------


def prompt(text: str) -> str:
    """A text on one line that opens and closes nothing in a prompt; `html.unescape` restores it."""
    line = one_line(text)
    return _MARKUP.sub(_escaped, line) if any(map(line.__contains__, _MARKUP_SIGNS)) else line


def quoted(text: str) -> str:
    """The text for a prompt in quotation marks, which it cannot close."""
    line = prompt(text)
    if '"' in line or line.endswith("\\"):
        line = _QUOTE.sub(_doubled, line)
    return f'"{line}"'


def name(text: str) -> str:
    """A path or the name of a value: unchanged if it is plain, otherwise in quotation marks."""
    return text if _PLAIN_NAME.fullmatch(text) else quoted(text)


_PLAIN_NAME = lazy_regex(r"[A-Za-z0-9_./~@](?: ?[A-Za-z0-9_./@+:-])*")


def margined(text: str) -> str:
    """A text of several lines, each after a bar, so that none begins a heading, a rule or a fence."""
    lines = (_MARKUP.sub(_escaped, line.rstrip()) for line in clean(text).strip().split("\n"))
    return "\n".join(f"| {line}" if line else "|" for line in lines)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(letter)};" for letter in found[0]) if found[0][0] in "`~" else _ENTITIES[found[0]]


_ENTITIES = {"<": "&lt;", "&": "&amp;"}


def _doubled(found: re.Match[str]) -> str:
    # Backslashes are doubled only before a quotation mark: elsewhere they stand for themselves, as in paths.
    return found[1] * 2 + ('\\"' if found[2] else "")


def fence(name: str, nonce: str, body: str) -> str:
    """A body of data between tags whose name the body cannot know or write."""
    tag = f"{name}-{nonce}"
    return f"<{tag}>\n{body.rstrip()}\n</{tag}>\n"


# --- other sinks ------------------------------------------------------------------------------------


def scalar(text: str) -> str:
    """A text as a YAML or JSON scalar, always quoted, so that `NO` and `1e3` stay text."""
    return dumps(clean(text))


# What means something inside a line of Markdown: a line end, the beginning of a tag, comment or reference, a
# code fence, a link or image, the end of a comment, and blanks at either end. Our own lines begin with what
# we write, so nothing recorded ever stands where a heading, rule or list could begin.
_ROW = lazy_regex(
    r"\n|<(?=[\w/!?|<%$]|$)|&(?=#)|`{3,}|~{3,}|\](?=[(\[])|(?<=--)>|(?<=--!)>|\A +| +\Z|!(?=\[)"
)
_BRACKETS = lazy_regex(rf"{_ROW.pattern}|[\[\]\\]")
_REFERENCE = lazy_regex(r"&#([0-9]{1,7});")


def markdown_row(text: str, *, bracketed: bool = False) -> str:
    """A text as one line of ACTIVE-TASKS.md, as plain as it can be.

    `from_markdown_row` turns it back into the clean text. `bracketed` text stands between square brackets,
    which it cannot close.
    """
    return (_BRACKETS if bracketed else _ROW).sub(_referenced, clean(text))


def from_markdown_row(text: str) -> str:
    """The text that `markdown_row` encoded; other text is unchanged."""
    return _REFERENCE.sub(_referred, text)


def _referenced(found: re.Match[str]) -> str:
    return _references(found[0])


@lru_cache(1000)  # a text of line ends alone would need a reference for each
def _references(letters: str) -> str:
    return "".join(f"&#{ord(letter)};" for letter in letters)


def _referred(found: re.Match[str]) -> str:
    number = int(found[1])
    known = number < 0x110000 and not 0xD800 <= number < 0xE000
    return clean(chr(number)) if known else found[0]


def terminal(text: str) -> str:
    """A text that is safe to print: control and invisible characters are shown by their numbers."""
    return _STEERING.sub(_numbered, text.replace("\r\n", "\n"))


def _numbered(found: re.Match[str]) -> str:
    number = ord(found[0])
    return (
        f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
    )


_STEERING = lazy_regex(_UNSEEN.pattern[:-1] + "\r\x0b\x0c\x85\u2028\u2029]")


# --- files that are read back -----------------------------------------------------------------------


def pretty(value: Any, indent: int | None = 2) -> str:
    """A value as readable JSON that parses to the same value; invisible characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return _STEERING.sub(_json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def read_json(text: str) -> Any:
    """Parse JSON; a ValueError says what is wrong, and in which line."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from None


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


# What means something in Markdown anywhere, and what does at the start of a line.
_INLINE = lazy_regex(r"[\\`*\[\]]|&|<|" + _STEERING.pattern)
_BEGINS = "#+-=>_~|:"
_NUMBERED = lazy_regex(r"[0-9]{1,9}[.)]")
_WRITTEN = lazy_regex(r"\\([!-/:-@\[-`{-~])|&(?:(amp|lt|gt|quot)|#x([0-9a-fA-F]{1,6})|#(\d{1,7}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"'}
EMPTY_LINE = "\\"


def markdown(text: str, indent: str = "  ") -> str:
    """A text for a Markdown list: further lines are indented, and none starts a block.

    `from_markdown` gives the same text back.
    """
    return f"\n{indent}".join(_markdown_line(line) or EMPTY_LINE for line in text.split("\n"))


def markdown_line(text: str) -> str:
    """A text for one line of Markdown, as in a heading."""
    line = _markdown_line(text).replace("\n", "&#xa;") or EMPTY_LINE
    return f"{line[:-1]}\\#" if line.endswith("#") and line != "\\#" else line


def _markdown_line(line: str) -> str:
    coded = _INLINE.sub(_inline, line)
    if coded[:1] in (" ", "\t"):
        coded = f"&#x{ord(coded[0]):x};{coded[1:]}"
    elif coded and coded[0] in _BEGINS:
        coded = f"\\{coded}"
    elif found := _NUMBERED.match(coded):
        coded = f"{found[0][:-1]}\\{coded[found.end() - 1 :]}"
    if coded[-1:] in (" ", "\t"):  # which editors remove
        coded = f"{coded[:-1]}&#x{ord(coded[-1]):x};"
    return coded


def _inline(found: re.Match[str]) -> str:
    letter = found[0]
    return _ENTITIES.get(letter) or (f"\\{letter}" if letter in "\\`*[]" else f"&#x{ord(letter):x};")


def from_markdown(text: str) -> str:
    """The text that Markdown shows, with escapes and character references resolved."""
    lines = text.split("\n")
    return "\n".join("" if line == EMPTY_LINE else _WRITTEN.sub(_meant, line) for line in lines)


def _meant(found: re.Match[str]) -> str:
    if found[1]:
        return found[1]
    if found[2]:
        return _NAMED[found[2]]
    number = int(found[3], 16) if found[3] else int(found[4])
    legal = 0 < number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number) if legal else found[0]
