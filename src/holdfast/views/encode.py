"""Encoders, one for each sink: what was recorded goes into a prompt, YAML, Markdown or a terminal as data.

Recorded text may come from a web page or a tool. In no sink can it close what encloses it, begin a heading
or a tag, speak as the system, or carry characters that nobody sees.
"""

from __future__ import annotations

import re

from ..checks import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..types import Channel

# Who wrote a row, in one letter that costs one token.
CLASS: dict[Channel | None, str] = {
    "user": "u",
    "agent": "a",
    "tool": "t",
    "web": "w",
    "import": "i",
    "system": "s",
    None: "?",
}

# Escape sequences of terminals: colours and cursors, titles and links (OSC), and what is left of broken ones.
_ANSI = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])(?:[^\x07\x1b\x9c]{0,4000}(?:\x07|\x1b\\\\|\x9c))?"
    "|\x1b[ -/]*[0-~]?"
)
# Characters that are not seen: controls, format characters (zero width, direction, tags), fillers, variation
# selectors, and what is no character at all. Line ends and tabs are looked after before.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_LINE_ENDS = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACES = re.compile(r"\s+")
# A `<` that a tag could begin with, an `&` that a character reference could begin with, and a code fence.
# Others stay as they are: commands are full of them, and a reader may want to run one.
_MARKUP = re.compile(r"<(?=[\w/!?|<%$]|$)|&(?=[\w#]|$)|`{3,}|~{3,}")
_QUOTE = re.compile(r'(\\*)("|$)')


def clean(text: str) -> str:
    """A text without terminal sequences and characters that are not seen; every line end is a `\\n`."""
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text or not text.isascii():
        text = _ANSI.sub("", text)
    return _UNSEEN.sub("", _LINE_ENDS.sub("\n", text).replace("\t", " "))


def one_line(text: str) -> str:
    """A clean text on one line, with single spaces."""
    return _SPACES.sub(" ", clean(text)).strip()


def clip(text: str, most: int) -> str:
    """At most so many characters of a text, cut at a word if there is one near, with `…` for the rest."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    space = cut.rfind(" ")
    if space > most * 2 // 3:
        cut = cut[:space]
    return cut.rstrip() + "…"


# --- prompt -----------------------------------------------------------------------------------------


def prompt(text: str) -> str:
    """A text on one line that opens and closes nothing in a prompt; `html.unescape` gives the clean text."""
    return _MARKUP.sub(_escaped, one_line(text))


def quoted(text: str) -> str:
    """The same in quotation marks, which it cannot close."""
    return f'"{_QUOTE.sub(_doubled, prompt(text))}"'


def margined(text: str) -> str:
    """A text of several lines, each behind a bar: no line of it begins a heading, a rule or a fence."""
    lines = (_MARKUP.sub(_escaped, line.rstrip()) for line in clean(text).strip().split("\n"))
    return "\n".join(f"| {line}" if line else "|" for line in lines)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(letter)};" for letter in found[0]) if found[0][0] in "`~" else _ENTITIES[found[0]]


_ENTITIES = {"<": "&lt;", "&": "&amp;"}


def _doubled(found: re.Match[str]) -> str:
    # Backslashes are doubled only before a quotation mark: elsewhere they stand for themselves, as in paths.
    return found[1] * 2 + ('\\"' if found[2] else "")


def fence(name: str, nonce: str, body: str) -> str:
    """A body that is data, between tags whose name the body cannot know or write."""
    tag = f"{name}-{nonce}"
    return f"<{tag}>\n{body.rstrip()}\n</{tag}>\n"


# --- other sinks ------------------------------------------------------------------------------------


def scalar(text: str) -> str:
    """A text as a YAML or JSON scalar: always quoted, so that `NO` and `1e3` stay texts."""
    return dumps(clean(text))


# What means something inside a line of Markdown: a line end, the beginning of a tag, comment or reference, a
# code fence, a link or image, the end of a comment, and blanks at either end. Our own lines begin with what
# we write, so nothing recorded ever stands where a heading, rule or list could begin.
_MARKDOWN = re.compile(
    r"\n|<(?=[\w/!?|<%$]|$)|&(?=#)|`{3,}|~{3,}|\](?=[(\[])|(?<=--)>|(?<=--!)>|\A +| +\Z|!(?=\[)"
)
_BRACKETS = re.compile(rf"{_MARKDOWN.pattern}|[\[\]\\]")
_REFERENCE = re.compile(r"&#([0-9]{1,7});")


def markdown(text: str, *, bracketed: bool = False) -> str:
    """A text as one line inside Markdown, which `from_markdown` turns back into the clean text.

    `bracketed` text stands between square brackets, which it cannot close.
    """
    return (_BRACKETS if bracketed else _MARKDOWN).sub(_referenced, clean(text))


def from_markdown(text: str) -> str:
    """The text that `markdown` wrote; what a person wrote stays as it is."""
    return _REFERENCE.sub(_referred, text)


def _referenced(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(letter)};" for letter in found[0])


def _referred(found: re.Match[str]) -> str:
    number = int(found[1])
    known = number < 0x110000 and not 0xD800 <= number < 0xE000
    return clean(chr(number)) if known else found[0]


def terminal(text: str) -> str:
    """A text as a terminal may get it: what would steer it, or is not seen, is shown by its number."""
    return _STEERING.sub(_numbered, text.replace("\r\n", "\n"))


def _numbered(found: re.Match[str]) -> str:
    number = ord(found[0])
    return (
        f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
    )


_STEERING = re.compile(_UNSEEN.pattern[:-1] + "\r\x0b\x0c\x85\u2028\u2029]")
