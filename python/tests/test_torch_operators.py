"""The PyTorch operators, under torch.compile and torch.export."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
ops = pytest.importorskip("upsweep.torch")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.filterwarnings("ignore")
def test_what_pytorch_asks_of_operators(device: str) -> None:
    x = torch.rand(1000, device=device)
    k = torch.randint(0, 50, (1000,), device=device)
    for op, *arguments in (
        (ops.sum, x),
        (ops.sum, x.clone().requires_grad_()),
        (ops.cumulative_sum, x, False),
        (ops.cumulative_sum, x.clone().requires_grad_()),
        (ops.sort, x, True),
        (ops.argsort, k),
        (ops.histogram, x, 10, 0.0, 1.0),
        (ops.bincount, k),
        (ops.unique_consecutive, k),
    ):
        torch.library.opcheck(op, tuple(arguments))


def test_gradients(device: str) -> None:
    x = torch.rand(100, device=device, dtype=torch.float64, requires_grad=True)
    weights = torch.rand(100, device=device, dtype=torch.float64)
    (ops.cumulative_sum(x) * weights).sum().backward()
    ours, x.grad = x.grad, None
    (x.cumsum(0) * weights).sum().backward()
    torch.testing.assert_close(ours, x.grad)
    x.grad = None
    (ops.sum(x) * 3).backward()
    torch.testing.assert_close(x.grad, torch.full_like(x, 3))


def test_compiled_and_exported(device: str) -> None:
    def work(x: Any) -> Any:
        return ops.sort(ops.cumulative_sum(x * 2)) + ops.sum(x)

    x = torch.rand(1000, device=device)
    expected = work(x)
    torch.use_deterministic_algorithms(True)
    assert torch.equal(torch.compile(work, backend="aot_eager", fullgraph=True)(x), expected)

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return work(x)

    assert torch.equal(torch.export.export(Module(), (x,)).module()(x), expected)


def test_the_same_bits_everywhere() -> None:
    x = torch.rand(100_000, generator=torch.Generator().manual_seed(1))
    sums = [ops.cumulative_sum(x.to(device)).cpu() for device in DEVICES for _ in range(3)]
    assert all(torch.equal(sums[0], other) for other in sums)
