"""Groups of two and three processes, over MPI and over torch.distributed, against one process."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
import pytest
import upsweep


def arrays(processes: int) -> list[list[np.ndarray[Any, Any]]]:
    """Returns the parts of some arrays, unequal ones and an empty one among them."""
    rng = np.random.default_rng(1)
    whole = [
        rng.integers(-1000, 1000, 1001),
        rng.integers(0, 5, 777).astype(np.int32),
        (rng.standard_normal(500) * 10.0 ** rng.integers(-20, 20, 500)).astype(np.float32),
        rng.random(333),
        np.zeros(64, np.uint8),
    ]
    cuts = [0.1, 0.1, 0.7][: processes - 1] if processes < 4 else [0.1, 0.1, 0.7]
    return [np.split(x, [int(c * len(x)) for c in cuts]) for x in whole]


def check(group: upsweep.Group, processes: int) -> None:
    """Compares this process's results with those of the whole arrays."""
    assert (group.size, 0 <= group.rank < processes) == (processes, True)
    for parts in arrays(processes):
        x, mine = np.concatenate(parts), parts[group.rank]
        begin = sum(len(p) for p in parts[: group.rank])
        end = begin + len(mine)
        exact = {"reproducible": True} if x.dtype.kind == "f" else {}
        assert group.sum(mine, **exact) == upsweep.sum(x, **exact)
        np.testing.assert_array_equal(group.sort(mine), np.sort(x, kind="stable")[begin:end])
        np.testing.assert_array_equal(group.sort(mine, descending=True), upsweep.sort(x, descending=True)[begin:end])
        np.testing.assert_array_equal(group.argsort(mine), np.argsort(x, kind="stable")[begin:end])
        if x.dtype.kind in "iu":
            np.testing.assert_array_equal(group.cumulative_sum(mine), np.cumsum(x)[begin:end])
        positions = group.nonzero(mine)
        positions = positions[0] if isinstance(positions, tuple) else positions
        np.testing.assert_array_equal(positions, [i for i in np.nonzero(x)[0] if begin <= i < end])
        counts, _ = group.histogram(mine, 7, (-10.0, 10.0))
        expected, _ = upsweep.histogram(x, 7, (-10.0, 10.0))
        np.testing.assert_array_equal(counts, expected)
        if all(len(p) for p in parts):
            assert group.max(mine) == x.max()
            assert group.argmin(mine) == x.argmin()
    # A run that crosses parts is one.
    runs = np.repeat(np.arange(3), 10)
    mine = np.array_split(runs, processes)[group.rank]
    firsts = group.unique_consecutive(mine)
    assert group.sum(np.array([len(firsts)])) == 3
    # The processes' calls differ: an error in each, after which the group still works.
    with pytest.raises(ValueError, match="the members' calls differ"):
        group.sort(mine) if group.rank == 0 else group.sum(mine)
    assert group.sum(np.ones(10, np.int64)) == 10 * processes
    with pytest.raises(ValueError, match="2 dimensions"):
        group.sort(np.zeros((2, 2)))


def run_mpi() -> None:
    """The program of one process that mpiexec has started."""
    from mpi4py import MPI

    with upsweep.Group(MPI.COMM_WORLD) as group:
        check(group, MPI.COMM_WORLD.Get_size())
    print("right", flush=True)


def run_torch(rank: int, processes: int, file: str) -> None:
    """The program of one process of torch.distributed."""
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=processes)
    with upsweep.Group(dist.group.WORLD) as group:
        check(group, processes)
    dist.destroy_process_group()
    print("right", flush=True)


def environment() -> dict[str, str]:
    # Root may start processes, in a container; local ones need no remote shell; those that wait leave their core to
    # others.
    mpi = {"ALLOW_RUN_AS_ROOT": "1", "ALLOW_RUN_AS_ROOT_CONFIRM": "1", "MCA_plm_rsh_agent": "sh"}
    return {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1", **{f"OMPI_{name}": value for name, value in mpi.items()}}


@pytest.mark.skipif(not shutil.which("mpiexec") or not importlib.util.find_spec("mpi4py"), reason="no MPI")
@pytest.mark.parametrize("processes", [2, 3])
def test_over_mpi(processes: int) -> None:
    start = ["mpiexec", "--oversubscribe", "-n", str(processes)]
    command = [*start, sys.executable, __file__]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("right") == processes


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="no PyTorch")
@pytest.mark.parametrize("processes", [2, 3])
def test_over_torch(processes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        started = [
            subprocess.Popen(
                [sys.executable, __file__, str(rank), str(processes), f"{folder}/meeting"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(processes)
        ]
        for process in started:
            out, err = process.communicate(timeout=100)
            assert process.returncode == 0, out + err
            assert "right" in out


def test_wrong_device() -> None:
    with pytest.raises(ValueError, match="device is 'gpu'"):
        upsweep.Group(None, "gpu")


if __name__ == "__main__":
    run_torch(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]) if len(sys.argv) > 1 else run_mpi()
