"""select: find_repeats, nonzero, select_if, select_flagged, unique, run_length_encode, partition_if."""
import numpy as np

import draw as drawing
from expected import Bits
from primitives.common import few_or_many
from primitives.scan import TYPES
from runs import Input, Run


def draw_run(draw):
    operation = draw.one_of(list(EXPECTED))
    dtype = np.dtype(draw.one_of(TYPES))
    n, large = few_or_many(draw, dtype.itemsize)
    array = draw.array(dtype, n, drawing.runs if draw.chance(0.5) else None)
    run = Run("select", [Input(array)], [], operation, count_known=False, large=large)
    EXPECTED[operation](draw, array, run)
    run.outputs = [Bits(output) for output in run.outputs]
    return run


def find_repeats(draw, array, run):
    if draw.chance(0.3):
        run.operation = None  # the first is the default
    run.outputs = [np.flatnonzero(array[:-1] == array[1:]).astype("u8")]


def nonzero(draw, array, run):
    run.outputs = [np.flatnonzero(array).astype("u8")]


def select_if(draw, array, run):
    run.outputs = [array[below(draw, array, run)]]


def partition_if(draw, array, run):
    selected = below(draw, array, run)
    run.outputs = [array[selected], array[~selected]]
    run.rungs = ("serial", "simd", "two_pass", "parallel")


def below(draw, array, run):
    dtype = array.dtype
    middle = dtype.type(1 << 8 * dtype.itemsize - 1 if dtype.kind == "u" else 0)
    limit = draw.one_of(array) if array.size and draw.chance(0.5) else draw.array(dtype, 1)[0]
    if np.isfinite(limit) and draw.chance(0.9):
        run.params["below"] = limit
    return array < run.params.get("below", middle)


def select_flagged(draw, array, run):
    flags = draw.array("u1", array.size)
    if draw.chance(0.5):
        flags = (flags & 1).astype("u1")
    run.inputs.append(Input(flags))
    run.outputs = [array[flags != 0]]


def starts(array):
    """True for the first element of every run. Each NaN is a run."""
    return np.append(True, array[1:] != array[:-1])[:array.size]


def unique(draw, array, run):
    run.outputs = [array[starts(array)]]


def run_length_encode(draw, array, run):
    first = np.flatnonzero(starts(array))
    run.outputs = [array[first], np.diff(np.append(first, array.size)).astype("u8")]


EXPECTED = {
    f.__name__: f
    for f in (find_repeats, nonzero, select_if, partition_if, select_flagged, unique, run_length_encode)
}
