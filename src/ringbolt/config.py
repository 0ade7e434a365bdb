"""Settings: one frozen value, read once. Defaults < TOML file < environment < arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from .model.errors import InvalidInput, RingboltError, shown
from .model.rules import parse_duration
from .model.settings import DURATIONS, LISTS, SETTINGS, SWITCHED, WORDS, Settings


def user_folder(kind: str, environ: Mapping[str, str] = os.environ) -> str:
    """The user's folder for our data or configuration, as the platform has it."""
    variable, below = {
        "data": ("XDG_DATA_HOME", ".local/share"),
        "config": ("XDG_CONFIG_HOME", ".config"),
    }[kind]
    base = environ.get(variable) or os.path.join(os.path.expanduser("~"), below)
    return os.path.join(base, "ringbolt")


def settings_path(environ: Mapping[str, str] = os.environ) -> str:
    """Where the settings file is, or would be."""
    given = environ.get("RINGBOLT_CONFIG")
    return os.path.abspath(given) if given else os.path.join(user_folder("config", environ), "config.toml")


def load_settings(environ: Mapping[str, str] | None = None, **arguments: Any) -> Settings:
    """Read the settings; an unknown name or a bad value is an error that says where it stands."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}

    def take(name: str, value: Any, source: str) -> None:
        values[name] = _checked(name, value, source)
        sources[name] = source

    path = settings_path(environ)
    if os.path.exists(path) or environ.get("RINGBOLT_CONFIG"):
        for name, value in _read_toml(path).items():
            try:
                take(name, value, path)
            except InvalidInput:
                take(name, value, f"{path}, line {line_of(path, name)}")
    for name in SETTINGS:
        if (text := environ.get(f"RINGBOLT_{name.upper()}")) not in (None, ""):
            take(name, text, f"RINGBOLT_{name.upper()}")
    for name, value in arguments.items():
        if value is not None:
            take(name, value, "argument")
    return Settings(**values, sources=sources)


def changed(settings: Settings, **arguments: Any) -> Settings:
    """The settings with some of them given as arguments."""
    given = {name: value for name, value in arguments.items() if value is not None}
    values = {name: _checked(name, value, "argument") for name, value in given.items()}
    return settings.replace(**values, sources={**settings.sources, **dict.fromkeys(given, "argument")})


def store_location(settings: Settings) -> str:
    """The store's path or URL."""
    return settings.store or os.path.join(user_folder("data"), "ringbolt.db")


def _read_toml(path: str) -> dict[str, Any]:
    import tomllib  # as long as half of all that a hook imports, and most have no settings file

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(
            "invalid_argument",
            f"The settings file {path} cannot be read: {error}.",
            "Mend the file.",
        ) from None


def line_of(path: str, name: str) -> int:
    """The line of a settings file that a name stands in; 0 if it cannot be found.

    Looked for only where someone is told of it: the parser does not say.
    """

    import tomllib  # see above

    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    begins = re.compile(rf"""\s*\[*\s*["']?{re.escape(name)}["']?\s*[].=]""")
    for number, line in enumerate(lines):
        if begins.match(line):
            try:
                tomllib.loads("".join(lines[:number]))
            except ValueError:
                continue  # inside a text of several lines
            return number + 1
    return 0


def check_name(name: str, source: str) -> None:
    """Raise unless there is a setting of this name."""
    if name not in SETTINGS:
        from difflib import get_close_matches  # for a message that few will ever see

        near = get_close_matches(name, SETTINGS, 1)
        raise InvalidInput(
            "invalid_argument",
            f"There is no setting {shown(name)} ({source}).",
            (f"Did you mean {near[0]}? " if near else "") + f"The settings are: {', '.join(SETTINGS)}.",
        )


def _checked(name: str, value: Any, source: str) -> Any:
    check_name(name, source)
    default, least, most, _ = SETTINGS[name]
    if name in DURATIONS:
        if name in SWITCHED and value == "off":
            return value
        try:
            parse_duration(name, value)
            return str(value)
        except RingboltError:
            pass
    elif isinstance(default, str):
        read = _read_text(name, value) if isinstance(value, str) else None
        if read is not None:
            return read
    else:
        try:
            number = type(default)(value)
            if not isinstance(value, str) and number != value:
                number = None  # 2048.5 is no number of bytes
        except (TypeError, ValueError, OverflowError):
            number = None
        if number is not None and not isinstance(value, bool) and least <= number <= most:
            return number
    raise InvalidInput(
        "invalid_argument",
        f"The setting {name} is {shown(value)} ({source}); it must be {allowed(name)}.",
        "Correct it there.",
    )


def allowed(name: str) -> str:
    """What a setting may be, in words."""
    default, least, most, _ = SETTINGS[name]
    if name in DURATIONS:
        off = ", or off" if name in SWITCHED else ""
        return f"a duration like 24h or 1d12h30m, or a number of minutes{off}"
    return _text_bounds(name) if isinstance(default, str) else f"a number from {least:,} to {most:,}"


def _read_text(name: str, value: str) -> str | None:
    """What a text setting means; None if it cannot be that."""
    if name in LISTS:
        words = dict.fromkeys(word.strip() for word in value.split(",") if word.strip() not in ("", "none"))
        return ",".join(words) if set(words) <= set(LISTS[name]) else None
    if name == "mirror_folder" and value:
        folder = os.path.expanduser(value)
        return folder if os.path.isabs(folder) and "\0" not in folder else None
    return value if name not in WORDS or value in WORDS[name] else None


def _text_bounds(name: str) -> str:
    if name in LISTS:
        return f"none, or some of {', '.join(LISTS[name])}, separated by commas"
    if name == "mirror_folder":
        return "the whole path of a folder"
    return f"one of {', '.join(WORDS[name])}" if name in WORDS else "a text"
