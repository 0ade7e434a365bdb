"""A server that takes webhooks."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver(ThreadingHTTPServer):
    """Takes deliveries; answers with each status of `script` in turn, the last one for ever."""

    daemon_threads = True

    def __init__(self, *script, hangs=False):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script) or [200]
        self.taken: list[tuple[dict, bytes]] = []
        self.hangs = hangs
        self.over = threading.Event()

    @property
    def port(self) -> int:
        return self.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/done?x=1"

    def handle_error(self, request, client_address):
        """A client that went away is no matter."""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append(
            ({name.lower(): value for name, value in self.headers.items()}, body, self.path)
        )
        if self.server.hangs:
            self.server.over.wait(100)
            return
        status = self.server.script.pop(0) if len(self.server.script) > 1 else self.server.script[0]
        self.send_response(status)
        if status in (301, 302, 307, 308):
            self.send_header("Location", f"http://127.0.0.1:{self.server.port}/again")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


@contextmanager
def receiving(*script, tls=None, **options):
    """A receiver that serves for the length of a block."""
    server = Receiver(*script, **options)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
