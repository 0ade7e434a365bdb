"""Redaction: secrets go, what only looks like one stays. Every secret here is invented."""

from __future__ import annotations

import pytest

from ringbolt.model.redaction import Redactor, bounded, storable
from tests.model.invented_secrets import SECRETS, A

REDACTOR = Redactor()
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


def test_a_marker_says_only_what_kind_of_secret_it_was():
    assert REDACTOR.text(f"API_TOKEN={A}") == "API_TOKEN=[redacted token]"


def test_an_operator_may_keep_secrets():
    assert Redactor(keep=True).text(f"API_TOKEN={A}") == f"API_TOKEN={A}"
    assert Redactor(keep=True).value({"password": A}, str) == {"password": A}


def test_values_of_secret_names_go_wherever_they_are_in_a_structure():
    found = REDACTOR.value({"env": [{"DB_PASSWORD": "correcthorse"}], "n": 3, "password_file": "a"}, str)
    assert found["env"][0]["DB_PASSWORD"] == "[redacted password]"
    assert (found["n"], found["password_file"]) == (3, "a")


def test_texts_become_fit_to_be_stored():
    assert storable("a\0b\ud800") == "a�b?"


def test_of_a_very_long_text_only_its_ends_are_looked_at():
    assert len(bounded("x" * 5_000_000)) < 130_000
