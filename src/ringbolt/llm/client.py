"""A client for any model server with OpenAI's API (POST …/chat/completions).

One question is one call of `ModelServer.ask`. It returns a result that has passed every check, or raises a
`ModelFailure` that says why not: nothing else, and never after its deadline.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from ..model.errors import shown
from ..model.settings import Settings
from ..model.types import Value, is_dict, is_list
from ..packet import tokens
from ..system import http_client
from . import json_reply
from .breaker import Breaker

Role = Literal["local", "remote"]

# Ways to ask for JSON, the strictest first. Each process finds out once which one a server supports.
RUNGS = ("json_schema", "json_object", "prompt")
# Statuses with which servers refuse a way to ask.
_UNSUPPORTED = frozenset((400, 415, 422, 501))
MOST_BYTES = 1 << 20
MOST_TOKENS_REPORTED = 10**9
PICTURE_TOKENS = 1500

FAILURES = {
    "misconfigured": "the address, the name or the key of the model is wrong",
    "budget": "the budget for models is spent",
    "paused": "the server failed recently and is not asked for a while",
    "unreachable": "there was no connection",
    "timeout": "the server took too long",
    "denied": "the key was refused, or there were too many requests",
    "status": "the server answered with an error",
    "rejected": "the server rejected the request",
    "too_large": "the answer was too large",
    "garbage": "the answer did not come from a model server",
    "refused": "the model refused to answer",
    "empty": "the model returned nothing",
    "truncated": "the answer was cut off",
    "invalid": "the answer did not have the required form",
    "unfaithful": "the answer did not agree with the records",
}
# After these the next answer may well be better; after any other failure the server is paused.
_MODELS_FAULT = frozenset(("refused", "empty", "truncated", "invalid", "unfaithful", "rejected"))


class Request(Value, frozen=True, kw_only=True):
    """A question to a model; `read` turns the object of the reply into a result, or raises ValueError.

    `listed_as`: a reply that is a bare list of objects counts as an object with the list under this name.
    `prepare` may complete the object before it is checked.
    """

    purpose: str
    messages: tuple[Mapping[str, Any], ...]
    schema: Mapping[str, Any]
    max_tokens: int
    read: Callable[[dict[str, Any]], Any]
    listed_as: str = ""
    prepare: Callable[[dict[str, Any]], dict[str, Any]] = dict

    def tokens(self) -> int:
        """The estimated number of tokens."""
        return _estimate(self.messages)


def _estimate(messages: Iterable[Mapping[str, Any]]) -> int:
    """The estimated number of tokens in some messages; a picture has the usual price."""
    pictures = sum(
        part["type"] == "image_url"
        for message in messages
        if is_list(message["content"])
        for part in message["content"]
    )
    texts = sum(tokens.estimate(_text(message["content"])) + 8 for message in messages)
    return texts + pictures * PICTURE_TOKENS


class Usage(Value, frozen=True, kw_only=True):
    """What a question has used: requests, tokens, milliseconds, and the last rung."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    ms: int = 0
    rung: str | None = None


class Reply(Value, frozen=True, kw_only=True):
    """A checked result, and what it used."""

    result: Any
    usage: Usage


class ModelFailure(Exception):
    """Why there is no answer: a kind from FAILURES, the reason in words, and what was used anyway."""

    def __init__(self, kind: str, reason: str, usage: Usage | None = None) -> None:
        super().__init__(f"{FAILURES[kind]}: {reason}")
        self.kind = kind
        self.reason = reason
        self.usage = usage or Usage()


