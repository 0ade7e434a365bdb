"""Redaction: secrets go, what only looks like one stays. Every secret here is invented."""

from __future__ import annotations

import time

import pytest

from ringbolt.model.redaction import Redactor, bounded, storable

REDACTOR = Redactor(b"k" * 32)
A = "aB3dE5fG7hJ9kL2mN4pQ6rS8tV1wX3yZ5bC7dF9g"
HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
# Joined when the test runs, so that no scanner takes them for real ones.
SECRETS = {
    "aws key": ("AKIA" + "Q3EGRZ7JXKPL2MNB", "key {}"),
    "aws session key": ("ASIA" + "Q3EGRZ7JXKPL2MNB", "{} used"),
    "aws secret": (A, "AWS_SECRET_ACCESS_KEY={}"),
    "aws secret in a file": (A, "aws_secret_access_key = {}"),
    "github": ("ghp_" + A[:36], "{}"),
    "github app": ("ghs_" + A[:36], "token {}"),
    "github oauth": ("gho_" + A[:36], "x={}"),
    "github fine": ("github_pat_" + A + "_" + A, "export GH={}"),
    "gitlab": ("glpat-" + A[:20], "git clone with {}"),
    "slack bot": ("xoxb-" + "123456789012-" + A[:24], "{}"),
    "slack user": ("xoxp-" + "123456789012-" + A[:24], "{}"),
    "slack app": ("xapp-" + "1-A012-" + A[:30], "{}"),
    "slack hook": ("T012AB34C/B012AB34C/" + A[:24], "https://hooks.slack.com/services/{}"),
    "discord hook": ("123456789012345678/" + A, "https://discord.com/api/webhooks/{}"),
    "anthropic": ("sk-ant-api03-" + A + "AA", "ANTHROPIC {}"),
    "openai": ("sk-" + A, "{}"),
    "openai project": ("sk-proj-" + A, "{}"),
    "openrouter": ("sk-or-v1-" + HEX + HEX, "{}"),
    "stripe": ("sk_live_" + A[:24], "{}"),
    "stripe test": ("sk_test_" + A[:24], "{}"),
    "stripe restricted": ("rk_live_" + A[:24], "{}"),
    "stripe webhook": ("whsec_" + A[:32], "{}"),
    "google": ("AIza" + A[:35], "{}"),
    "google oauth": ("ya29." + A, "{}"),
    "google client": ("GOCSPX-" + A[:28], "{}"),
    "npm": ("npm_" + A[:36], "{}"),
    "pypi": ("pypi-" + A + A, "{}"),
    "docker": ("dckr_pat_" + A[:27], "{}"),
    "huggingface": ("hf_" + A[:34], "{}"),
    "sendgrid": ("SG." + A[:22] + "." + A, "{}"),
    "mailgun": ("key-" + HEX, "{}"),
    "digitalocean": ("dop_v1_" + HEX + HEX, "{}"),
    "shopify": ("shpat_" + HEX, "{}"),
    "databricks": ("dapi" + HEX, "{}"),
    "vault": ("hvs." + A, "{}"),
    "grafana": ("glsa_" + A, "{}"),
    "atlassian": ("ATATT3" + A, "{}"),
    "linear": ("lin_api_" + A, "{}"),
    "groq": ("gsk_" + A, "{}"),
    "xai": ("xai-" + A, "{}"),
    "telegram": ("123456789:AA" + A[:33], "bot {}"),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + A, "cookie {}"),
    "private key": (
        "-----BEGIN RSA " + "PRIVATE KEY-----\n" + A + "\n-----END RSA PRIVATE KEY-----",
        "cat id_rsa\n{}\n",
    ),
    "ssh key": ("-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + A, "{}"),
    "url": ("correcthorse", "postgres://shop:{}@db.internal:5432/shop"),
    "url of git": (A, "https://x-access-token:{}@github.com/a/b.git"),
    "url of redis": ("s3cret", "redis://:{}@cache:6379"),
    "bearer": (A, "Authorization: Bearer {}"),
    "bearer of curl": (A, "curl -H 'authorization: bearer {}' https://api"),
    "basic": ("dXNlcjpwYXNzd29yZDEyMw==", "Authorization: Basic {}"),
    "token header": (A, "Authorization: token {}"),
    "password": ("hunter2!", "password: {}"),
    "password quoted": ("correcthorse", 'password = "{}"'),
    "password in JSON": ("Tr0ub4dor&3", '{{"db_password": "{}", "port": 1}}'),
    "password in a variable": ("s3cr3t-pg", "PGPASSWORD={} psql -h db"),
    "password flag": ("hunter22", "mysql --password={} shop"),
    "password flag with a space": ("hunter22", "tool --password {} run"),
    "token flag": (A, "deploy --auth-token {} --force"),
    "api key": (HEX, "api_key={}"),
    "api key in YAML": (HEX, "  apiKey: {}"),
    "api key in a header": (HEX, "x-api-key: {}"),
    "client secret": (A, "client_secret: '{}'"),
    "secret key": ("django-insecure-9x$k2v(", "SECRET_KEY = '{}'"),
    "access token in a query": (A, "https://api.example.com/x?access_token={}&page=2"),
    "curl user": ("s3cret99", "curl -u admin:{} https://host"),
    "sshpass": ("s3cret99", "sshpass -p {} ssh host"),
    "passphrase": ("blue-42-river", "passphrase: {}"),
    "encryption key": (A, "ENCRYPTION_KEY={}"),
}
INNOCENT = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "id: 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "ringbolt 1.12.3 (py3-none-any)",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "max_tokens=4096, temperature=0.2",
    "token_count: 15000 of 200000",
    "def login(user: str, password: str) -> Token:",
    "password = getpass.getpass()",
    "token = os.environ['TOKEN']",
    "api_key: ${API_KEY}",
    "PASSWORD=$DB_PASSWORD make deploy",
    "the token was refused and the password is wrong",
    "tokenizer=cl100k_base",
    "see https://example.com/a/b?page=2#token",
    "git@github.com:acme/shop.git",
    "postgres://db.internal:5432/shop",
    "postgres://shop:$PASSWORD@db/shop",
    "secret_name: shop-db-2024-credentials",
    "password_file: /run/secrets/db_1",
    "if token is None: raise ValueError('no token')",
    "basic authentication is enough here",
    "pk is 12345, key-value store, sk-learn 1.5",
    "uv.lock hash = sha512-abcdef0123456789abcdef==",
    "self.token = self.session.token",
    "session 01JCQ7Z8M2K4V6X8Y0A2C4E6G8 resumed",
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_replaced_and_what_stands_around_it_is_not(name):
    secret, template = SECRETS[name]
    found = REDACTOR.text(template.format(secret))
    assert secret not in found
    assert "[redacted " in found
    assert REDACTOR.text(found) == found
    before = template.split("{}", 1)[0].replace("{{", "{")
    assert found.startswith(before)


