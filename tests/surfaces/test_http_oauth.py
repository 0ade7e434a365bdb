"""The server beyond this machine: TLS, and tokens of the operator's authorization server."""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import signal
import ssl
import subprocess
import sys
import urllib.request

import anyio
import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client

from ringbolt import RingboltError
from ringbolt.surfaces.http.oauth import SCOPES, AuthorizationServer, check_url
from ringbolt.surfaces.http.server import check_host, listen, read_certificate
from tests.support import open_memory
from tests.surfaces.authorization_server import Key, authorization_server
from tests.surfaces.http_support import serving

METADATA = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    pem = serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(made.public_bytes(pem))
    private = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(pem, private, serialization.NoEncryption()))
    return str(folder / "cert.pem"), str(folder / "key.pem")


# --- TLS --------------------------------------------------------------------------------------------


def test_the_command_serves_https_with_the_operators_certificate(tmp_path, certificate):
    cert, key = certificate
    words = ["serve", "--port", "0", "--store", str(tmp_path / "s.db"), "--tls-cert", cert, "--tls-key", key]
    environ = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    program = [sys.executable, "-m", "ringbolt"]
    process = subprocess.Popen(
        [*program, *words],
        env=environ,
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
    )
    try:
        address = process.stdout.readline().split(" at ")[1].strip()
        assert address.startswith("https://127.0.0.1:")
        trusts = ssl.create_default_context(cafile=cert)
        with urllib.request.urlopen(address + "health", context=trusts, timeout=100) as answer:
            assert answer.status == 200
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(address + "health", timeout=100)
        process.send_signal(signal.SIGTERM)
        assert process.wait(100) == 0
    finally:
        process.kill()
        process.stdout.close()


def test_other_machines_are_let_in_only_with_tls_and_a_name(tmp_path):
    for host in ("127.0.0.1", "::1", "localhost"):
        check_host(host, "", is_safe=False)
    check_host("0.0.0.0", "tasks.example", is_safe=True)
    for names, is_safe in (("tasks.example", False), ("", True), ("", False)):
        with pytest.raises(RingboltError, match="can reach") as refused:
            check_host("0.0.0.0", names, is_safe=is_safe)
        assert "--tls-cert" in refused.value.hint


def test_a_certificate_that_cannot_be_used_is_refused_before_anything_listens(tmp_path, certificate):
    cert, key = certificate
    other = tmp_path / "other.pem"
    private = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    other.write_bytes(private)
    assert read_certificate("", "") is None
    assert read_certificate(cert, key) == (cert, key)
    for bad in (
        (cert, ""),
        ("", key),
        (cert, str(other)),
        (key, cert),
        (str(tmp_path / "no"), key),
        (cert, "\0"),
    ):
        with pytest.raises(RingboltError) as refused:
            read_certificate(*bad)
        assert refused.value.code == "invalid_argument"


# --- OAuth ------------------------------------------------------------------------------------------


@pytest.fixture
def issuer():
    with authorization_server() as server:
        yield server


@pytest.fixture
def protected(tmp_path, issuer):
    """A server that accepts the tokens of the authorization server, and its address."""
    with listen("127.0.0.1", 0) as found:
        port = found.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with open_memory(
        tmp_path / "store.db", workspace=str(tmp_path), session="", http_issuer=issuer.issuer, http_url=url
    ) as memory, serving(memory, tmp_path / "tokens.json", port=port) as client:  # fmt: skip
        client.url = url
        yield client


def with_token(client, token, method="GET", path="/api/tasks", body=None):
    return client(method, path, body, token=None, Authorization=f"Bearer {token}")


def test_a_client_without_a_token_is_told_where_to_get_one(protected, issuer):
    refused = protected("POST", "/mcp", {}, token=None)
    assert refused.status == 401
    challenge = refused.headers["www-authenticate"]
    where = f"{protected.url}{METADATA}/mcp"
    assert challenge.startswith("Bearer ")
    assert f'resource_metadata="{where}"' in challenge
    assert "error=" not in challenge
    for path in (f"{METADATA}/mcp", METADATA):
        told = protected("GET", path, token=None).json
        assert told["resource"] == f"{protected.url}/mcp"
        assert told["authorization_servers"] == [issuer.issuer]
        assert set(told["scopes_supported"]) == set(SCOPES)
    wrong = with_token(protected, "rb_x")
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]


