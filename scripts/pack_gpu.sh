#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs what gpu.sh needs on a machine with a GPU but without our packages into .gpu/: pack_gpu.sh [build folder]
# The programs, stripped and compressed, and the shared libraries of theirs that such a machine may lack.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build}
limit_mib=50
programs=(strider strider_tests)

# The C and C++ runtimes are those of the machine: an older one than ours could not run the programs anyway.
libraries() { ldd "${programs[@]/#/$build/}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so'; }

pack() {
  strip -s -o "$2" "$1"
  xz -f -T0 -1 "$2"
}

cmake --build "$build" -j "${JOBS:-$(nproc)}" --target strider_tool strider_tests
rm -rf .gpu
mkdir -p .gpu/lib
for program in "${programs[@]}"; do pack "$build/$program" ".gpu/$program"; done
for library in $(libraries); do pack "$library" ".gpu/lib/${library##*/}"; done

size_kib=$(du -sk .gpu | cut -f1)
echo "pack_gpu: .gpu has $((size_kib / 1024)) MiB: $(cd .gpu && find . -type f -printf '%P ')"
if [ "$size_kib" -gt $((limit_mib * 1024)) ]; then
  echo "pack_gpu: more than $limit_mib MiB" >&2
  exit 1
fi
