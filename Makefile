# All of the project's commands. `make` alone lists them.
#
# The first command makes a virtual environment in .venv and installs into it; after that, only a change of
# pyproject.toml or constraints.txt installs anything. PYTHON=python3.12 chooses the Python it is made with.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
# pip compiles what it installs, but not this folder; where PYTHONDONTWRITEBYTECODE is set, each start would do it again.
COMPILE = $(BIN)/python -m compileall -q ragstone
DEMO_KB := .ragstone-demo
ASK_KB := .ragstone-ask
BENCH_KB := .ragstone-bench
# Repeating it takes a moment and adds what has changed.
DEMO = $(BIN)/ragstone add --kb $(DEMO_KB) examples/alderwren
# The knowledge base of `make ingest`. `make serve` serves it if it exists or is named, and otherwise the demo.
STORE = $(or $(KB),.ragstone)
SERVED = $(or $(KB),$(if $(DOCS)$(wildcard .ragstone),.ragstone,$(DEMO_KB)))
# DOCS reaches the shell through the environment, so that quotes in it do no harm.
FILL = if [ -n "$$DOCS" ]; then $(BIN)/ragstone sync --kb "$(STORE)" -- "$$DOCS"; \
	elif [ "$(SERVED)" = $(DEMO_KB) ]; then $(DEMO); fi
AT = --kb "$(SERVED)" $(if $(PORT),--port $(PORT))
IMAGE ?= ragstone
# Image names have no capitals, but names of repositories may.
PUSHED = $(shell printf %s "$(IMAGE)" | tr A-Z a-z)
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' ragstone/__init__.py)
REVISION = $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
BUILD = docker buildx build -f deploy/Dockerfile --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION)

# Tests spend much time waiting, for processes and time-outs, so two cores can run three workers. Files are distributed
# in the order of their names: in the order of their number of tests, those with few but long ones would start last.
WORKERS = $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$(( n < 2 ? 2 : n > 3 ? 4 : 3 )))

.DEFAULT_GOAL := help
.PHONY: help demo serve ui debug web web-dev ask ingest rebuild test test-python test-web check check-docs bench \
	bench-docs docs docs-site docs-answers images images-run images-push images-check page dist publish clean clean-data

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.installed  ## index the documents of a small company and ask six questions
	@DEMO_KB=$(DEMO_KB) PROGRAM=$(BIN)/ragstone sh examples/demo.sh

serve: $(VENV)/.installed-serve  ## serve the page and the HTTP API: make serve DOCS=folder KB=.ragstone PORT=8000; what KB has stays in it
	@$(FILL)
	@$(BIN)/ragstone serve $(AT)

ui: $(VENV)/.installed-lab  ## try settings in the browser, two at a time; takes the variables of serve
	@$(FILL)
	@$(BIN)/ragstone lab $(AT)

debug: $(VENV)/.installed-serve  ## serve under pdb, which breakpoint() and Ctrl-C enter; takes the variables of serve
	@$(FILL)
	@$(BIN)/python -m pdb -c continue -m ragstone serve $(AT)

web: web/node_modules/.installed  ## rebuild the page from web/; needs Node
	@cd web && npm run build

web-dev: web/node_modules/.installed  ## serve the page while you change it, next to `make serve` in another terminal
	@cd web && npm run dev

# Q reaches the shell through the environment, as DOCS does.
ask: $(VENV)/.installed  ## ask about your own documents: make ask DOCS=folder Q="your question"
	@if [ -z "$$DOCS" ] || [ -z "$$Q" ]; then echo 'write: make ask DOCS=folder Q="your question"' >&2; exit 2; fi
	@$(BIN)/ragstone add --kb $(ASK_KB) -- "$$DOCS"
	@echo
	@$(BIN)/ragstone ask --kb $(ASK_KB) -- "$$Q"

ingest: $(VENV)/.installed  ## make what is stored match a folder: make ingest DOCS=folder KB=.ragstone
	@if [ -z "$$DOCS" ]; then echo 'write: make ingest DOCS=folder KB=.ragstone' >&2; exit 2; fi
	@$(BIN)/ragstone sync --kb "$(STORE)" -- "$$DOCS"

rebuild: $(VENV)/.installed  ## chunk and embed everything again: make rebuild KB=.ragstone SET=chunk.size=800
	@$(BIN)/ragstone rebuild --kb "$(STORE)" $(if $(SET),--set "$(SET)")

# The type check and the tests of the page take one processor each.
test: $(VENV)/.installed-dev  ## all checks, then all tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-web check
	$(RUN_TESTS)

test-python: check
	$(RUN_TESTS)

define RUN_TESTS
	@$(COMPILE)
	@$(BIN)/python tools/test_model.py
	@sh tools/test_browser.sh
	@echo "== tests"
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart 0
endef

