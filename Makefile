# Everything is done in .venv, which `make env` keeps up to date; no other target needs to be called first.

PYTHON ?= python3
# On a machine without a local CPU file of torch this one variable decides what is downloaded, e.g.
#   make env TORCH='torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu'
TORCH ?= torch==2.13.0
SANITIZE ?= address
TESTS ?= bridge torch7 luaps pyps
PYTEST_ARGS ?=
# Test files run side by side, one process per core.
JOBS ?= $(shell nproc)
# Of the seeds, messages and kills that `make test` has.
TIMES ?= 200
BENCH_ARGS ?=
DEMO_ARGS ?=

# Hundreds of processes of the tests import the same files, which are compiled once.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
LOCK := flock build/.lock
BEGAN := build/.began-$(shell echo $$PPID)
PACKAGES := $(wildcard bridge pyps moontide benchmarks examples)
CPP := $(wildcard $(foreach p,pyps/core pyps/core/* pyps/core/*/* pyps/wholememory tests/native tests/native/* benchmarks/network benchmarks/simulate,$p/*.h $p/*.cpp))
LUA := $(wildcard bridge luaps examples)
CYTHON := $(wildcard $(foreach p,bridge pyps,$p/_*.pyx $p/*/_*.pyx))
MODULES := $(subst /,.,$(CYTHON:.pyx=))
COMPILED := $(filter-out %.pyc %.so,$(wildcard $(foreach p,bridge pyps,$p/*.px[di] $p/*.pyx $p/*/*.px[di] $p/*/*.pyx $p/*/*/*.pxi $p/*/*.[ch]* $p/*/*/*.[ch]* $p/*/*/*/*.[ch]*)))

# A sanitizer's library, and the C++ library that it watches, must be loaded before the interpreter's own.
SANITIZER_address := libasan.so
SANITIZER_thread := libtsan.so
SANITIZER_undefined := libubsan.so
SANITIZED := build/sanitize-$(SANITIZE)
library = $(shell $(CC) -print-file-name=$1)

.PHONY: help env demo docs test quick soak gpu lint style types stubs lua bench sanitize wheel clean distclean
.DEFAULT_GOAL := help

help: ## this text
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env: $(VENV)/.built ## make .venv with everything, compiled modules included

# Installing builds everything; after that only what has changed is built, in place. The stamp has the time at which
# the build began, so that a file saved meanwhile is built next time.
define INSTALL
@test -x $(BIN)/pip || .ci/venv $(PYTHON) $(VENV)
$(LOCK) $(BIN)/pip install --quiet $(TORCH)
$(LOCK) $(BIN)/pip install --quiet 'setuptools>=77' 'cython>=3.1' wheel
$(LOCK) $(BIN)/pip install --quiet --no-build-isolation --editable '.[dev]'
endef

$(VENV)/.built: pyproject.toml setup.py $(COMPILED)
	@mkdir -p build && touch $(BEGAN)
	$(if $(filter pyproject.toml setup.py,$?),$(INSTALL),$(LOCK) $(BIN)/python setup.py --quiet build_ext --inplace)
	@mv $(BEGAN) $@

demo: env ## train one model from Lua and from PyTorch at the same time
	$(BIN)/moontide demo $(DEMO_ARGS)

test: lint ## lint, types and the tests; in CI all, else without long ones and with some rows of large grids
	$(BIN)/python -m pytest -n $(JOBS) --no-loadscope-reorder --extent=$(if $(CI),all,usual) $(PYTEST_ARGS)

quick: env ## the tests without the slow ones and most rows of large grids
	$(BIN)/python -m pytest -n $(JOBS) --no-loadscope-reorder --extent=quick $(PYTEST_ARGS)

soak: env ## all tests with TIMES=200 times the seeds, all deliberate defects, the longest runs: for a night
	MOONTIDE_TIMES=$(TIMES) $(BIN)/python -m pytest -n $(JOBS) --no-loadscope-reorder \
	    -o timeout=$$((120 * $(TIMES))) -o faulthandler_timeout=0 $(PYTEST_ARGS)
	$(BIN)/python -m tests.native.defects
	$(BIN)/python -m tests.pyps.long_sums --rounds $$((1000 * $(TIMES)))
	$(BIN)/python -m tests.pyps.hostile --messages $$((10000 * $(TIMES)))
	$(BIN)/python -m tests.pyps.replica_kills $(TIMES)
	$(BIN)/python -m tests.pyps.joins $$(($(TIMES) / 10 + 1)) 1000000
	$(BIN)/python -m tests.pyps.wholememory.kills $$((2 * $(TIMES)))

gpu: env ## the tests of GPUs' memory, of cutorch and of embeddings on the GPUs of this machine (pip install '.[gpu]')
	MOONTIDE_GPU_TESTS=real $(BIN)/python -m pytest $(PYTEST_ARGS) tests/pyps/wholememory/test_device.py
	$(BIN)/python -m pytest $(PYTEST_ARGS) -n $(JOBS) -k gpu tests/torch7 tests/bridge tests/pyps/nn \
		tests/pyps/test_device_tensors.py

lint: env ## format, lint, types, stubs of compiled modules, Lua
	@$(MAKE) --no-print-directory --output-sync --jobs $(JOBS) style types stubs lua

style: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(if $(CYTHON),PATH="$(BIN):$$PATH" cython-lint $(wildcard $(foreach p,bridge pyps,$p/*.pyx $p/*.pxd $p/*/*.px[di] $p/*/*.pyx $p/*/*/*.pxi)))

types: env
	$(BIN)/mypy $(PACKAGES)

# From another directory: stubtest would make mypy's cache useless.
stubs: env
	$(if $(MODULES),cd build && MYPYPATH=.. ../$(BIN)/stubtest --concise --mypy-config-file ../pyproject.toml $(MODULES))

lua: env
	@if command -v luacheck >/dev/null; then \
	    luacheck --quiet $(LUA); \
	elif [ -n "$$CI" ]; then \
	    echo 'luacheck is missing (Debian: apt-get install lua-check)'; exit 1; \
	else \
	    echo 'luacheck is missing, the Lua files were not checked (Debian: apt-get install lua-check)'; \
	fi

docs: env ## the documentation, in build/docs
	$(BIN)/python -m sphinx -q -T -W --keep-going -b html docs build/docs

bench: env ## benchmarks; BENCH_ARGS='pyps --json FILE --quick' narrows them
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# What our tests ask for and get refused must be refused, not end the run; freed memory is kept a while, not for ever.
OPTIONS_address := detect_leaks=0:quarantine_size_mb=16
OPTIONS_undefined := print_stacktrace=1
# The interpreter, LuaJIT, torch and libgomp order what they do by means that were not compiled for it.
OPTIONS_thread := ignore_noninstrumented_modules=1:suppressions=$(CURDIR)/tests/native/thread.supp
LEFT_OUT_thread := and not threads_after_fork
# Reports go to files: pytest would hide what a test prints, and a child's pipe what a child prints.
REPORTS := $(CURDIR)/$(SANITIZED)/reports
REPORTED := ERROR: |runtime error: |WARNING: ThreadSanitizer
SANITIZER_OPTIONS := $(OPTIONS_$(SANITIZE)):allocator_may_return_null=1:log_path=$(REPORTS)/report

sanitize: env ## the quick tests on a build with SANITIZE=address, thread or undefined; TESTS='bridge pyps' narrows them
	MOONTIDE_SANITIZE=$(SANITIZE) $(BIN)/python setup.py --quiet build --build-base $(SANITIZED) --build-lib $(SANITIZED)/lib
	@rm -rf $(REPORTS) && mkdir -p $(REPORTS)
	cd $(SANITIZED) && export PYTHONPATH=$(CURDIR)/$(SANITIZED)/lib PYTHONMALLOC=malloc \
	    $(foreach name,ASAN TSAN UBSAN,$(name)_OPTIONS=$(SANITIZER_OPTIONS)) && \
	    LD_PRELOAD="$(call library,$(SANITIZER_$(SANITIZE))) $(call library,libstdc++.so)" \
	    $(CURDIR)/$(BIN)/pytest -m 'not slow and not long $(LEFT_OUT_$(SANITIZE))' -p no:cacheprovider -o "pythonpath=$(CURDIR)/$(SANITIZED)/lib $(CURDIR)" \
	    $(PYTEST_ARGS) $(addprefix $(CURDIR)/tests/,$(TESTS)); status=$$?; \
	    found=$$(grep -lrE '$(REPORTED)' $(REPORTS)); \
	    test -z "$$found" || { cat $$found; echo "$(SANITIZE): reports in $(REPORTS)"; status=1; }; exit $$status

wheel: ## dist/*.whl for any Linux from glibc 2.28 on, for PYTHON
	.ci/wheel $(PYTHON)

clean: ## remove what was built, keep .venv
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache $(VENV)/.built
	find bridge pyps luaps moontide tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +
	rm -f bridge/*.so bridge/*/*.so pyps/*.so pyps/*/*.so

distclean: clean ## remove .venv too
	rm -rf $(VENV)
