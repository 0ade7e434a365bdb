"""The checks of `ringbolt doctor`. Each returns a finding: ok, warning or problem, and how to fix it.

No check changes anything or takes long, and no advice destroys data.
"""

from __future__ import annotations

import os
import shutil
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
from ..packet.encode import clip, one_line
from ..packet.tokens import exact
from ..recall.embedding import embedder_for
from ..sinks import queries
from ..sinks.sink import names_in
from ..store import Tx
from ..sync.operations import last_sync
from ..system import os_calls
from ..system.http_client import read_address
from ..upkeep.waiting import upkeep_waits_for
from .task_words import ago, span

State = Literal["ok", "warning", "problem"]

LOCK_PATIENCE = 1.0
REACH_PATIENCE = 1.0
# Larger files are left to `ringbolt verify`, which reads all of them.
QUICK_BYTES = 256 << 20
LOW_DISK, NO_DISK = 100 << 20, 10 << 20
# Jobs overdue for longer than this need a worker.
LATE_SECONDS = 120.0
SYNC_DAYS = 7


class Finding(Value, frozen=True, kw_only=True):
    """The result of one check: what was checked, its state, a message, and how to fix it."""

    what: str
    state: State
    message: str
    fix: str = ""


def _ok(what: str, message: str, fix: str = "") -> Finding:
    return Finding(what=what, state="ok", message=message, fix=fix)


def _warning(what: str, message: str, fix: str) -> Finding:
    return Finding(what=what, state="warning", message=message, fix=fix)


def _problem(what: str, message: str, fix: str) -> Finding:
    return Finding(what=what, state="problem", message=message, fix=fix)


def version() -> Finding:
    """The versions of Ringbolt and Python."""
    python = ".".join(map(str, sys.version_info[:3]))
    return _ok("version", f"ringbolt {__version__}, Python {python}")


def settings(settings: Settings) -> Finding:
    """The number of settings that differ from their defaults."""
    changed = len(settings.sources)
    return _ok(
        "settings", f"{changed} differ from their defaults" if changed else "all settings at their defaults"
    )


def of_error(what: str, error: RingboltError) -> Finding:
    """A check that failed with an error."""
    return _problem(what, f"{error.message} [{error.code}]", error.hint)


def missing_store(location: str) -> Finding:
    """There is no store yet, which is normal before the first task."""
    return _warning(
        "store",
        f"no store at {location} yet",
        "`ringbolt register` creates it with the first task. If you expected one, check --store.",
    )


def checks(memory: TaskMemory) -> Iterator[Finding]:
    """Run every check that needs an open memory."""
    on_disk: tuple[Callable[[TaskMemory], Finding], ...] = (modes, locks, log, disk)
    if not memory.store.files():
        on_disk = ()
    for check in (store, integrity, *on_disk, mirrors, queue, worker, upkeep, sinks, syncing, spending):
        try:
            yield check(memory)
        except RingboltError as error:
            yield of_error(check.__name__, error)
    yield from models(memory.settings)
    yield embedder(memory.settings)
    yield tokens(memory.settings)
    yield servers()


# --- the store --------------------------------------------------------------------------------------


def store(memory: TaskMemory) -> Finding:
    """Engine, location, schema version and size."""
    facts = memory.store.info()
    ends = memory.store.read(lambda tx: tx.chain_ends())
    events = sum(end[1] for end in ends.values())
    return _ok(
        "store",
        f"{facts['engine']}, {facts['url']}, schema {facts['schema']}, {facts['bytes']:,} bytes,"
        f" {len(ends):,} tasks, {events:,} events",
    )


def integrity(memory: TaskMemory) -> Finding:
    """The engine's own integrity check."""
    size = memory.store.info()["bytes"]
    if memory.store.files() and size > QUICK_BYTES:
        message = f"skipped: checking {size:,} bytes takes a while"
        return _ok("integrity", message, "`ringbolt verify` checks all of it.")
    problems = memory.store.check()
    if not problems:
        return _ok("integrity", "the engine reports no damage")
    return _problem(
        "integrity",
        "; ".join(f"{problem.kind}: {problem.detail}" for problem in problems[:3]),
        "Keep the files as they are. `ringbolt repair FILE --to NEW` saves what they still have, and a backup"
        " may be intact.",
    )


