"""PyTorch's streams and graphs, if there is a GPU."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import upsweep as up
from kinds import in_eight_threads

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)


def random(n: int) -> torch.Tensor:
    return torch.randint(0, 1 << 30, (n,), dtype=torch.int32, device="cuda")


def test_calls_follow_the_work_of_their_stream() -> None:
    x = torch.ones(1 << 26, device="cuda", dtype=torch.int64)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(20):
            x = x + 1
        last = up.cumulative_sum(x)[-1].clone()
    stream.synchronize()
    assert last.item() == 21 << 26


def test_calls_in_a_graph() -> None:
    x = random(1 << 18)
    out, indices = torch.empty_like(x), torch.empty(x.shape, dtype=torch.int64, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        up.sort(x, out=out)
        up.argsort(x, out=indices)
        sums, total = up.cumulative_sum(x), up.sum(x)
        counts = up.histogram(x, 256, (0, 1 << 30))[0]
    up.sort(random(1 << 24))  # takes more scratch than any earlier call
    for _ in range(3):
        x.copy_(random(1 << 18))
        for result in out, indices, sums, counts:
            result.fill_(-1)
        graph.replay()
        torch.cuda.synchronize()
        expected = x.sort(stable=True)
        assert torch.equal(out, expected.values)
        assert torch.equal(indices, expected.indices)
        assert torch.equal(sums, x.cumsum(0))
        assert total.item() == x.sum().item()
        assert counts.cpu().tolist() == np.histogram(x.cpu().numpy(), 256, (0, 1 << 30))[0].tolist()


def test_calls_that_wait_cannot_be_captured() -> None:
    # In a separate process, because PyTorch's random numbers stay unusable after a failed capture.
    program = """
import torch, upsweep
x = torch.arange(1000, device="cuda")
with torch.cuda.graph(torch.cuda.CUDAGraph()):
    upsweep.unique_consecutive(x)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "captur" in ended.stderr


def test_eight_threads_at_once() -> None:
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(30):
            x = random(100_000 + k)
            if not torch.equal(up.sort(x), x.sort().values):
                wrong.append(k)

    in_eight_threads(work)
    assert not wrong


def test_memory_stays_flat() -> None:
    x = random(1000)
    out = torch.empty_like(x)
    up.sort(x, out=out)
    torch.cuda.synchronize()
    free = torch.cuda.mem_get_info()[0]
    for _ in range(100_000):
        up.sort(x, out=out)
    torch.cuda.synchronize()
    assert torch.cuda.mem_get_info()[0] == free


def test_scratch_of_the_arrays_library() -> None:
    x = random(1 << 22)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()  # a new stream, for which no scratch is kept yet
    with torch.cuda.stream(stream), up.borrowed_scratch():
        up.sort(x)
        torch.cuda.reset_peak_memory_stats()
        free, allocated = torch.cuda.mem_get_info()[0], torch.cuda.memory_allocated()
        found = up.sort(x)
        assert torch.cuda.max_memory_allocated() - allocated > 2 * x.nbytes  # the result and the scratch
        assert torch.cuda.mem_get_info()[0] == free
        assert torch.equal(found, x.sort().values)


def test_calls_on_a_given_stream() -> None:
    x = random(1 << 20)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        y, halves = x + 1, (x & 1).half() + 0.5
    out = torch.empty_like(x)
    with up.on_stream(stream.cuda_stream):
        up.sort(y, out=out)
        counts = up.histogram(halves, 2, (0, 2))[0]  # PyTorch converts the samples
    assert torch.cuda.current_stream() != stream
    stream.synchronize()
    assert torch.equal(out, (x + 1).sort().values)
    odd = int((x & 1).sum())
    assert counts.tolist() == [x.numel() - odd, odd]


def test_arrays_of_other_libraries() -> None:
    class Other:
        def __init__(self, tensor: torch.Tensor) -> None:
            self.tensor = tensor
            self.__cuda_array_interface__ = tensor.__cuda_array_interface__

    x = random(1000)
    found = up.sort(Other(x))
    assert np.array_equal(up._arrays.library_of(type(found)).download(found), x.sort().values.cpu().numpy())


def test_devices_are_not_changed() -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    x = torch.arange(1000, device="cuda:1")
    assert torch.equal(up.sort(x, descending=True), x.flip(0))
    assert torch.cuda.current_device() == 0
    with pytest.raises(ValueError, match="another device"):
        up.sort(x, out=torch.empty(1000, dtype=torch.int64, device="cuda:0"))
