# SPDX-License-Identifier: Apache-2.0
# What a developer types.  `make` alone lists the targets.
PRESET ?= release
export JOBS ?= $(shell nproc)
SOURCES = git ls-files --cached --others --exclude-standard '*.cpp' '*.h'

.PHONY: help setup build demo test asan tsan bench format install clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-13s %s\n", $$1, $$2 }'

setup: ## install the Debian packages that are missing
	@scripts/setup.sh

build: setup ## build the library, the tool, the tests and the examples in build/
	@cmake --preset $(PRESET) --log-level=WARNING >/dev/null
	cmake --build build -j $(JOBS)

demo: build ## run the main job and the examples
	@scripts/demo.sh

test: build ## run every test, then the core tests under the sanitizers
	@scripts/test.sh

asan: setup ## run the core tests with the address and undefined-behaviour sanitizers
	@scripts/sanitize.sh asan

tsan: setup ## run the tests of the thread pool and the runtime with the thread sanitizer
	@scripts/sanitize.sh tsan base runtime

bench: ## run the benchmarks, then Strider beside libtorch (installs libtorch-dev)
	@scripts/setup.sh libtorch-dev
	@$(MAKE) --no-print-directory build
	build/strider bench
	build/bench/strider-peers

format: ## format the sources in place
	$(SOURCES) | xargs -r clang-format -i

install: build ## install to PREFIX (default /usr/local)
	cmake --install build $(if $(PREFIX),--prefix $(PREFIX))

clean: ## remove all build folders
	rm -rf build build-debug build-asan build-tsan
