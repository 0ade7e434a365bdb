"""Another Ringbolt server as a remote, over HTTP with a token."""

from __future__ import annotations

import json
from typing import Any

from ..model.errors import InvalidInput, StoreError, shown
from ..model.types import is_dict
from ..system.http_client import StatusError, error_text, post, read_address, read_key

_SECONDS = 120.0
_MOST_BYTES = 128 << 20


class ServerRemote:
    """The operations of the other server that a sync calls."""

    def __init__(self, url: str, variable: str) -> None:
        self.name = url.rstrip("/")
        self._variable = variable
        try:
            self._key = read_key(variable)
            self._address = read_address(self.name, "api/")
        except ValueError as error:
            raise InvalidInput("sync_remote", f"{shown(url, 300)}: {error}.", "Give its address.") from None
        if not self._key:
            raise InvalidInput(
                "sync_remote",
                f"There is no token for {shown(self.name, 300)}.",
                f"Create one there with `ringbolt token create`, and set {variable}.",
            )

    def ends(self) -> list[list[Any]]:
        """Task, root, last seq and last hash of each history of the server."""
        return self._call("sync_ends", {})["ends"]

    def pull(self, wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Parts that continue these histories, as many as make a segment."""
        return self._call("sync_pull", {"wanted": wanted})["parts"]

    def push(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        """Give parts to the server; returns its report."""
        return self._call("sync_push", {"parts": parts})

    def _call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        address = self._address.replace(path=self._address.path + operation)
        try:
            answer: Any = json.loads(post(address, self._key, arguments, _SECONDS, _MOST_BYTES))
        except StatusError as error:
            hint = (
                f"Check the token in {self._variable}: it needs write access to every workspace."
                if error.status in (401, 403)
                else "Check that the server runs this version. What was synced is kept; sync again."
            )
            raise self._failed(error_text(error), hint) from None
        except (OSError, ValueError) as error:
            hint = "Check the address. What was synced is kept; sync again."
            raise self._failed(error_text(error), hint) from None
        if not is_dict(answer) or not is_dict(answer.get("data")):
            raise self._failed("it answered something else", "Check that this is a server of Ringbolt.")
        return answer["data"]

    def _failed(self, reason: str, hint: str) -> StoreError:
        return StoreError("sync_failed", f"The server {shown(self.name, 300)} failed: {reason}.", hint)
