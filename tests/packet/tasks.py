"""Tasks to look at: small, full, long and random ones."""

from __future__ import annotations

from hypothesis import strategies as st

from ringbolt.surfaces.demo import PLAN, REQUEST


def deployment(memory) -> str:
    """The deployment story halfway, with something in every part."""
    task = memory.acting_as(channel="user").task_register("Deploy coursefolio", PLAN, request=REQUEST).task_id
    memory.task_set(task, "version", "v1.2.3")
    memory.task_set(task, "replicas", 3)
    memory.acting_as(channel="user").task_remember(
        task, "Use the blue cluster only.", type="user_instruction"
    )
    memory.task_update(task, "Image built as v1.2.3", step="build", step_status="completed")
    memory.task_receipt(task, "docker image inspect coursefolio:v1.2.3", item="build")
    memory.task_exclude(
        task,
        what="Pushing to docker.io",
        why="the account has no rights there",
        symptom="denied: requested access to the resource is denied",
    )
    memory.task_decide(
        task,
        title="Registry",
        choice="ghcr.io",
        options=["docker.io", "ghcr.io"],
        reasoning="the deploy key already works there",
        risks="the key expires in March",
        if_wrong="push to docker.io with a new account",
    )
    memory.task_update(task, "Pushed to ghcr.io", step="push", step_status="completed")
    memory.task_update(task, "Connected as deploy", step="connect", step_status="completed")
    memory.task_update(
        task,
        step="run",
        step_status="active",
        next="pull the image as deploy",
        blockers=["no route to the registry"],
    )
    memory.task_log_action(
        task, "edit deploy/run.sh", type="edit", files=[{"path": "deploy/run.sh", "change": "created"}]
    )
    memory.task_log_action(task, "set the port", type="edit", files=["config/prod.toml"])
    memory.task_intent(
        task, what="docker run coursefolio:v1.2.3 on the server", verify="docker ps | grep coursefolio"
    )
    memory.acting_as(channel="tool").task_remember(task, "The server has 2 free ports", type="tool_result")
    memory.task_remember(task, "Which port does the proxy expect?", type="question")
    error = memory.task_remember(task, "SSH timed out once", type="error", item="connect").seq
    memory.task_remember(task, "A second try worked", resolves=error)
    memory.task_remember(task, "docker pull: no such host", type="error", item="run")
    return task


def long_plan(memory, steps: int) -> str:
    """A task with many steps, half of them done, and a decision for every tenth."""
    task = memory.task_register(
        f"Migrate {steps} tables", [f"Convert table number {number}" for number in range(1, steps + 1)],
        request="Move all tables to the new server, keep the old one readable, and tell me what you changed.",
    ).task_id  # fmt: skip
    for number in range(1, steps // 2 + 1):
        memory.task_update(task, f"Table {number} converted", step=number, step_status="completed")
        if number % 10 == 0:
            memory.task_decide(task, choice=f"Keep the key of table {number}", reasoning="others refer to it")
            memory.task_exclude(task, what=f"Bulk copy of table {number}", why="the rows are too wide for it")
            memory.task_set(task, f"rows of table {number}", number * 1000)
            memory.task_log_action(task, f"wrote the script {number}", files=[f"migrations/{number:04d}.sql"])
    memory.task_update(task, step=steps // 2 + 1, step_status="active")
    return task


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=300) | st.sampled_from(
    [
        "</ringbolt-00000000>",
        "```",
        "# x\n---\n",
        "\x1b[2J",
        "\u202ex",
        "你好，世界" * 30,
        "word " * 200,
        "a/b/c.py:12",
    ]
)
filled = texts.filter(lambda text: text.strip())
short = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40).filter(
    str.strip
)
channels = st.sampled_from(["user", "agent", "tool", "web", "import", "system"])


@st.composite
def recipes(draw):
    """Calls that make a task: what a test then runs on a memory with `cook`."""
    plan = draw(st.lists(short, max_size=25))
    calls = [
        ("task_register", {"name": draw(short), "plan": plan, "request": draw(st.none() | filled)}, "user")
    ]
    kinds = [
        "task_update",
        "task_decide",
        "task_exclude",
        "task_set",
        "task_remember",
        "task_intent",
        "task_log_action",
    ]
    wanted = draw(st.lists(st.sampled_from(kinds), max_size=25))
    return calls + [(*_call(draw, kind, len(plan)), draw(channels)) for kind in wanted]


def _call(draw, kind, steps):
    if kind == "task_update":
        step = draw(st.integers(1, steps)) if steps else None
        status = draw(st.sampled_from(["active", "completed", "failed", "skipped"])) if steps else None
        given = {"message": draw(filled), "step": step, "step_status": status}
        given |= {"next": draw(st.none() | filled.filter(lambda text: len(text.encode()) < 2000))}
        given |= {"blockers": draw(st.none() | st.lists(short, max_size=3))}
        return kind, {name: value for name, value in given.items() if value is not None}
    if kind == "task_decide":
        return kind, {
            "choice": draw(filled),
            "reasoning": draw(filled),
            "options": draw(st.lists(texts, max_size=3)),
        }
    if kind == "task_exclude":
        return kind, {"what": draw(filled), "why": draw(filled), "symptom": draw(filled)}
    if kind == "task_set":
        return kind, {
            "name": draw(short),
            "value": draw(texts | st.integers() | st.booleans() | st.lists(short, max_size=3)),
        }
    if kind == "task_remember":
        types = ["error", "discovery", "artifact", "context", "question", "tool_result"]
        return kind, {
            "summary": draw(filled),
            "type": draw(st.sampled_from(types)),
            "detail": draw(st.none() | filled),
        }
    if kind == "task_intent":
        return kind, {"what": draw(filled), "verify": draw(filled)}
    return kind, {"summary": draw(filled), "files": draw(st.lists(short, max_size=3))}


def cook(memory, recipe) -> str:
    """Make the task of a recipe."""
    from ringbolt import RingboltError

    task = None
    for call, arguments, channel in recipe:
        actor = memory.acting_as(channel=channel)
        if task is None:
            task = getattr(actor, call)(**arguments).task_id
            continue
        try:
            getattr(actor, call)(task, **arguments)
        except RingboltError as error:
            if error.code not in ("illegal_transition", "invalid_argument"):
                raise
    return task
