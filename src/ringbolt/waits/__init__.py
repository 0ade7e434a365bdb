"""Waiting for files, logs, processes, ports, URLs, terminals, screens, times, tasks and people.

`conditions` parses what a caller waits for, `targets` looks at it once, `state` is a wait as the store holds
it, `loop` looks again and again (a worker for all waits, a blocking caller for its own), `wake` records what
a look found and ends the wait, `operations` are the four calls of TaskMemory. May import model, system,
store, ledger, llm and core.
"""

from __future__ import annotations

from .conditions import Place, Watch, read_watch
from .targets import Surroundings, Verdict, begin, look

__all__ = ["Place", "Surroundings", "Verdict", "Watch", "begin", "look", "read_watch"]
