# Everything one does with this repository. `make` alone lists it.
# Each target does its own set-up; nothing but Python >= 3.11, git and make is needed for `run` and `test`.

PYTHON ?= python3
# More arguments for pytest: `make test ARGS="-k brief -x"`
ARGS ?=
# Which real harnesses `make test-clients` installs, all if none is named; without one its tests are skipped.
CLIENTS ?=
# How long `make fuzz` goes on, in all.
SECONDS ?= 600
# Where its chance begins; anywhere if it is 0.
SEED ?= 0
# What `make release` is to make, as in VERSION=1.2.3; DRY_RUN=1 commits and tags nothing.
VERSION ?=
DRY_RUN ?=

VENV := .venv
BIN := $(VENV)/bin
# Newer than its prerequisites when there is nothing to install.
STAMP := $(VENV)/.installed
FUZZ_STAMP := $(VENV)/.installed-fuzz
RELEASE_STAMP := $(VENV)/.installed-release
POSTGRES_STAMP := $(VENV)/.installed-postgres
DOCS_STAMP := $(VENV)/.installed-docs
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check --no-input

# Where Python is told to keep no compiled files, every worker would compile and rewrite all tests on every run.
export PYTHONDONTWRITEBYTECODE :=

# pyright's wrapper would otherwise ask the network whether there is a newer one.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup run test test-slow test-postgres test-clients test-install test-browser test-release coverage docs \
  plugins pictures chaos fuzz check format bench dist check-dist release clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## Make .venv with the package and its tools (at once when nothing changed)
	@echo "ready: $(BIN)/holdfast"

run: $(STAMP) ## See it work: a recorded session loses its context and gets it back
	@$(BIN)/holdfast demo

