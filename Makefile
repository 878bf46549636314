# Everything a person or CI does with the project. Needs Python 3.11+ and make; the rest it sets up itself.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Whatever the shell says, what is compiled is kept: every process of the tests would compile it anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test test-all test-pythons check faults attacks soak peers adapters backends backends-full conformance fresh screen format lint types imports bench gateways search jobs failures docs facts lock lock-peers clean

run: $(VENV)/.run           ## set up and open mooring on the bundled demo server
	@$(BIN)/mooring --demo

test: $(VENV)/.dev          ## set up and pass the tests, but for the slowest: five minutes with two cores
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" $(PYTEST)

test-all: $(VENV)/.dev      ## every test
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST)

test-pythons:               ## the tests of `make test` with the newest Python that Debian has; installs it in .cache
	venv=$$($(PYTHON) .ci/newest_python.py) && $(MAKE) test VENV=$$venv

check: lint types imports test-all    ## what CI holds every change to

peers: $(VENV)/.dev         ## our client and schemas against what others made, from npm and PyPI; needs Node.js 20+
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/peers $(PYTEST)

screen: $(VENV)/.dev        ## the chat on a whole screen in tmux, GNU screen and a terminal; installs them with apt-get where it can
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/screens $(PYTEST)

adapters: $(VENV)/.dev      ## each adapter beside its framework: behavior, types, the programs of its page; needs Node.js 20+
	$(BIN)/python -m tests.adapters

backends: $(VENV)/.dev      ## one scenario with the programs of Claude, Copilot and OpenCode; needs Node.js 20+
	$(BIN)/python -m tests.backends.scenario
	$(BIN)/python -m tests.backends.patches --patches 300

backends-full: $(VENV)/.dev  ## all that is tried with each of these programs; some ten minutes
	$(BIN)/python -c "from tests.peers import install; install.install_backends(print)"
	.cache/peers/backends/bin/python -m pytest tests/backends/claude
	.cache/peers/backends/bin/python -m pytest tests/backends/copilot
	.cache/peers/backends/bin/python -m pytest tests/backends/opencode

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

format: $(VENV)/.dev        ## rewrite the code in our style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

fresh:                      ## both commands of the README in a clean copy with an empty home
	.ci/fresh HEAD "$(PYTEST)"

faults: $(VENV)/.dev        ## try every fault of a server and print what becomes of it; needs Node.js 20+
	$(BIN)/python tests/wire/test_fuzz.py 200000
	$(BIN)/python tests/backends/api/test_codec_fuzz.py 200000
	$(BIN)/python -m pytest -q tests/faults
	$(BIN)/python -m tests.faults

attacks: $(VENV)/.dev       ## try every attack and print how often it got through
	$(BIN)/python -m tests.attacks

soak: $(VENV)/.dev          ## long use: nothing grows, nothing is left behind; some minutes
	$(BIN)/python -m tests.soak
	$(BIN)/python -m tests.soak.record
	$(BIN)/python -m tests.backends.patches --patches 10000

conformance: $(VENV)/.dev   ## the official suite against our client and our server; needs npm
	$(BIN)/python tests/conformance/run.py
	$(BIN)/python tests/conformance/served.py

bench: $(VENV)/.dev         ## measure the promises of speed
	$(BIN)/python -m bench

gateways: $(VENV)/.dev      ## mooring serve beside other gateways; fails when ours misses its goal
	$(BIN)/python -m bench.gateways

search: $(VENV)/.dev        ## how often the right tool is found; fails when a goal is missed
	$(BIN)/python -m bench.search --write

jobs: $(VENV)/.dev          ## fifteen jobs with our command line and four others; writes docs/results/comparison.md; needs Node.js 20+
	$(BIN)/python -m bench.jobs

failures: $(VENV)/.dev      ## five clients and servers that fail; writes docs/results/clients.md
	$(BIN)/python -m bench.failures

docs: $(VENV)/.dev          ## write the pages that are made from the code
	$(BIN)/python docs/formats.py
	$(BIN)/python docs/commands.py
	$(BIN)/python docs/schemas.py
	$(BIN)/python docs/settings.py
	$(BIN)/python docs/session.py
	PYTHONPATH=.:tests $(BIN)/python docs/chat_picture.py

facts: $(VENV)/.dev         ## write what is known of models anew, from the installed genai-prices and Pydantic AI
	$(BIN)/python docs/facts.py

lock: $(VENV)/.dev          ## resolve the dependencies anew
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile $(LOCK) --extra build pyproject.toml -o locks/run.lock
	$(BIN)/uv pip compile $(LOCK) --extra dev --extra api --extra images pyproject.toml -o locks/dev.lock
	$(BIN)/uv pip compile $(LOCK) --extra search pyproject.toml -o locks/search.lock

lock-peers: $(VENV)/.dev    ## resolve what others made, for the tests and the benchmark, anew
	$(BIN)/python -m pip install --quiet uv
	for wanted in tests/peers/locks/*.in bench/peers/*.in; do \
	  $(BIN)/uv pip compile $(LOCK) $$wanted -o $${wanted%.in}.lock || exit 1; done
	for wanted in tests/adapters/locks/adapter-*.in; do extra=$${wanted#*/adapter-} && \
	  $(BIN)/uv pip compile $(LOCK) --extra $${extra%.in} pyproject.toml $$wanted -o $${wanted%.in}.lock || exit 1; done
	$(BIN)/uv pip compile $(LOCK) --extra build --extra claude --extra copilot pyproject.toml \
	  tests/backends/locks/backends.in -o tests/backends/locks/backends.lock
	for folder in tests/adapters tests/backends/programs tests/peers tests/peers/issuer tests/peers/clients tests/peers/tools tests/peers/readers tests/conformance bench/peers; do (cd $$folder && rm -f package-lock.json && \
	  npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund) || exit 1; done

LOCK := --quiet --universal --python-version 3.11 --generate-hashes --upgrade --no-header --no-annotate --no-emit-index-url

clean:
	rm -rf $(VENV) .cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "mooring needs Python 3.11 or newer; name one with: make PYTHON=python3.12 run" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python's venv module is missing; on Debian: apt-get install python3-venv" >&2; exit 1; }

# flit_core, the build backend, is in both locks so that nothing is downloaded outside them.
# An environment from before the distribution was called mooring-host has an older copy, which would win.
RENAME := @if [ -n "$$(ls -d $(VENV)/lib/python3*/site-packages/mooring-[0-9]*.dist-info 2>/dev/null)" ]; then \
  $(BIN)/python -m pip uninstall --quiet --yes mooring; fi

$(VENV)/.run: locks/run.lock pyproject.toml | $(BIN)/python
	@echo "setting up (once) ..." >&2
	@$(BIN)/python -m pip install --quiet --require-hashes -r locks/run.lock
	$(RENAME)
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: locks/dev.lock pyproject.toml | $(BIN)/python
	@echo "setting up for development (once) ..." >&2
	@$(BIN)/python -m pip install --quiet --require-hashes -r locks/dev.lock
	$(RENAME)
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run