def modes(memory: TaskMemory) -> Finding:
    """File permissions: only the owner should be able to read the store."""
    files = [name for name in memory.store.files() if os.path.exists(name)]
    folder = os.path.dirname(files[0])
    readable = [name for name in files if os_calls.others_may_use(name)]
    if readable:
        message = f"other users can read {', '.join(readable)}"
        return _problem("modes", message, os_calls.private_command(readable))
    if os_calls.others_may_replace_in(folder):
        message = f"other users can replace files in {folder}"
        return _problem("modes", message, os_calls.private_command([folder], folder=True))
    return _ok("modes", "only you can read the files, and nobody else can replace them")


def locks(memory: TaskMemory) -> Finding:
    """Whether a writer can get the write lock."""
    lock = os_calls.open_file(f"{memory.store.files()[0]}.lock", os.O_RDWR)
    begin = time.monotonic()
    try:
        while time.monotonic() - begin <= LOCK_PATIENCE:
            if os_calls.lock(lock, wait=False, shared=True):
                return _ok("locks", "the write lock is free")
            time.sleep(0.02)
    finally:
        os.close(lock)
    return _warning(
        "locks",
        f"another process has held the write lock for {LOCK_PATIENCE:g} s",
        "If writes fail with store_busy, find out what that process is doing; its end releases the lock.",
    )


def log(memory: TaskMemory) -> Finding:
    """The size of the write-ahead log."""
    size = memory.store.info()["log_bytes"]
    message = f"the write-ahead log has {size:,} bytes"
    if size > 4 * memory.settings.wal_limit_bytes:
        fix = "A program with a long read transaction keeps it from shrinking; end that transaction."
        return _warning("log", message, fix)
    return _ok("log", message)


def disk(memory: TaskMemory) -> Finding:
    """Free disk space."""
    free = shutil.disk_usage(os.path.dirname(memory.store.files()[0])).free
    message = f"{free >> 20:,} MB free"
    if free >= LOW_DISK:
        return _ok("disk", message)
    report = _problem if free < NO_DISK else _warning
    return report("disk", message, "Free some disk space; the stored data is safe.")


def mirrors(memory: TaskMemory) -> Finding:
    """Whether the mirror files are up to date."""
    if not memory.settings.mirrors:
        return _ok("mirrors", "none configured")
    files = memory.mirrors_status()
    failing = [mirror for mirror in files if mirror.failed_at]
    stale = [mirror for mirror in files if mirror.stale]
    if not failing and not stale:
        return _ok("mirrors", f"{len(files)} are up to date")
    first = (failing or stale)[0]
    reasons = f" ({', '.join(first.reasons)})" if first.reasons else ""
    report = _problem if failing else _warning
    return report(
        "mirrors",
        f"{len(stale)} of {len(files)} are stale, {len(failing)} not writable: {first.path}{reasons}",
        "`ringbolt op mirrors_refresh` rewrites them; a copy of an edited file is kept beside it.",
    )


def queue(memory: TaskMemory) -> Finding:
    """The job queue."""
    jobs = memory.jobs_status(limit=1)
    message = f"{jobs.waiting} waiting, {jobs.due} of them due, {jobs.leased} running, {jobs.dead} given up"
    if jobs.due_since:
        message += f", the oldest due for {span(time.time() - seconds_of(jobs.due_since))}"
    if jobs.dead:
        return _warning("queue", message, "`ringbolt jobs` shows why; `ringbolt jobs retry ID` retries one.")
    return _ok("queue", message)


