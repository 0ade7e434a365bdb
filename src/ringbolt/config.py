"""Settings: one frozen value, read once. Defaults < TOML file < environment < arguments."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from .model.errors import InvalidInput, RingboltError, shown
from .model.rules import parse_duration
from .model.settings import SETTINGS, Setting, Settings
from .system.files import replacing
from .system.user_folders import user_folder as user_folder


def settings_path(environ: Mapping[str, str] = os.environ) -> str:
    """Path of the settings file, whether or not it exists."""
    path = environ.get("RINGBOLT_CONFIG")
    return os.path.abspath(path) if path else os.path.join(user_folder("config", environ), "config.toml")


def load_settings(environ: Mapping[str, str] | None = None, **arguments: Any) -> Settings:
    """Load the settings. An error for an unknown name or a bad value says where it was set."""
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
    """The settings with some of them overridden by arguments."""
    values = {
        name: _checked(name, value, "argument") for name, value in arguments.items() if value is not None
    }
    return settings.replace(**values, sources={**settings.sources, **dict.fromkeys(values, "argument")})


def store_location(settings: Settings) -> str:
    """The store's path or URL."""
    return settings.store or os.path.join(user_folder("data"), "ringbolt.db")


def _read_toml(path: str) -> dict[str, Any]:
    import tomllib  # only where there is a settings file

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(
            "invalid_argument", f"The settings file {path} cannot be read: {error}.", "Fix the file."
        ) from None


def line_of(path: str, name: str) -> int:
    """The number of the line that sets a name in a settings file, or 0. The TOML parser does not report
    it."""
    import tomllib

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


def write_setting(name: str, value: str) -> str:
    """Set one setting in the settings file, leaving its other lines alone; returns the path of the file."""
    import tomllib  # as above

    checked = _checked(name, value, "argument")
    path = settings_path()
    lines = list[str]()
    if os.path.exists(path):
        _read_toml(path)  # a file that cannot be read is not changed
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    number = line_of(path, name) if lines else 0
    # Settings stand before the first table, if somebody has written one.
    end = next((place for place, text in enumerate(lines) if text.lstrip().startswith("[")), len(lines))
    new = f"{name} = {json.dumps(checked, ensure_ascii=False)}"
    lines[number - 1 if number else end : number or end] = [new]
    content = "".join(f"{text}\n" for text in lines)
    try:
        tomllib.loads(content)
    except ValueError:  # the present value stands on several lines
        raise InvalidInput(
            "invalid_argument", f"{name} cannot be changed in {path} automatically.", "Edit the file."
        ) from None
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with replacing(path) as file:
        file.write(content.encode())
    return path


def check_name(name: str, source: str) -> None:
    """Raise unless a setting has this name."""
    if name not in SETTINGS:
        from difflib import get_close_matches  # only for the error

        near = get_close_matches(name, SETTINGS, 1)
        raise InvalidInput(
            "invalid_argument",
            f"There is no setting {shown(name)} ({source}).",
            f"Did you mean {near[0]}?" if near else "`ringbolt config` lists the settings.",
        )


def _checked(name: str, value: Any, source: str) -> Any:
    """Convert a value to the type of its setting; raise if it is not allowed."""
    check_name(name, source)
    setting = SETTINGS[name]
    if setting.kind == "duration" and isinstance(value, int):
        value = str(value)  # minutes
    try:
        # Texts come from the environment, where numbers are texts too.
        read = msgspec.convert(value, setting.annotation, strict=not isinstance(value, str))
        return _CHECKS[setting.kind](setting, read) if setting.kind in _CHECKS else read
    except (msgspec.ValidationError, RingboltError, ValueError):
        raise InvalidInput(
            "invalid_argument",
            f"The setting {name} is {shown(value)} ({source}); it must be {allowed(name)}.",
            "Correct it at its source.",
        ) from None


def _duration(setting: Setting, value: str) -> str:
    if not (setting.off and value == "off"):
        parse_duration(setting.name, value)
    return value


def _list(setting: Setting, value: str) -> str:
    words = dict.fromkeys(word.strip() for word in value.split(",") if word.strip() not in ("", "none"))
    if not set(words) <= set(setting.words):
        raise ValueError
    return ",".join(words)


def _folder(setting: Setting, value: str) -> str:
    path = os.path.expanduser(value)
    if path and (not os.path.isabs(path) or "\0" in path):
        raise ValueError
    return path


_CHECKS: dict[str, Callable[[Setting, str], str]] = {"duration": _duration, "list": _list, "folder": _folder}


def allowed(name: str) -> str:
    """The allowed values of a setting, in words."""
    setting = SETTINGS[name]
    match setting.kind:
        case "duration":
            off = ", or off" if setting.off else ""
            return f"a duration like 24h or 1d12h30m, or a number of minutes{off}"
        case "list":
            return f"none, or some of {', '.join(setting.words)}, separated by commas"
        case "choice":
            return f"one of {', '.join(setting.words)}"
        case "folder":
            return "an absolute path"
        case "number":
            return f"a number from {setting.least:,} to {setting.most:,}"
        case _:
            return "a text"
