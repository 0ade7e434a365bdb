"""`ringbolt install`: what is ours is put into the settings of a host, and taken out without a trace."""

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
from typing import Any

from ..config import user_folder
from ..model.errors import Conflict, InvalidInput, StoreError, shown
from ..model.scope import workspace_of
from ..model.types import Value
from ..system.files import FileErrors, locked_folder, read_bounded, replacing
from .hook_build import PROGRAM, remove_unused_builds, with_build, write_build
from .jsonc import NotJson, parse
from .other_files import OwnFile
from .settings_files import BOM, INSTALLED, MISSING, OUTDATED, Remembered
from .targets import Target, targets

PARTLY = "partly"
_MOST = 64 << 20


class Change(Value, frozen=True, kw_only=True):
    """What a file is, and what it shall be; None is no file."""

    path: str  # without links
    before: str | None
    after: str | None
    mode: int
    copied: bool = False  # whether what is there is copied first
    memory: Remembered | None = None  # to be kept for the removal


class Report(Value, frozen=True, kw_only=True):
    """What an installation, a removal or a look at one found."""

    host: str
    scope: str
    state: str  # of all together
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
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        folder, _ = workspace_of(os.path.abspath(project or "."))
        self.hook = with_build(hook_program(program))
        found = targets(host, scope, folder, self.hook, environ)
        self.host, self.scope, self.files, self.notes = host, found.scope, found.files, found.notes

    def check(self) -> Report:
        """How it stands, changing nothing."""
        states = {target.path: target.states(_split(_read(target.path))[0]) for target in self.files}
        return self._report(states)

    def install(self, *, dry_run: bool = False) -> Report:
        """Put everything in; what is there already stays as it is."""
        return self._apply(self._installing, dry_run)

    def remove(self, *, dry_run: bool = False) -> Report:
        """Take everything out again."""
        return self._apply(self._removing, dry_run)

    def _apply(self, plan: Any, dry_run: bool) -> Report:
        if dry_run:
            changes = [plan(target) for target in self.files]
            diff = "".join(_diff(change) for change in changes)
            paths = tuple(change.path for change in changes if change.before != change.after)
            return self.check().replace(diff=diff, changed=paths)
        folder = _memory_folder()
        with FileErrors(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        with locked_folder(folder):
            # All are thought through before the first is written, so that a refusal leaves nothing half done.
            changes = [plan(target) for target in self.files]
            changes = [change for change in changes if change.before != change.after]
            for change in changes:
                _check_writable(change)
            if plan == self._installing and self.hook.build:
                write_build(self.hook.build)
            backups = [backup for change in changes if (backup := _carry_out(change))]
            paths = tuple(change.path for change in changes)
            remove_unused_builds(_settings_we_are_in())
            return self.check().replace(changed=paths, backups=tuple(backups))

    def _installing(self, target: Target) -> Change:
        path, text, mode = _looked_at(target)
        bare, bom = _split(text)
        states = set(target.states(bare).values())
        after, made = target.installed(bare)
        known = _remembered(path) if states != {MISSING} else None
        if known is None and states == {MISSING}:
            says_nothing = bare is not None and not _says_anything(bare)
            known = Remembered(
                before=bare if says_nothing else None,
                existed=bare is not None,
                folders=_missing_folders(os.path.dirname(path)),
                made=made,
            )
        elif known is not None:
            known = known.replace(made=[*(known.made or []), *made])
        copied = _is_worth_a_copy(target, text, known)
        return Change(path=path, before=text, after=bom + after, mode=mode, copied=copied, memory=known)

    def _removing(self, target: Target) -> Change:
        path, text, mode = _looked_at(target)
        if text is None:
            return Change(path=path, before=None, after=None, mode=mode)
        bare, bom = _split(text)
        known = _remembered(path)
        left = target.removed(bare or "", known)
        after = None if left is None else bom + left
        copied = _is_worth_a_copy(target, text, known)
        return Change(path=path, before=text, after=after, mode=mode, copied=copied)

    def _report(self, states: dict[str, dict[str, str]]) -> Report:
        every = {state for file in states.values() for state in file.values()}
        together = next(iter(every)) if len(every) == 1 else OUTDATED if OUTDATED in every else PARTLY
        if together == INSTALLED and self.hook.build and not os.path.isfile(self.hook.build):
            together = OUTDATED  # the hooks work without it, but slower
        notes = self.notes if together != MISSING else ()
        return Report(host=self.host, scope=self.scope, state=together, files=states, notes=notes)


def hook_program(given: str | None) -> str:
    """The absolute path of the program that hooks call."""

    beside = os.path.join(os.path.dirname(sys.executable), PROGRAM)
    found = given or (beside if os.access(beside, os.X_OK) else shutil.which(PROGRAM))
    if not found or not os.path.isfile(found) or not os.access(found, os.X_OK):
        raise InvalidInput(
            "invalid_argument",
            f"There is no program {shown(found or PROGRAM, 400)} to run.",
            "Install Ringbolt with its programs, or name the program with --program.",
        )
    path = os.path.abspath(found)
    if os.path.basename(path) != PROGRAM or not path.isprintable():
        raise InvalidInput(
            "invalid_argument", f"{shown(path, 400)} is not named {PROGRAM}.", "Name that program."
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
            "invalid_argument", f"{shown(path, 400)} is in the way: it is a folder.", "Move it away."
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


def _looked_at(target: Target) -> tuple[str, str | None, int]:
    """A file: its path without links, its text, its mode."""
    path = os.path.realpath(target.path)
    text = _read(path)
    if text is None:
        return path, None, 0o600 if target.private else 0o644
    return path, text, stat.S_IMODE(os.stat(path).st_mode)


def _split(text: str | None) -> tuple[str | None, str]:
    """A text without its byte order mark, and that."""
    return (text[1:], BOM) if text is not None and text.startswith(BOM) else (text, "")


def _says_anything(text: str) -> bool:

    try:
        return parse(text) is not None
    except NotJson:  # TOML
        return bool(text.strip())


def _is_worth_a_copy(target: Target, text: str | None, known: Remembered | None) -> bool:
    """Whether a file has anything in it that is not ours."""
    if text is None:
        return False
    return text != target.content if isinstance(target, OwnFile) else known is None or known.existed


def _missing_folders(folder: str) -> list[str]:
    """The folders above a file that are not there, the innermost first."""
    missing: list[str] = []
    while folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


# --- writing ----------------------------------------------------------------------------------------


def _check_writable(change: Change) -> None:
    """Refuse before anything is written what could not be written, or should not be."""
    folder = os.path.dirname(change.path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise InvalidInput(
            "invalid_argument", f"{shown(folder, 400)} is in the way: it is no folder.", "Move it away."
        )
    # The file would be replaced, not written to: its write protection alone would not keep us out.
    protected = change.before is not None and not change.mode & 0o222
    if protected or not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(
            "store_readonly",
            f"{shown(change.path if protected else folder, 400)} is write-protected.",
            "Take the protection away, or install in the other scope.",
        )


def _carry_out(change: Change) -> str | None:
    """Write a file, or take it away; returns the path of the copy of what was there."""
    with FileErrors(change.path):
        if change.memory is not None:
            _remember(change.path, change.memory)
        os.makedirs(os.path.dirname(change.path), exist_ok=True)
        known = _remembered(change.path)
        backup = _backed_up(change) if change.copied else None
        if _read(change.path) != change.before:
            raise Conflict(
                "stale_version",
                f"{shown(change.path, 400)} was changed by another program just now.",
                "Try again.",
            )
        if change.after is None:
            os.unlink(change.path)
            _forget(change.path, known)
            return backup
        with replacing(change.path, mode=change.mode) as file:
            os.fchmod(file.fileno(), change.mode)  # whatever the umask takes from a new file
            file.write(change.after.encode())
        if change.memory is None:
            _forget(change.path, known)
    return backup


def _backed_up(change: Change) -> str:
    """A copy of a file beside it, under a name that nothing has."""

    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number = 0
    while True:
        more = f"-{number}" if number else ""
        path = f"{change.path}.{stamp}{more}.ringbolt-backup"
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, change.mode)
        except FileExistsError:
            number += 1
            continue
        with open(handle, "wb") as file:
            file.write((change.before or "").encode())
            file.flush()
            os.fsync(file.fileno())
        return path


def _diff(change: Change) -> str:
    """A change as a unified diff."""

    old, new = ("" if text is None else text for text in (change.before, change.after))
    one, other = (change.path if text is not None else "/dev/null" for text in (change.before, change.after))
    lines = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), one, other)
    no_end = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + no_end for line in lines)


