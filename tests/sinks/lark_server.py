"""The part of Lark's open platform that Ringbolt calls, on loopback: documented shapes, limits, error codes.

Time is the server's clock, which a test moves, so no test waits. `interruptions` are called with the number
of the request before it is answered; one may raise Broken, change the document, or revoke a token.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import parse_qs, urlsplit

SECRET = "the secret of the app"
KINDS = {1: "page", 2: "text", 4: "heading2", 12: "bullet", 17: "todo", 22: "divider"}


class Refused(Exception):
    """An answer that is an error: HTTP status, code, message, headers."""

    def __init__(self, status, code, message, headers=None):
        self.answer = status, {"code": code, "msg": message}, headers or {}


class Broken(Exception):
    """The connection ends without an answer; `first` says whether the request was carried out."""


class LarkServer(ThreadingHTTPServer):
    """One tenant with one app."""

    daemon_threads = True

    def __init__(self, clock: Callable[[], float], app: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.clock, self.app = clock, app
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.lock = threading.RLock()
        self.numbers = count(1)
        self.tokens: dict[str, float] = {}
        self.token_seconds = 7200
        self.files: dict[str, dict] = {}  # documents, by id
        self.comments: dict[str, list] = {}
        self.columns: list[str] = []
        self.rows: dict[str, dict] = {}
        self.done: dict[str, dict] = {}  # answers by client_token
        self.writes: dict[str, list[float]] = {}
        self.used: set[tuple[str, frozenset, frozenset]] = set()  # routes, with names in query and body
        self.requests: list[tuple[str, str]] = []
        self.changes = 0  # writes that were carried out
        self.interruptions: list[Callable[[int], None]] = []
        self.down = False
        self.strict = True  # refuses writes that name an old revision

    def handle_error(self, request, client_address):
        """A client that was killed is no matter."""

    def new(self, prefix):
        return f"{prefix}{next(self.numbers):08d}"

    # --- what tests look at and do ------------------------------------------------------------------

    def document(self, task_id):
        """The id of the only document of a task."""
        (found,) = [name for name, file in self.files.items() if file["title"].endswith(task_id)]
        return found

    def shown(self, document):
        """(kind, text, done) of each block of the page, in order."""
        file = self.files[document]
        blocks = file["blocks"]
        return [_seen(blocks[name]) for name in blocks[document]["children"]]

    def edit(self, document, place, text, kind=2):
        """A person inserts a block."""
        file = self.files[document]
        name = self.new("doxcn")
        content = {"elements": [{"text_run": {"content": text}}]} if kind != 22 else {}
        file["blocks"][name] = {
            "block_id": name,
            "block_type": kind,
            "parent_id": document,
            KINDS[kind]: content,
        }
        file["blocks"][document]["children"].insert(place, name)
        file["revision"] += 1
        return name

    def tick(self, document, start):
        """A person ticks the box whose text begins so."""
        file = self.files[document]
        boxes = [each for each in file["blocks"].values() if each["block_type"] == 17]
        (block,) = [each for each in boxes if _seen(each)[1].startswith(start)]
        block["todo"]["style"]["done"] = True
        file["revision"] += 1

    def comment(self, document, author, text, quote=""):
        """A person comments."""
        reply = {
            "reply_id": self.new("r"),
            "user_id": author,
            "create_time": int(self.clock()),
            "update_time": int(self.clock()),
            "content": {"elements": [{"type": "text_run", "text_run": {"text": text}}]},
        }
        comment = {
            "comment_id": self.new("c"), "user_id": author, "is_whole": not quote, "quote": quote,
            "is_solved": False, "reply_list": {"replies": [reply]},
        }  # fmt: skip
        self.comments.setdefault(document, []).append(comment)

    # --- answering ----------------------------------------------------------------------------------

    def answer(self, method, path, query, body, token):
        if path == "/open-apis/auth/v3/tenant_access_token/internal":
            return self.token(body)
        if self.tokens.get(token, 0) <= self.clock():
            raise Refused(
                400, 99991663, "Invalid access token for authorization. Please make a test attempt."
            )
        for pattern, handler in _ROUTES:
            if found := re.fullmatch(pattern, f"{method} {path}"):
                self.used.add((pattern, frozenset(query), frozenset(body or ())))
                return {
                    "code": 0,
                    "msg": "success",
                    "data": handler(self, *found.groups(), query=query, body=body),
                }
        raise Refused(404, 99991201, "not found")

    def token(self, body):
        if body != {"app_id": self.app, "app_secret": SECRET}:
            raise Refused(200, 10014, "app secret invalid")
        token = self.new("t-")
        self.tokens[token] = self.clock() + self.token_seconds
        return {"code": 0, "msg": "ok", "tenant_access_token": token, "expire": self.token_seconds}

    def limit(self, name, most, code, headers=None):
        """At most so many writes a second."""
        recent = [at for at in self.writes.get(name, []) if self.clock() - at < 1]
        if len(recent) >= most:
            raise Refused(400, code, "request trigger frequency limit", headers)
        self.writes[name] = [*recent, self.clock()]

    def write(self, document, query):
        """The file to change, if the revision is the newest; and an answer if this was done before."""
        file = self.live(document)
        if (token := query.get("client_token")) in self.done:
            return file, self.done[token]
        self.limit(document, 3, 99991400, {"x-ogw-ratelimit-reset": "1"})
        revision = int(query.get("document_revision_id", -1))
        if self.strict and revision not in (-1, file["revision"]):
            raise Refused(400, 1770021, "too old document")
        return file, None

    def wrote(self, file, query, data):
        file["revision"] += 1
        self.changes += 1
        data["document_revision_id"] = file["revision"]
        if token := query.get("client_token"):
            self.done[token] = data
        return data

    def live(self, document):
        if document not in self.files:
            raise Refused(404, 1770002, "not found")
        return self.files[document]

    def page(self, items, query, most, name="items", token="page_token"):
        size = int(query.get("page_size", 10))
        if size > most:
            raise Refused(400, 99992402, "field validation failed")
        size = min(size, 40)  # smaller than asked for, so that tests have several pages
        start = int(query.get("page_token") or 0)
        data = {name: items[start : start + size], "has_more": start + size < len(items)}
        return {**data, token: str(start + size)} if data["has_more"] else data

    def list_files(self, query, body):
        files = [
            {"token": name, "name": file["title"], "type": "docx", "parent_token": file["folder"]}
            for name, file in self.files.items()
            if file["folder"] == query["folder_token"]
        ]
        return self.page(files, query, 200, "files", "next_page_token")

    def delete_file(self, document, query, body):
        self.live(document)
        del self.files[document]
        return {}

    def create_document(self, query, body):
        document = self.new("doxcnDoc")
        page = {"block_id": document, "block_type": 1, "parent_id": "", "children": []}
        page["page"] = {"elements": [{"text_run": {"content": body["title"]}}]}
        file = {
            "folder": body["folder_token"],
            "title": body["title"],
            "revision": 1,
            "blocks": {document: page},
        }
        self.files[document] = file
        self.changes += 1
        return {"document": {"document_id": document, "revision_id": 1, "title": body["title"]}}

    def get_document(self, document, query, body):
        file = self.live(document)
        return {
            "document": {"document_id": document, "revision_id": file["revision"], "title": file["title"]}
        }

    def list_blocks(self, document, query, body):
        file = self.live(document)
        if int(query.get("document_revision_id", -1)) not in (-1, file["revision"]):
            raise Refused(400, 1770021, "too old document")
        return self.page(list(file["blocks"].values()), query, 500)

    def create_blocks(self, document, parent, query, body):
        file, known = self.write(document, query)
        if known is not None:
            return known
        if len(body["children"]) > 50:
            raise Refused(400, 99992402, "field validation failed")
        made = []
        for child in body["children"]:
            assert set(child) == {"block_type", KINDS[child["block_type"]]}
            name = self.new("doxcn")
            file["blocks"][name] = {"block_id": name, "parent_id": parent, **child}
            made.append(file["blocks"][name])
        at = body["index"]
        if not 0 <= at <= len(file["blocks"][parent]["children"]):
            raise Refused(400, 1770001, "invalid param")
        file["blocks"][parent]["children"][at:at] = [each["block_id"] for each in made]
        return self.wrote(file, query, {"children": made, "client_token": query.get("client_token")})

    def delete_blocks(self, document, parent, query, body):
        file, known = self.write(document, query)
        if known is not None:
            return known
        start, end = body["start_index"], body["end_index"]
        children = file["blocks"][parent]["children"]
        if not 0 <= start < end <= len(children):
            raise Refused(400, 1770001, "invalid param")
        for name in children[start:end]:
            del file["blocks"][name]
        del children[start:end]
        return self.wrote(file, query, {"client_token": query.get("client_token")})

    def update_blocks(self, document, query, body):
        file, known = self.write(document, query)
        if known is not None:
            return known
        names = [each["block_id"] for each in body["requests"]]
        if len(names) > 200 or len(set(names)) < len(names) or not set(names) <= set(file["blocks"]):
            raise Refused(400, 1770001, "invalid param")
        for each in body["requests"]:
            block = file["blocks"][each["block_id"]]
            content = block[KINDS[block["block_type"]]]
            change = each.get("update_text_elements") or each["update_text"]
            content["elements"] = change["elements"]
            if 2 in change.get("fields", ()):
                content.setdefault("style", {})["done"] = change["style"]["done"]
            if block["block_type"] == 1:
                file["title"] = change["elements"][0]["text_run"]["content"]
        blocks = [file["blocks"][name] for name in names]
        return self.wrote(file, query, {"blocks": blocks, "client_token": query.get("client_token")})

    def list_comments(self, document, query, body):
        self.live(document)
        assert query["file_type"] == "docx"
        return self.page(
            [each for each in self.comments.get(document, []) if not each["is_solved"]], query, 100
        )

    def list_fields(self, query, body):
        return self.page([{"field_name": name, "type": 1} for name in self.columns], query, 100)

    def create_field(self, query, body):
        self.limit("table", 10, 1254290)
        if body["field_name"] in self.columns:
            raise Refused(200, 1254014, "FieldNameDuplicated")
        self.columns.append(body["field_name"])
        return {"field": body}

    def search_records(self, query, body):
        (condition,) = body["filter"]["conditions"]
        rows = [
            {"record_id": name, "fields": row}
            for name, row in self.rows.items()
            if [row[condition["field_name"]]] == condition["value"]
        ]
        return {**self.page(rows, query, 500), "total": len(rows)}

    def put_record(self, record, query, body):
        self.limit("table", 10, 1254290)
        if unknown := set(body["fields"]) - set(self.columns):
            raise Refused(200, 1254045, f"FieldNameNotFound {unknown}")
        if record is not None and record not in self.rows:
            raise Refused(200, 1254043, "RecordIdNotFound")
        if record is None and (token := query.get("client_token")) in self.done:
            return self.done[token]
        name = record or self.new("rec")
        self.rows[name] = {**self.rows.get(name, {}), **body["fields"]}
        self.changes += 1
        data = {"record": {"record_id": name, "fields": self.rows[name]}}
        if record is None and token:
            self.done[token] = data
        return data

    def create_record(self, query, body):
        return self.put_record(None, query, body)

    def delete_record(self, record, query, body):
        if record not in self.rows:
            raise Refused(200, 1254043, "RecordIdNotFound")
        del self.rows[record]
        return {"deleted": True, "record_id": record}


_DOC, _TABLE = r"/open-apis/docx/v1/documents", r"/open-apis/bitable/v1/apps/app1/tables/tbl1"
_ROUTES = [
    (r"GET /open-apis/drive/v1/files", LarkServer.list_files),
    (r"DELETE /open-apis/drive/v1/files/(\w+)", LarkServer.delete_file),
    (r"GET /open-apis/drive/v1/files/(\w+)/comments", LarkServer.list_comments),
    (rf"POST {_DOC}", LarkServer.create_document),
    (rf"GET {_DOC}/(\w+)", LarkServer.get_document),
    (rf"GET {_DOC}/(\w+)/blocks", LarkServer.list_blocks),
    (rf"POST {_DOC}/(\w+)/blocks/(\w+)/children", LarkServer.create_blocks),
    (rf"DELETE {_DOC}/(\w+)/blocks/(\w+)/children/batch_delete", LarkServer.delete_blocks),
    (rf"PATCH {_DOC}/(\w+)/blocks/batch_update", LarkServer.update_blocks),
    (rf"GET {_TABLE}/fields", LarkServer.list_fields),
    (rf"POST {_TABLE}/fields", LarkServer.create_field),
    (rf"POST {_TABLE}/records/search", LarkServer.search_records),
    (rf"POST {_TABLE}/records", LarkServer.create_record),
    (rf"PUT {_TABLE}/records/(\w+)", LarkServer.put_record),
    (rf"DELETE {_TABLE}/records/(\w+)", LarkServer.delete_record),
]


def _seen(block):
    content = block[KINDS[block["block_type"]]]
    text = "".join(each["text_run"]["content"] for each in content.get("elements", ()))
    return block["block_type"], text, bool(content.get("style", {}).get("done"))


class _Handler(BaseHTTPRequestHandler):
    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        status, headers = 200, {}
        try:
            if self.server.down:
                raise Broken
            self.server.requests.append((self.command, parts.path))
            for interruption in list(self.server.interruptions):
                interruption(len(self.server.requests))
            with self.server.lock:
                answer = self.server.answer(self.command, parts.path, query, body, token)
        except Refused as refused:
            status, answer, headers = refused.answer
        except Broken:
            self.close_connection = True
            return
        content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json; charset=utf-8", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


for _method in ("GET", "POST", "PATCH", "PUT", "DELETE"):
    setattr(_Handler, f"do_{_method}", _Handler.handle_any)


@contextmanager
def lark_server(clock, app):
    """A server that runs for the length of a block."""
    server = LarkServer(clock, app)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
