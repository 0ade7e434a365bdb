"""Tables that are files beside the modules that use them."""

from __future__ import annotations

import os


def data_text(module_file: str, name: str) -> str:
    """The text of the file `name` in the folder of a module, which passes its `__file__`.

    pathlib would do the same, and loads three times as long as a short command may take for it.
    """
    with open(os.path.join(os.path.dirname(module_file), name), encoding="utf-8") as file:
        return file.read()
