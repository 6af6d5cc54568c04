#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests.
#
#   scripts/test.sh              the tests
#   scripts/test.sh --address    the same, after the CPU parts under the address and undefined-behaviour sanitizers
#   scripts/test.sh --threads    the same, after the CPU parts under the thread sanitizer
#   scripts/test.sh --gpu        the same, after compiling every GPU rung, which needs no GPU
#   scripts/test.sh --all        the same, after all of these
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# under_sanitizers <name> <list>: tests the CPU parts alone; sanitizers do not understand the emulator's fibers and
# hooks.
under_sanitizers() {
  configure "$root/build/sanitize-$1" -DUPSWEEP_CUDA=OFF -DCMAKE_BUILD_TYPE=Sanitize "-DUPSWEEP_SANITIZE=$2"
  build "$root/build/sanitize-$1"
  say "testing under sanitizers: $2"
  ctest --test-dir "$root/build/sanitize-$1" --output-on-failure -j "$jobs"
}

# Compiles every GPU rung for one type, for the oldest architecture and for Hopper's: nvcc refuses what g++ and clang
# take. A warning is an error.
compile_gpu_rungs() {
  local nvcc
  nvcc=$(find_nvcc)
  CUDACXX=$nvcc configure "$root/build/gpu" -DUPSWEEP_CUDA=ON -DUPSWEEP_LAB=OFF -DUPSWEEP_TESTS=OFF \
    -DUPSWEEP_GPU_ONE_TYPE=ON '-DCMAKE_CUDA_ARCHITECTURES=75-real;90-real'
  build "$root/build/gpu" upsweep_gpu
}

address=false threads=false gpu=false
case "${1:-}" in
  '') ;;
  --address) address=true ;;
  --threads) threads=true ;;
  --gpu) gpu=true ;;
  --all) address=true threads=true gpu=true ;;
  *) sed -n '2,8p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac

install_packages python3-numpy strace  # against which the command is checked, and which delays its system calls
if $address; then under_sanitizers address 'address;undefined'; fi
if $threads; then under_sanitizers thread thread; fi
if $gpu; then compile_gpu_rungs; fi
configure "$root/build/release" -DUPSWEEP_TESTS=ON "$(cuda_options)"  # demo.sh builds here without them
build "$root/build/release"
say 'testing'
ctest --test-dir "$root/build/release" --output-on-failure -j "$jobs"
