"""Every function against NumPy: all types and layouts, on the arrays of each library that is installed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import upsweep as up
from kinds import KINDS, Kind

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
INTEGERS = TYPES[1:9]
SIZES = [0, 1, 2, 3, 31, 1000, 65_537]


def samples(dtype: str, n: int) -> np.ndarray:
    """Random elements, with runs and repeated values; for floats also NaN, infinities and both zeros."""
    rng = np.random.default_rng(n)
    if dtype == "bool":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.startswith("float"):
        x = rng.integers(-40, 40, n).astype(dtype) / 4
        if n >= 31:
            x[rng.integers(0, n, n // 8)] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], n // 8)
        return x
    info = np.iinfo(dtype)
    few, any_value = rng.integers(0, 4, n).astype(dtype), rng.integers(info.min, info.max, n, dtype, endpoint=True)
    return np.where(rng.random(n) < 0.5, few, any_value)


def same(found: Any, expected: Any, library: Kind | None = None) -> None:
    if library:
        assert isinstance(found, library.array_type) or np.isscalar(found)
        found = library.back(found)
    assert isinstance(found, (np.ndarray, np.generic))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.fixture(params=TYPES)
def dtype(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS, ids=str)
class TestAgainstNumPy:
    def test_sums(self, kind: Kind, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        if dtype.startswith("float"):  # sums of quarters are exact
            x = np.nan_to_num(x, posinf=1, neginf=-1)
        a = kind.array(x)
        same(up.sum(a), x.sum(), kind)
        same(up.cumulative_sum(a), x.cumsum(), kind)
        before = np.concatenate([np.zeros(1, x.cumsum().dtype), x.cumsum()])[:n]
        same(up.cumulative_sum(a, exclusive=True), before, kind)

    def test_products(self, kind: Kind, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        if dtype.startswith("float"):
            x = np.where(np.isfinite(x) & (x > 0), 2, 0.5).astype(dtype)[:100]
        same(up.prod(kind.array(x)), x.prod(), kind)

    def test_extremes(self, kind: Kind, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        for ours, numpys in (up.min, np.min), (up.max, np.max):
            if n == 0:
                with pytest.raises(ValueError, match="x is empty"):
                    ours(kind.array(x))
            else:
                same(ours(kind.array(x)), numpys(x), kind)

    def test_positions_of_extremes(self, kind: Kind, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        for ours, numpys in (up.argmin, np.argmin), (up.argmax, np.argmax):
            if n == 0:
                with pytest.raises(ValueError, match="x is empty"):
                    ours(kind.array(x))
            else:
                for each in x, np.full_like(x, 1), x[x == x] if (x == x).any() else x:
                    same(ours(kind.array(each)), numpys(each), kind)

    def test_cumulative_products(self, kind: Kind, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        if dtype.startswith("float"):
            # All products of these are powers of two, which are exact and neither underflow nor overflow.
            x = np.where(np.arange(n) % (n // 50 + 1) > 0, 1, np.where(x > 0, 2, -0.5)).astype(dtype)
        expected = x.cumprod()
        same(up.cumulative_prod(kind.array(x)), expected, kind)
        before = np.concatenate([np.ones(1, expected.dtype), expected])[:n]
        same(up.cumulative_prod(kind.array(x), exclusive=True), before, kind)
        same(up.cumulative_prod(kind.array(x), initial=2), expected * expected.dtype.type(2), kind)
        if not dtype.startswith("float"):
            same(up.cumulative_prod(kind.array(x), dtype="int16"), x.cumprod(dtype="int16"), kind)

    def test_sorts(self, kind: Kind, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        a = kind.array(x)
        same(up.sort(a), np.sort(x, kind="stable"), kind)
        same(up.argsort(a), np.argsort(x, kind="stable"), kind)
        if dtype.startswith("float"):  # equal elements keep their bits
            same(np.signbit(kind.back(up.sort(a))), np.signbit(x[np.argsort(x, kind="stable")]))
        same(up.sort(a, descending=True), np.sort(x)[::-1], kind)
        # A descending sort is stable, too: equal elements keep their order.
        indices = kind.back(up.argsort(a, descending=True))
        same(x[indices], np.sort(x)[::-1])
        equal = np.flatnonzero(x[indices][1:] == x[indices][:-1])
        assert (indices[equal] < indices[equal + 1]).all()

    def test_selections(self, kind: Kind, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        a = kind.array(x)
        condition = samples("bool", n)[::-1].copy()
        same(up.compress(kind.array(condition), a), x[condition], kind)
        same(up.find_repeats(a), np.flatnonzero(x[1:] == x[:-1]), kind)
        same(up.nonzero(a)[0], np.flatnonzero(x), kind)
        heads = np.concatenate([[True], x[1:] != x[:-1]])[:n].astype(bool)
        same(up.unique_consecutive(a), x[heads], kind)
        values, counts = up.unique_consecutive(a, return_counts=True)
        same(values, x[heads], kind)
        same(counts, np.diff(np.append(np.flatnonzero(heads), n)), kind)
        expected = np.unique(x, return_counts=True, equal_nan=False)
        same(up.unique_values(a), expected[0], kind)
        same(up.unique_counts(a).counts, expected[1], kind)

    def test_histograms(self, kind: Kind, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        if dtype.startswith("float"):
            x = x[np.isfinite(x)]
        else:
            x = x % x.dtype.type(100) if dtype != "bool" else x.astype("uint8")
        for options in ({"bins": 7, "range": (-3, 60)}, {"range": (0.5, 20.25)}, {"bins": 64}):
            counts, edges = up.histogram(kind.array(x), **options)
            counts, expected = kind.back(counts), np.histogram(x, **options)
            np.testing.assert_array_equal(edges, expected[1])
            assert counts.dtype == np.int64
            assert counts.sum() == expected[0].sum()
            if dtype.startswith("float"):
                np.testing.assert_array_equal(counts, expected[0])

    def test_histograms_of_edges(self, kind: Kind, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        x = x.astype("uint8") if dtype == "bool" else x  # NumPy does not compare bool with the edges
        for edges in ([-3, 0, 1, 50], np.array([0, 1 / 3, 1e30]), np.array([-1.5, 2.25], np.float32), np.arange(300)):
            counts, same_edges = up.histogram(kind.array(samples(dtype, n)), edges)
            np.testing.assert_array_equal(same_edges, edges)
            same(counts, np.histogram(x, edges)[0], kind)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_bincount(kind: Kind, dtype: str, n: int) -> None:
    x = samples(dtype, n)
    x = (x % x.dtype.type(100) if dtype != "bool" else x.astype("uint8")).astype(dtype)
    if np.issubdtype(x.dtype, np.signedinteger):
        x = np.maximum(x, 0)
    expected = np.bincount(x.astype("int64"), minlength=5)
    same(up.bincount(kind.array(x), minlength=5), expected, kind)


def segmented(x: np.ndarray, heads: np.ndarray, operation: np.ufunc, exclusive: bool, start: Any) -> np.ndarray:
    """Scans each segment with NumPy; `heads` marks the first element of each."""
    out = np.empty_like(x)
    for segment in np.split(np.arange(x.size), np.flatnonzero(heads[1:]) + 1):
        part = operation.accumulate(np.append(start, x[segment]), dtype=x.dtype)
        out[segment] = part[:-1] if exclusive else part[1:]
    return out


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS, ids=str)
class TestPairs:
    """Functions of two arrays."""

    def test_segmented_scans(self, kind: Kind, n: int) -> None:
        x = samples("int64", n)
        flags = samples("uint8", n) == 1
        keys = np.cumsum(flags).astype("int32")
        offsets = np.flatnonzero(np.append(True, flags[1:])[:n])
        a = kind.array(x)
        for exclusive in False, True:
            sums = segmented(x, flags, np.add, exclusive, np.int64(0))
            for heads in {"flags": flags}, {"keys": keys}, {"offsets": offsets}:
                given = {name: kind.array(h) for name, h in heads.items()}
                same(up.segmented_scan(a, **given, exclusive=exclusive), sums, kind)
            least = segmented(x, flags, np.minimum, exclusive, np.int64(3))
            found = up.segmented_scan(a, flags=kind.array(flags), operation="min", exclusive=exclusive, initial=3)
            same(found, least, kind)
        same(
            up.segmented_scan(kind.array(x % 2 == 0), flags=kind.array(np.zeros(n, bool))), np.cumsum(x % 2 == 0), kind
        )

    @pytest.mark.parametrize("values", ["int32", "float64"])
    def test_sorts_by_key(self, kind: Kind, values: str, n: int) -> None:
        for dtype in "uint8", "int32", "float64":
            keys, moved = samples(dtype, n), np.arange(n).astype(values)
            order = np.argsort(keys, kind="stable")
            found = up.sort_by_key(kind.array(keys), kind.array(moved))
            same(found[0], keys[order], kind)
            same(found[1], moved[order], kind)

    @pytest.mark.parametrize("dtype", ["uint32", "uint64", "int32"])
    def test_partitions(self, kind: Kind, dtype: str, n: int) -> None:
        keys, values = samples(dtype, n), np.arange(n, dtype="float32")

        def check(found: up.PartitionResult, bucket: np.ndarray, buckets: int) -> None:
            order = np.argsort(bucket, kind="stable")
            same(found.keys, keys[order], kind)
            same(found.offsets, np.searchsorted(bucket[order], np.arange(buckets + 1)), kind)
            if found.values is not None:
                same(found.values, values[order], kind)

        a, moved = kind.array(keys), kind.array(values)
        digit = keys.view("u" + dtype.removeprefix("u")) >> 2 & 7
        check(up.partition_by_digit(a, first_bit=2, bits=3), digit, 8)
        check(up.partition_by_digit(a, moved, first_bit=2, bits=3), digit, 8)
        if dtype != "int32":
            splitters = np.array([1, 3, 1 << 20], dtype)
            bucket = np.searchsorted(splitters, keys, side="right")
            check(up.partition_by_splitters(a, kind.array(splitters)), bucket, 4)
            check(up.partition_by_splitters(a, kind.array(splitters), moved), bucket, 4)

    @pytest.mark.parametrize("dtype", [t for t in TYPES if t != "bool"])
    def test_saxpy(self, kind: Kind, dtype: str, n: int) -> None:
        x, y = (np.nan_to_num(samples(dtype, n), posinf=1, neginf=2)[::k].copy() for k in (1, -1))
        with np.errstate(over="ignore"):
            same(up.saxpy(3, kind.array(x), kind.array(y)), x.dtype.type(3) * x + y, kind)


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 700), (1000, 1), (1, 5), (4, 0), (0, 4), (5,)])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_sums_of_rows(kind: Kind, shape: tuple[int, ...]) -> None:
    for dtype in "uint8", "int64", "float32":
        x = np.nan_to_num(samples(dtype, int(np.prod(shape))), posinf=1, neginf=-1).reshape(shape)
        same(up.cumulative_sum(kind.array(x), axis=-1), x.cumsum(axis=-1), kind)
        before = up.cumulative_sum(kind.array(x), axis=len(shape) - 1, exclusive=True, initial=3)
        expected = x.cumsum(axis=-1) - x + x.cumsum(axis=-1).dtype.type(3)
        same(before, expected.astype(x.cumsum(axis=-1).dtype), kind)


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4), (1000, 1), (1, 1000), (0, 4), (200, 301)], ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_totals_of_rows(kind: Kind, shape: tuple[int, ...], dtype: str) -> None:
    x = samples(dtype, math.prod(shape)).reshape(shape)
    a = kind.array(x)
    same(up.min(a, axis=-1), x.min(axis=-1), kind)
    same(up.max(a, axis=len(shape) - 1), x.max(axis=-1), kind)
    if dtype.startswith("float"):
        x = np.nan_to_num(x, posinf=1, neginf=-1)
        a = kind.array(x)
        if dtype != "float16":
            tenths = x / x.dtype.type(10)  # whose sums are rounded
            exact = [up.sum(row, reproducible=True) for row in tenths.reshape(-1, shape[-1])]
            found = up.sum(kind.array(tenths), axis=-1, reproducible=True)
            same(found, np.array(exact, dtype).reshape(shape[:-1]), kind)
    same(up.sum(a, axis=-1), x.sum(axis=-1), kind)
    if not dtype.startswith("float"):
        same(up.prod(a, axis=-1), x.prod(axis=-1), kind)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_empty_rows(kind: Kind) -> None:
    x = np.zeros((3, 0), np.int32)
    same(up.sum(kind.array(x), axis=-1), x.sum(axis=-1), kind)
    same(up.sum(kind.array(x), axis=-1, initial=2**40 + 1), x.sum(axis=-1, initial=2**40 + 1), kind)
    same(up.prod(kind.array(x), axis=-1), x.prod(axis=-1), kind)
    with pytest.raises(ValueError, match="the rows of x are empty, and have no max"):
        up.max(kind.array(x), axis=-1)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_render(kind: Kind) -> None:
    rng = np.random.default_rng(1)
    circles = rng.random((200, 8), dtype="float32")
    image = kind.back(up.render(kind.array(circles), 60, 40, region=(0, 0, 1.5, 1), background=(0, 1, 0.5)))
    expected = np.empty((40, 60, 3), "float32")
    expected[:] = (0, 1, 0.5)
    x, y = (np.arange(60, dtype="float32") + 0.5) / 60 * 1.5, (np.arange(40, dtype="float32") + 0.5) / 40
    for cx, cy, _, radius, *colour, alpha in circles:
        inside = (x - cx) ** 2 + (y[:, None] - cy) ** 2 <= radius**2
        expected[inside] = alpha * np.array(colour, "float32") + (1 - alpha) * expected[inside]
    # This oracle rounds coordinates differently, so a few pixels at a rim change sides.
    assert image.shape == (40, 60, 4)
    assert (np.abs(image[..., :3] - expected).max(axis=2) < 1e-5).mean() > 0.99
    assert (image[..., 3] == 1).all()
    same(image[..., :3], up.render(circles, 60, 40, region=(0, 0, 1.5, 1), background=(0, 1, 0.5), channels="rgb"))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("n", [0, 100, 300, 70_000])
def test_types_of_counts(kind: Kind, n: int) -> None:
    x = np.full(n, 3, np.uint8)
    for dtype in "uint8", "uint16", "uint32", "int32", "uint64":
        expected = np.array([0, 0, 0, min(n, np.iinfo(dtype).max)], dtype)
        same(up.bincount(kind.array(x), minlength=4, dtype=dtype), expected, kind)
        same(up.histogram(kind.array(x), 4, (0, 4), dtype=dtype)[0], expected, kind)
        same(up.histogram(kind.array(x), [0, 1, 2, 3, 4], dtype=dtype)[0], expected, kind)
    with pytest.raises(TypeError, match="dtype is float32, which is no type of counts"):
        up.bincount(kind.array(x), dtype="float32")


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_distinct_integers(kind: Kind, dtype: str) -> None:
    """Integers of a narrow range are counted; others are sorted."""
    if dtype.startswith("float") or dtype == "bool":
        pytest.skip("no integers")
    info, rng = np.iinfo(dtype), np.random.default_rng(1)
    for n in 4096, 100_000:
        close = rng.integers(0, 100, n).astype(dtype)
        far = close.copy()
        far[n // 2 + 1] = info.max
        for x in close, close + np.array(info.min, dtype), np.array(info.max, dtype) - close, far, samples(dtype, n):
            values, counts = np.unique(x, return_counts=True)
            same(up.unique_values(kind.array(x)), values, kind)
            found = up.unique_counts(kind.array(x))
            same(found.values, values, kind)
            same(found.counts, counts, kind)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_bincount_of_many_integers(kind: Kind) -> None:
    x = np.array([3_000_000, 5, 3_000_000, 0], np.int32)
    same(up.bincount(kind.array(x)), np.bincount(x), kind)
    same(up.bincount(kind.array(x[1:2]), minlength=2_000_000), np.bincount(x[1:2], minlength=2_000_000), kind)
    expected = np.zeros(3_000_001, np.uint8)
    expected[[0, 5, 3_000_000]] = 1, 1, 255
    same(up.bincount(kind.array(np.append(x, [3_000_000] * 300).astype(np.uint32)), dtype="uint8"), expected, kind)
    with pytest.raises(ValueError, match="negative"):
        up.bincount(kind.array(-x))


def test_pictures_of_pillow() -> None:
    pytest.importorskip("PIL")
    circles = np.array([[0.5, 0.5, 0, 0.4, 1, 0, 0, 0.5]], np.float32)
    image = up.render(circles, 30, 20, pil=True)
    assert (image.size, image.mode) == ((30, 20), "RGBA")
    assert image.getpixel((15, 10)) == (255, 128, 128, 255)
    assert up.render(circles, 3, 3, channels="rgb", pil=True).getpixel((0, 0)) == (255, 255, 255)
    with pytest.raises(ValueError, match="pil is for"):
        up.render(circles, 3, 3, channels="rgbw", pil=True)


@pytest.mark.parametrize("layout", ["reversed", "strided", "column", "byte-swapped", "read-only", "list", "2-d"])
def test_layouts(layout: str) -> None:
    x = np.arange(1, 601, dtype="float64")[::-1] % 7
    if layout == "strided":
        x = np.repeat(x, 3)[::3]
    elif layout == "column":
        x = np.stack([x, -x], axis=1)[:, 0]
    elif layout == "byte-swapped":
        x = x.astype(">f8")
    elif layout == "read-only":
        x = x.copy()
        x.flags.writeable = False
    if layout == "2-d":
        assert up.sum(x.reshape(20, 30).T) == x.sum()
        with pytest.raises(ValueError, match="x has 2 dimensions, not one"):
            up.sort(x.reshape(20, 30))
        return
    given = x.tolist() if layout == "list" else x
    same(up.sort(given), np.sort(x).astype("float64"))
    same(up.sum(given), np.float64(x.sum()))


def test_dtype_initial_and_out() -> None:
    x = np.array([200, 100, 255], np.uint8)
    assert up.sum(x, dtype="uint32", initial=5).dtype == np.uint32
    assert up.sum(x, dtype=np.uint8) == (200 + 100 + 255) % 256
    assert up.sum(np.array([True, True]), initial=-5) == -3
    assert up.sum([0.1] * 10, reproducible=True) == 1.0
    assert up.sum(np.ones(3, "float32"), dtype="float64").dtype == np.float64
    same(up.cumulative_sum(x, initial=-1, dtype="int64"), np.array([199, 299, 554]))
    out = np.zeros(3, np.uint64)
    assert up.cumulative_sum(x, out=out) is out
    assert out.tolist() == [200, 300, 555]
    keys = np.array([3, 1, 2])
    assert up.sort(keys, out=keys) is keys
    assert keys.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: up.sort(np.zeros(3, "complex64")), TypeError, "x has the type complex64"),
        (lambda: up.sort(np.zeros(3, "longdouble")), TypeError, "x has the type float128"),
        (lambda: up.sum(["a"]), TypeError, "x has the type str"),
        (lambda: up.sort(np.float32(3)), ValueError, "x has 0 dimensions"),
        (lambda: up.sort([1.0], out=np.zeros(1, "float32")), TypeError, "out has the type float32, the result float64"),
        (lambda: up.sort([1.0], out=np.zeros(2)), ValueError, r"out has the shape \(2,\), the result \(1,\)"),
        (lambda: up.sort([1.0], out=[0.0]), TypeError, "out is a list, x a ndarray"),
        (lambda: up.sort(np.zeros(4), out=np.zeros(8)[::2]), ValueError, "out is not contiguous"),
        (lambda: up.compress([1, 0], [1, 2]), TypeError, "condition has the type int64, not bool"),
        (lambda: up.compress([True], [1, 2]), ValueError, "condition has 1 elements, x 2"),
        (lambda: up.bincount([-1]), ValueError, "x has a negative element"),
        (lambda: up.bincount([1.0]), TypeError, "bincount takes integers"),
        (lambda: up.histogram([1], [1]), ValueError, "bins has fewer than two edges"),
        (lambda: up.histogram([1], [1, 1]), ValueError, "edges must ascend"),
        (lambda: up.histogram([1], [1, 2], (0, 1)), ValueError, "range is for equal bins"),
        (lambda: up.histogram([1.0], bins=0), ValueError, "bins is 0"),
        (lambda: up.histogram([1.0], range=(2, 1)), ValueError, "reversed"),
        (lambda: up.histogram([1.0, np.nan]), ValueError, "not finite"),
        (lambda: up.cumulative_sum([[1]]), ValueError, "x has 2 dimensions, not one"),
        (lambda: up.cumulative_sum([[1]], axis=0), ValueError, "axis is 0, not the last of 2"),
        (lambda: up.cumulative_sum([[1]], axis=1, reproducible=True), ValueError, "of one dimension"),
        (lambda: up.segmented_scan([1]), TypeError, "one of flags, keys and offsets"),
        (lambda: up.segmented_scan([1], flags=[1.0]), TypeError, "flags has the type float64; it takes bool or uint8"),
        (lambda: up.segmented_scan([1], keys=[1]), TypeError, "keys has the type int64; it takes integers of 32 bits"),
        (lambda: up.segmented_scan([1, 2], offsets=[0, 3]), ValueError, "offset 1, 3"),
        (lambda: up.segmented_scan([1, 2], flags=[True]), ValueError, "heads"),
        (lambda: up.sort_by_key([1], [1, 2]), ValueError, "values has 2 elements, keys 1"),
        (lambda: up.sort_by_key([1], np.zeros(1, "int8")), TypeError, "values has the type int8"),
        (lambda: up.partition_by_digit([1.0]), TypeError, "keys has the type float64; they are integers"),
        (lambda: up.partition_by_digit([1], bits=16), ValueError, "bits is 16"),
        (lambda: up.partition_by_splitters([1], [1]), TypeError, "keys has the type int64; they are uint32 or uint64"),
        (lambda: up.saxpy(1, [1], [1.0]), TypeError, "y has the type float64, x int64"),
        (lambda: up.saxpy(1, [1], [1, 2]), ValueError, "y has 2 elements, x 1"),
        (lambda: up.saxpy(0.5, [1], [1]), ValueError, "a is 0.5"),
        (lambda: up.render(np.zeros((1, 8))), TypeError, "circles has the type float64, not float32"),
        (lambda: up.render(np.zeros((8,), "float32")), ValueError, r"circles has not the shape \(n, 8\)"),
        (lambda: up.render(np.zeros((0, 8), "float32"), 0), ValueError, "width is 0"),
        (lambda: up.render(np.zeros((0, 8), "float32"), channels="cmyk"), ValueError, "cmyk"),
        (lambda: up.sum([1], rung="fastest"), ValueError, "fastest"),
        (lambda: up.sum([1], initial="one"), (TypeError, ValueError), "one|initial"),
        (lambda: up.sum([1], initial=0.5), ValueError, "initial is 0.5"),
        (lambda: up.sum([1], dtype="bool"), TypeError, "dtype is bool"),
        (lambda: up.prod([1], dtype="complex64"), TypeError, "dtype is complex64"),
        (lambda: up.sum([True], initial=0.5), TypeError, "float"),
        (lambda: up.sum([1], initial=1 << 70), ValueError, "initial has more than 64 bits"),
    ],
)
def test_mistakes_are_named(call, error, text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_rungs_by_name() -> None:
    x = samples("int32", 1000)
    for rung in up.rungs("sort"):
        same(up.sort(x, rung=rung), np.sort(x))
    assert "sort" in up.primitives()
    with pytest.raises(ValueError, match="there is no primitive 'sorts'"):
        up.rungs("sorts")
    for device in "gpu", "cuda:", "cuda:x", "":
        with pytest.raises(ValueError, match=f"device is '{device}'"):
            up.rungs("sort", device)
    with pytest.raises(RuntimeError, match="no CUDA device 99"):
        up.rungs("sort", "cuda:99")


@pytest.mark.parametrize("kind", KINDS[1:], ids=str)
def test_other_libraries(kind: Kind) -> None:
    x = samples("int32", 1000)
    a = kind.array(x)
    assert up.sum(a).shape == ()
    same(up.sort(a[::2]), np.sort(x[::2]), kind)
    same(up.sum(a.reshape(20, 50)), x.sum(), kind)
    with pytest.raises(TypeError, match="out is a ndarray, x a "):
        up.sort(a, out=x)
    with pytest.raises(TypeError, match="condition is a ndarray, x a"):
        up.compress(x == 1, a)
    if kind.takes_out:
        out = kind.array(np.zeros_like(x))
        assert up.sort(a, out=out) is out
        same(out, np.sort(x), kind)
        assert up.sort(a, out=a) is a
        same(a, np.sort(x), kind)


class Other:
    """An array of a library that the package does not know, accessible only through DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **named: Any) -> Any:
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_libraries_that_are_not_known(kind: Kind) -> None:
    x = np.array([3, 1, 2], np.int32)
    found = up.sort(Other(kind.array(x)))
    assert type(found) is np.ndarray or "cuda" in str(found.device).lower()
    same(up._arrays.library_of(type(found)).download(found), np.sort(x))


def test_streams() -> None:
    class Stream:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 77

    assert (up._streams._pointer(5), up._streams._pointer(Stream())) == (5, 77)
    with pytest.raises(TypeError, match="a str is no stream"), up.on_stream("0"):
        pass
