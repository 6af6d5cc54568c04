#!/usr/bin/env python3
"""Times every function and its equivalents in NumPy, PyTorch and CuPy, and prints a table.

functions.py [--device cpu|cuda] [-n 2^10,2^20] [--only sort] [-o records.jsonl]

Every result is compared with those of the other libraries before it is timed. The libraries alternate, and each figure
is the median over the rounds. On a GPU, it is the time per call in a series of calls; in brackets, for the smallest n,
the time until a call returns to the host.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import upsweep as up

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

Calls = dict[str, Callable[[], Any]]


def arrays(dtype: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Returns random elements below 1000, a mask of half of them, runs of 7 equal elements, and bytes."""
    rng = np.random.default_rng(1)
    x = (rng.random(n) * 1000).astype(dtype)
    runs = np.repeat(x[: n // 7 + 1], 7)[:n]
    return x, rng.random(n) < 0.5, runs, rng.integers(0, 256, n).astype("uint8")


width = 1024  # elements per row


def near_one(x: np.ndarray) -> np.ndarray:
    """Returns elements whose products neither overflow nor become 0: odd integers, or floats near 1."""
    return x | 1 if x.dtype.kind == "i" else (1 + (x / 1000 - 0.5) / x.size).astype(x.dtype)


def on_cpu(dtype: str, n: int) -> Iterator[tuple[str, Calls]]:
    """Yields the name of each function, and the calls of the libraries that have it."""
    x, mask, runs, _ = arrays(dtype, n)
    t, m, r = (torch.from_numpy(a) for a in (x, mask, runs)) if torch else (None,) * 3
    sums, tsums, same, indices = x.cumsum(), None, np.empty_like(x), np.empty(n, "int64")
    if torch:
        tsums = torch.from_numpy(sums.copy())

    def with_torch(numpy: Callable[[], Any], ours: Callable[[], Any], torchs: Callable[[], Any] | None) -> Calls:
        return {"upsweep": ours, "numpy": numpy, **({"torch": torchs} if torch and torchs else {})}

    yield "sum", with_torch(lambda: x.sum(), lambda: up.sum(x), lambda: t.sum())
    yield "max", with_torch(lambda: x.max(), lambda: up.max(x), lambda: t.max())
    yield (
        "cumulative_sum",
        with_torch(
            lambda: np.cumsum(x, out=sums),
            lambda: up.cumulative_sum(x, out=sums),
            lambda: torch.cumsum(t, 0, out=tsums),
        ),
    )
    yield "argmax", with_torch(lambda: np.argmax(x), lambda: up.argmax(x), lambda: torch.argmax(t))
    near = near_one(x)
    tn = torch.from_numpy(near) if torch else None
    yield (
        "cumulative_prod",
        with_torch(lambda: np.cumprod(near), lambda: up.cumulative_prod(near), lambda: torch.cumprod(tn, 0)),
    )
    if n >= width:
        rows = x.reshape(-1, width)
        yield (
            "sum of rows",
            with_torch(
                lambda: rows.sum(axis=-1), lambda: up.sum(rows, axis=-1), lambda: t.reshape(-1, width).sum(dim=-1)
            ),
        )
    yield "sort", with_torch(lambda: np.sort(x), lambda: up.sort(x, out=same), lambda: torch.sort(t).values)
    yield (
        "argsort",
        with_torch(
            lambda: np.argsort(x, kind="stable"),
            lambda: up.argsort(x, out=indices),
            lambda: torch.argsort(t, stable=True),
        ),
    )
    yield "compress", with_torch(lambda: x[mask], lambda: up.compress(mask, x), lambda: t[m])
    zeros = x * mask
    tz = torch.from_numpy(zeros) if torch else None
    yield (
        "nonzero",
        with_torch(lambda: zeros.nonzero()[0], lambda: up.nonzero(zeros)[0], lambda: tz.nonzero(as_tuple=True)[0]),
    )
    yield "unique_values", with_torch(lambda: np.unique(x), lambda: up.unique_values(x), lambda: torch.unique(t))
    yield (
        "unique_consecutive",
        {
            "upsweep": lambda: up.unique_consecutive(runs),
            "numpy": lambda: runs[np.append(True, runs[1:] != runs[:-1])],
            **({"torch": lambda: torch.unique_consecutive(r)} if torch else {}),
        },
    )
    whole = {"bins": 256, "range": (0, 1000)}
    yield (
        "histogram",
        with_torch(
            lambda: np.histogram(x, **whole)[0],
            lambda: up.histogram(x, **whole)[0],
            (lambda: torch.histc(t, 256, 0, 1000)) if dtype != "int64" else None,
        ),
    )
    if dtype == "int64":
        yield "bincount", with_torch(lambda: np.bincount(x), lambda: up.bincount(x), lambda: torch.bincount(t))


def on_cuda(dtype: str, n: int) -> Iterator[tuple[str, Calls]]:
    random = torch.Generator("cuda").manual_seed(1)
    t = (torch.rand(n, device="cuda", generator=random) * 1000).to(getattr(torch, dtype))
    m = torch.rand(n, device="cuda", generator=random) < 0.5
    r = t[: n // 7 + 1].repeat_interleave(7)[:n]
    b = torch.randint(0, 256, (n,), dtype=torch.uint8, device="cuda", generator=random)
    sums, out, out2 = t.cumsum(0), torch.empty_like(t), torch.empty_like(t)
    sums2, indices, indices2 = torch.empty_like(sums), *(torch.empty(n, dtype=torch.int64, device="cuda") for _ in "12")
    c, cm, cb = (cupy.asarray(a) for a in (t, m, b)) if cupy else (None,) * 3

    def calls(ours: Callable[[], Any], torchs: Callable[[], Any], cupys: Callable[[], Any] | None = None) -> Calls:
        return {"upsweep": ours, "torch": torchs, **({"cupy": cupys} if cupy and cupys else {})}

    yield "sum", calls(lambda: up.sum(t), lambda: t.sum(), lambda: c.sum())
    yield "max", calls(lambda: up.max(t), lambda: t.max(), lambda: c.max())
    yield (
        "cumulative_sum",
        calls(lambda: up.cumulative_sum(t, out=sums), lambda: torch.cumsum(t, 0, out=sums2), lambda: cupy.cumsum(c)),
    )
    yield "argmax", calls(lambda: up.argmax(t), lambda: t.argmax(), lambda: c.argmax())
    near = torch.from_numpy(near_one(t.cpu().numpy())).cuda()
    cn = cupy.asarray(near) if cupy else None
    yield (
        "cumulative_prod",
        calls(lambda: up.cumulative_prod(near), lambda: torch.cumprod(near, 0), lambda: cupy.cumprod(cn)),
    )
    if n >= width:
        rows, crows = t.reshape(-1, width), c.reshape(-1, width) if cupy else None
        yield (
            "sum of rows",
            calls(lambda: up.sum(rows, axis=-1), lambda: rows.sum(dim=-1), lambda: crows.sum(axis=-1)),
        )
    if dtype == "float32":
        yield (
            "cumulative_sum reproducible",
            calls(lambda: up.cumulative_sum(t, out=sums, reproducible=True), lambda: torch.cumsum(t, 0, out=sums2)),
        )
    yield (
        "sort",
        calls(lambda: up.sort(t, out=out), lambda: torch.sort(t, out=(out2, indices2))[0], lambda: cupy.sort(c)),
    )
    yield (
        "argsort",
        calls(
            lambda: up.argsort(t, out=indices),
            lambda: torch.argsort(t, stable=True),
            lambda: cupy.argsort(c, kind="stable"),
        ),
    )
    yield "compress", calls(lambda: up.compress(m, t), lambda: t[m], lambda: c[cm])
    z = t * m
    cz = cupy.asarray(z) if cupy else None
    yield (
        "nonzero",
        calls(lambda: up.nonzero(z)[0], lambda: z.nonzero(as_tuple=True)[0], lambda: cz.nonzero()[0]),
    )
    yield "unique_values", calls(lambda: up.unique_values(t), lambda: torch.unique(t), lambda: cupy.unique(c))
    yield "unique_consecutive", calls(lambda: up.unique_consecutive(r), lambda: torch.unique_consecutive(r))
    yield (
        "unique_consecutive counts",
        calls(
            lambda: up.unique_consecutive(r, return_counts=True)[1],
            lambda: torch.unique_consecutive(r, return_counts=True)[1],
        ),
    )
    if dtype == "float32":
        # CuPy's histogram of 2^28 samples needs more memory than the GPU has.
        yield (
            "histogram",
            calls(
                lambda: up.histogram(t, 256, (0, 1000))[0],
                lambda: torch.histc(t, 256, 0, 1000),
                (lambda: cupy.histogram(c, 256, (0, 1000))[0]) if n < 1 << 28 else None,
            ),
        )
        yield "bincount uint8", calls(lambda: up.bincount(b), lambda: torch.bincount(b), lambda: cupy.bincount(cb))
    else:
        yield "bincount", calls(lambda: up.bincount(t), lambda: torch.bincount(t), lambda: cupy.bincount(c))


def require_equal(name: str, ours: Any, theirs: Any) -> None:
    if torch is None:
        a, b, xp = np.asarray(ours), np.asarray(theirs), np
    else:
        a, b, xp = torch.as_tensor(ours), torch.as_tensor(theirs, device=getattr(ours, "device", None)), torch
    if name.startswith(("sum", "cumulative")) and "float" in str(a.dtype):
        # Both results are rounded; their errors grow with the number of terms. Products of factors near 1 are often
        # halfway between two floats but for a tiny rest, whose sign is always the same, so that their errors add up.
        tolerance = 1e-3 if "32" in str(a.dtype) else 1e-9
        same = xp.allclose(a, b, rtol=100 * tolerance if "prod" in name else tolerance)
    elif name.startswith("histogram"):
        same = abs(a - b).sum() <= 2e-4 * a.sum()  # libraries round samples at edges differently
    else:
        same = a.shape == b.shape and bool((a == b).all())
    if not same:
        raise SystemExit(f"{name}: the libraries' results differ")


def seconds(call: Callable[[], Any], repeats: int, is_gpu: bool) -> tuple[float, float]:
    """Returns the time per call, and the time until a call returns to the host, in seconds."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    host = time.perf_counter() - start
    if is_gpu:
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / repeats, host / repeats


def measure(calls: Calls, is_gpu: bool, rounds: int) -> dict[str, tuple[float, float]]:
    repeats = {}
    for library, call in calls.items():
        once = max(seconds(call, 3, is_gpu)[0], 1e-7)
        repeats[library] = max(1, min(2000, int(0.004 / once)))
    found: dict[str, list[tuple[float, float]]] = {library: [] for library in calls}
    for _ in range(rounds):
        for library, call in calls.items():
            found[library].append(seconds(call, repeats[library], is_gpu))
    return {library: tuple(statistics.median(t) for t in zip(*times, strict=True)) for library, times in found.items()}


def processor() -> str:
    """Returns the processor's name and number of cores, such as "AMD EPYC (2 cores)"."""
    cores = len(os.sched_getaffinity(0))
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return f"{value.strip()} ({cores} cores)"
    return f"{platform.machine()} ({cores} cores)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("-n", default=None, help="sizes, such as 2^10,1000")
    parser.add_argument("--types", help="element types, such as float32,int64")
    parser.add_argument("--only", default="", help="functions whose name starts with this")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("-o", "--output", type=Path, help="appends the records to this file")
    arguments = parser.parse_args()
    is_gpu = arguments.device == "cuda"
    if is_gpu and (torch is None or not torch.cuda.is_available()):
        parser.error("--device cuda needs PyTorch and a GPU")
    default = "2^10,2^16,2^20,2^24,2^28" if is_gpu else "2^10,2^16,2^20,2^24"
    sizes = [2 ** int(s[2:]) if s.startswith("2^") else int(s) for s in (arguments.n or default).split(",")]
    device = torch.cuda.get_device_name() if is_gpu else processor()
    versions = {m.__name__: m.__version__ for m in (np, torch, cupy) if m is not None}
    print(f"{device}; upsweep {up.__version__}, " + ", ".join(f"{k} {v}" for k, v in versions.items()))

    def write(record: dict[str, Any]) -> None:
        if arguments.output:
            with arguments.output.open("a") as file:
                file.write(json.dumps(record, separators=(",", ":")) + "\n")

    # The header of the records that follow.
    write({"device": device, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "versions": versions})
    for dtype in (arguments.types or f"float32,{'int32' if is_gpu else 'float64'},int64").split(","):
        for n in sizes:
            for name, calls in (on_cuda if is_gpu else on_cpu)(dtype, n):
                if not name.startswith(arguments.only):
                    continue
                ours = calls["upsweep"]()
                for library, call in calls.items():
                    if library != "upsweep":
                        require_equal(name, ours, call())
                times = measure(calls, is_gpu, arguments.rounds)
                mine = times["upsweep"][0]
                row = f"{name:27} {dtype:8} {n:>10}  "
                for library, (total, host) in times.items():
                    row += f"{library} {total * 1e6:.2f}"
                    row += f" ({host * 1e6:.2f})" if is_gpu and n == min(sizes) else ""
                    row += "  " if library == "upsweep" else f" = {total / mine:.2f}x  "
                print(row, flush=True)
                record = {"function": name, "type": dtype, "n": n}
                record["us"] = {library: round(total * 1e6, 2) for library, (total, _) in times.items()}
                if is_gpu and n == min(sizes):
                    record["host_us"] = {library: round(host * 1e6, 2) for library, (_, host) in times.items()}
                write(record)


if __name__ == "__main__":
    main()
