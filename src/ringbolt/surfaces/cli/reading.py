"""The commands that read: ask, resume, state, summary, recall, list, show, thread, event."""

from __future__ import annotations

from typing import Any

import click

from .console import EVERYWHERE, Command, called, given, moment, of_task, say, show, table, text_of, warn
from .render import answer, hits, minute, plain, task, thread, whole_event


@click.command(
    "ask",
    cls=Command,
    task=True,
    short_help="Ask a question about a task.",
    examples=("ringbolt ask", 'ringbolt ask "Why ghcr.io?"', 'ringbolt ask "What failed since yesterday?"'),
)
@click.argument("question", nargs=-1)
def ask_command(question: tuple[str, ...]) -> None:
    """Ask a QUESTION in any words; without one: where the task stands. Each answer cites its events."""
    words = " ".join(question) or None
    of_task("task_ask", {"question": text_of(words)}, answer)


@click.command(
    "resume",
    cls=Command,
    task=True,
    short_help="All that is needed to go on with a task.",
    examples=("ringbolt resume", "ringbolt resume --budget 600"),
)
@click.option("--budget", metavar="TOKENS", type=int, help="The most tokens, from 300 to 8,000.")
def resume_command(budget: int | None) -> None:
    """All that is needed to go on with a task: the text to inject after a compaction."""
    of_task("task_resume", {"budget": budget}, answer)


@click.command(
    "state",
    cls=Command,
    task=True,
    short_help="The state of a task as YAML.",
    examples=("ringbolt state > state.yaml", "ringbolt state --line"),
)
@click.option("--budget", metavar="TOKENS", type=int, help="The most tokens, from 300 to 1,500.")
@click.option("--line", "one_line", is_flag=True, help="In one line instead.")
def state_command(budget: int | None, one_line: bool) -> None:
    """The state of a task as YAML, in the shape that other agents know."""
    if one_line:
        of_task("task_line", {}, plain)
    else:
        of_task("task_state", {"budget": budget}, plain)


@click.command(
    "summary",
    cls=Command,
    task=True,
    short_help="A task in a few sentences.",
    examples=("ringbolt summary", "ringbolt summary --detail items"),
)
@click.option("--detail", metavar="DETAIL", help="summary, items, actions, full or focused.")
@click.option("--kept", is_flag=True, help="Show the kept summary as it is, however old.")
def summary_command(detail: str | None, kept: bool) -> None:
    """A task in three to five sentences, and what happened since, line by line."""
    of_task("task_summary", {"detail": detail, "refresh": False if kept else None}, _tell_summary)


def _tell_summary(data: Any) -> None:
    answer(data)
    if data["left_out"]:
        click.echo(f"… {data['left_out']} more events, and since:")
    for text in data["since"]:
        say(text)


@click.command(
    "recall",
    cls=Command,
    task=True,
    short_help="Find anything that was written down.",
    examples=(
        "ringbolt recall registry key",
        "ringbolt recall '\"access denied\"' --type error --everywhere",
        "ringbolt recall --type decision --since 2026-03-01",
    ),
)
@click.argument("words", nargs=-1)
@click.option("--step", metavar="STEP", help="Only what belongs to this step.")
@click.option(
    "--type", "types", metavar="TYPE", multiple=True, help="Only decision, error, message, action, …"
)
@click.option("--tag", "tags", multiple=True, help="Only what has this tag.")
@click.option("--since", metavar="TIME", help="Only what was written at this time or later.")
@click.option("--until", metavar="TIME", help="Only what was written at this time or before.")
@click.option("--at", metavar="SEQ|TIME", help="As it was after an event of the task, or at a time.")
@EVERYWHERE
@click.option("--limit", metavar="NUMBER", type=int, help="The most to show.")
@click.option("--cursor", metavar="NUMBER", type=int, help="The next page.")
@click.option("--titles", is_flag=True, help="Only titles.")
def recall_command(
    words: tuple[str, ...],
    step: str | None,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    since: str | None,
    until: str | None,
    at: str | None,
    limit: int | None,
    cursor: int | None,
    titles: bool,
) -> None:
    """Find what was written down: messages, actions and their outputs, decisions and their reasons, …

    Any WORDS will do. "Quoted phrases" must be there, conf* finds what begins so. Searched are the tasks of
    this workspace, or the one that --task names.
    """
    arguments = {
        "query": text_of(" ".join(words) or None), "item": step, "types": types, "tags": tags, "since": since,
        "until": until, "at": moment(at), "limit": limit, "cursor": cursor, "titles": titles or None,
        "task_id": given().get("task"),
    }  # fmt: skip
    show(called("task_recall", arguments), hits)


