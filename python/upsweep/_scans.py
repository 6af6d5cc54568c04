"""Running sums, products, minima and maxima."""

from __future__ import annotations

from typing import Any

from upsweep import _core
from upsweep._reductions import dtype_name


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    exclusive: bool = False,
    initial: Any = None,
    reproducible: bool = False,
    out: Any = None,
    rung: str = "",
) -> Any:
    """Returns the sums of the first 1, 2, ... elements; with exclusive=True, of the first 0, 1, ... elements. Types are
    as in sum(). `initial` is added to every sum. An array of more than one dimension needs axis=-1, the last axis: its
    rows are scanned separately. `out` and `reproducible` are for arrays of one dimension.

    The last bits of float sums depend on the device and may differ from run to run, unless reproducible=True.

    >>> print(cumulative_sum([1, 2, 3]), cumulative_sum([1, 2, 3], exclusive=True))
    [1 3 6] [0 1 3]
    >>> print(cumulative_sum([[1, 2], [3, 4]], axis=-1))
    [[1 3]
     [3 7]]
    """
    if axis is not None and _core.has_rows(x, axis):
        if out is not None or reproducible:
            raise ValueError("out and reproducible are for arrays of one dimension")
        return _core.scan_of_rows(x, "sum", dtype_name(dtype), exclusive, initial, rung)
    return _core.cumulative_sum(x, dtype_name(dtype), exclusive, initial, out, "reproducible" if reproducible else rung)


def cumulative_prod(
    x: Any,
    /,
    *,
    dtype: Any = None,
    exclusive: bool = False,
    initial: Any = None,
    out: Any = None,
    rung: str = "",
) -> Any:
    """Returns the products of the first 1, 2, ... elements of a 1-d array; with exclusive=True, of the first 0, 1, ...
    elements. Types are as in sum(). Every product is multiplied by `initial`. Floats are multiplied in chunks, whose
    products can overflow or underflow even where no result does.

    >>> print(cumulative_prod([1, 2, 3, 4]))
    [ 1  2  6 24]
    """
    return _core.cumulative_product(x, dtype_name(dtype), exclusive, initial, out, rung)


def segmented_scan(
    x: Any,
    /,
    *,
    flags: Any = None,
    keys: Any = None,
    offsets: Any = None,
    operation: str = "sum",
    dtype: Any = None,
    exclusive: bool = False,
    initial: Any = None,
    out: Any = None,
    rung: str = "",
) -> Any:
    """Returns the running sums, or with operation="min" or "max" the running extremes, of a 1-d array. They restart in
    every segment. Sums have the types of cumulative_sum(), extremes the type of the elements. The segments are given by
    one of

    - flags: bool or uint8, nonzero at the first element of every segment;
    - keys: 32-bit integers, where each run of equal keys is one segment;
    - offsets: 64-bit integers in ascending order, at which segments start; equal offsets make empty segments.

    `initial` precedes every segment.

    >>> print(segmented_scan([1, 2, 3, 4], flags=[True, False, True, False]))
    [1 3 3 7]
    >>> print(segmented_scan([1, 2, 3, 4], offsets=[0, 1], operation="max"))
    [1 2 3 4]
    """
    given = [
        (kind, heads) for kind, heads in (("flags", flags), ("keys", keys), ("offsets", offsets)) if heads is not None
    ]
    if len(given) != 1:
        raise TypeError("segments are given by one of flags, keys and offsets")
    ((kind, heads),) = given
    return _core.segmented_scan(x, heads, kind, operation, dtype_name(dtype), exclusive, initial, out, rung)
