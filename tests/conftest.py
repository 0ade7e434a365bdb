"""What every test may ask for: a store, a clock, and memories on it."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

from tests.core.calls import prepare
from tests.servers import application_url, fresh_database, shared_server
from tests.support import Clock, open_memory
from tests.system import left_out

# One more engine is one more word here, and the lines in `new_store_url` that make a store for it.
ENGINES = ["sqlite", "postgres"]
TESTS = Path(__file__).parent

# `make test` tries few examples of each property, `make reliability` many. A busy machine is slow, so
# neither has a deadline.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=25, **PATIENT)
settings.register_profile("thorough", max_examples=400, **PATIENT)
settings.load_profile("quick")


@pytest.fixture(scope="session")
def signing_key(tmp_path_factory):
    """The same key everywhere, so that golden files have the same signatures."""
    path = tmp_path_factory.mktemp("person") / "signing-key"
    path.write_bytes(b"the key of whoever runs the tests")
    path.chmod(0o600)
    return str(path)


@pytest.fixture(autouse=True)
def nobodys_settings(monkeypatch, tmp_path, signing_key):
    """No test reads or writes the settings and stores of the one who runs it."""
    for name in list(os.environ):
        if name.startswith("RINGBOLT_") and name not in (
            "RINGBOLT_TEST_PG",
            "RINGBOLT_GOLDEN",
            "RINGBOLT_SIMULATE",
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    # The stores of a test are those of one person, who moves tasks between them.
    monkeypatch.setenv("RINGBOLT_SIGNING_KEY", signing_key)


def pytest_configure(config):
    """Workers share one server, which the process that rules them starts and stops."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        server = shared_server()
        os.environ["RINGBOLT_TEST_PG"] = server.__enter__()
        config.add_cleanup(lambda: server.__exit__(None, None, None))


# Tests whose cases differ in what the engine itself is given: every case is tried on every engine.
ABOUT_ENGINES = ("core/test_bad_input.py", "ledger/", "recall/", "retention/", "store/", "reliability/")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Where the engine is not the subject, only the first case runs on PostgreSQL, in `make test-postgres`.

    The other cases run there in `make reliability`.
    """
    engines = {}
    for item in items:
        if why := left_out.reason(item.name):
            item.add_marker(pytest.mark.skip(reason=why))
        engine = item.callspec.params.get("new_store_url") if hasattr(item, "callspec") else None
        if engine and not item.path.relative_to(TESTS).as_posix().startswith(ABOUT_ENGINES):
            engines.setdefault((item.path, item.originalname), {}).setdefault(engine, []).append(item)
    for cases in engines.values():
        if cases.keys() > {"postgres"}:
            first, *others = cases["postgres"]
            first.add_marker(pytest.mark.postgres)
            for item in others:
                item.add_marker(pytest.mark.reliability)


@pytest.fixture(scope="session")
def postgres_server_url():
    """A superuser's URL of a real server."""
    with shared_server() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_url(postgres_server_url, worker_id):
    """A database of this worker's own, for a role that is neither a superuser nor the owner of the tables."""
    with fresh_database(postgres_server_url, f"ringbolt_{worker_id}_{os.getpid()}") as url:
        yield application_url(url)


@pytest.fixture(params=ENGINES)
def new_store_url(request, tmp_path):
    """A function that gives the URL of another store that is not there yet.

    On PostgreSQL that is a tenant of its own, which sees nothing of the others.
    """
    numbers = count(1)
    if request.param == "sqlite":
        return lambda: f"sqlite://{tmp_path}/stores/{next(numbers)}.db"
    url = request.getfixturevalue("postgres_url")
    return lambda: f"{url}&tenant={uuid4().hex}"


@pytest.fixture
def store_url(new_store_url):
    """The URL of the test's store."""
    return new_store_url()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def opened(clock):
    """A function that opens a memory at a URL with the test's clock; all are closed afterwards."""
    memories = []

    def open_one(url, **options):
        memory = open_memory(url, options.pop("clock", clock), **options)
        memories.append(memory)
        return memory

    yield open_one
    for memory in memories:
        memory.close()


@pytest.fixture
def memory(opened, store_url):
    """A memory on a fresh store: workspace /w, session S, agent tester, a clock that stands still."""
    return opened(store_url)


@pytest.fixture
def task(memory):
    """The id of a task with three steps in the fresh store."""
    return memory.task_register("Deploy", ["Build", "Push", "Run"], request="Deploy it, please.").task_id


@pytest.fixture
def prepared(memory, task):
    """A task with an action (#2), an intent (#3), an entry (#4) and a claim on step s3."""
    prepare(memory, task)
    return task


def pytest_make_parametrize_id(val):
    """Lists and mappings name their test by what is in them; what cannot be shown gets a short name."""
    if isinstance(val, int) and val.bit_length() > 1000:
        return "a-huge-number"
    if isinstance(val, str) and len(val) > 1000:
        return f"{len(val)}-letters"
    if not isinstance(val, (dict, list, tuple)):
        return None
    try:
        shown = ascii(val)
    except (RecursionError, ValueError):
        return "a-deep-value"
    return None if " at 0x" in shown else shown if len(shown) <= 60 else shown[:57] + "..."
