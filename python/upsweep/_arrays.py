"""The array libraries: how each makes arrays, names types and finds its stream."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
KNOWN = ("bool", *SIGNED, *UNSIGNED, *FLOATS)


class NumPy:
    """NumPy arrays, and everything that numpy.asarray() takes."""

    def array(self, x: Any) -> np.ndarray:
        a = np.asarray(x)
        if not a.dtype.isnative:
            a = a.astype(a.dtype.newbyteorder("="))
        return np.ascontiguousarray(a) if a.ndim else a

    def dtype(self, a: np.ndarray) -> str:
        return a.dtype.name

    def empty(self, n: int, dtype: str, like: np.ndarray) -> np.ndarray:
        return np.empty(n, dtype)

    def cast(self, a: np.ndarray, dtype: str) -> np.ndarray:
        return a.astype(dtype)

    def view(self, a: np.ndarray, dtype: str) -> np.ndarray:
        return a.view(dtype)

    def flat(self, a: np.ndarray) -> np.ndarray:
        return a.reshape(-1)

    def item(self, a: np.ndarray) -> Any:
        return a[0]

    def copy(self, a: np.ndarray) -> np.ndarray:
        return a.copy()

    def stream(self, a: np.ndarray) -> int:
        return 0


class Torch:
    """PyTorch tensors, on the CPU or a GPU."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def array(self, x: Any) -> Any:
        return x.detach().contiguous()

    def dtype(self, a: Any) -> str:
        return str(a.dtype).removeprefix("torch.")

    def empty(self, n: int, dtype: str, like: Any) -> Any:
        return self.torch.empty(n, dtype=getattr(self.torch, dtype), device=like.device)

    def cast(self, a: Any, dtype: str) -> Any:
        return a.to(getattr(self.torch, dtype))

    def view(self, a: Any, dtype: str) -> Any:
        return a.view(getattr(self.torch, dtype))

    def flat(self, a: Any) -> Any:
        return a.reshape(-1)

    def item(self, a: Any) -> Any:
        return a.reshape(())

    def copy(self, a: Any) -> Any:
        return a.clone()

    def stream(self, a: Any) -> int:
        return self.torch.cuda.current_stream(a.device).cuda_stream if a.is_cuda else 0


_numpy = NumPy()


def library_of(x: Any) -> Any:
    """Returns the library of an array: PyTorch's for its tensors, else NumPy's."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return Torch(torch)
    return _numpy
