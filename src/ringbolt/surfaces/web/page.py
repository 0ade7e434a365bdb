"""Routes of the web page: its static files, signing in and out, and its own reads."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ..._version import __version__
from ...model.event_names import EVENT_NAMES
from ...model.types import is_dict
from ..http.guard import PAGE, SESSION, Refusal, read_body, require, require_own_page
from ..http.routes import Gateway
from ..http.session import Session, Sessions
from . import reads
from .files import WebFile, web_files

_JSON = "application/json"
# Only our own files, no inline code, and no way to turn text into markup.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'none'; base-uri 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
_FOR_EVER = "public, max-age=31536000, immutable"
_MIN_BYTES_TO_COMPRESS = 1000
_MOST_SIGN_IN = 4096  # bytes of a request that anyone can send


class WebPage:
    """The routes that only the page uses. For everything else it calls the same routes as any client."""

    def __init__(self, sessions: Sessions, gateway: Gateway) -> None:
        self.sessions = sessions
        self._gateway = gateway

    def routes(self) -> list[BaseRoute]:
        """The page, its files, its session and its own reads. Register them before the general routes."""
        return [
            Route(PAGE, self._index, methods=["GET"]),
            Route("/assets/{version}/{name:path}", self._asset, methods=["GET"]),
            Route(SESSION, self._session, methods=["GET"]),
            Route(SESSION, self._sign_in, methods=["POST"]),
            Route(SESSION, self._sign_out, methods=["DELETE"]),
            Route("/api/tasks/{id}/handoff.md", self._handoff, methods=["GET"]),
            *(Route(path, self._endpoint(path, read), methods=["GET"]) for path, read in reads.READS.items()),
        ]

    # --- files ------------------------------------------------------------------------------------

    async def _index(self, request: Request) -> Response:
        return _file_response(request, web_files().index, {"Cache-Control": "no-cache"})

    async def _asset(self, request: Request) -> Response:
        static = web_files()
        file = static.files.get(request.path_params["name"])
        request.scope["ringbolt.route"] = "/assets"
        if file is None or request.path_params["version"] != static.version:
            raise HTTPException(404)
        return _file_response(request, file, {"Cache-Control": _FOR_EVER})

    # --- the session ------------------------------------------------------------------------------

    async def _session(self, request: Request) -> Response:
        caller = require(request.scope, "read", everywhere=True)
        session: Session | None = request.scope.get("ringbolt.session")
        return _json_response(
            {
                "kind": caller.kind,
                "scopes": sorted(caller.scopes),
                "expires": session.expires if session else None,
                # Start the event stream here: everything read after this call is at least as new.
                "position": await self._gateway.news.poll(),
                "version": __version__,
                "event_names": EVENT_NAMES,
            }
        )

    async def _sign_in(self, request: Request) -> Response:
        require_own_page(request.scope)
        body = await read_body(request.scope, request.receive, self._gateway.settings, _MOST_SIGN_IN)
        try:
            fields: Any = json.loads(body)
        except (ValueError, RecursionError):
            fields = None
        secret, session = self._opened(fields if is_dict(fields) else {})
        return _json_response({"session": secret, "kind": session.caller.kind, "expires": session.expires})

    def _opened(self, fields: dict[str, Any]) -> tuple[str, Session]:
        """A session for the token or the one-time code of a sign-in."""
        token, code = fields.get("token"), fields.get("code")
        if isinstance(code, str):
            opened = self.sessions.exchange(code.encode("utf-8", "replace"))
            problem = "This sign-in link was used before, or has expired."
            hint = "Sign in with a token, or start the server again for a new link."
        elif isinstance(token, str):
            opened = self.sessions.open(token.strip().encode("utf-8", "replace"))
            problem = "The server does not know this token."
            hint = "Copy one from the file whose path the server printed when it started."
        else:
            raise Refusal("bad_request", "The body has no token.", 'Send {"token": "…"}.')
        if opened is None:
            raise Refusal("no_token", problem, hint)
        return opened

    async def _sign_out(self, request: Request) -> Response:
        require_own_page(request.scope)
        self.sessions.close(request.headers.get("authorization", "").partition(" ")[2].strip().encode())
        return _json_response({})

    # --- downloads --------------------------------------------------------------------------------

    async def _handoff(self, request: Request) -> Response:
        """A task as a capsule for another agent; sent as an attachment, so it never renders as a page."""
        caller = require(request.scope, "read")
        name = request.path_params["id"]
        memory = self._gateway.acting(caller, request.scope)
        text = await self._gateway.run(lambda: memory.task_handoff(name), caller)
        headers = {"Content-Disposition": 'attachment; filename="handoff.md"'}
        return Response(
            text.encode("utf-8", "replace"), media_type="text/markdown; charset=utf-8", headers=headers
        )

    # --- reads ------------------------------------------------------------------------------------

    def _endpoint(self, path: str, read: reads.Read) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            caller = require(request.scope, "read", everywhere="{id}" not in path)
            query = reads.Query(request.path_params, request.query_params)

            def work() -> bytes:
                memory = self._gateway.acting(caller, request.scope)
                content = json.dumps({"schema_version": 1, "data": read(memory, query)}).encode()
                return (
                    gzip.compress(content, 1, mtime=0)
                    if zipped and len(content) > _MIN_BYTES_TO_COMPRESS
                    else content
                )

            zipped = _accepts_gzip(request)
            content = await self._gateway.run(work, caller)
            headers = {"Vary": "Accept-Encoding"}
            if content[:2] == b"\x1f\x8b":  # gzip's magic number; JSON never starts with it
                headers["Content-Encoding"] = "gzip"
            return Response(content, media_type=_JSON, headers=headers)

        return respond


def _json_response(data: dict[str, Any]) -> Response:
    return Response(json.dumps({"schema_version": 1, "data": data}), media_type=_JSON)


def _accepts_gzip(request: Request) -> bool:
    return "gzip" in request.headers.get("accept-encoding", "")


def _file_response(request: Request, file: WebFile, headers: dict[str, str]) -> Response:
    zipped = _accepts_gzip(request) and len(file.gzipped) < len(file.plain)
    headers |= {"Vary": "Accept-Encoding", "Content-Security-Policy": _POLICY}
    if zipped:
        headers["Content-Encoding"] = "gzip"
    return Response(file.gzipped if zipped else file.plain, media_type=file.media_type, headers=headers)
