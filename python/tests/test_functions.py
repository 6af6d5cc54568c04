"""Every function against NumPy, for every type and layout, and for PyTorch tensors where PyTorch is installed."""

from __future__ import annotations

import numpy as np
import pytest
import upsweep as up
from upsweep._arrays import NumPy

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


def same(found: object, expected: np.ndarray) -> None:
    assert isinstance(found, (np.ndarray, np.generic))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.fixture(autouse=True)
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fills every new result with a pattern: memory may still hold the right values of an earlier call."""
    empty = NumPy.empty

    def filled(self: NumPy, n: int, dtype: str, like: np.ndarray) -> np.ndarray:
        a = empty(self, n, dtype, like)
        a.view("uint8").fill(0xA5)
        return a

    monkeypatch.setattr(NumPy, "empty", filled)


@pytest.fixture(params=TYPES)
def dtype(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("n", SIZES)
class TestAgainstNumPy:
    def test_sums(self, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        if dtype.startswith("float"):  # sums of quarters are exact
            x = np.nan_to_num(x, posinf=1, neginf=-1)
        same(up.sum(x), x.sum())
        same(up.cumulative_sum(x), x.cumsum())
        before = np.concatenate([np.zeros(1, x.cumsum().dtype), x.cumsum()])[:n]
        same(up.cumulative_sum(x, exclusive=True), before)

    def test_products(self, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        if dtype.startswith("float"):
            x = np.where(np.isfinite(x) & (x > 0), 2, 0.5).astype(dtype)[:100]
        same(up.prod(x), x.prod())

    def test_extremes(self, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        for ours, numpys in (up.min, np.min), (up.max, np.max):
            if n == 0:
                with pytest.raises(ValueError, match="x is empty"):
                    ours(x)
            else:
                same(ours(x), numpys(x))

    def test_sorts(self, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        same(up.sort(x), np.sort(x, kind="stable"))
        same(up.argsort(x), np.argsort(x, kind="stable"))
        if dtype.startswith("float"):  # equal elements keep their bits
            same(np.signbit(up.sort(x)), np.signbit(x[np.argsort(x, kind="stable")]))
        same(up.sort(x, descending=True), np.sort(x)[::-1])
        # Stable when descending, too: equal elements keep their order.
        indices = up.argsort(x, descending=True)
        same(x[indices], np.sort(x)[::-1])
        equal = np.flatnonzero(x[indices][1:] == x[indices][:-1])
        assert (indices[equal] < indices[equal + 1]).all()

    def test_selections(self, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        condition = samples("bool", n)[::-1].copy()
        same(up.compress(condition, x), x[condition])
        same(up.find_repeats(x), np.flatnonzero(x[1:] == x[:-1]))
        heads = np.concatenate([[True], x[1:] != x[:-1]])[:n].astype(bool)
        same(up.unique_consecutive(x), x[heads])
        values, counts = up.unique_consecutive(x, return_counts=True)
        same(values, x[heads])
        same(counts, np.diff(np.append(np.flatnonzero(heads), n)))
        expected = np.unique(x, return_counts=True, equal_nan=False)
        same(up.unique_values(x), expected[0])
        same(up.unique_counts(x).counts, expected[1])

    def test_histograms(self, dtype: str, n: int) -> None:
        x = samples(dtype, n)
        if dtype.startswith("float"):
            x = x[np.isfinite(x)]
        else:
            x = x % x.dtype.type(100) if dtype != "bool" else x.astype("uint8")
        for options in ({"bins": 7, "range": (-3, 60)}, {"range": (0.5, 20.25)}, {"bins": 64}):
            counts, edges = up.histogram(x, **options)
            expected = np.histogram(x, **options)
            np.testing.assert_array_equal(edges, expected[1])
            assert counts.dtype == np.int64
            assert counts.sum() == expected[0].sum()
            if dtype.startswith("float"):
                np.testing.assert_array_equal(counts, expected[0])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_bincount(dtype: str, n: int) -> None:
    x = samples(dtype, n)
    x = (x % x.dtype.type(100) if dtype != "bool" else x.astype("uint8")).astype(dtype)
    if np.issubdtype(x.dtype, np.signedinteger):
        x = np.maximum(x, 0)
    expected = np.bincount(x.astype("int64"), minlength=5)
    same(up.bincount(x, minlength=5), expected)


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
        (lambda: up.sort(np.zeros(3, "float16")), TypeError, "x has the type float16"),
        (lambda: up.sum(["a"]), TypeError, "x has the type str"),
        (lambda: up.sort(np.float32(3)), ValueError, "x has 0 dimensions"),
        (lambda: up.sort([1.0], out=np.zeros(1, "float32")), TypeError, "out has the type float32, the result float64"),
        (lambda: up.sort([1.0], out=np.zeros(2)), ValueError, r"out has the shape \(2,\), the result \(1,\)"),
        (lambda: up.sort([1.0], out=[0.0]), TypeError, "out is a list, x a ndarray"),
        (lambda: up.sort(np.zeros(4), out=np.zeros(8)[::2]), TypeError, "not contiguous"),
        (lambda: up.compress([1, 0], [1, 2]), TypeError, "condition has the type int64, not bool"),
        (lambda: up.compress([True], [1, 2]), ValueError, "condition has 1 elements, x 2"),
        (lambda: up.bincount([-1]), ValueError, "x has a negative element"),
        (lambda: up.bincount([1.0]), TypeError, "bincount takes integers"),
        (lambda: up.bincount([1 << 30]), ValueError, "are more than 1048576"),
        (lambda: up.histogram([1.0], bins=0), ValueError, "bins is 0"),
        (lambda: up.histogram([1.0], range=(2, 1)), ValueError, "reversed"),
        (lambda: up.histogram([1.0, np.nan]), ValueError, "not finite"),
        (lambda: up.sum([1], rung="fastest"), ValueError, "fastest"),
        (lambda: up.sum([1], initial="one"), (TypeError, ValueError), "one|initial"),
        (lambda: up.sum([1], initial=0.5), ValueError, "initial is 0.5"),
        (lambda: up.sum([1], dtype="bool"), TypeError, "dtype is bool"),
        (lambda: up.prod([1], dtype="float16"), TypeError, "dtype is float16"),
        (lambda: up.sum([True], initial=0.5), TypeError, "float"),
        (lambda: up.sum([1], initial=1 << 70), ValueError, "initial has more than 64 bits"),
    ],
)
def test_mistakes_are_named(call, error, text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_rungs_by_name() -> None:
    x = samples("int32", 1000)
    same(up.sort(x, rung="serial"), np.sort(x))
    assert "sort" in up.primitives()


@pytest.mark.parametrize("dtype", [t for t in TYPES if not t.startswith("uint") or t == "uint8"])
def test_tensors(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    x = np.nan_to_num(samples(dtype, 1000), posinf=1, neginf=-1) if dtype.startswith("float") else samples(dtype, 1000)
    t = torch.from_numpy(x)
    for ours in up.sort, up.argsort, up.cumulative_sum, up.sum, up.min, up.find_repeats, up.unique_values:
        found = ours(t)
        assert isinstance(found, torch.Tensor)
        np.testing.assert_array_equal(found.numpy(), ours(x))
    condition = torch.from_numpy(samples("bool", 1000))
    np.testing.assert_array_equal(up.compress(condition, t).numpy(), x[condition.numpy()])
    with pytest.raises(TypeError, match="out is a ndarray, x a Tensor"):
        up.sort(t, out=x)
    assert up.sum(t).shape == ()
    assert up.sort(t[::2]).shape == (500,)
