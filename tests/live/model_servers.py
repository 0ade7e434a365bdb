"""A model on this machine that follows a test's script, over the HTTP interfaces of three vendors.

The script is a list of turns: a text to say, or tools to call. Other requests of a host (for a title, or a
summary of the conversation) are recognised by their content and use up no turn.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What a host writes when it wants a summary of its conversation.
_WANTS_SUMMARY = (
    "create a detailed summary of",  # Claude Code
    "CONTEXT CHECKPOINT COMPACTION",  # Codex
    "<state_snapshot>",  # Gemini CLI
    "anchored summary",  # OpenCode
    "Provide a detailed prompt for continuing our conversation",
)


@dataclass(frozen=True)
class Call:
    """A tool that the model calls."""

    tool: str
    given: dict


@dataclass(frozen=True)
class Turn:
    """What the model says, and the tools that it calls then."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    tokens: int = 1000  # the size of the context, as the model counts it: a host may compact because of it
    limit: str = ""  # what the vendor says instead of answering, because a usage limit is reached


def says(text: str, tokens: int = 1000) -> Turn:
    return Turn(text=text, tokens=tokens)


def refuses(limit: str) -> Turn:
    """The vendor's answer when a usage limit is reached."""
    return Turn(limit=limit)


def calls(tool: str, **given) -> Turn:
    return Turn(calls=(Call(tool, given),))


@dataclass
class Asked:
    """A request as it reached the model."""

    path: str
    body: dict
    side: bool = False  # not part of the conversation: a title, a summary, a count

    @property
    def text(self) -> str:
        """All texts that the model can read in it."""
        return "\n".join(_texts(self.body))


@dataclass
class Script:
    """The turns that are left, and everything that was asked."""

    summary: str = "The conversation so far, in short."
    turns: list[Turn] = field(default_factory=list)
    # Turns for conversations in which the user said something that begins so, where several go on at once.
    talks: dict[str, list[Turn]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, path: str, body: dict) -> Turn:
        with self.lock:
            asked = Asked(path, body)
            self.asked.append(asked)
            if any(words in _last_text(body) for words in _WANTS_SUMMARY):
                asked.side = True
                return says(f"<analysis>Thinking.</analysis>\n<summary>\n{self.summary}\n</summary>")
            if not _has_tools(body):
                asked.side = True
                return says("A title")
            turns = next((turns for words, turns in self.talks.items() if _said(body, words)), self.turns)
            return turns.pop(0) if turns else says("There is nothing left to do.")

    def main(self, words: str = "") -> list[Asked]:
        """The requests of the conversation itself, or of the one in which the user said these words."""
        return [asked for asked in self.asked if not asked.side and _said(asked.body, words)]


def _texts(value) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return []


def _messages_of(body: dict) -> list:
    return body.get("messages") or body.get("input") or body.get("contents") or []


def _said(body: dict, words: str) -> bool:
    """Whether the user said something that begins with these words."""
    # Codex gives a helper its task as a message of another agent.
    users = [
        one
        for one in _messages_of(body)
        if isinstance(one, dict) and (one.get("role") == "user" or one.get("type") == "agent_message")
    ]
    return not words or any(text.startswith(words) for text in _texts(users))


def _last_text(body: dict) -> str:
    said = _messages_of(body)
    system = _texts(body.get("systemInstruction") or [])
    users = [one for one in said if isinstance(one, dict) and one.get("role") == "user"]
    return "\n".join(_texts(users[-1:]) + system)


