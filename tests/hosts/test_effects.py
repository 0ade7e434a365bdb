"""Side effects of tool calls, through the real hook process: announced, settled, unknown after a crash."""

from __future__ import annotations

import subprocess

import pytest

from ringbolt.hosts.answers import tree_status
from ringbolt.packet.operations import read_whole_task
from tests.hosts.hosting import Host, QuickHost

PUSH = {"command": "cd app && git push origin main 2>&1 | tail -3"}
PUSHED = "To github.com:o/r.git\n   1a2b3c4..5d6e7f8  main -> main"


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path)
    host.tell("UserPromptSubmit", prompt="Ship the new invoice service.")
    return host


@pytest.fixture
def quick(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch)
    host.tell("UserPromptSubmit", prompt="Ship the new invoice service.")
    return host


def before(host, tool, given, number=1, **fields):
    host.tell("PreToolUse", tool_name=tool, tool_input=given, tool_use_id=f"toolu_{number}", **fields)


def after(host, tool, given, output, number=1):
    response = {"stdout": output, "stderr": ""} if isinstance(output, str) else output
    host.tell(
        "PostToolUse", tool_name=tool, tool_input=given, tool_response=response, tool_use_id=f"toolu_{number}"
    )


def failed(host, tool, given, error, number=1, **fields):
    call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{number}"}
    host.tell("PostToolUseFailure", **call, error=error, **fields)


def state(host):
    with host.memory() as memory:
        return memory.store.read(lambda tx: read_whole_task(memory, tx, memory.task_get().id))


def test_a_call_whose_hook_process_is_the_last_thing_that_ran_is_unknown_with_its_check(host):
    before(host, "Bash", PUSH)
    # The machine died here: no PostToolUse, no Stop, no SessionEnd.
    (effect,) = state(host).effects
    assert (effect.what, effect.kind, effect.status) == ("git push origin main", "push", "intended")
    assert effect.verify == "git ls-remote origin main"
    packet = host.context("SessionStart", source="resume")
    assert "git push origin main" in packet
    assert "git ls-remote origin main" in packet
    (effect,) = state(host).effects
    assert (effect.status, effect.outcome) == ("unknown", "the session ended before a result came")


def test_a_result_settles_the_effect_with_its_identifiers(host):
    before(host, "Bash", PUSH)
    after(host, "Bash", PUSH, PUSHED)
    after(host, "Bash", PUSH, PUSHED)  # two settings files of the host name us
    task = state(host)
    assert task.effects == ()
    (effect,) = task.settled
    assert (effect.status, effect.outcome) == ("did", "main 1a2b3c4..5d6e7f8")


def test_a_compaction_in_the_middle_of_a_call_leaves_it_open(host):
    before(host, "Bash", {"command": "terraform apply -auto-approve"})
    host.tell("PreCompact", trigger="auto", custom_instructions="")
    assert "terraform apply" in host.context("SessionStart", source="compact")
    after(host, "Bash", {"command": "terraform apply -auto-approve"},
          "Apply complete! Resources: 2 added, 0 changed, 0 destroyed.")  # fmt: skip
    task = state(host)
    assert task.effects == ()
    assert task.settled[0].outcome == "Apply complete! Resources: 2 added, 0 changed, 0 destroyed"


def test_a_call_that_only_reads_is_not_even_journaled(host):
    waiting = host.left()
    for command in ("ls -la", "pytest -q", "git status", "sed -n 1,20p README.md", "go test ./..."):
        before(host, "Bash", {"command": command})
    before(host, "Read", {"file_path": "/srv/deploy.sh"})
    before(host, "mcp__linear__list_issues", {})
    assert host.left() == waiting
    before(host, "Bash", {"command": "kubectl get pods"})  # only the drainer can tell
    assert state(host).effects == ()


@pytest.mark.parametrize(
    ("command", "error", "status"),
    [
        (
            "git push",
            "Exit code 1\n ! [rejected]  main -> main (fetch first)\nerror: failed to push",
            "did_not",
        ),
        ("npm publish", "Exit code 1\nnpm error code E403\nnpm error 403 Forbidden", "did_not"),
        ("npm publish", "Command timed out after 2m 0s", "unknown"),
        (
            "curl -X POST https://pay.example.com/charges -d a=1",
            "curl: (7) Failed: Connection refused",
            "did_not",
        ),
        (
            "curl -X POST https://pay.example.com/charges -d a=1",
            "curl: (56) Connection reset by peer",
            "unknown",
        ),
        ("alembic upgrade head", "Running upgrade a -> b\nsqlalchemy.exc.ProgrammingError: bad", "unknown"),
        ("./deploy.sh prod", "Exit code 127\n./deploy.sh: No such file or directory", "did_not"),
        ("./deploy.sh prod", "Exit code 3\nsomething went wrong on node 2", "unknown"),
        ("make test && git push", "Exit code 2\nmake: *** [test] Error 1", "did_not"),
        (
            "git push",
            "The user doesn't want to proceed with this tool use. The tool use was rejected",
            "did_not",
        ),
    ],
)
def test_a_failed_call_did_nothing_only_if_its_error_shows_that(quick, command, error, status):
    before(quick, "Bash", {"command": command})
    failed(quick, "Bash", {"command": command}, error)
    task = state(quick)
    assert [effect.status for effect in (*task.effects, *task.settled)] == [status]


