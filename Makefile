# Two words do everything on a fresh machine: make serve, make test.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DEV := .venv/.installed-dev
SYSTEM := .venv/.installed-system
FIREFOX := .venv/.installed-firefox
BENCH := .venv/.installed-bench
MODEL := .venv/.installed-model
TELEMETRY := .venv/.installed-telemetry
PACKED := src/bowerbird/web/extension
# An idle test process takes tests from a busy one.
PYTEST := --numprocesses auto --dist worksteal
# Tests that failed (status 1) run once more, alone; the first that fails again ends it. Those that
# pass are listed: they depend on how busy the machine is, and that is a defect to correct.
ALONE := --last-failed --last-failed-no-failures none --maxfail 1 -rp
CHECKS := check-format check-lint check-types check-imports check-scripts check-generated

.PHONY: install packages telemetry ocr japanese fonts model serve test test-slow test-all test-citus ready ready-all coverage check $(CHECKS) format generate extension pictures wheel bench soak crash upgrade agent-trial requirements clean

# Only `make fonts`, the tests and what makes ready for them run apt-get. Everything else uses what
# is there.
install: $(STAMP) $(MODEL)
	@sh requirements/system.sh fonts --check

packages: $(STAMP)

fonts:
	@sh requirements/system.sh fonts

$(STAMP): requirements/runtime.txt pyproject.toml packages/bowerbird-mcp/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Bowerbird needs Python 3.11 or newer; $(PYTHON) is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/runtime.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable . --editable packages/bowerbird-mcp
	@touch $@

# What cannot be built now (no network) holds nothing else up, and is tried again the next time.
$(MODEL): $(STAMP) $(wildcard src/bowerbird/model_build/*.py src/bowerbird/model_build/*.txt)
	@if $(BIN)/bowerbird model; then touch $@; fi

model: $(STAMP)
	@$(BIN)/bowerbird model

# The packages for traces, which are optional (docs/monitoring.md).
telemetry: $(TELEMETRY)

$(TELEMETRY): $(STAMP) requirements/telemetry.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/telemetry.txt
	@touch $@

# The packages that read the text in images, which are optional (docs/library.md).
ocr: $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/ocr.txt

# The dictionary of how Japanese words are read, which is optional (docs/search.md).
japanese: $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/japanese.txt

$(DEV): $(STAMP) requirements/dev.txt tests/node/package.json
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/dev.txt
	$(BIN)/python -m tests.support.programs.node
	@touch $@

# The tests need browsers and fonts. It names what is missing, then installs it.
$(SYSTEM): $(DEV) requirements/system.sh
	@sh requirements/system.sh tests
	@touch $@

$(FIREFOX): $(SYSTEM)
	@sh requirements/system.sh all-tests
	@touch $@

$(BENCH): $(DEV) requirements/bench.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/bench.txt
	@touch $@

# The page /connect offers the packed extension.
serve: install
	@$(PYTHON) extension/build.py $(PACKED) > /dev/null
	@$(BIN)/bowerbird serve

# Tests start the service many times: compiled files are kept, whatever the machine prefers.
test test-slow coverage: export PYTHONDONTWRITEBYTECODE =
test: ready
	$(BIN)/pytest $(PYTEST) --statements -m "not slow" || { test $$? = 1 && $(BIN)/pytest $(ALONE) -m "not slow"; }

# Kills, large libraries, Firefox, generated requests and clients, deployment, packages.
test-slow: ready-all
	$(BIN)/pytest $(PYTEST) -m slow || { test $$? = 1 && $(BIN)/pytest $(ALONE) -m slow; }

test-all: test test-slow

# CITUS is a folder with the programs of a PostgreSQL into which Citus was installed.
test-citus: ready
	$(BIN)/python -m tests.support.engines.citus_cluster $(CITUS)

# What the tests need. The gate installs it while it runs the checks.
ready: $(DEV) $(SYSTEM) $(MODEL)

ready-all: ready $(FIREFOX)

# Measuring makes the tests half as long again, so the gate does not: run it before a release.
coverage: ready
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PYTEST) -m "not slow and not unmeasured"
	$(BIN)/coverage combine --quiet
	@$(BIN)/python -m tests.support.programs.coverage_by_package
	@$(BIN)/coverage report --format=total

# With the benchmarks' own requirements: their types are checked too. The parts are independent, so
# `make --jobs=2 --output-sync check` runs them side by side.
check: $(CHECKS)

$(CHECKS): $(BENCH)

check-types:
	$(BIN)/mypy

check-format:
	$(BIN)/ruff format --check .

check-lint:
	$(BIN)/ruff check .

check-imports:
	$(BIN)/lint-imports

check-scripts:
	$(BIN)/python -m tests.support.script_types

check-generated:
	$(BIN)/bowerbird spec --check

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Rewrites what is made from the code: spec/openapi.json, docs/settings.md, docs/errors.md.
generate: $(STAMP)
	$(BIN)/bowerbird spec --write

# The browser extension for both stores, in dist. The folder itself can be loaded as it is.
extension:
	$(PYTHON) extension/build.py dist

# The pictures of the library in README.md, from the demo.
pictures: $(SYSTEM)
	$(BIN)/python -m tests.web.readme_pictures docs/pictures

# Both Python packages, in dist.
wheel: $(DEV)
	$(BIN)/python packages/build.py dist

bench: $(BENCH) $(MODEL)
	$(BIN)/python -m benchmarks

# Hours of load and kills, with results in endurance/results. Not part of make test.
soak: $(DEV)
	$(BIN)/python -m endurance.soak

crash: $(DEV)
	$(BIN)/python -m endurance.kills

upgrade: $(DEV)
	$(BIN)/python -m endurance.upgrade

# Needs AGENT_URL and AGENT_MODEL (endurance/agent_trial/README.md).
agent-trial: $(DEV)
	@$(BIN)/python -m endurance.agent_trial

# Needs uv on the PATH; the result names no index.
requirements: COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
requirements:
	for part in runtime telemetry ocr japanese dev bench; do $(COMPILE) requirements/$$part.in --output-file requirements/$$part.txt; done
	$(COMPILE) requirements/model.in --output-file src/bowerbird/model_build/model.txt

clean:
	rm -rf .venv build dist $(PACKED) .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis
