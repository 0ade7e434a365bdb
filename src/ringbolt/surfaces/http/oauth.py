"""OAuth 2.1: this server as a protected resource, with tokens of the operator's authorization server.

A client without a token is told where to get one (RFC 9728). A token is a JWT, signed with a key that the
authorization server publishes, and made for this server: its audience is our URL. Its scopes say what it may
do.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import jwt
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl
from starlette.routing import Route

from ...model.capabilities import ACCESS, POWERS, Access, Grant
from ...model.errors import InvalidInput, StoreError
from ...model.types import is_dict, is_list
from ...system import http_client
from .auth import Caller, NoScope
from .guard import METADATA

SCOPES = tuple(f"ringbolt:{word}" for word in (*ACCESS, *POWERS))
WORKSPACES = "ringbolt_workspaces"  # the claim that lists folders; without it, the server's own
# Signed with a key pair: with a shared secret, anybody who can check a token could make one.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_LEEWAY_SECONDS = 30
_FETCH_SECONDS, _MOST_BYTES = 10.0, 1 << 20
_REFETCH_SECONDS = 30.0  # a token with an unknown key has the keys fetched again at most this often
_MOST_NAME = 80


class AuthorizationServer:
    """The operator's authorization server. `url` is the address of our server as clients know it."""

    def __init__(
        self, issuer: str, url: str, workspace: str | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        for name, value in (("http_issuer", issuer), ("http_url", url)):
            check_url(name, value)
        self._issuer, self._root, self._workspace, self._clock = issuer, url.rstrip("/"), workspace, clock
        self._resource = AnyHttpUrl(f"{self._root}/mcp")
        self._keys: dict[str, Any] = {}
        self._fetched = float("-inf")
        self._lock = threading.Lock()

    def routes(self) -> list[Route]:
        """The metadata of the protected resource, at the place for its path and at the root."""
        # As a text: an AnyHttpUrl adds a slash, and clients compare the issuer letter by letter.
        issuers: list[Any] = [self._issuer]
        routes = create_protected_resource_routes(
            self._resource,
            issuers,
            scopes_supported=list(SCOPES),
            resource_name="Ringbolt",
        )
        return [*routes, Route(METADATA, routes[0].endpoint)]

    def challenge(self, error: str = "") -> str:
        """The header that tells a client where to get a token."""
        fields = {"error": error} if error else {}
        fields |= {
            "resource_metadata": str(build_resource_metadata_url(self._resource)),
            "scope": "ringbolt:read ringbolt:write",
        }
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in fields.items())

    def caller(self, secret: bytes) -> Caller | None:
        """The caller behind a token; None if it is not valid here. Raises NoScope; may fetch keys."""
        try:
            token = secret.decode("ascii")
            kid = jwt.get_unverified_header(token).get("kid")
            key = self._key(str(kid or ""))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm_name],
                audience=[f"{self._root}/mcp", self._root, f"{self._root}/"],
                issuer=self._issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, UnicodeDecodeError):
            return None
        return self._granted(claims)

    def _granted(self, claims: Mapping[str, Any]) -> Caller:
        scopes = _scopes(claims)
        access: list[Access] = [level for level in ACCESS if f"ringbolt:{level}" in scopes]
        if not access:
            raise NoScope
        folders = claims.get(WORKSPACES)
        own = None if self._workspace is None else (self._workspace,)
        name = "".join(letter for letter in str(claims["sub"]) if letter.isprintable())[:_MOST_NAME]
        grant = Grant(
            name=f"oauth:{name}",
            access=access[-1],
            powers=tuple(power for power in POWERS if f"ringbolt:{power}" in scopes),
            workspaces=tuple(map(str, folders)) if is_list(folders) else own,
        )
        return Caller(kind=grant.name, grant=grant, channel="user" if grant.access == "admin" else "agent")

    def _key(self, kid: str) -> Any:
        with self._lock:
            if kid not in self._keys and self._clock() - self._fetched >= _REFETCH_SECONDS:
                self._fetched = self._clock()
                self._keys = self._fetch_keys()
            return self._keys.get(kid)

    def _fetch_keys(self) -> dict[str, Any]:
        """The public keys by their ids, from where the metadata of the authorization server says."""
        metadata: dict[str, Any] = {}
        for address in _metadata_urls(self._issuer):
            metadata = _get(address)
            if metadata:
                break
        if metadata.get("issuer") != self._issuer or not isinstance(metadata.get("jwks_uri"), str):
            raise _unavailable(self._issuer, "its metadata does not name it and its keys")
        try:
            keys = jwt.PyJWKSet.from_dict(_get(metadata["jwks_uri"])).keys
        except jwt.PyJWTError as error:
            raise _unavailable(self._issuer, str(error)) from None
        usable = [key for key in keys if key.algorithm_name in _ALGORITHMS]
        return {key.key_id or "": key for key in usable}


def check_url(name: str, value: str) -> None:
    """Raise unless a setting is the URL of a server: https, or http on this machine."""
    parts = urlsplit(value)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    plain = parts.hostname and not parts.query and not parts.fragment and not parts.username
    if plain and (parts.scheme == "https" or (parts.scheme == "http" and local)):
        return
    raise InvalidInput(
        "invalid_argument",
        f"{name} must be an https URL without query, as in https://tasks.example.",
        "With http_issuer, set http_url to the address that clients use.",
    )


def _scopes(claims: Mapping[str, Any]) -> set[str]:
    """The scopes of a token: a text with spaces, or a list."""
    found = claims.get("scope", claims.get("scp", ""))
    return set(map(str, found)) if is_list(found) else set(str(found).split())


def _metadata_urls(issuer: str) -> list[str]:
    """Where an authorization server has its metadata (RFC 8414), and where OpenID Connect puts it."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return [
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    ]


def _get(url: str) -> dict[str, Any]:
    """A JSON object; empty if there is none at this URL."""
    try:
        address = http_client.read_url(url, "jwks_uri")
        status, body = http_client.exchange(address, None, {}, _FETCH_SECONDS, _MOST_BYTES)
        read: Any = json.loads(body) if status == 200 else {}
    except (OSError, ValueError) as error:
        raise _unavailable(url, http_client.error_text(error)) from None
    return read if is_dict(read) else {}


def _unavailable(where: str, why: str) -> StoreError:
    return StoreError(
        "store_unavailable",
        f"Tokens cannot be checked: {where} does not answer as an authorization server ({why}).",
        "Check http_issuer, and that this machine can reach it.",
    )
