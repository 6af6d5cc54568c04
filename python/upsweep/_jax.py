"""JAX arrays, and calls on them as parts of XLA programs."""

from __future__ import annotations

import atexit
import collections
import sys
from typing import Any

import numpy as np

from upsweep import _core
from upsweep._arrays import Library, Looked

TARGET = "upsweep_call"
Results = tuple[tuple[tuple[int, ...], str], ...]  # shapes and types


class JAX(Library):
    """JAX arrays. They are read-only, so every call makes new ones.

    Calls are custom calls in XLA programs, run by the extension module's handlers. With a version of JAX that does not
    accept the handlers, a call writes to the memory of new arrays; it waits for its inputs, and until its results are
    written.
    """

    is_jax = True
    most_programs = 1024
    most_numbers = 8  # maximum number of programs that differ only in the numbers of a call

    def __init__(self) -> None:
        self.jax = sys.modules["jax"]
        self.tracer = self.jax.core.Tracer
        self.integer_bits = 8 * self.jax.dtypes.canonicalize_dtype("int64").itemsize
        # NumPy computes dtype.name at every access, which takes two microseconds.
        self.names = {t: t.name for t in map(np.dtype, ("?", *"bhilqBHILQ", *"efd"))}
        # Compiled, because single operations take JAX tens of microseconds.
        self.first = self.jax.jit(lambda x, n: x[:n], static_argnums=1)
        self.new_heads = self.jax.jit(self.heads_on, static_argnums=(0, 1, 2))
        self.has_handlers = self.register()
        self.programs: dict[tuple[str, Results], Any] = {}
        self.families: collections.Counter[Any] = collections.Counter()
        # Runs before JAX's exit function, because the handlers' devices use JAX's streams.
        atexit.register(_core.close)

    def register(self) -> bool:
        """Registers the handlers with JAX. Returns False if this version of JAX does not accept them."""
        try:
            for platform in "cpu", "CUDA":
                self.jax.ffi.register_ffi_target(TARGET, _core.xla_handler(platform), platform=platform)
        except Exception:  # which exception depends on the version
            return False
        return True

    def is_traced(self, x: Any) -> bool:
        return isinstance(x, self.tracer)

    def array(self, x: Any) -> Any:
        return x

    def device_of(self, like: Any) -> Any:
        return None if self.is_traced(like) else like.device

    def upload(self, values: np.ndarray, like: Any) -> Any:
        return self.jax.device_put(values, self.device_of(like))

    def heads(self, rows: int, width: int, like: Any) -> tuple[str, Any]:
        kind = "offsets" if self.integer_bits == 64 else "flags"  # JAX has no int64 by default
        return kind, self.new_heads(rows, width, self.device_of(like))

    def heads_on(self, rows: int, width: int, device: Any) -> Any:
        if self.integer_bits == 64:
            return self.jax.numpy.arange(0, rows * width, width, dtype="int64", device=device)
        flags = self.jax.numpy.zeros((rows, width), "uint8", device=device)
        return flags.at[:, :1].set(1).reshape(-1)

    def scattered(self, size: int, positions: Any, values: Any) -> Any:
        return self.jax.numpy.zeros(size, values.dtype, device=self.device_of(values)).at[positions].set(values)

    def look(self, x: Any) -> Looked:
        if isinstance(x, self.tracer):
            if not self.has_handlers:
                raise TypeError("an array of JAX's is traced, and this version of JAX does not take the handlers")
            return None, x.shape, None, self.dtype(x), -2, False
        devices = x.devices()
        if len(devices) != 1:
            raise TypeError("an array of JAX's is on several devices; under jax.jit it may be")
        address = None if self.has_handlers else self.address(x)
        return address, x.shape, None, self.dtype(x), self.ordinal(devices.pop()), False

    def dtype(self, x: Any) -> str:
        return self.names.get(x.dtype) or super().dtype(x)

    def ordinal(self, device: Any) -> int:
        """Returns the ordinal of a GPU, or -1 for a CPU."""
        if device.platform not in ("cpu", "gpu"):
            raise TypeError(f"an array of JAX's is on a device of the platform {device.platform}")
        ordinal: int = -1 if device.platform == "cpu" else device.local_hardware_id
        return ordinal

    def address(self, x: Any) -> int:
        """Waits for an array and returns its address."""
        address: int = x.block_until_ready().unsafe_buffer_pointer()
        return address

    def empty(self, shape: Any, dtype: str, like: Any) -> Any:
        made = self.jax.numpy.empty(shape, dtype, device=self.device_of(like))
        if made.dtype.name != dtype:
            raise TypeError(f"JAX has {dtype} only with jax_enable_x64")
        return made

    def stream(self, x: Any) -> int:
        return 1  # cudaStreamLegacy

    def number(self, x: Any) -> int:
        """Waits for an array of one element and returns the element."""
        return int(np.asarray(x)[0])

    def call(self, text: str, inputs: tuple[Any, ...], results: Results) -> Any:
        """Returns the results of a call, which the extension module has written as text. Returns None if JAX would have
        to compile it, after most_numbers programs that differ only in their numbers."""
        if any(isinstance(x, self.tracer) for x in inputs):
            return self.custom_call(text, results)(*inputs)
        program = self.programs.get((text, results))
        try:
            if program is not None:
                return program(*inputs)
            program = self.compiled(text, results)
            if program is None:
                return None
            # XLA may report errors late. The first call waits for them; later calls differ only in the arrays' values.
            return self.jax.block_until_ready(program(*inputs))
        except self.jax.errors.JaxRuntimeError as error:
            self.programs.pop((text, results), None)  # so that the next such call waits, too
            raise self.translated(error) from None

    def custom_call(self, text: str, results: Results) -> Any:
        specified = [self.jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results]
        made = self.jax.ffi.ffi_call(TARGET, specified, vmap_method="sequential")
        return lambda *inputs: made(*inputs, call=text)

    def compiled(self, text: str, results: Results) -> Any:
        # Numbers are attributes, so XLA compiles another program even if only a number differs.
        lines = text.splitlines()
        family = tuple(line for line in lines if line[:3] not in ("i64", "u64", "f64"))
        if self.families[family] >= self.most_numbers:
            return None
        if len(self.programs) >= self.most_programs:
            self.programs.clear()
            self.families.clear()
        self.families[family] += 1
        function = self.custom_call(text, results)
        function.__name__ = "upsweep_" + lines[0].partition(" ")[2]  # the name in profiles
        program = self.programs[text, results] = self.jax.jit(function)
        return program

    def translated(self, error: Exception) -> Exception:
        """Returns the exception that the same call would raise for arrays of another library."""
        status, _, message = str(error).partition(": ")
        kinds = {"INVALID_ARGUMENT": ValueError, "UNIMPLEMENTED": TypeError, "RESOURCE_EXHAUSTED": MemoryError}
        return kinds[status](message) if status in kinds else error
