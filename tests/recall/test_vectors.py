"""Finding by meaning: the same whoever compares, and nothing that fails breaks recall."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.recall.embedding import CHUNK, HEAD, TAIL, chunks
from tests.model_server import drips, hangs, hangs_up
from tests.servers import fresh_database
from tests.support import (
    postgres_only,
    refused,
    rows,
    run_python,
    sqlite_only,
    write_held,
)

PUPPY = "The puppy sleeps all afternoon"
CAR = "We bought a new car yesterday"
LAWSUIT = "The attorney filed the lawsuit"
FILLER = "Nothing of note happened on this day, and the weather was grey. "


@pytest.fixture(scope="session")
def pgvector_url(postgres_server_url, worker_id):
    """A database whose server compares vectors: an operator has created the extension."""
    with fresh_database(postgres_server_url, f"ringbolt_vectors_{worker_id}") as url:
        name = f"dbname=ringbolt_vectors_{worker_id}"
        with psycopg.connect(postgres_server_url, dbname=name.partition("=")[2], autocommit=True) as admin:
            admin.execute("CREATE EXTENSION vector")
        yield url


@pytest.fixture(params=["sqlite", "postgres", "pgvector"])
def new_store_url(request, tmp_path):
    """Stores that compare here (SQLite, and PostgreSQL without the extension) and in the server."""
    if request.param == "sqlite":
        return lambda: f"sqlite://{tmp_path}/stores/{uuid4().hex}.db"
    url = request.getfixturevalue("pgvector_url" if request.param == "pgvector" else "postgres_url")
    return lambda: f"{url}&tenant={uuid4().hex}"


pgvector_only = pytest.mark.parametrize("new_store_url", ["pgvector"], indirect=True)


@pytest.fixture
def memory(opened, store_url):
    return opened(store_url, embedder="static")


def write(memory, *texts, **options) -> str:
    task = memory.task_register("Notes", ["One", "Two"], **options).task_id
    for text in texts:
        memory.task_update(task, text)
    return task


def titles(found) -> list[str]:
    return [hit.title for hit in found.hits]


def first(memory, query, **options) -> str | None:
    found = titles(memory.task_recall(query, **options))
    return found[0] if found else None


# --- what is found ----------------------------------------------------------------------------------


def test_a_text_is_found_by_its_meaning(memory):
    write(memory, PUPPY, CAR, LAWSUIT)
    for query, text in {"dog": PUPPY, "automobile": CAR, "lawyer": LAWSUIT}.items():
        found = memory.task_recall(query)
        assert found.semantic
        assert found.warnings == ()
        assert found.hits[0].title == text
        assert found.hits[0].why == "like the query"


def test_without_an_embedder_only_words_count(opened, store_url):
    memory = opened(store_url)
    write(memory, PUPPY)
    found = memory.task_recall("dog")
    assert (found.hits, found.semantic, found.warnings) == ((), False, ())
    assert first(memory, "puppy") == PUPPY
    assert rows(store_url, "SELECT * FROM vectors") == []


def test_a_new_text_is_found_by_its_meaning(memory):
    task = write(memory, *[f"{FILLER} {number}" for number in range(70)])
    for query, text in {"dog": PUPPY, "automobile": CAR, "lawyer": LAWSUIT}.items():
        assert first(memory, query) != text
        memory.task_update(task, text)
        assert first(memory, query) == text


def test_words_and_meaning_count_together(memory):
    write(memory, "The invoice went to the customer", *[FILLER] * 12, "The bill for the puppy is due")
    found = memory.task_recall("dog invoice")
    assert set(titles(found)[:2]) >= {"The invoice went to the customer"}
    assert "has invoice" in [hit.why for hit in found.hits]


@pytest.mark.parametrize("query", ['"the dog"', "src/dog.py", "dog_food", "dog*"])
def test_a_query_for_exact_words_returns_no_others(memory, query):
    write(memory, PUPPY)
    found = memory.task_recall(query)
    assert (found.hits, found.semantic, found.warnings) == ((), False, ())


def test_only_texts_that_pass_the_filters_are_compared(memory, clock):
    other = write(memory.acting_as(workspace="/elsewhere", session="T"), PUPPY)
    task = write(memory, FILLER)
    for _ in range(3):  # out of each scope, and as near as what is in it
        clock.forward(100)
        memory.task_update(task, PUPPY, step=1)
    clock.forward(100)
    start = "2026-03-01T12:06:40Z"
    entry = memory.task_remember(task, "A hound barks", item=2, tags=["pets"], type="discovery")
    clock.forward(100)
    last = memory.task_update(task, PUPPY)

    def found(**options):
        return [(hit.task_id, hit.seq) for hit in memory.task_recall("dog", **options).hits]

    assert found(types="discovery") == [(task, entry.seq)]
    assert found(tags="pets") == [(task, entry.seq)]
    assert found(task_id=task, item=2) == [(task, entry.seq)]
    assert found(since=start, until="2026-03-01T12:07:00Z") == [(task, entry.seq)]
    assert {seq for _, seq in found(task_id=task, at=entry.seq)} >= {entry.seq}
    assert last.seq not in {seq for _, seq in found(task_id=task, at=entry.seq)}
    assert {name for name, _ in found()} == {task}
    assert {name for name, _ in found(task_id=other)} == {other}
    assert {name for name, _ in found(workspace=None)} == {task, other}
    assert found(since="2027-01-01") == []


def test_the_end_of_a_long_text_is_found_by_its_meaning(memory):
    court = " The attorney filed the lawsuit in court; judge, plaintiff and defendant heard the witness." * 4
    garage = " The garage mechanic repaired the car: new tyres, brakes, a gearbox, and a tuned engine." * 4
    write(memory, *[FILLER] * 5, FILLER * 100 + court, *[FILLER] * 5, FILLER * 2000 + garage, *[FILLER] * 5)
    assert memory.task_recall("lawyer").hits[0].seq == 7
    assert memory.task_recall("automobile").hits[0].seq == 13


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.integers(0, 200))
def test_chunks_are_short_and_complete(piece, times):
    text = piece * times
    parts = chunks(text)
    assert 1 <= len(parts) <= 2 * (HEAD + TAIL) // CHUNK
    assert max(map(len, parts)) <= CHUNK + CHUNK // 3
    assert "".join(parts) == (text if len(text) <= HEAD + TAIL else text[:HEAD] + text[-TAIL:])


# --- what is derived --------------------------------------------------------------------------------

QUERIES = ["dog", "automobile bought", "lawyer", "the puppy of the attorney", "weather"]


def answers(memory):
    return [memory.task_recall(query) for query in QUERIES]


def corpus(memory):
    write(
        memory,
        *[text for pair in zip([PUPPY, CAR, LAWSUIT] * 10, [FILLER] * 30, strict=True) for text in pair],
    )


def test_rebuilt_vectors_give_the_same_results(memory, store_url):
    corpus(memory)
    before = answers(memory)
    assert all(found.semantic for found in before)
    for vectors in (False, True):
        memory.reindex(vectors=vectors)
        assert bool(rows(store_url, "SELECT 1 FROM vectors")) == vectors
        assert answers(memory) == before


def test_all_ways_to_compare_give_the_same_answers(memory, opened, tmp_path, clock):
    corpus(memory)
    other = opened(f"sqlite://{tmp_path}/other.db", embedder="static")
    path = tmp_path / "events"
    memory.export_events(path)
    other.import_events(path)
    for here, there in zip(answers(memory), answers(other), strict=True):
        assert [(hit.seq, hit.why) for hit in here.hits] == [(hit.seq, hit.why) for hit in there.hits]
        assert [hit.score for hit in here.hits] == pytest.approx([hit.score for hit in there.hits], abs=2e-4)


def test_another_process_sees_the_same(memory, opened, store_url):
    corpus(memory)
    assert answers(memory) == answers(opened(store_url, embedder="static"))


def test_concurrent_searches_compute_each_vector_once(memory, opened, store_url):
    corpus(memory)
    memories = [opened(store_url, embedder="static") for _ in range(4)]
    errors = []

    def search(one):
        try:
            one.task_recall("dog")
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=search, args=(one,)) for one in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    ids = [row["id"] for row in rows(store_url, "SELECT id FROM vectors ORDER BY id")]
    assert ids == [row["id"] for row in rows(store_url, "SELECT id FROM events ORDER BY id")]


@sqlite_only
def test_a_restored_backup_can_be_searched(memory, tmp_path):
    task = write(memory, PUPPY)
    memory.task_recall("dog")
    memory.backup(tmp_path / "backup.db")
    memory.task_update(task, CAR)
    assert first(memory, "automobile") == CAR
    memory.acting_as(channel="user").restore(tmp_path / "backup.db")
    memory.task_update(task, LAWSUIT)  # has the id that the car had
    assert first(memory, "lawyer") == LAWSUIT
    assert CAR not in titles(memory.task_recall("automobile"))


@postgres_only
def test_a_tenant_sees_no_vectors_of_another(memory, opened, new_store_url):
    write(memory, PUPPY)
    assert first(memory, "dog") == PUPPY
    url = new_store_url()
    stranger = opened(url, embedder="static")
    write(stranger, CAR)
    assert PUPPY not in titles(stranger.task_recall("dog", workspace=None))
    assert len(rows(url, "SELECT * FROM vectors")) == 2
    assert len(rows(url, "SELECT * FROM vector_models")) == 1


@pgvector_only
def test_with_the_extension_the_server_compares(memory, store_url):
    write(memory, PUPPY)
    memory.task_recall("dog")
    (row,) = rows(store_url, "SELECT DISTINCT CAST(pg_typeof(vector) AS text) AS kind FROM vectors")
    assert row["kind"] == "halfvec"


def test_an_extension_that_comes_later_is_used_after_a_reindex(opened, postgres_server_url, worker_id):
    name = f"ringbolt_later_{worker_id}"
    with fresh_database(postgres_server_url, name) as base:
        url = f"{base}&tenant=t"
        memory = opened(url, embedder="static")
        corpus(memory)
        before = answers(memory)
        with psycopg.connect(postgres_server_url, dbname=name, autocommit=True) as admin:
            admin.execute("CREATE EXTENSION vector")
        for kind in ("bytea", "halfvec"):
            (row,) = rows(url, "SELECT DISTINCT CAST(pg_typeof(vector) AS text) AS kind FROM vectors")
            assert row["kind"] == kind
            memory.reindex(vectors=True)
        assert [titles(found) for found in answers(memory)] == [titles(found) for found in before]
        memory.close()


@pytest.mark.parametrize("new_store_url", ["postgres", "pgvector"], indirect=True)
def test_a_text_committed_late_gets_its_vectors(memory, opened, store_url):
    task = write(memory, FILLER)
    slow = opened(store_url, embedder="static")
    late = slow.task_register("Late").task_id
    numbered, go_on = threading.Event(), threading.Event()
    plain = slow.store.write

    def slowly(work, **options):
        def held(tx):
            result = work(tx)
            tx.last_position()  # what was sent is done
            numbered.set()
            assert go_on.wait(60)
            return result

        return plain(held, **options)

    slow.store.write = slowly
    thread = threading.Thread(target=slow.task_update, args=(late, PUPPY))
    thread.start()
    try:
        assert numbered.wait(60)
        memory.task_update(task, CAR)
        assert first(memory, "automobile") == CAR
        memory.task_update(task, LAWSUIT)
        assert first(memory, "lawyer") == LAWSUIT
    finally:
        go_on.set()
        thread.join()
    assert first(memory, "dog") == PUPPY


# --- when something is missing ----------------------------------------------------------------------

_BLOCKED = """
import sys
for name in sys.argv[2:]:
    sys.modules[name] = None