def worker(memory: TaskMemory) -> Finding:
    """Whether a worker is running, and whether it keeps up."""
    jobs = memory.jobs_status(limit=1)
    running = [worker for worker in jobs.workers if worker.alive]
    late = time.time() - seconds_of(jobs.due_since) if jobs.due_since else 0.0
    if running:
        message = f"{len(running)} running, {running[0].holder} seen {ago(running[0].seen_at)}"
    elif jobs.workers:
        last = jobs.workers[0]
        how = "stopped" if last.ended_at else "was lost"
        message = f"none running; {last.holder} {how}, last seen {ago(last.seen_at)}"
    else:
        message = "none has run yet"
    if late < LATE_SECONDS:
        return _ok("worker", message)
    if running:
        fix = "Jobs arrive faster than the worker runs them, or are slow: start another `ringbolt worker`."
    else:
        fix = "Run `ringbolt worker` or `ringbolt serve`; from cron, `ringbolt worker --once`."
    return _warning("worker", f"{message}; a job has been due for {span(late)}", fix)


def sinks(memory: TaskMemory) -> Finding:
    """What is published where, and whether that is up to date."""
    named = names_in(memory.settings.publish)
    if not named:
        return _ok("sinks", "tasks are not published anywhere")

    def state(tx: Tx, sink: str) -> str:
        reached = queries.mark_of(tx, f"{sink}/").get("at")
        tasks = len(queries.published_tasks(tx, sink))
        return f"{sink}: tasks published: {tasks}, waiting: {queries.unpublished(tx, sink)}, " + (
            f"reached {ago(reached)}" if reached else "not reached yet"
        )

    message = "; ".join(memory.store.read(lambda tx: [state(tx, sink) for sink in named]))
    jobs = memory.jobs_status(limit=1000)
    failed = [job for job in (*jobs.given_up, *jobs.failing) if job.kind == queries.PUBLISH]
    if failed:
        message += f"; {len(failed)} failed: {clip(one_line(failed[0].error or ''), 200)}"
        return _warning("sinks", message, "Correct the cause; the worker tries again by itself.")
    return _ok("sinks", message)


def upkeep(memory: TaskMemory) -> Finding:
    """Whether idle tasks are looked after, and what that is waiting for."""
    every = memory.settings.upkeep_every
    if every == "off":
        return _ok("upkeep", "off: idle tasks are not paused, reported or archived")
    waits = upkeep_waits_for(memory)
    last = f"last run {ago(waits.last_run)}" if waits.last_run else "no run yet"
    if waits.reason is None:
        return _ok("upkeep", f"every {every}, {last}")
    report = _warning if waits.is_wrong else _ok
    return report("upkeep", f"{last}; {waits.reason}", waits.remedy)


# --- hosts ------------------------------------------------------------------------------------------


def journal(location: str, tenant: str = "") -> Finding:
    """Hook events that wait in the journal, or were rejected."""
    health = journal_health(Journal.of(location, tenant))
    message = f"{health.waiting:,} hook events wait, {health.rejected:,} were rejected"
    if health.waiting and health.oldest > STALE_SECONDS:
        message += f"; the oldest has waited for {span(health.oldest)}: the journal does not shrink"
        fix = "Any command that opens the store applies them. If they stay, see the finding `store`."
        return _problem("journal", message, fix)
    if health.rejected:
        reasons = "; ".join(f"{count:,} × {why}" for why, count in health.reasons.items())
        fix = "Each is in `rejected` in the journal beside the store, with its reason; remove it there."
        return _warning("journal", f"{message}: {reasons}", fix)
    if health.slow:
        fix = "`ringbolt worker`, `serve` or `mcp` applies them; so does any command."
        return _warning("journal", f"{message}; {health.slow:,} take longer than a hook may", fix)
    return _ok("journal", message if health.waiting else "no hook events are waiting")


def hosts(project: str | None) -> Finding:
    """The hosts with our hooks installed, and whether their settings are current."""
    installed: list[str] = []
    outdated: list[str] = []
    fix = ""
    for host, scope in [(name, scope) for name in HOSTS for scope in HOSTS[name].scopes]:
        try:
            state = Installer(host, scope=scope, project=project).check().state
        except RingboltError as error:
            state = f"cannot be checked: {error.message}"
        if state == "installed":
            installed.append(f"{host} ({scope})")
        elif state != "not installed":
            outdated.append(f"{host} ({scope}) {state}")
            command = f"ringbolt install {host} --{scope}"
            fix = fix or f"`{command} --check` shows the details, `{command}` fixes them."
    message = f"installed: {', '.join(installed) or 'none'}"
    return _warning("hosts", f"{message}; {'; '.join(outdated)}", fix) if outdated else _ok("hosts", message)


