"""The locations of stores, in a form that is safe to show."""

from __future__ import annotations

import re
from urllib.parse import unquote

_SECRETS = ("password", "sslpassword")


def without_password(location: str) -> str:
    """A store's path or URL without its password; a malformed URL loses too much rather than too little."""
    if "://" not in location or location.startswith(("sqlite:", "file:")):
        return location
    # Up to the last @, because a password may contain one; without any @ it may still be a password.
    hidden = re.sub(r"(//[^:@/?\[]*):(?:.*@|(?!\d+(?:[/?,]|$))[^?]*)", r"\1@", location, flags=re.DOTALL)
    base, mark, query = hidden.partition("?")
    kept = [part for part in query.split("&") if unquote(part.partition("=")[0]).strip() not in _SECRETS]
    return base + mark + "&".join(kept)