from ringbolt import RingboltError, TaskMemory
memory = TaskMemory.open(sys.argv[1], workspace="/w", session="S", embedder="static")
memory.task_register("Notes")
memory.task_update(None, "The puppy sleeps")
found = memory.task_recall("puppy")
print(found.hits[0].title, found.semantic, *found.warnings, sep="|")
try:
    memory.reindex(vectors=True)
except RingboltError as error:
    print(error.code, error.hint, sep="|")
print(memory.task_recall("puppy").hits[0].title)
"""


@pytest.mark.parametrize("missing", [["numpy"], ["wordllama"], ["numpy", "wordllama"]])
def test_without_its_packages_search_uses_words_and_warns(tmp_path, missing):
    done = run_python(_BLOCKED, str(tmp_path / "store.db"), *missing)
    found, error, again = done.stdout.splitlines()
    assert found.startswith("The puppy sleeps|False|")
    assert missing[0] in found
    assert error.startswith("embedder_unavailable|")
    for said in (found, error):
        assert "pip install 'ringbolt[semantic]'" in said
    assert again == "The puppy sleeps"


def test_the_word_vector_package_is_read_and_never_run(tmp_path):
    code = _BLOCKED.replace("sys.modules[name] = None", "pass") + "print(*sys.modules)"
    loaded = run_python(code, str(tmp_path / "store.db")).stdout.split()
    assert "numpy" in loaded
    assert not {"wordllama", "tokenizers", "pydantic", "requests", "safetensors"} & set(loaded)


def test_computing_vectors_needs_an_embedder(opened, store_url):
    memory = opened(store_url)
    with refused(memory, "embedder_unavailable"):
        memory.reindex(vectors=True)


@sqlite_only
def test_a_busy_store_can_be_searched(memory, store_url):
    task = write(memory, PUPPY)
    memory.task_recall("dog")
    memory.task_update(task, CAR)
    with write_held(store_url):
        found = memory.task_recall("dog")
        assert found.semantic
        assert found.hits[0].title == PUPPY
        assert "lock" in found.warnings[0]
        assert first(memory, "car") == CAR
    assert first(memory, "automobile") == CAR


# --- a server ---------------------------------------------------------------------------------------

MEANINGS = [("puppy", "dog"), ("car", "automobile"), ("attorney", "lawyer")]


def meant(text: str, size: int = 8) -> list[float]:
    """A vector that knows a few words."""
    lowered = text.lower()
    return [
        *(float(any(word in lowered for word in words)) for words in MEANINGS),
        *[0.01] * (size - len(MEANINGS)),
    ]


class Server(ThreadingHTTPServer):
    """An embedding server on this machine that behaves as a test wants it."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict] = []
        self.keys: list[str | None] = []
        self.answer = self.good
        self.stopped = threading.Event()

    def good(self, handler, asked, size=8):
        rows = [{"index": n, "embedding": meant(text, size)} for n, text in enumerate(asked["input"])]
        handler.say(200, json.dumps({"data": rows[::-1]}).encode())

    def handle_error(self, request, client_address):
        """A client that went away is no matter."""


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        self.server.keys.append(self.headers["Authorization"])
        assert self.path == "/v1/embeddings"
        self.server.answer(self, asked)

    def say(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serving():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def server():
    with serving() as one:
        yield one


def endpoint(server, **options) -> dict:
    url = f"http://127.0.0.1:{server.server_address[1]}/v1/"
    return {"embedder": "endpoint", "embedding_url": url, "embedding_model": "test-1", **options}


def test_a_server_makes_the_vectors(opened, store_url, server, monkeypatch):
    monkeypatch.setenv("RINGBOLT_EMBEDDING_KEY", "secret")
    memory = opened(store_url, **endpoint(server))
    task = write(memory, PUPPY, CAR, LAWSUIT)
    for query, text in {"dog": PUPPY, "automobile": CAR, "lawyer": LAWSUIT}.items():
        found = memory.task_recall(query)
        assert (found.semantic, found.warnings, found.hits[0].title) == (True, (), text)
    assert set(server.keys) == {"Bearer secret"}
    assert {asked["model"] for asked in server.asked} == {"test-1"}
    number = len(server.asked)
    memory.task_update(task, FILLER)
    assert len(server.asked) == number  # writing asks nobody
    memory.task_recall("dog")
    assert [asked["input"] for asked in server.asked[number:]] == [["dog"], [FILLER]]


def test_a_search_requests_one_batch_and_reports_the_backlog(opened, store_url, server):
    memory = opened(store_url, **endpoint(server))
    write(memory, *[f"note {number}" for number in range(150)], PUPPY)
    found = memory.task_recall("dog")
    assert found.hits[0].title == PUPPY  # the newest come first
    assert "88 texts" in found.warnings[0]
    assert "reindex(vectors=True)" in found.warnings[0]
    assert max(len(asked["input"]) for asked in server.asked) <= 64
    warnings = [memory.task_recall("dog").warnings for _ in range(3)]
    assert "24 texts" in warnings[0][0]
    assert warnings[1:] == [(), ()]
    before = memory.task_recall("dog")
    memory.reindex(vectors=True)
    assert memory.task_recall("dog") == before


def test_a_server_is_never_asked_inside_a_transaction(opened, store_url, server):
    memory = opened(store_url, **endpoint(server))
    task = write(memory, PUPPY)
    other = opened(store_url, lock_timeout=20.0)
    written = []

    def write_then_answer(handler, asked):
        written.append(other.task_update(task, "meanwhile"))
        server.good(handler, asked)

    server.answer = write_then_answer
    found = memory.task_recall("dog")
    assert (found.warnings, found.semantic) == ((), True)
    assert len(written) == 2


def one_vector_too_few(handler, asked):
    handler.say(200, b'{"data": []}')


FAILURES = {
    "slow": (hangs, "took more than 0.3 s"),
    "slow byte by byte": (drips, "took more than 0.3 s"),
    "500": (lambda handler, _: handler.say(500, b"out of memory"), "answered 500 'out of memory'"),
    "redirection": (lambda handler, _: handler.say(302, b""), "answered 302"),
    "garbage": (lambda handler, _: handler.say(200, b"\xff\x00<html>"), "failed"),
    "no JSON": (lambda handler, _: handler.say(200, b"<html>"), "not JSON"),
    "deep": (lambda handler, _: handler.say(200, b"[" * 200_000), "not a list of vectors"),
    "other JSON": (lambda handler, _: handler.say(200, b"[1]"), "not a list of vectors"),
    "too few": (one_vector_too_few, "0 vectors for 1 texts"),
    "no number": (
        lambda handler, _: handler.say(200, b'{"data": [{"index": 0, "embedding": [NaN, 1e999]}]}'),
        "contain NaN or infinity",
    ),
    "words": (
        lambda handler, _: handler.say(200, b'{"data": [{"index": 0, "embedding": ["a", "b"]}]}'),
        "failed",
    ),
    "hang up": (hangs_up, "failed"),
}


@pytest.mark.parametrize("name", FAILURES)
@sqlite_only
def test_recall_survives_any_server_response(opened, store_url, server, name, monkeypatch):
    from ringbolt.recall import endpoint_embedder as client

    is_slow = name.startswith("slow")
    monkeypatch.setattr(client, "QUERY_SECONDS", 0.3 if is_slow else 30.0)
    monkeypatch.setattr(client, "BATCH_SECONDS", 0.5 if is_slow else 30.0)
    server.answer, said = FAILURES[name]
    memory = opened(store_url, **endpoint(server))
    write(memory, PUPPY)
    for _ in range(3):
        found = memory.task_recall("puppy")
        assert (found.hits[0].title, found.semantic) == (PUPPY, False)
        assert said in found.warnings[0]
    assert len(server.asked) == 1  # then it is left alone for a while
    with refused(memory, "embedder_unavailable", naming=said.replace("0.3 s", "0.5 s")):
        memory.reindex(vectors=True)
    assert len(server.asked) == 2  # unless someone asks for it
    server.answer = server.good
    memory.reindex(vectors=True)
    assert first(memory, "dog") == PUPPY


def test_recall_works_without_the_server(opened, store_url, server):
    memory = opened(store_url, **endpoint(server))
    write(memory, PUPPY)
    assert first(memory, "dog") == PUPPY
    with serving() as gone:
        options = endpoint(gone)
    found = opened(store_url, **options).task_recall("puppy")
    assert (found.hits[0].title, found.semantic) == (PUPPY, False)
    assert "refused" in found.warnings[0]


def test_changed_dimensions_of_a_model_are_noticed(opened, store_url, server):
    memory = opened(store_url, **endpoint(server))
    write(memory, PUPPY)
    memory.task_recall("dog")
    server.answer = lambda handler, asked: server.good(handler, asked, size=5)
    again = opened(store_url, **endpoint(server))
    found = again.task_recall("puppy")
    assert (found.hits[0].title, found.semantic) == (PUPPY, False)
    assert "vectors of 5 numbers; those in the store have 8" in found.warnings[0]
    assert "reindex(vectors=True)" in found.warnings[0]
    again.reindex(vectors=True)
    assert again.task_recall("dog").semantic
    assert first(again, "dog") == PUPPY


def test_vectors_of_another_model_are_not_compared(opened, store_url, server):
    memory = opened(store_url, **endpoint(server))
    write(memory, PUPPY, CAR)
    before = memory.task_recall("dog")
    other = opened(store_url, **endpoint(server, embedding_model="test-2"))
    server.answer = lambda handler, asked: server.good(handler, asked, size=12)
    assert first(other, "dog") == PUPPY
    names = [row["name"] for row in rows(store_url, "SELECT name FROM vector_models ORDER BY name")]
    assert names == ["test-1", "test-2"]
    server.answer = server.good
    assert memory.task_recall("dog") == before
    memory.reindex()
    assert rows(store_url, "SELECT 1 FROM vectors") == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"embedding_url": ""}, "embedding_url"),
        ({"embedding_url": "localhost:8080"}, "embedding_url"),
        ({"embedding_url": "http://[::1"}, "embedding_url"),
        ({"embedding_url": "http://a b/"}, "embedding_url"),
        ({"embedding_model": ""}, "no model is named"),
    ],
)
@sqlite_only
def test_an_invalid_server_address_is_an_error_on_use(opened, store_url, server, options, said):
    memory = opened(store_url, **endpoint(server, **options))
    write(memory, PUPPY)
    found = memory.task_recall("puppy")
    assert found.hits[0].title == PUPPY
    assert said in found.warnings[0]
    with refused(memory, "embedder_unavailable", naming=said):
        memory.reindex(vectors=True)


@sqlite_only
def test_an_invalid_key_is_not_shown(opened, store_url, server, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sec\nret")
    memory = opened(store_url, **endpoint(server, embedding_key_env="MY_KEY"))
    write(memory, PUPPY)
    (warning,) = memory.task_recall("puppy").warnings
    assert "MY_KEY" in warning
    assert "sec" not in warning
    assert server.asked == []
