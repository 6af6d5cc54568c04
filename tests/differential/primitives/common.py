"""Shared by sums and scans."""
import numpy as np

from expected import Near
from runs import name_of

NARROW = ["i1", "u1", "i2", "u2", "i4", "u4", "f4"]  # types with a wider type that holds them losslessly
COMBINE = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}


def few_or_many(draw, itemsize):
    """A size, and whether it spans several chunks."""
    large = draw.chance(0.04)
    return (draw.size_of_chunks(itemsize) if large else draw.size()), large


def array_and_type(draw, types, kind=None):
    """An array of one of the types, or of a narrower type with the option to compute in the wider type. Returns the
    array as read, the array as computed with, the options, and whether it spans several chunks."""
    dtype = np.dtype(draw.one_of(types))
    narrow = [t for t in NARROW if t != dtype and np.can_cast(t, dtype)]
    if not (narrow and draw.chance(0.2)):
        n, large = few_or_many(draw, dtype.itemsize)
        array = draw.array(dtype, n, kind)
        return array, array, [], large
    array = draw.array(draw.one_of(narrow), draw.size())
    return array, array.astype(dtype), ["--out-type", name_of(dtype)], False


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
    """The total in the array's type: integers wrap, NaN propagates."""
    if array.size == 0:
        return np.array([neutral(operation, array.dtype)])
    with np.errstate(all="ignore"):
        return COMBINE[operation].reduce(array, dtype=array.dtype, keepdims=True)


def accumulated(operation, array, inclusive):
    """The scan in the array's type."""
    with np.errstate(all="ignore"):
        running = COMBINE[operation].accumulate(array, dtype=array.dtype)
    return running if inclusive else shifted(running, neutral(operation, array.dtype))


def drawn_initial(draw, dtype, params):
    """For some runs, an array of one initial value, which is also set in the parameters; otherwise an empty array."""
    if not draw.chance(0.3):
        return np.zeros(0, dtype)
    params["initial"] = draw.between(0, 100)
    return np.array([params["initial"]], dtype)


def accumulated_from(initial, operation, array, inclusive):
    """The scan from the initial value, if there is one."""
    if initial.size == 0:
        return accumulated(operation, array, inclusive)
    running = accumulated(operation, np.concatenate([initial, array]), True)
    return running[1:] if inclusive else running[:-1]


def shifted(running, first):
    """The exclusive scan for an inclusive one."""
    return np.concatenate([np.array([first], running.dtype), running])[:running.size]


def near_one(draw, dtype, n):
    """Factors whose partial products neither overflow nor lose bits, in any order."""
    numbers = np.exp2(draw.numpy.uniform(-1, 1, n) * (100 / max(n, 100))) * np.where(draw.numpy.random(n) < 0.5, -1, 1)
    if draw.chance(0.1) and n > 0:
        numbers[draw.numpy.integers(0, n)] = draw.one_of([0.0, -0.0, np.inf, np.nan])
    return numbers


def near_sum(wanted, dtype, additions, magnitudes, signs):
    """Sums in any order: each addition has an error of at most eps / 2 times the sum of the magnitudes."""
    bound = np.asarray(additions, np.longdouble) * np.finfo(dtype).eps * magnitudes
    return Near(wanted, dtype, bound, signs)


def signs_of_sum(array):
    """The sign of a zero sum of the first elements: -1 if all are -0, else 1."""
    if array.size == 0:
        return np.ones(1, int)
    return np.where(np.logical_and.accumulate((array == 0) & np.signbit(array)), -1, 1)
