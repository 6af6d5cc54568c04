"""scan: sum, product, min, max; inclusive and exclusive."""
import numpy as np

from expected import Near, Values
from primitives.common import (accumulated_from, array_and_type, drawn_initial, few_or_many, near_one, near_sum,
                               shifted, signs_of_sum)
from runs import Input, Run

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
RUNGS = ("serial", "simd", "two_pass", "single_pass", "parallel")


def draw_run(draw):
    operation, inclusive = draw.one_of(["sum", "sum", "product", "min", "max"]), draw.chance(0.5)
    if operation == "product":
        read, array, options, large = factors(draw)
    else:
        read, array, options, large = array_and_type(draw, TYPES)
    params = flags(draw, inclusive)
    if array.dtype.kind == "f" and operation == "sum":
        output, rungs = sums(array, inclusive), None
    elif array.dtype.kind == "f" and operation == "product":
        output, rungs = products(drawn_initial(draw, array.dtype, params), array, inclusive), RUNGS
    else:
        initial = drawn_initial(draw, array.dtype, params)
        output, rungs = Values(accumulated_from(initial, operation, array, inclusive)), RUNGS
    return Run("scan", [Input(read)], [output], operation, params, options, keeps_shape=True,
               rungs=rungs, warns=may_wrap(array, operation), large=large)


def factors(draw):
    if draw.chance(0.5):
        return array_and_type(draw, ["i4", "u4", "i8", "u8"])
    dtype = np.dtype(draw.one_of(["f4", "f8"]))
    n, large = few_or_many(draw, dtype.itemsize)
    array = draw.array(dtype, n, near_one)
    return array, array, [], large


def flags(draw, inclusive):
    return {"inclusive": inclusive} if inclusive or draw.chance(0.3) else {}


def may_wrap(array, operation):
    return array.dtype.kind != "f" and operation in ("sum", "product")


def sums(array, inclusive):
    with np.errstate(all="ignore"):
        wanted, magnitudes = array.astype(np.longdouble).cumsum(), abs(array.astype(np.longdouble)).cumsum()
    additions, signs = np.arange(1, array.size + 1), signs_of_sum(array)[:array.size]
    if not inclusive:
        wanted, magnitudes, additions = (shifted(part, 0) for part in (wanted, magnitudes, additions))
        signs = shifted(signs, 1)
    return near_sum(wanted, array.dtype, additions, magnitudes, signs)


def products(initial, array, inclusive):
    """The products. Element i is rounded at most i + 1 times, in any order. The sign is exact."""
    numbers = np.concatenate([initial, array]).astype(np.longdouble)
    with np.errstate(all="ignore"):
        wanted = numbers.cumprod()
    signs = np.where(np.cumsum(np.signbit(numbers)) % 2, -1, 1)
    if initial.size > 0:
        part = slice(1, None) if inclusive else slice(0, -1)
        wanted, signs = wanted[part], signs[part]
    elif not inclusive:
        wanted, signs = shifted(wanted, 1), shifted(signs, 1)
    finite = np.where(np.isfinite(wanted), abs(wanted), 0)
    return Near(wanted, array.dtype, 2 * np.arange(1, array.size + 1) * np.finfo(array.dtype).eps * finite, signs)
