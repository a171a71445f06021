# One purpose each. `make setup` is implied by the others.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: setup run test lint types format check tables docs clean

setup: $(READY)            ## create .venv and install the pinned versions

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[all,dev,docs]"
	@touch $(READY)

run: $(READY)              ## train the paper's model on the embedded Cora
	$(BIN)/bagcn train cora --model bagcn-add --seeds 5 --out runs/cora

test: $(READY)             ## all tests
	$(BIN)/python -m pytest

lint: $(READY)             ## style, without changing anything
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(READY)            ## static types
	$(BIN)/mypy

format: $(READY)           ## rewrite to the house style
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

check: lint types test     ## what has to hold before a commit lands

tables: $(READY)           ## the tables of the README and the docs, from the stored runs
	$(BIN)/python scripts/render_tables.py

docs: $(READY)             ## the documentation site, in site/
	$(BIN)/mkdocs build --strict --quiet

clean:                     ## remove everything that can be made again
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache
