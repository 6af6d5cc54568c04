"""The kinds of arrays that the tests run on: NumPy's, and those of every other library that is installed."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Kind(NamedTuple):
    name: str
    array_type: type
    array: Callable[[np.ndarray], Any]
    back: Callable[[Any], Any]  # to NumPy
    takes_out: bool = True

    def __str__(self) -> str:
        return self.name


def in_eight_threads(work: Callable[[int], None]) -> None:
    """Runs work(0) to work(7) concurrently, and waits for them."""
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _found() -> list[Kind]:
    def module(name: str) -> Any:
        try:
            return importlib.import_module(name)
        except ImportError:
            return None

    kinds = [Kind("numpy", np.ndarray, np.asarray, lambda a: a)]
    if torch := module("torch"):
        kinds.append(Kind("torch", torch.Tensor, torch.from_numpy, lambda a: a.numpy()))
        if torch.cuda.is_available():
            # Makes PyTorch fill new tensors with NaN or the largest integer.
            torch.use_deterministic_algorithms(True)
            kinds.append(
                Kind("torch-cuda", torch.Tensor, lambda x: torch.from_numpy(x).cuda(), lambda a: a.cpu().numpy())
            )
    if (cupy := module("cupy")) and cupy.is_available():
        empty = cupy.empty

        def filled(*args: Any, **named: Any) -> Any:
            a = empty(*args, **named)
            a.reshape(-1).view("uint8").fill(0xA5)
            return a

        cupy.empty = filled
        kinds.append(Kind("cupy", cupy.ndarray, cupy.asarray, cupy.asnumpy))
    if jax := module("jax"):
        jax.config.update("jax_enable_x64", True)
        kinds.append(Kind("jax", jax.Array, jax.numpy.asarray, np.asarray, takes_out=False))
    return kinds


KINDS = _found()
