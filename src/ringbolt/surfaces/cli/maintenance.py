"""The commands that maintain a store: verify, reindex, distill, jobs, worker."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import click

from ...core.queue import Queue
from ...core.verify import Verify
from ...extract.distillation import Distilling
from ...memory import TaskMemory
from ...model.errors import InvalidInput, shown
from ...recall.operations import Recalling
from ...worker.pool import Pool
from ...worker.worker import HANDLERS, Handler, handlers_for
from .command import Command, Group, operation_command
from .console import answer, call, given, leave, line, open_memory, table, warn
from .progress_bar import progress


@click.command("verify", cls=Command, task=True, examples=("ringbolt verify", "ringbolt verify --task 7k3m"))
def verify_command() -> None:
    """Replay the events and compare: hashes, numbering, every row of state, and the file itself.

    The exit code is 1 if a problem was found.
    """
    with open_memory(Verify) as memory, progress(memory, "Verifying"):
        report = memory.verify(given().get("task"))
    answer(report.to_dict(), _show_report)
    leave(0 if report.ok else 1)


def _show_report(data: Any) -> None:
    for problem in data["problems"]:
        where = f"{problem['task_id']} " if problem["task_id"] else ""
        seq = f"#{problem['seq']} " if problem["seq"] is not None else ""
        click.echo(f"{where}{seq}{problem['kind']}: {line(problem['detail'])}")
    found = f"{len(data['problems']):,} problems" if data["problems"] else "nothing is lost or changed"
    click.echo(f"{data['tasks']:,} tasks with {data['events']:,} events: {found}.")


@click.command("reindex", cls=Command, examples=("ringbolt reindex",))
@click.option("--vectors", is_flag=True, help="Also compute all vectors now.")
def reindex_command(vectors: bool) -> None:
    """Rebuild the search index from the events."""
    with open_memory(Recalling) as memory, progress(memory, "Indexing"):
        memory.reindex(vectors=vectors)
    answer(None, lambda _: click.echo("The search index is rebuilt."))


distill_command = operation_command(
    "distill",
    Distilling,
    "task_distill",
    show=lambda data: click.echo(
        f"{data['task_id']}: up to #{data['seq']}; {len(data['entries'])} new entries."
    ),
    help="Bring the derived parts of a task up to date: progress, entries worth remembering, names in use.",
    examples=("ringbolt distill",),
)


@click.group(
    "jobs",
    cls=Group,
    invoke_without_command=True,
    examples=("ringbolt jobs", "ringbolt jobs retry 3"),
)
@click.pass_context
def jobs_command(context: click.Context) -> None:
    """Show queued jobs, failed jobs with their last error, and the workers."""
    if context.invoked_subcommand is None:
        answer(call(Queue, "jobs_status", {}), _show_jobs)


def _show_jobs(data: Any) -> None:
    click.echo(
        f"{data['waiting']} waiting, {data['due']} of them due, {data['leased']} running,"
        f" {data['dead']} given up."
    )
    for worker in data["workers"]:
        state = "is running" if worker["alive"] else "ended" if worker["ended_at"] else "is gone"
        click.echo(f"Worker {line(worker['holder'])} {state}, last seen at {worker['seen_at']}.")
    rows = [
        (job["id"], job["kind"], job["task_id"], job["attempts"], job["error"] or "")
        for job in data["given_up"]
    ]
    if rows:
        table(("ID", "KIND", "TASK", "ATTEMPTS", "ERROR"), rows)


@jobs_command.command("retry", short_help="Retry a job.", examples=("ringbolt jobs retry 3",))
@click.argument("number", metavar="ID", type=int)
def retry(number: int) -> None:
    """Retry the job ID, which was given up."""
    answer(
        call(Queue, "jobs_retry", {"id": number}),
        lambda job: click.echo(f"Job {job['id']} ({job['kind']}) is queued again."),
    )


@click.command(
    "worker",
    cls=Command,
    examples=("ringbolt worker", "ringbolt worker --once", "ringbolt worker --kinds wait,webhook"),
)
@click.option("--once", is_flag=True, help="Run what is due, then end; exit code 1 if a job failed.")
@click.option("--kinds", metavar="KINDS", help="Only jobs of these kinds, separated by commas.")
def worker_command(once: bool, kinds: str | None) -> None:
    """Run queued jobs until it is interrupted or terminated. Several workers may run at once.

    Jobs in progress get 20 seconds to finish; the others are returned to the queue. A second signal ends the
    worker at once; another worker takes its jobs over within a minute.
    """
    with open_memory(TaskMemory, create=not once) as memory:
        pool = Pool(memory, handlers=_wanted(memory, kinds))
        with _until_signalled() as stop:
            if once:
                report = pool.run_once(stop)
            else:
                warn("the worker is running; interrupt it to end it")
                report = pool.run(stop)
    answer(report.to_dict(), _show_work)
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
            f"Unknown kind of job: {shown(unknown[0])}.",
            f"The kinds are: {', '.join(HANDLERS)}.",
        )
    return {kind: handler for kind, handler in able.items() if kind in wanted}


def _show_work(data: Any) -> None:
    click.echo(", ".join(f"{count} {what}" for what, count in data.items()) + ".")
