"""Write files of the journal, each as a whole or not at all."""

from __future__ import annotations

import sys
import time

from .system_calls import CREATE_NEW, exists, is_link, make_folder, read_small, system, unlink, write_all

try:
    from _blake2 import blake2b
except ImportError:  # a Python built without it
    from hashlib import blake2b


# Where Windows counts its boots.
BOOT_KEY = r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters"


def head_digest(head: str) -> str:
    """The digest of a program in the names of event files."""
    return blake2b(head.encode("utf-8", "replace"), digest_size=4).hexdigest()


def session_digest(session: str) -> str:
    """The digest of a session in the names of event files, cards and marks."""
    return blake2b(session.encode("utf-8", "replace"), digest_size=4).hexdigest()


def write_event(folder: str, name: str, content: bytes) -> str:
    """Write an event file so that it is in new/ as a whole or not at all; returns its path."""
    part, path = write_part(folder, name, content), f"{folder}/new/{name}"
    try:
        try:
            _rename(part, path)
        except FileNotFoundError:  # new/ was removed
            make_journal(folder)
            _rename(part, path)
    except BaseException:
        unlink(part)
        raise
    return path


def write_part(folder: str, name: str, content: bytes) -> str:
    """Write a file into the tmp/ of a journal, safely on disk; returns its path."""
    part = f"{folder}/tmp/{name}"  # noqa: S108 - the journal's own
    for path in (folder, f"{folder}/tmp", f"{folder}/new"):  # noqa: S108 - the journal's own
        if is_link(path):  # somebody else's folder
            raise OSError(f"{path} is a symbolic link")
    try:
        file = system.open(part, CREATE_NEW, 0o600)
    except FileNotFoundError:
        make_journal(folder)
        file = system.open(part, CREATE_NEW, 0o600)
    try:
        try:
            write_all(file, content)
            _sync(file)
        finally:
            system.close(file)
    except BaseException:
        unlink(part)
        raise
    return part


def _rename(part: str, path: str) -> None:
    """Rename a file; on Windows again for a moment, because a virus scanner may have the new file open."""
    for pause in (0.002, 0.01, 0.05, 0.2):
        try:
            return system.replace(part, path)
        except PermissionError:
            if sys.platform != "win32":
                raise
            time.sleep(pause)
    return system.replace(part, path)


def _sync(file: int) -> None:
    """Write a file through to the disk; on macOS fsync alone leaves it in the drive's cache."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(file, 51)  # F_FULLFSYNC
            return
        except OSError:  # a network share, for example
            pass
    system.fsync(file)


def make_journal(folder: str) -> None:
    """Make the folders of a journal, for the owner alone."""
    if sys.platform == "win32":
        folder = folder.replace("\\", "/")
    missing = [folder]
    while "/" in (above := missing[-1].rpartition("/")[0]) and not exists(above):
        missing.append(above)
    for path in reversed(missing):
        make_folder(path)
    # tmp/ comes last: a writer needs it first, so if it exists, all the others do.
    for name in ("new", "rejected", "cards", "sessions", "tmp"):
        make_folder(f"{folder}/{name}")


def replace_small(path: str, content: bytes) -> bool:
    """Replace a small file as a whole; False if that fails."""
    part = f"{path}.{system.getpid()}.part"
    try:
        file = system.open(part, CREATE_NEW, 0o600)
    except FileNotFoundError:
        try:
            make_journal(path.rpartition("/")[0].rpartition("/")[0])
            file = system.open(part, CREATE_NEW, 0o600)
        except OSError:
            return False
    except OSError:
        return False
    try:
        try:
            write_all(file, content)
        finally:
            system.close(file)
        system.replace(part, path)
    except OSError:
        unlink(part)
        return False
    return True


def boot_id() -> str:
    """Eight digits for this start of the machine: monotonic time counts from there."""
    if sys.platform == "win32":
        try:
            import winreg

            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, BOOT_KEY) as key:
                return f"{winreg.QueryValueEx(key, 'BootId')[0]:08x}"
        except (ImportError, OSError, ValueError, TypeError):
            return "00000000"
    found = read_small("/proc/sys/kernel/random/boot_id", 64)[:8].decode("ascii", "replace")
    return found if len(found) == 8 and found.isalnum() else "00000000"
