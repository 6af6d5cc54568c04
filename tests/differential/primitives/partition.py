"""partition: by a digit or by splitters, with values or without, and the table of buckets."""
import numpy as np

from expected import Bits
from primitives.common import few_or_many
from runs import Input, Run

VALUES = ["i4", "u4", "f4", "i8", "u8", "f8"]


def draw_run(draw):
    dtype = np.dtype(draw.one_of(["u4", "u8"]))
    values = draw.one_of([None] + VALUES)
    n, large = few_or_many(draw, dtype.itemsize)
    keys = draw.array(dtype, n)
    run = Run("partition", [Input(keys)], [], draw.one_of(["digit", "splitters"]), optional=1, large=large)
    if values:
        run.inputs.append(values_beside(draw, values, n))
    buckets, count = (digits if run.operation == "digit" else between_splitters)(draw, keys, run)
    order = np.argsort(buckets, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(buckets, minlength=count))).astype("u8")
    run.outputs = [Bits(keys[order])] + ([Bits(run.inputs[1].array[order])] if values else []) + [Bits(offsets)]
    run.table = "bucket\toffset\tcount\n" + "".join(
        f"{b}\t{offsets[b]}\t{offsets[b + 1] - offsets[b]}\n" for b in range(count))
    return run


def digits(draw, keys, run):
    width = 8 * keys.itemsize
    bits = draw.between(1, draw.one_of([4, 8, 15])) if draw.chance(0.8) else 8
    first = draw.between(0, width - bits) if draw.chance(0.7) else 0
    if bits != 8:
        run.params["bits"] = bits
    if first:
        run.params["first_bit"] = first
    if draw.chance(0.5):
        run.operation = None  # the default
    return (keys >> keys.dtype.type(first) & keys.dtype.type((1 << bits) - 1)).astype(np.int64), 1 << bits


def between_splitters(draw, keys, run):
    some = draw.array(keys.dtype, draw.between(1, draw.one_of([3, 300, 3000])))
    if keys.size and draw.chance(0.5):
        some = keys[draw.numpy.integers(0, keys.size, some.size)]
    splitters = np.unique(some[some > 0])
    if splitters.size == 0:
        splitters = np.array([1], keys.dtype)
    run.inputs.append(Input(splitters, in_step=False))
    return np.searchsorted(splitters, keys, side="right"), splitters.size + 1


def values_beside(draw, dtype, n):
    """Returns values as an input. In a raw file, they are unsigned numbers of the given width."""
    dtype = np.dtype(dtype)
    return Input(draw.array(dtype, n), {"value_bytes": dtype.itemsize} if dtype.kind == "u" else None)
