"""The checks of `ringbolt doctor`. Each returns a finding: ok, warning or problem, and how to fix it.

No check changes anything or takes long, and no advice it gives destroys data.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Literal

from .._version import __version__
from ..hosts.host_table import HOSTS
from ..hosts.install.installer import Installer
from ..journal.event_files import Journal
from ..journal.health import STALE_SECONDS, journal_health
from ..llm.spending import spent
from ..memory import TaskMemory
from ..model.errors import RingboltError
from ..model.settings import Settings
from ..model.types import Value
from ..model.validate import seconds_of
from ..packet.tokens import exact
from ..recall.embedding import embedder_for
from ..system.http_client import read_address

State = Literal["ok", "warning", "problem"]

LOCK_PATIENCE = 1.0
REACH_PATIENCE = 1.0
# Larger files are left to `ringbolt verify`, which reads all of them.
QUICK_BYTES = 256 << 20
LOW_DISK, NO_DISK = 100 << 20, 10 << 20
# Jobs overdue for longer than this need a worker.
LATE_SECONDS = 120.0


class Finding(Value, frozen=True, kw_only=True):
    """The result of one check: what was checked, its state, what was found, and how to fix it."""

    what: str
    state: State
    told: str
    mend: str = ""


def version() -> Finding:
    """The versions of Ringbolt and Python."""
    python = ".".join(map(str, sys.version_info[:3]))
    return Finding(what="version", state="ok", told=f"ringbolt {__version__}, Python {python}")


def of_error(what: str, error: RingboltError) -> Finding:
    """A check that failed with an error."""
    return Finding(what=what, state="problem", told=f"{error.message} [{error.code}]", mend=error.hint)


def missing_store(location: str) -> Finding:
    """There is no store yet, which is normal before the first task."""
    return Finding(
        what="store",
        state="warning",
        told=f"no store at {location} yet",
        mend="`ringbolt register` creates it with the first task. If you expected one, check --store.",
    )


def checks(memory: TaskMemory) -> Iterator[Finding]:
    """Run every check that needs an open memory."""
    settings = memory.settings
    on_disk: tuple[Callable[[TaskMemory], Finding], ...] = (modes, locks, log, disk)
    for check in (
        store,
        integrity,
        *(on_disk if memory.store.files() else ()),
        mirrors,
        queue,
        worker,
        spending,
    ):
        try:
            yield check(memory)
        except RingboltError as error:
            yield of_error(check.__name__, error)
    yield from models(settings)
    yield embedder(settings)
    yield tokens(settings)
    yield servers()


# --- the store --------------------------------------------------------------------------------------


def store(memory: TaskMemory) -> Finding:
    """Engine, location, schema version and size."""
    facts = memory.store.info()
    ends = memory.store.read(lambda tx: tx.chain_ends())
    events = sum(end[1] for end in ends.values())
    told = (
        f"{facts['engine']}, {facts['url']}, schema {facts['schema']}, {facts['bytes']:,} bytes,"
        f" {len(ends):,} tasks, {events:,} events"
    )
    return Finding(what="store", state="ok", told=told)


def integrity(memory: TaskMemory) -> Finding:
    """The engine's own integrity check."""
    size = memory.store.info()["bytes"]
    if memory.store.files() and size > QUICK_BYTES:
        told = f"skipped: checking {size:,} bytes takes a while"
        return Finding(what="integrity", state="ok", told=told, mend="`ringbolt verify` checks all of it.")
    problems = memory.store.check()
    if not problems:
        return Finding(what="integrity", state="ok", told="the engine reports no damage")
    told = "; ".join(f"{problem.kind}: {problem.detail}" for problem in problems[:3])
    return Finding(
        what="integrity",
        state="problem",
        told=told,
        mend="Copy the store's files to a safe place first. `ringbolt verify` lists the damage, and a backup"
        " has it intact.",
    )


def modes(memory: TaskMemory) -> Finding:
    """File permissions: only the owner should be able to read the store."""
    folder = os.path.dirname(memory.store.files()[0])
    found = [name for name in memory.store.files() if os.path.exists(name) and os.stat(name).st_mode & 0o077]
    if found:
        return Finding(
            what="modes",
            state="problem",
            told=f"other users can read {', '.join(found)}",
            mend=f"chmod 600 {' '.join(found)}",
        )
    mode = os.stat(folder).st_mode & 0o7777
    if mode & 0o022 and not mode & 0o1000:
        told = f"other users can replace files in {folder} ({mode:04o})"
        return Finding(what="modes", state="problem", told=told, mend=f"chmod go-w {folder}")
    return Finding(what="modes", state="ok", told=f"the files are {0o600:04o}, their folder is {mode:04o}")


