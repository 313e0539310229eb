# One line for each thing people do here; CI uses the same lines.
# `make demo` and `make test` need Python 3.11 or newer, pip and make, and set up the rest themselves.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test setup format lint types bench docs clean

demo: $(VENV)/.installed  ## Catch an agent that said it issued a refund and never did
	$(BIN)/averment demo

test: $(VENV)/.dev  ## Run the test suite
	$(BIN)/python -m pytest

setup: $(VENV)/.dev  ## Make the development environment

format: $(VENV)/.dev
	$(BIN)/ruff format . && $(BIN)/ruff check --fix-only --quiet .

lint: $(VENV)/.dev
	$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

bench: $(VENV)/.dev  ## Medians and ratios, in one run
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.docs  ## Build the documentation site into site/
	$(BIN)/python docs/build.py && $(BIN)/zensical build --clean --strict

clean:
	rm -rf $(VENV) build dist site docs/reference .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . && touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --requirement requirements-dev.txt && touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --requirement requirements-docs.txt && touch $@
