"""Counts of samples."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from upsweep import _core
from upsweep._arrays import library_of
from upsweep._reductions import dtype_name
from upsweep._selection import unique_counts

_MOST_BINS = 1 << 20


def histogram(
    x: Any, /, bins: Any = 10, range: tuple[float, float] | None = None, *, dtype: Any = None, rung: str = ""
) -> tuple[Any, Any]:
    """Returns the number of samples in each bin, int64, and the edges of the bins, a NumPy array. `bins` is the number
    of equal bins of `range`, or an array of edges, each above the one before it. The default range is that of the
    samples. The edges of equal bins are float32 for float32 samples and float64 for all others. The last bin includes
    its upper edge, as NumPy's does. There are at most 2^20 bins.

    The counts can have another `dtype`: uint32, uint64, int32, or uint8 and uint16, which saturate. Integers are binned
    exactly, where NumPy rounds.

    >>> print(histogram([1, 2, 1, 4], bins=3)[0])
    [2 1 1]
    >>> print(histogram([1, 2, 1, 4], bins=[0, 2, 4])[0])
    [2 2]
    """
    if not isinstance(bins, int) and np.ndim(bins) > 0:
        if range is not None:
            raise ValueError("range is for equal bins, but bins has edges")
        edges = library_of(type(bins)).download(bins)
        return _core.histogram_of_edges(x, edges, dtype_name(dtype), rung), edges
    if not 1 <= operator.index(bins) <= _MOST_BINS:
        raise ValueError(f"bins is {bins}, which is not in [1, {_MOST_BINS}]")
    found: tuple[Any, Any] = _core.histogram(x, bins, range, dtype_name(dtype), rung)
    return found


def bincount(x: Any, /, *, minlength: int = 0, length: int | None = None, dtype: Any = None, rung: str = "") -> Any:
    """Returns how often each integer from 0 to the largest sample occurs, int64, for at least `minlength` integers.
    Negative samples raise ValueError. `dtype` is as in histogram(). With more than 2^20 integers, the samples are
    sorted.

    With `length`, at most 2^20, returns the counts of the integers below it and ignores other samples. The call then
    need not wait for the largest sample.

    >>> print(bincount([0, 2, 2]), bincount([0, 2, 2], length=2))
    [1 0 2] [1 0]
    """
    name = dtype_name(dtype)
    counts = _core.bincount(x, minlength, length, name, rung)
    if counts is not None:
        return counts
    found, counts = unique_counts(x)
    library = library_of(type(counts))
    if name is not None:
        counts = library.cast(counts.clip(None, np.iinfo(name).max), name)
    size = max(minlength, int(found[-1]) + 1 if found.shape[0] else 0)
    return library.scattered(size, library.cast(found, "int64"), counts)