def test_the_list_is_long_enough():
    assert len(SECRETS) >= 60


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_stays(text):
    assert REDACTOR.text(text) == text


def test_the_same_secret_is_known_again_in_one_store_and_not_in_another():
    text = f"token={A}"
    assert REDACTOR.text(text) == Redactor(b"k" * 32).text(text) != Redactor(b"q" * 32).text(text)


def test_values_of_secret_names_go_wherever_they_are_in_a_structure():
    found = REDACTOR.value({"env": [{"DB_PASSWORD": "correcthorse"}], "n": 3, "password_file": "a"}, str)
    assert found["env"][0]["DB_PASSWORD"].startswith("[redacted value 12 ")
    assert (found["n"], found["password_file"]) == (3, "a")


def test_texts_become_fit_to_be_stored():
    assert storable("a\0b\ud800") == "a�b?"


@pytest.mark.parametrize(
    "unit",
    ["password=", "eyJaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "://a:", "--token ", "bearer ", "a_token_"],
)
def test_the_time_grows_with_the_length_and_no_faster(unit):
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        begin = time.perf_counter()
        REDACTOR.text(text)
        return time.perf_counter() - begin

    assert min(seconds(120_000) for _ in range(3)) < 40 * max(min(seconds(12_000) for _ in range(3)), 0.001)


def test_of_a_very_long_text_only_its_ends_are_looked_at():
    assert len(bounded("x" * 5_000_000)) < 130_000
