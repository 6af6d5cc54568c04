#!/usr/bin/env bash
# Compares the emulator's counters with Nsight Compute's for every GPU rung of a primitive. Needs a GPU, ncu, python3,
# and a build with both CUDA and the emulators.
#
#   scripts/emulator_against_hardware.sh <upsweep> <output directory> [primitive]
#
# Writes <output>/ncu.csv, <output>/explain.jsonl and <output>/table.md.
set -euo pipefail
upsweep=$1 out=$2 primitive=${3:-reduce}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case $primitive in
  partition) types=u32 ;;
  render) types=f32 ;;
  *) types=f32,i32 ;;
esac


metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,smsp__inst_executed_op_shared_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
metrics+=,smsp__inst_executed_op_shared_st.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
metrics+=,smsp__inst_executed_op_shared_atom.sum

: >"$out/explain.jsonl"
: >"$out/ncu.csv"
for rung in $("$upsweep" explain "$primitive" -n 32 --type $types --json | python3 -c '
import json, sys
seen = []
for line in sys.stdin:
    rung = json.loads(line)["rung"]
    if rung not in seen: seen.append(rung)
print(*seen)'); do
  # The same launch shape for both: 8 blocks are few enough for the emulator, and n is large enough for full rounds.
  # Each rung computes its call itself instead of forwarding it to another rung.
  n=$((1 << 14)) call=(--type i32 --param grid=8)
  case $primitive/$rung in
    */reproducible) call=(--type f32 --param grid=8) ;;
    histogram/slices | histogram/cluster) call+=(--param bins=65536 --op even) ;;
    histogram/partitioned) call+=(--param bins=1048576 --op even) ;;
    histogram/until_full) call+=(--param counter=u8 --op even) ;;
    histogram/values) call=(--type u8 --param grid=8 --op even) ;;
    histogram/guided) call+=(--op edges) ;;
    histogram/*) call+=(--op even) ;;
    # Enough keys that a GPU uses large tiles, as the emulator always does for whole tiles.
    partition/lane_counters) n=$((1 << 21)) call=(--type u32 --param grid=8 --op digit) ;;
    partition/two_passes) n=$((1 << 21)) call=(--type u32 --param grid=8,bits=11 --op digit) ;;
    partition/passes_in_tile) call=(--type u32 --param grid=8,bits=11 --op digit) ;;
    # Several tiles per block.
    partition/overlapped_writes) n=$((1 << 17)) call=(--type u32 --param grid=2,bits=11 --op digit) ;;
    partition/replicated_counts) n=2048 call=(--type u32 --op digit) ;;
    partition/*) call=(--type u32 --param grid=8 --op digit) ;;
    # Just below largest_emulated, the number of circles up to which the emulators run this rung.
    render/few_circles) n=290 call=(--input rand10k --param width=128,height=128) ;;
    render/*) n=2000 call=(--input rand10k --param width=128,height=128) ;;
    # Keys of one digit: one of several passes is enough.
    sort/split_1bit) call+=(--op ascending --param bits=1) ;;
    sort/lsd_4bit) call+=(--op ascending --param bits=4) ;;
    # Forces large tiles. By default, a GPU sorts so few keys in small tiles, and the emulator in tiles of another size.
    sort/lane_sweep) call+=(--op ascending --param bits=8,block=192) ;;
    sort/one_block) n=2048 call+=(--op ascending) ;;
    sort/hybrid) n=20000 call+=(--op ascending) ;;
    sort/enumeration) n=1024 call=(--type i32 --op ascending) ;;
    sort/counting) n=$((1 << 18)) call=(--type u8 --param grid=8 --op ascending) ;;
    sort/*) call+=(--op ascending --param bits=8) ;;
  esac
  "$upsweep" explain "$primitive" --rung "$rung" "${call[@]}" -n $n --json >>"$out/explain.jsonl"
  printf '### %s\n' "$rung" >>"$out/ncu.csv"
  # The first launches are those of the check that precedes timing: the same kernels, launched as often as on the
  # emulator.
  read -r kernels launches < <(tail -n 1 "$out/explain.jsonl" | python3 -c '
import json, sys
kernels = json.load(sys.stdin)["kernels"]
names = sorted({kernel["name"].split("<")[0].split("::")[-1] for kernel in kernels})
print("|".join(names), sum(kernel["launches"] for kernel in kernels))')
  ncu --clock-control none --csv --kernel-name "regex:^($kernels)$" --launch-count $launches --metrics "$metrics" \
    "$upsweep" bench "$primitive" --backend cuda --rung "$rung" "${call[@]}" -n $n --no-peers --samples 4 \
    >>"$out/ncu.csv" 2>>"$out/ncu.log" || printf 'ncu failed for %s\n' "$rung" >&2
done
python3 "$here/emulator_against_hardware.py" "$out/explain.jsonl" "$out/ncu.csv" >"$out/table.md"
