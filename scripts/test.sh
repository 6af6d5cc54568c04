#!/usr/bin/env bash
# Installs what is missing, builds, and passes the tests.
#
#   scripts/test.sh              the tests
#   scripts/test.sh --all        before them, the CPU parts under the address and undefined-behaviour sanitizers
#   scripts/test.sh --threads    before them, the CPU parts under the thread sanitizer
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# under_sanitizers <name> <list>: the CPU parts alone; the emulator's fibers and hooks are what sanitizers do not understand.
under_sanitizers() {
  build "$root/build/sanitize-$1" -DUPSWEEP_CUDA=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DUPSWEEP_SANITIZE=$2"
  say "testing under sanitizers: $2"
  TSAN_OPTIONS="suppressions=$root/tests/thread_sanitizer.supp halt_on_error=1" \
  ctest --test-dir "$root/build/sanitize-$1" --output-on-failure -j "$jobs"
}

sanitizers=none
case "${1:-}" in
  '') ;;
  --all) sanitizers=address ;;
  --threads) sanitizers=thread ;;
  *) sed -n '2,6p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac

install_packages
mkdir -p "$root/build"
case $sanitizers in
  address) under_sanitizers address 'address;undefined' ;;
  thread) under_sanitizers thread thread ;;
esac
build "$root/build/release" -DUPSWEEP_TESTS=ON "$(cuda_options)"  # demo.sh builds here without them
say 'testing'
ctest --test-dir "$root/build/release" --output-on-failure -j "$jobs"
