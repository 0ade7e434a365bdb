"""A client for any model server that answers POST …/chat/completions as OpenAI's does.

One question is one call of `ModelServer.ask`. It ends in a result that has passed every check, or in a
`ModelFailure` that says why not: never in anything else, and never later than it may.
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


# Ways to ask for JSON, the strictest first. Which one a server knows is found out once in a process.
RUNGS = ("json_schema", "json_object", "prompt")
# Statuses by which servers refuse a way to ask.
_NOT_SO = frozenset((400, 415, 422, 501))
MOST_BYTES = 1 << 20
MOST_TOKENS_TOLD = 10**9
PICTURE_TOKENS = 1500

FAILURES = {
    "misconfigured": "the address, the name or the key of the model is wrong",
    "budget": "the budget for models is spent",
    "paused": "the server failed lately and is left alone for a while",
    "unreachable": "there was no connection",
    "timeout": "the time was up",
    "denied": "the key was refused, or there were too many requests",
    "status": "the server answered with an error",
    "rejected": "the server did not take the request",
    "too_large": "the answer had too many bytes",
    "garbage": "the answer was not that of a model server",
    "refused": "the model refused to answer",
    "empty": "the model said nothing",
    "truncated": "the answer was cut off",
    "invalid": "the answer had not the shape that was asked for",
    "unfaithful": "the answer did not agree with what is recorded",
}
# After these the next answer may well be better; after all others the server is left alone.
_MODELS_FAULT = frozenset(("refused", "empty", "truncated", "invalid", "unfaithful", "rejected"))


class Request(Value, frozen=True, kw_only=True):
    """A question to a model: `read` makes the result of its object, or says in a ValueError why it cannot."""

    purpose: str
    messages: tuple[Mapping[str, Any], ...]
    schema: Mapping[str, Any]
    max_tokens: int
    read: Callable[[dict[str, Any]], Any]

    def tokens(self) -> int:
        """About how many tokens it has."""
        return _estimate(self.messages)


def _estimate(messages: Iterable[Mapping[str, Any]]) -> int:
    """About how many tokens some messages have; a picture counts as much as models usually count."""
    pictures = sum(
        part["type"] == "image_url"
        for message in messages
        if is_list(message["content"])
        for part in message["content"]
    )
    said = sum(tokens.estimate(_text(message["content"])) + 8 for message in messages)
    return said + pictures * PICTURE_TOKENS


class Usage(Value, frozen=True, kw_only=True):
    """What a question has used: requests, tokens, milliseconds, and the way that it was asked in last."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    ms: int = 0
    rung: str | None = None


class Reply(Value, frozen=True, kw_only=True):
    """What a model answered, read and checked."""

    result: Any
    usage: Usage


class ModelFailure(Exception):
    """Why there is no answer: a kind of FAILURES, the reason in words, and what was used all the same."""

    def __init__(self, kind: str, reason: str, usage: Usage | None = None) -> None:
        super().__init__(f"{FAILURES[kind]}: {reason}")
        self.kind = kind
        self.reason = reason
        self.usage = usage or Usage()


