"""The demo: an agent deploys a service, is killed halfway, and another agent carries on from the store."""

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
    {"id": "run", "title": "Pull the image and run the container", "depends_on": ["push", "connect"]},
    {"id": "check", "title": "Check the health endpoint", "depends_on": ["run"]},
]


def fill(memory: TaskMemory) -> str:
    """Write the first half of the story to an empty store; returns the task's id."""
    return _work(memory.acting_as(agent="deployer", session="monday", channel="agent"), lambda _: None)


def work_until_killed(store: str) -> None:
    """Run the first agent: it prints what is stored after each write, then waits to be killed."""
    _work(TaskMemory.open(store, agent="deployer", session="monday", workspace=None), _print_progress)
    sys.stdin.readline()  # the next thing that happens to this process is SIGKILL


def _work(memory: TaskMemory, report: Callable[[str], None]) -> str:
    task = memory.task_register("Deploy coursefolio", PLAN, request=REQUEST).task_id
    report(f"registered task {task} with {len(PLAN)} steps")
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
    report("step 1 done: image built as v1.2.3")
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
    report("docker.io refused the push; chose ghcr.io, because the deploy key works there")
    memory.task_update(task, "Pushed to ghcr.io", step="push", step_status="completed")
    report("step 2 done: pushed to ghcr.io")
    memory.task_update(task, "Connected as deploy", step="connect", step_status="completed")
    report("step 3 done: connected to the server")
    memory.task_update(task, step="run", step_status="active")
    memory.task_intent(
        task, what="docker run coursefolio:v1.2.3 on the server", verify="docker ps | grep coursefolio"
    )
    report("step 4 started: about to run the container …")
    return task


def _print_progress(line: str) -> None:
    print(f"  agent 1 | {line}", flush=True)


def run(keep: str | None) -> int:
    """Run the demo, in the folder `keep` or in a temporary one; returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="ringbolt-demo-") as scratch:
        folder = Path(keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        return _run_story(str(folder / "demo.db"))


def _run_story(store: str) -> int:
    print(f"The store is one file: {store}\n")
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
        print("A new process opens the store and reads what it needs to carry on:\n")
        task = memory.task_get()
        print(memory.task_resume(task.id, budget=600).text, end="")
        memory.task_focus(task.id)
        effect = task.effects[0]
        memory.task_outcome(intent=effect.seq, outcome="did_not", note="docker ps shows no container")
        memory.task_update(message="Container runs", step="run", step_status="completed")
        memory.task_update(message="/health answers 200", step="check", step_status="completed")
        memory.task_finish(answer="coursefolio v1.2.3 is live.")
        done = memory.task_list(status="completed").tasks[0]
        print(f"\nIt verifies, carries on and finishes: {done.done} of {done.total} steps, {done.status}.")
        report = memory.verify()
        print(
            f"verify: replayed {report.events} events, "
            f"{'same state, nothing lost' if report.ok else report.problems}."
        )
        return 0 if report.ok else 1


if __name__ == "__main__":
    work_until_killed(sys.argv[1])
