"""Rules of `upsweep run` that a run may depend on.

Runs that depend on a rule marked False are not drawn: the command does not follow it yet. To let them in, write True,
or try them once: differential.py PROGRAM --assume RULE.
"""

FOLLOWED = {
    "numpy_order": True,  # sort: every NaN last and equal, -0 equal to +0; descending, NaN first
    "total_order": True,  # sort: IEEE 754's totalOrder by --param float_order=total_order
    "bits_of_floats": True,  # sort: first_bit and bits of floats, with -0 as +0 and all NaN as one
    "exact_edges": True,  # histogram: bin k of floats has edge k <= x < edge k + 1, edges computed in f64
    "range_of_data": True,  # histogram: without a range, the least and the greatest sample, the last bin closed
    "closed_range": True,  # histogram: --param closed=true puts the last edge into the last bin
    "more_samples": True,  # histogram: samples of i8, i16, i64, u64 and f64
    "zero_sums": True,  # sums of -0 alone are -0
    "segmented_scan": True,  # run segmented_scan
    "out_type": True,  # reduce, scan: --out-type
    "out_format": True,  # --format is of inputs alone, --out-format of outputs
    "content": True,  # an input's format is told by its content, whatever its name
    "shapes": True,  # element-wise outputs have the shape of the input
    "fortran": True,  # .npy in Fortran order
    "big_endian": True,  # .npy of big-endian numbers
    "float16": True,  # .npy of float16, read as f32
    "booleans": True,  # .npy of bool, read as u8
    "emulator_in_limits": True,  # the emulator within a limit of addresses: right, or refused
    "nan_text": True,  # NaN is printed as nan, whatever its sign
}


def followed(rules):
    return all(FOLLOWED[rule] for rule in rules)
