#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a sanitizer preset and runs the tests of some folders with it: sanitize.sh asan|tsan [folder...]
set -euo pipefail
cd "$(dirname "$0")/.."

core=(base ir front planner pass lowering backend tensor call)

preset=$1
shift
[ $# -gt 0 ] || set -- "${core[@]}"

cmake --preset "$preset" --log-level=WARNING >/dev/null
cmake --build "build-$preset" -j "${JOBS:-$(nproc)}" --target strider_tests
labels=$(IFS='|'; echo "$*")
ctest --test-dir "build-$preset" -j "${JOBS:-$(nproc)}" --output-on-failure --no-tests=error -L "^($labels)\$"
