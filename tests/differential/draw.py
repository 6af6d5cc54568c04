"""Random choices, sizes and arrays, reproducible from the seed and the run's number."""
import random

import numpy as np

LARGEST = 5000  # elements, for most runs
CHUNK = 1 << 20  # bytes that the command reads per chunk under --memory 1


class Draw:
    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")
        self.numpy = np.random.Generator(np.random.PCG64([seed, number]))

    def chance(self, probability):
        return self.random.random() < probability

    def one_of(self, choices):
        return self.random.choice(list(choices))

    def between(self, low, high):
        return self.random.randint(low, high)

    def size(self):
        """Returns a size from 0 to LARGEST: often small, often close to a power of two."""
        kind = self.between(0, 3)
        if kind == 0:
            return self.between(0, 3)
        if kind == 1:
            return max(0, min(LARGEST, (1 << self.between(2, 12)) + self.between(-1, 1)))
        return self.between(0, LARGEST if kind == 2 else 300)

    def size_of_chunks(self, itemsize):
        """Returns a size close to one or two chunks, or between."""
        chunk = CHUNK // itemsize
        return self.one_of([chunk, 2 * chunk]) + self.one_of([-1, 0, 1, self.between(2, chunk // 2)])

    def array(self, dtype, n, kind=None):
        """Returns n elements of this kind, or of a random kind that exists for the type."""
        dtype = np.dtype(dtype)
        kinds = FLOATS if dtype.kind == "f" else INTEGERS
        make = kind or self.one_of(kinds)
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(make(self, dtype, n).astype(dtype))


# ---- integers -------------------------------------------------------------------------------------------------------


def any_bits(draw, dtype, n):
    return np.frombuffer(draw.numpy.bytes(n * dtype.itemsize), dtype)


def around_zero(draw, dtype, n):
    reach = draw.one_of([1, 3, 10, 100])
    return draw.numpy.integers(-reach if dtype.kind == "i" else 0, reach + 1, n)


def extremes(draw, dtype, n):
    limits = np.iinfo(dtype)
    some = np.array([limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max], dtype)
    return some[draw.numpy.integers(0, some.size, n)]


def runs(draw, dtype, n):
    """Runs of equal elements."""
    if n == 0:
        return np.zeros(0, dtype)
    starts = draw.numpy.random(n) < draw.one_of([0.5, 0.1, 0.01])
    values = draw.array(dtype, n, draw.one_of([around_zero, any_bits] if dtype.kind != "f" else [whole, special]))
    return values[np.maximum.accumulate(np.where(starts, np.arange(n), 0))]


def constant(draw, dtype, n):
    return np.full(n, draw.array(dtype, 1, any_bits if dtype.kind != "f" else special)[0])


def ascending(draw, dtype, n):
    return np.sort(draw.array(dtype, n, any_bits if dtype.kind != "f" else normal))


INTEGERS = [any_bits, any_bits, around_zero, extremes, runs, constant, ascending]

# ---- floats ---------------------------------------------------------------------------------------------------------


def normal(draw, dtype, n):
    return draw.numpy.standard_normal(n) * 10.0**draw.between(-6, 6)


def whole(draw, dtype, n):
    reach = draw.one_of([2, 20, 2000])
    return draw.numpy.integers(-reach, reach + 1, n).astype(dtype)


def wide(draw, dtype, n):
    """Magnitudes from far below 1 to far above; a thousand of the largest still have a finite sum."""
    reach = 100 if dtype.itemsize == 4 else 900
    return np.ldexp(draw.numpy.uniform(-1, 1, n), draw.numpy.integers(-reach, reach + 1, n))


def subnormal(draw, dtype, n):
    tiny = np.finfo(dtype).tiny
    return (draw.numpy.integers(-2000, 2001, n) * (float(tiny) / 1024)).astype(dtype)


def zeros(draw, dtype, n):
    share = draw.one_of([0, 0.1, 0.5, 1])
    return np.where(draw.numpy.random(n) < share, -0.0, 0.0)


def special(draw, dtype, n):
    """NaN of both signs and several payloads, infinities, zeros of both signs, among a few numbers."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    infinity = np.array([np.inf], dtype).view(unsigned)[0]
    sign = unsigned.type(1) << unsigned.type(8 * dtype.itemsize - 1)
    quiet = infinity | infinity >> unsigned.type(1)
    some = [quiet, quiet | sign, quiet | unsigned.type(1), quiet | sign | unsigned.type(77), infinity, infinity | sign,
            unsigned.type(0), sign]
    some = np.concatenate([np.array(some, unsigned), np.array([1, -1, 1.5, 2, -3], dtype).view(unsigned)])
    return some[draw.numpy.integers(0, some.size, n)].view(dtype)


def with_special(draw, dtype, n):
    """Numbers with occasional special values."""
    with np.errstate(all="ignore"):
        numbers = normal(draw, dtype, n).astype(dtype)
    return np.where(draw.numpy.random(n) < draw.one_of([0.3, 0.01, 1 / (n + 1)]), special(draw, dtype, n), numbers)


FLOATS = [
    normal, normal, whole, wide, subnormal, zeros, zeros, special, special, with_special, runs, constant, ascending
]