def locks(memory: TaskMemory) -> Finding:
    """Whether a writer can get the write lock."""
    lock = os.open(f"{memory.store.files()[0]}.lock", os.O_RDWR | os.O_CLOEXEC)
    begin = time.monotonic()
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return Finding(what="locks", state="ok", told="the write lock is free")
            except BlockingIOError:
                if time.monotonic() - begin > LOCK_PATIENCE:
                    break
                time.sleep(0.02)
    finally:
        os.close(lock)
    return Finding(
        what="locks",
        state="warning",
        told=f"another process has held the write lock for {LOCK_PATIENCE:g} s",
        mend="If writes fail with store_busy, find out what that process is doing; the lock goes with it.",
    )


def log(memory: TaskMemory) -> Finding:
    """The size of the write-ahead log."""
    size = memory.store.info()["log_bytes"]
    if size > 4 * memory.settings.wal_limit_bytes:
        return Finding(
            what="log",
            state="warning",
            told=f"the write-ahead log has {size:,} bytes",
            mend="A program with a long read transaction keeps it from shrinking; end that transaction.",
        )
    return Finding(what="log", state="ok", told=f"the write-ahead log has {size:,} bytes")


def disk(memory: TaskMemory) -> Finding:
    """Free disk space."""
    disk_status = os.statvfs(os.path.dirname(memory.store.files()[0]))
    free = disk_status.f_bavail * disk_status.f_frsize
    told = f"{free >> 20:,} MB free"
    if free < LOW_DISK:
        state: State = "problem" if free < NO_DISK else "warning"
        return Finding(
            what="disk",
            state=state,
            told=told,
            mend="Free some disk space; what is stored stays safe meanwhile.",
        )
    return Finding(what="disk", state="ok", told=told)


def mirrors(memory: TaskMemory) -> Finding:
    """Whether the mirror files are up to date."""
    if not memory.settings.mirrors:
        return Finding(what="mirrors", state="ok", told="none configured")
    found = memory.mirrors_status()
    failing = [one for one in found if one.failed_at]
    stale = [one for one in found if one.stale]
    if failing or stale:
        one = (failing or stale)[0]
        reasons = f" ({', '.join(one.reasons)})" if one.reasons else ""
        told = f"{len(stale)} of {len(found)} are stale, {len(failing)} not writable: {one.path}{reasons}"
        return Finding(
            what="mirrors",
            state="problem" if failing else "warning",
            told=told,
            mend="`ringbolt op mirrors_refresh` rewrites them; a file that someone edited is kept beside it.",
        )
    return Finding(what="mirrors", state="ok", told=f"{len(found)} are up to date")


def queue(memory: TaskMemory) -> Finding:
    """The job queue."""
    found = memory.jobs_status(limit=1)
    told = f"{found.waiting} waiting, {found.due} of them due, {found.leased} running, {found.dead} given up"
    if found.due_since:
        told += f", the oldest due since {found.due_since}"
    if found.dead:
        mend = "`ringbolt jobs` shows why; `ringbolt jobs retry ID` retries one."
        return Finding(what="queue", state="warning", told=told, mend=mend)
    return Finding(what="queue", state="ok", told=told)


def worker(memory: TaskMemory) -> Finding:
    """Whether a worker is running, and whether it keeps up."""
    found = memory.jobs_status(limit=1)
    running = [one for one in found.workers if one.alive]
    late = time.time() - seconds_of(found.due_since) if found.due_since else 0.0
    if running:
        told = f"{len(running)} running, {running[0].holder} last seen at {running[0].seen_at}"
    elif found.workers:
        last = found.workers[0]
        how = "stopped" if last.ended_at else "was lost"
        told = f"none running; {last.holder} {how}, last seen at {last.seen_at}"
    else:
        told = "none has run yet"
    if late < LATE_SECONDS:
        return Finding(what="worker", state="ok", told=told)
    if running:
        mend = "Jobs arrive faster than they are done, or take long: start another `ringbolt worker`."
    else:
        mend = "Run `ringbolt worker` or `ringbolt serve`; from cron, `ringbolt worker --once`."
    return Finding(
        what="worker", state="warning", told=f"{told}; a job has been due for {late:,.0f} s", mend=mend
    )


# --- hosts ------------------------------------------------------------------------------------------


def journal(location: str, tenant: str = "") -> Finding:
    """Events of hosts that wait in the journal, or were given up."""
    found = journal_health(Journal.of(location, tenant))
    told = f"{found.waiting:,} events of hosts wait, {found.rejected:,} were rejected"
    if found.waiting and found.oldest > STALE_SECONDS:
        told += (
            f"; the oldest has waited for {found.oldest / 60:,.0f} minutes, so the journal does not shrink"
        )
        mend = (
            "Any command that opens the store takes them in. If this stays so, look at the finding `store`."
        )
        return Finding(what="journal", state="problem", told=told, mend=mend)
    if found.rejected:
        reasons = "; ".join(f"{count:,} × {why}" for why, count in found.reasons.items())
        mend = (
            "They lie in `rejected` in the journal beside the store, each with its reason; remove them there."
        )
        return Finding(what="journal", state="warning", told=f"{told}: {reasons}", mend=mend)
    if found.slow:
        mend = "`ringbolt worker`, `serve` or `mcp` takes them in; so does any command."
        told += f"; {found.slow:,} take longer than a hook may"
        return Finding(what="journal", state="warning", told=told, mend=mend)
    return Finding(what="journal", state="ok", told=told if found.waiting else "no event of a host waits")


