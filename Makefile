PYTHON ?= python3
PROTOS_PYTHON ?= $(PYTHON)
ARGS ?=

BIN := .venv/bin
SETUP := .venv/.stamp
FLYTEKIT := .venv-flytekit/.stamp
PROTOS := .venv-protos/.stamp
UI := server/ui/node_modules/.stamp
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

# worksteal: tests of a module run one after the other, so that they share its server, until one of
# the two has nothing left and takes half of what the other still has.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## Print this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{ printf "%-14s %s\n", $$1, $$2 }'

.PHONY: setup
setup: $(SETUP) ## Create .venv and install spanwise with everything for development

.PHONY: flytekit
flytekit: $(FLYTEKIT) ## Create .venv-flytekit, with the stock client for the tests

.PHONY: demo
demo: $(SETUP) ## Explain a sample execution, from a server that is gone afterwards
	$(BIN)/spanwise demo $(ARGS)

.PHONY: serve
serve: $(SETUP) ## Run the event sink until Ctrl-C (ARGS="--grpc-address 127.0.0.1:8090" for another port)
	$(BIN)/spanwise serve $(ARGS)

.PHONY: test
test: $(SETUP) $(FLYTEKIT) ## Run the tests, two at a time (ARGS="-k name" for some of them, "-n 0" one by one)
	$(PYTEST) $(ARGS)

# One after the other: the figures that are printed at the end are of a machine that does nothing else.
.PHONY: test-ui
test-ui: $(SETUP) $(UI) ## Run the tests of the page, as it is built, in Chromium (/usr/bin/chromium; Node 20 or later)
	$(BIN)/python -m pytest tests/ui $(ARGS)

.PHONY: test-envoy
test-envoy: $(SETUP) $(FLYTEKIT) ## Run the tests that start servers again, with Envoy as their front
	TEST_FRONT=envoy $(PYTEST) $(ARGS) \
		$$(grep -lE 'running_server|ServerProcess|Stubs' tests/e2e/test_*.py | grep -vE 'test_(http|wire|workers)')

.PHONY: lint
lint: $(SETUP) ## Check style, layering and protos
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code

.PHONY: types
types: $(SETUP) ## Check types with mypy
	$(BIN)/mypy $(ARGS)

.PHONY: protos
protos: $(PROTOS) ## Generate client/spanwise/v1 from protos/ (Python up to 3.12)
	scripts/gen_protos.sh .venv-protos/bin/python

.PHONY: protos-check
protos-check: $(PROTOS) ## Fail unless client/spanwise/v1 is what protos/ generates (Python up to 3.12)
	scripts/gen_protos.sh .venv-protos/bin/python --check

.PHONY: docs
docs: $(SETUP) ## Generate docs/cli.md, settings.md and reasons.md, and the picture of the README
	scripts/gen_cli_docs.sh $(BIN)/python
	$(BIN)/python scripts/gen_settings.py
	$(BIN)/python scripts/gen_reasons.py
	$(BIN)/python scripts/gen_picture.py

.PHONY: screenshots
screenshots: $(SETUP) ## Take the pictures of the page again (ARGS=PATH for another Chromium than /usr/bin/chromium)
	$(BIN)/python scripts/gen_screenshots.py $(ARGS)

.PHONY: ui
ui: $(UI) ## Build the page into server/spanwise_server/web/static (Node 20 or later)
	cd server/ui && npm run --silent build

.PHONY: ui-check
ui-check: $(UI) ## Check the page's types, run its unit tests, and fail unless its bundle is what server/ui builds
	cd server/ui && npm run --silent types && npm run --silent test && npm run --silent build
	git add --intent-to-add server/spanwise_server/web/static
	git diff --exit-code --stat server/spanwise_server/web/static

.PHONY: bench
bench: $(SETUP) ## Print throughput and latency beside their targets (ARGS="reading large" for some; misses do not fail)
	$(BIN)/python -m tests.benchmarks $(ARGS)

COMPILE := $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
	--universal --python-version 3.11 --custom-compile-command "make requirements" $(ARGS)

.PHONY: requirements
requirements: $(SETUP) ## Compile requirements/*.txt again (ARGS=--upgrade for newer versions)
	$(COMPILE) --extra server --extra postgres --extra envoy --extra dev pyproject.toml -o requirements/dev.txt
	$(COMPILE) --extra server --extra postgres pyproject.toml -o requirements/server.txt
	$(COMPILE) requirements/build.in -o requirements/build.txt
	$(COMPILE) requirements/protos.in -o requirements/protos.txt
	$(COMPILE) --overrides requirements/flytekit-overrides.in requirements/flytekit.in -o requirements/flytekit.txt

# The stamps make a second run quick, and a changed pin or entry point install again.

$(SETUP): pyproject.toml requirements/dev.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else \
		"$(PYTHON) is Python %d.%d, and 3.11 to 3.13 is needed: make PYTHON=python3.12 ..." % v)'
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# --no-deps: the file is complete, and leaves out what flytekit-overrides.in names.
# --ignore-requires-python: flytekit admits Python up to 3.12; its RPC client works on 3.13 as well.
$(FLYTEKIT): requirements/flytekit.txt
	$(PYTHON) -m venv .venv-flytekit
	.venv-flytekit/bin/python $(PIP_INSTALL) --no-deps --ignore-requires-python --require-hashes -r $<
	@touch $@

$(UI): server/ui/package.json server/ui/package-lock.json
	cd server/ui && npm ci --no-audit --no-fund --silent
	@touch $@

$(PROTOS): requirements/protos.txt
	@$(PROTOS_PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] > (3, 12))' || \
		{ echo 'The pinned grpcio-tools has no wheel for Python 3.13 or later: make PROTOS_PYTHON=python3.12 ...' >&2; exit 1; }
	$(PROTOS_PYTHON) -m venv .venv-protos
	.venv-protos/bin/python $(PIP_INSTALL) --only-binary :all: --require-hashes -r $<
	@touch $@
