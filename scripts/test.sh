#!/usr/bin/env bash
# Installs what is missing, builds, and passes the tests.
#
#   scripts/test.sh           everything but the sanitizer builds
#   scripts/test.sh --all     the sanitizer builds as well: address and undefined behaviour, then threads
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

all=false
case "${1:-}" in
  '') ;;
  --all) all=true ;;
  *) sed -n '2,6p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac

install_packages
if $all; then
  # The CPU parts alone: the emulator's fibers and hooks are what sanitizers do not understand.
  for sanitizers in 'address;undefined' thread; do
    directory=$root/build/sanitize-${sanitizers%%;*}
    mkdir -p "$root/build"
    build "$directory" -DUPSWEEP_CUDA=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DUPSWEEP_SANITIZE=$sanitizers"
    say "testing under ${sanitizers/;/ and } sanitizers"
    ctest --test-dir "$directory" --output-on-failure -j "$jobs"
  done
fi
mkdir -p "$root/build"
build "$root/build/release" "$(cuda_options)"
say 'testing'
ctest --test-dir "$root/build/release" --output-on-failure -j "$jobs"
