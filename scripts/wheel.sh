#!/usr/bin/env bash
# Builds a wheel of the Python package for this machine's Python and installs it in an environment of its own, where it
# sorts an array. From CPython 3.12 on, the wheel is for every newer version, too.
#
#   scripts/wheel.sh                 for CPUs
#   PYTHON=/opt/python3.10/bin/python3 scripts/wheel.sh
#                                    for another Python, which needs its headers and venv
#   scripts/wheel.sh "75-virtual;80-real;90"
#                                    and for GPUs of these architectures (CMAKE_CUDA_ARCHITECTURES): about ten minutes
#                                    each on two cores
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python=${PYTHON:-/usr/bin/python3}
[ -n "${PYTHON:-}" ] || install_packages python3-dev python3-venv
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
home=$root/build/wheel-$version
mkdir -p "$home"
if [ ! -e "$home/tools/complete" ]; then
  say 'installing the tools'
  "$python" -m venv --clear "$home/tools"
  "$home/tools/bin/pip" install -q --no-deps -r "$root/python/requirements-wheel.txt"
  touch "$home/tools/complete"
fi

# The command, for python -m upsweep, shares the library with the module. Its CPU peers are compiled without this
# machine's instructions, so that they run on other machines. CUB would take as much space and compile time as the
# library.
options=(--config-settings=cmake.define.UPSWEEP_LAB=ON --config-settings=cmake.define.UPSWEEP_PEER_FLAGS=
  --config-settings=cmake.define.BUILD_SHARED_LIBS=ON --config-settings=cmake.define.UPSWEEP_CUB=OFF
  "--config-settings=build.targets=_core;upsweep_cli")
if [ $# -eq 0 ]; then
  options+=(--config-settings=cmake.define.UPSWEEP_CUDA=OFF)
else
  options+=(--config-settings=cmake.define.UPSWEEP_CUDA=ON "--config-settings=cmake.define.CMAKE_CUDA_ARCHITECTURES=$1")
  CUDACXX=$(find_nvcc)
  export CUDACXX
fi
say 'building the wheel'
rm -rf "$home/built" "$home/dist"
PATH=$home/tools/bin:$PATH "$home/tools/bin/pip" wheel -q --no-deps --no-build-isolation -w "$home/built" \
  "${options[@]}" "--config-settings=build-dir=$home/tree" "$root"

say 'adding the libraries that it needs'
PATH=$home/tools/bin:$PATH "$home/tools/bin/auditwheel" repair -w "$home/dist" "$home"/built/*.whl | tail -1

say 'trying it'
"$python" -m venv --clear "$home/tried"
"$home/tried/bin/pip" install -q "$home"/dist/*.whl
(cd "$home" && "$home/tried/bin/python3" -c 'import upsweep; print(upsweep.sort([3, 1, 2]))' &&
  "$home/tried/bin/python3" -m upsweep explain reduce --rung total -n 1000 | head -3)
ls -l "$home"/dist
