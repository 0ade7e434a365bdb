"""What a command line tests, builds or starts, which targets it runs, and what its output says."""

from __future__ import annotations

from ringbolt.signals.calls.run_kinds import could_not_run, covers_check, is_check, passed, runs
from ringbolt.signals.calls.runners import runner_targets


def kinds(command):
    return [run.kind for run in runs(command)]


def test_the_kind_of_work_is_known_however_it_is_started():
    for kind, commands in {
        "test": ("uv run pytest -q", "python3.12 -m unittest discover", "npx vitest run",
                 "yarn workspace web test",
                 "cargo nextest run", "make -C services/api test", "docker compose exec web ./manage.py test",
                 "docker compose run --rm app poetry run pytest",
                 "nix develop -c cargo test", "vagrant ssh -c 'make test'",
                 "just unit", "pnpm --filter @shop/web run test:unit"),
        "lint": ("ruff check --fix .", "golangci-lint run ./...", "npm run lint:css"),
        "build": ("cmake --build out", "npm run build -- --watch", "bun --filter @shop/core build"),
        "typecheck": ("npx tsc --noEmit", "poetry run mypy src"),
        "migrate": ("python manage.py migrate", "alembic upgrade head"),
        "install": ("pip3 install -r requirements.txt", "npm ci"),
        "run": ("flask run --port 5001", "pnpm dev"),
    }.items():  # fmt: skip
        for command in commands:
            assert kinds(command) == [kind], command
    for command in ("cat Makefile", "grep -rn pytest .", "git commit -m 'make test'", "pytest --version",
                    "echo npm run build", "bun ./tools/test.ts", "bun -e 'test()'"):  # fmt: skip
        assert kinds(command) == [], command


def test_a_runner_names_its_targets():
    for command, targets in (
        ("make -j 8 clean all ENV=prod", ["clean", "all"]),
        ("npm --prefix web run deploy:prod -- --yes", ["deploy:prod"]),
        ("npm install left-pad", []),
        ("yarn workspace web run build", ["build"]),
        ("yarn workspace web build", ["build"]),
        ("pnpm deploy out", []),  # a command of pnpm
        ("pnpm -F web release", ["release"]),
        ("turbo run lint --filter=web", ["lint"]),
        ("gradle -p app publish", ["publish"]),
    ):
        program, *words = command.split()
        assert runner_targets(program, words) == targets, command


def test_a_receipt_needs_the_exit_code_of_the_check_itself():
    for command in (
        "cd api && uv run pytest -q",
        "biome ci",
        "shellcheck bin/*.sh",
        "npm run build && npm test",
    ):
        assert is_check(command), command
    for command in ("pytest | tee log", "npm test || exit 0", "make check; date", "cargo test &",
                    "./test.sh all",
                    "pytest -k 'not slow", "git push && echo pytest"):  # fmt: skip
        assert not is_check(command), command


def test_the_output_tells_where_the_exit_code_does_not():
    (run,) = runs("pytest -q | tail -5")
    assert passed(run, "3 passed in 0.1s", failed=False) is True
    assert passed(run, "1 failed, 2 passed", failed=False) is False
    (own,) = runs("pytest -q")
    assert passed(own, "ERROR in a log line", failed=False) is True
    assert could_not_run("zsh: command not found: pytest")
    assert not could_not_run("E   assert 1 == 2\n1 failed")


def test_a_narrow_check_does_not_speak_for_all():
    assert covers_check("pytest -q", "pytest tests/test_a.py::test_b")
    assert not covers_check("pytest tests/test_a.py::test_b", "pytest -q")
    assert not covers_check("ruff check .", "pytest -q")
