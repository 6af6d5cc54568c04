"""The names of primitives and rungs."""

from __future__ import annotations

from upsweep import _core


def primitives() -> list[str]:
    """Returns the names of the primitives, each of which has a ladder of rungs.

    >>> "sort" in primitives()
    True
    """
    return _core.primitives()


def rungs(primitive: str, /, device: str = "cpu") -> list[str]:
    """Returns the names that `rung` may have in calls of this primitive, in the order of the ladder. `device` is "cpu",
    "cuda", or "cuda:1" for a GPU other than the first. An unknown name raises ValueError; a GPU that does not exist
    raises RuntimeError.

    >>> rungs("saxpy")
    ['serial', 'simd', 'parallel']
    """
    return _core.rungs(primitive, device)
