"""Counting tokens: an estimate that is rarely too low, the exact count, and cutting a text to a budget."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise
from operator import ne
from unicodedata import category

from ..model.lazy_regex import lazy_regex

# The longest token of o200k has this many characters.
LONGEST = 128

# The estimate cuts a text into pieces as o200k does, and prices each piece in twentieths of a token. Every
# repeat is bounded, so that no text makes the search slow and no piece is too long to be cached.
_LATIN = "a-zÀ-ɏḀ-ỿ"
_PIECES = lazy_regex(
    rf"[ -/:-@[-`{{-~\t]?(?:[A-Z]{{0,24}}[{_LATIN}]{{1,24}}(?:'(?:[stmd]|re|ve|ll))?|[A-Z]{{1,24}})"
    r"|[0-9]{1,3}| ?[\x00-\x08\x0e-\x1b!-/:-@[-`{-~\x7f]{1,80}[\r\n/]{0,8}"
    rf"| ?[^\x00-\x7f{_LATIN}]{{1,48}}"
    r"|[ \t-\r]{0,64}[\r\n]{1,16}|[ \t-\r]{1,64}(?!\S)|[ \t-\r]{1,64}|(?s:.)"
)

# What each pair of neighbouring letters adds to a word, fitted to exact counts of prose, code and logs in
# many languages: "th" is cheap, "qx" is not. A row for each first letter, a column for each second one, 8 for
# nothing; the first row is the start of a word, the last column its end, `~` is À-ɏ and "`" is Ḁ-ỿ.
_LETTERS = "abcdefghijklmnopqrstuvwxyz~`"
_TABLE = (
    "decbgefddfffdbgeiececfdijhoxa jabbpf9idhd9b9nakac8egfechjag dhkmemkkf8ncim9loeghakllhlheg "
    "ekfkbkpaej7dgn9klbj8bmpmhhkfe cfigalgmcjmfgjdllihmgjmlifmda bdbbg9ckihidcbidb8acjec5ghgac "
    "akkkfbmo9mmhfl9jmekiclmlinfaf ifnkcledekohiecmodhjgklmhklge cfojcnmmclkjkjbmmgl7djllfmiff "
    "daabd7allhfcd779jjd9ncmgobjej eknjclnnijimnjgikodpgojnnogaj hklgdjigglgkniiaqmdhimhnlngbg "
    "cgid9ahlclickkbhpmhebhhobohfb bcmj8okldkkfbka9jnghellkjmife dm9cec8hgjhjjhfjpmcbgjknljkcc "
    "gccekdblfhaec7cco8fe7e9giigch dmje8nlbdljamm9fl8g8dimlioiag jkmmmromknqflnnmemmm8okkopaai "
    "cideafilcldieaamldddfjkndkjdd glblaii8eneojidchj99dieodhjda dmemahn5bmhdgkd9i9eedmijbkefc "
    "cd8j8feocmjabanao7ealkmkmihde cmln9llmbllmjlejljooljmllkebh bnnlcmncdnlomdbmoedonmijjpfag "
    "gkgjikokhnomimmemnmdlkpgljebf flhngmkkgkkkjeebnidgmjimhfgaa hlllcmkkemlnlhimpmnmjnikefhai "
    "jjajicjkkljhheglahilnphbdkt5k eadaaaaacaaaejchaaalcaaafafzv "
)
_PAIRS = {
    (first, second): int(value, 36) - 8
    for first, row in zip("^" + _LETTERS, _TABLE.split(), strict=True)
    for second, value in zip(_LETTERS + "$", row, strict=True)
}
_FOLD = (
    {code: chr(code + 32) for code in range(65, 91)}
    | dict.fromkeys(range(0xC0, 0x250), "~")
    | dict.fromkeys(range(0x1E00, 0x1F00), "`")
)
# What the character before a word adds when the word has one or two letters, three or four, or more.
_BEFORE = {
    "": (2, 6, 5),
    " ": (-4, 0, 0),
    ".": (4, 4, 2),
    "_": (4, 4, 2),
    "(": (9, 10, 10),
    "-": (12, 15, 13),
    "/": (12, 15, 19),
}
_BEFORE_ELSE = (21, 21, 20)
# Frequent words that are one token although their letter pairs look expensive.
_COMMON = frozenset(
    (
        "additional address after against already also always analysis another anything argument arguments "
        "auto automatically available avoid because been behavior being better between branch break cannot "
        "causes children commands comparison compatibility configuration cycle default dependencies "
        "dependency depends describe details development difference different directory documentation does "
        "each edge else endpoint enough entire enum environment event events everything example executed "
        "execution existing exists experience feature fetch fields first flag flags following forward from "
        "generate handle handling help helps implement implementation important improvement include "
        "including input integration just keep know known large library like likely logging logic loop "
        "message metadata minimum module modules multiple needed needs number otherwise override package "
        "parameter particular pattern performance positive possible produces project public ready received "
        "reference release required requires result results returned returns risk running safe safety "
        "service similar someone special specified standard successfully support system take target task "
        "their through together unknown validation variable warnings which written "
    ).split()
)

_REPEATS = dict.fromkeys("#%*-./=_~", 1) | dict.fromkeys("!:;", 2) | dict.fromkeys("&[]`{}", 10) | {"+": 6}

# What a character beyond Latin letters costs, from the first one of each range; 0 is what o200k spells out
# in bytes.
_RANGES = {
    "\x80": 24, "\u0250": 0, "\u0300": 30,  # signs of Latin-1, combining marks
    "Ͱ": 9, "Ѐ": 6, "Ԁ": 0, "Ա": 8, "\u0591": 9, "\u0600": 7, "\u0700": 0,  # Greek to Arabic
    "\u0900": 7, "\u0980": 8, "\u0a00": 11, "\u0b00": 22, "\u0b80": 8, "\u0c00": 11,  # of India
    "\u0e00": 10, "\u0e80": 0, "\u1000": 14, "Ⴀ": 8, "\u1100": 0,  # Thai, Burmese, Georgian
    "\u2000": 48, "\u2800": 0, "\u2b00": 50, "\u2c00": 0,  # dashes, arrows, boxes, dingbats
    "\u3000": 20, "ぁ": 16, "\u3100": 0, "一": 20, "\ua000": 0, "가": 14, "\ud7a4": 0,  # of East Asia
    "\ufe00": 22, "\ufe10": 0, "\uff01": 22, "\uffe0": 0,  # variants, full width
    "\U0001f100": 60, "\U0001f300": 46, "\U0001f900": 58, "\U0001fa00": 0,  # emoji
}  # fmt: skip
_STARTS, _COSTS = list(_RANGES), list(_RANGES.values())
_SIGNS = frozenset("\u200b\u200d–—‘’“”†•…‹›€™←↑→↓⇒≤≥≈∞√─━│┃├═║╗╝█▓▒░▀▄■□▲▼►◆●○★☆✓✔✅")
_RULES = frozenset("─━═…—")
# Characters that real text of a script has many of; a long run without them is noise.
_FREQUENT = frozenset(
    "оеаинтсрвлкαοιετσνςηυיוהלאתרמבשاليمونترهبािेरनकसतं्ািরেনকবত্ிுக்தபரனანიეოსանիեորกรนาเงมอ่้ั"
    "的一是不了在人有我他中大來来上國国個个到說说時时要就出會会可也你對对生能而子那得于着過过發发後后作用文件行"
    "定新入選选本示設设字使のにをはがとでたしてるいすまンスルトーリ이다하에는을니기지로가의시를사고서어스자일한은아리정인"
)  # fmt: skip
# Characters of simplified Chinese, which costs less.
_SIMPLIFIED = frozenset(
    "个为这时动选单开设记们过标显发关码么没该输项题无务说现语认间确请进应启从经导编择运还业栏键样"
)


def estimate(text: str) -> int:
    """About how many o200k tokens a text has, rather a few too many than too few.

    The estimates of lines, each with its line end, may be added up: the sum is not too low either.
    """
    cost = sum(map(_price, _PIECES.findall(text)))
    # Errors of single pieces cancel out, so the margin grows with the square root of the cost.
    return -int(-(cost + 2 * cost**0.5) // 20)


# `estimate` overrates packets: over 89 packets of real sessions it came to 1.10 of the exact count
# in the mean without its margin, and to 1.05 at least.
_OVERRATED = 0.95


def estimate_packet(text: str) -> int:
    """About how many o200k tokens a packet has: 4 % too many in the mean, hardly ever too few."""
    return -int(-sum(map(_price, _PIECES.findall(text))) * _OVERRATED // 20)


@cache
def exact() -> Callable[[str], int] | None:
    """The exact counter of o200k tokens, or None where splintr is not installed.

    It is thread-safe. Special tokens count as plain text. In a sum over lines, add one for each line that
    starts with "/": o200k joins the slash to punctuation at the end of the line before.
    """
    try:
        from splintr import Tokenizer
    except ImportError:
        return None
    tokenizer = Tokenizer.from_pretrained("o200k_base")
    flat, ordinary = tokenizer.encode_flat, tokenizer.encode_ordinary

    def count(text: str) -> int:
        # encode_flat is the fastest, with four bytes per token, but it interprets special tokens.
        return len(ordinary(text)) if "<|" in text else len(flat(text)) // 4

    return count


def load() -> None:
    """Load the exact counter and what it builds at its first use.

    That holds the interpreter's lock, so a thread cannot keep it from stopping an event loop: call this
    before there is one.
    """
    if (count := exact()) is not None:
        count("A text with <|special|> tokens.")
        count("A text without.")


def counter(exact_wanted: bool) -> Callable[[str], int]:
    """The exact counter if it is wanted and installed, otherwise the estimate for packets."""
    return (exact() if exact_wanted else None) or estimate_packet


def fit(text: str, budget: int, count: Callable[[str], int] = estimate) -> str:
    """The longest start of a text that costs at most `budget`, with "…" where something was cut."""
    most = max(0, budget) * LONGEST
    if len(text) <= most and count(text) <= budget:
        return text
    low, high, best = 0, min(len(text), most), ""
    while low <= high:
        middle = (low + high) // 2
        cut = _cut(text, middle)
        if count(cut) <= budget:
            low, best = middle + 1, cut
        else:
            high = middle - 1
    return best


def _cut(text: str, size: int) -> str:
    """The start of a text up to `size`, ending with a whole word and character, and an ellipsis."""
    for _ in range(32):
        if not 0 < size < len(text) or not (_joins(text[size]) or text[size - 1] == "\u200d"):
            break
        size -= 1
    head = text[:size]
    if head[-1:].isalnum() and text[size : size + 1].isalnum():
        near = max(0, size - 40)
        head = head[: max(head.rfind(" ", near), head.rfind("\n", near)) + 1] or head
    return head.rstrip() + "…"


def _joins(char: str) -> bool:
    """Whether a character combines with the one before it."""
    return char > "\u02ff" and (category(char)[0] == "M" or char in "\u200d🏻🏼🏽🏾🏿")


@lru_cache(maxsize=1 << 14)
def _price(piece: str) -> int:
    last = piece[-1]
    if last < "\x80":
        if last.isalpha():
            return _word(piece)
        if last.isdecimal():
            return 20
        return _blank(piece) if piece.isspace() else _signs(piece)
    return _word(piece) if ord(last) in _FOLD else _script(piece)


def _word(piece: str) -> int:
    """A word of Latin letters and the character before it."""
    before, word = ("", piece) if piece[0].isalpha() else (piece[0], piece[1:])
    if before == " " and word in _COMMON:
        return 20
    if "'" in word:
        word = word.partition("'")[0]
    letters = word.lower() if word.isascii() else word.translate(_FOLD)
    size, capitals = len(letters), 0 if letters == word else sum(map("Z".__ge__, word))
    cost = _BEFORE.get(before, _BEFORE_ELSE)[(size > 2) + (size > 4)]
    cost += sum(map(_PAIRS.__getitem__, zip("^" + letters, letters + "$", strict=True)))
    cost += 1 + 2 * capitals if capitals > 1 else 1 * (size > 3) * capitals
    return max(20, cost + max(0, cost - 40) // 4 + max(0, cost - 60) // 5)


def _signs(piece: str) -> int:
    """A run of punctuation: repeats are cheap, changes and control characters are not."""
    signs = piece.strip(" \r\n")
    changes = sum(map(ne, signs, signs[1:]))
    cost = 20 + 4 * changes + 9 * max(0, changes - 1) + 4 * max(0, changes - 5)
    cost += sum(_REPEATS.get(one, 5) for one, other in pairwise(signs) if one == other)
    return cost + 20 * sum(map(" ".__gt__, signs)) + 20 * (piece[-1] == "\r")


def _blank(piece: str) -> int:
    """A run of white space: long runs of spaces are cheap, of anything else less so."""
    changes = sum(map(ne, piece, piece[1:]))
    return 20 + len(piece) // 3 * (changes > 0 or piece[0] != " ") + 10 * max(0, changes - 1)


def _script(piece: str) -> int:
    """A run of characters beyond Latin letters."""
    piece = piece.strip(" ")
    size, first = len(piece), piece[0]
    costs = [22 if char in _SIGNS else _COSTS[bisect(_STARTS, char) - 1] for char in piece]
    if 0 in costs:
        return 20 * len(piece.encode("utf-8", "replace"))
    if not first.isalpha():
        repeats = sum(one == other and one in _RULES for one, other in pairwise(piece))
        return max(20, sum(costs) - 18 * repeats)
    least, share = (12, 12) if first > "\u3000" else (4, 6)
    if size >= least and size > share * sum(map(_FREQUENT.__contains__, piece)):
        return 16 * len(piece.encode())
    capitals = sum(map(str.isupper, piece))
    cost = 10 + sum(costs) + 9 * capitals * (capitals > 1)
    return max(20, cost if _SIMPLIFIED.isdisjoint(piece) else cost - 4 * size)