def test_a_call_that_the_user_interrupted_may_have_done_its_work(quick):
    before(quick, "Bash", {"command": "helm upgrade api ./chart -n prod"})
    failed(quick, "Bash", {"command": "helm upgrade api ./chart -n prod"}, "interrupted", is_interrupt=True)
    (effect,) = state(quick).effects
    assert (effect.status, effect.verify) == ("unknown", "helm status api -n prod")


def test_a_command_that_goes_on_in_the_background_is_unknown(quick):
    given = {"command": "./deploy.sh prod", "run_in_background": True}
    before(quick, "Bash", given)
    after(quick, "Bash", given, "Command running in background with ID: b1")
    assert [effect.status for effect in state(quick).effects] == ["unknown"]


def test_a_hidden_failure_is_seen_in_the_output(quick):
    given = {"command": "git push 2>&1 | tail -2"}
    before(quick, "Bash", given)
    after(
        quick,
        "Bash",
        given,
        " ! [rejected]  main -> main (non-fast-forward)\nerror: failed to push some refs",
    )
    assert [effect.status for effect in state(quick).settled] == ["did_not"]


def test_a_second_attempt_that_works_settles_the_first(quick):
    given = {"command": "cargo publish -p core"}
    before(quick, "Bash", given, 1)
    failed(quick, "Bash", given, "error: operation timed out", 1)
    before(quick, "Bash", given, 2)
    after(quick, "Bash", given, "   Published core v0.3.1 at registry `crates-io`", 2)
    task = state(quick)
    assert task.effects == ()
    assert [effect.outcome for effect in task.settled if effect.status == "did"][-1] == "core 0.3.1"


def test_an_attempt_that_failed_is_not_listed_once_the_same_call_has_worked(quick):
    given = {"command": "git push origin main"}
    failed(quick, "Bash", given, " ! [rejected]  main -> main (fetch first)", 1)
    assert [effect.status for effect in state(quick).settled] == ["did_not"]
    after(quick, "Bash", given, PUSHED, 2)
    assert [effect.status for effect in state(quick).settled] == ["did"]


def test_tools_of_mcp_servers(quick):
    given = {"owner": "o", "repo": "r", "title": "Add rounding"}
    before(quick, "mcp__github__create_pull_request", given)
    text = '{"number": 17, "html_url": "https://github.com/o/r/pull/17"}'
    after(quick, "mcp__github__create_pull_request", given, {"content": [{"type": "text", "text": text}]})
    (effect,) = state(quick).settled
    assert effect.kind == "pull_request"
    assert "https://github.com/o/r/pull/17" in effect.outcome


def test_several_effects_of_one_command_line(quick):
    given = {"command": "git push -u origin feat && gh pr create --fill"}
    before(quick, "Bash", given)
    assert [effect.kind for effect in state(quick).effects] == ["push", "pull_request"]
    after(quick, "Bash", given,
          " * [new branch]      feat -> feat\nhttps://github.com/o/r/pull/4")  # fmt: skip
    outcomes = {effect.kind: effect.outcome for effect in state(quick).settled}
    assert outcomes["push"].startswith("new branch feat")
    assert outcomes["pull_request"] == "https://github.com/o/r/pull/4"


def test_a_host_that_gives_calls_no_id(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch, name="gemini-cli")
    host.tell("BeforeAgent", prompt="Ship it.")
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "fly deploy --app shop"}}
    host.tell("BeforeTool", **call)
    assert [effect.verify for effect in state(host).effects] == ["fly status -a shop"]
    host.tell("AfterTool", **call, tool_response={"llmContent": "v12 deployed successfully"})
    task = state(host)
    assert (len(task.effects), [effect.status for effect in task.settled]) == (0, ["did"])


def test_a_call_that_the_host_refuses_did_not_happen(quick):
    before(quick, "Bash", PUSH)
    quick.tell(
        "PermissionDenied", tool_name="Bash", tool_input=PUSH, tool_use_id="toolu_1", reason="too risky"
    )
    (effect,) = state(quick).settled
    assert (effect.status, effect.outcome) == ("did_not", "not allowed: too risky")


