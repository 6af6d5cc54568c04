#!/usr/bin/env bash
# Draws the pictures of docs/gallery.md again, with the commands that stand there. Needs a build (scripts/demo.sh).
#
#   scripts/gallery.sh [output directory]     default: results/gallery
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

PATH=$root/build/release/bin:$PATH
mkdir -p "${1:-$root/results/gallery}"
cd "${1:-$root/results/gallery}"
grep -o '`upsweep render [^`]*`' "$root/docs/gallery.md" | tr -d '`' | bash -e
