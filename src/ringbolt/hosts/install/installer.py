"""Install our hooks and MCP server into a host's settings, and restore the files on removal."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Mapping
from difflib import unified_diff
from hashlib import sha256
from itertools import count
from typing import Any

from ...config import user_folder
from ...model.errors import Conflict, InvalidInput, StoreError, shown
from ...model.scope import workspace_of
from ...model.types import Value
from ...system.files import FileErrors, locked_folder, read_bounded, replacing
from ...system.os_calls import make_private_folders, open_file, set_mode, sync
from ..hook_build import remove_unused_builds, with_build, write_build
from ..host_table import HOSTS
from .json_settings import BOM, INSTALLED, MISSING, OUTDATED, Before
from .jsonc import NotJson, parse
from .plugins import OwnFile
from .targets import Target, install_targets

PARTLY = "partly"
_MOST = 64 << 20


class Change(Value, frozen=True, kw_only=True):
    """A file's text before and after; None stands for no file."""

    path: str  # with links resolved
    before: str | None
    after: str | None
    mode: int
    backed_up: bool = False  # whether to copy the file first
    remember: Before | None = None  # stored for the removal


class Report(Value, frozen=True, kw_only=True):
    """The state of an installation, and its changes."""

    host: str
    scope: str
    state: str  # of all files together
    files: dict[str, dict[str, str]]  # path: entry: state
    changed: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    diff: str = ""
    notes: tuple[str, ...] = ()


class Installer:
    """One host in one scope: for this user, or for one project."""

    def __init__(
        self,
        host: str,
        *,
        scope: str | None = None,
        project: str | None = None,
        program: str | None = None,
        status_line: bool = False,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        folder, _ = workspace_of(os.path.abspath(project or "."))
        self.hook = with_build(hook_program(program))
        self.host = host
        self.scope, self.files = install_targets(
            host, scope, folder, self.hook, environ, status_line=status_line
        )

    def check(self) -> Report:
        """The state of the installation; changes nothing."""
        states = {target.path: target.states(_split(_read(target.path))[0]) for target in self.files}
        return self._report(states)

    def install(self, *, dry_run: bool = False) -> Report:
        """Add missing and outdated entries."""
        return self._apply(self._installing, dry_run)

    def remove(self, *, dry_run: bool = False) -> Report:
        """Remove all of our entries and files."""
        return self._apply(self._removing, dry_run)

    def _apply(self, plan: Any, dry_run: bool) -> Report:
        if dry_run:
            changes = [plan(target) for target in self.files]
            diff = "".join(_diff(change) for change in changes)
            paths = tuple(change.path for change in changes if change.before != change.after)
            return self.check().replace(diff=diff, changed=paths)
        folder = _memory_folder()
        with FileErrors(folder):
            make_private_folders(folder)
        with locked_folder(folder):
            # All changes are computed before the first is made, so that an error leaves nothing half done.
            changes = [plan(target) for target in self.files]
            changes = [change for change in changes if change.before != change.after]
            for change in changes:
                _check_writable(change)
            if plan == self._installing and self.hook.build:
                write_build(self.hook.build)
            backups = [backup for change in changes if (backup := _make(change))]
            paths = tuple(change.path for change in changes)
            remove_unused_builds(_remembered_settings())
            return self.check().replace(changed=paths, backups=tuple(backups))

    def _installing(self, target: Target) -> Change:
        path, text, mode = _current(target)
        bare, bom = _split(text)
        states = set(target.states(bare).values())
        after, created = target.installed(bare)
        known = _remembered(path) if states != {MISSING} else None
        if known is None and states == {MISSING}:
            known = Before(
                text=bare if bare is not None and _is_blank(bare) else None,
                existed=bare is not None,
                folders=_missing_folders(os.path.dirname(path)),
                created=created,
            )
        elif known is not None:
            known = known.replace(created=[*(known.created or []), *created])
        copy = _needs_backup(target, text, known)
        return Change(path=path, before=text, after=bom + after, mode=mode, backed_up=copy, remember=known)

    def _removing(self, target: Target) -> Change:
        path, text, mode = _current(target)
        if text is None:
            return Change(path=path, before=None, after=None, mode=mode)
        bare, bom = _split(text)
        known = _remembered(path)
        left = target.removed(bare or "", known)
        after = None if left is None else bom + left
        copy = _needs_backup(target, text, known)
        return Change(path=path, before=text, after=after, mode=mode, backed_up=copy)

    def _report(self, states: dict[str, dict[str, str]]) -> Report:
        every = {state for file in states.values() for state in file.values()}
        together = next(iter(every)) if len(every) == 1 else OUTDATED if OUTDATED in every else PARTLY
        if together == INSTALLED and self.hook.build and not os.path.isfile(self.hook.build):
            together = OUTDATED  # the hooks work without the build, but slower
        notes = HOSTS[self.host].advice if together != MISSING else ()
        return Report(host=self.host, scope=self.scope, state=together, files=states, notes=notes)


def hook_program(path: str | None) -> str:
    """The absolute path of `ringbolt-hook`: `path`, otherwise beside this Python, otherwise on the PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "ringbolt-hook")
    program = path or (beside if os.access(beside, os.X_OK) else shutil.which("ringbolt-hook"))
    if not program or not os.path.isfile(program) or not os.access(program, os.X_OK):
        raise InvalidInput(
            "invalid_argument",
            f"The program {shown(program or 'ringbolt-hook', 400)} was not found, or cannot be run.",
            "Install Ringbolt with its programs, or name the program with --program.",
        )
    path = os.path.abspath(program)
    if os.path.basename(path) != "ringbolt-hook" or not path.isprintable():
        raise InvalidInput(
            "invalid_argument",
            f"{shown(path, 400)} is not named ringbolt-hook.",
            "Name that program.",
        )
    return path


# --- reading ----------------------------------------------------------------------------------------


def _read(path: str) -> str | None:
    """The text of a settings file, or None if there is none."""
    real = os.path.realpath(path)
    if not os.path.lexists(real):
        return None
    if os.path.isdir(real):
        raise InvalidInput(
            "invalid_argument", f"{shown(path, 400)} cannot be changed: it is a folder.", "Move it away."
        )
    with FileErrors(path):
        content = read_bounded(real, _MOST)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "invalid_text",
            f"{shown(path, 400)} is not UTF-8: {error.reason} at byte {error.start}.",
            "Convert it, then try again.",
        ) from None


def _current(target: Target) -> tuple[str, str | None, int]:
    """A file: its path with links resolved, its text and its mode."""
    path = os.path.realpath(target.path)
    text = _read(path)
    if text is None:
        return path, None, 0o600 if target.private else 0o644
    return path, text, stat.S_IMODE(os.stat(path).st_mode)


def _split(text: str | None) -> tuple[str | None, str]:
    """A text without its byte order mark, and the mark."""
    return (text[1:], BOM) if text is not None and text.startswith(BOM) else (text, "")


def _is_blank(text: str) -> bool:
    """Whether a text holds only white space and comments."""
    try:
        return parse(text) is None
    except NotJson:  # TOML
        return not text.strip()


def _needs_backup(target: Target, text: str | None, known: Before | None) -> bool:
    """Whether a file has content that we did not write."""
    if text is None:
        return False
    return text != target.content if isinstance(target, OwnFile) else known is None or known.existed


def _missing_folders(folder: str) -> list[str]:
    """The missing folders above a file, the innermost first."""
    missing: list[str] = []
    while folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


# --- writing ----------------------------------------------------------------------------------------


def _check_writable(change: Change) -> None:
    """Raise, before anything is written, if a file cannot or must not be written."""
    folder = os.path.dirname(change.path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise InvalidInput("invalid_argument", f"{shown(folder, 400)} is not a folder.", "Move it away.")
    # The file is replaced, not written to, so its write protection alone would not stop us.
    protected = change.before is not None and not change.mode & 0o222
    if protected or not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(
            "store_readonly",
            f"{shown(change.path if protected else folder, 400)} is write-protected.",
            "Make it writable, or install in the other scope.",
        )


def _make(change: Change) -> str | None:
    """Write or delete a file; returns the path of the backup, if one was made."""
    with FileErrors(change.path):
        if change.remember is not None:
            _remember(change.path, change.remember)
        os.makedirs(os.path.dirname(change.path), exist_ok=True)
        known = _remembered(change.path)
        backup = _back_up(change) if change.backed_up else None
        if _read(change.path) != change.before:
            raise Conflict(
                "stale_version",
                f"{shown(change.path, 400)} was changed by another program in the meantime.",
                "Try again.",
            )
        if change.after is None:
            os.unlink(change.path)
            _forget(change.path, known)
            return backup
        with replacing(change.path, mode=change.mode) as file:
            set_mode(file.fileno(), change.mode)  # the umask may have removed bits
            file.write(change.after.encode())
        if change.remember is None:
            _forget(change.path, known)
    return backup


def _back_up(change: Change) -> str:
    """Copy a file to a new name beside it; returns the path."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    paths = (f"{change.path}.{stamp}{f'-{n}' if n else ''}.ringbolt-backup" for n in count())
    path = next(path for path in paths if not os.path.lexists(path))
    handle = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, change.mode)
    with open(handle, "wb") as file:
        file.write((change.before or "").encode())
        file.flush()
        sync(file.fileno())
    return path


