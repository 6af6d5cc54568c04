"""The laboratory from Python, if there is an upsweep command."""

from __future__ import annotations

import subprocess
import sys

import pytest
import upsweep as up

try:
    up._laboratory.command()
except RuntimeError:
    pytest.skip("no upsweep command", allow_module_level=True)


def test_records_of_timings_and_their_plot() -> None:
    records = up.bench("saxpy", rung=["serial", "simd"], dtype="f32", n=[1000, 2000], samples=4, peers=False)
    assert [(r["rung"], r["n"]) for r in records if r["rung"] == "simd"] == [("simd", 1000), ("simd", 2000)]
    assert all(r["checked"] and r["median_us"] > 0 for r in records)
    assert records._repr_html_().count("<tr>") == len(records) + 1
    assert up.plot(records)._repr_svg_().startswith("<svg ")


def test_checks() -> None:
    (record,) = up.check("saxpy", rung="serial", device="cpu", n=1000)
    assert record["passed"] and record["runs"] > 0


def test_explanations() -> None:
    rungs = up.explain("reduce", rung="total", dtype="i32", n=1000, gpu="t4")
    assert rungs[0]["kernels"]


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="no rung named 'nope'"):
        up.bench("scan", rung="nope")
    with pytest.raises(ValueError, match="no type named 'complex64'"):
        up.check("scan", dtype="complex64")


def test_the_module_is_the_command() -> None:
    ended = subprocess.run([sys.executable, "-m", "upsweep", "--version"], capture_output=True, text=True)
    assert ended.returncode == 0
    assert ended.stdout.startswith("upsweep ")
