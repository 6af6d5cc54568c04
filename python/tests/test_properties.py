"""Random arrays of any type, size and layout, against NumPy."""

from __future__ import annotations

import numpy as np
import upsweep as up
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

TYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", ">i4", ">f8"]


@st.composite
def vectors(draw: st.DrawFn) -> np.ndarray:
    """Draws a view of a random array, with any step and start."""
    x = draw(hnp.arrays(st.sampled_from(TYPES), st.integers(0, 300)))
    step = draw(st.sampled_from([1, 1, 2, -1, -3]))
    return x[draw(st.integers(0, 3)) :: step]


def same(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.dtype == expected.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=60, deadline=None)
@given(vectors())
def test_orders_and_runs(x: np.ndarray) -> None:
    same(up.sort(x), np.sort(x, kind="stable"))
    same(up.argsort(x), np.argsort(x, kind="stable"))
    values, counts = up.unique_counts(x)
    expected = np.unique(x, return_counts=True, equal_nan=False)
    same(values, expected[0])
    np.testing.assert_array_equal(counts, expected[1])
    np.testing.assert_array_equal(up.find_repeats(x), np.flatnonzero(x[1:] == x[:-1]))
    if x.size:
        same(np.asarray(up.min(x)), np.asarray(x.min()))
        same(np.asarray(up.max(x)), np.asarray(x.max()))


@settings(max_examples=60, deadline=None)
@given(vectors(), st.booleans(), st.integers(-100, 100))
def test_integer_sums(x: np.ndarray, exclusive: bool, initial: int) -> None:
    if x.dtype.kind == "f":
        return
    first = x.sum(dtype=np.cumsum(x).dtype).dtype.type(initial % 2**64 if x.dtype.kind == "u" else initial)
    initial = int(first)
    with np.errstate(over="ignore"):
        sums = np.cumsum(np.append(first, x), dtype=first.dtype)
    same(up.cumulative_sum(x, initial=initial, exclusive=exclusive), sums[:-1] if exclusive else sums[1:])
    same(np.asarray(up.sum(x, initial=initial)), np.asarray(sums[-1]))


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(st.sampled_from(["f4", "f8"]), st.integers(0, 300)))
def test_reproducible_sums(x: np.ndarray) -> None:
    x = np.nan_to_num(x, nan=1, posinf=2, neginf=3) * x.dtype.type(2.0**-10)
    a, b = up.cumulative_sum(x, reproducible=True), up.cumulative_sum(x[:100], reproducible=True)
    np.testing.assert_array_equal(a[: b.size], b)
    # The exact sum does not depend on the order of its terms.
    assert up.sum(x, reproducible=True) == up.sum(x[::-1], reproducible=True)


@settings(max_examples=60, deadline=None)
@given(vectors(), st.integers(1, 40), st.integers(-200, 200), st.integers(1, 300))
def test_histograms(x: np.ndarray, bins: int, lower: int, width: int) -> None:
    counts, edges = up.histogram(x, bins, (lower, lower + width))
    assert edges.size == bins + 1
    # Computed with Python's numbers, which do not round.
    inside = [v for v in x.tolist() if v == v and lower <= v <= lower + width]
    assert counts.sum() == len(inside)
    if x.dtype.kind != "f":
        expected = [0] * bins
        for v in inside:
            expected[min((int(v) - lower) * bins // width, bins - 1)] += 1
        np.testing.assert_array_equal(counts, expected)
