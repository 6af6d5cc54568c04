#!/usr/bin/env bash
# The demonstration: installs what is missing, builds, checks every rung, times the CPU rungs beside their peers (and
# the GPU rungs, if a GPU is present), plots the measurements, explains the kernels on the emulator, and processes real
# files.
#
#   scripts/demo.sh [output directory]     default: build/demo
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=${1:-$root/build/demo}
mkdir -p "$out"
out=$(cd "$out" && pwd)

install_packages
configure "$root/build/release" -DUPSWEEP_TESTS=OFF "$(cuda_options)"
PATH=$root/build/release/bin:$PATH
build "$root/build/release" example_reduce
say 'first results, from the library alone (examples/reduce)'
example_reduce

build "$root/build/release"
say 'what this machine has'
upsweep devices

say 'checking every rung (quick: sizes and inputs at the edges)'
upsweep check --quick

say 'timing rungs and peers on the CPU'
upsweep bench --backend cpu --type i32 -n 2^10,2^16,2^20,2^22 --samples 10 -o "$out/cpu.jsonl"
if upsweep devices --json | grep -q '"cuda"'; then
  say 'timing rungs and peers on the GPU'
  upsweep bench --backend cuda --type i32 -n 2^10,2^16,2^20,2^24,2^28 -o "$out/cuda.jsonl"
fi
upsweep report plot "$out"/c*.jsonl -o "$out/scores.svg"

say 'explaining the kernels without a GPU'
upsweep explain

say 'real input: the bytes of a program on this machine, as numbers'
program=$(command -v cmake)
size=$(stat -Lc %s "$program")
head -c $((size / 4 * 4)) "$program" >"$out/program.u32"
for op in sum min max; do
  printf '%-4s of %s as u32: ' "$op" "$program"
  upsweep run reduce --type u32 --op $op "$out/program.u32"
done
upsweep run reduce --type u32 --op sum "$out/program.u32" -o "$out/sum.npy"
upsweep run scan --type u32 "$out/program.u32" -o "$out/sums.npy"
upsweep run select --type u32 --op run_length_encode "$out/program.u32" -o "$out/values.npy" --also "$out/lengths.npy"

say "done. Results are in $out"
ls -l "$out"