class ModelServer:
    """One model on one server, with what this process has learned about it."""

    def __init__(self, role: Role, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self.role = role
        self.name: str = getattr(settings, f"model_{role}_name")
        self._url: str = getattr(settings, f"model_{role}_url")
        self._key_env: str = getattr(settings, f"model_{role}_key_env")
        self._clock = clock
        self._rung = 0
        self._breaker = Breaker()

    def ask(self, request: Request, seconds: float) -> Reply:
        """Ask the model; returns or raises ModelFailure within `seconds`."""
        address, key = self._place()
        if refusal := self._breaker.refusal(self._clock()):
            raise ModelFailure("paused", refusal)
        asking = _Asking(self, request, address, key, seconds)
        try:
            reply = asking.answer()
        except ModelFailure as failure:
            failure.usage = asking.usage()
            why = f"{self.name} failed ({failure})"
            if failure.kind in _MODELS_FAULT:
                self._breaker.useless_answer(self._clock(), why)
            else:
                self._breaker.failed(self._clock(), why)
            raise
        self._breaker.passed()
        return reply

    def pause(self, reason: str) -> None:
        """Stop asking the server for a while, although it is not to blame."""
        self._breaker.failed(self._clock(), reason)

    def _place(self) -> tuple[http_client.Address, str]:
        if not self.name:
            raise ModelFailure("misconfigured", f"set model_{self.role}_name")
        try:
            address = http_client.read_address(self._url, "chat/completions")
            return address, http_client.read_key(self._key_env)
        except ValueError as error:
            raise ModelFailure("misconfigured", f"check model_{self.role}_url and its key: {error}") from None


class _Asking:
    """One question: tried down the rungs, and once more with a complaint about the first reply."""

    def __init__(
        self, server: ModelServer, request: Request, address: http_client.Address, key: str, seconds: float
    ) -> None:
        self._server = server
        self._request = request
        self._address = address
        self._key = key
        self._seconds = seconds
        self._messages: list[Mapping[str, Any]] = list(request.messages)
        self._rung: int = server._rung  # pyright: ignore[reportPrivateUsage]
        self._began = time.monotonic()
        self._usage = Usage()

    def usage(self) -> Usage:
        """What was used so far."""
        ms = round(1000 * (time.monotonic() - self._began))
        return self._usage.replace(ms=ms, rung=RUNGS[self._rung])

    def answer(self) -> Reply:
        """The result, after at most one repair."""
        problem, kind = "", ""
        for last in (False, True):
            text, cut = self._next_message()
            try:
                return Reply(result=self._read(text), usage=self.usage())
            except _Unusable as error:
                problem, kind = str(error), "truncated" if cut else error.kind
            if not last:
                why = "it was cut off, so make it much shorter" if cut else problem
                complaint = f"This cannot be used: {why}. Answer again with only the JSON object."
                self._messages.append({"role": "assistant", "content": text[:2000]})
                self._messages.append({"role": "user", "content": complaint})
        raise ModelFailure(kind, problem)

    def _read(self, text: str) -> Any:
        if not text.strip():
            raise _Unusable("empty", "it is empty")
        try:
            found = self._request.prepare(json_reply.first_object(text, self._request.listed_as))
        except ValueError as error:
            raise _Unusable("invalid", str(error)) from None
        if wrong := json_reply.problem(found, self._request.schema):
            raise _Unusable("invalid", wrong)
        try:
            return self._request.read(found)
        except ValueError as error:
            raise _Unusable("unfaithful", str(error)) from None

    def _next_message(self) -> tuple[str, bool]:
        """The model's reply to the messages so far, and whether it was cut off."""
        while True:
            try:
                text, cut = self._post()
            except http_client.StatusError as error:
                if error.status in _UNSUPPORTED and self._rung + 1 < len(RUNGS):
                    self._rung += 1
                    continue
                denied, known = error.status in (401, 403, 429), error.status in _UNSUPPORTED
                kind = "denied" if denied else "rejected" if known else "status"
                raise ModelFailure(kind, str(error)) from None
            self._server._rung = self._rung  # pyright: ignore[reportPrivateUsage]
            return text, cut

    def _post(self) -> tuple[str, bool]:
        left = self._seconds - (time.monotonic() - self._began)
        if left <= 0:
            raise ModelFailure("timeout", f"it took more than {self._seconds:g} s")
        body: dict[str, Any] = {
            "model": self._server.name,
            "messages": self._messages,
            "temperature": 0,
            "max_tokens": self._request.max_tokens,
            "stream": False,
        }
        if RUNGS[self._rung] == "json_schema":
            named = {"name": self._request.purpose, "strict": False, "schema": self._request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif RUNGS[self._rung] == "json_object":
            body["response_format"] = {"type": "json_object"}
        guess = _estimate(self._messages)
        try:
            answer = http_client.post(self._address, self._key, body, left, MOST_BYTES)
        except http_client.StatusError:
            self._count(0, 0)
            raise
        except http_client.Unreachable as error:
            raise ModelFailure("unreachable", http_client.error_text(error)) from None
        except TimeoutError:
            self._count(guess, 0)
            raise ModelFailure("timeout", f"it took more than {self._seconds:g} s") from None
        except http_client.TooLarge as error:
            self._count(guess, self._request.max_tokens)
            raise ModelFailure("too_large", http_client.error_text(error)) from None
        except OSError as error:
            self._count(guess, 0)
            raise ModelFailure("garbage", http_client.error_text(error)) from None
        return self._message(answer, guess)

    def _message(self, answer: bytes, guess: int) -> tuple[str, bool]:
        """The text of an answer, and whether it was cut off."""
        try:
            found = json.loads(answer)
            choice = found["choices"][0]
            message = choice["message"]
            content = message.get("content")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            self._count(guess, 0)
            raise ModelFailure("garbage", "its answer has no message") from None
        text = _text(content)
        usage = found.get("usage")
        usage = usage if is_dict(usage) else {}
        self._count(
            _plausible(usage.get("prompt_tokens"), guess),
            _plausible(usage.get("completion_tokens"), tokens.estimate(text[:100_000])),
        )
        reason = choice.get("finish_reason")
        if message.get("refusal") or reason == "content_filter":
            raise ModelFailure("refused", shown(message.get("refusal") or reason, 200))
        return text, reason == "length"

    def _count(self, tokens_in: int, tokens_out: int) -> None:
        known = self._usage
        self._usage = known.replace(
            calls=known.calls + 1,
            tokens_in=known.tokens_in + tokens_in,
            tokens_out=known.tokens_out + tokens_out,
        )


class _Unusable(Exception):
    """A reply that cannot be used, with a reason for the model."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def _text(content: Any) -> str:
    """The text of a message; some servers send it in parts."""
    if is_list(content):
        parts = [part.get("text") for part in content if is_dict(part)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _plausible(reported: Any, guess: int) -> int:
    """The number of tokens that a server reports, or our estimate if that is implausible."""
    return reported if type(reported) is int and 0 <= reported < MOST_TOKENS_REPORTED else guess


_servers: dict[tuple[str, ...], ModelServer] = {}


def server_for(role: Role, settings: Settings) -> ModelServer:
    """The local or remote model of the settings, one object for the whole process."""
    place = tuple(getattr(settings, f"model_{role}_{part}") for part in ("url", "name", "key_env"))
    return _servers.setdefault((role, *place), ModelServer(role, settings))
