#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the main job with its checks, then the examples, one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== strider demo"
build/strider demo
echo "== strider show add --operands 'f32(1,128)' 'f32(64,128)' --stage plan"
build/strider show add --operands 'f32(1,128)' 'f32(64,128)' --stage plan
for program in build/examples/*; do
  if [ -f "$program" ] && [ -x "$program" ]; then
    echo "== ${program##*/}"
    "$program"
  fi
done