# With CI=1 hypothesis searches deeper, and finds the same on every run.
test: $(STAMP) ## Run the tests, on all cores
	@$(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal -m "not slow and not postgres" $(ARGS)

test-slow: $(STAMP) ## Kill daemons, fill disks, and flood: what takes minutes
	@$(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal -m "slow and not postgres" $(ARGS)

test-postgres: $(POSTGRES_STAMP) ## Run what needs a database, on a real PostgreSQL that it starts and stops itself
	@$(BIN)/python tests/postgres/install.py
	@$(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal -m postgres $(ARGS)

test-clients: $(POSTGRES_STAMP) ## Install the real harnesses and keep the same promises with them
	@$(BIN)/python tests/clients/install.py $(CLIENTS)
	@# A hook gives up after a second, as it must, also where the whole machine stood still for that long.
	@tests/clients/run $(ARGS) || { echo "once more what failed:"; tests/clients/run --last-failed $(ARGS); }

test-install: $(STAMP) ## Install with real uv and pipx, update, go back, uninstall, as a newcomer
	@$(BIN)/python tests/install/prepare.py
	@$(BIN)/python tests/clients/install.py claude-code
	@tests/clients/run tests/install --numprocesses 2 --dist worksteal $(ARGS)

test-browser: docs ## Use the dashboard and the documentation site in a real browser
	@$(BIN)/python tests/browser/install.py
	@$(BIN)/python -m pytest --quiet tests/browser $(ARGS)

test-release: $(RELEASE_STAMP) ## Build packages, make releases in scratch repositories, check the workflows
	@$(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal tests/release $(ARGS)

coverage: $(RELEASE_STAMP) ## Report which lines the tests run; nothing depends on the figure
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m coverage run -m pytest --quiet --numprocesses auto --dist worksteal -m "not slow and not postgres" $(ARGS) || \
	  echo "note: some tests failed; the report counts what ran" >&2
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report

plugins: $(STAMP) ## Write the plugins of the harnesses again, from what the package says
	@$(BIN)/holdfast plugin . 2>/dev/null

docs: $(DOCS_STAMP) ## Build the documentation site in build/site, and check its links
	@$(BIN)/python scripts/build_site.py

pictures: $(STAMP) ## Take the pictures of the dashboard and record the terminal that the README shows
	@$(BIN)/python -m scripts.record_terminal
	@$(BIN)/python tests/browser/install.py
	@$(BIN)/python scripts/take_pictures.py

chaos: $(POSTGRES_STAMP) ## Kill the daemon and two machines that share 200 times, and compare
	@HOLDFAST_KILLS=200 $(BIN)/python -m pytest --quiet tests/chaos $(ARGS)

fuzz: $(FUZZ_STAMP) ## Feed every parser and every route of the API with anything, for SECONDS in all
	@$(BIN)/python -m tests.fuzz.parsers --seconds $$(($(SECONDS) / 2)) --seed $(SEED)
	@$(BIN)/python -m tests.fuzz.api --seconds $$(($(SECONDS) / 2)) --seed $(SEED)

check: $(STAMP) ## Check style and types: ruff, mypy, pyright
	@echo "ruff check"    && $(BIN)/ruff check --quiet .
	@echo "ruff format"   && $(BIN)/ruff format --quiet --check .
	@echo "mypy"          && $(BIN)/mypy --no-error-summary
	@echo "mypy, Windows" && $(BIN)/mypy --no-error-summary --platform win32 --no-warn-unreachable \
	  --cache-dir .mypy_cache/win32 src
	@echo "pyright"       && $(BIN)/pyright --level error

format: $(STAMP) ## Rewrite the code as `check` wants it, where that can be done by rule
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

bench: $(POSTGRES_STAMP) ## Measure what Holdfast costs
	@set -e; for bench in benchmarks/[a-z]*.py; do echo "== $$bench"; PYTHONPATH=. $(BIN)/python "$$bench"; done

dist: $(STAMP) ## Build the wheel and the sdist into dist/, and check what they hold
	@$(BIN)/python scripts/distributions.py

check-dist: $(RELEASE_STAMP) ## Check that the package index would take what `make dist` built
	@$(BIN)/python -m twine --no-color check --strict dist/*.whl dist/*.tar.gz

release: $(RELEASE_STAMP) ## Make VERSION=X.Y.Z: check, build, commit and tag; pushes nothing (DRY_RUN=1 only tries)
	@test -n "$(VERSION)" || { \
	  echo "error: which version is to be released is not said" >&2; \
	  echo "hint: make release VERSION=1.2.3" >&2; exit 1; }
	@$(BIN)/python scripts/release.py $(if $(DRY_RUN),--dry-run) -- "$(VERSION)"

clean: ## Remove everything that make and the tools made
	@rm -rf $(VENV) .venv-system .venv-install .cache build dist .coverage .coverage.* .hypothesis .mypy_cache \
	  .pytest_cache .ruff_cache
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): $(BIN)/python pyproject.toml requirements/dev.txt requirements/runtime.txt
	@echo "installing into $(VENV)"
	@$(PIP) install --requirement requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(FUZZ_STAMP): $(STAMP) requirements/fuzz.txt
	@echo "installing what fuzzing needs"
	@$(PIP) install --requirement requirements/fuzz.txt
	@touch $@

$(RELEASE_STAMP): $(STAMP) requirements/release.txt
	@echo "installing what releases need"
	@$(PIP) install --requirement requirements/release.txt
	@touch $@

$(POSTGRES_STAMP): $(STAMP) requirements/postgres.txt
	@echo "installing PostgreSQL"
	@$(PIP) install --requirement requirements/postgres.txt
	@touch $@

$(DOCS_STAMP): $(STAMP) requirements/docs.txt
	@echo "installing what the site is built with"
	@$(PIP) install --requirement requirements/docs.txt
	@touch $@

# Runs when there is no working interpreter there: none yet, or the one it was made with is gone.
$(BIN)/python:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "error: there is no \`$(PYTHON)\`" >&2; \
	  echo "hint: install Python 3.11 or later, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: Holdfast needs Python 3.11 or later; \`$(PYTHON)\` is $$("$(PYTHON)" -V 2>&1)" >&2; \
	  echo "hint: name a later one: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "error: \`$(PYTHON)\` cannot make virtual environments" >&2; \
	  echo "hint: on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "making $(VENV)"
	@"$(PYTHON)" -m venv --clear $(VENV)
