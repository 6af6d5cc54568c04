"""Sorts and partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

from upsweep import _core


def sort(x: Any, /, *, descending: bool = False, stable: bool = True, out: Any = None, rung: str = "") -> Any:
    """Returns the elements of a 1-d array in order, NaN last; if descending, NaN first. Always stable. `out` may be x.

    >>> print(sort([3, 1, 2]), sort([3, 1, 2], descending=True))
    [1 2 3] [3 2 1]
    """
    return _core.sort(x, "descending" if descending else "ascending", out, rung)


def argsort(x: Any, /, *, descending: bool = False, stable: bool = True, out: Any = None, rung: str = "") -> Any:
    """Returns the indices, int64, that sort the elements of a 1-d array, as sort() does. Always stable.

    >>> print(argsort([30, 10, 20]))
    [1 2 0]
    """
    return _core.argsort(x, "descending" if descending else "ascending", out, rung)


def sort_by_key(keys: Any, values: Any, /, *, descending: bool = False, rung: str = "") -> tuple[Any, Any]:
    """Returns the keys in order, and their values, of 4 or 8 bytes each, in the order of the keys. Always stable.

    >>> print(*sort_by_key([3, 1, 2], [30, 10, 20]))
    [1 2 3] [10 20 30]
    """
    return _core.sort_by_key(keys, values, "descending" if descending else "ascending", rung)


class PartitionResult(NamedTuple):
    """Keys grouped by bucket; the offsets, int64, at which buckets start and the last one ends; the values, or None."""

    keys: Any
    offsets: Any
    values: Any


def partition_by_digit(
    keys: Any, /, values: Any = None, *, first_bit: int = 0, bits: int = 8, rung: str = ""
) -> PartitionResult:
    """Groups integer keys of 32 or 64 bits by a digit: `bits` bits, at most 15, starting at `first_bit`. Keys of one
    bucket stay in input order, as in a pass of a radix sort. Values of 4 or 8 bytes move with their keys.

    >>> print(*partition_by_digit(np.array([5, 2, 4, 3], np.uint32), bits=1)[:2])
    [2 4 5 3] [0 2 4]
    """
    return PartitionResult(*_core.partition_by_digit(keys, values, first_bit, bits, rung))


def partition_by_splitters(keys: Any, splitters: Any, /, values: Any = None, *, rung: str = "") -> PartitionResult:
    """Groups keys, uint32 or uint64, by the number of `splitters` less than or equal to the key. Keys of one bucket
    stay in input order. There are at most 32767 splitters, of the type of the keys; they ascend and are at least 1,
    which is not checked on a GPU. Values of 4 or 8 bytes move with their keys.

    >>> print(*partition_by_splitters(np.array([5, 2, 4, 3], np.uint32), np.array([4], np.uint32))[:2])
    [2 3 5 4] [0 2 4]
    """
    return PartitionResult(*_core.partition_by_splitters(keys, values, splitters, rung))
