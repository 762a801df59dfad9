#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the main job with its checks, then the examples, one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== strider demo"
build/strider demo
for program in build/examples/*; do
  if [ -f "$program" ] && [ -x "$program" ]; then
    echo "== ${program##*/}"
    "$program"
  fi
done
