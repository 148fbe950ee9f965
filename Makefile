# `make explore` and `make test` need git, make, Python >= 3.11 and a package index: they set up all else in .venv.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
BIN := $(VENV)/bin
HOST ?= localhost
PORT ?= 5006
FILE ?=
PYTEST_ARGS ?=
# The tests of a file share servers and graphs, so one process gets all of them.
BY_FILE := --dist loadfile --no-loadscope-reorder
VERSIONS_ARGS ?=

.PHONY: help explore test quick lint format docs build screenshots recording update-constraints try-versions clean

help: ## Say what can be made
	@echo "Targets:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null || sed -n 's/^\([a-z-]*\):.*## /  \1  /p' $(MAKEFILE_LIST)
	@echo "Variables: HOST, PORT and FILE (explore); PYTEST_ARGS (test); VERSIONS_ARGS (try-versions); PYTHON (the interpreter for $(VENV)); CHROMIUM (the browser)"

# Each stamp says that its extra is installed as pyproject.toml and constraints.txt ask today.
$(VENV)/.ready-explorer: pyproject.toml constraints.txt scripts/venv.sh
	@scripts/venv.sh $(VENV) explorer

$(VENV)/.ready-dev: pyproject.toml constraints.txt scripts/venv.sh
	@scripts/venv.sh $(VENV) dev

explore: $(VENV)/.ready-explorer ## Serve the explorer (HOST=localhost PORT=5006 FILE=data.csv)
	@exec $(BIN)/kdegraph explore --no-browser --host "$(HOST)" --port "$(PORT)" $(if $(FILE),"$(FILE)")

# Computations first, on all cores; then two browsers, so that what they wait for does not depend on the computations.
test: $(VENV)/.ready-dev ## Run the whole suite, browser included (PYTEST_ARGS="-k name")
	@scripts/browser.sh $(BIN)/python
	$(BIN)/pytest -n auto $(BY_FILE) -m "not browser" $(PYTEST_ARGS)
	$(BIN)/pytest -n 2 --dist loadgroup -m browser tests/browser $(PYTEST_ARGS)

# A process for each file: the library and the explorer.
quick: $(VENV)/.ready-dev ## Test each layer once, without a browser: half a minute, after changes of kernels 90 s
	$(BIN)/pytest -n 2 --dist loadfile tests/quick $(PYTEST_ARGS)

lint: $(VENV)/.ready-dev ## Check format, style, types and the files that a project has
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/repo-review --show err .

format: $(VENV)/.ready-dev ## Format, and correct what can be corrected
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.ready-dev ## Build the manual into build/manual; whatever it warns of is an error
	$(BIN)/python -m sphinx -q -W --keep-going docs build/manual

build: $(VENV)/.ready-dev ## Build wheel and sdist into dist/
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m build --outdir dist .

screenshots: $(VENV)/.ready-dev ## Take new baselines for the screenshot tests: look at each before committing it
	@scripts/browser.sh $(BIN)/python
	$(BIN)/pytest tests/explorer/test_first_pictures.py --update-screenshots
	$(BIN)/pytest tests/browser -k "screenshot or in_jupyterlab or phone or new_token" --update-screenshots

recording: $(VENV)/.ready-dev ## Record the moving picture of the README
	@scripts/browser.sh $(BIN)/python
	$(BIN)/python -m benchmarks.recording

update-constraints: $(VENV)/.ready-dev ## Write the newest versions of all packages to constraints.txt
	$(BIN)/python scripts/versions.py --write

try-versions: $(VENV)/.ready-dev ## Test the lowest, newest and pinned versions (VERSIONS_ARGS="--sets lowest --pythons 3.11")
	@scripts/browser.sh $(BIN)/python
	$(BIN)/python scripts/versions.py $(VERSIONS_ARGS)

clean: ## Remove the environment and all that was built
	rm -rf $(VENV) dist build test-report .pytest_cache .ruff_cache .mypy_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