REFUSALS = {
    "a plain no": "No, not on Fridays.",
    "what they did": "I declined that call because the release is frozen.",
    "the call forbidden": "Please run the linter. Do not push to origin before I have reviewed it.",
}


@pytest.mark.parametrize("prompt", REFUSALS.values(), ids=REFUSALS)
def test_a_call_without_a_result_that_the_next_prompt_refuses_did_not_happen(quick, prompt):
    before(quick, "Bash", PUSH)
    quick.tell("UserPromptSubmit", prompt=prompt)
    task = state(quick)
    (effect,) = task.settled
    assert (task.effects, effect.status) == ((), "did_not")
    assert effect.outcome.startswith("the user refused it: ")
    assert "In flight, check first" not in quick.context("SessionStart", source="compact")


def test_a_refusal_is_still_understood_after_the_agent_went_on(quick):
    before(quick, "Bash", PUSH)
    quick.bash("git status", "On branch main", 2)
    assert [effect.status for effect in state(quick).effects] == ["intended"]  # calls may run side by side
    quick.tell("Stop", last_assistant_message="I looked at the branch instead.")
    (effect,) = state(quick).effects
    assert (effect.status, effect.outcome) == ("unknown", "the turn ended and no result was reported")
    quick.tell("UserPromptSubmit", prompt="I rejected the push. Squash the commits first.")
    assert [effect.status for effect in state(quick).settled] == ["did_not"]


@pytest.mark.parametrize("prompt", ["No, leave the docs as they are.", "Now write the changelog."])
def test_a_call_without_a_result_stays_unknown_unless_refused(quick, prompt):
    before(quick, "Bash", PUSH)
    quick.tell("Stop", last_assistant_message="Shall I change the docs too?")
    quick.tell("UserPromptSubmit", prompt=prompt)
    quick.tell("UserPromptSubmit", prompt="I rejected the plan of yesterday.")  # about something else
    assert [effect.status for effect in state(quick).effects] == ["unknown"]
    after(quick, "Bash", PUSH, PUSHED)  # late, but it counts
    assert [effect.status for effect in state(quick).settled] == ["did"]


def test_a_call_that_the_user_broke_off_is_not_taken_for_refused(quick):
    before(quick, "Bash", PUSH)
    quick.tell("StopFailure", error="server_error")
    quick.tell("UserPromptSubmit", prompt="No, wait for the review.")
    assert [effect.status for effect in state(quick).effects] == ["unknown"]


@pytest.mark.parametrize(
    "answer",
    ["exec command rejected by user", "[Operation Cancelled] Reason: User denied execution.",
     "The user doesn't want to proceed with this tool use. The tool use was rejected"],
)  # fmt: skip
def test_the_answer_of_a_host_that_the_user_refused_settles_the_effect(quick, answer):
    before(quick, "Bash", PUSH)
    failed(quick, "Bash", PUSH, answer)
    assert [effect.status for effect in state(quick).settled] == ["did_not"]


UNDONE = {
    "helm": [("helm upgrade api ./chart -n prod", "REVISION: 4"),
             ("helm rollback api 3 -n prod", "Rollback was a success!")],
    "kubectl": [("kubectl apply -f k8s/web.yaml", "deployment.apps/web configured"),
                ("kubectl rollout undo deployment/web", "deployment.apps/web rolled back")],
    "a branch": [("git push -u origin feat", " * [new branch]      feat -> feat"),
                 ("git push origin --delete feat", " - [deleted]         feat")],
    "a pull request": [("gh pr create --fill", "https://github.com/o/r/pull/4"),
                       ("gh pr close 4", "✓ Closed pull request o/r#4 (Fix)")],
    "a release": [("gh release create v1.2", "https://github.com/o/r/releases/tag/v1.2"),
                  ("gh release delete v1.2 --yes", "✓ Deleted release v1.2")],
    "a container": [("docker run -d --name web nginx", "a" * 64), ("docker rm -f web", "web")],
    "a migration": [("alembic upgrade head", "Running upgrade a -> b"),
                    ("alembic downgrade -1", "Running downgrade b -> a")],
    "a platform": [("fly deploy --app shop", "v12 deployed"), ("fly apps destroy --app shop", "Destroyed")],
    "terraform": [("cd infra && terraform apply", "Apply complete! Resources: 1 added"),
                  ("cd infra && terraform destroy", "Destroy complete! Resources: 1 destroyed")],
}  # fmt: skip


