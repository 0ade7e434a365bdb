"""The commands that maintain a store: doctor, verify, reindex, distill, jobs, worker, purge, forget."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import click

from ....config import load_settings, store_location
from ....core.queue import Queue
from ....core.repair import repair
from ....core.verify import Verify
from ....extract.distillation import Distilling
from ....journal.folders import store_path
from ....memory import TaskMemory
from ....model.errors import InvalidInput, RingboltError, shown
from ....opening import Opening
from ....recall.operations import Recalling
from ....retention.operations import Retention
from ....store.locations import without_password
from ....worker.pool import Pool
from ....worker.worker import HANDLERS, Handler, handlers_for
from ... import doctor
from ...task_words import ago
from ..command import Command, Group, operation_command
from ..console import (
    answer,
    call,
    common_values,
    every_workspace,
    leave,
    line,
    open_memory,
    progress_bar,
    table,
    warn,
)
from ..parameters import argument, option


def _show_verified(data: Any) -> None:
    for problem in data["problems"]:
        where = f"{problem['task_id']} " if problem["task_id"] else ""
        seq = f"#{problem['seq']} " if problem["seq"] is not None else ""
        click.echo(f"{where}{seq}{problem['kind']}: {line(problem['detail'])}")
    problems = len(data["problems"])
    result = _number(problems, "problem") if problems else "nothing is lost or changed"
    click.echo(f"{_number(data['tasks'], 'task')} with {_number(data['events'], 'event')}: {result}.")


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


verify_command = operation_command(
    "verify",
    Verify,
    "verify",
    show=_show_verified,
    end=lambda data: 0 if data["ok"] else 1,
    progress="Verifying",
    help="Replay the events and check hashes, numbering, every row of state, and the file itself.\n\n"
    "The exit code is 1 if a problem was found.",
    examples=("ringbolt verify", "ringbolt verify --task 7k3m"),
)


@click.command(
    "repair",
    cls=Command,
    examples=(
        "ringbolt repair ~/tasks.db --to ~/repaired.db",
        "ringbolt repair ~/tasks.db --to ~/repaired.db --from /backups/ringbolt.backup",
    ),
)
@click.argument("old", metavar="OLD")
@click.option("--to", "new", metavar="NEW", required=True, help="The new store; it must not exist yet.")
@click.option(
    "--from",
    "others",
    metavar="PATH",
    multiple=True,
    help="A backup, an export, or a mirrored folder that may have what is lost. Can be repeated.",
)
def repair_command(old: str, new: str, others: tuple[str, ...]) -> None:
    """Save what can be read of the damaged SQLite store OLD into the new store NEW.

    OLD is only read. Every event is checked by its hash; what was lost is listed. Events of hooks that wait
    beside OLD are copied too. The exit code is 0 only if nothing was lost.
    """
    if store_path(new) is None or os.path.lexists(store_path(new) or new):
        raise InvalidInput(
            "invalid_argument", f"{line(new)} exists or is not a file.", "Name a new file with --to."
        )
    if not os.path.isfile(store_path(old) or ""):
        raise InvalidInput("invalid_argument", f"There is no file {line(old)}.", "Name a SQLite store.")
    with _NewStore.open(new, workspace=None) as memory, progress_bar("Repairing") as progress:
        report = repair(old, memory, others, progress)
    answer(report.to_dict(), _show_repaired)
    leave(0 if report.ok else 1)


class _NewStore(Opening, Verify):
    """A memory that can only be opened, written by `repair`, and verified."""


def _show_repaired(data: Any) -> None:
    for gap in data["lost"]:
        seqs = f"#{gap['first']}" if gap["first"] == gap["last"] else f"#{gap['first']}-{gap['last']}"
        click.echo(f"lost: {gap['task_id'] or 'positions'} {seqs}: {line(gap['why'])}")
    for path, count in data["elsewhere"].items():
        click.echo(f"{count:,} events only in {line(path)}")
    for reason in data["skipped"]:
        click.echo(f"not read: {line(reason)}")
    for problem in data["verified"]["problems"]:
        click.echo(f"the new store: {problem['kind']}: {line(problem['detail'])}")
    if data["unproven"]:
        click.echo(f"{data['unproven']:,} events follow a lost one or have lost their author: check them.")
    if data["waiting"]:
        click.echo(f"{data['waiting']:,} events of hooks wait in the journal of the new store.")
    result = "nothing was lost" if data["ok"] else "see above for what was lost"
    click.echo(f"{data['tasks']:,} tasks with {data['events']:,} events: {result}.")


reindex_command = operation_command(
    "reindex",
    Recalling,
    "reindex",
    "*",
    show=lambda _: click.echo("The search index is rebuilt."),
    task=False,
    progress="Indexing",
    help="Rebuild the search index from the events.",
    examples=("ringbolt reindex",),
)

distill_command = operation_command(
    "distill",
    Distilling,
    "task_distill",
    show=lambda data: click.echo(
        f"{data['task_id']}: up to #{data['seq']}; {len(data['entries'])} new entries."
    ),
    help="Update the derived parts of a task: progress, extracted entries, names in use.",
    examples=("ringbolt distill",),
)


def _show_jobs(data: Any) -> None:
    click.echo(
        f"{data['waiting']} waiting, {data['due']} of them due, {data['leased']} running,"
        f" {data['dead']} given up."
    )
    for worker in data["workers"]:
        state = "is running" if worker["alive"] else "ended" if worker["ended_at"] else "is gone"
        click.echo(f"Worker {line(worker['holder'])} {state}, last seen {ago(worker['seen_at'])}.")
    for title, failed in (
        ("Failed, and will be tried again:", data["failing"]),
        ("Given up:", data["given_up"]),
    ):
        if failed:
            click.echo(title)
            rows = [
                [job["id"], job["kind"], job["task_id"] or job["key"], job["attempts"], job["error"] or ""]
                for job in failed
            ]
            table(("ID", "KIND", "TASK", "ATTEMPTS", "ERROR"), rows)


jobs_command = Group(
    "jobs",
    callback=lambda: answer(call(Queue, "jobs_status", {}), _show_jobs),
    help="Show queued jobs, failed jobs with their last error, and the workers.",
    examples=("ringbolt jobs", "ringbolt jobs retry 3"),
    commands=[
        operation_command(
            "retry",
            Queue,
            "jobs_retry",
            argument("id", type=int),
            show=lambda job: click.echo(f"Job {job['id']} ({job['kind']}) is queued again."),
            task=False,
            help="Retry the job ID, which was given up.",
            examples=("ringbolt jobs retry 3",),
        )
    ],
)


@click.command(
    "worker",
    cls=Command,
    examples=("ringbolt worker", "ringbolt worker --once", "ringbolt worker --kinds wait,webhook"),
)
@click.option("--once", is_flag=True, help="Run the due jobs, then exit; exit code 1 if a job failed.")
@click.option("--kinds", metavar="KINDS", help="Only jobs of these kinds, separated by commas.")
def worker_command(once: bool, kinds: str | None) -> None:
    """Run queued jobs until it is interrupted or terminated. Several workers may run at once.

    Running jobs get 20 seconds to finish; the others are returned to the queue. A second signal ends the
    worker at once; another worker takes over its jobs within a minute.
    """
    with open_memory(TaskMemory, create=not once) as memory:
        pool = Pool(memory, handlers=_handlers(memory, kinds))
        with _until_signalled() as stop:
            if once:
                report = pool.run_once(stop)
            else:
                warn("the worker is running; interrupt it to end it")
                report = pool.run(stop)
    counts = report.to_dict()
    answer(counts, lambda _: click.echo(", ".join(f"{count} {what}" for what, count in counts.items()) + "."))
    leave(1 if once and (report.failed or report.dead) else 0)


@contextmanager
def _until_signalled() -> Generator[threading.Event]:
    """An event that the first signal sets; a second signal ends the process at once."""
    stop = threading.Event()

    def ended(_number: int, _frame: object) -> None:
        stop.set()
        for number in before:
            signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, ended) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handlers(memory: TaskMemory, kinds: str | None) -> dict[str, Handler]:
    """The handlers for the kinds of jobs that this worker runs."""
    handlers = handlers_for(memory)
    if kinds is None:
        return handlers
    wanted = [kind.strip() for kind in kinds.split(",")]
    if unknown := [kind for kind in wanted if kind not in HANDLERS]:
        raise InvalidInput(
            "invalid_argument",
            f"Unknown kind of job: {shown(unknown[0])}.",
            f"The kinds are: {', '.join(HANDLERS)}.",
        )
    return {kind: handler for kind, handler in handlers.items() if kind in wanted}


# --- permanent removal ------------------------------------------------------------------------------

HOW = (
    "Without --confirm nothing changes: the command reports what would be removed, and prints a token, which"
    " is valid for ten minutes and only for that. A removal cannot be undone."
)


def _show_removal(data: Any) -> None:
    what = f"{data['events']:,} events of {data['tasks']:,} tasks"
    if data["carried"]:
        what += f", and {data['carried']:,} that repeat them"
    if data["waiting"]:
        what += f", and {data['waiting']:,} that are not written yet"
    if data["done"]:
        click.echo(f"Removed: {what}.")
    else:
        click.echo(f"Would be removed: {what}.")
        for task_id in data["task_ids"]:
            click.echo(f"  {task_id}")
        click.echo(f"To remove them, until {data['expires_at'][11:16]} UTC: --confirm {data['token']}")
    for path in data["elsewhere"]:
        click.echo(f"Copies may remain in {line(path)}; remove them yourself.")
    for warning in data["warnings"]:
        click.echo(f"Note: {line(warning)}")


purge_command = operation_command(
    "purge",
    Retention,
    "purge",
    "--older-than",
    option("--status", convert=list),
    option("--not-archived", of="archived", sets=False, help="Include tasks that are not archived."),
    option("--kind", type=click.Choice(["task", "goal"]), metavar=None),
    "--limit",
    "--confirm",
    prepare=every_workspace,
    show=_show_removal,
    everywhere=True,
    help="Permanently remove tasks that ended and have not changed for some time, or one task (--task).\n\n"
    + HOW,
    examples=("ringbolt purge --older-than 90d", "ringbolt purge --older-than 90d --confirm 6a0f-12ab"),
)

forget_command = operation_command(
    "forget",
    Retention,
    "forget",
    option("--source", metavar="KIND:NAME", required=True),
    "--confirm",
    show=_show_removal,
    task=False,
    help="Permanently remove everything from one source, leaving tombstones without content.\n\n" + HOW,
    examples=(
        "ringbolt forget --source session:S1",
        'ringbolt forget --source "text:hunter2" --confirm 6a0f-12ab',
    ),
)


# --- doctor -----------------------------------------------------------------------------------------


@click.command("doctor", cls=Command, examples=("ringbolt doctor", "ringbolt doctor --json"))
def doctor_command() -> None:
    """Check settings, hosts, store, locks, mirrors, queue and models, and say how to fix problems.

    Nothing is changed. The exit code is 1 if there is a problem; warnings do not count.
    """
    findings = [finding.to_dict() for finding in _findings()]
    ok = all(finding["state"] != "problem" for finding in findings)
    answer({"ok": ok, "findings": findings}, _show_findings)
    leave(0 if ok else 1)


def _findings() -> Iterator[doctor.Finding]:
    yield doctor.version()
    try:
        settings = load_settings(store=common_values().get("store"))
    except RingboltError as error:
        yield doctor.of_error("settings", error)
        return
    yield doctor.settings(settings)
    yield doctor.journal(store_location(settings), settings.tenant)
    yield doctor.hosts(common_values().get("workspace"))
    try:
        memory = open_memory(TaskMemory, settings=settings)
    except RingboltError as error:
        if error.code == "store_not_found":
            yield doctor.missing_store(without_password(store_location(settings)))
        else:
            yield doctor.of_error("store", error)
        return
    with memory:
        yield from doctor.checks(memory)


def _show_findings(data: Any) -> None:
    width = max(len(finding["what"]) for finding in data["findings"])
    for finding in data["findings"]:
        click.echo(f"{finding['state']:8} {finding['what']:{width}}  {line(finding['message'])}")
    by_state: dict[str, list[Any]] = {"problem": [], "warning": [], "ok": []}
    for finding in data["findings"]:
        by_state[finding["state"]].append(finding)
    wanted = by_state["problem"] + by_state["warning"]
    click.echo("What to do, in this order:" if wanted else "All is well.")
    for number, finding in enumerate(wanted, 1):
        click.echo(f"  {number}. {finding['what']}: {line(finding['fix'] or finding['message'])}")
    for finding in by_state["ok"]:
        if finding["fix"]:
            click.echo(f"Optional, {finding['what']}: {line(finding['fix'])}")