def _diff(change: Change) -> str:
    """A change as a unified diff."""
    old, new = ("" if text is None else text for text in (change.before, change.after))
    source, target = (
        change.path if text is not None else "/dev/null" for text in (change.before, change.after)
    )
    lines = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), source, target)
    no_end = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + no_end for line in lines)


# --- notes for the removal --------------------------------------------------------------------------


def _memory_folder() -> str:
    return os.path.join(user_folder("data"), "installed")


def _memory_path(path: str) -> str:
    return os.path.join(_memory_folder(), f"{sha256(os.fsencode(path)).hexdigest()[:32]}.json")


def _remembered(path: str) -> Before | None:
    """The stored state of a file before the installation."""
    place = _memory_path(path)
    if not os.path.lexists(place):
        return None
    try:
        data = json.loads(read_bounded(place, _MOST))
        return Before(**{name: data[name] for name in Before.__struct_fields__})
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            "store_unavailable",
            f"{shown(place, 400)} cannot be read: {error}.",
            "Move it away; a removal then deletes containers that become empty.",
        ) from None


def _remembered_settings() -> list[str]:
    """The settings files with our entries."""
    folder = _memory_folder()
    found: list[str] = []
    for name in os.listdir(folder):
        try:
            found.append(json.loads(read_bounded(os.path.join(folder, name), _MOST))["path"])
        except (ValueError, KeyError, TypeError, OSError):
            continue
    return found


def _remember(path: str, before: Before) -> None:
    with replacing(_memory_path(path)) as file:
        file.write(json.dumps({"path": path, **before.to_dict()}).encode())


def _forget(path: str, known: Before | None) -> None:
    """Forget a file without entries of ours, and remove the folders that were created for it."""
    place = _memory_path(path)
    if os.path.lexists(place):
        os.unlink(place)
    for folder in known.folders if known is not None else ():
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
