"""Webhooks: whoever a task names is told of its end, signed, until it is taken; nobody else is reached."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import socket
import ssl
import stat

import pytest

from ringbolt.config import user_folder
from ringbolt.store.jobs import JITTER, MOST_ATTEMPTS
from ringbolt.system import http_client
from ringbolt.worker import webhooks
from ringbolt.worker.worker import HANDLERS, Worker
from tests.support import open_memory
from tests.worker.receiver import receiving


@pytest.fixture
def private(opened, store_url):
    """A memory whose operator allows addresses of this machine."""
    return opened(store_url, callback_private="on", extraction="off")


def worker(memory):
    return Worker(memory, handlers={"webhook": HANDLERS["webhook"]})


def ended(memory, url, **finish):
    task = memory.task_register("Deploy", ["Build"], callback_url=url, metadata={"ticket": 7}).task_id
    memory.task_finish(task, **{"answer": "It runs.", **finish})
    return task


# --- delivering -------------------------------------------------------------------------------------


def test_the_end_of_a_task_is_told_once_signed_and_with_what_came_of_it(private):
    with receiving() as receiver:
        task = ended(private, receiver.url)
        assert private.jobs_status().kinds == {"webhook": {"waiting": 1}}  # with the end itself
        assert worker(private).run_once().done == 1
        assert worker(private).run_once().done == 0
        ((headers, body, path),) = receiver.taken
    told = json.loads(body)
    assert path == "/done?x=1"
    assert (told["type"], told["task"]["id"], told["answer"]) == ("task.completed", task, "It runs.")
    assert (told["task"]["metadata"], told["task"]["name"]) == ({"ticket": 7}, "Deploy")
    assert 'The task "Deploy" is completed: "It runs."' in told["summary"]
    assert told["delivery"] == headers["webhook-id"] == f"{task}-{told['seq']}"
    key_file = os.path.join(user_folder("data"), "webhook.key")
    assert stat.S_IMODE(os.stat(key_file).st_mode) == 0o600
    with open(key_file, encoding="ascii") as file:
        secret = base64.b64decode(file.read().strip().removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{wanted}"


def test_a_receiver_can_tell_a_forged_or_old_delivery(private, clock):
    with receiving() as receiver:
        ended(private, receiver.url)
        worker(private).run_once()
        ((headers, body, _),) = receiver.taken
    key = webhooks.read_key()
    assert webhooks.is_signed(key, headers, body, clock())
    assert not webhooks.is_signed(key, headers, body + b" ", clock())
    assert not webhooks.is_signed(key, {**headers, "webhook-id": "another"}, body, clock())
    assert not webhooks.is_signed(key, headers, body, clock() + 301)
    assert not webhooks.is_signed("whsec_" + base64.b64encode(bytes(32)).decode(), headers, body, clock())
    assert not webhooks.is_signed(key, {}, body, clock())


def test_what_is_not_taken_is_tried_again_with_growing_pauses_under_the_same_id(private, clock):
    with receiving(500, 429, 204) as receiver:
        ended(private, receiver.url)
        assert worker(private).run_once().failed == 1
        assert worker(private).run_once().failed == 0  # not yet
        clock.forward(5 * (1 + JITTER))
        assert worker(private).run_once().failed == 1
        clock.forward(9.9)
        assert worker(private).run_once().done == 0
        clock.forward(10 * JITTER + 0.1)
        assert worker(private).run_once().done == 1
        assert len({headers["webhook-id"] for headers, _, _ in receiver.taken}) == 1
        assert len({body for _, body, _ in receiver.taken}) == 1
        assert len(receiver.taken) == 3


def test_what_is_never_taken_is_given_up_and_can_be_tried_again(private, clock):
    with receiving(*[503] * MOST_ATTEMPTS, 200) as receiver:
        ended(private, receiver.url)
        reports = []
        for _ in range(MOST_ATTEMPTS):
            reports.append(worker(private).run_once())
            clock.forward(4000)
        assert [report.failed for report in reports] == [1] * (MOST_ATTEMPTS - 1) + [0]
        assert reports[-1].dead == 1
        (job,) = private.jobs_status().given_up
        assert "503" in job.error
        private.jobs_retry(job.id)
        assert worker(private).run_once().done == 1


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_every_end_is_told_and_each_by_its_own_id(private, status):
    with receiving() as receiver:
        task = ended(private, receiver.url, status=status)
        if status == "failed":  # it may go on, and end again
            private.task_update(task, status="active")
            private.task_update(task, status="completed")
        while worker(private).run_once().done:
            pass
        told = [json.loads(body)["type"] for _, body, _ in receiver.taken]
    assert told == [f"task.{status}"] + (["task.completed"] if status == "failed" else [])


def test_nobody_is_told_where_that_is_off_or_the_end_came_with_an_import(opened, new_store_url, tmp_path):
    off = opened(new_store_url(), callbacks="off", extraction="off")
    with receiving() as receiver:
        ended(off, receiver.url)
        assert off.jobs_status().waiting == 0
        on = opened(new_store_url(), callback_private="on", extraction="off")
        task = ended(on, receiver.url)
        on.export_bank(str(tmp_path / "bank"), task)
        other = opened(new_store_url(), callback_private="on", extraction="off")
        other.import_bank(str(tmp_path / "bank"))
        assert "webhook" not in other.jobs_status().kinds
        assert receiver.taken == []


# --- whom it cannot be sent to ----------------------------------------------------------------------

BAD = [
    "http://127.0.0.1:{port}/", "http://127.1:{port}/", "http://2130706433:{port}/", "http://0x7f000001:{port}/",
    "http://0177.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/", "http://0.0.0.0:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/", "http://[::ffff:7f00:1]:{port}/", "http://[::]:{port}/",
    "http://[::127.0.0.1]:{port}/", "http://[64:ff9b::7f00:1]:{port}/", "http://[2002:7f00:1::]:{port}/",
    "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://192.168.0.1/", "http://172.16.0.1/",
    "http://100.64.0.1/", "http://[fd00::1]/", "http://[fe80::1]/", "http://224.0.0.1/", "http://255.255.255.255/",
    "http://user:secret@127.0.0.1:{port}/", "http://example.org@127.0.0.1:{port}/", "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/", "ftp://127.0.0.1/", "//127.0.0.1:{port}/", "127.0.0.1:{port}", "http://",
    "http:///x",
    "http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://127.0.0.1\\@example.org:{port}/",
    "javascript:alert(1)",
    "http://127.0.0.1:{port}/\r\nX-Evil: 1", "http://a b/", "https://127.0.0.1:{port}/",
]  # fmt: skip


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    """A memory with the settings that everyone has at first, and a receiver that must never be reached."""
    with (
        open_memory(tmp_path_factory.mktemp("w") / "s.db", extraction="off") as memory,
        receiving() as receiver,
    ):
        yield memory, receiver


def test_nothing_is_sent_to_this_machine_or_a_private_network(strict):
    for url in BAD:
        memory, receiver = strict
        task = ended(memory, url.format(port=receiver.port))
        assert worker(memory).run_once().failed == 1
        assert receiver.taken == []
        (job,) = [one for one in memory.store.read(_jobs) if one["task_id"] == task]
        assert job["error"].startswith(("Forbidden: ", "ValueError: "))
        assert "secret" not in job["error"]


def _jobs(tx):
    return tx.rows(("task_id", "error"), "SELECT task_id, error FROM jobs")


def test_public_addresses_are_public():
    for ip in ("93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"):
        assert webhooks.is_public(ip), ip


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirection_is_not_followed(private, status):
    with receiving(status) as receiver:
        ended(private, receiver.url)
        assert worker(private).run_once().failed == 1
        assert [path for _, _, path in receiver.taken] == ["/done?x=1"]


def test_a_receiver_that_hangs_is_left(opened, new_store_url):
    memory = opened(new_store_url(), callback_private="on", callback_seconds=0.2, extraction="off")
    with receiving(hangs=True) as receiver:
        ended(memory, receiver.url)
        assert worker(memory).run_once().failed == 1
        assert len(receiver.taken) == 1


def test_a_name_is_looked_up_once_and_what_was_judged_is_called(monkeypatch):
    """A server of names that says something else the second time changes nothing."""
    asked, judged = [], []
    real = socket.getaddrinfo

    def recorded(host, *rest, **more):
        asked.append(host)
        return real(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", recorded)
    with receiving() as receiver:
        address = http_client.read_url(f"http://localhost:{receiver.port}/x", "the URL")
        allowed = lambda ip: judged.append(ip) or True  # noqa: E731
        assert http_client.exchange(address, b"{}", {}, 5, 100, allowed=allowed)[0] == 200
        assert receiver.taken[0][0]["host"] == f"localhost:{receiver.port}"
    assert asked.count("localhost") == 1
    assert set(asked[1:]) <= set(judged)


def test_a_certificate_must_be_that_of_the_name(private, tmp_path, monkeypatch):
    x509 = pytest.importorskip("cryptography.x509")
    chain = _certificate(x509, tmp_path, "localhost")
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(chain)
    with receiving(tls=served) as receiver:
        ended(private, f"https://localhost:{receiver.port}/")
        assert worker(private).run_once().failed == 1  # of nobody that is trusted
        monkeypatch.setenv("SSL_CERT_FILE", str(chain))
        ended(private, f"https://localhost:{receiver.port}/")
        assert worker(private).run_once().done == 1
        ended(private, f"https://127.0.0.1:{receiver.port}/")
        assert worker(private).run_once().failed == 1  # of another name
        assert len(receiver.taken) == 1


def _certificate(x509, folder, name):
    import datetime

    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(own)
        .issuer_name(own)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = folder / "chain.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, form, plain)
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path
