#!/usr/bin/env bash
# Holds the emulator's counters against Nsight Compute's, for every GPU rung of a primitive. Needs a GPU, ncu and python3.
#
#   scripts/emulator_against_hardware.sh <upsweep> <output directory> [primitive]
#
# Writes <output>/ncu.csv, <output>/explain.jsonl and <output>/table.md.
set -euo pipefail
upsweep=$1 out=$2 primitive=${3:-reduce}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
n=$((1 << 14))

# One shape for both, small enough for the emulator and large enough for full rounds: 8 blocks.
head -c $((4 * n)) /dev/urandom | tr '\200-\377' '\000-\177' >"$out/input.u32"   # tr: no NaN or infinity matters to a u32 sum
metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,smsp__inst_executed_op_shared_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
metrics+=,smsp__inst_executed_op_shared_st.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
metrics+=,smsp__inst_executed_op_global_red.sum,smsp__inst_executed_op_global_atom.sum,smsp__inst_executed_op_shared_atom.sum
metrics+=,smsp__inst_executed_pipe_adu.sum,smsp__warps_launched.sum

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
  ncu --clock-control none --csv --metrics "$metrics" \
    "$upsweep" run "$primitive" --backend cuda --rung "$rung" --type $type --format raw --param grid=8 "$out/input.u32" \
    >>"$out/ncu.csv" 2>>"$out/ncu.log" || printf 'ncu failed for %s\n' "$rung" >&2
done
rm -f "$out/input.u32"
python3 "$here/emulator_against_hardware.py" "$out/explain.jsonl" "$out/ncu.csv" >"$out/table.md"