def hosts(project: str | None) -> Finding:
    """Which hosts have our hooks installed, and whether their settings are current."""
    found: list[str] = []
    wrong: list[str] = []
    mend = ""
    for host in HOSTS:
        for scope in ("user", "project"):
            try:
                state = _installed(host, scope, project)
            except RingboltError as error:
                state = f"cannot be checked: {error.message}"
            if state == "installed":
                found.append(f"{host} ({scope})")
            elif state not in ("", "not installed"):
                wrong.append(f"{host} ({scope}) {state}")
                command = f"ringbolt install {host} --{scope}"
                mend = mend or f"`{command} --check` shows the details, `{command}` fixes them."
    told = f"installed: {', '.join(found) or 'none'}"
    if wrong:
        return Finding(what="hosts", state="warning", told=f"{told}; {'; '.join(wrong)}", mend=mend)
    return Finding(what="hosts", state="ok", told=told)


def _installed(host: str, scope: str, project: str | None) -> str:
    """The state of our hooks for a host in a scope; empty if the host has no such scope."""
    return Installer(host, scope=scope, project=project).check().state if scope in HOSTS[host].scopes else ""


# --- models, embedder, tokens, servers --------------------------------------------------------------


def spending(memory: TaskMemory) -> Finding:
    """Today's use of language models against the daily limits."""
    settings = memory.settings
    if not (settings.model_local_url or settings.model_remote_url):
        return Finding(what="spending", state="ok", told="no model configured, nothing spent")
    day = time.strftime("%Y-%m-%d", time.gmtime())
    used = memory.store.read(lambda tx: spent(tx, "", day))
    told = (
        f"today {used.day_tokens:,} of {settings.model_day_tokens:,} tokens,"
        f" {used.day_cost:.4g} of {settings.model_day_cost:g}"
    )
    if used.day_tokens >= settings.model_day_tokens or used.day_cost >= settings.model_day_cost > 0:
        mend = "Until tomorrow Ringbolt works without a model; to change that, raise model_day_tokens or"
        mend += " model_day_cost."
        return Finding(what="spending", state="warning", told=told, mend=mend)
    return Finding(what="spending", state="ok", told=told)


def models(settings: Settings) -> Iterator[Finding]:
    """Whether the configured models can be reached."""
    for role in ("local", "remote"):
        url = getattr(settings, f"model_{role}_url")
        name = getattr(settings, f"model_{role}_name")
        if not url:
            yield Finding(what=f"{role} model", state="ok", told="none configured")
        else:
            yield _reached(f"{role} model", f"model_{role}_url", url, name)


def embedder(settings: Settings) -> Finding:
    """Whether recall can search by meaning."""
    if settings.embedder == "none":
        return Finding(what="embedder", state="ok", told="none configured; recall searches by words")
    try:
        found = embedder_for(settings)
    except RingboltError as error:
        return of_error("embedder", error)
    if settings.embedder == "endpoint":
        return _reached("embedder", "embedding_url", settings.embedding_url, settings.embedding_model)
    return Finding(what="embedder", state="ok", told=found.name if found else "")


def _reached(what: str, setting: str, url: str, name: str) -> Finding:
    """Whether a server accepts connections; nothing is sent to it."""
    try:
        address = read_address(url, "")
    except ValueError:
        told = "the address is not a valid URL"
        return Finding(what=what, state="problem", told=told, mend=f"Correct the setting {setting}.")
    place = f"{name or '(no name)'} at {address.host}:{address.port}"
    try:
        socket.create_connection((address.host, address.port), REACH_PATIENCE).close()
    except OSError as error:
        return Finding(
            what=what,
            state="warning",
            told=f"{place} cannot be reached: {error}",
            mend=f"Start the server, or correct the setting {setting}. Until then, rules do the work.",
        )
    return Finding(what=what, state="ok", told=f"{place} can be reached")


def tokens(settings: Settings) -> Finding:
    """How tokens are counted for budgets."""
    if settings.tokens == "estimate":
        return Finding(what="tokens", state="ok", told="estimated, as configured")
    if exact() is None:
        return Finding(
            what="tokens",
            state="warning",
            told="estimated, slightly too high, because splintr-rs is not installed",
            mend="`pip install 'ringbolt[tokens]'` for exact counts.",
        )
    return Finding(what="tokens", state="ok", told="counted exactly")


def servers() -> Finding:
    """Whether the packages for the servers are installed."""
    missing = [name for name in ("mcp", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        return Finding(
            what="servers",
            state="warning",
            told=f"not installed: {', '.join(missing)}",
            mend="`pip install 'ringbolt[serve]'` installs what `ringbolt serve` and `ringbolt mcp` need.",
        )
    return Finding(what="servers", state="ok", told="mcp, starlette and uvicorn are installed")
