"""Pictures of an X display or its windows, on macOS and Windows of a screen. Needs the extra `screen`."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from typing import Any

from ..model.errors import InvalidInput
from ..system.os_calls import IS_MACOS, IS_WINDOWS

MOST_WINDOWS = 2000
_WHOLE_PIXELS, _VIEWABLE = 2, 2  # of the X protocol
MOST_SIDE = 1280  # of the picture that a model gets


def grab(display: str, title: str | None) -> Any:
    """Take a picture of a display, or of the visible part of the window whose title contains `title`.

    None if there is no such window; OSError if the display cannot be read. The X client is pure Python,
    because a C library that waits for the server would hold the interpreter lock.
    """
    if IS_MACOS or IS_WINDOWS:
        return grab_screen(display, title)
    image: Any = _optional_module("PIL.Image")
    opener: Any = _optional_module("Xlib.display")
    errors: Any = _optional_module("Xlib.error")
    if not os.path.exists(f"/tmp/.X11-unix/X{display[1:].partition('.')[0]}"):  # noqa: S108 - the path X uses
        raise OSError("no such display")
    try:
        connection = opener.Display(display)
    except (errors.DisplayError, errors.XauthError) as error:
        raise OSError(str(error)) from None
    try:
        root = connection.screen().root
        size = root.get_geometry()
        box = (0, 0, size.width, size.height)
        if title is not None:
            box = _window_box(root, errors, title, box)
            if box is None:
                return None
        left, top, right, bottom = box
        width, height = right - left, bottom - top
        data = root.get_image(left, top, width, height, _WHOLE_PIXELS, 0xFFFFFFFF).data
        if len(data) != width * height * 4:
            raise OSError("its colour depth is not 24 bits")
        return image.frombytes("RGB", (width, height), data, "raw", "BGRX")
    except (errors.XError, errors.ConnectionClosedError) as error:
        raise OSError(type(error).__name__) from None
    finally:
        with suppress(errors.ConnectionClosedError):
            connection.close()


def grab_screen(display: str, title: str | None) -> Any:
    """The same through the system's own calls: `:0` is all screens, `:1` the first. It has no windows."""
    image: Any = _optional_module("PIL.Image")
    if title is not None:
        raise OSError("only X displays have windows that can be waited for; name a screen")
    mss: Any = _optional_module("mss")
    number = display[1:].partition(".")[0]
    try:
        with mss.mss() as screens:
            if not number.isdecimal() or int(number) >= len(screens.monitors):
                raise OSError("no such display")
            shot = screens.grab(screens.monitors[int(number)])
    except mss.ScreenShotError as error:
        raise OSError(str(error)) from None
    return image.frombytes("RGB", shot.size, bytes(shot.bgra), "raw", "BGRX")


def as_png(picture: Any) -> bytes:
    """Encode a picture as PNG, scaled down for a model."""
    small = picture.copy()
    small.thumbnail((MOST_SIDE, MOST_SIDE))
    file = BytesIO()
    small.save(file, "PNG")
    return file.getvalue()


def _optional_module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InvalidInput(
            "invalid_argument",
            f"Waiting for a screen needs {name.partition('.')[0]}, which is not installed.",
            "Install ringbolt[screen].",
        ) from None


def _window_box(root: Any, errors: Any, title: str, whole: tuple[int, int, int, int]) -> Any:
    """The visible part of the first shown window whose title contains `title`; None if there is none."""
    for window in _windows(root, errors):
        with suppress(errors.XError):  # the window was closed just now
            if (
                title.casefold() in _title(window).casefold()
                and window.get_attributes().map_state == _VIEWABLE
            ):
                size = window.get_geometry()
                at = root.translate_coords(window, 0, 0)
                box = (
                    max(at.x, 0), max(at.y, 0),
                    min(at.x + size.width, whole[2]), min(at.y + size.height, whole[3]),
                )  # fmt: skip
                if box[0] < box[2] and box[1] < box[3]:
                    return box
    return None


def _windows(root: Any, errors: Any) -> list[Any]:
    """All windows, level by level: a window manager puts them inside its frames."""
    windows: list[Any] = []
    level = [root]
    while level and len(windows) < MOST_WINDOWS:
        below: list[Any] = []
        for window in level:
            with suppress(errors.XError):
                below += window.query_tree().children
        windows += below
        level = below
    return windows


def _title(window: Any) -> str:
    atom = window.display.get_atom
    for name in ("_NET_WM_NAME", "WM_NAME"):
        title = window.get_full_property(atom(name), 0)
        if title is not None and title.value:
            value = title.value
            return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return ""
