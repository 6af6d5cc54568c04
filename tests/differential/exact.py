"""Exact arithmetic for results that the contract rounds once."""
import math
from fractions import Fraction

import numpy as np


def round_to(value, dtype):
    """The float of this type nearest to a Fraction; ties to even."""
    near = dtype.type(float(value))
    infinity = dtype.type(math.inf)
    return min((near, np.nextafter(near, -infinity), np.nextafter(near, infinity)),
               key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(bits_of(dtype))) & 1))


def bits_of(dtype):
    """The unsigned type of the same width."""
    return np.dtype(f"u{dtype.itemsize}")


def exact_sum(array):
    """The sum, rounded once; -0 if all elements are -0 and there is at least one."""
    if array.size and not array.any() and np.signbit(array).all():
        return array.dtype.type(-0.0)
    if not np.isfinite(array).all():
        with np.errstate(invalid="ignore"):
            return array.sum(dtype=array.dtype)
    if array.dtype.itemsize == 8:
        return array.dtype.type(math.fsum(array))
    return round_to(sum(map(Fraction, array.tolist()), Fraction(0)), array.dtype)


def fused(a, x, y):
    """a x + y, rounded once."""
    value = Fraction(float(a)) * Fraction(float(x)) + Fraction(float(y))
    return round_to(value, x.dtype)


def even_edges(lower, upper, bins, dtype):
    """Edges of even float bins: computed in f64, rounded to the samples' type; the last one is `upper`."""
    k = np.arange(bins, dtype=np.float64)
    return np.append(np.float64(lower) + k * (np.float64(upper) - np.float64(lower)) / bins, upper).astype(dtype)
