"""Shell command lines as the simple commands that they run.

Reads what agents write: environment prefixes, `cd x &&`, pipes, lists, subshells, substitutions, heredocs,
line continuations. It is not a shell: nothing is expanded, and of a line that it cannot read it returns what
it has read so far. Pure; time is linear in the text, which is bounded.
"""

from __future__ import annotations

from typing import NamedTuple

MOST_LINE = 40_000  # characters of a command line that are read
_MOST_COMMANDS = 200
_DEEPEST = 12
_BREAKS = " \t\n;&|()<>"
# Words that introduce or end a compound command; what follows them is a command again.
_KEYWORDS = frozenset("if then else elif fi while until do done ! { } time coproc".split())
# Compound commands whose own words are no command.
_HEADERS = frozenset("for case select function in esac".split())
_PRINTS = ("echo", "printf", "cat")


class SimpleCommand(NamedTuple):
    """A program with its arguments, without quotes, and what surrounds it.

    `after` is the operator before it (`&&`, `||`, `|`, `;` or empty), `stdin` a text that it is given (a
    heredoc, a here-string, or what `echo` pipes into it), `stdin_file` the file of `<`, or of a `cat` before
    the pipe. `folder` is where an earlier `cd` of the same line went. `piped` says that another program
    reads its output.
    """

    words: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    after: str = ""
    stdin: str = ""
    stdin_file: str = ""
    folder: str = ""
    background: bool = False
    piped: bool = False


class _Part:
    """A simple command that is being read."""

    def __init__(self, after: str) -> None:
        self.after = after
        self.words: list[str] = []
        self.env: list[tuple[str, str]] = []
        self.stdin = self.stdin_file = ""
        self.background = self.piped = False


def shell_commands(line: str) -> list[SimpleCommand]:
    """The simple commands of a command line, in the order in which they are written."""
    reader = _Reader(line[:MOST_LINE].replace("\r\n", "\n"))
    reader.read_list("", 0)
    found: list[SimpleCommand] = []
    folder, before = "", None
    for part in reader.parts:
        if not part.words:
            before = part
            continue
        stdin, stdin_file = part.stdin, part.stdin_file
        if part.after == "|" and before is not None and not stdin and before.words:
            stdin = _printed(before)
            if len(before.words) == 2 and before.words[0] == "cat":
                stdin_file = before.words[1]
        found.append(
            SimpleCommand(
                tuple(part.words),
                tuple(part.env),
                part.after,
                stdin,
                stdin_file,
                folder,
                part.background,
                part.piped,
            )
        )
        if part.words[0] in ("cd", "pushd") and len(part.words) > 1 and part.words[-1] != "-":
            folder = _joined(folder, part.words[-1])
        before = part
    return found


def is_whole(line: str) -> bool:
    """Whether a command line can be read to its end: no quotation is left open, as where a text was cut."""
    reader = _Reader(line)
    reader.read_list("", 0)
    return len(line) <= MOST_LINE and not reader.is_open


def _printed(part: _Part) -> str:
    """What a command surely prints: the words of `echo`, or the heredoc of `cat`."""
    if part.words[0] not in _PRINTS:
        return ""
    if part.words[0] == "cat":
        return part.stdin
    return " ".join(word for word in part.words[1:] if not word.startswith("-"))


def _joined(folder: str, path: str) -> str:
    return path if not folder or path.startswith(("/", "~", "$")) else f"{folder.rstrip('/')}/{path}"


