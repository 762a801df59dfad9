#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the examples, one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."

for program in build/examples/*; do
  if [ -f "$program" ] && [ -x "$program" ]; then
    echo "== ${program##*/}"
    "$program"
  fi
done
