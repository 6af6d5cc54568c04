#!/usr/bin/env bash
# Is every synchronisation of a rung needed, and is its loss noticed? Removes or weakens one at a time, builds the rung,
# checks it on the traced emulator, and prints a table of the changes and what noticed them.
#
#   scripts/mutate_sync.sh reduce/bulk_copy scan/pipeline     these rungs
#   scripts/mutate_sync.sh --help                             options
#
# Needs a build with the emulators (scripts/test.sh makes one), clang++-19 and python3.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/mutate_sync.py" "$@"
