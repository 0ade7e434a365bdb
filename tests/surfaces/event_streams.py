"""A client of the streams of events over HTTP."""

from __future__ import annotations

import http.client
import json


class Stream:
    """A client of server-sent events that reads them as a browser does."""

    def __init__(self, client, path, last=None, accept="text/event-stream"):
        self._connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=100)
        headers = {"Authorization": f"Bearer {client.tokens['read']}", "Accept": accept}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        self._connection.request("GET", path, headers=headers)
        self._response = self._connection.getresponse()
        assert self._response.status == 200
        assert self._response.headers["Content-Type"].startswith("text/event-stream")

    def next(self):
        """The next event as (id, data); None at a heartbeat, and False at the end of the stream."""
        fields = {}
        while (line := self._response.readline().decode()) not in ("", "\n"):
            name, _, value = line.rstrip("\n").partition(": ")
            fields[name] = value
        if not line:
            return False
        if "retry" in fields:
            return self.next()
        return (int(fields["id"]), json.loads(fields["data"])) if "data" in fields else None

    def take(self, count):
        """So many events, heartbeats left out."""
        found = []
        while len(found) < count:
            event = self.next()
            assert event is not False
            found += [event] if event else []
        return found

    def close(self):
        self._response.close()
        self._connection.close()
