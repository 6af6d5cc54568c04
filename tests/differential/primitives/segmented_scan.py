"""segmented_scan: scans that restart at every head; heads by flags, keys or offsets."""
import numpy as np

from expected import Near, Values
from primitives.common import accumulated_from, array_and_type, drawn_initial
from primitives.scan import TYPES, flags, may_wrap, sums
from runs import Input, Run


def draw_run(draw):
    operation, inclusive = draw.one_of(["sum", "sum", "min", "max"]), draw.chance(0.5)
    read, array, options, large = array_and_type(draw, TYPES)
    n = array.size
    heads = np.unique(np.append(0, draw.numpy.integers(0, n + 1, draw.between(0, min(n, 200))))).astype(np.uint64)
    kind = draw.one_of(["flags", "keys", "offsets"])
    params = flags(draw, inclusive)
    rounds = array.dtype.kind == "f" and operation == "sum"
    initial = np.zeros(0, array.dtype) if rounds else drawn_initial(draw, array.dtype, params)
    parts = np.split(array, heads[1:].astype(int))
    output = joined([scanned(part, operation, inclusive, initial) for part in parts])
    if kind != "flags" or draw.chance(0.3):
        params["heads"] = kind
    return Run("segmented_scan", [Input(read), as_input(draw, kind, heads, n)], [output], operation, params, options,
               keeps_shape=True, warns=may_wrap(array, operation), large=large)


def scanned(part, operation, inclusive, initial):
    if part.dtype.kind == "f" and operation == "sum":
        return sums(part, inclusive)
    return Values(accumulated_from(initial, operation, part, inclusive))


def joined(parts):
    arrays = np.concatenate([part.array for part in parts])
    if isinstance(parts[0], Values):
        return Values(arrays)
    return Near(arrays, parts[0].dtype, np.concatenate([part.bound for part in parts]),
                np.concatenate([part.signs for part in parts]))


def as_input(draw, kind, heads, n):
    begins = np.zeros(n, bool)
    begins[heads[heads < n].astype(int)] = True
    if kind == "flags":
        flags = np.where(begins, draw.numpy.integers(1, 256, n), 0)
        if n > 0 and draw.chance(0.5):
            flags[0] = 0  # the first element is always a head
        return Input(flags.astype("u1"))
    if kind == "keys":
        return Input((np.cumsum(begins) % draw.between(2, 9)).astype("u4"))
    if draw.chance(0.3):
        heads = heads[1:]  # the first element is always a head
    return Input(np.repeat(heads, draw.numpy.integers(1, 3, heads.size)), in_step=False)  # some segments are empty