def test_scopes_say_what_a_token_may_do(protected, issuer):
    aud = f"{protected.url}/mcp"
    reads = issuer.token(aud=aud, scope="openid ringbolt:read")
    writes = issuer.token(aud=[aud, "https://other.example"], scope=None, scp=["ringbolt:write"])
    assert with_token(protected, reads).status == 200
    assert with_token(protected, reads, "POST", "/api/task_register", {"name": "x"}).status == 403
    assert with_token(protected, writes, "POST", "/api/task_register", {"name": "x"}).status == 200
    none = with_token(protected, issuer.token(aud=aud, scope="openid"))
    assert (none.status, none.error["code"]) == (403, "no_scope")
    assert 'error="insufficient_scope"' in none.headers["www-authenticate"]


def test_a_token_is_bound_to_the_servers_workspace_or_to_those_it_names(protected, issuer, tmp_path):
    own = protected.call("task_register", name="mine")["task_id"]
    aud = protected.url
    named = issuer.token(aud=aud, ringbolt_workspaces=["/elsewhere"])
    assert with_token(protected, issuer.token(aud=aud), path=f"/api/tasks/{own}").status == 200
    assert with_token(protected, named, path=f"/api/tasks/{own}").status == 404


def test_a_token_that_is_not_for_this_server_is_unknown(protected, issuer):
    aud, good = f"{protected.url}/mcp", issuer.keys[0]
    stranger = Key(good.name)  # the same id, another key
    bad = [
        issuer.token(aud="https://other.example/mcp"),
        issuer.token(aud=None),
        issuer.token(aud=aud, exp=1),
        issuer.token(aud=aud, exp=None),
        issuer.token(aud=aud, sub=None),
        issuer.token(aud=aud, iss="https://evil.example"),
        issuer.token(stranger, aud=aud),
        issuer.token(Key("unknown"), aud=aud),
        unsigned(aud, issuer),
        "a.b.c", "..", "é.é.é",
    ]  # fmt: skip
    for token in bad:
        refused = with_token(protected, token.encode().decode("latin-1"))
        assert (refused.status, refused.error["code"]) == (401, "no_token"), token
    assert with_token(protected, issuer.token(aud=aud)).status == 200


def unsigned(aud, issuer) -> str:
    import jwt

    claims = {"iss": issuer.issuer, "aud": aud, "sub": "x", "exp": 1 << 40, "scope": "ringbolt:admin"}
    return jwt.encode(claims, None, "none", headers={"kid": issuer.keys[0].name})


def test_new_keys_are_fetched_when_a_token_names_one_and_not_too_often(issuer):
    now = [1000.0]
    server = AuthorizationServer(issuer.issuer, "http://127.0.0.1:1", None, clock=lambda: now[0])
    aud = "http://127.0.0.1:1/mcp"
    assert server.caller(issuer.token(aud=aud).encode()) is not None
    issuer.keys = [Key("two")]
    later = issuer.token(aud=aud).encode()
    assert server.caller(later) is None, "the keys were fetched a moment ago"
    now[0] += 60
    assert server.caller(later).grant.name == "oauth:agent"
    assert issuer.asked.count("/keys") == 2
    for _ in range(20):
        assert server.caller(issuer.token(Key("three"), aud=aud).encode()) is None
    assert issuer.asked.count("/keys") == 2


def test_an_authorization_server_that_does_not_answer_is_said_to_be_the_trouble(tmp_path, issuer, protected):
    token = issuer.token(aud=f"{protected.url}/mcp")
    issuer.server_close()
    issuer.shutdown()
    refused = with_token(protected, token)
    assert (refused.status, refused.error["code"]) == (503, "store_unavailable")
    assert protected("GET", "/api/tasks").status == 200, "our own tokens need nobody"


@pytest.mark.parametrize(
    "url", ["", "http://tasks.example", "ftp://x", "https://", "https://a@b", "https://a?b=1"]
)
def test_an_address_that_tokens_cannot_be_for_is_refused(url):
    with pytest.raises(RingboltError, match="http_url") as refused:
        check_url("http_url", url)
    assert refused.value.code == "invalid_argument"


class Storage:
    """Where the SDK's client keeps its tokens."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, info):
        self.client = info


def test_the_sdks_client_finds_the_authorization_server_and_comes_in(protected, issuer):
    """From a 401 alone: metadata, authorization server, token for our URL, and the call."""
    provider = ClientCredentialsOAuthProvider(
        f"{protected.url}/mcp", Storage(), "agent", "secret", scope="ringbolt:write", issuer=issuer.issuer
    )

    async def talk():
        with anyio.fail_after(100):
            async with httpx2.AsyncClient(auth=provider, timeout=100) as http:
                transport = streamable_http_client(f"{protected.url}/mcp", http_client=http)
                async with Client(transport) as client:
                    return await client.call_tool("task_register", {"name": "From far away"})

    result = anyio.run(talk)
    assert not result.is_error
    (form,) = issuer.forms
    assert form["resource"] == [f"{protected.url}/mcp"]
    assert "From far away" in json.dumps(protected.call("task_list"))
