"""The docstrings, and the pages that are generated from them."""

from __future__ import annotations

import pathlib
import re

import pytest
import upsweep as up

INDEX = pathlib.Path(__file__).parents[2] / "docs/pages/index.rst"


@pytest.mark.parametrize("name", [name for name in up.__all__ if name[0].islower()])
def test_every_function_has_an_example(name: str) -> None:
    assert ">>> " in getattr(up, name).__doc__


@pytest.mark.skipif(not INDEX.exists(), reason="not in a checkout")
def test_every_name_has_a_page() -> None:
    listed = re.findall(r"^   (\w+)$", INDEX.read_text(), re.MULTILINE)
    assert sorted(set(listed) - {"python"}) == sorted(up.__all__)
