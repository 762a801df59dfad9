#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that Strider is built with, those that are missing only: setup.sh [further package...]
set -euo pipefail

packages=(
  g++ cmake ninja-build make git ccache mold clang-format
  llvm-19-dev zlib1g-dev libzstd-dev
  libclc-19
  libfmt-dev libxxhash-dev libcli11-dev nlohmann-json3-dev
  libgtest-dev librapidcheck-dev libmpfr-dev libgmp-dev
  "$@"
)

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else echo "setup: root or sudo is needed to install packages" >&2; exit 1
  fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -qq "$@"
}

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done

if [ ${#missing[@]} = 0 ]; then
  exit 0
fi

echo "setup: installing ${missing[*]}"
install=(install -y --no-install-recommends "${missing[@]}")
apt --simulate "${install[@]}" >/dev/null 2>&1 || apt update
apt "${install[@]}" >/dev/null || { apt update; apt "${install[@]}" >/dev/null; }
echo "setup: done"
