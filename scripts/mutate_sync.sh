#!/usr/bin/env bash
# Mutation test of a rung's synchronisation: removes or weakens one statement at a time, builds the rung, checks it on
# the traced emulator, and prints a table of the changes and of the checks that caught them.
#
#   scripts/mutate_sync.sh reduce/bulk_copy scan/pipeline     these rungs
#   scripts/mutate_sync.sh --help                             options
#
# Needs a build with the emulators (scripts/test.sh makes one), clang++-19 and python3.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/mutate_sync.py" "$@"