class _Reader:
    """Reads a text from the left; `parts` are the simple commands, those of substitutions included."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at: int = 0
        self.parts: list[_Part] = []
        self.is_open = False  # a quotation does not end
        # Heredocs that begin at the end of this line: the command, the delimiter, whether tabs are stripped.
        self._heredocs: list[tuple[_Part, str, bool]] = []

    def read_list(self, until: str, depth: int) -> None:
        """Read commands up to the closing `until`, or the end."""
        text = self.text
        after, part = "", _Part("")
        self.parts.append(part)

        def begin(operator: str) -> _Part:
            fresh = _Part(operator)
            self.parts.append(fresh)
            return fresh

        while self.at < len(text) and len(self.parts) < _MOST_COMMANDS:
            letter = text[self.at]
            if letter in " \t":
                self.at += 1
            elif letter == "\\" and text[self.at + 1 : self.at + 2] == "\n":
                self.at += 2
            elif letter == "\n":
                self.at += 1
                self._read_heredocs()
                if part.words:
                    part = begin(";")
            elif letter == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif letter == ";":
                self.at += 1
                part = begin(";")
            elif letter in "&|":
                after = self._operator(part)
                if after:
                    part = begin(after)
            elif letter in "<>":
                self._redirect(part, depth)
            elif letter == "(":
                self.at += 1
                if part.words:  # a function's `name()`: its body is read as commands
                    part.words.clear()
                if depth < _DEEPEST:
                    self.read_list(")", depth + 1)
                part = begin(";")
            elif letter == ")":
                self.at += 1
                if until == ")":
                    return
                part = begin(";")  # the pattern of a `case`
            else:
                self._take_word(part, depth)
        return

    def _operator(self, part: _Part) -> str:
        text = self.text
        two = text[self.at : self.at + 2]
        if two in ("&&", "||"):
            self.at += 2
            return two
        if two in ("&>", ">&"):
            self.at += 2 + (text[self.at + 2 : self.at + 3] == ">")
            self._skip_target()
            return ""
        if two == "|&":
            self.at += 1
        self.at += 1
        if two[0] == "|":
            part.piped = True
            return "|"
        part.background = True
        return ";"

    def _redirect(self, part: _Part, depth: int) -> None:
        """Read a redirection: only standard input matters to us."""
        text = self.text
        if part.words and part.words[-1].isdecimal() and text[self.at - 1] == part.words[-1][-1]:
            part.words.pop()  # the number of a file: `2>&1`
        if text.startswith("<<<", self.at):
            self.at += 3
            self._skip_blanks()
            part.stdin = self._word(depth)
        elif text.startswith("<<", self.at):
            self.at += 2
            strips = text[self.at : self.at + 1] == "-"
            self.at += strips
            self._skip_blanks()
            if name := self._word(depth):
                self._heredocs.append((part, name, strips))
        elif text.startswith("<(", self.at) or text.startswith(">(", self.at):
            self.at += 2
            if depth < _DEEPEST:
                self.read_list(")", depth + 1)
        elif text[self.at] == "<":
            self.at += 1
            self._skip_blanks()
            part.stdin_file = self._word(depth)
        else:
            self.at += 1
            while self.at < len(text) and text[self.at] in ">&|":
                self.at += 1
            self._skip_target()

    def _skip_target(self) -> None:
        self._skip_blanks()
        self._word(_DEEPEST)

    def _skip_blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _read_heredocs(self) -> None:
        pending, self._heredocs = self._heredocs, []
        for part, name, strips in pending:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line, self.at = self.text[self.at : end], end + 1
                if (line.lstrip("\t") if strips else line).rstrip() == name:
                    break
                lines.append(line)
            part.stdin = "\n".join(lines)

    def _take_word(self, part: _Part, depth: int) -> None:
        begin = self.at
        plain = self.text[begin] not in "'\"\\$`"
        word = self._word(depth)
        if self.at == begin:
            self.at += 1  # a letter that begins nothing
            return
        if not part.words:
            if plain and word in _KEYWORDS:
                return
            name, equals, value = word.partition("=")
            if plain and equals and name.replace("_", "a").isalnum() and not name[0].isdecimal():
                part.env.append((name, value))
                return
            if plain and word in _HEADERS:
                self._skip_header(word)
                return
        part.words.append(word)

    def _skip_header(self, word: str) -> None:
        """Skip `for x in a b` up to its end; of `case` and `function` only the next words."""
        if word in ("for", "select"):
            while self.at < len(self.text) and self.text[self.at] not in ";\n":
                self.at += 1
        elif word == "case":
            end = self.text.find(" in", self.at)
            self.at = end + 3 if end >= 0 else len(self.text)

    def _word(self, depth: int) -> str:
        """Read a word, without its quotes; substitutions become commands of their own."""
        text, parts = self.text, list[str]()
        while self.at < len(text):
            letter = text[self.at]
            if letter == "'":
                end = text.find("'", self.at + 1)
                if end < 0:
                    self.is_open, end = True, len(text)
                parts.append(text[self.at + 1 : end])
                self.at = end + 1
            elif letter == '"':
                self.at += 1
                parts.append(self._double_quoted(depth))
            elif letter == "\\":
                following = text[self.at + 1 : self.at + 2]
                parts.append("" if following == "\n" else following)
                self.at += 2
            elif letter == "$":
                parts.append(self._dollar(depth))
            elif letter == "`":
                parts.append(self._backticks(depth))
            elif letter in _BREAKS:
                break
            else:
                parts.append(letter)
                self.at += 1
        return "".join(parts)

    def _double_quoted(self, depth: int) -> str:
        text, parts = self.text, list[str]()
        while self.at < len(text):
            letter = text[self.at]
            if letter == '"':
                self.at += 1
                return "".join(parts)
            if letter == "\\":
                following = text[self.at + 1 : self.at + 2]
                keeps = following not in ('"', "\\", "$", "`", "\n")
                parts.append(f"\\{following}" if keeps else "" if following == "\n" else following)
                self.at += 2
            elif letter == "$":
                parts.append(self._dollar(depth))
            elif letter == "`":
                parts.append(self._backticks(depth))
            else:
                parts.append(letter)
                self.at += 1
        self.is_open = True
        return "".join(parts)

    def _dollar(self, depth: int) -> str:
        """Read `$name`, `${…}` or `$(…)`, whose commands are kept; the heredoc of a `cat` is its text."""
        text, begin = self.text, self.at
        if text.startswith("$((", begin):
            end = text.find("))", begin)
            self.at = len(text) if end < 0 else end + 2
            return text[begin : self.at]
        if text.startswith("$(", begin):
            self.at += 2
            first = len(self.parts)
            held, self._heredocs = self._heredocs, []
            if depth < _DEEPEST:
                self.read_list(")", depth + 1)
            self._heredocs = held
            inner = [part for part in self.parts[first:] if part.words]
            if inner and inner[-1].words == ["cat"] and inner[-1].stdin:
                return inner[-1].stdin
            return text[begin : self.at]
        if text.startswith("${", begin):
            end = text.find("}", begin)
            self.at = len(text) if end < 0 else end + 1
            return text[begin : self.at]
        if text.startswith("$'", begin):
            end = begin + 2
            while end < len(text) and text[end] != "'":
                end += 2 if text[end] == "\\" else 1
            self.at = end + 1
            return text[begin + 2 : end].replace("\\n", "\n").replace("\\'", "'")
        self.at += 1
        return "$"

    def _backticks(self, depth: int) -> str:
        end = self.text.find("`", self.at + 1)
        end = len(self.text) if end < 0 else end
        inner = self.text[self.at + 1 : end]
        if depth < _DEEPEST:
            nested = _Reader(inner)
            nested.read_list("", depth + 1)
            self.parts += [part for part in nested.parts if part.words][:_MOST_COMMANDS]
        self.at = end + 1
        return f"`{inner}`"
