#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests and measures Strider on this machine's GPU with the programs that pack_gpu.sh packed, then PyTorch and Triton beside
# it. Needs python3 with both, and no package of ours. Reports go to $OUT, or here; a summary comes last.
#
#   GPU_DIR=folder scripts/gpu.sh     where the packed programs are, if neither beside the script nor in .gpu/
#   scripts/gpu.sh info tests         these steps only; there are info, demo, tests, bench and peers (which needs bench)
#
# Takes about eight minutes. The exit status is not zero if a test failed or a step broke.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
out=${OUT:-$PWD}
mkdir -p "$out"
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
failed=()
wanted=" ${*:-info demo tests bench peers} "

find_packed() {
  for folder in ${GPU_DIR:+"$GPU_DIR"} "$here" "$root/.gpu"; do
    if [ -f "$folder/strider.xz" ]; then echo "$folder"; return; fi
  done
  echo "gpu: strider.xz is neither beside this script nor in $root/.gpu; scripts/pack_gpu.sh makes it" >&2
  exit 2
}

unpack() {
  python3 - "$1" "$programs" <<'PYTHON'
import lzma, os, pathlib, sys
packed, to = map(pathlib.Path, sys.argv[1:])
for file in [*packed.glob("*.xz"), *packed.glob("lib/*.xz")]:
    target = to / file.relative_to(packed).with_suffix("")
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(lzma.open(file).read())
    target.chmod(0o755)
PYTHON
}

# Runs one of the programs with its libraries, which nothing else should see.
ours() { LD_LIBRARY_PATH="$programs/lib:${LD_LIBRARY_PATH:-}:/usr/local/nvidia/lib64" timeout "$1" "$programs/$2" "${@:3}"; }

# Runs a step, keeps what it prints, and remembers its name if it fails.
step() {
  [[ $wanted == *" $1 "* ]] || return 0
  echo "== $1 (${SECONDS}s)"
  "${@:2}" 2>&1 | tee "$out/$1.txt" | tail -n "${show:-40}" || failed+=("$1")
}

run_tests() {
  STRIDER_FUZZ_SECONDS=${STRIDER_FUZZ_SECONDS:-20} ours 560 strider_tests --gtest_brief=1 --gtest_output="json:$out/tests.json" \
    --gtest_filter='*cuda*:*Cuda*:*CUDA*:*gpu*:*Gpu*:*/device1:Fuzz.RandomProgramsGiveOneAnswer'
}

run_peers() {
  local script
  for script in "$here/peers_gpu.py" "$root/bench/peers_gpu.py"; do
    if [ -f "$script" ]; then
      timeout 120 python3 "$script" "$out/strider_cuda.json" --json "$out/peers_gpu.json"
      return
    fi
  done
  echo "gpu: peers_gpu.py is not here" >&2
  return 1
}

# How many tests ran, were skipped and failed, and the names of those that failed.
count_tests() {
  python3 - "$out/tests.json" <<'PYTHON'
import json, sys
try:
    suites = json.load(open(sys.argv[1]))["testsuites"]
except OSError:
    sys.exit("tests: the program ended early, see tests.txt")
tests = [t for s in suites for t in s["testsuite"]]
failed = [f"{t['classname']}.{t['name']}" for t in tests if "failures" in t]
skipped = [t for t in tests if t["result"] == "SKIPPED"]
print(f"tests: {len(tests) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")
for name in failed[:20]:
    print("  failed:", name)
if not any("cuda" in t["name"].lower() + t["classname"].lower() for t in tests if t["result"] != "SKIPPED"):
    sys.exit("tests: none ran on the GPU")
PYTHON
}

packed=$(find_packed) || exit
unpack "$packed" || exit
step info ours 30 strider info
show=15 step demo ours 60 strider demo
show=25 step tests run_tests
step bench ours 300 strider bench --device cuda --json "$out/strider_cuda.json"
step peers run_peers

echo "== summary (${SECONDS}s)"
[[ $wanted != *" tests "* ]] || count_tests || failed+=(count)
cat "$out/bench.txt" "$out/peers.txt" 2>/dev/null
if [ ${#failed[@]} != 0 ]; then
  echo "gpu: failed: ${failed[*]}"
  exit 1
fi
echo "gpu: all steps passed"
