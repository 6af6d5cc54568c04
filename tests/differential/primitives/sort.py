"""sort: ascending and descending, with values or indices, by all bits or some."""
import numpy as np

from exact import bits_of
from expected import Bits
from primitives.common import few_or_many
from primitives.partition import VALUES, values_beside
from primitives.scan import TYPES
from runs import Input, Run


def draw_run(draw):
    dtype = np.dtype(draw.one_of(TYPES + 3 * ["f4", "f8"]))
    n, large = few_or_many(draw, dtype.itemsize)
    keys = draw.array(dtype, n)
    descending = draw.chance(0.4)
    run = Run("sort", [Input(keys)], [], "descending" if descending else draw.one_of(["ascending", None]), large=large)
    if dtype.kind == "f" and draw.chance(0.3):
        run.params["float_order"] = "total_order"
    order = stable_order(compared(draw, keys, run), descending)
    run.outputs = [Bits(keys[order])]
    beside = draw.one_of(["nothing", "indices", "values"])
    if beside == "indices":
        run.params["indices"] = True
        run.outputs.append(Bits(order.astype("u8")))
    elif beside == "values":
        run.inputs.append(values_beside(draw, draw.one_of(VALUES), n))
        run.outputs.append(Bits(run.inputs[1].array[order]))
    return run


def compared(draw, keys, run):
    """The compared part of each key: the whole key, or some bits of its order-preserving number."""
    width = 8 * keys.itemsize
    if draw.chance(0.7):
        return total_order_numbers(keys) if "float_order" in run.params else keys
    first = draw.between(0, width - 1) if draw.chance(0.7) else 0
    bits = draw.between(1, width - first) if draw.chance(0.7) else width - first
    if first:
        run.params["first_bit"] = first
    if bits != width - first:
        run.params["bits"] = bits
    numbers = order_numbers(keys, run)
    return numbers >> numbers.dtype.type(first) & numbers.dtype.type((1 << bits) - 1)


def order_numbers(keys, run):
    """An unsigned number per key that compares as the keys do: -0 maps to +0's, every NaN to all ones."""
    if keys.dtype.kind == "f":
        if "float_order" in run.params:
            return total_order_numbers(keys)
        numbers = total_order_numbers(np.where(keys == 0, keys.dtype.type(0), keys))
        return np.where(np.isnan(keys), ~numbers.dtype.type(0), numbers)
    unsigned = bits_of(keys.dtype)
    sign = unsigned.type(1 << 8 * keys.itemsize - 1 if keys.dtype.kind == "i" else 0)
    return keys.view(unsigned) ^ sign


def total_order_numbers(keys):
    unsigned = bits_of(keys.dtype)
    bits, sign = keys.view(unsigned), unsigned.type(1 << 8 * keys.itemsize - 1)
    return np.where(bits & sign, ~bits, bits | sign)


def stable_order(numbers, descending):
    """Returns the indices that sort the numbers stably."""
    if not descending:
        return np.argsort(numbers, kind="stable")
    return (numbers.size - 1 - np.argsort(numbers[::-1], kind="stable"))[::-1]
