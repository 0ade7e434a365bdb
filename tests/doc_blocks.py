"""The code blocks of a page: reading them, and running those in Python."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

from ringbolt import TaskMemory


class Block(NamedTuple):
    """A fenced block: its language, its text, the line it starts on, and the text before it."""

    language: str
    text: str
    line: int
    before: str


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    end = 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(match[1], match[2], line, text[end : match.start()]))
        end = match.end()
    return found


def run_page(page: Path) -> None:
    """Run the Python blocks of a page in order; each prints what the text block right after it shows."""
    found = blocks(page.read_text(encoding="utf-8"))
    namespace: dict[str, object] = {"__name__": "docs"}
    try:
        for block, following in zip(found, [*found[1:], None], strict=True):
            if block.language != "python":
                continue
            output = io.StringIO()
            with redirect_stdout(output):
                exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)
            shown = following and following.language == "text" and not following.before.strip()
            place = f"{page.name} from line {block.line} prints {output.getvalue()!r}"
            assert output.getvalue() == (following.text if shown else ""), place
    finally:
        for value in namespace.values():
            if isinstance(value, TaskMemory):
                value.close()
