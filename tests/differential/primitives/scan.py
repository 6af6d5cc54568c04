"""scan: sum, min, max; inclusive and exclusive."""
import numpy as np

from expected import Values
from primitives.common import accumulated_from, array_and_type, drawn_initial, near_sum, shifted, signs_of_sum
from runs import Input, Run

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
RUNGS = ("serial", "simd", "two_pass", "single_pass", "parallel")


def draw_run(draw):
    operation, inclusive = draw.one_of(["sum", "sum", "min", "max"]), draw.chance(0.5)
    read, array, options, large = array_and_type(draw, TYPES)
    params = flags(draw, inclusive)
    if array.dtype.kind == "f" and operation == "sum":
        output, rungs = sums(array, inclusive), None
    else:
        initial = drawn_initial(draw, array.dtype, params)
        output, rungs = Values(accumulated_from(initial, operation, array, inclusive)), RUNGS
    return Run("scan", [Input(read)], [output], operation, params, options, keeps_shape=True,
               rungs=rungs, warns=may_wrap(array, operation), large=large)


def flags(draw, inclusive):
    return {"inclusive": inclusive} if inclusive or draw.chance(0.3) else {}


def may_wrap(array, operation):
    return array.dtype.kind != "f" and operation == "sum"


def sums(array, inclusive):
    with np.errstate(all="ignore"):
        wanted, magnitudes = array.astype(np.longdouble).cumsum(), abs(array.astype(np.longdouble)).cumsum()
    additions, signs = np.arange(1, array.size + 1), signs_of_sum(array)[:array.size]
    if not inclusive:
        wanted, magnitudes, additions = (shifted(part, 0) for part in (wanted, magnitudes, additions))
        signs = shifted(signs, 1)
    return near_sum(wanted, array.dtype, additions, magnitudes, signs)
