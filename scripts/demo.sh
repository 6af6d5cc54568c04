#!/usr/bin/env bash
# Demonstration: installs what is missing, builds, checks the rungs that calls get, times the CPU rungs beside their
# peers (and the GPU rungs if there is a GPU), plots the measurements, explains the kernels on the emulator, and
# processes real files. Prints a summary; the details are in the output directory.
#
#   scripts/demo.sh [output directory]     default: build/demo
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=${1:-$root/build/demo}
mkdir -p "$out"
out=$(cd "$out" && pwd)

install_packages
# Compiles only for this machine's instruction sets; test.sh --all compiles and tests all of them.
configure "$root/build/release" -DUPSWEEP_TESTS=OFF -DUPSWEEP_CPU_TARGETS=native "$(cuda_options)"
PATH=$root/build/release/bin:$PATH
build "$root/build/release" example_reduce
say 'first results, from the library alone (examples/reduce)'
example_reduce

build "$root/build/release"
say 'what this machine has'
upsweep devices

say 'checking the rung that each call gets, against the oracles (upsweep check --quick checks every rung)'
upsweep check --quick --rung default >"$out/check.txt" || { cat "$out/check.txt"; die 'a rung is wrong'; }
awk '$NF == "right" { ++results; runs += $(NF - 1) }
     END { printf "%d calls of %d rungs on CPU and emulated GPU, all right: check.txt\n", runs, results }' "$out/check.txt"

say 'timing rungs and peers on the CPU'
upsweep bench --backend cpu --type i32 -n 2^10,2^20 --samples 10 -o "$out/cpu.jsonl" >"$out/cpu.txt"
awk -v RS= '/^(reduce|scan|sort) .*n=2\^20/ { print $0 "\n" }' "$out/cpu.txt"
if upsweep devices --json | grep -q '"cuda"'; then
  say 'timing rungs and peers on the GPU'
  upsweep bench --backend cuda --type i32 -n 2^10,2^16,2^20,2^24,2^28 -o "$out/cuda.jsonl" >"$out/cuda.txt"
  awk -v RS= '/^(reduce|scan|sort) .*n=2\^24/ { print $0 "\n" }' "$out/cuda.txt"
fi
upsweep report plot "$out"/c*.jsonl -o "$out/scores.svg"
echo 'all primitives: cpu.txt, scores.svg'

say 'explaining the kernels without a GPU'
upsweep explain >"$out/explain.txt"
awk -v RS= '/^reduce/ { found = 1 } found && ++shown <= 2 { print $0 "\n" }' "$out/explain.txt"
echo 'all primitives: explain.txt'

say 'real input: the bytes of a program on this machine, as numbers'
program=$(command -v cmake)
size=$(stat -Lc %s "$program")
head -c $((size / 4 * 4)) "$program" >"$out/program.u32"
printf 'sum of %s as u32: ' "$program"
upsweep run reduce --type u32 --out-type u64 "$out/program.u32"
for op in min max; do
  printf '%s of %s as u32: ' $op "$program"
  upsweep run reduce --type u32 --op $op "$out/program.u32"
done
upsweep run reduce --type u32 --out-type u64 "$out/program.u32" -o "$out/sum.npy"
upsweep run scan --type u32 --out-type u64 "$out/program.u32" -o "$out/sums.npy"
upsweep run select --type u32 --op run_length_encode "$out/program.u32" -o "$out/values.npy" --also "$out/lengths.npy"

say "done. Results are in $out"
ls -l "$out"
