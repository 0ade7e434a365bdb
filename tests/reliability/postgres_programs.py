"""What the fault tests of PostgreSQL run beside themselves: writer processes, and a proxy that cuts."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable

from ringbolt import RingboltError, TaskMemory

# --- a proxy ----------------------------------------------------------------------------------------

CLIENT, SERVER = "client", "server"
# Asked about a message: who sent it, its letter, all of it. True: cut instead of passing it on.
Rule = Callable[[str, str, bytes], bool]


class Proxy:
    """A proxy on the loopback that knows the messages of PostgreSQL's protocol, and cuts when told to.

    `rule` is asked about every message, `bytes_left` counts the bytes of both directions; after one cut
    both are forgotten, so that a retry gets through. Unless `even_new`, they concern only connections
    that are established.
    """

    def __init__(self, target: str | tuple[str, int]) -> None:
        self._target = target
        self._lock = threading.Lock()
        self._links: list[_Link] = []
        self.rule: Rule | None = None
        self.bytes_left: int | None = None
        self.even_new = False
        self.hard = False
        self.refuse = 0  # how many new connections are hung up on
        self.reset()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def reset(self) -> None:
        """Forget what was counted."""
        with self._lock:
            self.cuts = 0
            self.bursts = 0  # how often the client spoke after the server had: round trips
            self.commit_sent = False  # COMMIT was passed on to the server
            self.commit_done = False  # the server said that it has committed
            self._last = SERVER

    def close(self) -> None:
        """End all connections, and take no more."""
        self._listener.close()
        for link in self._links:
            link.end(hard=False)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuse:
                self.refuse -= 1
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX if isinstance(self._target, str) else socket.AF_INET)
            link = _Link(client, server)
            try:
                server.connect(self._target)
            except OSError:
                link.end(hard=False)
                continue
            self._links.append(link)
            for who in (CLIENT, SERVER):
                threading.Thread(target=self._pump, args=(link, who), daemon=True).start()

    def _pump(self, link: _Link, who: str) -> None:
        """Pass on what one side says, until it stops or is cut."""
        source, sink = (link.client, link.server) if who == CLIENT else (link.server, link.client)
        try:
            while chunk := source.recv(65536):
                with self._lock:
                    if self._last != who:
                        self._last = who
                        self.bursts += who == CLIENT
                    passed, cut = self._judge(link, who, link.messages(who, chunk))
                sink.sendall(passed)
                if cut:
                    break
        except OSError:
            pass
        link.end(self.hard)

    def _judge(self, link: _Link, who: str, messages: list[bytes]) -> tuple[bytes, bool]:
        """What of some messages is passed on, and whether the connection is cut then."""
        passed = b""
        for message in messages:
            letter = link.letter(who, message)
            if who == SERVER and letter == "C" and message[5:] == b"COMMIT\0":
                self.commit_done = True
            concerned = link.ready or self.even_new
            if concerned and self.rule is not None and self.rule(who, letter, message):
                self.rule = None
                self.cuts += 1
                return passed, True
            if concerned and self.bytes_left is not None:
                if len(message) >= self.bytes_left:
                    passed += message[: self.bytes_left]
                    self.bytes_left = None
                    self.cuts += 1
                    return passed, True
                self.bytes_left -= len(message)
            if who == CLIENT and link.commits(letter, message):
                self.commit_sent = True
            if who == SERVER and letter == "Z":
                link.ready = True
            passed += message
        return passed, False


class _Link:
    """A client's connection and the one that was made to the server for it."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.ready = False
        self._held = {CLIENT: b"", SERVER: b""}
        self._greeted = False  # the client's first message has no letter
        self._statements: dict[bytes, bytes] = {}
        self._bound = b""

    def messages(self, who: str, chunk: bytes) -> list[bytes]:
        """The messages that are complete with this chunk."""
        held = self._held[who] + chunk
        found: list[bytes] = []
        while True:
            letters = int(who == SERVER or self._greeted)
            if len(held) < 4 + letters:
                break
            length = struct.unpack_from("!i", held, letters)[0] + letters
            if len(held) < length:
                break
            found.append(held[:length])
            held = held[length:]
            if who == CLIENT and not self._greeted:
                self._greeted = True
                self.greeting = found[0]
        self._held[who] = held
        return found

    def letter(self, who: str, message: bytes) -> str:
        """The letter that says what a message is."""
        return "" if who == CLIENT and message is self.greeting else chr(message[0])

    def commits(self, letter: str, message: bytes) -> bool:
        """Whether a client's message has a COMMIT run."""
        if letter == "P":
            name, query = message[5:].split(b"\0")[:2]
            self._statements[name] = query
        elif letter == "B":
            self._bound = self._statements.get(message[5:].split(b"\0")[1], b"")
        return letter == "E" and self._bound == b"COMMIT"

    def end(self, hard: bool) -> None:
        """Hang up on both: in good order, or as a machine that has forgotten the connection."""
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                if hard:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RDWR)
            end.close()


# --- writers ----------------------------------------------------------------------------------------


def write_on(url: str, name: str, shared: str, own: str, path: str, wait: str) -> None:
    """Write to two tasks, each from a thread, until a line comes in; note in a file what came of it.

    ok: acknowledged; unknown: it may be there; refused: it must not be there; error: any error, of a call
    that is made again; raw: what no caller should ever see.
    """
    memory = TaskMemory.open(url, workspace=None, agent=name, lock_timeout=float(wait))
    stop = threading.Event()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def say(*words: str) -> None:
        os.write(file, (" ".join(words) + "\n").encode())

    def read(task: str) -> None:
        try:
            memory.task_get(task)
        except RingboltError as error:
            say("error", error.code, "reading")

    def write(task: str, text: str, key: str | None) -> None:
        while True:
            try:
                memory.task_update(task, text, key=key)
            except RingboltError as error:
                say("error", error.code, text, error.message.replace("\n", " "))
                if key is None:
                    say("unknown" if error.code == "outcome_unknown" else "refused", text)
                    return
                if stop.is_set():
                    return
            else:
                say("ok", text)
                return

    def work(task: str, letter: str) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            text = f"{name}{letter}:{number}"
            try:
                write(task, text, text if number % 2 else None)
                if number % 10 == 0:
                    read(task)
            except BaseException as error:  # noqa: BLE001 - that there is none is what is tested
                say("raw", type(error).__name__, repr(error).replace("\n", " "))

    threads = [threading.Thread(target=work, args=pair) for pair in ((shared, "s"), (own, "o"))]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    sys.stdin.readline()
    stop.set()
    for thread in threads:
        thread.join()
    memory.close()


def register(url: str, name: str, key: str) -> None:
    """Register a task with a key when a line comes in; say its id."""
    with TaskMemory.open(url, workspace=None, agent="any", principal="p") as memory:
        print("ready", flush=True)
        sys.stdin.readline()
        print(memory.task_register(name, ["one"], key=key).task_id, flush=True)


if __name__ == "__main__":
    program, *arguments = sys.argv[1:]
    {"write_on": write_on, "register": register}[program](*arguments)
