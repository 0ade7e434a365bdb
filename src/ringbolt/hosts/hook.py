"""`ringbolt-hook <host> <event>`: one event of a host, written at once; what the host is told; exit code 0.

No daemon, no model, no network. Whatever goes wrong, the agent's work goes on: an event that cannot be
written now is kept in the spool, and written by the next call that can.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from ..config import load_settings, store_location
from ..journal.side_files import SideFiles
from ..journal.spool import Spool, side_files
from ..memory import TaskMemory
from ..model.errors import RingboltError, StoreError, shown
from ..model.redaction import Redactor, storable
from ..model.settings import Settings
from ..model.types import is_dict
from ..model.validate import seconds_of
from .compaction_state import PENDING, Mark, sweep
from .context_injection import Answers
from .deadline import Late, set_alarm, stop_alarm
from .events import apply, cleaned, name_of, naming, own_task, session_of
from .host_schemas import answer, read_event
from .host_table import HOSTS, Host
from .transcript_tail import apply_transcript_tail, note_last_message

MOST_INPUT = 32 << 20
# Seconds until a host must have told its event.
_PATIENCE = 5.0
_BLOCK = 1 << 20
# Seconds in which the same event is taken to be one.
_MOMENT = 2.0
_KEPT_OF_RUBBISH = 20_000
_COMPACTS = ("PreCompact", "SessionStart")
_WRITES_NOTHING = ("SessionStart", "PreToolUse")


def main(arguments: list[str] | None = None) -> None:
    """Handle one event and end the process; always with exit code 0."""
    gc.disable()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        said = handle(words[0] if words else "", words[1] if len(words) > 1 else "")
        if said:
            _write_out(said)
    except Late:
        _complain("the time was up")
    except BaseException as error:  # noqa: BLE001 - whatever it is, it must not stop the host
        _complain(f"{type(error).__name__}: {error}")
    os._exit(0)


def handle(host: str, name: str) -> str:
    """What the host is to be told about an event that it gives on standard input."""
    shape = HOSTS.get(host)
    event = shape.events.get(name) if shape else None
    if shape is None or event is None:
        _complain(f"{name} of {host} is no event that we know")
        return ""
    set_alarm(_PATIENCE)
    told = _read_in()
    return Hook(host, name, shape, event).run(told)


class _Clock:
    """The clock of a hook: it shows when the event that is being written happened."""

    def __init__(self) -> None:
        self.at: float | None = None

    def __call__(self) -> float:
        return time.time() if self.at is None else self.at


class Hook:
    """One event on its way from a host to the store."""

    def __init__(self, host: str, name: str, shape: Host, event: str) -> None:

        self._host, self._name, self._shape, self._event = host, name, shape, event
        self._trouble = ""
        try:
            self._settings: Settings = load_settings()
        except RingboltError as error:
            self._trouble = error.code
            self._settings = Settings(store=os.environ.get("RINGBOLT_STORE", ""))
        self._location = store_location(self._settings)
        self._spool = Spool(self._location)
        self._written = False
        self._heard = False

    def run(self, told: bytes) -> str:
        """Write the event, or keep it for later; then the answer."""
        settings = self._settings
        limit = settings.hook_compact_ms if self._event in _COMPACTS else settings.hook_deadline_ms
        end = time.monotonic() + limit / 1000
        line = self._line(told)
        if self._shape.only_looks and self._looked(line.get("told")):
            return ""
        said = ""
        try:
            try:
                set_alarm(end - time.monotonic())
                said = self._work(line, end)
            finally:
                stop_alarm()
        except Late:
            self._trouble = "deadline"
        except (StoreError, OSError) as error:
            self._trouble = error.code if isinstance(error, StoreError) else "store_unavailable"
        except Exception as error:  # noqa: BLE001 - an event that we cannot handle is put aside, not lost
            self._trouble = f"{type(error).__name__}: {error}"
            if not self._written:
                self._spool.reject(line)
                self._written = True
        if not self._written and self._event not in _WRITES_NOTHING:
            self._keep(line)
        if self._event == "SessionStart":
            sweep(self._location, time.time())
        return said or self._apology()

    def _line(self, told: bytes) -> dict[str, Any]:
        """The event as it is kept: in our words, without secrets, with a name of its own."""

        now = time.time()
        line: dict[str, Any] = {
            "id": os.urandom(8).hex(),
            "at": round(now, 3),
            "host": self._host,
            "event": self._name,
        }
        redactor = Redactor(_key(self._location))
        text = told.decode("utf-8", "replace")

        try:
            found = json.loads(text)
            event = read_event(self._host, self._name, found) if is_dict(found) else None
            if event is not None and (project := os.environ.get(self._shape.project)):
                event["cwd"] = project
            told_of = None if event is None else cleaned(event, redactor)
        except (ValueError, RecursionError):
            told_of = None
        if told_of is None:
            # As long as that it can be told what it was.
            return {**line, "raw": redactor.text(storable(text[:_KEPT_OF_RUBBISH]))}
        if told_of["event"] != "PreCompact":  # which is known again by its mark
            # Told twice in a moment it is the same event: two settings of a host may name us.
            line["id"] = f"{naming(told_of)}/{now // _MOMENT:.0f}"
        return {**line, "told": told_of}

    def _work(self, line: dict[str, Any], end: float) -> str:
        if self._trouble:
            return ""

        wait = max(0.01, (end - time.monotonic()) * 0.8)
        # Tokens are estimated, never below: to load what counts them takes longer than all the rest.
        clock = _Clock()
        memory = TaskMemory.open(
            self._location,
            workspace=None,
            settings=self._settings.replace(lock_timeout=wait, tokens="estimate"),
            agent=self._host,
            clock=clock,
        )
        if self._spool.waiting():
            self._spool.replay(lambda one: _replayed(memory, clock, one))
            clock.at = None
        told = line.get("told")
        if not is_dict(told):
            return ""  # kept in the spool: whoever replays it puts it aside
        memory = _acting(memory, self._host, told)

        if self._shape.tails_transcript and self._event != "PreToolUse" and told.get("transcript"):
            self._overhear(memory, told)
        mark = Mark(self._location, str(told.get("session") or ""))
        if self._event in ("SessionStart", "PreToolUse", "PreCompact") or mark.read():
            answers = Answers(memory, self._shape, told, mark, end)
            if not answers.is_repeated():
                _write(memory, told, line)
            self._written = True
            text = answers.text()
            if self._event == "PreCompact":
                return text
            found = answer(self._shape, self._event, self._name, text)
            return json.dumps(found, ensure_ascii=True) if found else ""
        _write(memory, told, line)
        self._written = True
        return ""

    def _looked(self, told: Any) -> bool:
        """Whether the host only looks whether to compact: it does so before every request."""

        return is_dict(told) and Mark(self._location, str(told.get("session") or "")).looked(told)

    def _overhear(self, memory: TaskMemory, told: Mapping[str, Any]) -> None:
        """Write what the host has only put into its transcript since the last event."""

        self._heard = True

        def write(event: Mapping[str, Any], name: str) -> None:
            try:
                apply(memory, event, name)
            except (StoreError, OSError):
                raise
            except Exception:  # noqa: BLE001 - it must hold up neither this event nor what was said after it
                Spool(self._location).reject({"id": name, "host": memory.origin.agent, "told": event})

        apply_transcript_tail(SideFiles(self._location), told, _key(self._location), write)

    def _keep(self, line: dict[str, Any]) -> None:
        told = line.get("told")
        if self._event == "PreCompact" and is_dict(told):
            Mark(self._location, str(told.get("session") or "")).set(PENDING)
        elif self._event == "Stop" and self._shape.tails_transcript and not self._heard and is_dict(told):
            note_last_message(SideFiles(self._location), told)
        if not self._spool.append(line):
            _complain(f"the event could not be kept anywhere ({self._trouble})")

    def _apology(self) -> str:
        """What a new session is told when its task cannot be."""
        if not self._trouble:
            return ""
        _complain(self._trouble)
        if self._event != "SessionStart":
            return ""
        waiting, _ = self._spool.counts()
        text = f"Task memory: the store cannot be read now ({shown(self._trouble)})."
        if waiting:
            text += f" {waiting} events wait to be written."
        found = answer(self._shape, self._event, self._name, text)
        return json.dumps(found, ensure_ascii=True) if found else ""


def _acting(memory: TaskMemory, host: str, told: Mapping[str, Any]) -> TaskMemory:

    folder = told.get("cwd")
    return memory.acting_as(
        session=session_of(told),
        agent=host,
        workspace=folder if isinstance(folder, str) and folder else None,
    )


def _write(memory: TaskMemory, told: Mapping[str, Any], line: dict[str, Any]) -> None:

    # Kept with the event: should we be interrupted when it is written, it is known by this when replayed.
    line["name"] = name_of(memory, told, line["id"])
    apply(memory, told, line["name"])


def _replayed(memory: TaskMemory, clock: _Clock, line: dict[str, Any]) -> bool:
    """Write an event that was kept, at the time at which it happened; False if it can never be written."""

    told, host, at = line.get("told"), line.get("host"), line.get("at")
    if not is_dict(told) or not isinstance(host, str) or not isinstance(line.get("id"), str):
        return False
    try:
        memory = _acting(memory, host[:200], told)
        clock.at = _not_before(memory, float(at) if isinstance(at, (int, float)) else time.time())
        apply(memory, told, str(line.get("name") or f"hook/{line['id']}")[:200])
    except (StoreError, OSError):
        raise
    except Exception:  # noqa: BLE001 - one event that we cannot handle must not hold up those after it
        return False
    return True


def _not_before(memory: TaskMemory, at: float) -> float:
    """The time of an event that was kept: not in the future, and not before what its task has already."""

    task = own_task(memory)
    head = memory.store.read(lambda tx: tx.head(task)) if task else None
    least = seconds_of(head["updated_at"]) if head else 0.0
    return max(min(at, time.time()), least)


# --- streams, time and the key ----------------------------------------------------------------------


def _read_in() -> bytes:
    """What the host tells, up to a limit; the rest is read, so that the host can finish, and dropped."""
    content = bytearray()
    while block := os.read(0, _BLOCK):
        if len(content) < MOST_INPUT:
            content += block
    return bytes(content)


def _write_out(text: str) -> None:
    data = text.encode("utf-8", "replace") + b"\n"
    while data:
        data = data[os.write(1, data) :]


def _complain(text: str) -> None:
    """A line for whoever looks at the host's log; the model sees nothing of it."""
    try:
        os.write(2, f"ringbolt-hook: {shown(text, 500)}\n".encode("utf-8", "replace"))
    except OSError:
        return


def _key(location: str) -> bytes:
    """The key of this store's redactions, made when it is first needed."""
    path = f"{side_files(location)[0]}.redact-key"
    try:
        with open(path, "rb") as file:
            if len(key := file.read(64)) >= 16:
                return key
    except OSError:
        key = b""
    fresh = os.urandom(32)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return fresh  # made by another in this moment, or not to be kept: hashes of this event stand alone
    try:
        os.write(file, fresh)
    finally:
        os.close(file)
    return fresh


if __name__ == "__main__":
    main()
