"""Texts that `ringbolt install` writes: plugins in JavaScript, and texts for models and users.

`{{name}}` in a template stands for a value that is filled in.
"""

from __future__ import annotations

import os


def template(name: str, **values: str) -> str:
    """A template with its values filled in."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        text = file.read()
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text
