"""16-bit floats, which are computed as float32 and rounded."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import upsweep as up
from kinds import KINDS, Kind


def half_types() -> list[tuple[Kind, Any]]:
    """Returns the kinds of arrays with their 16-bit float types."""
    found: list[tuple[Kind, Any]] = []
    for kind in KINDS:
        if kind.name.startswith("torch"):
            torch = importlib.import_module("torch")
            found += [(kind, torch.float16), (kind, torch.bfloat16)]
        elif kind.name == "jax":
            jax = importlib.import_module("jax")
            found += [(kind, jax.numpy.float16), (kind, jax.numpy.bfloat16)]
        else:
            found.append((kind, np.float16))
    return found


@pytest.mark.parametrize(("kind", "half"), half_types(), ids=str)
def test_halves(kind: Kind, half: Any) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(-30, 30, 1000).astype("float32") / 8
    x[::50], x[1::50] = np.nan, -0.0
    finite = np.nan_to_num(x)

    def to_half(values: np.ndarray) -> Any:
        wide = kind.array(values)
        return wide.to(half) if kind.name.startswith("torch") else wide.astype(half)

    def back(found: Any) -> np.ndarray:
        assert found.dtype == half
        return kind.back(found.float() if kind.name.startswith("torch") else found.astype("float32"))

    a = to_half(x)
    np.testing.assert_array_equal(back(up.sort(a)), np.sort(x, kind="stable"))
    np.testing.assert_array_equal(kind.back(up.argsort(a)), np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(back(up.compress(kind.array(x > 1), a)), x[x > 1])
    np.testing.assert_array_equal(kind.back(up.find_repeats(a)), np.flatnonzero(x[1:] == x[:-1]))
    np.testing.assert_array_equal(kind.back(up.nonzero(a)[0]), np.flatnonzero(x))
    np.testing.assert_array_equal(back(up.unique_values(a)), np.unique(x, equal_nan=False))
    np.testing.assert_array_equal(
        back(up.unique_consecutive(a, return_counts=True).values).size, (x[1:] != x[:-1]).sum() + 1
    )
    b = to_half(finite)
    assert back(up.max(b)) == finite.max()
    assert np.isnan(back(up.min(a)))
    # Sums of eighths are exact in float32.
    np.testing.assert_array_equal(back(up.sum(b)), back(to_half(np.array([finite.sum()])))[0])
    np.testing.assert_array_equal(back(up.cumulative_sum(b)), back(to_half(finite.cumsum(dtype="float32"))))
    np.testing.assert_array_equal(back(up.saxpy(2, b, b)), back(to_half(3 * finite)))
    np.testing.assert_array_equal(kind.back(up.histogram(b, 8, (-4, 4))[0]), np.histogram(finite, 8, (-4, 4))[0])
    assert str(up.sum(b, dtype="float32").dtype).endswith("float32")
    if kind.takes_out:
        out = to_half(np.zeros_like(x))
        assert up.sort(a, out=out) is out
        np.testing.assert_array_equal(back(out), np.sort(x))
