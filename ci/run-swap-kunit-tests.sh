#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One job in the form of linux-mm's CI scripts: a kernel tree in, a tick or a cross out.
#
#   LINUX_DIR=~/linux ci/run-swap-kunit-tests.sh
#
# LINUX_DIR defaults to the tree that contains this script in .github/scripts, SWAP_KUNIT to
# the program beside the script's directory or in PATH. CONFIG, FILTER and O are as for make.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
linux_dir=${LINUX_DIR:-$here/../..}
swap_kunit=${SWAP_KUNIT:-$here/../swap-kunit}
[ -x "$swap_kunit" ] || swap_kunit=swap-kunit

log=$(mktemp)
trap 'rm -f "$log"' EXIT

fail() {
	cat "$log"
	echo "✗ $1"
	exit "${2:-1}"
}

options=(--quiet --ksrc "$linux_dir")
[ -z "${CONFIG:-}" ] || options+=(--config "$CONFIG")
[ -z "${FILTER:-}" ] || options+=(--filter "$FILTER")
[ -z "${O:-}" ] || options+=(--out "$O")

echo "Running swap KUnit tests"
status=0
"$swap_kunit" run "${options[@]}" > "$log" 2>&1 || status=$?
case $status in
0)	echo "✓ Swap KUnit tests: $(tail -n 1 "$log")" ;;
125)	fail "Kernel for the swap KUnit tests does not build or boot" 125 ;;
1)	fail "Swap KUnit tests failed" ;;
*)	fail "Swap KUnit tests did not run" "$status" ;;
esac
