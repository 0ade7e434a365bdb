"""What a host shows about itself: its process, and how full its context is."""

from __future__ import annotations

from .system_calls import read_part, read_small, system

_MOST_TRANSCRIPT = 512 << 10
_SHELLS = (b"sh", b"bash", b"dash", b"zsh", b"fish", b"ksh", b"busybox")


def tokens_in_use(lines: bytes) -> int:
    """The tokens of the last request by the usage that Claude Code writes to its transcript; 0 if unknown."""
    place = lines.rfind(b'"usage":')
    if place < 0:
        return 0
    usage = lines[place : place + 600].replace(b" ", b"")
    used = 0
    for name in (b'"input_tokens":', b'"cache_creation_input_tokens":', b'"cache_read_input_tokens":'):
        begin = usage.find(name) + len(name)
        end = begin
        while usage[end : end + 1].isdigit():
            end += 1
        used += int(usage[begin:end] or 0) if begin >= len(name) else 0
    return used


def was_compacted(transcript: str, since: int) -> bool:
    """Whether Gemini CLI replaced its history after its transcript was `since` bytes long."""
    added = read_part(transcript, since, _MOST_TRANSCRIPT)
    begin = b'{"$set":{"messages":['
    return added.startswith(begin) or b"\n" + begin in added


def host_process() -> str:
    """The host's process, as `system/processes.py` names it: the first above us that is not a shell."""
    pid = str(system.getppid())
    for _ in range(8):
        name, found, rest = read_small(f"/proc/{pid}/stat", 4096).partition(b"(")[2].rpartition(b")")
        fields = rest.decode("ascii", "replace").split()
        if not found or len(fields) < 20 or pid in ("0", "1"):
            return ""
        if name not in _SHELLS:
            return f"{pid}:{fields[19]}"
        pid = fields[1]
    return ""
