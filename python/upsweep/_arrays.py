"""The array libraries' hooks, which the extension module calls for what it cannot do in C."""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any

import numpy as np

from upsweep import _core

Looked = tuple[int | None, tuple[int, ...], tuple[int, ...] | None, str, int, bool]


class Library:
    """The properties of an array library, and access to its arrays if it lacks DLPack's C functions."""

    is_numpy = False
    is_jax = False
    integer_bits = 64  # of indices, counts and integer sums

    def array(self, x: Any) -> Any:
        """Returns x as an array that is contiguous and in the machine's byte order."""
        raise NotImplementedError

    def dtype(self, x: Any) -> str:
        name: str = x.dtype.name
        return name

    def cast(self, x: Any, dtype: str) -> Any:
        return x.astype(dtype)

    def assign(self, out: Any, x: Any) -> None:
        out[...] = x

    def upload(self, values: np.ndarray, like: Any) -> Any:
        """Returns an array with the values of a NumPy array, on the device of `like`."""
        raise NotImplementedError

    def copy(self, x: Any) -> Any:
        return x.copy()

    def heads(self, rows: int, width: int, like: Any) -> tuple[str, Any]:
        """Returns where the rows of a matrix start, in a form that segmented_scan() takes: "offsets" or "flags", and an
        array of them on the device of `like`."""
        return "offsets", np.arange(0, rows * width, width)

    def scattered(self, size: int, positions: Any, values: Any) -> Any:
        """Returns an array that has the values at the positions, and 0 elsewhere."""
        out = self.empty(size, self.dtype(values), values)
        out[...] = 0
        out[positions] = values
        return out

    def look(self, x: Any) -> Looked:
        """Returns address, shape, strides in bytes, name of the type, ordinal of the GPU or -1, and whether x is
        writable. The address is None if calls run inside XLA programs; the ordinal is -2 while such a program is
        traced. The strides are None if x is contiguous."""
        raise NotImplementedError

    def download(self, x: Any) -> np.ndarray:
        """Returns a NumPy array with the same elements. Waits for them."""
        return np.asarray(x)

    def empty(self, shape: Any, dtype: str, like: Any) -> Any:
        raise NotImplementedError

    def stream(self, x: Any) -> int:
        raise NotImplementedError


def is_on_gpu(x: Any) -> bool:
    """Returns whether x, an array of no known library, is in a GPU's memory."""
    if getattr(x, "__cuda_array_interface__", None) is not None:
        return True
    return hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] == 2  # kDLCUDA


def needs_dlpack(x: Any) -> bool:
    """Returns whether x is an array that numpy.asarray() would take for a plain object, but numpy.from_dlpack()
    reads."""
    return hasattr(x, "__dlpack__") and not any(
        hasattr(x, name) for name in ("__array__", "__array_interface__", "__buffer__")
    )


def adopted(x: Any) -> Any:
    """Returns a CuPy or PyTorch array that shares x's memory on a GPU."""
    for name in sorted(("cupy", "torch"), key=lambda name: name not in sys.modules):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(x, "__dlpack__"):
            return library.from_dlpack(x)
        return library.asarray(x) if name == "cupy" else library.as_tensor(x, device="cuda")
    raise TypeError(f"a {type(x).__name__} is on a GPU; the package takes it as an array of CuPy's or PyTorch's")


class NumPy(Library):
    """NumPy arrays, and everything else that numpy.asarray() takes."""

    is_numpy = True

    def array(self, x: Any) -> Any:
        if not isinstance(x, np.ndarray) and is_on_gpu(x):
            return adopted(x)
        a = np.from_dlpack(x) if needs_dlpack(x) else np.asarray(x)
        a = a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("="))
        return np.ascontiguousarray(a) if a.ndim else a

    def upload(self, values: np.ndarray, like: Any) -> np.ndarray:
        return values

    def empty(self, shape: Any, dtype: str, like: Any) -> np.ndarray:
        return np.empty(shape, dtype)


