"""Redacting texts and JSON values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..types import is_dict, is_list
from .markers import marker
from .names import VALUE_FIELDS, flags_before, named_by_sibling, secret_kind
from .passes import PASSES
from .private_parts import without_private, without_private_blocks
from .storable_text import bounded, folded, storable
from .values import is_secret

_MAX_DEPTH = 40


class Redactor:
    """Replaces secrets and private parts in texts and JSON values; with `keep` (setting `keep_secrets`) it
    leaves the secrets."""

    def __init__(self, *, keep: bool = False) -> None:
        self.keeps = keep

    def text(self, text: str) -> str:
        """Redact a text. Passes whose hints do not occur in it are skipped."""
        text = without_private(text)
        if len(text) < 6 or self.keeps:
            return text
        lowered = folded(text)
        for sign, hints, redact in PASSES:
            if sign in lowered and any(map(lowered.__contains__, hints)):
                text = redact(text)
        return text

    def value(self, value: Any, clip: Callable[[str], str], depth: int = 0, name: str = "") -> Any:
        """Redact a JSON value, make it storable, and clip each of its texts."""

        def cleaned(text: str) -> str:
            return clip(self.text(bounded(storable(text))))

        def cleaned_key(key: Any) -> str:
            return without_private(storable(str(key)))[:500]

        return self._walked(value, name, cleaned, cleaned_key, _MAX_DEPTH - depth)

    def whole(self, value: Any, name: str = "") -> Any:
        """Redact a JSON value and leave everything else as it is, whatever its size."""
        return self._walked(value, name, self.text, _public_key, None)

    def _walked(
        self,
        value: Any,
        name: str,
        clean: Callable[[str], str],
        clean_key: Callable[[Any], Any],
        levels: int | None,
    ) -> Any:
        """The value with its texts cleaned; what lies deeper than so many levels is left out."""
        if isinstance(value, str):
            kind = secret_kind(name) if name and not self.keeps else ""
            return marker(kind) if kind and is_secret(kind, name, value, quoted=True) else clean(value)
        if not is_dict(value) and not is_list(value):
            return value
        if levels is not None:
            levels -= 1
            if levels < -1:
                return None
        if is_dict(value):
            named = named_by_sibling(value)
            names = (named if named and str(key).lower() in VALUE_FIELDS else str(key) for key in value)
            return {
                clean_key(key): self._walked(inner, own, clean, clean_key, levels)
                for (key, inner), own in zip(value.items(), names, strict=True)
            }
        blocks = without_private_blocks(list(value))
        return [
            self._walked(inner, flag or name, clean, clean_key, levels)
            for inner, flag in zip(blocks, flags_before(blocks), strict=True)
        ]


def _public_key(key: Any) -> Any:
    return without_private(key) if isinstance(key, str) else key
