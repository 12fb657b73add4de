# All of the project's commands. `make` alone lists them.
#
# The first command makes a virtual environment in .venv and installs into it; after that, only a change of
# pyproject.toml or constraints.txt installs anything. PYTHON=python3.12 chooses the Python it is made with.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
ASK_KB := .ragstone-ask
BENCH_KB := .ragstone-bench

.DEFAULT_GOAL := help
.PHONY: help demo ask test check bench bench-docs docs clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.installed  ## index this project's documentation and ask it four questions
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

# DOCS and Q reach the shell through the environment, so that quotes in a question do no harm.
ask: $(VENV)/.installed  ## ask your own documents: make ask DOCS=folder Q="your question"
	@if [ -z "$$DOCS" ] || [ -z "$$Q" ]; then echo 'write: make ask DOCS=folder Q="your question"' >&2; exit 2; fi
	@$(BIN)/ragstone add --kb $(ASK_KB) -- "$$DOCS"
	@echo
	@$(BIN)/ragstone ask --kb $(ASK_KB) -- "$$Q"

test: check  ## all checks, then all tests
	@$(BIN)/python tools/test_model.py
	@echo "== tests"
	@$(BIN)/pytest

check: $(VENV)/.installed-dev  ## style, types and the rules on imports
	@echo "== style"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "== types"
	@$(BIN)/basedpyright --pythonpath $(BIN)/python
	@echo "== imports"
	@$(BIN)/lint-imports --no-logo

bench: $(VENV)/.installed-dev  ## measure quality and speed; needs RAGSTONE_TEST_DATA
	@$(BIN)/python -m benchmarks.run --keep $(BENCH_KB)

bench-docs: $(VENV)/.installed-dev  ## the same, and write docs/benchmarks.md anew
	@$(BIN)/python -m benchmarks.run --keep $(BENCH_KB) --write

docs: $(VENV)/.installed-dev  ## write the generated pages and pictures of docs/ anew
	@$(BIN)/python tools/settings_table.py
	@$(BIN)/python tools/command_line_page.py
	@$(BIN)/python tools/terminal_picture.py
	@$(BIN)/python tools/answers_page.py

clean:  ## remove the knowledge bases of `make demo`, `make ask` and `make bench`, and the caches of the tools
	rm -rf .ragstone-demo $(ASK_KB) $(BENCH_KB) build dist .hypothesis .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# A stamp is touched only when its command has succeeded, so that an interrupted one is repeated.
$(VENV)/.made:
	@sh tools/make_venv.sh $(VENV) $(PYTHON)
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing Ragstone into $(VENV); this is done once"
	@$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@echo "installing the tools of the tests into $(VENV); this is done once"
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@
