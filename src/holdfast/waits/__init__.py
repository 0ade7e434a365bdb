"""Waits: what is watched, what must become true of it, and how that is looked at. No store, no clock."""

from __future__ import annotations

from .looking import Surroundings, Verdict, begin, look
from .words import Watch, read_watch

__all__ = ["Surroundings", "Verdict", "Watch", "begin", "look", "read_watch"]
