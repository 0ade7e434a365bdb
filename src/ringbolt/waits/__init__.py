"""Waits: what is watched, what must become true of it, and how that is looked at. No store, no clock."""

from __future__ import annotations

from .conditions import Place, Watch, read_watch
from .looking import begin, look
from .verdicts import Surroundings, Verdict

__all__ = ["Place", "Surroundings", "Verdict", "Watch", "begin", "look", "read_watch"]
