# SPDX-License-Identifier: Apache-2.0
# What a developer types.  `make` alone lists the targets.
PRESET ?= release
export JOBS ?= $(shell nproc)
SOURCES = git ls-files --cached --others --exclude-standard '*.cpp' '*.h'

.PHONY: help setup configure build demo test asan tsan bench figures format install clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-13s %s\n", $$1, $$2 }'

setup: ## install the Debian packages that are missing
	@scripts/setup.sh

configure: setup
	@cmake --preset $(PRESET) --log-level=WARNING >/dev/null

build: configure ## build the library, the tool, the tests and the examples in build/
	cmake --build build -j $(JOBS)

demo: configure ## build and run the main job and the examples
	cmake --build build -j $(JOBS) --target strider_tool examples
	@scripts/demo.sh

test: build ## run every test, then the core tests under the sanitizers
	@scripts/test.sh

asan: setup ## run the core tests with the address and undefined-behaviour sanitizers
	@scripts/sanitize.sh asan

tsan: setup ## run the tests of the thread pool, of tensors and of calls with the thread sanitizer
	@scripts/sanitize.sh tsan base tensor call

bench: ## run the benchmarks, Strider beside libtorch (installs libtorch-dev and gnuplot-nox)
	@scripts/setup.sh libtorch-dev gnuplot-nox
	@$(MAKE) --no-print-directory build
	build/bench/strider-peers --json build/bench.json --plot build/bench.svg

figures: ## measure anew what README.md shows, on a quiet machine
	@scripts/setup.sh libtorch-dev gnuplot-nox
	@$(MAKE) --no-print-directory build
	@scripts/figures.sh

format: ## format the sources in place
	$(SOURCES) | xargs -r clang-format -i

install: build ## install to PREFIX (default /usr/local)
	cmake --install build $(if $(PREFIX),--prefix $(PREFIX))

clean: ## remove all build folders
	rm -rf build build-debug build-asan build-tsan