class Torch(Library):
    """PyTorch tensors, on the CPU or a GPU."""

    def __init__(self) -> None:
        self.torch = sys.modules["torch"]

    def array(self, x: Any) -> Any:
        return x.detach().contiguous()

    def dtype(self, x: Any) -> str:
        return str(x.dtype).removeprefix("torch.")

    def cast(self, x: Any, dtype: str) -> Any:
        return x.to(getattr(self.torch, dtype), copy=True)

    def upload(self, values: np.ndarray, like: Any) -> Any:
        return self.torch.from_numpy(values).to(like.device)

    def heads(self, rows: int, width: int, like: Any) -> tuple[str, Any]:
        return "offsets", self.torch.arange(0, rows * width, width, device=like.device)

    def copy(self, x: Any) -> Any:
        return x.clone()

    def download(self, x: Any) -> np.ndarray:
        found: np.ndarray = x.cpu().numpy()
        return found

    # look(), empty() and stream() serve versions of PyTorch without DLPack's C functions.
    def look(self, x: Any) -> Looked:
        strides = tuple(x.element_size() * stride for stride in x.stride())
        return x.data_ptr(), tuple(x.shape), strides, self.dtype(x), x.get_device(), True

    def empty(self, shape: Any, dtype: str, like: Any) -> Any:
        return self.torch.empty(shape, dtype=getattr(self.torch, dtype), device=like.device)

    def stream(self, x: Any) -> int:
        stream: int = self.torch.cuda.current_stream(x.device).cuda_stream
        return stream


class CuPy(Library):
    """CuPy arrays, on CuPy's current stream."""

    def __init__(self) -> None:
        self.cupy = sys.modules["cupy"]
        self.get_current_stream = self.cupy.cuda.get_current_stream
        # NumPy computes dtype.name at every access, which takes a microsecond.
        self.names = {t: t.name for t in map(np.dtype, ("?", *"bhilqBHILQ", *"efd"))}

    def array(self, x: Any) -> Any:
        return self.cupy.ascontiguousarray(x) if x.ndim else x

    def upload(self, values: np.ndarray, like: Any) -> Any:
        with like.device:
            return self.cupy.asarray(values)

    def heads(self, rows: int, width: int, like: Any) -> tuple[str, Any]:
        with like.device:
            return "offsets", self.cupy.arange(0, rows * width, width)

    def look(self, x: Any) -> Looked:
        memory = x.data
        return memory.ptr, x.shape, x.strides, self.names.get(x.dtype) or x.dtype.name, memory.device_id, True

    def download(self, x: Any) -> np.ndarray:
        found: np.ndarray = x.get()
        return found

    def empty(self, shape: Any, dtype: str, like: Any) -> Any:
        if like.data.device_id == self.cupy.cuda.runtime.getDevice():
            return self.cupy.empty(shape, dtype)
        with like.device:
            return self.cupy.empty(shape, dtype)

    def stream(self, x: Any) -> int:
        stream: int = self.get_current_stream(x.data.device_id).ptr
        return stream


_jax_library: list[Library] = []
_jax_lock = threading.Lock()


def jax_library() -> Library:
    """Returns the Library that all types of JAX arrays share."""
    with _jax_lock:
        if not _jax_library:
            from upsweep._jax import JAX

            _jax_library.append(JAX())
        return _jax_library[0]


def library_of(kind: type) -> Library:
    """Returns the Library of a type of arrays: NumPy if no other library has the type."""
    for library, name in (Torch, "torch.Tensor"), (CuPy, "cupy.ndarray"):
        module, _, its = name.partition(".")
        if module in sys.modules and issubclass(kind, getattr(sys.modules[module], its)):
            return library()
    jax = sys.modules.get("jax")
    if jax and issubclass(kind, (jax.Array, jax.core.Tracer)):
        return jax_library()
    return NumPy()


_core.set_library_of(library_of)
