"""The stream and the memory that calls on a GPU use."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from upsweep import _core


def _pointer(stream: Any) -> int:
    """Returns the address of a stream: a number, an object of PyTorch's or CuPy's, or one with __cuda_stream__()."""
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
    """Within `with upsweep.on_stream(stream):`, a stream of the current GPU is the current one of PyTorch and of CuPy,
    where they are imported, so that this thread's calls, and what the libraries do for them, are queued on it. It is
    the address of a stream as a number, a stream of PyTorch's or CuPy's, or an object with __cuda_stream__(); anything
    else raises TypeError. Calls on arrays of a CPU take no notice.

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
    allocator of their arrays' library and give it back, in place of memory of their own, which a thread keeps for each
    stream. A call takes longer; the library's limits and statistics then include all memory.

    >>> with upsweep.borrowed_scratch():
    ...     print(upsweep.sort([3, 1, 2]))
    [1 2 3]
    """
    before = _core.exchange_borrows_scratch(True)
    try:
        yield
    finally:
        _core.exchange_borrows_scratch(before)
