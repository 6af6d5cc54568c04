"""histogram: even bins, edges and direct; counters that saturate; interleaved channels; images."""
import numpy as np

import draw as drawing
from exact import even_edges
from expected import Bits
from primitives.common import few_or_many
from rules import followed
from runs import Input, Run

TYPES = ["u1", "u2", "u4", "i4", "f4"]
MORE_TYPES = ["i1", "i2", "i8", "u8", "f8"]
COUNTERS = {"u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8"}
MOST_BINS = 5000  # the command takes 2^20, but text of so many is slow to read


def draw_run(draw):
    dtype = np.dtype(draw.one_of(TYPES + (MORE_TYPES if followed(["more_samples"]) else [])))
    operation = draw.one_of(["edges"] + ["even"] * (dtype.kind != "f" or followed(["exact_edges"])) +
                            ["direct"] * (dtype.kind != "f"))
    channels = draw.one_of([1, 1, 2, 3, 4])
    image = None
    if dtype in ("u1", "u2") and draw.chance(0.3):
        image = draw.between(1, 40), draw.between(1, 40), channels
        n, large = image[0] * image[1] * channels, False
    else:
        n, large = few_or_many(draw, dtype.itemsize)
    samples = draw.array(dtype, n)
    run = Run("histogram", [Input(samples, image=image)], [], operation, optional=1, warns=True, large=large)
    if channels > 1:
        run.params["channels"] = channels
    bins, count = BINS[operation](draw, run)
    run.outputs = counted(draw, run, bins, count, channels)
    return run


def bin_count(draw, run, most=MOST_BINS):
    """The number of bins: often that which is the default."""
    bins = draw.between(1, draw.one_of([3, 40, most])) if draw.chance(0.8) else 256
    if bins != 256 or draw.chance(0.2):
        run.params["bins"] = bins
    return bins


# Each returns every sample's bin, or the number of bins for one in none; and the number of bins.


def direct(draw, run):
    samples, bins = run.inputs[0].array, bin_count(draw, run)
    if draw.chance(0.5):
        samples = run.inputs[0].array = draw.numpy.integers(0, bins + bins // 8 + 1, samples.size).astype(samples.dtype)
    inside = (samples >= 0) & (samples.astype("u8") < bins)
    return np.where(inside, samples.astype("u8"), bins).astype(int), bins


def edges(draw, run):
    samples = run.inputs[0].array
    dtype = samples.dtype
    some = draw.array(dtype, draw.between(2, draw.one_of([4, 100, 3000])))
    if samples.size and draw.chance(0.5):
        some = samples[draw.numpy.integers(0, samples.size, some.size)]
    all_edges = np.unique(some[some == some])
    if all_edges.size < 2:
        all_edges = np.array([1, 2], dtype)
    run.inputs.append(Input(all_edges, in_step=False))
    return by_edges(samples, all_edges), all_edges.size - 1


def by_edges(samples, all_edges):
    bins = all_edges.size - 1
    bin_of = np.searchsorted(all_edges, samples, side="right") - 1
    return np.where((bin_of >= 0) & (samples < all_edges[-1]), bin_of, bins)


def even(draw, run):
    return (even_floats if run.inputs[0].array.dtype.kind == "f" else even_integers)(draw, run)


def even_integers(draw, run):
    """Bin floor((x - lower) bins / (upper - lower)), exact; bounds are whole, at most 2^53, and 2^32 apart."""
    samples, bins = run.inputs[0].array, bin_count(draw, run)
    limits = np.iinfo(samples.dtype)
    least, greatest = max(limits.min, -2**53), min(limits.max, 2**53)
    if draw.chance(0.3) and limits.max - limits.min < 2**32:
        lower, upper = int(limits.min), int(limits.max) + 1
    else:
        low, high = draw.one_of([(-10, 300), (-1000, 70000), (least, greatest)])
        lower = draw.between(low, high)
        upper = lower + 1 + draw.between(0, min(draw.one_of([1, 300, 2**32 - 1]), 2**53 - 1 - lower))
        if upper <= limits.min or lower > limits.max:  # a range without a value of the type is refused
            lower, upper = 0, draw.between(1, 100)
    run.params.update(lower=lower, upper=upper)
    x = samples.astype(object)
    inside = (x >= lower) & (x < upper) if x.size else np.zeros(0, bool)
    bin_of = np.full(x.size, bins)
    bin_of[inside] = ((x[inside] - lower) * bins // (upper - lower)).astype(int)
    return bin_of, bins


def even_floats(draw, run):
    """Edges computed in f64 and rounded to the samples' type; many samples lie on one, or just beside it."""
    samples, bins = run.inputs[0].array, bin_count(draw, run)
    dtype = samples.dtype
    if draw.chance(0.5):
        lower = float(draw.between(-100, 100))
        upper = lower + draw.between(1, 1000)
    else:
        lower = float(draw.array(dtype, 1, drawing.normal)[0])
        upper = lower + abs(lower) * draw.one_of([0.5, 3, 100]) + draw.one_of([0, 1])
        upper = max(upper, float(np.nextafter(dtype.type(lower), dtype.type(np.inf))))
    run.params.update(lower=lower, upper=upper)
    all_edges = even_edges(lower, upper, bins, dtype)
    if samples.size and draw.chance(0.7):
        some = all_edges[draw.numpy.integers(0, all_edges.size, samples.size)]
        beside = np.nextafter(some, dtype.type(np.inf) * draw.one_of([1, -1]))
        samples = run.inputs[0].array = np.choose(draw.numpy.integers(0, 3, samples.size), [samples, some, beside])
    return by_edges(samples, all_edges), bins


BINS = {"direct": direct, "edges": edges, "even": even}


def counted(draw, run, bin_of, bins, channels):
    """The counts of every channel, which saturate, and the number of samples outside."""
    channel = np.arange(bin_of.size) % channels
    inside = bin_of < bins
    counts = np.bincount((channel * bins + bin_of)[inside], minlength=channels * bins).astype("u8")
    counter = draw.one_of(["u32", *COUNTERS])
    if counter != "u32" or draw.chance(0.1):
        run.params["counter"] = counter
    dtype = np.dtype(COUNTERS[counter])
    return [Bits(np.minimum(counts, np.uint64(np.iinfo(dtype).max)).astype(dtype)),
            Bits(np.array([np.count_nonzero(~inside)], "u8"))]