@pytest.mark.parametrize("calls", UNDONE.values(), ids=UNDONE)
def test_an_effect_that_was_undone_is_no_longer_done(quick, calls):
    for number, (command, output) in enumerate(calls):
        before(quick, "Bash", {"command": command}, number)
        after(quick, "Bash", {"command": command}, output, number)
    (effect,) = state(quick).settled
    assert effect.what.split()[0] == calls[1][0].split("&& ")[-1].split()[0]
    assert "undoes #" in effect.outcome
    with quick.memory() as memory:
        outcomes = [event for event in memory.events() if event.type == "outcome"]
    assert outcomes[-1].data["outcome"] == "undone"
    assert outcomes[-1].text.startswith(f"undone by #{effect.seq}: ")


def test_the_same_effect_done_again_replaces_the_earlier_one(quick):
    calls = [
        ("helm upgrade api ./chart --set tag=1", "REVISION: 4"),
        ("git push origin main", "   1a2b3c4..5d6e7f8  main -> main"),
        ("helm upgrade api ./chart --set tag=2", "REVISION: 5"),
        ("git push", "   5d6e7f8..9a8b7c6  main -> main"),
    ]
    for number, (command, output) in enumerate(calls):
        after(quick, "Bash", {"command": command}, output, number)
    settled = state(quick).settled
    assert [effect.what for effect in settled] == ["helm upgrade api ./chart --set tag=2", "git push"]
    assert all("replaces #" in effect.outcome for effect in settled)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("helm upgrade api ./chart -n prod", ""), ("helm rollback api 3 -n test", "")),
        (("cd a && terraform apply", ""), ("cd b && terraform destroy", "")),
        (("git push origin main", ""), ("git push origin --delete feat", "")),
        (("cd a && git push origin main", ""), ("cd b && git push origin main", "")),
        (("kubectl scale deploy/web --replicas 3", ""), ("kubectl set image deploy/web web=r.io/web:2", "")),
        (("gh pr create --fill", "https://github.com/o/r/pull/4"), ("gh pr close 5", "")),
        (("cdk deploy Api", ""), ("cdk deploy Web", "")),
        (("make deploy ENV=test", ""), ("make rollback ENV=prod", "")),
        (("npm publish", "+ ui@1.0.0"), ("npm publish", "+ ui@1.1.0")),
        (("gh pr create --fill", "https://github.com/o/r/pull/4"),
         ("gh pr create --fill", "https://github.com/o/r/pull/5")),
    ],
)  # fmt: skip
def test_effects_on_different_things_stand_side_by_side(quick, first, second):
    for number, (command, output) in enumerate((first, second)):
        after(quick, "Bash", {"command": command}, output, number)
    assert [effect.status for effect in state(quick).settled] == ["did", "did"]


def test_an_undo_that_failed_changes_nothing(quick):
    after(quick, "Bash", {"command": "helm upgrade api ./chart"}, "REVISION: 4", 1)
    failed(quick, "Bash", {"command": "helm rollback api"}, "Error: release: not found", 2)
    assert [effect.status for effect in state(quick).settled] == ["did", "did_not"]


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_the_working_tree_is_looked_at_before_a_compaction(quick, monkeypatch):
    monkeypatch.setattr(tree_status, "SECONDS", 30.0)  # the machine may be busy
    git(quick.work, "init", "-q", "-b", "main")
    (quick.work / "a.py").write_text("1\n")
    git(quick.work, "add", "a.py")
    git(quick.work, "commit", "-q", "-m", "First")
    (quick.work / "a.py").write_text("2\n")
    (quick.work / "b.py").write_text("3\n")
    # A repository must not make the hook run anything.
    (quick.work / "evil").write_text(f"#!/bin/sh\ntouch {quick.folder}/ran\n")
    (quick.work / "evil").chmod(0o755)
    git(quick.work, "config", "core.fsmonitor", str(quick.work / "evil"))
    for _ in range(2):  # the second look sees nothing new
        quick.tell("PreCompact", trigger="auto", custom_instructions="")
    tree = state(quick).work_tree
    assert (tree.branch, set(tree.dirty)) == ("main", {"a.py", "b.py", "evil"})
    assert not (quick.folder / "ran").exists()
    with quick.memory() as memory:
        labels = [event.data["label"] for event in memory.events() if event.type == "snapshot"]
    assert labels.count("git status") == 1


def test_a_check_of_some_tests_verifies_only_the_step_that_it_is_about(quick):
    def todo(*statuses):
        rows = zip(("Round the totals", "Send the mails"), statuses, strict=True)
        items = [{"content": title, "status": status} for title, status in rows]
        quick.tell("PostToolUse", tool_name="TodoWrite", tool_input={"todos": items})

    todo("in_progress", "pending")
    quick.bash("pytest tests/test_totals.py", "3 passed", 1)
    todo("completed", "in_progress")
    quick.bash("pytest tests/test_totals.py", "3 passed", 2)
    todo("completed", "completed")
    with quick.memory() as memory:
        assert [item.evidence for item in memory.task_get().steps] == ["verified", "reported"]
