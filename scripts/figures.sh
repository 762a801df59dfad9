#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures Strider beside libtorch on this machine, which should do nothing else meanwhile, and puts the table and the picture
# into README.md and docs/figures. About eight minutes; figures.sh --quick takes one, for a look.
set -euo pipefail
cd "$(dirname "$0")/.."

table=$(mktemp)
trap 'rm -f "$table" "$table.readme"' EXIT
mkdir -p docs/figures
build/bench/strider-peers "$@" --json docs/figures/cpu.json --plot docs/figures/cpu.svg --markdown "$table"

awk -v table="$table" '
  /<!-- figures end -->/ { inside = 0 }
  !inside { print }
  /<!-- figures begin -->/ { inside = 1; while ((getline line < table) > 0) print line }
' README.md >"$table.readme"
cat "$table.readme" >README.md
echo "figures: README.md, docs/figures/cpu.svg and docs/figures/cpu.json are new"
