"""A redis-server of a test's own, on a socket in its folder."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import contextmanager
from importlib import import_module

from tests.support import until


class RedisServer:
    """A server that can be stopped, and started again empty."""

    def __init__(self, folder):
        program = shutil.which("redis-server")
        assert program, "redis-server is not installed: tools/redis.sh installs it"
        self.socket = f"{folder}/redis.sock"
        words = f"--port 0 --unixsocket {self.socket} --dir {folder} --appendonly no --loglevel warning"
        self.command = [program, *words.split(), "--save", ""]
        self.url = f"unix://{self.socket}"
        self.redis = import_module("redis")
        self.client = self.redis.Redis(unix_socket_path=self.socket, decode_responses=True)
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        until(self._answers)

    def _answers(self):
        assert self.process.poll() is None
        try:
            return self.client.ping()
        except self.redis.ConnectionError:
            return False

    def stop(self):
        if self.process is not None:
            self.client.close()
            self.process.kill()
            self.process.wait()
            self.process = None

    def contents(self):
        """Everything but the times of the probes, by key."""
        return {key: self._value(key) for key in sorted(self.client.keys("*")) if not key.endswith(":status")}

    def _value(self, key):
        kind = self.client.type(key)
        read = {"hash": self.client.hgetall, "string": self.client.get, "stream": self.client.xrange}[kind]
        return read(key)


@contextmanager
def redis_server(folder):
    server = RedisServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
