"""Waiting for files, logs, processes, ports, URLs, terminals, screens, times, tasks and people.

`conditions` parses targets and conditions, `targets` checks a target once, `state` is a wait in the store,
`loop` checks repeatedly (a worker for all waits, a blocking caller for its own), `wake` records the result of
a check and ends the wait, `operations` are the four operations of TaskMemory. May import model, system,
store, ledger, llm and core.
"""

from __future__ import annotations

from .conditions import Place, Watch, read_watch
from .targets import CheckContext, Verdict, begin, check

__all__ = ["CheckContext", "Place", "Verdict", "Watch", "begin", "check", "read_watch"]
