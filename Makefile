# Everything runs in the project's own virtual environment, .venv, which every target brings along by itself.
# Needed beforehand: git, make and Python 3.11 or newer. To choose the interpreter: make clean setup PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TYPES := src/quotatree/client/types.py

# One more than there are cores: some tests wait for processes, clocks and servers.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1)

# What builds the site has a virtual environment of its own: no user and no test needs it.
DOCS_VENV := .venv-docs
DOCS_READY := $(DOCS_VENV)/.ready

LOCK_TOOL := pip-tools==7.6.2
LOCK_VENV := .venv-lock

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup console check test test-console test-kubernetes test-prometheus scenarios pages pictures dashboard manifests wheel release docs bench bench-local bench-kubernetes bench-server bench-sim demo lock clean

help: ## show this help
	@echo "usage: make TARGET [PYTHON=python3] [ARGS='more arguments for test or bench']"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(READY) $(TYPES) ## make .venv with the pinned tools and this package in it, and the console
	@$(BIN)/python console/build.py --tolerant

console: $(READY) ## build the console if its sources have changed
	@$(BIN)/python console/build.py

check: $(READY) $(TYPES) ## lint, formatting, types and the layering of the packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(wildcard src tests benchmarks exact release requirements)
	$(BIN)/lint-imports --no-logo

test: $(READY) $(TYPES) ## all tests, every scenario among them; QUOTATREE_TESTS=deep takes a longer look
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-kubernetes: $(READY) $(TYPES) ## the stories on a real Kubernetes control plane, built once (needs Go; 5 to 20 minutes)
	$(BIN)/python -m tests.kubernetes.binary
	$(BIN)/pytest -rs -n 2 --dist loadfile tests/kubernetes $(ARGS)

test-prometheus: $(READY) $(TYPES) ## dashboard and alert rules on a real Prometheus, built once (needs Go; 4 to 9 minutes)
	$(BIN)/python -m tests.prometheus.binary
	$(BIN)/pytest -rs tests/prometheus $(ARGS)

test-console: $(READY) $(TYPES) ## the console in a real Chromium, against a real server; pictures of every page go to test-console/
	@$(BIN)/python console/build.py
	@$(BIN)/python console/chromium.py
	$(BIN)/pytest -rs -s tests/console_browser $(ARGS)

