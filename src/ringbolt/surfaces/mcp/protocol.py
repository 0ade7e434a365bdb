"""The Model Context Protocol over one stream of JSON lines, in both of its eras. Does not import mcp.

Until 2025-11-25 a client introduces itself with `initialize`, and everything after that relies on it. Since
2026-07-28 every request carries its own envelope in `_meta`, and nothing is remembered. A connection answers
each request in the era it was asked in.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ..._version import __version__
from ...model.types import is_dict
from . import texts

Json = dict[str, Any]

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR, UNSUPPORTED_VERSION = -32602, -32603, -32022

_NAME = "io.modelcontextprotocol"
_VERSION, _CAPABILITIES = f"{_NAME}/protocolVersion", f"{_NAME}/clientCapabilities"
_CLIENT, _SERVER = f"{_NAME}/clientInfo", f"{_NAME}/serverInfo"

SERVER = {
    "name": "ringbolt",
    "title": "Ringbolt",
    "version": __version__,
    "description": "Task memory for agents: survives compactions, restarts, crashes and hand-overs.",
}
# The icon of the web page. Clients get it when they ask who we are and what we offer, not with every answer.
_ICON = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" '
    b'fill="#0f766e"/><path d="M11 25V7h6a5 5 0 0 1 0 10h-6M17 17l5 8" stroke="#fff" stroke-width="3.5" '
    b'stroke-linecap="round" stroke-linejoin="round" fill="none"/></svg>'
)
_ICON_URL = f"data:image/svg+xml;base64,{b2a_base64(_ICON, newline=False).decode()}"
ICONS: list[Json] = [{"src": _ICON_URL, "mimeType": "image/svg+xml", "sizes": ["any"]}]
_INTRODUCED: Json = {**SERVER, "icons": ICONS}
# What a client may say it can do, and we use.
ELICITATION, TASKS = "elicitation", f"{_NAME}/tasks"
CAPABILITIES: Json = {
    "completions": {},
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
# How long a client of 2026-07-28 may keep an answer, in milliseconds, if it is the same for everybody.
HOUR = 3_600_000
PUBLIC = ("tools/list", "prompts/list", "resources/templates/list", "server/discover")
_PRIVATE = ("resources/list", "resources/read")
# Of the extension for tasks; since 2026-07-28.
TASK_METHODS = ("tasks/get", "tasks/update", "tasks/cancel")

# The parameters of each method that must be there, with their types.
_REQUIRED: dict[str, dict[str, type]] = {
    "tools/list": {},
    "tools/call": {"name": str},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": str},
    "prompts/list": {},
    "prompts/get": {"name": str},
    "completion/complete": {"ref": dict, "argument": dict},
    **{method: {"taskId": str} for method in TASK_METHODS},
}
_OBJECTS = ("arguments", "inputResponses", "_meta")


class ProtocolError(Exception):
    """A request that the protocol refuses: a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def to_json(self) -> Json:
        """The error object of a response."""
        return {
            "code": self.code,
            "message": self.message,
            **({} if self.data is None else {"data": self.data}),
        }


class Request(NamedTuple):
    """A request that a handler must answer."""

    id: str | int
    method: str
    params: Json
    modern: bool
    client: str  # the name of the client, as it gave it
    progress: str | int | None  # the token under which it wants to hear of progress
    can: frozenset[str]  # of ELICITATION and TASKS


class Notification(NamedTuple):
    """A message that is not answered."""

    method: str
    params: Json


class Response(NamedTuple):
    """The client's answer to a request of ours."""

    id: str | int
    result: Json | None


