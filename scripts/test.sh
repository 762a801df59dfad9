#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every test of build/, then the core tests under the sanitizers, and ends with one line of totals.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed_steps=0

step() {
  echo "== $*"
  "$@" 2>&1 | tee -a "$log" || failed_steps=$((failed_steps + 1))
}

# Adds up the numbers in GoogleTest's closing lines of one kind.
total() { grep -oE "\[ +$1 +\] [0-9]+ tests?[.,]" "$log" | grep -oE '[0-9]+' | awk '{ n += $1 } END { print n + 0 }'; }

step ctest --test-dir build -j "${JOBS:-$(nproc)}" --verbose --no-tests=error
step scripts/sanitize.sh asan

passed=$(total PASSED)
failed=$(total FAILED)
if [ "$failed_steps" != 0 ] && [ "$failed" = 0 ]; then
  failed=$failed_steps
fi
echo "$passed passed, $failed failed"
[ "$failed_steps" = 0 ]
