"""A model server on this machine that says what a test wants, over real sockets."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Settings for a server that answers, however busy the machine is, and for one that may not.
PATIENT = {"model_timeout": 30.0, "model_answer_timeout": 30.0}
IMPATIENT = {"model_timeout": 0.5}


class ModelServer(ThreadingHTTPServer):
    """Each request gets the next of `script`; the last one stays. All that was asked is kept in `asked`."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = []
        self.asked: list[dict] = []
        self.keys: list[str | None] = []
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/"

    def handle_error(self, request, client_address):
        """A client that went away is no matter."""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        self.server.keys.append(self.headers["Authorization"])
        assert self.path == "/v1/chat/completions"
        script = self.server.script
        answer = script.pop(0) if len(script) > 1 else script[0]
        answer(self, asked)

    def say(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def says(content, finish="stop", usage=(100, 20), **message):
    """An answer with this content: a text, a list of parts, or an object as JSON."""
    text = json.dumps(content) if isinstance(content, dict) else content
    body = {
        "choices": [{"finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}],
        "usage": usage and {"prompt_tokens": usage[0], "completion_tokens": usage[1]},
    }
    return lambda handler, asked: handler.say(200, json.dumps(body).encode())


def status(number, body=b"no"):
    return lambda handler, asked: handler.say(number, body)


def raw(body):
    return lambda handler, asked: handler.say(200, body)


def hangs(handler, asked):
    handler.server.stopped.wait(60)


def drips(handler, asked):
    """One byte now and then: no single read ever takes long."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.stopped.wait(0.05):
        handler.wfile.write(b" ")


def hangs_up(handler, asked):
    handler.connection.close()


def only(rung, answer):
    """A server that knows one way to ask for JSON, and refuses the others."""

    def choose(handler, asked):
        kind = asked.get("response_format", {}).get("type", "prompt")
        answer(handler, asked) if kind == rung else handler.say(400, b"response_format is not supported")

    return choose


@contextmanager
def serving(*script):
    server = ModelServer()
    server.script = list(script)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()
