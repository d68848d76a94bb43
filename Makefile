# Every target makes what it needs: a virtual environment in .venv, with nothing taken from outside it.
.PHONY: demo test test-all check docs dist bench paper clean
.DELETE_ON_ERROR:
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE
export PYTHONNOUSERSITE = 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1

VENV := .venv
BIN := $(VENV)/bin
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python
NEW_ENOUGH := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in $(CANDIDATES); do "$$p" -c "$(NEW_ENOUGH)" 2>/dev/null && echo "$$p" && break; done)

# One more than cores: some tests wait, for the end of a pause or of a process.
WORKERS = $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

demo: $(VENV)/installed
	@$(BIN)/paramhs demo --out demo

test: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-all: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "slow or not slow"

paper: $(VENV)/installed
	@$(BIN)/python -m pip install --quiet --editable ".[all]" --editable paper
	@$(BIN)/paramhs-paper all --jobs 2 --out reproduction

check: $(VENV)/installed-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: $(VENV)/installed-docs
	@$(BIN)/zensical build --strict --clean
	@echo "open site/index.html; with its search: $(BIN)/python -m http.server --directory site"

dist: $(VENV)/installed-dev
	@rm -rf dist && $(BIN)/python -m build --outdir dist .

bench: $(VENV)/installed-dev
	@$(BIN)/python -m benchmarks.overhead

clean:
	rm -rf $(VENV)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "paramhs needs Python 3.11 or newer with its venv module (on Debian: python3-venv) on the PATH"; exit 1; }
	@echo "making $(VENV) with $(PYTHON) ..."
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	@echo "installing paramhs into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-docs: pyproject.toml | $(VENV)/installed
	@echo "installing what the documentation needs into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@

$(VENV)/installed-dev: pyproject.toml paper/pyproject.toml | $(VENV)/installed
	@echo "installing what the tests need into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --editable '.[dev]' --editable paper
	@touch $@
