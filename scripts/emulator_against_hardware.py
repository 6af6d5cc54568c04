#!/usr/bin/env python3
"""Joins `upsweep explain --json` and Nsight Compute's CSV into a Markdown table: predicted / measured, per kernel."""
import csv
import json
import re
import sys

# Column title, emulator counter, hardware metric.
COLUMNS = [
    ("global load requests", "global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
    ("global load sectors", "global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    ("global store sectors", "global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    ("shared load wavefronts", "shared_load_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
    ("shared store wavefronts", "shared_store_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
    ("bank conflicts, loads", None, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
    ("bank conflicts, stores", None, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"),
    ("shared atomics", "shared_atomic_requests", "smsp__inst_executed_op_shared_atom.sum"),
]


def measured_kernels(path):
    """Returns {rung: [{metric: value, "name": kernel}]} in launch order, without copies and fills."""
    rungs, rung, header = {}, None, None
    for line in open(path):
        if line.startswith("### "):
            rung, header = line[4:].strip(), None
            rungs[rung] = {}
            continue
        if not line.startswith('"'):
            continue
        row = next(csv.reader([line]))
        if header is None:
            header = row
            continue
        record = dict(zip(header, row))
        kernel = rungs[rung].setdefault(record["ID"], {"name": record["Kernel Name"]})
        if record["Metric Value"] != "n/a":
            kernel[record["Metric Name"]] = int(float(record["Metric Value"].replace(",", "")))
    return {rung: list(kernels.values()) for rung, kernels in rungs.items()}


def predicted(counters, name, key):
    if key:
        return counters[key]
    kind = "load" if "loads" in name else "store"
    return counters[f"shared_{kind}_wavefronts"] - counters[f"shared_{kind}_ideal"]


def main():
    explain, ncu = sys.argv[1:3]
    measured = measured_kernels(ncu)
    print("| rung | kernel | " + " | ".join(name for name, _, _ in COLUMNS) + " |")
    print("|---|---|" + "---|" * len(COLUMNS))
    for line in open(explain):
        explanation = json.loads(line)
        for kernel in explanation["kernels"]:
            short = kernel["name"].split("<")[0].split("::")[-1].replace("void ", "")
            # The emulator reports one sum over all launches of a kernel.
            twins = [k for k in measured.get(explanation["rung"], []) if re.search(rf"\b{short}\b", k["name"])]
            twins = twins[: kernel["launches"]]
            cells = []
            for name, key, metric in COLUMNS:
                here = predicted(kernel["predicted"], name, key)
                counted = [k[metric] for k in twins if metric in k]
                there = sum(counted) if counted else None
                cells.append(f"{here}" if here == there else f"**{here} / {'-' if there is None else there}**")
            print(f"| {explanation['rung']} | {short} | " + " | ".join(cells) + " |")
    print("\nOne number: predicted equals measured. Two: predicted / measured.")


if __name__ == "__main__":
    main()
