#!/usr/bin/env bash
# Compares the emulator's counters with Nsight Compute's for every GPU rung of a primitive. Needs a GPU, ncu and
# python3.
#
#   scripts/emulator_against_hardware.sh <upsweep> <output directory> [primitive]
#
# Writes <output>/ncu.csv, <output>/explain.jsonl and <output>/table.md.
set -euo pipefail
upsweep=$1 out=$2 primitive=${3:-reduce}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
n=$((1 << 14))

# One shape for both, small enough for the emulator and large enough for full rounds: 8 blocks.
metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,smsp__inst_executed_op_shared_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
metrics+=,smsp__inst_executed_op_shared_st.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum

: >"$out/explain.jsonl"
: >"$out/ncu.csv"
for rung in $("$upsweep" explain "$primitive" -n 32 --type f32,u32 --json | python3 -c '
import json, sys
seen = []
for line in sys.stdin:
    rung = json.loads(line)["rung"]
    if rung not in seen: seen.append(rung)
print(*seen)'); do
  type=u32
  [ "$rung" = reproducible ] && type=f32
  "$upsweep" explain "$primitive" --rung "$rung" --type $type -n $n --param grid=8 --json >>"$out/explain.jsonl"
  printf '### %s\n' "$rung" >>"$out/ncu.csv"
  # The first launches are those of the check before timing: the rung's kernel, and its final pass if it has one.
  ncu --clock-control none --csv --kernel-name "regex:^(${rung}|final_pass)_kernel" --launch-count 2 --metrics "$metrics" \
    "$upsweep" bench "$primitive" --backend cuda --rung "$rung" --type $type -n $n --param grid=8 --no-peers --samples 4 \
    >>"$out/ncu.csv" 2>>"$out/ncu.log" || printf 'ncu failed for %s\n' "$rung" >&2
done
python3 "$here/emulator_against_hardware.py" "$out/explain.jsonl" "$out/ncu.csv" >"$out/table.md"