# --- what a removal must know -----------------------------------------------------------------------


def _memory_folder() -> str:

    return os.path.join(user_folder("data"), "installed")


def _memory_path(path: str) -> str:

    return os.path.join(_memory_folder(), f"{sha256(os.fsencode(path)).hexdigest()[:32]}.json")


def _remembered(path: str) -> Remembered | None:
    """What is known of a file as it was before the installation."""
    place = _memory_path(path)
    if not os.path.lexists(place):
        return None
    try:
        data = json.loads(read_bounded(place, _MOST))
        return Remembered(**{name: data[name] for name in Remembered.__struct_fields__})
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            "store_unavailable",
            f"{shown(place, 400)} cannot be read: {error}.",
            "Move it away; what is empty after a removal then goes.",
        ) from None


def _settings_we_are_in() -> list[str]:
    """The settings files that hold something of ours."""
    folder = _memory_folder()
    found: list[str] = []
    for name in os.listdir(folder):
        try:
            found.append(json.loads(read_bounded(os.path.join(folder, name), _MOST))["path"])
        except (ValueError, KeyError, TypeError, OSError):
            continue
    return found


def _remember(path: str, memory: Remembered) -> None:
    with replacing(_memory_path(path)) as file:
        file.write(json.dumps({"path": path, **memory.to_dict()}).encode())


def _forget(path: str, known: Remembered | None) -> None:
    """Forget a file that we are out of, and the folders that were made for it."""
    place = _memory_path(path)
    if os.path.lexists(place):
        os.unlink(place)
    for folder in known.folders if known is not None else ():
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
