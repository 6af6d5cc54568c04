#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests.
#
#   scripts/test.sh              the tests
#   scripts/test.sh --address    the same, after the CPU parts under the address and undefined-behaviour sanitizers
#   scripts/test.sh --threads    the same, after the CPU parts under the thread sanitizer
#   scripts/test.sh --all        the same, after both
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# under_sanitizers <name> <list>: tests the CPU parts alone; sanitizers do not understand the emulator's fibers and
# hooks.
under_sanitizers() {
  configure "$root/build/sanitize-$1" -DUPSWEEP_CUDA=OFF -DCMAKE_BUILD_TYPE=Sanitize "-DUPSWEEP_SANITIZE=$2"
  build "$root/build/sanitize-$1"
  say "testing under sanitizers: $2"
  ctest --test-dir "$root/build/sanitize-$1" --output-on-failure -j "$jobs"
}

address=false threads=false
case "${1:-}" in
  '') ;;
  --address) address=true ;;
  --threads) threads=true ;;
  --all) address=true threads=true ;;
  *) sed -n '2,7p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac

install_packages python3-numpy strace  # against which the command is checked, and which delays its system calls
if $address; then under_sanitizers address 'address;undefined'; fi
if $threads; then under_sanitizers thread thread; fi
configure "$root/build/release" -DUPSWEEP_TESTS=ON "$(cuda_options)"  # demo.sh builds here without them
build "$root/build/release"
say 'testing'
ctest --test-dir "$root/build/release" --output-on-failure -j "$jobs"
