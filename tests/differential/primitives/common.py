"""What sums and scans have in common."""
import numpy as np

from expected import Near
from rules import followed

COMBINE = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}


def few_or_many(draw, itemsize):
    """A size, and whether it is of several chunks."""
    large = draw.chance(0.04)
    return (draw.size_of_chunks(itemsize) if large else draw.size()), large


def neutral(operation, dtype):
    if operation == "sum":
        return dtype.type(0)
    if operation == "product":
        return dtype.type(1)
    if dtype.kind == "f":
        return dtype.type(np.inf if operation == "min" else -np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if operation == "min" else limits.min)


def combined(operation, array):
    """The total, in the array's type: integers wrap, NaN is passed on."""
    if array.size == 0:
        return np.array([neutral(operation, array.dtype)])
    with np.errstate(all="ignore"):
        return COMBINE[operation].reduce(array, dtype=array.dtype, keepdims=True)


def accumulated(operation, array, inclusive):
    """The scan, in the array's type."""
    with np.errstate(all="ignore"):
        running = COMBINE[operation].accumulate(array, dtype=array.dtype)
    return running if inclusive else shifted(running, neutral(operation, array.dtype))


def shifted(running, first):
    """The exclusive scan of an inclusive one."""
    return np.concatenate([np.array([first], running.dtype), running])[:running.size]


def near_sum(wanted, dtype, additions, magnitudes, signs):
    """Sums in any order: each of the additions is off by at most eps / 2 of the sum of the magnitudes."""
    bound = np.asarray(additions, np.longdouble) * np.finfo(dtype).eps * magnitudes
    return Near(wanted, dtype, bound, signs if followed(["zero_sums"]) else None)


def signs_of_sum(array):
    """The sign that a zero has as the sum of the first elements: -1 after -0 alone, else 1."""
    if array.size == 0:
        return np.ones(1, int)
    return np.where(np.logical_and.accumulate((array == 0) & np.signbit(array)), -1, 1)
