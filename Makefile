# The short way to everything. `make quickstart` and `make test` each work as the first command on a bare machine.
#   make             build build/omnigram        make setup       system packages and .venv
#   make quickstart  data to report (5 minutes)  make test        all tests (sanitizers included)
#   make bench       compare with the peers
#   PYTHON=...       your own Python (with torch) instead of .venv
PYTHON_OF_BUILD = $(if $(PYTHON),$(PYTHON),$(CURDIR)/.venv/bin/python)
BUILD ?= build
JOBS  ?= $(shell nproc)
export PYTHONPATH := $(CURDIR)/python

.PHONY: all setup built built-tests data quickstart test test-c test-python test-sanitizers bench clean

all: $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target program

$(BUILD)/build.ninja: CMakeLists.txt core/omnigram.cmake
	@cmake -S . -B $(BUILD) -G Ninja -DOG_PYTHON=$(if $(wildcard $(PYTHON_OF_BUILD)),$(PYTHON_OF_BUILD),) >/dev/null

setup:
	@PYTHON="$(PYTHON)" tools/setup.sh

# After setup the build must look for torch in the new .venv.
built: setup
	@cmake -S . -B $(BUILD) -G Ninja -DOG_PYTHON=$(PYTHON_OF_BUILD) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target program

built-tests: built
	@cmake --build $(BUILD) -j $(JOBS)

data: setup
	@tools/fetch-data.sh || [ $$? = 3 ]   # 3: no package archive can be reached; the synthetic data set serves

quickstart: built data
	@$(PYTHON_OF_BUILD) -m omnigram.quickstart --out runs/quickstart

test: built-tests data test-c test-sanitizers test-python

test-c: built-tests
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

test-python: built-tests
	@$(PYTHON_OF_BUILD) -m pytest tests/python

# The C layers once more under each sanitizer, with the heavy libraries off.
test-sanitizers: setup
	@for preset in dev tsan; do \
	  cmake --preset $$preset >/dev/null && cmake --build --preset $$preset -j $(JOBS) && \
	  ctest --preset $$preset -j $(JOBS) || exit 1; done

bench: built
	@PYTHON="$(PYTHON)" tools/setup.sh bench
	@for name in lookup hash dedupe update overlap train; do $(BUILD)/omnigram bench $$name || exit 1; done

clean:
	@rm -rf $(BUILD) build-dev build-tsan
