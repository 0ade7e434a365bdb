"""The few settings that a hook needs, and where the journal is."""

from __future__ import annotations

import sys

from .journal_files import blake2b
from .system_calls import complain, read_small, system, variable, variable_or_none

TYPE_CHECKING = False  # typing takes longer to load than `ringbolt statusline` to answer
if TYPE_CHECKING:
    from typing import Any


class HookSettings:
    """The few settings that this process needs: from the environment, else from the settings file."""

    _LIMITS = {"hook_deadline_ms": 300, "hook_compact_ms": 2000}  # noqa: RUF012 - never changed

    def __init__(self) -> None:
        self._file: dict[str, Any] | None = None

    def location(self) -> str:
        """The store's path or URL."""
        return self._text("store") or f"{user_folder('XDG_DATA_HOME', '.local/share')}/ringbolt.db"

    def tenant(self) -> str:
        """The tenant of a store on PostgreSQL."""
        return self._text("tenant")

    def milliseconds(self, name: str) -> int:
        """A time limit; the default if the setting is invalid, which the package reports."""
        value = variable(f"RINGBOLT_{name.upper()}") or self._from_file(name)
        try:
            number = int(value)
        except (TypeError, ValueError):
            return self._LIMITS[name]
        return number if 10 <= number <= 60_000 else self._LIMITS[name]

    def is_on(self, name: str) -> bool:
        """Whether a switch is on; they are off by default."""
        return self._text(name) == "on"

    def _text(self, name: str) -> str:
        value = variable(f"RINGBOLT_{name.upper()}") or self._from_file(name)
        return value if isinstance(value, str) else ""

    def _from_file(self, name: str) -> Any:
        if self._file is None:
            self._file = self._read_file()
        return self._file.get(name)

    def _read_file(self) -> dict[str, Any]:
        path = variable("RINGBOLT_CONFIG") or f"{user_folder('XDG_CONFIG_HOME', '.config')}/config.toml"
        data = read_small(path, 1 << 20)
        if not any(name in data for name in (b"store", b"tenant", b"hook_", b"keep_secrets")):
            return {}
        text = data.decode("utf-8", "replace")
        values = simple_toml(text)
        if values is None:
            from tomllib import loads  # loads `re`: only for files that need a real parser

            try:
                values = loads(text)
            except (ValueError, RecursionError):
                complain(f"the settings file {path} is not valid TOML")
                values = {}
        return values


def simple_toml(text: str) -> dict[str, Any] | None:
    """The values of a settings file that has only lines like `name = "text"` and `name = 12`; else None."""
    values: dict[str, Any] = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        inner = value[1:-1]
        plain = len(value) > 1 and value[0] == value[-1] == '"' and inner.isprintable()
        plain = plain and '"' not in inner and "\\" not in inner
        number = value.isascii() and value.isdecimal() and (value[0] != "0" or value == "0")
        if not equals or not (name.isascii() and name.isidentifier()) or name in values:
            return None
        if not (plain or number):
            return None
        values[name] = inner if plain else int(value)
    return values


def user_folder(name: str, below: str) -> str:
    """Our folder below a folder of the user: the one that a variable names, or its usual place."""
    base = variable(name)
    if not base and sys.platform == "win32":  # as in system/user_folders.py
        base = variable("APPDATA" if "CONFIG" in name else "LOCALAPPDATA")
    if not base:
        home = _home()
        base = f"{home}{'' if home.endswith('/') else '/'}{below}"
    return f"{base}{'' if base.endswith('/') else '/'}ringbolt"


def _home() -> str:
    if sys.platform != "win32" and (home := variable_or_none("HOME")) is not None:
        return home.rstrip("/") or "/"
    from os.path import expanduser  # asks the system who we are

    return expanduser("~")


def journal_folders(location: str, tenant: str = "") -> list[str]:
    """The folders that may hold the journal of a store, the best first; as journal/folders.py has it."""
    scheme, separator, rest = location.partition("://")
    beside = ""
    if not separator or scheme in ("sqlite", "file"):
        beside = name = resolved(rest if separator else location)
    else:
        # The server, the database and the tenant, without the user.
        name, _, query = rest.rpartition("@")[2].partition("?")
        values = {"tenant": tenant}
        for part in query.split("&"):
            key, _, value = part.partition("=")
            values[key] = value
        if values["tenant"] in ("", "default"):
            del values["tenant"]
        kept = "&".join(
            f"{key}={values[key]}" for key in ("host", "port", "dbname", "tenant") if key in values
        )
        name = f"{name}?{kept}" if kept else name
    digest = blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()
    away = f"{user_folder('XDG_DATA_HOME', '.local/share')}/journals/{digest}.journal"
    return [f"{beside}.journal", away] if beside else [away]


def resolved(path: str) -> str:
    """A path as `os.path.realpath` gives it; a plain one without links does not need `os` for it."""
    plain = path.startswith("/") and not path.endswith(("/", "/.", "/.."))
    if sys.platform != "win32" and plain and not ("//" in path or "/./" in path or "/../" in path):
        if not _has_links(path):
            return path
    from os.path import expanduser, realpath

    return realpath(expanduser(path))


def _has_links(path: str) -> bool:
    end = 0
    while end != len(path):
        end = path.find("/", end + 1)
        end = len(path) if end < 0 else end
        try:
            mode = system.lstat(path[:end]).st_mode
        except (OSError, ValueError):
            return False  # from here on there is nothing
        if mode & 0o170000 == 0o120000:
            return True
    return False
