#!/usr/bin/env python3
"""Writes the seeds of the record corpus: one for each form, and for each mistake that the reader reports. Usage:
make_record_seeds.py FOLDER. fuzz_record found the rest of the corpus."""
import json
import pathlib
import sys

SAMPLE = {
    "primitive": "reduce", "rung": "simd", "peer": None, "backend": "cpu", "op": "sum", "type": "f32", "n": 1024,
    "input": "uniform", "params": {"block": 256, "heads": "offsets", "inclusive": True, "a": -0.5},
    "situation": "alone", "samples": 20, "median_us": 12.5, "q1_us": 12.25, "q3_us": 13, "traffic_bytes": 4096,
    "ceiling": "read", "ceiling_gbs": 40.0, "score": 0.75, "checked": True, "aa_spread": 0.01, "peer_version": None,
    "device": "a machine", "driver": "Linux", "compiler": "GCC", "flags": "-O3", "revision": "abc-dirty",
    "run": "20250101T000000-1", "time": "2025-01-01T00:00:00Z"}
FAILED = dict.fromkeys(["median_us", "q1_us", "q3_us", "score", "aa_spread"])

seeds = {
    "sample": {}, "failed": FAILED | {"checked": False},
    "peer": {"rung": None, "peer": "std::sort", "peer_version": "12"},
    "no_op": {"op": None}, "no_params": {"params": {}}, "synchronises": {"synchronises": True},
    "no_traffic": {"traffic_bytes": 0}, "no_elements": {"n": 0}, "ceiling": {"primitive": "ceiling", "rung": "copy"},
    "both": {"peer": "cub"}, "escape": {"device": "\x1b[2J"}, "newline": {"type": "f32\n"}, "c1": {"run": "\x9b2J"},
    "bar": {"rung": "a|b"}, "xml": {"device": "<&>\""}, "negative": {"n": -1}, "denormal": {"median_us": 5e-324},
    "order": {"q1_us": 20.0}, "half": {"q1_us": None}, "deep": {"params": {"a": [[[]]]}}, "text": {"checked": "true"},
    "unknown": {"newer": {"a": [1]}}}

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, changes in seeds.items():
    (folder / name).write_text(json.dumps(SAMPLE | changes))
(folder / "empty").write_text("")
(folder / "array").write_text("[1]")
(folder / "cut").write_text(json.dumps(SAMPLE)[:200])
(folder / "invalid_utf8").write_bytes(json.dumps(SAMPLE).encode().replace(b"machine", b"m\xff"))
