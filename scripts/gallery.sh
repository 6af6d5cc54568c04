#!/usr/bin/env bash
# Redraws the pictures of docs/gallery.md with the commands on that page. Needs a build (scripts/demo.sh).
#
#   scripts/gallery.sh [output directory]     default: docs/gallery
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

PATH=$root/build/release/bin:$PATH
mkdir -p "${1:-$root/docs/gallery}"
cd "${1:-$root/docs/gallery}"
grep -o '`upsweep render [^`]*`' "$root/docs/gallery.md" | tr -d '`' | bash -e
