"""Data-parallel algorithms on NumPy, PyTorch, CuPy and JAX arrays: sums, scans, sorts, selections and histograms.

Functions have the names and meanings of the array API standard, or else of NumPy; a docstring says where one differs.
They take an array of one of these libraries, or anything that numpy.asarray() takes, and return arrays of the same
library on the same device. On a GPU, calls are queued on the library's current stream, and wait only where the length
of the result depends on the data. Under jax.jit, they become part of the compiled program.

Arrays of bool, integers of 8 to 64 bits, float32 and float64 are used in place; arrays that are not contiguous, or not
in the machine's byte order, are copied first. If a sum or product has another type than the elements, these are
converted first, except in sums of bool or uint8, and in 64-bit sums of 32-bit elements. float16 and bfloat16 are
computed as float32; sums, extremes and sorts read them in place. Other types raise TypeError.
"""

from __future__ import annotations

import atexit

from upsweep import _arrays as _arrays
from upsweep import _core
from upsweep._groups import Group
from upsweep._histograms import bincount, histogram
from upsweep._laboratory import bench, check, explain, plot
from upsweep._ladders import primitives, rungs
from upsweep._reductions import argmax, argmin, max, min, prod, sum
from upsweep._rendering import render
from upsweep._scans import cumulative_prod, cumulative_sum, segmented_scan
from upsweep._selection import (
    UniqueCountsResult,
    compress,
    find_repeats,
    nonzero,
    unique_consecutive,
    unique_counts,
    unique_values,
)
from upsweep._sorting import (
    PartitionResult,
    argsort,
    partition_by_digit,
    partition_by_splitters,
    sort,
    sort_by_key,
)
from upsweep._streams import borrowed_scratch, on_stream
from upsweep._vectors import saxpy

__version__ = "0.1.0"
__all__ = [
    "Group",
    "PartitionResult",
    "UniqueCountsResult",
    "argmax",
    "argmin",
    "argsort",
    "bench",
    "bincount",
    "borrowed_scratch",
    "check",
    "compress",
    "cumulative_prod",
    "cumulative_sum",
    "explain",
    "find_repeats",
    "histogram",
    "max",
    "min",
    "nonzero",
    "on_stream",
    "partition_by_digit",
    "partition_by_splitters",
    "plot",
    "primitives",
    "prod",
    "render",
    "rungs",
    "saxpy",
    "segmented_scan",
    "sort",
    "sort_by_key",
    "sum",
    "unique_consecutive",
    "unique_counts",
    "unique_values",
]

atexit.register(_core.close)