scenarios: $(READY) $(TYPES) ## every scenario file, told line by line
	$(BIN)/quotatree check $(wildcard scenarios/*.toml)

pages: $(READY) ## write anew what is generated: fields, API, roles, settings, reasons, the client's types
	for page in fields openapi api client_types roles settings reasons; do $(BIN)/python -m docs.generate_$$page || exit 1; done
	$(BIN)/python console/build.py --types --tolerant
	$(BIN)/python -m console.answers --stale

manifests: $(READY) ## write deploy/manifests anew from the chart (needs Go, as test-kubernetes does)
	$(BIN)/python -m tests.kubernetes.manifests

pictures: $(READY) ## take the pictures of the console anew for the README and the docs; needs a Chromium
	@$(BIN)/python console/build.py
	@$(BIN)/python console/chromium.py
	$(BIN)/python -m docs.take_pictures

dashboard: $(READY) ## draw the picture of the dashboard anew for the docs, from a real Prometheus (needs Go; 4 minutes)
	$(BIN)/python -m docs.draw_dashboard

bench: $(READY) $(TYPES) ## the benchmarks, printed beside their budgets
	$(BIN)/python -m benchmarks $(ARGS)

bench-local: $(READY) $(TYPES) ## what real processes cost: start, eviction, memory, services
	$(BIN)/python -m benchmarks.local $(ARGS)

bench-sim: $(READY) $(TYPES) ## replay real traces and write docs/explanation/results.md
	$(BIN)/python -m benchmarks.sim --write $(ARGS)

bench-server: $(READY) $(TYPES) ## 15,000 jobs through the whole server in real time, and growth
	$(BIN)/python -m benchmarks.server $(ARGS)

bench-kubernetes: $(READY) $(TYPES) ## preemption on 1,000 played nodes, beside kube-scheduler's own (needs Go)
	$(BIN)/python -m tests.kubernetes.binary
	$(BIN)/python -m benchmarks.kubernetes $(ARGS)

wheel: $(READY) $(TYPES) ## wheel and sdist of the newest commit, into dist/
	@$(BIN)/python -m release wheel

release: $(READY) $(TYPES) ## wheel, sdist, image, compose file, unit and chart, into dist/, each checked (5 to 15 minutes)
	@$(BIN)/python console/build.py
	@$(BIN)/python -m release
	$(BIN)/pytest -rs tests/release tests/store/test_upgrade.py tests/cli/run/test_serve_upgrade.py tests/control/test_stored_databases.py $(ARGS)

docs: $(DOCS_READY) ## the documentation as a site, into build/site; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict --quiet --config-file website/mkdocs.yml
	@echo "the site is in build/site; to look at it: $(DOCS_VENV)/bin/python -m http.server --bind 127.0.0.1 --directory build/site"

demo: $(READY) $(TYPES) ## the 128-GPU example with real processes, in a minute
	@$(BIN)/python console/build.py --tolerant
	@$(BIN)/quotatree demo

lock: ## pin all dependencies anew, with hashes, in requirements/*.txt
	$(need-python)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	    echo "Lock with the oldest Python we support, or the pins may not install there: make lock PYTHON=python3.11" >&2; \
	    exit 1; }
	$(PYTHON) -m venv --clear $(LOCK_VENV)
	$(LOCK_VENV)/bin/pip install --quiet "$(LOCK_TOOL)"
	$(pin) --extra dev --output-file requirements/dev.txt pyproject.toml requirements/build.in
	for tool in uv docs release; do $(pin) --output-file requirements/$$tool.txt requirements/$$tool.in || exit 1; done
	rm -rf $(LOCK_VENV)

clean: ## remove .venv, caches and build results
	rm -rf $(VENV) $(LOCK_VENV) $(DOCS_VENV) build dist console/node_modules src/quotatree/console_files $(TYPES) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find $(wildcard src tests benchmarks exact release) -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is remade only when what it was made from has changed. A virtual environment without a working pip
# is what an interrupted first attempt leaves behind: begin again.
$(READY): pyproject.toml requirements/dev.txt requirements/uv.txt requirements/install.py
	$(need-python)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python requirements/install.py
	@touch $@

# Git does not keep it. An editable install has written it; this follows a description that has changed since.
$(TYPES): docs/reference/openapi.json docs/generate_client_types.py | $(READY)
	$(BIN)/python docs/generate_client_types.py

$(DOCS_READY): requirements/docs.txt
	$(need-python)
	$(PYTHON) -m venv --clear $(DOCS_VENV)
	$(DOCS_VENV)/bin/pip install --quiet --require-hashes -r requirements/docs.txt
	@touch $@

define pin
env -u PIP_FIND_LINKS CUSTOM_COMPILE_COMMAND="make lock" $(LOCK_VENV)/bin/pip-compile --quiet --upgrade \
    --generate-hashes --strip-extras --allow-unsafe --no-emit-options --no-emit-index-url \
    --no-emit-trusted-host --no-emit-find-links
endef

define need-python
@command -v $(PYTHON) >/dev/null || { \
    echo "'$(PYTHON)' was not found. Install Python 3.11 or newer, or name one: make setup PYTHON=python3.12" >&2; \
    exit 1; }
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
    echo "QuotaTree needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) -V 2>&1)." >&2; \
    echo "Name another one: make setup PYTHON=python3.12" >&2; \
    exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
    echo "'$(PYTHON)' cannot make virtual environments: its module venv or ensurepip is missing." >&2; \
    echo "On Debian and Ubuntu: apt install python3-venv" >&2; \
    exit 1; }
endef
