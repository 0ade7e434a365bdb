"""Transcripts: the files in which hosts record their sessions.

`claude` and `codex` parse lines, `reader` turns a file into events, `importing` creates tasks from whole
files (`ringbolt capture`), and `tail` adds events that hooks do not report.
"""
