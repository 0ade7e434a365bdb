"""The value that a sentence, a call or a block binds to a name."""

from __future__ import annotations

from . import rules
from .markers import MARK
from .matching import pattern, replaced
from .randomness import is_random
from .storable_text import folded
from .values import is_bound_secret, is_no_password, is_placeholder, looks_chosen

REACH = 200  # as far as that
_MOST_PIECES = 20


def follows_copula(text: str, place: int) -> bool:
    """Whether a name may be said of what stands before it: `… as the`, `… ist das`."""
    before = text[max(0, place - 40) : place]
    return before.endswith((" ", "\t")) and any(map(before.__contains__, rules.COPULAS_BEFORE))


def value_before(text: str, begin: int, end: int, kind: str) -> tuple[int, int, str] | None:
    """The value that a sentence names afterwards: `use … as the password`."""
    line = text[begin:end].rpartition("\n")[2]
    match = pattern(rules.NAMED_AFTERWARDS).search(line)
    if match is None or MARK in match["secret"]:
        return None
    value = match["secret"].rstrip(".,:;")
    found = looks_chosen(value) if kind == "password" else is_random(value, 16)
    if not found or is_placeholder(value):
        return None
    begin = end - len(line) + match.start("secret")
    return begin, begin + len(value), kind


def login_pairs(text: str) -> str:
    """Redact the password of `bob / …` in a line about logging in."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if " / " in line and any(map(folded(line).__contains__, rules.LOGIN_WORDS)):
            lines[place] = replaced(rules.LOGIN_PAIR, line, "password", is_no_password)
    return "\n".join(lines)


def value_further_on(text: str, begin: int, kind: str) -> tuple[int, int, str] | None:
    """The value that a sentence, a call or a block binds to a name before it.

    `own` while the words still belong to the name; `bound` if what came last binds the next piece to the
    name; `other` if it binds it to another one. What is not bound must be random beyond doubt.
    """
    own, bound, other, seen, lines = True, True, False, 0, 0
    wrapped = False  # in a call such as `SecretStr("…")`
    signed = False  # `Password:`, with its value alone on the next line
    apart = False  # a sign or the edge of a cell stands between
    named = begin
    if qualifier := pattern(rules.QUALIFIER).match(text, begin):
        begin = qualifier.end()
    part: list[str] = []
    for pieces, piece in enumerate(pattern(rules.PIECE).finditer(text, begin, begin + 3 * REACH)):
        found = piece.lastgroup or ""
        if pieces > _MOST_PIECES or piece.start() > begin + REACH:
            return None
        if found == "line":
            lines += 1
            signed = signed or (own and not seen and lines == 1 and _is_label(text, named))
            own = bound = own and bound and (seen > 0 or (lines <= 2 and (signed or _is_read(text, named))))
            part = []
            if lines > 3:
                return None
        elif found == "sign":
            bound = own or (len(part) == 1 and part[0] in rules.NEUTRAL_NAMES)
            other = not bound
            signed = own and not seen
            apart = apart or (own and not seen and (piece[0] in ("->", "→") or begin > named))
        elif found == "edge":
            if piece[0] in ")}]" and lines and not own:
                return None
            cell = (
                piece[0] in "|│"
                and text[piece.start() - 1].isspace()
                and text[piece.end() : piece.end() + 1] == " "
            )
            bound = own and not seen and (cell or piece[0] in ",(")
            aside = piece[0] == "(" and text[piece.start() - 1].isspace()
            apart = apart or (bound and (cell or aside))
            bound = bound or (wrapped and piece[0] == "(")
            own, other, part, wrapped = own and aside and not seen, False, [], False
        elif found == "ideographs":
            bound, seen = own and piece[0].endswith(rules.IDEOGRAPHIC_COPULAS), seen + 1
        else:
            value = piece[found] if found == "quoted" else piece[0].rstrip(".,:?)")
            if other:
                other, bound = False, False
                continue
            if own and not seen and value.lower() in rules.DESCRIBING_WORDS:
                return None
            if lines and own and text[piece.end() : piece.end() + 1] not in ("", "\r", "\n", "\\"):
                own = bound = False  # not alone on its line
            if bound and kind == "password" and found == "word" and _ends_in_line(text, piece.end()):
                value = text[piece.start() : piece.start() + REACH].split(maxsplit=1)[0]
            first = not (seen or apart)
            if is_bound_secret(
                kind, value, found == "quoted", bound, first=first, lines=lines
            ) and not _is_digest(text, piece.start(), value):
                start = piece.start(found)
                return start, start + len(value), "value" if kind in ("", "code") else kind
            is_call = text[piece.end() : piece.end() + 1] == "("
            wrapped = (
                bound and is_call and value.rpartition(".")[2].rpartition(":")[2].lower() in rules.WRAPPERS
            )
            seen += 1
            part.append(value.lower())
            bound = own and value.lower() in rules.COPULAS
            if piece[0].endswith(":"):
                bound = own or (len(part) == 1 and part[0] in rules.NEUTRAL_NAMES)
                other = not bound
    return None


def _is_digest(text: str, place: int, value: str) -> bool:
    """Whether a value is a digest that its line says it is: `the commit that broke the token is …`."""
    if pattern(rules.HEX).match(value) is None:
        return False
    line = folded(text[max(0, place - REACH) : place].rpartition("\n")[2])
    return any(map(line.__contains__, rules.DIGEST_WORDS))


def _is_label(text: str, place: int) -> bool:
    """Whether the line that ends with a name here has nothing else: `**Password**`."""
    line = text[max(0, place - REACH) : place].rpartition("\n")[2].strip(" \t*#>-_")
    return 0 < len(line) <= 30 and line.replace(" ", "").isalpha()


def _is_read(text: str, place: int) -> bool:
    """Whether a command before a name prints its value: `op item get db --fields password`."""
    line = text[max(0, place - REACH) : place].rpartition("\n")[2].lower()
    return any(map(line.__contains__, rules.READING_WORDS))


def _ends_in_line(text: str, place: int) -> bool:
    """Whether what goes on here without a space, such as `;Qw` of a password, is the last in its line."""
    rest = text[place : place + 100].partition("\n")[0].rstrip()
    return bool(rest) and rest[0] in ";,=<>|" and len(rest) > 1 and not any(map(str.isspace, rest))
