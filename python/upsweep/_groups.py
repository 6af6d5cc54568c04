"""Groups of processes that hold one array in parts."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

import upsweep
from upsweep import _core

# MPI and gloo count bytes with 32-bit integers.
_MOST_BYTES = 1 << 30


class _Mpi:
    """The processes of an mpi4py communicator."""

    def __init__(self, communicator: Any) -> None:
        self._communicator = communicator.Dup()  # the group's messages are apart from the caller's
        self.processes: int = communicator.Get_size()
        self.process: int = communicator.Get_rank()

    def all_gather(self, message: bytes) -> list[bytes]:
        gathered: list[bytes] = self._communicator.allgather(message)
        return gathered

    def exchange(self, sends: list[tuple[int, memoryview]], receives: list[tuple[int, memoryview]]) -> None:
        pending = [self._communicator.Irecv([part, "B"], source=p) for p, part in _parts(receives)]
        pending += [self._communicator.Isend([part, "B"], dest=p) for p, part in _parts(sends)]
        for request in pending:
            request.Wait()


class _Torch:
    """The processes of a torch.distributed process group whose backend moves host memory, such as gloo."""

    def __init__(self, group: Any) -> None:
        import torch.distributed as dist

        self._group, self._dist = group, dist
        self.processes: int = dist.get_world_size(group)
        self.process: int = dist.get_rank(group)

    def all_gather(self, message: bytes) -> list[bytes]:
        gathered: list[Any] = [b""] * self.processes
        self._dist.all_gather_object(gathered, message, group=self._group)
        return gathered

    def exchange(self, sends: list[tuple[int, memoryview]], receives: list[tuple[int, memoryview]]) -> None:
        import torch

        def post(start: Callable[..., Any], pieces: list[tuple[int, memoryview]]) -> list[Any]:
            return [
                start(
                    torch.frombuffer(part, dtype=torch.uint8), self._dist.get_global_rank(self._group, p), self._group
                )
                for p, part in _parts(pieces)
            ]

        for work in post(self._dist.irecv, receives) + post(self._dist.isend, sends):
            work.wait()


def _parts(pieces: list[tuple[int, memoryview]]) -> list[tuple[int, memoryview]]:
    return [
        (p, view[at : at + _MOST_BYTES]) for p, view in pieces for at in range(0, len(view), _MOST_BYTES) if len(view)
    ]


class Group:
    """The processes of `communicator`, an mpi4py communicator or a torch.distributed process group, which hold the
    parts of arrays, one part each, in the order of their ranks. Parts may have any sizes.

    >>> from mpi4py import MPI                                 # doctest: +SKIP
    >>> group = upsweep.Group(MPI.COMM_WORLD)                  # doctest: +SKIP
    >>> group.sum(part), group.cumulative_sum(part)            # doctest: +SKIP

    The methods are the functions of the same names, for the array of all parts. Every process calls the same ones in
    the same order, each with its own part. Sums and other numbers are the same in every process; of arrays, each
    process gets its part: as many elements as its part of the input, or those that were selected from it. Positions and
    indices count from the start of the whole array.

    A histogram needs a `range`. No part may be empty for min(), max(), argmin() and argmax(). `device` is "cpu" or
    "cuda", where the arrays are. An error in one process is raised in all; if a process ends, the others' calls raise
    RuntimeError. Call close() before MPI is finalised, or use the group as a context manager.
    """

    def __init__(self, communicator: Any, device: str = "cpu") -> None:
        if device not in ("cpu", "cuda"):
            raise ValueError(f"device is '{device}', not cpu or cuda")
        engine = _Mpi(communicator) if hasattr(communicator, "Get_rank") else _Torch(communicator)
        self.size, self.rank = engine.processes, engine.process
        self._group = _core.Group(engine, device == "cuda", 0)

    def __enter__(self) -> Group:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the group. All processes call it."""
        self._group.close()

    def _call(self, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        self._group.enter()
        try:
            return function(*args, **named)
        finally:
            self._group.leave()

    def sum(self, x: Any, /, **named: Any) -> Any:
        """As upsweep.sum(), without `axis`."""
        return self._call(upsweep.sum, _vector(x), **named)

    def prod(self, x: Any, /, **named: Any) -> Any:
        """As upsweep.prod(), without `axis`."""
        return self._call(upsweep.prod, _vector(x), **named)

    def min(self, x: Any, /, **named: Any) -> Any:
        """As upsweep.min(), without `axis`."""
        return self._call(upsweep.min, _vector(x), **named)

    def max(self, x: Any, /, **named: Any) -> Any:
        """As upsweep.max(), without `axis`."""
        return self._call(upsweep.max, _vector(x), **named)

    def argmin(self, x: Any, /) -> Any:
        """As upsweep.argmin(), without `axis`."""
        return self._call(upsweep.argmin, _vector(x))

    def argmax(self, x: Any, /) -> Any:
        """As upsweep.argmax(), without `axis`."""
        return self._call(upsweep.argmax, _vector(x))

    def cumulative_sum(self, x: Any, /, **named: Any) -> Any:
        """As upsweep.cumulative_sum(), of one dimension."""
        return self._call(upsweep.cumulative_sum, _vector(x), **named)

    def cumulative_prod(self, x: Any, /, **named: Any) -> Any:
        """As upsweep.cumulative_prod(), of one dimension."""
        return self._call(upsweep.cumulative_prod, _vector(x), **named)

    def sort(self, x: Any, /, **named: Any) -> Any:
        """As upsweep.sort(), of one dimension."""
        return self._call(upsweep.sort, _vector(x), **named)

    def argsort(self, x: Any, /, **named: Any) -> Any:
        """As upsweep.argsort(), of one dimension."""
        return self._call(upsweep.argsort, _vector(x), **named)

    def histogram(self, x: Any, /, bins: Any, range: tuple[float, float], **named: Any) -> Any:
        """As upsweep.histogram()."""
        return self._call(upsweep.histogram, x, bins, range, **named)

    def nonzero(self, x: Any, /) -> Any:
        """As upsweep.nonzero(), of one dimension."""
        return self._call(upsweep.nonzero, _vector(x))

    def unique_consecutive(self, x: Any, /) -> Any:
        """As upsweep.unique_consecutive()."""
        return self._call(upsweep.unique_consecutive, _vector(x))


def _vector(x: Any) -> Any:
    dimensions = x.ndim if hasattr(x, "ndim") else np.ndim(x)
    if dimensions != 1:
        raise ValueError(f"x has {dimensions} dimensions, but the parts of a group's array have one")
    return x
