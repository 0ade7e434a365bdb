# `make run` and `make test` are all a fresh machine needs. Run `make` for a list of targets.

PYTHON ?= python3
# uv is used if it is on the PATH; `make UV= ...` does not use it.
UV ?= $(shell command -v uv 2>/dev/null)
# Extra arguments for the tool behind a target: make test ARGS='-k ledger'
ARGS ?=
# One more worker than cores, because many tests wait for a disk, a process or a browser.
TEST_WORKERS ?= $(shell expr $$(nproc) + 1)
# The folder with the recorded sessions and the programs that measure with them.
SHARED ?= ../shared

VENV := .venv
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.run-ready
DEV_READY := $(VENV)/.dev-ready
SETUP_INPUTS := pyproject.toml constraints.txt constraints-run.txt src/ringbolt/_version.py tools/setup.sh

# Always use the bundled pyright, and do not look for a newer one over the network.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
unexport PYRIGHT_PYTHON_FORCE_VERSION PYRIGHT_PYTHON_PYLANCE_VERSION
# Tests start many processes, and each would compile the package if there were no compiled files on disk.
unexport PYTHONDONTWRITEBYTECODE

# A .venv that was moved here, or whose Python no longer exists, is set up again.
ifneq ($(shell test -x $(BIN)/python && cat $(VENV)/.home 2>/dev/null),$(CURDIR))
STALE := stale-venv
endif

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup run demo test test-model test-hosts test-claude check format docs bench adversarial quality reliability clean stale-venv \
  sbom lock dist release-check docs-site \
  test-postgres test-conformance test-platforms test-wine test-adapters test-sinks

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(DEV_READY) ## install Ringbolt and its development tools into .venv

run: $(RUN_READY) ## set up what is missing, then serve your store (ARGS=--demo: with a story in it)
	@exec $(BIN)/ringbolt serve $(ARGS)

demo: $(RUN_READY) ## set up what is missing, then show a task that survives a kill
	@$(BIN)/ringbolt demo $(ARGS)

test: $(DEV_READY) ## set up what is missing (including a browser), then run the tests
	@sh tools/browser.sh >/dev/null
	@sh tools/displays.sh
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist worksteal $(ARGS)

test-postgres: $(DEV_READY) ## run the tests that `make test` runs on SQLite alone on PostgreSQL
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist worksteal -m 'postgres and not reliability and not sinks' $(ARGS)

test-conformance: $(DEV_READY) ## fetch the MCP conformance tool with npm and run it
	@$(BIN)/python tools/conformance.py

test-platforms: $(DEV_READY) ## run the suites of the operating system as on macOS and Windows, simulated
	@$(BIN)/python tools/test_platforms.py $(ARGS)

test-wine: $(DEV_READY) ## run them on a Windows Python under Wine (installs Wine and mingw from Debian)
	@program=$$(PYTHON='$(BIN)/python' sh tools/wine.sh) && \
	  $(BIN)/python tools/test_platforms.py --here --python "$$program" $(ARGS)

test-model: $(DEV_READY) ## fetch a small language model and run the tests that use it
	@UV='$(UV)' sh tools/model.sh
	@$(BIN)/python -m pytest -m model $(ARGS)

test-hosts: $(DEV_READY) ## fetch the hosts' own programs and run the tests that use them
	@UV='$(UV)' sh tools/hosts.sh
	@UV='$(UV)' sh tools/side_venv.sh release
	@$(BIN)/python -m pytest -m hosts --timeout=300 tests/live $(ARGS)

test-adapters: $(DEV_READY) ## fetch the agent frameworks and run the tests of our adapters with them
	@UV='$(UV)' sh tools/adapters.sh
	@.venv/adapters/bin/python -m pytest -m adapters -W default -p no:cacheprovider tests/adapters $(ARGS)

test-sinks: $(DEV_READY) ## run the tests of publishing to Lark and Redis (installs redis-server from Debian)
	@sh tools/redis.sh
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) -m sinks $(ARGS)

test-claude: $(DEV_READY) ## the part of test-hosts for Claude Code
	@UV='$(UV)' sh tools/hosts.sh claude
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) -m hosts --timeout=300 tests/live/test_claude_code*.py $(ARGS)

check: $(DEV_READY) ## lint, formatting, types, and known vulnerabilities where their database can be reached
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/python tools/lock.py --check
	@$(BIN)/python tools/audit.py

sbom: $(DEV_READY) ## write build/sbom.cdx.json: what the product is made of (CycloneDX)
	@$(BIN)/python tools/sbom.py

lock: $(DEV_READY) ## write constraints.txt from what is installed, with hashes from the package index
	@$(BIN)/python tools/lock.py

format: $(DEV_READY) ## apply safe lint fixes and the formatter
	@$(BIN)/ruff check --fix --exit-zero --quiet .
	@$(BIN)/ruff format .

docs: $(DEV_READY) ## regenerate the generated parts of the documentation
	@$(BIN)/python tools/docs.py

docs-site: $(DEV_READY) ## build the documentation as a site in build/site/html, and check its links and its search
	@UV='$(UV)' sh tools/side_venv.sh docs
	@$(BIN)/python tools/site.py --search

dist: $(DEV_READY) ## build wheel, sdist, MCPB bundle and npm package into dist/, and check them
	@UV='$(UV)' sh tools/side_venv.sh release
	@$(BIN)/python tools/release.py build

release-check: dist docs-site ## build everything, then install and use it on every Python of this machine
	@$(BIN)/python tools/release.py check

bench: $(DEV_READY) ## measure speed
	@$(BIN)/python bench/speed.py $(ARGS)
	@test -n "$(ARGS)" || $(BIN)/python bench/mirrors.py
	@test -n "$(ARGS)" || $(BIN)/python bench/mcp_start.py

adversarial: $(DEV_READY) ## feed hostile text to every reader; fails above 50 ms per 100 kB, writes the table of docs/explanation/budgets.md
	@nice -n 10 $(BIN)/python bench/adversarial.py --gate --write $(ARGS)

quality: $(DEV_READY) ## measure recovery, progress and recall on recorded sessions (SHARED=../shared)
	@for program in recovery gsd progress recall; do \
	  echo "== $$program"; \
	  gate=bench/gates/$$program.json; test $$program = recovery && gate=$(SHARED)/bench/gate-dev.json; \
	  $(BIN)/python $(SHARED)/bench/$$program.py --adapter bench/adapter.py --gate $$gate $(ARGS) || failed=1; \
	done; test -z "$$failed"

reliability: $(DEV_READY) ## run the long fault tests and many examples of every property, one at a time
	@$(BIN)/python -m pytest -m 'reliability or hypothesis' --hypothesis-profile=thorough --timeout=1800 $(ARGS)

clean: ## remove .venv, caches and build output
	@rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
	@find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUN_READY): $(SETUP_INPUTS) $(STALE)
	@PYTHON='$(PYTHON)' UV='$(UV)' sh tools/setup.sh run $(SETUP_INPUTS)

$(DEV_READY): $(SETUP_INPUTS) $(STALE)
	@PYTHON='$(PYTHON)' UV='$(UV)' sh tools/setup.sh dev $(SETUP_INPUTS)

stale-venv:
