"""The laboratory: times, checks and explains rungs, by running the upsweep command."""

from __future__ import annotations

import html
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from typing import Any


class Records(list[dict[str, Any]]):
    """Records of the laboratory, one per rung and case. pandas.DataFrame(records) and Polars' from_dicts(records) turn
    them into a table, and a notebook shows them as one."""

    def _repr_html_(self) -> str:
        columns = list(dict.fromkeys(name for record in self for name in record if _is_short(record[name])))
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = ("".join(f"<td>{html.escape(str(record.get(name, '')))}</td>" for name in columns) for record in self)
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


class Plot(str):
    """A picture as SVG text, which a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)


def _is_short(value: Any) -> bool:
    return not isinstance(value, (list, dict))


def command() -> str:
    """Returns the path of the upsweep command: the package's, or else the one on the PATH. Raises RuntimeError if there
    is none."""
    own = pathlib.Path(__file__).parent / "bin" / "upsweep"
    found = str(own) if own.exists() else shutil.which("upsweep")
    if not found:
        raise RuntimeError("there is no upsweep command: the package was built without the laboratory")
    return found


def _texts(value: Any) -> str:
    """Returns a value as an option of the command takes it, such as 1000, 2^10..2^20 or i32,f32."""
    if isinstance(value, dict):
        return ",".join(f"{name}={each}" for name, each in value.items())
    if isinstance(value, str) or not isinstance(value, Iterable):
        return str(value)
    return ",".join(map(str, value))


def _run(arguments: list[str], allowed: tuple[int, ...] = (0,)) -> str:
    ended = subprocess.run([command(), *arguments], capture_output=True, text=True)
    if ended.returncode == 2:
        raise ValueError(ended.stderr.strip())
    if ended.returncode not in allowed:
        raise RuntimeError(ended.stderr.strip() or f"the command ended with {ended.returncode}")
    return ended.stdout


# Options of the command whose names differ from the arguments here.
_OPTIONS = {"device": "backend", "dtype": "type", "operation": "op", "gpu": "device"}


def _records(command_name: str, primitive: str, flags: Iterable[str], **options: Any) -> Records:
    arguments = [command_name, primitive, "--json", *flags]
    for name, value in options.items():
        if value is not None:
            arguments += [f"-{name}" if name == "n" else f"--{_OPTIONS.get(name, name)}", _texts(value)]
    # The exit status 1 means a wrong result, which the records report.
    return Records(json.loads(line) for line in _run(arguments, (0, 1)).splitlines())


def bench(
    primitive: str,
    /,
    *,
    rung: Any = None,
    device: str | None = None,
    dtype: Any = None,
    operation: Any = None,
    n: Any = None,
    input: Any = None,
    param: dict[str, Any] | None = None,
    peers: bool = True,
    situation: str | None = None,
    samples: int | None = None,
) -> Records:
    """Times rungs and the same functions of other libraries, after checking their results, and returns the records. An
    argument is what an option of `upsweep bench` takes, or a list: dtype="f32" or ["f32", "i64"], n=1000 or
    "2^10..2^20". `device` is "cpu" or "cuda". A wrong argument raises ValueError.

    >>> records = bench("reduce", rung="simd", dtype="i32", operation="sum", n=1000, peers=False)
    >>> print(records[0]["rung"], records[0]["median_us"] > 0)
    simd True
    """
    return _records(
        "bench",
        primitive,
        [] if peers else ["--no-peers"],
        rung=rung,
        device=device,
        dtype=dtype,
        operation=operation,
        n=n,
        input=input,
        param=param,
        situation=situation,
        samples=samples,
    )


def check(
    primitive: str,
    /,
    *,
    rung: Any = None,
    device: str | None = None,
    dtype: Any = None,
    operation: Any = None,
    n: Any = None,
    input: Any = None,
    param: dict[str, Any] | None = None,
    seed: int | None = None,
    quick: bool = True,
) -> Records:
    """Checks rungs against the oracle, and returns one record per rung. The arguments are those of bench();
    device="simt" is the emulator of a GPU.

    >>> print(check("saxpy", rung="simd", dtype="f32", n=100)[0]["passed"])
    True
    """
    return _records(
        "check",
        primitive,
        ["--quick"] if quick else [],
        rung=rung,
        device=device,
        dtype=dtype,
        operation=operation,
        n=n,
        input=input,
        param=param,
        seed=seed,
    )


def explain(
    primitive: str,
    /,
    *,
    rung: Any = None,
    dtype: Any = None,
    operation: Any = None,
    n: Any = None,
    input: Any = None,
    param: dict[str, Any] | None = None,
    gpu: str | None = None,
) -> Records:
    """Runs GPU rungs on the emulator, without a GPU, and returns what each of their kernels does: memory traffic, bank
    conflicts, divergence and errors. `gpu` is a model: "t4", "a100", "rtx4090", "h200", "b200" or "rtx5090".

    >>> print(explain("reduce", rung="total", dtype="i32", n=1000)[0]["issues"])
    []
    """
    return _records(
        "explain",
        primitive,
        [],
        rung=rung,
        dtype=dtype,
        operation=operation,
        n=n,
        input=input,
        param=param,
        gpu=gpu,
    )


def plot(records: Iterable[dict[str, Any]], /) -> Plot:
    """Draws records of bench(), of one or more sizes: time over size, with one line per rung and library.

    >>> drawing = plot(bench("saxpy", rung="simd", n=[1000, 2000], peers=False))
    >>> print(str(drawing)[:4])
    <svg
    """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "records.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return Plot(_run(["report", "plot", str(path)]))


def main() -> None:
    """Replaces this process by the upsweep command, with the same arguments."""
    try:
        path = command()
    except RuntimeError as error:
        sys.exit(f"upsweep: {error}")
    os.execv(path, ["upsweep", *sys.argv[1:]])
