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
    """Returns the number of samples, int64, in each bin, and the bins' edges as an array of NumPy's. `bins` is the
    number of equal bins of `range`, by default from the smallest to the largest sample, whose edges are float32 for
    samples of float32 and float64 for others; or else an array of edges, each above the one before it. The last bin
    includes its upper edge, as NumPy's does. Up to 2^20 bins.

    Counts of another `dtype` are uint32, uint64, int32, or of uint8 and uint16, which stop at the largest value of
    their type. Integers are binned exactly, where NumPy rounds.

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
    Negative samples raise ValueError. `dtype` is that of histogram(). For more than 2^20 integers, the samples are
    sorted.

    With `length`, up to 2^20, returns the counts of the integers below it, and other samples are not counted: nothing
    needs to wait for the largest.

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
