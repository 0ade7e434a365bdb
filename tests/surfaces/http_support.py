"""A real server on this machine for the tests of the HTTP surface, and a plain client of it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from contextlib import contextmanager, suppress

from ringbolt.surfaces.http.app import create_app
from ringbolt.surfaces.http.auth import Tokens, read_tokens
from ringbolt.surfaces.http.server import Server, listen


class Answer:
    """What the server said."""

    def __init__(self, response, body: bytes) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def data(self):
        assert self.status == 200, self.body[:500]
        assert self.json["schema_version"] == 1
        return self.json["data"]

    @property
    def error(self) -> dict:
        """The error, which has the one shape that all have."""
        assert set(self.json) == {"schema_version", "error"}, self.body[:500]
        error = self.json["error"]
        assert set(error) == {"code", "message", "hint", "details"}
        assert error["message"]
        return error


class Client:
    """One who calls a server, over one connection."""

    def __init__(self, port: int, tokens: dict[str, str]) -> None:
        self.port = port
        self.tokens = tokens
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=100)

    def __call__(self, method, path, body=None, *, token="write", **headers) -> Answer:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            given.setdefault("Authorization", f"Bearer {self.tokens[token]}")
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            given.setdefault("Content-Type", "application/json")
        request = (method, path, body, {key: value for key, value in given.items() if value})
        is_kept = self.connection.sock is not None
        try:
            response = self._sent(request)
        except (http.client.RemoteDisconnected, ConnectionError):
            if not is_kept:
                raise
            # On a busy machine the server may have closed an idle connection in the meantime.
            self.connection.close()
            response = self._sent(request)
        if response.headers["Connection"] == "close":
            self.connection.close()
        return Answer(response, response.read())

    def _sent(self, request) -> http.client.HTTPResponse:
        self.connection.request(*request)
        return self.connection.getresponse()

    def call(self, operation, *, token="write", headers=None, **arguments):
        """The result of an operation."""
        return self("POST", f"/api/{operation}", arguments, token=token, **(headers or {})).data

    def raw(self, content: bytes, timeout: float = 20) -> bytes:
        """All that the server says to some bytes, until it closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            connection.sendall(content)
            said = b""
            # Who closes before all was read of what came resets the connection, after what was said.
            with suppress(ConnectionResetError):
                while part := connection.recv(65536):
                    said += part
            return said

    def head(self, line: str, *more: str, token="write") -> bytes:
        """The head of a request, to be sent as it is."""
        lines = [line, f"Host: 127.0.0.1:{self.port}", f"Authorization: Bearer {self.tokens[token]}", *more]
        return "\r\n".join([*lines, "", ""]).encode()

    def close(self) -> None:
        self.connection.close()


@contextmanager
def serving(memory, token_path, *, port=0, worker=False, tls=None, **options):
    """A server on a memory, in a thread; gives a client of it."""
    with listen("127.0.0.1", port) as bound:
        tokens = Tokens(str(token_path))
        port = bound.getsockname()[1]
        app = create_app(memory, port=port, tokens=tokens, worker=worker, **options)
        server = Server(app, memory.settings.http_request_seconds, tls=tls)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        client = Client(port, read_tokens(str(token_path)))
        client.server = server
        client.sessions = app.state.sessions
        try:
            yield client
        finally:
            client.close()
            server.should_exit = True
            thread.join(100)
            assert not thread.is_alive()
