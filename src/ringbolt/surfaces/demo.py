"""The deployment story on a real store: an agent works, is killed halfway, and another one goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..memory import TaskMemory

REQUEST = "Deploy coursefolio v1.2.3 to the production server, please. Do not touch the database."
PLAN = [
    {"id": "build", "title": "Build the Docker image"},
    {"id": "push", "title": "Push it to the registry", "depends_on": ["build"]},
    {"id": "connect", "title": "Connect to the server"},
    {
        "id": "run",
        "title": "Pull the image and run the container",
        "depends_on": ["push", "connect"],
    },
    {"id": "check", "title": "Check the health endpoint", "depends_on": ["run"]},
]


def fill(memory: TaskMemory) -> str:
    """Put the first half of the story into a store that is empty; returns the task's id."""
    return _work(memory.acting_as(agent="deployer", session="monday", channel="agent"), lambda _: None)


def work_until_killed(store: str) -> None:
    """The first agent. It says after each write what is safe, and then it is killed."""
    _work(TaskMemory.open(store, agent="deployer", session="monday", workspace=None), _say)
    sys.stdin.readline()  # the next thing that happens to this process is SIGKILL


def _work(memory: TaskMemory, say: Callable[[str], None]) -> str:
    task = memory.task_register("Deploy coursefolio", PLAN, request=REQUEST).task_id
    say(f"registered task {task} with {len(PLAN)} steps")
    memory.task_set(task, "version", "v1.2.3")
    memory.task_update(task, step="build", step_status="active")
    memory.task_log_action(
        task,
        "docker build -t coursefolio:v1.2.3 .",
        type="cli",
        input={"command": "docker build -t coursefolio:v1.2.3 ."},
        output={"exit_code": 0},
    )
    memory.task_update(task, "Image built as v1.2.3", step="build", step_status="completed")
    say("step 1 done: image built as v1.2.3")
    memory.task_update(task, step="push", step_status="active")
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
    )
    say("docker.io refused the push; decided for ghcr.io, because the deploy key works there")
    memory.task_update(task, "Pushed to ghcr.io", step="push", step_status="completed")
    say("step 2 done: pushed to ghcr.io")
    memory.task_update(task, "Connected as deploy", step="connect", step_status="completed")
    say("step 3 done: connected to the server")
    memory.task_update(task, step="run", step_status="active")
    memory.task_intent(
        task,
        what="docker run coursefolio:v1.2.3 on the server",
        verify="docker ps | grep coursefolio",
    )
    say("step 4 begun: about to start the container …")
    return task


def _say(line: str) -> None:
    print(f"  agent 1 | {line}", flush=True)


def run(keep: str | None) -> int:
    """Tell the story; returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="ringbolt-demo-") as scratch:
        folder = Path(keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        return _story(str(folder / "demo.db"))


def _story(store: str) -> int:
    print(f"A store in one file: {store}\n")
    with subprocess.Popen(
        [sys.executable, "-m", "ringbolt.surfaces.demo", store],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as first:
        for line in first.stdout or ():
            print(line, end="", flush=True)
            if line.rstrip().endswith("…"):
                break
        first.kill()
    print(f"\n  kill -9 {first.pid} (exit {first.returncode})\n")
    with TaskMemory.open(store, agent="successor", session="tuesday", workspace=None) as memory:
        print("A new process opens the store and asks for what it needs to go on:\n")
        task = memory.task_get()
        print(memory.task_resume(task.id, budget=600).text, end="")
        memory.task_focus(task.id)
        effect = task.effects[0]
        memory.task_outcome(intent=effect.seq, outcome="did_not", note="docker ps shows no container")
        memory.task_update(message="Container runs", step="run", step_status="completed")
        memory.task_update(message="/health answers 200", step="check", step_status="completed")
        memory.task_finish(answer="coursefolio v1.2.3 is live.")
        done = memory.task_list(status="completed").tasks[0]
        print(f"\nIt verifies, goes on, and finishes: {done.done} of {done.total} steps, {done.status}.")
        report = memory.verify()
        print(
            f"verify: {report.events} events folded again, "
            f"{'the same state, nothing lost' if report.ok else report.problems}."
        )
        return 0 if report.ok else 1


if __name__ == "__main__":
    work_until_killed(sys.argv[1])