def _has_tools(body: dict) -> bool:
    return bool(body.get("tools"))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._json({"error": "There is only a model here."}, 404)

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        content = self.rfile.read(length)
        path = self.path.partition("?")[0]
        try:
            body = json.loads(content)
        except ValueError:
            return self._json({})
        speak = next((speak for end, speak in _DIALECTS if path.endswith(end)), None)
        if speak is None:
            return self._json({"input_tokens": 100, "totalTokens": 100})
        turn = self.server.script.next(path, body)
        return speak(self, body, turn)

    def stream(self, events) -> None:
        """Server-sent events: pairs of a name, which may be empty, and data."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
        self.close_connection = True

    def _json(self, value, status=200, **headers) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def _ids(server, turn):
    """Names for the calls of a turn that no other call has."""
    return [(f"call_{server.number()}", call) for call in turn.calls]


# --- Anthropic: Claude Code, OpenCode -------------------------------------------------------------------


def _messages(handler, body, turn):
    server = handler.server
    if turn.limit:
        error = {"type": "error", "error": {"type": "rate_limit_error", "message": turn.limit}}
        return handler._json(error, 429, **{"x-should-retry": "false"})
    usage = {"input_tokens": turn.tokens, "output_tokens": 10}
    blocks = [{"type": "text", "text": turn.text}] if turn.text else []
    blocks += [
        {"type": "tool_use", "id": f"tool{name}", "name": call.tool, "input": call.given}
        for name, call in _ids(server, turn)
    ]
    reason = "tool_use" if turn.calls else "end_turn"
    message = {
        "id": f"msg_{server.number()}", "type": "message", "role": "assistant", "model": body.get("model"),
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    if not body.get("stream"):
        return handler._json({**message, "content": blocks, "stop_reason": reason})
    events = [("message_start", {"type": "message_start", "message": message})]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            ("content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}),
            ("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}),
            ("content_block_stop", {"type": "content_block_stop", "index": index}),
        ]
    end = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    events += [("message_delta", end), ("message_stop", {"type": "message_stop"})]
    return handler.stream(events)


# --- OpenAI responses: Codex ------------------------------------------------------------------------------


def _responses(handler, body, turn):
    server = handler.server
    if turn.limit:
        limit = {"type": "usage_limit_reached", "message": turn.limit, "resets_in_seconds": 7200}
        return handler._json({"error": limit}, 429)
    name = f"resp_{server.number()}"
    items = []
    if turn.text:
        items.append({
            "type": "message", "id": f"msg_{server.number()}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": turn.text, "annotations": []}],
        })  # fmt: skip
    for call_id, call in _ids(server, turn):
        item = {"id": f"fc_{call_id}", "call_id": call_id, "name": call.tool, "status": "completed"}
        if set(call.given) == {"_free"}:  # a tool that takes a text and no JSON
            items.append({**item, "type": "custom_tool_call", "input": call.given["_free"]})
        else:
            space, _, tool = call.tool.rpartition("/")
            more = {"namespace": space, "name": tool} if space else {}
            items.append({**item, "type": "function_call", "arguments": json.dumps(call.given), **more})
    usage = {
        "input_tokens": turn.tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": turn.tokens + 10,
    }  # fmt: skip
    start = {"id": name, "object": "response", "status": "in_progress", "output": []}
    events = [("response.created", {"type": "response.created", "response": start})]
    events += [
        (kind, {"type": kind, "output_index": index, "item": item})
        for index, item in enumerate(items)
        for kind in ("response.output_item.added", "response.output_item.done")
    ]
    done = {**start, "status": "completed", "output": items, "usage": usage}
    events.append(("response.completed", {"type": "response.completed", "response": done}))
    return handler.stream(events)


# --- OpenAI chat completions: Cline -----------------------------------------------------------------------


def _completions(handler, body, turn):
    server = handler.server
    delta = {"role": "assistant", "content": turn.text}
    if turn.calls:
        delta["tool_calls"] = [
            {
                "index": index, "id": name, "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.given)},
            }
            for index, (name, call) in enumerate(_ids(server, turn))
        ]  # fmt: skip
    usage = {"prompt_tokens": turn.tokens, "completion_tokens": 10, "total_tokens": turn.tokens + 10}
    chunk = {"id": f"c{server.number()}", "object": "chat.completion.chunk", "model": body.get("model")}
    reason = "tool_calls" if turn.calls else "stop"
    events = [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
        "[DONE]",
    ]
    return handler.stream([("", event) for event in events])


# --- Gemini -----------------------------------------------------------------------------------------------


def _gemini_answer(server, turn):
    parts = [{"text": turn.text}] if turn.text else []
    parts += [{"functionCall": {"name": call.tool, "args": call.given}} for call in turn.calls]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": turn.tokens, "candidatesTokenCount": 10, "totalTokenCount": turn.tokens + 10,
        },
        "modelVersion": "scripted",
        "responseId": f"r{server.number()}",
    }  # fmt: skip


def _gemini_stream(handler, body, turn):
    handler.stream([("", _gemini_answer(handler.server, turn))])


def _gemini_once(handler, body, turn):
    handler._json(_gemini_answer(handler.server, turn))


_DIALECTS = (
    ("/v1/messages", _messages),
    ("/responses", _responses),
    ("/chat/completions", _completions),
    (":streamGenerateContent", _gemini_stream),
    (":generateContent", _gemini_once),
)


class ModelServer(ThreadingHTTPServer):
    """The server; its `script` says what comes next."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = Script()
        self._number = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def number(self) -> int:
        with self._lock:
            self._number += 1
            return self._number

    def handle_error(self, request, client_address):
        """Ignore hosts that went away."""


@contextmanager
def model_server():
    server = ModelServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
