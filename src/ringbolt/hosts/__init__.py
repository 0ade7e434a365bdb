"""Hosts: the programs that run agents, such as Claude Code or Codex.

This room captures what happens in them (hooks and their journal, the guard, the tail of the transcript, the
import of transcripts), gives them context back, installs us in their settings, and drills how much a task
recovers after a compaction. What differs between hosts is in one table, `host_table`. It may import all rooms
below it up to `memory`, and no surface.
"""
