"""Runs the tour."""

from __future__ import annotations

import pathlib
import runpy


def test_the_tour_runs() -> None:
    runpy.run_path(str(pathlib.Path(__file__).parents[2] / "examples/python/tour.py"))
