"""The arguments of a program, and what was found about a call."""

from __future__ import annotations

from collections.abc import Sequence

Found = tuple[str, str, str]  # the kind (empty: no effect), the check, the target


class Arguments:
    """The arguments of a program: plain words, and options with their values."""

    def __init__(self, words: Sequence[str], with_value: frozenset[str]) -> None:
        self.words = tuple(words)
        self.with_value = with_value
        self.plain: list[str] = []
        self.options: dict[str, str] = {}
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            if word == "--":
                self.plain += words[place:]
                break
            if len(word) < 2 or not word.startswith("-"):
                self.plain.append(word)
                continue
            name, equals, value = word.partition("=")
            if not equals and name in with_value and place < len(words):
                value = words[place]
                place += 1
            elif not equals and len(word) > 2 and word[1] != "-" and word[:2] in with_value:
                name, value = word[:2], word[2:]  # -nprod
            self.options.setdefault(name, value)

    def has(self, *names: str) -> bool:
        """Whether one of these options is present."""
        return any(name in self.options for name in names)

    def letters(self) -> str:
        """The letters of all short options together: `rsync -avn` has a, v and n."""
        return "".join(name[1:] for name in self.options if name[:1] == "-" and name[1:2] not in ("", "-"))

    def value(self, *names: str) -> str:
        """The value of the first of these options that has one."""
        return next((self.options[name] for name in names if self.options.get(name)), "")
