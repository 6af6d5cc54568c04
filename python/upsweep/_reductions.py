"""Sums, products and extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from upsweep import _core


def dtype_name(dtype: Any) -> str | None:
    """Returns the name of a NumPy or PyTorch type, or of anything else that numpy.dtype() takes."""
    if dtype is None:
        return None
    text = str(dtype)
    return text.removeprefix("torch.") if text.startswith("torch.") else np.dtype(dtype).name


def sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    initial: Any = None,
    reproducible: bool = False,
    rung: str = "",
) -> Any:
    """Returns the sum of all elements, or with axis=-1 of each row along the last axis. Integers are added in 64 bits,
    floats in their own type, unless `dtype` says otherwise; integer sums wrap. The sum of an empty array is 0, or
    `initial`.

    The last bits of a float sum depend on the device and may differ from run to run. With reproducible=True, the exact
    sum is rounded once, so that every run on every device gives the same bits.

    >>> print(sum(np.array([1, 2, 3], np.uint8)))
    6
    """
    return _core.sum(x, axis, dtype_name(dtype), initial, "reproducible" if reproducible else rung)


def prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, initial: Any = None, rung: str = "") -> Any:
    """Returns the product of all elements, or with axis=-1 of each row along the last axis. Types are as in sum(). The
    product of an empty array is 1.

    >>> print(prod([1.5, 2.0]))
    3.0
    """
    return _core.prod(x, axis, dtype_name(dtype), initial, rung)


def min(x: Any, /, *, axis: int | None = None, rung: str = "") -> Any:
    """Returns the smallest element, or with axis=-1 that of each row along the last axis. The result is NaN if any
    element is. An empty array raises ValueError.

    >>> print(min([3, -1, 2]))
    -1
    """
    return _core.extreme(x, axis, "min", rung)


def max(x: Any, /, *, axis: int | None = None, rung: str = "") -> Any:
    """Returns the largest element, or with axis=-1 that of each row along the last axis. The result is NaN if any
    element is. An empty array raises ValueError.

    >>> print(max([3, -1, 2]))
    3
    """
    return _core.extreme(x, axis, "max", rung)


def argmin(x: Any, /, *, rung: str = "") -> Any:
    """Returns the index, int64, of the first smallest element, or of the first NaN if there is one. If the array has
    more than one dimension, the index is into the flattened array. An empty array raises ValueError.

    >>> print(argmin([3, -1, 2, -1]))
    1
    """
    return _core.position_of_extreme(x, "argmin", rung)


def argmax(x: Any, /, *, rung: str = "") -> Any:
    """Returns the index, int64, of the first largest element, or of the first NaN if there is one. If the array has
    more than one dimension, the index is into the flattened array. An empty array raises ValueError.

    >>> print(argmax([3, -1, 2, 3]))
    0
    """
    return _core.position_of_extreme(x, "argmax", rung)
