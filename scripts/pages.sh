#!/usr/bin/env bash
# Builds the Python package's pages, one per function, in build/pages/html: the help texts, whose examples the tests run,
# and docs/python.md. Needs the module that scripts/test.sh builds.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

home=$root/build/pages
module=$root/build/release/python
ls "$module"/upsweep/_core*.so > /dev/null 2>&1 || die 'no Python module in build/release: run scripts/test.sh first'
mkdir -p "$home"
if [ ! -e "$home/tools/complete" ]; then
  install_packages python3-venv
  say 'installing the tools'
  /usr/bin/python3 -m venv --clear "$home/tools"
  "$home/tools/bin/pip" install -q --no-deps -r "$root/python/requirements-pages.txt"
  touch "$home/tools/complete"
fi
say 'building the pages'
rm -rf "$home/source" "$home/html"
cp -r "$root/docs/pages" "$home/source"
sed 's|](\.\./examples/python/|](|' "$root/docs/python.md" > "$home/source/python.md"
cp "$root/examples/python/tour.py" "$home/source"
PYTHONPATH=$module "$home/tools/bin/python3" -m sphinx -q -W --keep-going -b html "$home/source" "$home/html"
echo "$home/html/index.html"
