"""Pictures of an X display, or of one of its windows. Needs the extra `screen`."""

from __future__ import annotations

from contextlib import suppress

from ..errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_WINDOWS = 2000
MOST_SIDE = 1280  # of the picture that a model gets


def grabbed(display: str, title: str | None) -> Any:
    """A picture of a display, or of the window with these words in its title; None if there is none.

    An OSError says why there is no picture. Of a window it is what can be seen of it.
    """
    grab: Any = _needed("PIL.ImageGrab")
    box = None
    if title is not None:
        box = _window(display, title)
        if box is None:
            return None
    return grab.grab(bbox=box, xdisplay=display).convert("RGB")


def as_png(picture: Any) -> bytes:
    """A picture as a file, not larger than a model needs it."""
    from io import BytesIO

    small = picture.copy()
    small.thumbnail((MOST_SIDE, MOST_SIDE))
    file = BytesIO()
    small.save(file, "PNG")
    return file.getvalue()


def _needed(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise InvalidInput(
            "invalid_argument",
            f"To look at a screen, {name.partition('.')[0]} is needed, which is not installed.",
            "Install holdfast[screen].",
        ) from None


def _window(display: str, title: str) -> tuple[int, int, int, int] | None:
    """Where the window with these words in its title stands; None if none is shown."""
    opener: Any = _needed("Xlib.display")
    errors: Any = _needed("Xlib.error")
    try:
        connection = opener.Display(display)
    except (errors.DisplayError, errors.XauthError) as error:
        raise OSError(str(error)) from None
    try:
        root = connection.screen().root
        whole = root.get_geometry()
        for window in _windows(root, errors):
            with suppress(errors.XError):  # it was closed in this moment
                if title.casefold() in _title(window).casefold() and window.get_attributes().map_state == 2:
                    size = window.get_geometry()
                    at = root.translate_coords(window, 0, 0)
                    return (
                        max(at.x, 0), max(at.y, 0),
                        min(at.x + size.width, whole.width), min(at.y + size.height, whole.height),
                    )  # fmt: skip
        return None
    finally:
        connection.close()


def _windows(root: Any, errors: Any) -> list[Any]:
    """All windows, those in front last in each level: with a window manager they are inside its frames."""
    found: list[Any] = []
    level = [root]
    while level and len(found) < MOST_WINDOWS:
        below: list[Any] = []
        for window in level:
            with suppress(errors.XError):
                below += window.query_tree().children
        found += below
        level = below
    return found


def _title(window: Any) -> str:
    connection = window.display.get_atom
    for name in ("_NET_WM_NAME", "WM_NAME"):
        found = window.get_full_property(connection(name), 0)
        if found is not None and found.value:
            value = found.value
            return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return ""