class Connection:
    """What one client has said about itself, and the form of every message to it."""

    def __init__(self) -> None:
        self.offers_roots = False
        self._can: frozenset[str] = frozenset()
        self._client: str | None = None  # set by `initialize`

    def receive(self, line: bytes) -> Request | Notification | Response | Json | None:
        """Read one line. JSON is a reply to send at once; None means that there is nothing to do."""
        try:
            message = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _error(None, ProtocolError(PARSE_ERROR, "This line is not JSON."))
        if not is_dict(message) or message.get("jsonrpc") != "2.0":
            return _error(None, ProtocolError(INVALID_REQUEST, "This is not a JSON-RPC 2.0 message."))
        return self._routed(message)

    def _routed(self, message: Json) -> Request | Notification | Response | Json | None:
        method, id = message.get("method"), message.get("id")
        if "id" in message and (not isinstance(id, str | int) or isinstance(id, bool)):
            return _error(
                None, ProtocolError(INVALID_REQUEST, "The id of a request is a text or a whole number.")
            )
        if not isinstance(method, str):
            if id is None or not ("result" in message or "error" in message):
                return _error(
                    id, ProtocolError(INVALID_REQUEST, "A message has a method, a result or an error.")
                )
            result = message.get("result")
            return Response(id, result if is_dict(result) else None)
        params = message.get("params")
        if params is not None and not is_dict(params):
            return (
                None
                if id is None
                else _error(id, ProtocolError(INVALID_PARAMS, "`params` must be an object."))
            )
        if id is None:
            return Notification(method, params or {})
        try:
            return self._request(id, method, params or {})
        except ProtocolError as error:
            return _error(id, error)

    def _request(self, id: str | int, method: str, params: Json) -> Request | Json:
        for name in _OBJECTS:
            if params.get(name) is not None and not isinstance(params[name], dict):
                raise ProtocolError(INVALID_PARAMS, f"`{name}` must be an object.")
        meta: Json = params.get("_meta") or {}
        modern = _VERSION in meta or method == "server/discover"
        if modern:
            _check_envelope(meta)
        if method == "initialize" and not modern:
            return _result(id, self._initialize(params))
        if method == "ping" and not modern:
            return _result(id, {})
        if method == "server/discover":
            return _result(id, shaped(method, _discovered(), modern))
        if method not in _REQUIRED or (method in TASK_METHODS and not modern):
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method)
        if not modern and self._client is None:
            raise ProtocolError(
                INVALID_PARAMS, f"Send `initialize` first, or {_VERSION} and {_CAPABILITIES} in `_meta`."
            )
        for name, kind in _REQUIRED[method].items():
            if not isinstance(params.get(name), kind):
                raise ProtocolError(INVALID_PARAMS, f"{method} needs `{name}`.")
        if method == "completion/complete" and not _is_argument(params["argument"]):
            raise ProtocolError(INVALID_PARAMS, "`argument` needs a `name` and a `value`.")
        client = _name_of(meta.get(_CLIENT)) if modern else self._client or ""
        can = abilities(meta[_CAPABILITIES]) if modern else self._can
        return Request(id, method, params, modern, client, meta.get("progressToken"), can)

    def _initialize(self, params: Json) -> Json:
        version = params.get("protocolVersion")
        if not isinstance(version, str) or not isinstance(params.get("clientInfo"), dict):
            raise ProtocolError(
                INVALID_PARAMS, "initialize needs `protocolVersion`, `capabilities` and `clientInfo`."
            )
        offered = params.get("capabilities")
        self._client = _name_of(params["clientInfo"])
        self.offers_roots = isinstance(offered, dict) and "roots" in offered
        self._can = abilities(offered) - {TASKS}
        return {
            "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": CAPABILITIES,
            "serverInfo": _INTRODUCED,
            "instructions": texts.INSTRUCTIONS,
        }


def reply(request: Request, result: Json) -> Json:
    """The response to a request."""
    return _result(request.id, shaped(request.method, result, request.modern))


def refusal(request: Request, error: ProtocolError) -> Json:
    """The response to a request that failed."""
    return _error(request.id, error)


def progress(request: Request, number: int) -> Json:
    """The news that a request is still being worked on."""
    params = {"progressToken": request.progress, "progress": number, "message": "still running"}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def shaped(method: str, result: Json, modern: bool) -> Json:
    """A result in the form of the era: since 2026-07-28 it says what it is and who answered."""
    if not modern:
        return result
    if method in PUBLIC:
        result = {**result, "ttlMs": HOUR, "cacheScope": "public"}
    elif method in _PRIVATE:
        result = {**result, "ttlMs": 0, "cacheScope": "private"}
    server = _INTRODUCED if method == "server/discover" else SERVER
    return {"resultType": "complete", **result, "_meta": {**result.get("_meta", {}), _SERVER: server}}


def _discovered() -> Json:
    return {
        "supportedVersions": list(MODERN_VERSIONS),
        "capabilities": {**CAPABILITIES, "extensions": {TASKS: {}}},
        "instructions": texts.INSTRUCTIONS,
    }


def abilities(capabilities: Any) -> frozenset[str]:
    """Which of the capabilities that we use a client has."""
    offered: Json = capabilities if is_dict(capabilities) else {}
    forms, extensions = offered.get("elicitation"), offered.get("extensions")
    # Without a mode it shows forms; one that only opens pages says `url`.
    found = {ELICITATION} if is_dict(forms) and ("form" in forms or "url" not in forms) else set[str]()
    return frozenset(found | {TASKS} if is_dict(extensions) and TASKS in extensions else found)


def _check_envelope(meta: Mapping[str, Any]) -> None:
    if missing := [name for name in (_VERSION, _CAPABILITIES) if name not in meta]:
        raise ProtocolError(INVALID_PARAMS, f"`_meta` lacks {' and '.join(missing)}.")
    version = meta[_VERSION]
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"{_VERSION} must be a text.")
    if version not in MODERN_VERSIONS:
        raise ProtocolError(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            {"supported": list(MODERN_VERSIONS), "requested": version},
        )


def _is_argument(argument: Json) -> bool:
    return all(isinstance(argument.get(name), str) for name in ("name", "value"))


def _name_of(info: Any) -> str:
    name = info.get("name") if is_dict(info) else None
    return name if isinstance(name, str) else ""


def _result(id: str | int, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def _error(id: str | int | None, error: ProtocolError) -> Json:
    return {"jsonrpc": "2.0", "id": id, "error": error.to_json()}
