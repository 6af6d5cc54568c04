"""PyTorch operators: the package's reproducible functions, for torch.compile and torch.export.

`import upsweep.torch` registers them as torch.ops.upsweep.*, for the CPU and CUDA. Their results have the same bits in
every run and on every device, whatever torch.use_deterministic_algorithms() says, except for sums of floats with
reproducible=False. Sums and cumulative sums have gradients.
"""

from __future__ import annotations

import torch
from torch import Tensor

import upsweep as up

__all__ = ["argsort", "bincount", "cumulative_sum", "histogram", "sort", "sum", "unique_consecutive"]


def _sum_type(x: Tensor) -> torch.dtype:
    unsigned = x.dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
    return x.dtype if x.dtype.is_floating_point else torch.uint64 if unsigned else torch.int64


@torch.library.custom_op("upsweep::sum", mutates_args=())
def sum(x: Tensor, reproducible: bool = True) -> Tensor:
    """Returns upsweep.sum()."""
    found: Tensor = up.sum(x, reproducible=reproducible and x.dtype.is_floating_point)
    return found


@sum.register_fake
def _(x: Tensor, reproducible: bool = True) -> Tensor:
    return x.new_empty((), dtype=_sum_type(x))


@torch.library.custom_op("upsweep::cumulative_sum", mutates_args=())
def cumulative_sum(x: Tensor, reproducible: bool = True) -> Tensor:
    """Returns upsweep.cumulative_sum()."""
    found: Tensor = up.cumulative_sum(x, reproducible=reproducible and x.dtype.is_floating_point)
    return found


@cumulative_sum.register_fake
def _(x: Tensor, reproducible: bool = True) -> Tensor:
    return x.new_empty(x.shape, dtype=_sum_type(x))


def _keep_shape(ctx: torch.autograd.function.FunctionCtx, inputs: tuple[Tensor, bool], output: Tensor) -> None:
    ctx.shape = inputs[0].shape  # type: ignore[attr-defined]
    ctx.reproducible = inputs[1]  # type: ignore[attr-defined]


def _gradient_of_sum(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[Tensor, None]:
    return gradient.expand(ctx.shape), None  # type: ignore[attr-defined]


def _gradient_of_cumulative_sum(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[Tensor, None]:
    sums: Tensor = cumulative_sum(gradient.flip(0), ctx.reproducible)  # type: ignore[attr-defined]
    return sums.flip(0), None


sum.register_autograd(_gradient_of_sum, setup_context=_keep_shape)
cumulative_sum.register_autograd(_gradient_of_cumulative_sum, setup_context=_keep_shape)


@torch.library.custom_op("upsweep::sort", mutates_args=())
def sort(x: Tensor, descending: bool = False) -> Tensor:
    """Returns upsweep.sort()."""
    found: Tensor = up.sort(x, descending=descending)
    return found


@sort.register_fake
def _(x: Tensor, descending: bool = False) -> Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("upsweep::argsort", mutates_args=())
def argsort(x: Tensor, descending: bool = False) -> Tensor:
    """Returns upsweep.argsort()."""
    found: Tensor = up.argsort(x, descending=descending)
    return found


@argsort.register_fake
def _(x: Tensor, descending: bool = False) -> Tensor:
    return x.new_empty(x.shape, dtype=torch.int64)


@torch.library.custom_op("upsweep::histogram", mutates_args=())
def histogram(x: Tensor, bins: int, lower: float, upper: float) -> Tensor:
    """Returns the counts of upsweep.histogram()."""
    counts: Tensor = up.histogram(x, bins, (lower, upper))[0]
    return counts


@histogram.register_fake
def _(x: Tensor, bins: int, lower: float, upper: float) -> Tensor:
    return x.new_empty((bins,), dtype=torch.int64)


@torch.library.custom_op("upsweep::bincount", mutates_args=())
def bincount(x: Tensor, minlength: int = 0) -> Tensor:
    """Returns upsweep.bincount()."""
    counts: Tensor = up.bincount(x, minlength=minlength)
    return counts


@bincount.register_fake
def _(x: Tensor, minlength: int = 0) -> Tensor:
    return x.new_empty((torch.library.get_ctx().new_dynamic_size(),), dtype=torch.int64)


@torch.library.custom_op("upsweep::unique_consecutive", mutates_args=())
def unique_consecutive(x: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the values and counts of upsweep.unique_consecutive()."""
    values, counts = up.unique_consecutive(x, return_counts=True)
    return values, counts


@unique_consecutive.register_fake
def _(x: Tensor) -> tuple[Tensor, Tensor]:
    n = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty((n,)), x.new_empty((n,), dtype=torch.int64)
