"""The stream and the scratch memory of calls on a GPU."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from upsweep import _core


def _pointer(stream: Any) -> int:
    """Returns the address of a stream: an int, a PyTorch or CuPy stream, or an object with __cuda_stream__()."""
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        found = stream.__cuda_stream__
        pointer: int = (found() if callable(found) else found)[1]
        return pointer
    for name in "cuda_stream", "ptr":
        if isinstance(getattr(stream, name, None), int):
            pointer = getattr(stream, name)
            return pointer
    raise TypeError(f"a {type(stream).__name__} is no stream")


@contextlib.contextmanager
def on_stream(stream: Any, /) -> Iterator[None]:
    """Within `with upsweep.on_stream(stream):`, PyTorch and CuPy, if imported, use a stream of the current GPU as their
    current one. This thread's calls, and the work that these libraries do for them, are queued on it. `stream` is a
    stream's address as an int, a PyTorch or CuPy stream, or an object with __cuda_stream__(); anything else raises
    TypeError. Calls on arrays in host memory are not affected.

    >>> with upsweep.on_stream(0):
    ...     print(upsweep.sort([3, 1, 2]))
    [1 2 3]
    """
    pointer = _pointer(stream)
    with contextlib.ExitStack() as entered:
        torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
        if torch and torch.cuda.is_available():
            entered.enter_context(torch.cuda.stream(torch.cuda.ExternalStream(pointer)))
        if cupy and cupy.is_available():
            entered.enter_context(cupy.cuda.ExternalStream(pointer))
        yield


@contextlib.contextmanager
def borrowed_scratch() -> Iterator[None]:
    """Within `with upsweep.borrowed_scratch():`, this thread's calls on GPU arrays take their scratch memory from the
    allocator of the arrays' library and return it after the call. Otherwise, a thread keeps scratch memory of its own
    for each stream. Calls take longer, but the library's limits and statistics then cover all memory.

    >>> with upsweep.borrowed_scratch():
    ...     print(upsweep.sort([3, 1, 2]))
    [1 2 3]
    """
    before = _core.exchange_borrows_scratch(True)
    try:
        yield
    finally:
        _core.exchange_borrows_scratch(before)