@click.command(
    "list",
    cls=Command,
    short_help="List tasks.",
    examples=("ringbolt list", "ringbolt list --status all --everywhere", "ringbolt list --text deploy"),
)
@click.option("--status", "statuses", metavar="STATUS", multiple=True, help="open, ended, all, or a status.")
@EVERYWHERE
@click.option("--of-session", metavar="NAME", help="Only tasks of this session.")
@click.option("--tag", help="Only tasks with this tag.")
@click.option("--parent", metavar="ID", help="Only the parts of this task.")
@click.option("--text", metavar="TEXT", help="Only tasks with this text in their name.")
@click.option("--archived", is_flag=True, help="Archived ones, too.")
@click.option("--limit", metavar="NUMBER", type=int, help="The most to show.")
@click.option("--cursor", metavar="NUMBER", type=int, help="The next page.")
def list_command(
    statuses: tuple[str, ...],
    of_session: str | None,
    tag: str | None,
    parent: str | None,
    text: str | None,
    archived: bool,
    limit: int | None,
    cursor: int | None,
) -> None:
    """List the open tasks of this workspace, the last changed first, unless asked otherwise."""
    arguments = {
        "status": statuses[0] if len(statuses) == 1 else statuses, "session": of_session, "tag": tag,
        "parent": parent, "text": text, "archived": archived or None, "limit": limit, "cursor": cursor,
    }  # fmt: skip
    show(called("task_list", arguments), _tell_tasks)


def _done(card: Any) -> str:
    """How many steps are done and proven, and how many side effects are unknown."""
    parts = [f"{card['done']}/{card['total']}"] if card["total"] else []
    parts += [f"{card['verified']} verified"] if card["verified"] else []
    parts += [f"{card['unknown']} unknown"] if card["unknown"] else []
    return ", ".join(parts)


def _tell_tasks(data: Any) -> None:
    rows = [
        (
            card["id"],
            card["name"],
            card["status"],
            _done(card),
            card["current_title"] or card["next_step"] or card["next_title"] or "",
            minute(card["updated_at"]),
        )
        for card in data["tasks"]
    ]
    if rows:
        table(("ID", "NAME", "STATUS", "STEPS", "NOW OR NEXT", "CHANGED"), rows)
    else:
        click.echo("No tasks.")
    if data["cursor"] is not None:
        warn(f"more: --cursor {data['cursor']}")


@click.command(
    "show",
    cls=Command,
    short_help="Show a task as it stands, or stood.",
    examples=("ringbolt show", "ringbolt show 7k3m --at 12", "ringbolt show --at 2026-03-01T12:00Z"),
)
@click.argument("task_id", metavar="[TASK]", required=False)
@click.option("--at", metavar="SEQ|TIME", help="As it stood after an event, or at a time.")
def show_command(task_id: str | None, at: str | None) -> None:
    """Show a TASK: request, plan, decisions, what failed, values, what is open."""
    show(
        called("task_get", {"task_id": task_id, "at": moment(at)}),
        lambda data: click.echo("\n".join(task(data))),
    )


@click.command(
    "thread",
    cls=Command,
    task=True,
    short_help="The last events of a task.",
    examples=("ringbolt thread --limit 10", "ringbolt thread --around 42"),
)
@click.option("--limit", metavar="NUMBER", type=int, help="The most to show.")
@click.option("--before", metavar="SEQ", type=int, help="Only events before this one.")
@click.option("--type", "types", metavar="TYPE", multiple=True, help="Only events of this type.")
@click.option("--around", metavar="SEQ", type=int, help="What happened around this event.")
def thread_command(limit: int | None, before: int | None, types: tuple[str, ...], around: int | None) -> None:
    """The last events of a task, in order."""
    if around is not None:
        of_task("task_around", {"seq": around, "before": limit, "after": limit}, thread)
    else:
        of_task("task_thread", {"limit": limit, "before": before, "types": types}, thread)


@click.command(
    "event",
    cls=Command,
    task=True,
    short_help="One event, whole.",
    examples=("ringbolt event 42",),
)
@click.argument("seq", type=int)
def event_command(seq: int) -> None:
    """Event SEQ with all that it says and changed: #42 of a packet, an answer or a search."""
    of_task("task_event", {"seq": seq}, whole_event)
