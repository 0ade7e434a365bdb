"""Lark documents: one for each task, in which only the blocks that differ are written.

Ringbolt owns the blocks before its divider; people write below it, or comment. Whatever state a document is
in, a publication compares its blocks with those of the task, so one that was interrupted is finished by the
next. Every write names the revision that was read: if somebody wrote in between, the document is read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from ..model.rules import parse_duration
from ..model.settings import Settings
from ..model.types import Value
from .lark_api import Json, LarkApi, LarkError, once
from .sink import Lag, Ledger, Mark, Reply, names_in
from .task_blocks import DIVIDER, FIELDS, TODO, Block, blocks_of, title_of

MOST_CREATED, MOST_UPDATED = 50, 200  # blocks in one call
TRIES = 5
EVERYBODY = "*"
_GONE = (1770002, 1770003, 1061007)
# Invalid operation, too old revision, index out of range: the document has changed since it was read.
_CONFLICT = (1770001, 1770021, 1770024)


class Shown(Value, frozen=True, kw_only=True):
    """A block that is in the document."""

    id: str
    block: Block


class LarkDocuments:
    """Publishes tasks as documents in a folder."""

    name = "lark"

    def __init__(self, api: LarkApi, settings: Settings) -> None:
        self._api = api
        self._folder = settings.lark_folder
        self._accounts = names_in(settings.lark_accounts)
        every = settings.lark_replies
        self.replies = 0.0 if every == "off" else 60.0 * parse_duration("lark_replies", every)

    def probe(self, lag: Lag) -> bool:
        """Check that the folder can be read. A deleted document is created again when its task changes."""
        self._api.call("GET", "drive/v1/files", {"folder_token": self._folder, "page_size": 1})
        return True

    # --- publishing -------------------------------------------------------------------------------

    def publish(self, ledger: Ledger, mark: Mark) -> Mark:
        """Bring the document of a task up to date."""
        document: str = mark.get("document") or self._find(ledger.task_id)
        tries = 0
        while True:
            tries += 1
            try:
                document = document or self._create(ledger)
                shown = _Document(self._api, document, mark.get("line", "")).show(ledger)
                return {**mark, **shown, "document": document}
            except LarkError as error:
                if tries == TRIES or error.code not in (*_GONE, *_CONFLICT):
                    raise
                if error.code in _GONE:
                    document, mark = "", {}

    def remove(self, task_id: str, mark: Mark) -> None:
        """Move the document of a task to the trash."""
        if document := mark.get("document"):
            try:
                self._api.call("DELETE", f"drive/v1/files/{document}", {"type": "docx"}, writes=document)
            except LarkError as error:
                if error.code not in _GONE:
                    raise

    def _find(self, task_id: str) -> str:
        """The document that a worker made for a task before it could store that; "" if there is none."""
        files = self._api.pages("GET", "drive/v1/files", {"folder_token": self._folder, "page_size": 200})
        return next((each["token"] for each in files if each["name"].endswith(f" · {task_id}")), "")

    def _create(self, ledger: Ledger) -> str:
        body = {"folder_token": self._folder, "title": title_of(ledger.task())}
        return self._api.call("POST", "docx/v1/documents", None, body)["document"]["document_id"]

    # --- replies ----------------------------------------------------------------------------------

    def collect(self, mark: Mark) -> tuple[list[Reply], Mark]:
        """The comments since the last look, and the boxes that somebody ticked.

        A comment names its author. Who ticked a box the platform does not say, so a tick is trusted only if
        everybody is.
        """
        document = mark.get("document")
        if not document:
            return [], mark
        try:
            shown = _Document(self._api, document, mark.get("line", "")).read()
            comments = list(self._comments(document))
        except LarkError as error:
            if error.code not in _GONE:
                raise
            return [], mark
        open_steps: Mapping[str, str] = mark.get("steps", {})
        ticks = [
            Reply(
                id=f"{each.id}/{mark['seq']}",
                text=each.block.text,
                step=open_steps[each.id],
                trusted=self._trusts(),
            )
            for each in shown
            if each.block.done and each.id in open_steps
        ]
        seen: int = mark.get("comments", 0)
        replies = [reply for at, reply in comments if at >= seen]
        newest = max((at for at, _ in comments), default=seen)
        return [*ticks, *replies], {**mark, "comments": newest}

    def _trusts(self, account: str = "") -> bool:
        """Whether the operator named an account, or everybody."""
        return EVERYBODY in self._accounts or account in self._accounts

    def _comments(self, document: str) -> Iterator[tuple[int, Reply]]:
        query = {"file_type": "docx", "is_solved": "false", "page_size": 100, "user_id_type": "open_id"}
        for comment in self._api.pages("GET", f"drive/v1/files/{document}/comments", query):
            thread: Json = comment.get("reply_list") or {}
            replies: list[Json] = thread.get("replies") or []
            for reply in replies:
                text = _run_texts(reply["content"]["elements"], "text").strip()
                quote = comment.get("quote") or ""
                if text:
                    yield (
                        int(reply["create_time"]),
                        Reply(
                            id=f"{comment['comment_id']}/{reply['reply_id']}",
                            text=f"{text} (on: {quote})" if quote else text,
                            author=reply["user_id"],
                            trusted=self._trusts(reply["user_id"]),
                        ),
                    )


class _Document:
    """One document while it is brought up to date: the blocks before the divider, and its revision."""

    def __init__(self, api: LarkApi, document: str, line: str) -> None:
        self._api = api
        self._id = document
        self._line = line  # the id of the divider, once it is known
        self._base = f"docx/v1/documents/{document}"
        self._revision = 0
        self._title = ""
        self._shown: list[Shown] = []

    def read(self) -> list[Shown]:
        """Our blocks."""
        self._revision = self._api.call("GET", self._base)["document"]["revision_id"]
        query = {"page_size": 500, "document_revision_id": self._revision}
        items = {item["block_id"]: item for item in self._api.pages("GET", f"{self._base}/blocks", query)}
        page = items[self._id]
        self._title = _block(page).text
        children = [items[name] for name in page.get("children") or ()]
        # If our line is gone, what is there now may be somebody's own: a new one goes to the top.
        lines = [at for at, each in enumerate(children) if each["block_type"] == DIVIDER]
        lines = [at for at in lines if self._line in ("", children[at]["block_id"])]
        self._line = children[lines[0]]["block_id"] if lines else ""
        ours = children[: lines[0]] if lines else []
        self._shown = [Shown(id=each["block_id"], block=_block(each)) for each in ours]
        return self._shown

    def show(self, ledger: Ledger) -> Json:
        """Write what differs from the task as it is now."""
        self.read()
        task = ledger.task()
        if not self._line:  # first, so that an interrupted publication knows what is ours
            self._create(0, [Block(kind=DIVIDER)])
            self._line = self._shown.pop().id
        wanted = blocks_of(task)
        updates: list[Json] = []
        if self._title != (title := title_of(task)):
            updates.append({"block_id": self._id, "update_text_elements": {"elements": _elements(title)}})
        old, new = [each.block.content for each in self._shown], [each.content for each in wanted]
        moves: list[tuple[int, int, int, int]] = []
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag == "equal":
                continue
            same = 0
            while i1 + same < i2 and j1 + same < j2 and old[i1 + same][0] == new[j1 + same][0]:
                block = self._shown[i1 + same].id, wanted[j1 + same]
                updates.append(_update(*block))
                self._shown[i1 + same] = Shown(id=block[0], block=block[1])
                same += 1
            moves.append((i1 + same, i2, j1 + same, j2))
        for start in range(0, len(updates), MOST_UPDATED):
            body = {"requests": updates[start : start + MOST_UPDATED]}
            self._write("PATCH", "blocks/batch_update", body)
        for i1, i2, j1, j2 in reversed(moves):  # from the end, so that the places before stay where they are
            if i2 > i1:
                body = {"start_index": i1, "end_index": i2}
                self._write("DELETE", f"blocks/{self._id}/children/batch_delete", body)
                del self._shown[i1:i2]
            for start in range(j1, j2, MOST_CREATED):
                self._create(i1 + start - j1, wanted[start : min(start + MOST_CREATED, j2)])
        steps = {
            shown.id: block.step
            for shown, block in zip(self._shown, wanted, strict=True)
            if block.step is not None and not block.done
        }
        return {"seq": task.seq, "steps": steps, "line": self._line}

    def _create(self, index: int, blocks: Sequence[Block]) -> None:
        body = {"index": index, "children": [_made(block) for block in blocks]}
        data = self._write("POST", f"blocks/{self._id}/children", body)
        made = zip(data["children"], blocks, strict=True)
        self._shown[index:index] = [Shown(id=child["block_id"], block=block) for child, block in made]

    def _write(self, method: str, path: str, body: Json) -> Json:
        query = {
            "document_revision_id": self._revision,
            "client_token": once(self._id, self._revision, path, body),
        }
        data = self._api.call(method, f"{self._base}/{path}", query, body, writes=self._id)
        self._revision = data["document_revision_id"]
        return data


def _block(item: Json) -> Block:
    """A block as it came from the platform."""
    kind = item["block_type"]
    content: Json = item.get(FIELDS.get(kind, "")) or {}
    text = _run_texts(content.get("elements") or (), "content")
    style: Json = content.get("style") or {}
    done = kind == TODO and bool(style.get("done"))
    return Block(kind=kind, text=text, done=done)


def _run_texts(elements: Sequence[Json], name: str) -> str:
    """The text of some elements; `name` is the field of a run that holds it."""
    runs: list[Json] = [each.get("text_run") or {} for each in elements]
    return "".join(run.get(name, "") for run in runs)


def _elements(text: str) -> list[Json]:
    return [{"text_run": {"content": text}}]


def _made(block: Block) -> Json:
    content: Json = {} if block.kind == DIVIDER else {"elements": _elements(block.text)}
    if block.kind == TODO:
        content["style"] = {"done": block.done}
    return {"block_type": block.kind, FIELDS[block.kind]: content}


def _update(block_id: str, block: Block) -> Json:
    text: Json = {"elements": _elements(block.text)}
    if block.kind != TODO:
        return {"block_id": block_id, "update_text_elements": text}
    done = 2  # the number of this field of a style
    return {"block_id": block_id, "update_text": {**text, "style": {"done": block.done}, "fields": [done]}}
