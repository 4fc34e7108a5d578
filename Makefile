# Linux and macOS. On Windows: docs/windows.md says what to write instead of each target.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

PLUGIN := resources/photoshop/uxp/plugin

.PHONY: demo dev test setup lint plugin proof lock bench clean

demo: setup  ## one ticket becomes a finished offer icon in a Unity project
	@$(BIN)/fabric demo

dev: setup  ## the Dagster UI on the home
	@$(BIN)/fabric dev

test: setup  ## every test but the long ones
	@$(BIN)/python -m pytest -m "not proof"

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@echo "Setting up $(VENV) from the hashed lock; a minute or two the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

lint: setup  ## linters, import rules, types, Dagster's own checks
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/mypy
	@$(MAKE) --no-print-directory plugin

plugin:  ## the Photoshop plugin: types and linter, where npm is and its packages can be had
	@command -v npm >/dev/null || { echo "plugin: no npm here, skipped"; exit 0; }; \
	test -d $(PLUGIN)/node_modules || (cd $(PLUGIN) && npm ci --silent --no-audit --no-fund) \
	  || { echo "plugin: its packages cannot be had here, skipped"; exit 0; }; \
	cd $(PLUGIN) && npm run -s check && npm run -s lint

proof: setup  ## long: kills at random points, fuzzing
	@$(BIN)/python -m pytest -m proof

lock:  ## write requirements.lock anew from the pins in pyproject.toml (needs uv)
	uv pip compile --quiet pyproject.toml --extra dev --universal --generate-hashes --no-strip-extras \
	  --no-emit-index-url --no-header --no-annotate --output-file requirements.lock

bench: setup  ## the measured comparisons of benchmarks/
	@$(BIN)/fabric bench all

clean:
	rm -rf $(VENV) .fabric *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
