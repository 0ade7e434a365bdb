"""The scan: which passes look at a text, decided by hints that are cheap to find, and in which order."""

from __future__ import annotations

from collections.abc import Callable

from . import rules
from .addresses import url_logins
from .codes import vendor_codes
from .commands import beside_login, beside_user, program_logins, stored_arguments
from .fields import named_values
from .headers import cookie_values, is_no_authorization
from .matching import replaced
from .private_parts import PRIVATE_HINTS
from .randomness import is_random
from .sentences import login_pairs
from .tables import manifest_values, table_cells
from .values import is_no_password, is_not_mixed, is_placeholder, is_plain, is_sentence, is_unlike_password


def _rule(source: str, kind: str, keep: Callable[[str], bool] | None = None) -> Callable[[str], str]:
    return lambda text: replaced(source, text, kind, keep)


# A sign and one of the hints that a text in lower case must contain, and the pass that looks for the secrets
# there. The order matters: a later pass could take a part of what an earlier one takes whole.
PASSES: tuple[tuple[str, tuple[str, ...], Callable[[str], str]], ...] = (
    ("-----", ("private key",), _rule(rules.PRIVATE_KEY, "private-key")),
    ('"', ('kty"',), _rule(rules.WEB_KEY, "private-key")),
    ("-", ("private-lines",), _rule(rules.PUTTY_KEY, "private-key")),
    ("", ("",), vendor_codes),
    ("/", rules.HOOK_HINTS, _rule(rules.WEBHOOKS, "webhook")),
    ("@", ("://",), url_logins),
    ("@", (":",), _rule(rules.BARE_LOGIN, "password", lambda value: not is_random(value, 12))),
    (
        "",
        ("login ", "login=", "auth "),
        _rule(rules.LOGIN_CODE, "token", lambda value: not is_random(value, 20)),
    ),
    (
        "",
        ("authorization", "bearer", "basic ", "negotiate "),
        _rule(rules.AUTHORIZATION, "authorization", is_no_authorization),
    ),
    ("=", ("response=", "signature="), _rule(rules.DIGEST_RESPONSE, "authorization", is_no_authorization)),
    (
        "=",
        ("cookie:", "cookie=", "cookie =", "cookie2:", 'cookie"', "cookie'", " -b ", "--cookie"),
        cookie_values,
    ),
    (
        "=",
        ("sessid", "sessionid=", "_session=", "connect.sid"),
        _rule(rules.SESSION_COOKIE, "cookie", is_plain),
    ),
    (
        "",
        (
            "credential",
            "creds",
            "user/pass",
            "username/pass",
            "login",
            "zugangsdaten",
            "identif",
            "auth",
            "begin(",
            "sign_in",
            "signin",
            "log in",
        ),
        _rule(rules.SAID_LOGIN, "password", is_no_password),
    ),
    (
        "",
        (
            "log in",
            "logged in",
            "logs in",
            "login",
            "log-in",
            "sign in",
            "signed in",
            "signin",
            "authenticate",
            "connect",
        ),
        _rule(rules.LOGIN_AS, "password", is_no_password),
    ),
    (" / ", rules.LOGIN_WORDS, login_pairs),
    ("@", (".",), _rule(rules.MAIL_PAIR, "password", is_not_mixed)),
    ("@", ("@tcp(", "@unix(", "@udp(", "@1", "@2"), _rule(rules.DSN_LOGIN, "password", is_no_password)),
    (
        ":",
        ("admin", "root:", "sa:", "postgres:", "deploy:", "superuser:"),
        _rule(rules.ADMIN_PAIR, "password", is_not_mixed),
    ),
    ("", ("mnemonic", "phrase", "words"), _rule(rules.SEED_PHRASE, "seed-phrase")),
    ("", rules.CODE_WORDS, _rule(rules.SAID_CODE, "code")),
    ("", ("2fa", "otp", "mfa", "authenticator"), _rule(rules.OTP_SEED, "token")),
    (":", (":5432:", ":*:"), _rule(rules.PGPASS, "password", is_no_password)),
    ("", rules.NAME_HINTS, named_values),
    ("\n", rules.NAME_HINTS, table_cells),
    (") values", rules.NAME_HINTS, table_cells),
    (
        "",
        ("_user", "_password", "adduser", "addlogin", "net user", "wpa_passphrase"),
        _rule(rules.USER_ADDED, "password", is_unlike_password),
    ),
    ("", ("--value", "--body", "--secret-", "--literal", " -b", "<<<"), stored_arguments),
    ("assword", ("send",), _rule(rules.EXPECT_SEND, "password", is_placeholder)),
    ("", ("passphrase", "pass phrase"), _rule(rules.SAID_PHRASE, "password", is_sentence)),
    (
        "|",
        (
            "sudo",
            "stdin",
            "with-token",
            "passw",
            "passphrase",
            "cryptsetup",
            "unlock",
            "kinit",
            "secret",
            "env add",
        ),
        _rule(rules.PIPED, "password", is_placeholder),
    ),
    (
        "<<<",
        ("kinit", "passwd", "sudo", "cryptsetup", "login", "stdin", "token", "batch", "pass insert"),
        _rule(rules.HERE_STRING, "password", is_placeholder),
    ),
    (
        "(",
        ("connect", "pdo", "authenticat", "logon", "login", "bind", "auth", "credential", "user("),
        _rule(rules.LOGIN_CALL, "password", is_unlike_password),
    ),
    ("", rules.HASHING_HINTS, _rule(rules.HASHING_CALL, "password", is_no_password)),
    (
        "(",
        ("fernet", "aesgcm", "aes.new", "hmac", "jwt.", "cookieparser"),
        _rule(rules.KEY_CALL, "key", is_unlike_password),
    ),
    (
        "(",
        ("client(", "search(", "init("),
        _rule(rules.CLIENT_CALL, "key", lambda value: not is_random(value, 28)),
    ),
    ("wifi:", ("p:",), _rule(rules.WIFI_CODE, "password", is_placeholder)),
    (">", ("user ",), _rule(rules.ACL_USER, "password", is_no_password)),
    (":", ("u:", "user:"), _rule(rules.USER_P, "password", is_no_password)),
    (
        "\n",
        rules.ANNOUNCERS,
        _rule(rules.ANNOUNCED, "value", lambda value: not is_random(value, 16) or is_unlike_password(value)),
    ),
    ("0x", ("wallet", "private", "account", "deployer", "signer", "pk"), _rule(rules.HEX_KEY, "key")),
    ("", ("passw", "pwd"), _rule(rules.TYPED, "password", is_no_password)),
    (
        "$ ",
        ("passw", "secret", "token", "key", "credential", "private", "psk", "openssl", "pwgen", "pass show"),
        _rule(rules.PRINTED, "value", is_unlike_password),
    ),
    ("kind: secret", ("data:",), manifest_values),
    (
        "/",
        ("/magic", "reset/", "reset-", "/invit", "/verify/", "/activate/", "/confirm/", "/accept/"),
        _rule(rules.LINK_CODE, "token", lambda value: not is_random(value, 20)),
    ),
    ("-", ("htpasswd",), _rule(rules.HTPASSWD, "password", is_placeholder)),
    ("@", ("jdbc:oracle", "sqlplus"), _rule(rules.JDBC_LOGIN, "password", is_placeholder)),
    (" ", rules.FLAG_HINTS, program_logins),
    (" ", ("-u ", "--user", "/u:", "/user:"), beside_user),
    (" ", ("login", "configure", "alias set", "credential", "auth"), beside_login),
)
# What every text with a secret contains, in lower case: one of these signs and one of its hints.
HINTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("", PRIVATE_HINTS),
    *((sign, hints) for sign, hints, _ in PASSES if any(hints)),
)
