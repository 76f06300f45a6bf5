# iotide: `make demo` and `make test` set up what they need; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PARTS := events results scheduling archive collectors analyzers daemon clients cli api
TRACER := $(wildcard collectors/preload/*.h collectors/preload/*/*.[ch] collectors/preload/signatures/*.sig collectors/wrappers/*.py)
# The compiled helpers and the headers that they share.
HELPERS := $(wildcard analyzers/common/native/*.[ch] archive/native/*.[ch] events/compiled.py collectors/native/*.h collectors/sources/preload/records/native/*.[ch] collectors/sources/strace/native/*.[ch] collectors/sources/kernel_traces/lexing/native/*.[ch])
SIGNATURES := $(filter-out posix stdio,$(basename $(notdir $(wildcard collectors/preload/signatures/*.sig))))

.PHONY: help demo demo-cluster test check fuzz test-pm4py lint bench site dist system-deps clean
.DEFAULT_GOAL := help

help: ## print this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 16

$(STAMP): pyproject.toml setup.py $(TRACER) $(HELPERS)
	$(PYTHON) -m venv $(VENV)
	@touch $(VENV)/.begun
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[plot,cluster,dev]'
	@# With PYTHONDONTWRITEBYTECODE each command would compile its imports again, for a quarter second.
	$(BIN)/python -m compileall -q $(PARTS)
	@for name in preload $(SIGNATURES) layers; do \
	  test collectors/preload/libiotide_$$name.so -nt $(VENV)/.begun || \
	  { echo "libiotide_$$name.so did not build: is a C compiler installed? $(BIN)/python -m iotide.collectors.wrappers $$name prints the errors" >&2; exit 1; }; done
	@touch $@

demo: $(STAMP) ## trace a real program live, predict its next I/O phase, leave a report
	$(BIN)/python -m iotide.cli.demo

demo-cluster: $(STAMP) ## Slurm, aggregator, Prometheus, Alertmanager and three jobs that collide, on this machine (root, under 3 minutes)
	$(BIN)/python -m iotide.cli.cluster_demo

# A test with real processes may fail because the machine stalls. Up to six failed tests are run again, and their
# failures are printed: each is a defect of the test or of the product. `make test RERUNS=` runs no test again.
RERUNS ?= --reruns 2 --max-suite-reruns 6 --rerun-show-tracebacks

# Two workers per core, because tests mostly wait for processes. Files run in the order of their names, so that the long
# tests of tests/integration are not the last ones.
WORKERS ?= $(shell echo $$(($$(nproc) < 4 ? 2 * $$(nproc) : 8)))

test: $(STAMP) ## all tests, unit to end-to-end, on all cores
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(RERUNS)

check: $(STAMP) ## the quick unit tests, under a minute on two cores
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8 -m 'not slow' --hypothesis-profile=quick tests/unit

# Each target runs in separate processes. SANITIZED=1 builds the compiled helpers with sanitizers.
TIME ?= 600
fuzz: $(STAMP) ## fuzz all external inputs for TIME seconds; build/fuzz has the inputs that cause failures
	PYTHONPATH=tests nice $(BIN)/python -m fuzz --time $(TIME) $(if $(SANITIZED),--sanitized)

# pm4py has the AGPL license, so it is no dependency: it has its own environment, and tests run it as a process.
build/pm4py/bin/python:
	$(PYTHON) -m venv build/pm4py
	$@ -m pip install --quiet pm4py

test-pm4py: $(STAMP) build/pm4py/bin/python ## compare graphs with pm4py: 2,000 random logs, and event logs converted in both directions
	PM4PY_PYTHON=$(CURDIR)/build/pm4py/bin/python $(BIN)/python -m pytest tests/integration/commands/test_dfg_pm4py.py

lint: $(STAMP) build/typing/iotide ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# mypy derives module names from the folder's name, so it checks a tree of links in a folder that is called iotide.
build/typing/iotide: Makefile
	@mkdir -p $@
	@for part in __init__.py py.typed $(PARTS); do ln -sfn ../../../$$part $@/$$part; done
	@touch $@

bench: $(STAMP) ## measure all budgets and peers; append to benchmarks/results
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python benchmarks/run.py

site: $(STAMP) ## build the documentation as a website in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo $(CURDIR)/build/site/index.html

dist: ## source archive, wheel and Debian package of the last commit, into dist/
	./deploy/packages/build

system-deps: ## Debian packages with the real programs that the end-to-end tests trace
	./deploy/system-deps

clean: ## remove all built files
	rm -rf build dist *.egg-info $(VENV) collectors/preload/*.so $(wildcard analyzers/common/native/*.so archive/native/*.so collectors/sources/*/native/*.so collectors/sources/*/*/native/*.so)
