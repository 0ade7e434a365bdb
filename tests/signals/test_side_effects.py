"""Side effects of calls: which calls have one, how to check it, and what their outputs say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringbolt.hosts.hook_parts.calls import may_act_outside
from ringbolt.signals.calls.launchers import invocations
from ringbolt.signals.calls.shell_lines import MOST_LINE, shell_commands
from ringbolt.signals.calls.sql_statements import sql_write
from ringbolt.signals.effects.outcomes import identifiers, outcome
from ringbolt.signals.effects.side_effects import command_effects, may_have_effects, side_effects
from ringbolt.signals.effects.table import TABLE

CASES = json.loads((Path(__file__).parents[2] / "bench/labels/effects.json").read_text())


def check_of(command):
    (effect,) = command_effects(command)
    return effect.check


def test_the_cases_of_the_benchmark_keep_their_verdicts():
    wrong = [
        case
        for case in CASES
        if case["half"] == "tune"
        and sorted(one.kind for one in side_effects(case["tool"], case["input"])) != sorted(case["kinds"])
    ]
    assert wrong == []


def test_the_hook_writes_down_every_call_that_has_an_effect():
    effects = [case for case in CASES if side_effects(case["tool"], case["input"])]
    assert [case for case in effects if not may_act_outside(case["tool"], case["input"])] == []


def test_a_script_that_is_pointed_at_production_counts_unless_its_name_says_that_it_reads():
    for command in (
        "python tools/repair.py --db prod",
        "./fix.rb production",
        "node a.js --host=db.prod.example.com",
    ):
        assert [one.kind for one in command_effects(command)] == ["remote"], command
        assert may_act_outside("Bash", {"command": command})
    for command in (
        "python tools/check_links.py --env prod", "node build.mjs --env production",
        "python report.py --db prod", "NODE_ENV=production node server.js",
        "node seed.js --config config.prod.json", "pytest tests/prod",
    ):  # fmt: skip
        assert command_effects(command) == [], command


def test_a_program_that_no_table_lists_is_judged_by_its_verb():
    for command, kind in (
        ("zarf package deploy app.tar --confirm", "deploy"),
        ("opam publish ring.1.0", "publish"),
        ("telegram-send done", "message"),
        ("mytool -e prod db push", "push"),
    ):
        assert [one.kind for one in command_effects(command)] == [kind], command
    for command in (
        "ls deploy", "rm -rf publish", "mytool deploy list", "mytool help push", "mytool push --help",
        "mytool ./push", "cat trigger", "mytool create x", "pushd deploy", "mytool deploy --dry-run",
    ):  # fmt: skip
        assert command_effects(command) == [], command


def test_code_on_the_command_line_is_read():
    for command, kind in (
        ("node -e \"fetch('https://a.example/x', {method: 'POST'})\"", "http"),
        ("python -c \"import boto3; boto3.client('s3').delete_object(Bucket='b', Key='k')\"", "service"),
        ("rails runner 'User.stale.destroy_all'", "database"),
        ('pwsh -Command "irm -Method Put -Uri https://a.example/x"', "http"),
    ):
        assert [one.kind for one in command_effects(command)] == [kind], command
    for command in (
        "node -e \"fetch('https://a.example/x')\"",
        "python -c \"import boto3; print(boto3.client('s3').list_buckets())\"",
        "rails runner 'puts User.stale.count'",
        'pwsh -Command "irm https://a.example/x"',
        'python -c "a = []; a.push(1); a.insert(0, 2)"',
    ):
        assert command_effects(command) == [], command


# Programs that have an effect only with a word that is a hint by itself (`npm publish`).
HAVE_HINTS = frozenset(
    "npm uv poetry flit hatch pdm maturin cargo gem pod mix dart flutter deno dotnet nginx brew jsr vsce ovsx"
    " nuget mvn gradle np console".split()
)


def test_every_program_of_the_table_has_a_hint():
    assert [name for name in TABLE if name not in HAVE_HINTS and not may_have_effects(f"{name} x")] == []


@pytest.mark.parametrize(
    ("command", "check"),
    [
        ("git push origin HEAD:release/2", "git ls-remote origin release/2"),
        ("git push origin v1.2.0", "git ls-remote origin v1.2.0"),
        ("git push --tags upstream", "git ls-remote --tags upstream"),
        ("gh pr create --head feat/x --fill", "gh pr list --head feat/x"),
        ("gh pr merge 42 -R o/r --squash", "gh pr view 42 -R o/r --json state,comments,url"),
        ("kubectl rollout restart deployment/web -n prod", "kubectl rollout status deployment/web -n prod"),
        ("kubectl apply -f k8s/web.yaml -n prod", "kubectl get -f k8s/web.yaml -n prod"),
        ("helm upgrade --install api ./chart --namespace prod", "helm status api -n prod"),
        ("tofu apply", "tofu plan"),
        ("docker push r.io/app:2", "docker manifest inspect r.io/app:2"),
        ("docker run -d --name web nginx", "docker ps -a --filter name=web"),
        ("aws s3 sync dist s3://site", "aws s3 ls s3://site"),
        ("aws ecs update-service --cluster c --service s",
         "aws ecs describe-services --cluster c --service s"),
        ("curl -X PUT https://api.x.io/users/3?notify=1 -d a=b", "curl -X GET https://api.x.io/users/3"),
        ("psql -d shop -c \"UPDATE users SET a=1 WHERE id = 'x'\"",
         "psql -d shop -c \"SELECT * FROM users WHERE id = 'x' LIMIT 5\""),
        ("sqlite3 app.db 'DROP TABLE old'", 'sqlite3 app.db ".schema old"'),
        ("ssh prod 'sudo systemctl restart api'", "on prod: systemctl status api"),
        ("rsync -az dist/ u@h:/var/www", "ssh u@h ls -la /var/www"),
        ("python manage.py migrate shop", "python manage.py showmigrations shop"),
    ],
)  # fmt: skip
def test_the_check_names_the_object(command, check):
    assert check_of(command) == check


def test_the_same_effect_has_the_same_signature_however_it_is_launched():
    lines = (
        "git push origin main",
        "cd /srv/app && git push origin main 2>&1 | tail -3",
        "FOO=1 timeout 60 git push -q origin main",
        "bash -lc 'git push origin main'",
    )
    assert len({command_effects(line)[0].signature for line in lines}) == 1
    assert command_effects("git push origin dev")[0].signature != command_effects(lines[0])[0].signature


@pytest.mark.parametrize(
    ("kind", "output", "expected"),
    [
        ("push", "   1a2b3c4..5d6e7f8  main -> main", "main 1a2b3c4..5d6e7f8"),
        ("push", " * [new tag]         v1.2.0 -> v1.2.0", "new tag v1.2.0"),
        ("pull_request", "https://github.com/o/r/pull/12\n", "https://github.com/o/r/pull/12"),
        ("publish", "+ @acme/ui@2.0.1", "@acme/ui@2.0.1"),
        ("publish", "View at:\nhttps://pypi.org/project/acme/1.4.0/", "https://pypi.org/project/acme/1.4.0/"),
        ("image", "v3: digest: sha256:0123456789abcdef0123 size: 1", "v3 sha256:0123456789ab"),
        ("deploy", "deployment.apps/web configured\nservice/web unchanged", "deployment.apps/web configured"),
        ("deploy", "Production: https://shop.vercel.app [2s]", "https://shop.vercel.app"),
        ("deploy", "Deployment ID: dpl_8Hs92k", "Deployment ID dpl_8Hs92k"),
        ("migration", "Running upgrade 1a2b -> 3c4d, add totals", "upgrade 1a2b -> 3c4d"),
        ("database", "UPDATE 17", "UPDATE 17"),
        ("http", '{"id": "ord_93", "status": "created"}', "id ord_93"),
        ("container", "a" * 64, "container " + "a" * 12),
    ],
)
def test_identifiers_are_read_from_the_output(kind, output, expected):
    assert any(found.startswith(expected) for found in identifiers(kind, output))


def test_sql_that_rolls_back_or_only_reads_writes_nothing():
    for text in (
        "SELECT 1", "EXPLAIN UPDATE t SET a=1", "EXPLAIN (ANALYZE false) DELETE FROM t",
        "EXPLAIN (COSTS OFF) DELETE FROM t", "EXPLAIN ANALYZE SELECT 1",
        "EXPLAIN VERBOSE INSERT INTO t SELECT 1", "BEGIN; DELETE FROM t; ROLLBACK;",
        "-- DROP TABLE t\nSELECT 2",
        "select 'insert into t'", "CREATE TEMP TABLE t (a int)", "SHOW TABLES", "",
    ):  # fmt: skip
        assert sql_write(text) is None, text
    for text in (
        "with x as (select 1) insert into t select * from x",
        "SELECT 1; TRUNCATE t",
        "call refresh()",
        "EXPLAIN ANALYZE DELETE FROM t",
        "EXPLAIN (BUFFERS, ANALYZE) UPDATE t SET a=1",
    ):
        assert sql_write(text) is not None, text


ENDS = {
    "did_not": [
        ("psql -c 'UPDATE t SET a=1'", "ERROR:  canceling statement due to statement timeout"),
        ("psql -f fix.sql", "BEGIN\nUPDATE 3\nERROR:  division by zero\nROLLBACK"),
        (
            "mysql -e 'DELETE FROM t'",
            "ERROR 1205 (HY000): Lock wait timeout exceeded; try restarting transaction",
        ),
        (
            "psql -c 'INSERT INTO t VALUES (1)'",
            'ERROR:  duplicate key value violates unique constraint "t_pk"',
        ),
        (
            "helm upgrade api ./c",
            "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
        ),
        (
            "helm upgrade --atomic api ./c",
            "Error: release api failed, and has been rolled back due to atomic being set: timed out waiting",
        ),
        (
            "helm upgrade api ./c --timeuot 5m",
            "Error: unknown flag: --timeuot\n  --timeout duration  time to wait",
        ),
        ("kubectl apply -f a.yaml", "Error from server (Forbidden): deployments.apps is forbidden"),
        (
            "kubectl scale deploy/web --replicas 3",
            'Error from server (NotFound): deployments.apps "web" not found',
        ),
        ("gh pr merge 4", "X Pull request #4 is not mergeable: the merge commit cannot be cleanly created."),
        (
            "gh pr create --fill",
            'a pull request for branch "x" into branch "main" already exists:\nhttps://github.com/o/r/pull/4',
        ),
        (
            "git push",
            "remote: error: GH006: Protected branch update failed\n ! [remote rejected] main -> main",
        ),
        ("terraform apply", "Error: Error acquiring the state lock"),
        ("docker push r.io/a:1", "denied: requested access to the resource is denied"),
        ("fly deploy", "Error: failed to get app: You must be logged in"),
        ("curl -f -X POST https://a.io/x -d a=1", "curl: (22) The requested URL returned error: 409"),
        ("alembic upgrade head", "FAILED: Can't locate revision identified by '9f'"),
    ],
    "unknown": [
        ("psql -c 'UPDATE t SET a=1'", "server closed the connection unexpectedly"),
        (
            "psql -c 'UPDATE t SET a=1; DELETE FROM u'",
            "UPDATE 3\nERROR:  canceling statement due to statement timeout",
        ),
        ("mysql -e 'DELETE FROM t'", "ERROR 2013 (HY000): Lost connection to MySQL server during query"),
        ("helm upgrade api ./c", "Error: UPGRADE FAILED: timed out waiting for the condition"),
        (
            "helm upgrade api ./c",
            "Error: an error occurred while rolling back: failed to roll back: timed out",
        ),
        ("kubectl apply -f a.yaml", "error: net/http: TLS handshake timeout"),
        (
            "terraform apply",
            "aws_a.a: Creation complete after 2s\nError: creating b: AccessDenied: denied by policy",
        ),
        ("curl -X POST https://a.io/x -d a=1", "HTTP/1.1 504 Gateway Timeout"),
        ("./deploy.sh prod", "Exit code 137\nKilled"),
        ("./deploy.sh prod", "Exit code 1\nsomething went wrong on node 2"),
    ],
    "did": [
        (
            "git push && gh pr create --fill",
            "   1a2b3c4..5d6e7f8  main -> main\nHTTP 422: No commits between",
        ),
        ("gh pr create --fill && make", "https://github.com/o/r/pull/4\nmake: *** No rule to make target"),
    ],
}


@pytest.mark.parametrize("status", ENDS)
def test_a_failed_call_is_unknown_only_where_its_work_may_be_done(status):
    ends = {call: outcome(command_effects(call[0])[0], call[1], failed=True).status for call in ENDS[status]}
    assert [call for call, ended in ends.items() if ended != status] == []


def test_a_failure_behind_a_pipe_is_judged_like_any_other():
    (effect,) = command_effects("alembic upgrade head 2>&1 | tail -5")
    text = "Running upgrade a -> b\nApplying b... OK\nERROR: relation exists"
    assert outcome(effect, text, failed=False).status == "unknown"
    (effect,) = command_effects("psql -c 'DELETE FROM t' 2>&1 | tail")
    text = "ERROR:  canceling statement due to statement timeout"
    assert outcome(effect, text, failed=False).status == "did_not"


def test_command_lines_are_read_as_a_shell_reads_them():
    line = "cd app && A=1 B='x y' sudo -u web timeout 5 uv run --frozen alembic -c a.ini upgrade head"
    line += " | tee log &"
    found = invocations(line)
    assert [one.words for one in found] == [
        ("cd", "app"),
        ("alembic", "-c", "a.ini", "upgrade", "head"),
        ("tee", "log"),
    ]
    assert found[1].env == (("A", "1"), ("B", "x y"))
    assert (found[1].folder, found[1].piped) == ("app", True)
    heredoc = "psql <<'X'\nSELECT 1;\nX\necho \"$(git push)\" # git push\n"
    assert [one.words[0] for one in shell_commands(heredoc)] == ["psql", "echo", "git"]
    assert shell_commands(heredoc)[0].stdin == "SELECT 1;"


def test_damaged_and_hostile_command_lines_end_quickly():
    for text in ("'", '"$(', "$((", "<<", "<<EOF", "((((" * 5000, "$(" * 5000, "a|" * 20_000, "`" * 9001,
                 "case x", "\\", "${", "git push '" * 4000, "x" * (2 * MOST_LINE)):  # fmt: skip
        command_effects(f"git push {text}")
