"""histogram: even bins, edges and direct; counters that saturate; interleaved channels; images."""
import numpy as np

import draw as drawing
from exact import even_edges
from expected import Bits
from primitives.common import few_or_many
from runs import Input, Run, name_of

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
COUNTERS = {"u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8"}
MOST_BINS = 5000  # the command allows 2^20, but that much text is slow to read


def draw_run(draw):
    dtype = np.dtype(draw.one_of(TYPES))
    operation = draw.one_of(["edges", "even"] + ["direct"] * (dtype.kind != "f"))
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


def bin_count(draw, run):
    """Draws the number of bins, which is often the default, and sets the parameter if necessary."""
    bins = draw.between(1, draw.one_of([3, 40, MOST_BINS])) if draw.chance(0.8) else 256
    if bins != 256 or draw.chance(0.2):
        run.params["bins"] = bins
    return bins


# Each function returns the bin of every sample, or the number of bins for a sample outside; and the number of bins.


def direct(draw, run):
    samples, bins = run.inputs[0].array, bin_count(draw, run)
    if draw.chance(0.5):
        samples = run.inputs[0].array = draw.numpy.integers(0, bins + bins // 8 + 1, samples.size).astype(samples.dtype)
    inside = (samples >= 0) & (samples.astype("u8") < bins)
    return np.where(inside, samples.astype("u8"), bins).astype(int), bins


def edges(draw, run):
    samples, closed = run.inputs[0].array, closes(draw, run)
    dtype = np.dtype(draw.one_of(TYPES)) if draw.chance(0.4) else samples.dtype
    some = draw.array(dtype, draw.between(2, draw.one_of([4, 100, 3000])))
    if samples.size and draw.chance(0.5):
        some = of_type(samples[draw.numpy.integers(0, samples.size, some.size)], dtype)
    all_edges = np.unique(some[some == some])
    if all_edges.size < 2:
        all_edges = np.array([1, 2], dtype)
    own_type = {} if dtype == samples.dtype else {"edge_type": name_of(dtype)}
    run.inputs.append(Input(all_edges, own_type, in_step=False))
    # Long doubles represent all 64-bit integers and all doubles.
    return by_edges(samples.astype("g"), all_edges.astype("g"), closed), all_edges.size - 1


def of_type(samples, dtype):
    """The samples converted to the type, clamped to its limits."""
    if dtype.kind == "f":
        return samples.astype(dtype)
    limits = np.iinfo(dtype)
    # Clips as long doubles, which represent both limits.
    return np.clip(np.nan_to_num(samples.astype("g")), np.longdouble(limits.min), np.longdouble(limits.max)).astype(dtype)


def closes(draw, run):
    """Draws whether the last bin includes its upper edge."""
    closed = draw.chance(0.3)
    if closed or draw.chance(0.1):
        run.params["closed"] = closed
    return closed


def by_edges(samples, all_edges, closed):
    bins = all_edges.size - 1
    bin_of = np.searchsorted(all_edges, samples, side="right") - 1
    bin_of = np.where((bin_of >= 0) & (samples < all_edges[-1]), bin_of, bins)
    return np.where(closed & (samples == all_edges[-1]), bins - 1, bin_of)


def even(draw, run):
    is_float = run.inputs[0].array.dtype.kind == "f"
    bins = bin_count(draw, run)
    if draw.chance(0.3):
        lower, upper, closed = range_of(run.inputs[0].array, bins)
    else:
        lower, upper = (float_range if is_float else integer_range)(draw, run)
        run.params.update(lower=lower, upper=upper)
        closed = closes(draw, run)
    return (even_floats if is_float else even_integers)(draw, run, lower, upper, bins, closed), bins


def range_of(samples, bins):
    """The default range: that of the finite samples, with a closed last bin; for bytes in 256 bins, all bytes."""
    if samples.dtype == np.uint8 and bins == 256:
        return 0, 256, False
    finite = samples[np.isfinite(samples)]
    if finite.size == 0:
        return 0, 1, True
    least, greatest = finite.min().item(), finite.max().item()
    if least < greatest:
        return float_below(least), -float_below(-greatest), True
    half = max(0.5, abs(least) * 2.0**-20)
    return (least - half, least + half, True) if samples.dtype.kind == "f" else (
        float_below(least), max(-float_below(-least), float_below(least) + 1), True)


def float_below(number):
    """The largest float that is not above a number; integers beyond 2^53 may differ from it."""
    near = float(number)
    return type(number)(near if near <= number else np.nextafter(near, -np.inf))


def integer_range(draw, run):
    """Draws bounds: whole numbers that a double represents, no further apart than the type's range."""
    limits = np.iinfo(run.inputs[0].array.dtype)
    all_values = limits.max - limits.min + 1
    if draw.chance(0.3) and all_values <= 2**64:
        return limits.min, limits.max + 1
    farthest, widest = (2**64, 2**64) if limits.bits == 64 else (2**53, 2**32)
    low, high = draw.one_of([(-10, 300), (-1000, 70000), (max(limits.min, -farthest), min(limits.max, farthest))])
    lower = int(float(draw.between(low, high)))
    upper = int(float(lower + 1 + draw.between(0, min(draw.one_of([1, 300, widest - 1]), farthest - 1 - lower))))
    if lower < upper <= lower + widest and lower <= limits.max and limits.min < upper:
        return lower, upper
    return 0, draw.between(1, 100)


def even_integers(_, run, lower, upper, bins, closed):
    """Returns the bin of each sample x, floor((x - lower) bins / (upper - lower)), exactly."""
    samples = run.inputs[0].array
    x = samples.astype(np.int64 if samples.itemsize < 8 else object)  # wide enough for the products, 2^33 bins
    if x.size == 0:
        return np.zeros(0, int)
    inside = ((x >= lower) & (x < upper)).astype(bool)
    bin_of = np.full(x.size, bins)
    bin_of[inside] = ((x[inside] - lower) * bins // (upper - lower)).astype(int)
    return np.where((x == upper).astype(bool) & closed, bins - 1, bin_of)


def float_range(draw, run):
    dtype = run.inputs[0].array.dtype
    if draw.chance(0.5):
        lower = float(draw.between(-100, 100))
        return lower, lower + draw.between(1, 1000)
    lower = float(draw.array(dtype, 1, drawing.normal)[0])
    upper = lower + abs(lower) * draw.one_of([0.5, 3, 100]) + draw.one_of([0, 1])
    return lower, max(upper, float(np.nextafter(dtype.type(lower), dtype.type(np.inf))))


def even_floats(draw, run, lower, upper, bins, closed):
    """Returns the bin of each sample, between edges that are computed in f64 and rounded to the samples' type. Moves
    many samples to an edge or next to one."""
    samples = run.inputs[0].array
    all_edges = even_edges(lower, upper, bins, samples.dtype)
    if samples.size and "lower" in run.params and draw.chance(0.7):
        some = all_edges[draw.numpy.integers(0, all_edges.size, samples.size)]
        beside = np.nextafter(some, samples.dtype.type(np.inf) * draw.one_of([1, -1]))
        samples = run.inputs[0].array = np.choose(draw.numpy.integers(0, 3, samples.size), [samples, some, beside])
    return by_edges(samples, all_edges, closed)


BINS = {"direct": direct, "edges": edges, "even": even}


def counted(draw, run, bin_of, bins, channels):
    """The saturating counts of every channel, and the number of samples outside."""
    channel = np.arange(bin_of.size) % channels
    inside = bin_of < bins
    counts = np.bincount((channel * bins + bin_of)[inside], minlength=channels * bins).astype("u8")
    counter = draw.one_of(["u32", *COUNTERS])
    if counter != "u32" or draw.chance(0.1):
        run.params["counter"] = counter
    dtype = np.dtype(COUNTERS[counter])
    return [Bits(np.minimum(counts, np.uint64(np.iinfo(dtype).max)).astype(dtype)),
            Bits(np.array([np.count_nonzero(~inside)], "u8"))]
