#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests.
#
#   scripts/test.sh              the tests, but for those that take minutes (ctest -L long)
#   scripts/test.sh --address    the same, after the CPU parts under the address and undefined-behaviour sanitizers
#   scripts/test.sh --threads    the same, after the CPU parts under the thread sanitizer
#   scripts/test.sh --gpu        the same, after compiling every GPU rung, which needs no GPU
#   scripts/test.sh --all        all tests, after all of these; and no line of a kernel may be left without one
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# run_tests <directory> [ctest options]
run_tests() { ctest --test-dir "$1" --output-on-failure -j "$jobs" "${@:2}"; }

# under_sanitizers <name> <list>: tests only the CPU parts, because sanitizers do not understand the emulator's fibers
# and hooks. Uses clang, which compiles faster than g++ and finds more wrong pointers and conversions.
under_sanitizers() {
  configure "$root/build/sanitize-$1" -DUPSWEEP_CUDA=OFF -DCMAKE_BUILD_TYPE=Sanitize "-DUPSWEEP_SANITIZE=$2" \
    -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19
  build "$root/build/sanitize-$1"
  say "testing under sanitizers: $2"
  run_tests "$root/build/sanitize-$1"
}

# Compiles every GPU rung for one type, for the oldest architecture and for Hopper, because nvcc rejects code that g++
# and clang accept. Warnings are errors.
compile_gpu_rungs() {
  local nvcc
  nvcc=$(find_nvcc)
  CUDACXX=$nvcc configure "$root/build/gpu" -DUPSWEEP_CUDA=ON -DUPSWEEP_LAB=OFF -DUPSWEEP_TESTS=OFF \
    -DUPSWEEP_GPU_ONE_TYPE=ON '-DCMAKE_CUDA_ARCHITECTURES=75-real;90-real'
  build "$root/build/gpu" upsweep_gpu
}

# Installs the packages of the Python tests in an environment, and prints the options that build the Python module for
# it; prints none if there is no package index. With --all, the tests also run on PyTorch's tensors, if its CPU build is
# available: the default build includes gigabytes for GPUs.
python_options() {
  local home=$root/build/python-packages
  mkdir -p "$root/build"
  if [ ! -e "$home/complete" ]; then
    install_packages python3-dev python3-venv >&2
    say 'installing the packages of the Python tests' >&2
    if ! { /usr/bin/python3 -m venv --clear "$home" &&
      "$home/bin/pip" install -q --no-deps -r "$root/python/requirements.txt"; } >"$home.log" 2>&1; then
      say "the Python package is not tested: see ${home#"$root"/}.log" >&2
      return
    fi
    touch "$home/complete"
  fi
  if $lines && ! "$home/bin/python3" -c 'import torch' 2>/dev/null; then
    "$home/bin/pip" install -q torch==2.13.0+cpu >>"$home.log" 2>&1 || say 'tensors of PyTorch are not tested' >&2
  fi
  echo "-DUPSWEEP_PYTHON_MODULE=ON -DPython_EXECUTABLE=$home/bin/python3"
}

# Runs the tests on the traced emulator, and fails if a line of a kernel is not reached.
test_every_line() {
  local coverage=$root/build/release/coverage
  rm -rf "$coverage"
  mkdir "$coverage"
  UPSWEEP_SIMT_COVERAGE=$coverage run_tests "$root/build/release" -L traced
  "$root/scripts/unreached_lines.py" "$root/build/release"
}

address=false threads=false gpu=false lines=false
case "${1:-}" in
  '') ;;
  --address) address=true ;;
  --threads) threads=true ;;
  --gpu) gpu=true ;;
  --all) address=true threads=true gpu=true lines=true ;;
  *) sed -n '2,8p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac

# NumPy is the reference for the command; strace delays its system calls; MPI starts the processes of a group.
install_packages python3-numpy strace libopenmpi-dev openmpi-bin $($address || $threads && echo libclang-rt-19-dev)
if $address; then under_sanitizers address 'address;undefined'; fi
if $threads; then under_sanitizers thread thread; fi
if $gpu; then compile_gpu_rungs; fi
# demo.sh configures this folder without tests, and only for this machine's vector instructions.
python=$(python_options)
# shellcheck disable=SC2086  # two options
configure "$root/build/release" -DUPSWEEP_TESTS=ON "$(cuda_options)" $python $($lines && echo -DUPSWEEP_CPU_TARGETS=all)
build "$root/build/release"
say 'testing'
if $lines; then
  test_every_line
  run_tests "$root/build/release" -LE traced
else
  run_tests "$root/build/release" -LE long
fi
