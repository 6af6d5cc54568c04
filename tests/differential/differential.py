#!/usr/bin/env python3
"""Runs `upsweep run` on random inputs, types, sizes, parameters and files, and compares the results with NumPy's.

  differential.py build/dev/bin/upsweep                        2000 runs from a new seed, which is printed
  differential.py build/dev/bin/upsweep --seed 5               the same runs again
  differential.py build/dev/bin/upsweep --seed 5 --only 1234   one of them; keeps its files and prints their folder

The headers, include/upsweep/*.h, define the results.
"""
import argparse
import concurrent.futures
import os
import secrets
import shutil
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    print("NumPy is missing: apt-get install python3-numpy")
    sys.exit(77)  # ctest's exit code for a skipped test
sys.dont_write_bytecode = True  # bytecode would be written next to the source

from draw import Draw
from execution import Program, carry_out
from primitives import DRAWN
from refusals import draw_refusal


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the upsweep command")
    parser.add_argument("--seed", type=int, help="of all runs (default: a new one)")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--only", type=int, help="the number of one run")
    parser.add_argument("--primitive", help="runs of one primitive alone; their numbers are others'")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--failures", type=int, default=10, help="end after so many")
    return parser.parse_args()


class Laboratory:
    """Generates run number k of a seed and executes it."""

    def __init__(self, program, seed, primitive):
        self.program, self.seed = Program(program), seed
        self.drawn = [(f, weight) for f, weight in DRAWN if primitive in (None, f.__module__.split(".")[-1])]

    def run(self, number):
        """Returns None if the run passes, otherwise a description of the failure."""
        draw = Draw(self.seed, number)
        folder = tempfile.mkdtemp(prefix="upsweep_differential_")
        if draw.chance(0.15):
            call, mistake = draw_refusal(draw, self.program, folder)
        else:
            functions, weights = zip(*self.drawn)
            make = draw.random.choices(functions, weights)[0]
            call, mistake = carry_out(draw, self.program, make(draw), folder)
        if mistake is None:
            shutil.rmtree(folder)
            return None
        return f"run {number}: {mistake.strip()}\n  (cd {folder} && {call.shown()})"


laboratory = None


def begin(*options):
    global laboratory
    laboratory = Laboratory(*options)


def run(number):
    return laboratory.run(number)


def main():
    o = arguments()
    seed = secrets.randbelow(2**32) if o.seed is None else o.seed
    options = (o.program, seed, o.primitive)
    again = f"{sys.argv[0]} {o.program} --seed {seed}" + (f" --primitive {o.primitive}" if o.primitive else "")
    print(f"seed {seed}, NumPy {numpy.__version__}", flush=True)
    numbers = range(o.runs) if o.only is None else [o.only]
    begin_time, failures = time.monotonic(), 0
    with concurrent.futures.ProcessPoolExecutor(o.workers, initializer=begin, initargs=options) as pool:
        for number, failure in zip(numbers, pool.map(run, numbers, chunksize=4)):
            if failure is None:
                continue
            print(f"{failure}\n  {again} --only {number}", flush=True)
            failures += 1
            if failures == o.failures:
                print(f"{failures} failures: the other runs are left out")
                pool.shutdown(cancel_futures=True)
                break
    print(f"{len(numbers)} runs, {failures} wrong, {time.monotonic() - begin_time:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