# --- models, embedder, tokens, servers --------------------------------------------------------------


def syncing(memory: TaskMemory) -> Finding:
    """When this store was last synced with the remote of the settings."""
    remote = memory.settings.sync_remote
    if not remote:
        return _ok("sync", "no remote configured")
    last = last_sync(memory)
    if last is None:
        return _warning("sync", f"never synced with {remote}", "Run `ringbolt sync`.")
    days = (time.time() - seconds_of(last.synced_at)) / 86400
    message = f"last sync with {remote} {ago(last.synced_at)}"
    if days <= SYNC_DAYS:
        return _ok("sync", message)
    return _warning("sync", message, "Run `ringbolt sync`.")


def spending(memory: TaskMemory) -> Finding:
    """Today's use of language models against the daily limits."""
    limits = memory.settings
    if not (limits.model_local_url or limits.model_remote_url):
        return _ok("spending", "no model configured, nothing spent")
    day = time.strftime("%Y-%m-%d", time.gmtime())
    used = memory.store.read(lambda tx: spent(tx, "", day))
    message = (
        f"today {used.day_tokens:,} of {limits.model_day_tokens:,} tokens,"
        f" {used.day_cost:.4g} of {limits.model_day_cost:g}"
    )
    if used.day_tokens < limits.model_day_tokens and not used.day_cost >= limits.model_day_cost > 0:
        return _ok("spending", message)
    return _warning(
        "spending",
        message,
        "Until tomorrow Ringbolt works without a model; to change that, raise model_day_tokens or"
        " model_day_cost.",
    )


def models(settings: Settings) -> Iterator[Finding]:
    """Whether the configured models can be reached."""
    for role in ("local", "remote"):
        url = getattr(settings, f"model_{role}_url")
        name = getattr(settings, f"model_{role}_name")
        what = f"{role} model"
        yield _reached(what, f"model_{role}_url", url, name) if url else _ok(what, "none configured")


def embedder(settings: Settings) -> Finding:
    """Whether recall can search by meaning."""
    if settings.embedder == "none":
        return _ok("embedder", "none configured; recall searches by words")
    try:
        model = embedder_for(settings)
    except RingboltError as error:
        return of_error("embedder", error)
    if settings.embedder == "endpoint":
        return _reached("embedder", "embedding_url", settings.embedding_url, settings.embedding_model)
    return _ok("embedder", model.name if model else "")


def _reached(what: str, setting: str, url: str, name: str) -> Finding:
    """Whether a server accepts connections; nothing is sent to it."""
    try:
        address = read_address(url, "")
    except ValueError:
        return _problem(what, "the address is not a valid URL", f"Correct the setting {setting}.")
    place = f"{name or '(no name)'} at {address.host}:{address.port}"
    try:
        socket.create_connection((address.host, address.port), REACH_PATIENCE).close()
    except OSError as error:
        fix = f"Start the server, or correct the setting {setting}. Until then, rules do the work."
        return _warning(what, f"{place} cannot be reached: {error}", fix)
    return _ok(what, f"{place} can be reached")


def tokens(settings: Settings) -> Finding:
    """How tokens are counted for budgets."""
    if settings.tokens == "estimate":
        return _ok("tokens", "estimated, as configured")
    if exact() is None:
        message = "estimated, slightly too high, because splintr-rs is not installed"
        return _warning("tokens", message, "`pip install 'ringbolt[tokens]'` for exact counts.")
    return _ok("tokens", "counted exactly")


def servers() -> Finding:
    """Whether the packages for the servers are installed."""
    missing = [name for name in ("mcp", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        fix = "`pip install 'ringbolt[serve]'` installs the packages for `ringbolt serve`."
        return _warning("servers", f"not installed: {', '.join(missing)}", fix)
    return _ok("servers", "mcp, starlette and uvicorn are installed")
