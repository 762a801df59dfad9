#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every test of build/, then the core tests under the sanitizers, and ends with lines of totals. What each test printed is in
# build*/Testing/Temporary/LastTest.log; here is only what failing ones did.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

logs=(build/Testing/Temporary/LastTest.log build-asan/Testing/Temporary/LastTest.log)
rm -f "${logs[@]}"
failed_steps=0

step() {
  echo "== $*"
  "$@" 2>&1 || failed_steps=$((failed_steps + 1))
}

# Adds up the numbers in GoogleTest's closing lines of one kind.
total() {
  cat "${logs[@]}" 2>/dev/null | grep -oE "\[ +$1 +\] [0-9]+ tests?[.,]" | grep -oE '[0-9]+' | awk '{ n += $1 } END { print n + 0 }'
}

step ctest --test-dir build -j "${JOBS:-$(nproc)}" --output-on-failure --no-tests=error
step scripts/sanitize.sh asan

passed=$(total PASSED)
failed=$(total FAILED)
if [ "$failed_steps" != 0 ] && [ "$failed" = 0 ]; then
  failed=$failed_steps
fi
echo "skipped: $(total SKIPPED) (most need an NVIDIA GPU); the sanitizers' run counts its tests again"
echo "$passed passed, $failed failed"
[ "$failed_steps" = 0 ]
