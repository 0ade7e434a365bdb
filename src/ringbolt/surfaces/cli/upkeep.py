"""The commands that look after a store: verify, reindex, distill, jobs, worker."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import click

from ...memory import TaskMemory
from ...model.errors import InvalidInput, shown
from ...operations import call
from ...worker.pool import Pool
from ...worker.worker import HANDLERS, Handler, handlers_for
from .console import Command, Group, called, given, leave, line, of_task, open_memory, show, table, warn
from .progress import progress


@click.command(
    "verify",
    cls=Command,
    task=True,
    short_help="Check that nothing was lost or changed.",
    examples=("ringbolt verify", "ringbolt verify --task 7k3m"),
)
def verify_command() -> None:
    """Fold the events again and compare: hashes, numbering, every state row, and the file itself.

    The exit code is 1 if a problem was found.
    """

    task = given().get("task")
    with open_memory() as memory, progress(memory, "Verifying"):
        data = call(memory, "verify", {"task_id": task} if task else {})
    show(data, _tell_report)
    leave(0 if data["ok"] else 1)


def _tell_report(data: Any) -> None:
    for problem in data["problems"]:
        where = f"{problem['task_id']} " if problem["task_id"] else ""
        seq = f"#{problem['seq']} " if problem["seq"] is not None else ""
        click.echo(f"{where}{seq}{problem['kind']}: {line(problem['detail'])}")
    found = f"{len(data['problems']):,} problems" if data["problems"] else "nothing is lost or changed"
    click.echo(f"{data['tasks']:,} tasks with {data['events']:,} events: {found}.")


@click.command(
    "reindex", cls=Command, short_help="Make anew what recall has derived.", examples=("ringbolt reindex",)
)
@click.option("--vectors", is_flag=True, help="Make all vectors now, too.")
def reindex_command(vectors: bool) -> None:
    """Throw away everything that recall has derived from the events, and make it anew."""

    with open_memory() as memory, progress(memory, "Indexing"):
        data = call(memory, "reindex", {"vectors": vectors})
    show(data, lambda _: click.echo("The index is new."))


@click.command(
    "distill",
    cls=Command,
    task=True,
    short_help="Bring what follows from a task's events up to date.",
    examples=("ringbolt distill",),
)
def distill_command() -> None:
    """Bring up to date what follows from a task's events: progress, what is worth remembering, names."""
    of_task("task_distill", {}, _tell_distilled)


def _tell_distilled(data: Any) -> None:
    click.echo(f"{data['task_id']}: up to #{data['seq']}; {len(data['entries'])} new entries.")


@click.group(
    "jobs",
    cls=Group,
    invoke_without_command=True,
    short_help="What waits for a worker, and what was given up.",
    examples=("ringbolt jobs", "ringbolt jobs retry 3"),
)
@click.pass_context
def jobs_command(context: click.Context) -> None:
    """What waits for a worker, by kind, and the jobs that were given up, with their last error."""
    if context.invoked_subcommand is None:
        show(called("jobs_status", {}), _tell_jobs)


def _tell_jobs(data: Any) -> None:
    click.echo(
        f"{data['waiting']} waiting, {data['due']} of them due, {data['leased']} being done,"
        f" {data['dead']} given up."
    )
    for worker in data["workers"]:
        state = "runs" if worker["alive"] else "ended" if worker["ended_at"] else "is gone"
        click.echo(f"Worker {line(worker['holder'])} {state}, heard of at {worker['seen_at']}.")
    rows = [
        (job["id"], job["kind"], job["task_id"], job["attempts"], job["error"] or "")
        for job in data["given_up"]
    ]
    if rows:
        table(("ID", "KIND", "TASK", "ATTEMPTS", "ERROR"), rows)


@jobs_command.command("retry", short_help="Give a job another chance.", examples=("ringbolt jobs retry 3",))
@click.argument("number", metavar="ID", type=int)
def retry(number: int) -> None:
    """Give the job ID, which was given up, another chance."""
    show(
        called("jobs_retry", {"id": number}),
        lambda job: click.echo(f"Job {job['id']} ({job['kind']}) waits again."),
    )


@click.command(
    "worker",
    cls=Command,
    short_help="Do the jobs that wait.",
    examples=("ringbolt worker", "ringbolt worker --once", "ringbolt worker --kinds wait,webhook"),
)
@click.option("--once", is_flag=True, help="Do what is due, then end: exit code 1 if a job failed.")
@click.option("--kinds", metavar="KINDS", help="Only jobs of these kinds, separated by commas.")
def worker_command(once: bool, kinds: str | None) -> None:
    """Do the jobs that wait, until it is interrupted or terminated. Several may run at once.

    Jobs in hand are done to their end, for 20 seconds at most; all others are given back. A second signal
    ends it at once: what it had in hand is taken over by another worker within a minute.
    """

    with open_memory(create=not once) as memory:
        pool = Pool(memory, handlers=_wanted(memory, kinds))
        with _until_signalled() as stop:
            if once:
                report = pool.run_once(stop)
            else:
                warn("a worker runs; interrupt it to end it")
                report = pool.run(stop)
    show(report.to_dict(), _tell_work)
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


def _wanted(memory: TaskMemory, kinds: str | None) -> dict[str, Handler]:

    able = handlers_for(memory)
    if kinds is None:
        return able
    wanted = [kind.strip() for kind in kinds.split(",")]
    if unknown := [kind for kind in wanted if kind not in HANDLERS]:
        raise InvalidInput(
            "invalid_argument",
            f"There is no kind of job {shown(unknown[0])}.",
            f"The kinds are: {', '.join(HANDLERS)}.",
        )
    return {kind: handler for kind, handler in able.items() if kind in wanted}


def _tell_work(data: Any) -> None:
    click.echo(", ".join(f"{count} {what}" for what, count in data.items()) + ".")
