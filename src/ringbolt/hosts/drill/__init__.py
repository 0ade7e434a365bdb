"""The recovery drill: simulates a compaction of a task and scores what is recovered."""

from .drills import drill as drill
from .drills import run as run
from .drills import total as total
