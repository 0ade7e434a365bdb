"""Calls of the Lark (Feishu) open platform through its SDK: token, pace, pages, and what an error means.

The SDK obtains the tenant access token and keeps it until shortly before it expires. Here a token that the
server refuses is replaced, a call over a rate limit waits for as long as the server says, and writes to one
document or table keep the distance that its limit requires.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from logging import getLogger
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from ..model.errors import InvalidInput
from ..model.settings import Settings
from ..model.types import is_list
from ..system.http_client import read_key
from .sink import not_installed

Json = dict[str, Any]

SECONDS = 20.0  # for one call
TRIES = 5
LONGEST_PAUSE = 30.0  # a longer limit is left to the job queue
WRITE_DISTANCE = 0.34  # seconds between two writes to one document: the limit is three a second
# The gateway's rate limit; the Bitable's: too many requests, a concurrent write, data that is not ready yet.
_TOO_FAST = (99991400, 1254290, 1254291, 1254607)
_BAD_TOKEN = (99991661, 99991663, 99991664, 99991668)


class LarkError(OSError):
    """The platform refused a call; `code` is its own."""

    def __init__(self, code: int, message: str, method: str, path: str) -> None:
        super().__init__(f"Lark answered {code} {message} to {method} {path}")
        self.code = code


class LarkApi:
    """The open platform, as one app sees it."""

    def __init__(
        self,
        settings: Settings,
        *,
        pause: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            sdk: Any = import_module("lark_oapi")
            self._core: Any = import_module("lark_oapi.core")
            self._model: Any = import_module("lark_oapi.core.model")
            self._tokens: Any = import_module("lark_oapi.core.token").TokenManager
        except ImportError:
            raise not_installed("lark", "lark-oapi") from None
        getLogger("Lark").handlers.clear()  # the SDK logs to standard output, which may be a protocol
        self._app = settings.lark_app_id
        secret = read_key(settings.lark_secret_env)
        if not self._app or not secret:
            raise InvalidInput(
                "sink_setup",
                "Publishing to Lark needs the id and the secret of an app.",
                f"Set lark_app_id, and {settings.lark_secret_env} in the environment of the worker.",
            )
        try:
            builder = sdk.Client.builder().app_id(self._app).app_secret(secret).domain(settings.lark_domain)
            self._client: Any = builder.timeout(SECONDS).build()
        except ValueError:
            raise InvalidInput(
                "sink_setup",
                "lark_domain must be https://, without a path.",
                "https://open.feishu.cn for Feishu, https://open.larksuite.com for Lark.",
            ) from None
        self._pause = pause or threading.Event().wait
        self._clock = clock
        self._written: dict[str, float] = {}

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        writes: str = "",
    ) -> Json:
        """The data of an answer; LarkError if it is an error.

        `writes` names the document or table that the call changes.
        """
        for tries in range(TRIES):
            if writes:
                self._keep_distance(writes)
            raw: Any = self._client.request(self._request(method, path, query or {}, body)).raw
            answer = _answer(raw.content)
            code = int(answer.get("code", raw.status_code))
            if not code:
                return answer.get("data") or {}
            last = tries == TRIES - 1
            if code in _BAD_TOKEN and not tries:
                self._tokens.cache.set(f"self_tenant_token:{self._app}", "", 0)
            elif (code in _TOO_FAST or raw.status_code == 429) and not last:
                wait = _seconds(raw.headers, 2.0**tries)
                if wait > LONGEST_PAUSE:
                    raise LarkError(code, f"{answer.get('msg')} (for {wait:.0f} s)", method, path)
                self._pause(wait)
            else:
                raise LarkError(code, str(answer.get("msg", "")), method, path)
        raise AssertionError("unreachable")

    def pages(self, method: str, path: str, query: Mapping[str, Any], body: Any = None) -> Iterator[Json]:
        """The items of all pages of a list."""
        token = ""
        while True:
            data = self.call(method, path, {**query, **({"page_token": token} if token else {})}, body)
            items = next((value for name, value in data.items() if name in ("items", "files")), None)
            yield from items if is_list(items) else ()
            token = data.get("page_token") or data.get("next_page_token") or ""
            if not data.get("has_more") or not token:
                return

    def _keep_distance(self, name: str) -> None:
        now = self._clock()
        if (wait := self._written.get(name, now - 1) + WRITE_DISTANCE - now) > 0:
            self._pause(wait)
        self._written[name] = self._clock()
        for old in [each for each, at in self._written.items() if now - at > 60]:
            del self._written[old]

    def _request(self, method: str, path: str, query: Mapping[str, Any], body: Any) -> Any:
        request = self._model.BaseRequest()
        request.http_method = self._core.HttpMethod[method]
        request.uri = f"/open-apis/{path}"
        request.token_types = {self._core.AccessTokenType.TENANT}
        request.body = body
        if body is not None:
            request.headers["Content-Type"] = "application/json; charset=utf-8"
        for name, value in query.items():
            request.add_query(name, value)
        return request


def once(*parts: Any) -> str:
    """The `client_token` of a write: the same for the same write, which the platform then does once."""
    return str(uuid5(NAMESPACE_URL, json.dumps(parts, sort_keys=True)))


def _answer(content: bytes) -> Json:
    try:
        return json.loads(content)
    except ValueError:
        return {"msg": content[:200].decode("utf-8", "replace")}


def _seconds(headers: Mapping[str, str], otherwise: float) -> float:
    """How long a rate limit lasts, as the gateway says it."""
    lowered = {name.lower(): value for name, value in headers.items()}
    told = lowered.get("x-ogw-ratelimit-reset") or lowered.get("retry-after") or ""
    return float(told) if told.isdecimal() else otherwise
