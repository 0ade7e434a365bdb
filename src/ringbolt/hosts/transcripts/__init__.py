"""Transcripts: the files in which hosts write down their sessions.

`claude` and `codex` parse lines, `reader` turns a file into events, `importing` makes tasks from whole files
(`ringbolt capture`), and `tail` adds what hooks do not report.
"""