class ModelServer:
    """One model of one server, with what this process has learnt about it."""

    def __init__(self, role: Role, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self.role = role
        self.name: str = getattr(settings, f"model_{role}_name")
        self._url: str = getattr(settings, f"model_{role}_url")
        self._key_env: str = getattr(settings, f"model_{role}_key_env")
        self._clock = clock
        self._rung = 0
        self._breaker = Breaker()

    def ask(self, request: Request, seconds: float) -> Reply:
        """The answer of the model, or ModelFailure; in at most so many seconds."""
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
                self._breaker.disappointed(self._clock(), why)
            else:
                self._breaker.failed(self._clock(), why)
            raise
        self._breaker.passed()
        return reply

    def pause(self, reason: str) -> None:
        """Leave it alone for a while, although it is not to blame."""
        self._breaker.failed(self._clock(), reason)

    def _place(self) -> tuple[http_client.Address, str]:
        if not self.name:
            raise ModelFailure("misconfigured", f"set model_{self.role}_name")
        try:
            return http_client.read_address(self._url, "chat/completions"), http_client.read_key(
                self._key_env
            )
        except ValueError as error:
            raise ModelFailure(
                "misconfigured", f"look at model_{self.role}_url and its key: {error}"
            ) from None


class _Asking:
    """One question on its way: down the rungs, and once more with what was wrong."""

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
        """What was used until now."""
        ms = round(1000 * (time.monotonic() - self._began))
        return self._usage.replace(ms=ms, rung=RUNGS[self._rung])

    def answer(self) -> Reply:
        """The result, after one repair if there must be one."""
        problem, kind = "", ""
        for last in (False, True):
            text, cut = self._next_message()
            try:
                return Reply(result=self._read(text), usage=self.usage())
            except _Unusable as error:
                problem, kind = str(error), "truncated" if cut else error.kind
            if not last:
                self._messages += [
                    {"role": "assistant", "content": text[:2000]},
                    {"role": "user", "content": self._complaint(problem, cut)},
                ]
        raise ModelFailure(kind, problem)

    def _complaint(self, problem: str, cut: bool) -> str:
        why = "it was cut off, so be much shorter" if cut else problem
        return f"That cannot be used: {why}. Answer again with the JSON object alone."

    def _read(self, text: str) -> Any:
        if not text.strip():
            raise _Unusable("empty", "it is empty")
        try:
            found = json_reply.first_object(text)
        except ValueError as error:
            raise _Unusable("invalid", str(error)) from None
        if wrong := json_reply.problem(found, dict(self._request.schema)):
            raise _Unusable("invalid", wrong)
        try:
            return self._request.read(found)
        except ValueError as error:
            raise _Unusable("unfaithful", str(error)) from None

    def _next_message(self) -> tuple[str, bool]:
        """What the model says to the messages as they are now, and whether it was cut off."""
        while True:
            try:
                text, cut = self._post()
            except http_client.StatusError as error:
                if error.status in _NOT_SO and self._rung + 1 < len(RUNGS):
                    self._rung += 1
                    continue
                raise self._status_failure(error) from None
            self._server._rung = self._rung  # pyright: ignore[reportPrivateUsage]
            return text, cut

    def _status_failure(self, error: http_client.StatusError) -> ModelFailure:
        kind = (
            "denied"
            if error.status in (401, 403, 429)
            else "rejected"
            if error.status in _NOT_SO
            else "status"
        )
        return ModelFailure(kind, str(error))

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
            raise ModelFailure("unreachable", http_client.said(error)) from None
        except TimeoutError:
            self._count(guess, 0)
            raise ModelFailure("timeout", f"it took more than {self._seconds:g} s") from None
        except http_client.TooLarge as error:
            self._count(guess, self._request.max_tokens)
            raise ModelFailure("too_large", http_client.said(error)) from None
        except OSError as error:
            self._count(guess, 0)
            raise ModelFailure("garbage", http_client.said(error)) from None
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
        told = found.get("usage")
        told = told if is_dict(told) else {}
        self._count(
            _plausible(told.get("prompt_tokens"), guess),
            _plausible(told.get("completion_tokens"), tokens.estimate(text[:100_000])),
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
    """An answer that cannot be used, and why: the model is told once."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def _text(content: Any) -> str:
    """The text of a message's content; some servers give it in parts."""
    if is_list(content):
        parts = [part.get("text") for part in content if is_dict(part)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _plausible(told: Any, guess: int) -> int:
    """A number of tokens as a server tells it, or our own guess where it tells none that could be."""
    return told if type(told) is int and 0 <= told < MOST_TOKENS_TOLD else guess


_servers: dict[tuple[str, ...], ModelServer] = {}


def server_for(role: Role, settings: Settings) -> ModelServer:
    """The local or the remote model of the settings, one for all in this process."""
    place = tuple(getattr(settings, f"model_{role}_{part}") for part in ("url", "name", "key_env"))
    return _servers.setdefault((role, *place), ModelServer(role, settings))
