"""Counts of samples."""

from __future__ import annotations

from typing import Any

from upsweep import _core

_MOST_BINS = 1 << 20


def histogram(
    x: Any, /, bins: int = 10, range: tuple[float, float] | None = None, *, rung: str = ""
) -> tuple[Any, Any]:
    """Returns the number of samples, int64, in each of `bins` equal bins of `range`, by default from the smallest to
    the largest sample; and the bins' edges as an array of NumPy's, float32 for samples of float32 and float64 for
    others. The last bin includes its upper edge, as NumPy's does. Up to 2^20 bins.

    Integers are binned exactly, where NumPy rounds.

    >>> print(histogram([1, 2, 1, 4], bins=3)[0])
    [2 1 1]
    """
    if not 1 <= bins <= _MOST_BINS:
        raise ValueError(f"bins is {bins}, which is not in [1, {_MOST_BINS}]")
    found: tuple[Any, Any] = _core.histogram(x, bins, range, rung)
    return found


def bincount(x: Any, /, *, minlength: int = 0, rung: str = "") -> Any:
    """Returns how often each integer from 0 to the largest sample occurs, int64, for at least `minlength` integers.
    Negative samples, and those of 2^20 or more, raise ValueError.

    >>> print(bincount([0, 2, 2]))
    [1 0 2]
    """
    return _core.bincount(x, minlength, rung)
