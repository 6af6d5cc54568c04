"""Fixtures for every test of the package."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import numpy as np
import pytest
import upsweep

# In the package, next to a link to this file.
collect_ignore = [] if importlib.util.find_spec("torch") else ["upsweep/torch.py"]

_empty = np.empty


@functools.wraps(_empty)
def _filled(*args: Any, **named: Any) -> Any:
    # Otherwise, reused memory may still hold the right results of an earlier call.
    a = _empty(*args, **named)
    if not a.dtype.hasobject:
        a.reshape(-1).view("uint8").fill(0xA5)
    return a


np.empty = _filled  # the extension module looks up numpy.empty at its first use


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any]) -> None:
    """Defines the names that the examples in docstrings use."""
    doctest_namespace["np"] = np
    doctest_namespace["upsweep"] = upsweep
