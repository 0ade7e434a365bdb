"""The live view of `ringbolt watch`: every open task on one screen, with keys to open, pause and instruct.

It is drawn only on a terminal. The screen is redrawn when a task changes or a key is pressed; a thread reads
the keys, because reading one blocks.
"""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ....memory import TaskMemory
from ....model.errors import RingboltError
from ....model.types import TaskCard
from ....packet.encode import terminal
from ...task_words import ago, now_or_next
from ..render import event, task
from ..wording import cut

_RECENT = 12  # events of an opened task
_REDRAW = 30.0  # seconds after which the times on the screen are out of date
_KEYS = "j/k choose   enter open or close   p pause or reopen   i instruct   q quit"
_DOWN, _UP = ("j", "\x1b[B", "\xe0P"), ("k", "\x1b[A", "\xe0H")
_KEY = re.compile(r"\x1b\[.|\xe0.|.", re.DOTALL)
_QUIT = ("q", "\x03", "\x04")


class LiveView:
    """The tasks of a folder, or of all folders, and the one that is chosen."""

    def __init__(self, memory: TaskMemory, every: float, only: str | None = None) -> None:
        self._memory, self._every, self._only = memory, every, only
        self._user = memory.acting_as(channel="user")
        self._cards: tuple[TaskCard, ...] = ()
        self._chosen = ""
        self._is_open = only is not None
        self._remark = ""

    def run(self) -> None:
        """Draw until the user quits."""
        console = Console()
        while (instructed := self._draw_until_asked(console)) is not None:
            text = click.prompt(f"Instruct {cut(instructed.name)}", default="", show_default=False)
            if text.strip():
                self._instruct(instructed.id, text)

    def _draw_until_asked(self, console: Console) -> TaskCard | None:
        """Draw until the user quits (None) or wants to instruct a task, which needs the screen."""
        keys = _Keys()
        drawn, drawn_at = None, 0.0
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                self._read()
                state = (self._cards, self._chosen, self._is_open, self._remark)
                if state != drawn or time.monotonic() - drawn_at > _REDRAW:
                    live.update(self._screen(), refresh=True)
                    drawn, drawn_at = state, time.monotonic()
                key = keys.next(self._every)
                if key in _QUIT:
                    return None
                if key == "i" and (card := self._card()) is not None:
                    return card
                self._press(key)

    def _read(self) -> None:
        cards = self._memory.task_list(limit=100).tasks
        self._cards = tuple(card for card in cards if self._only in (None, card.id))
        if self._card() is None:
            self._chosen = self._cards[0].id if self._cards else ""

    def _card(self) -> TaskCard | None:
        return next((card for card in self._cards if card.id == self._chosen), None)

    def _press(self, key: str) -> None:
        ids = [card.id for card in self._cards]
        if not ids or not key:
            return
        at = ids.index(self._chosen)
        if key in _DOWN:
            self._chosen = ids[min(at + 1, len(ids) - 1)]
        elif key in _UP:
            self._chosen = ids[max(at - 1, 0)]
        elif key in ("\r", "\n"):
            self._is_open = not self._is_open
        elif key == "p":
            status = "active" if self._cards[at].status == "paused" else "paused"
            self._act(lambda: self._user.task_update(ids[at], status=status))

    def _instruct(self, task_id: str, text: str) -> None:
        self._act(lambda: self._user.task_note(task_id, text, type="instruction"))

    def _act(self, write: Callable[[], object]) -> None:
        try:
            write()
            self._remark = ""
        except RingboltError as error:
            self._remark = f"{error.message} {error.hint}"

    def _screen(self) -> Group:
        rows = Table(box=None, pad_edge=False, expand=True)
        for heading, ratio in (("TASK", 4), ("HOW IT STANDS", 2), ("STEPS", 1), ("NOW", 4), ("CHANGED", 2)):
            rows.add_column(heading, ratio=ratio, no_wrap=True, overflow="ellipsis")
        for card in self._cards:
            steps = f"{card.done}/{card.total}" if card.total else ""
            now = now_or_next(card.to_dict())
            cells = (card.name, card.life or card.status, steps, now, ago(card.updated_at))
            style = "reverse" if card.id == self._chosen else ""
            rows.add_row(*(Text(terminal(cell)) for cell in cells), style=style)
        parts = [rows if self._cards else Text("No open tasks.")]
        if self._is_open and self._chosen:
            parts.append(Text("\n".join(["", *self._opened()])))
        keys = Text(_KEYS, style="dim")
        remark = [Text(terminal(self._remark))] if self._remark else []
        return Group(keys, *remark, Text(""), *parts)

    def _opened(self) -> list[str]:
        lines = task(self._memory.task_get(self._chosen).to_dict())
        latest = self._memory.task_thread(self._chosen, limit=_RECENT).events
        return [*lines, "Latest events", *(f"  {event(each.to_dict())}" for each in latest)]


class _Keys:
    """The keys that are pressed, read by a thread: one that waits for a key cannot do anything else."""

    def __init__(self) -> None:
        self._pressed: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="ringbolt-keys", daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                keys = _KEY.findall(click.getchar())  # several, if they were pressed quickly
            except (KeyboardInterrupt, EOFError):
                keys = ["q"]
            for key in keys:
                self._pressed.put(key)
                if key in (*_QUIT, "i"):  # the terminal is needed for something else now
                    return

    def next(self, seconds: float) -> str:
        """The next key; empty if none is pressed in time."""
        try:
            return self._pressed.get(timeout=seconds)
        except queue.Empty:
            return ""
