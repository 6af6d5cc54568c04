"""Sums of scaled arrays."""

from __future__ import annotations

from typing import Any

from upsweep import _core


def saxpy(a: Any, x: Any, y: Any, /, *, out: Any = None, rung: str = "") -> Any:
    """Returns a * x + y, rounded twice, for 1-d arrays of the same type; integers wrap. `out` may be x or y.

    >>> print(saxpy(2, [1, 2], [10, 20]))
    [12 24]
    """
    return _core.saxpy(a, x, y, out, rung)
