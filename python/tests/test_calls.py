"""Many calls: from several threads, and without memory growth."""

from __future__ import annotations

import resource

import numpy as np
import upsweep as up
from kinds import in_eight_threads


def test_eight_threads_at_once() -> None:
    wrong: list[int] = []

    def work(k: int) -> None:
        rng = np.random.default_rng(k)
        for n in (100, 10_000, 100_000 + k) * 8:
            x = rng.integers(0, 1000, n)
            same = (
                (up.sort(x) == np.sort(x)).all()
                and (up.cumulative_sum(x) == np.cumsum(x)).all()
                and (up.bincount(x) == np.bincount(x)).all()
                and (up.compress(x < 500, x) == x[x < 500]).all()
            )
            if not same:
                wrong.append(k)

    in_eight_threads(work)
    assert not wrong


def test_memory_stays_flat() -> None:
    x, mask = np.arange(100), np.arange(100) % 3 == 0

    def calls(times: int) -> int:
        for _ in range(times):
            up.sum(x)
        for _ in range(times // 10):
            up.sort(x)
            up.compress(mask, x)
            up.histogram(x, 10, (0, 100))
            up.unique_counts(x)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes

    before = calls(100_000)
    assert calls(1_000_000) - before < 1000
