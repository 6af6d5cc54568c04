"""reduce: sum, product, min, max, argmin, argmax."""
import numpy as np

from exact import exact_sum
from expected import Bits, Near, Values
from primitives.common import (array_and_type, combined, drawn_initial, few_or_many, near_one, near_sum,
                               signs_of_sum)
from runs import Input, Run


def draw_run(draw):
    if draw.chance(0.25):
        return draw_index(draw)
    operation = draw.one_of(["sum", "product", "min", "max"])
    types = draw.one_of([["i4", "u4", "i8", "u8"], ["f4", "f8"]])
    kind = near_one if operation == "product" and "f4" in types else None
    read, array, options, large = array_and_type(draw, types, kind)
    if operation == "product" and array.dtype.kind == "f" and overflows(array):
        operation = "sum"
    rungs, params = ("serial", "simd", "parallel"), {}
    if array.dtype.kind != "f" or operation in ("min", "max"):
        output = Values(combined(operation, np.concatenate([drawn_initial(draw, array.dtype, params), array])))
    elif operation == "product":
        output = product(array)
    elif draw.chance(0.3):
        rungs, output = ("reproducible",), exactly(array)
    else:
        rungs, output = None, roughly(array)
    return Run("reduce", [Input(read)], [output], operation, params, options, rungs=rungs,
               warns=array.dtype.kind != "f" and operation in ("sum", "product"), large=large)


def draw_index(draw):
    """Draws a run of argmin or argmax. Some arrays have few distinct elements, so that the extreme occurs more than
    once."""
    operation, dtype = draw.one_of(["argmin", "argmax"]), np.dtype(draw.one_of(["i4", "u4", "i8", "u8", "f4", "f8"]))
    n, large = few_or_many(draw, dtype.itemsize)
    array = draw.array(dtype, max(n, 1))
    if draw.chance(0.3):
        array = array[draw.numpy.integers(0, min(array.size, 7), array.size)]
    index = np.array([getattr(np, operation)(array)], "u8")
    return Run("reduce", [Input(array)], [Values(index)], operation, rungs=("serial", "simd", "parallel"), large=large)


def overflows(array):
    """True if a partial product may overflow to infinity. If it then meets a zero, the result is NaN, but only in some
    orders."""
    return np.log2(np.fmax(abs(array[np.isfinite(array)]), 1)).sum() > 100


def product(array):
    """The product. Each of its n - 1 multiplications rounds once, in any order. The sign is exact."""
    wanted = np.prod(array.astype(np.longdouble), keepdims=True)
    sign = -1 if np.signbit(array).sum() % 2 else 1
    return Near(wanted, array.dtype, 2 * array.size * np.finfo(array.dtype).eps * abs(wanted), sign)


def roughly(array):
    numbers = array.astype(np.longdouble)
    with np.errstate(all="ignore"):
        wanted, magnitude = numbers.sum(keepdims=True), abs(numbers).sum(keepdims=True)
    return near_sum(wanted, array.dtype, array.size, magnitude, signs_of_sum(array)[-1:])


def exactly(array):
    wanted = np.array([exact_sum(array)], array.dtype)
    return Bits(wanted) if np.isfinite(wanted).all() else Values(wanted)
