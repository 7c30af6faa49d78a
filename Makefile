# Everything runs from a virtual environment that the first call makes.
# Variables: PYTHON (interpreter for the environment), JOBS (test processes), EXTRAS (extras that
# the first install brings along, such as [dev]: one call of pip is quicker than three).

VENV := .venv
FALLBACK := .venv-fallback
SANITIZE := build/sanitize
BIN := $(VENV)/bin
JOBS ?= 2
EXTRAS ?=

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	if $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$p; break; fi; done)

BUILD_INPUTS := pyproject.toml CMakeLists.txt $(wildcard src/directboost/kernels/cpp/*)
PACKAGE_FILES := $(shell find src/directboost -type f -not -path '*/__pycache__/*' 2>/dev/null)

# One BLAS thread for every test process: more would wait for each other on small matrices.
# Processes that are done take tests over from the others.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest
SHARED := -n $(JOBS) --dist worksteal

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Many tests start processes, which would all compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run environments test test-all test-slow test-browser test-bench test-fallback \
	test-sanitize lint types check format docs \
	bench bench-compare base-is-named reproduce dev clean

run: $(VENV)/.plot ## train a model on the digits data and print what it learnt
	$(BIN)/python examples/quickstart.py

# The text after ## on the line of a target is its help.
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS='|' read -r name text; do printf '%-15s %s\n' "$$name" "$$text"; done

test: $(VENV)/.test ## run the tests, except the slow ones
	$(PYTEST) tests $(SHARED) -m "not slow and not browser"

# The longest parts first, for `make --jobs`.
test-all: test-slow test-fallback test-sanitize docs test-browser ## run everything that test leaves out, and build the docs

# Exit status 5 of pytest means that no test carries the marker.
test-slow: $(VENV)/.test ## run the slow tests
	$(PYTEST) tests $(SHARED) -m "slow and not browser" || [ $$? -eq 5 ]

# The report page in a real browser, which is installed where there is none.
test-browser: $(VENV)/.test ## run the tests of the report page in Chromium
	scripts/install-chromium
	$(PYTEST) tests/export/report -n $(JOBS) --dist loadfile -m browser

# The tests of the peers that `make test` skips, since their packages are large.
test-bench: $(VENV)/.test $(VENV)/.bench ## run the tests of the benchmark with all peers
	$(PYTEST) tests/research/bench -n $(JOBS)

# What runs on the kernels, against an install without a compiler; that the package says so is no
# failure. The rest of the suite is too slow there, or does not touch them.
FALLBACK_TESTS := $(addprefix tests/, kernels contracts/test_oracles.py solvers/test_quadratic_model.py \
	data/test_binning.py data/test_sparse_binning.py problem/test_columns.py test_certificate.py model/test_ensemble.py \
	estimators/test_staged.py estimators/test_bad_input.py)

test-fallback: $(FALLBACK)/.installed $(VENV)/.test ## run the tests without a compiler
	$(PYTEST:$(BIN)%=$(FALLBACK)/bin%) $(FALLBACK_TESTS) $(SHARED) \
		-m "not slow and not browser and not native" \
		-W "ignore:directboost runs on its NumPy kernels"

# The kernel tests against a library built with the sanitizers of GCC; -s lets their report through.
# The NumPy twins have nothing to sanitize.
test-sanitize: $(VENV)/.dev ## run the tests of the kernels under sanitizers
	@if ! command -v g++ >/dev/null; then echo "test-sanitize: skipped, there is no g++"; exit 0; fi; \
	set -e; \
	$(BIN)/cmake -S . -B $(SANITIZE) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		-DCMAKE_CXX_COMPILER=g++ -DDIRECTBOOST_SANITIZE=ON >/dev/null; \
	$(BIN)/cmake --build $(SANITIZE); \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 \
	DIRECTBOOST_KERNEL_LIBRARY=$(CURDIR)/$(SANITIZE)/libdirectboost_kernels.so \
	$(PYTEST) tests/kernels -s -m "not slow" -k "not numpy"

lint: $(VENV)/.dev ## check the style with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## check the types with mypy
	$(BIN)/mypy

check: lint types ## lint and types

format: $(VENV)/.dev ## format the code and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## build the documentation; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs: docs/_build/html/index.html"

# Variable: BENCH, arguments of the command, for example BENCH="digits letter --threads 1".
bench: $(VENV)/.bench ## compare time and quality with other libraries; BENCH="--quick" passes options
	$(BIN)/directboost bench $(BENCH)

# Variable: REPRODUCE, arguments of the command, for example REPRODUCE="rings --quick".
reproduce: $(VENV)/.experiments ## repeat the tables and figures of the paper; REPRODUCE="rings --quick" passes options
	$(BIN)/directboost reproduce $(REPRODUCE)

# Times the working tree against a commit: make bench-compare BASE=main
bench-compare: base-is-named $(VENV)/.dev ## time the working tree against a commit: make bench-compare BASE=main
	$(BIN)/python benchmarks/compare.py $(BASE)

base-is-named:
	@if [ -z "$(BASE)" ]; then echo "error: name a commit: make bench-compare BASE=main" >&2; exit 2; fi

dev: $(VENV)/.dev ## create a virtual environment in .venv with all tools

# What test, test-all, lint and types run in.
environments: $(VENV)/.dev $(FALLBACK)/.installed ## create the environments for test, test-all, lint and types

clean: ## remove environments and build products
	rm -rf $(VENV) $(FALLBACK) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

%/.created:
	@if [ -z "$(PYTHON)" ]; then \
		echo "error: no Python >= 3.11 with venv found; name one: make PYTHON=/path/to/python" >&2; exit 1; fi
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: $(PYTHON) is not Python >= 3.11" >&2; exit 1; }
	$(PYTHON) -m venv $*
	@touch $@

# An editable install: Python files are read from src, the kernels are compiled into the
# environment. Without a compiler the install still succeeds, so where there is one, a missing
# library means that the sources do not compile.
$(VENV)/.installed: $(BUILD_INPUTS) | $(VENV)/.created
	$(BIN)/pip install --quiet --editable ".$(EXTRAS)"
	@if ! find $(VENV)/lib -name 'libdirectboost_kernels.*' | grep -q . \
		&& echo 'int main() {}' | $${CXX:-c++} -x c++ -fsyntax-only - 2>/dev/null; then \
		echo "error: the kernels do not compile; see: cmake -S . -B build && cmake --build build" >&2; \
		exit 1; fi
	@touch $@

# The package is installed already, so these add only what the extras ask for.
$(VENV)/.plot: pyproject.toml | $(VENV)/.installed
	$(BIN)/pip install --quiet "directboost[plot]"
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/.installed
	$(BIN)/pip install --quiet "directboost[test]"
	@touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/.installed
	$(BIN)/pip install --quiet "directboost[bench]"
	@touch $@

$(VENV)/.experiments: pyproject.toml | $(VENV)/.installed
	$(BIN)/pip install --quiet "directboost[experiments]"
	@touch $@

# After .test, so that parts that run side by side do not install at the same time.
$(VENV)/.dev: pyproject.toml | $(VENV)/.test
	$(BIN)/pip install --quiet "directboost[dev]"
	@touch $@

# The package alone is installed; other packages are read from the first environment.
$(FALLBACK)/.installed: $(BUILD_INPUTS) $(PACKAGE_FILES) | $(FALLBACK)/.created $(VENV)/.created
	@rm -f $(FALLBACK)/lib/python*/site-packages/shared.pth
	CC=/bin/false CXX=/bin/false $(FALLBACK)/bin/pip install --quiet --no-deps --force-reinstall .
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> "$$($(FALLBACK)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/shared.pth"
	@if find $(FALLBACK)/lib -name 'libdirectboost_kernels.*' | grep .; then \
		echo "error: the install without a compiler holds a compiled library" >&2; exit 1; fi
	@touch $@
