"""A small OAuth authorization server on loopback: metadata, keys, and tokens for its one client."""

from __future__ import annotations

import base64
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import ec


class Key:
    def __init__(self, name: str) -> None:
        self.name = name
        self.private = ec.generate_private_key(ec.SECP256R1())

    def public(self) -> dict:
        key = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.private.public_key()))
        return {**key, "kid": self.name, "use": "sig", "alg": "ES256"}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.asked.append(self.path)
        if self.path == "/.well-known/oauth-authorization-server":
            url = server.issuer
            return self._json({
                "issuer": url, "jwks_uri": f"{url}/keys", "token_endpoint": f"{url}/token",
                "authorization_endpoint": f"{url}/authorize", "response_types_supported": ["code"],
                "grant_types_supported": ["client_credentials"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            })  # fmt: skip
        if self.path == "/keys":
            return self._json({"keys": [key.public() for key in server.keys]})
        return self._json({}, 404)

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.forms.append(form)
        known = base64.b64encode(b"agent:secret").decode()
        if self.headers["Authorization"] != f"Basic {known}":
            return self._json({"error": "invalid_client"}, 401)
        token = self.server.token(aud=form["resource"][0], scope=form.get("scope", [""])[0])
        return self._json({"access_token": token, "token_type": "Bearer", "expires_in": 300})

    def _json(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class AuthorizationServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.keys = [Key("one")]
        self.asked: list[str] = []
        self.forms: list[dict] = []

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def token(self, key: Key | None = None, algorithm: str = "ES256", **claims) -> str:
        """A token; claims that are None are left out."""
        key = key or self.keys[-1]
        whole = {
            "iss": self.issuer,
            "sub": "agent",
            "exp": int(time.time()) + 300,
            "scope": "ringbolt:read",
            **claims,
        }
        given = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode(given, key.private, algorithm, headers={"kid": key.name})


@contextmanager
def authorization_server():
    server = AuthorizationServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