test-web:
	@sh tools/test_web.sh

check: $(VENV)/.installed-dev  ## style, types and the rules on imports
	@echo "== style"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "== types"
	@$(BIN)/basedpyright --pythonpath $(BIN)/python
	@echo "== imports"
	@$(BIN)/lint-imports --no-logo

check-docs: $(VENV)/.installed-dev  ## whether the pages that `make docs` writes are current; needs no data
	@$(BIN)/pytest -q tests/test_docs.py -k generated_pages

bench: $(VENV)/.installed-dev  ## measure quality and speed; needs RAGSTONE_TEST_DATA
	@$(BIN)/python -m benchmarks.run --keep $(BENCH_KB)

bench-docs: $(VENV)/.installed-dev  ## the same, and write docs/benchmarks.md
	@$(BIN)/python -m benchmarks.run --keep $(BENCH_KB) --write

docs: $(VENV)/.installed-dev  ## regenerate the pages on settings, commands and routes; takes seconds
	@$(BIN)/python tools/settings_table.py
	@$(BIN)/python tools/command_line_page.py
	@$(BIN)/python tools/openapi_page.py
	@$(BIN)/python tools/moving_page.py

docs-site: $(VENV)/.installed-docs  ## build the documentation as a site with search into build/docs-site; PORT=8080 serves it
	@$(BIN)/python tools/docs_site.py
	@$(BIN)/zensical build --strict --clean --config-file mkdocs.yml
	$(if $(PORT),@$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/docs-site $(PORT))

docs-answers: $(VENV)/.installed-dev  ## regenerate the pages and the picture that show answers; needs RAGSTONE_TEST_DATA
	@$(BIN)/python tools/terminal_picture.py
	@$(BIN)/python tools/answers_page.py
	@$(BIN)/python -m tools.asked_page

images:  ## build the container images, for processors and for GPUs: IMAGE=ragstone
	$(BUILD) --load -t $(IMAGE):$(VERSION) .
	$(BUILD) --load -t $(IMAGE):$(VERSION)-cuda --build-arg VARIANT=cuda .

images-run:  ## run the image for processors: make images-run DOCS=folder PORT=8443
	docker run --rm --init --name ragstone --hostname ragstone -p 127.0.0.1:$(or $(PORT),8443):8000 -e TLS=yes \
		--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
		-v ragstone-data:/data -v "$(abspath $(or $(DOCS),docs)):/data/documents:ro" $(IMAGE):$(VERSION)

images-push:  ## build both and push them, each with its SBOM and provenance
	$(BUILD) --push --sbom=true --provenance=mode=max -t $(PUSHED):$(VERSION) .
	$(BUILD) --push --sbom=true --provenance=mode=max -t $(PUSHED):$(VERSION)-cuda --build-arg VARIANT=cuda .

images-check:  ## run every step of the image in a fresh Debian, without Docker, and start it; needs root, takes minutes
	@python3 tools/check_image.py

# API is the address of the server that the page calls; without one, the page calls where it comes from.
page: web/node_modules/.installed  ## build the page for another server than the API, into build/page: make page API=https://...
	@cd web && VITE_API="$$API" npm run build -- --outDir ../build/page --emptyOutDir

dist: $(VENV)/.installed-release  ## source and wheel into dist/, with a bill of materials (CycloneDX) and hashes
	@sh tools/dist.sh $(BIN)

publish:  ## upload the files of `make dist` to the release TAG of the repository; the release workflow runs it
	gh release create "$(TAG)" --verify-tag --generate-notes dist/*

clean:  ## remove what these commands created: knowledge bases, builds, caches; not .venv and node_modules
	rm -rf $(DEMO_KB) $(ASK_KB) $(BENCH_KB) build dist .hypothesis .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

clean-data:  ## remove one knowledge base with everything in it: make clean-data KB=.ragstone
	@if [ ! -f "$(KB)/CURRENT" ]; then echo 'name a knowledge base: make clean-data KB=.ragstone' >&2; exit 2; fi
	rm -rf -- "$(KB)"

# A stamp is touched only after its command has succeeded, so make repeats an interrupted one.
$(VENV)/.made:
	@sh tools/make_venv.sh $(VENV) $(PYTHON)
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing Ragstone into $(VENV); this is done once"
	@$(PIP) install -c constraints.txt -e .
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@echo "installing the tools of the tests into $(VENV); this is done once"
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@

$(VENV)/.installed-%: $(VENV)/.installed
	@echo "installing the extra $* into $(VENV); this is done once"
	@$(PIP) install -c constraints.txt -e '.[$*]'
	@touch $@

web/node_modules/.installed: web/package.json web/package-lock.json
	@echo "installing what the page is built with into web/node_modules; this is done once"
	@cd web && npm ci --no-audit --no-fund
	@touch $@
