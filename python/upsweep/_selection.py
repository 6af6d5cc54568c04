"""Selected elements of arrays: by a mask, by comparing neighbours, or distinct ones."""

from __future__ import annotations

from typing import Any, NamedTuple

from upsweep import _core
from upsweep._sorting import sort


class UniqueCountsResult(NamedTuple):
    """Distinct values, and how often each of them occurs."""

    values: Any
    counts: Any


def compress(condition: Any, x: Any, /, *, rung: str = "") -> Any:
    """Returns the elements of a 1-d array where `condition`, an array of bool, is true.

    >>> print(compress([True, False, True], [10, 20, 30]))
    [10 30]
    """
    return _core.compress(condition, x, rung)


def find_repeats(x: Any, /, *, rung: str = "") -> Any:
    """Returns the positions i, int64, for which x[i] == x[i + 1].

    >>> print(find_repeats([5, 5, 7, 7, 7]))
    [0 2 3]
    """
    return _core.find_repeats(x, rung)


def nonzero(x: Any, /, *, rung: str = "") -> tuple[Any]:
    """Returns the positions, int64, of the nonzero elements of a 1-d array, in a tuple of one array. NaN counts as
    nonzero, -0 as zero.

    >>> nonzero([0, 7, 0, -1])
    (array([1, 3]),)
    """
    return (_core.nonzero(x, rung),)


def unique_consecutive(x: Any, /, *, return_counts: bool = False, rung: str = "") -> Any:
    """Returns the first element of each run of equal elements of a 1-d array; with return_counts=True, also the lengths
    of the runs, int64. NaN is equal to nothing.

    >>> print(*unique_consecutive([5, 5, 7, 5], return_counts=True))
    [5 7 5] [2 1 1]
    """
    if return_counts:
        return UniqueCountsResult(*_core.run_length_encode(x, rung))
    return _core.unique_consecutive(x, rung)


def unique_values(x: Any, /) -> Any:
    """Returns the distinct elements in ascending order. Every NaN is distinct, as in the array API standard.

    >>> print(unique_values([3, 1, 3]))
    [1 3]
    """
    counted = _core.counted_values(x)
    return counted[0] if counted else unique_consecutive(sort(_core.flat(x)))


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Returns the distinct elements in ascending order, and how often each occurs.

    >>> print(*unique_counts([3, 1, 3]))
    [1 3] [1 2]
    """
    if counted := _core.counted_values(x):
        return UniqueCountsResult(*counted)
    found: UniqueCountsResult = unique_consecutive(sort(_core.flat(x)), return_counts=True)
    return found
