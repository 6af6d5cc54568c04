"""Calls that must be rejected: exit code 2, one line with the reason, and no bytes written."""
import os

import numpy as np

from execution import Call
from layouts import header, npy


def write(call, name, content):
    with open(os.path.join(call.folder, name), "wb") as file:
        file.write(content)
    return name


def array_file(draw, call, dtype="i4", n=None, name="in.npy"):
    array = draw.array(dtype, draw.between(0, 300) if n is None else n)
    return write(call, name, npy(draw, array, (array.size,)).content)


def any_array(draw, call):
    return array_file(draw, call, draw.one_of(["i4", "u4", "i8", "u8", "f4", "f8"]))


# ---- files ----------------------------------------------------------------------------------------------------------


def a_file_cut_short(draw, call):
    content = npy(draw, draw.array("f4", 100), (100,)).content
    return ["reduce", write(call, "in.npy", content[:draw.between(0, len(content) - 1)])]


def a_file_that_goes_on(draw, call):
    content = npy(draw, draw.array("f4", 100), (100,)).content
    return ["reduce", write(call, "in.npy", content + bytes(draw.between(1, 9)))]


def a_bad_header(draw, call):
    bad = header(draw, draw.one_of(["<f4", "<c8", "<U3", "|O", "<M8[s]", "<i3", "x" * 100, "\x1b[31m", ""]),
                 draw.one_of([(3,), (2**63,), (2**32, 2**32)]))
    if bad[8:].find(b"<f4") >= 0 and bad.find(b"(3,)") >= 0:  # still valid
        at = draw.one_of([0, 6, bad.index(b"descr"), bad.index(b"(3,)")])
        bad = bad[:at] + b"\xff" + bad[at + 1:]
    return ["reduce", write(call, "in.npy", bad + bytes(12))]


def half_an_element(draw, call):
    return ["reduce", write(call, "in.raw", bytes(4 * draw.between(0, 100) + draw.between(1, 3))), "--type", "u32"]


def no_type(draw, call):
    return ["reduce", write(call, "in.raw", bytes(16))]


def another_type(draw, call):
    return ["reduce", array_file(draw, call, "i4"), "--type", draw.one_of(["u32", "f32", "i64"])]


def no_file(draw, call):
    return ["reduce", draw.one_of(["missing.npy", ".", "/", "missing/in.npy", "in.npy/", ""])]


def an_image_cut_short(draw, call):
    content = b"P5 10 10 255\n" + bytes(draw.between(0, 99))
    return ["histogram", write(call, "in.pgm", content)]


def a_type_that_it_does_not_take(draw, call):
    primitive, dtype = draw.one_of([("partition", "f4"), ("partition", "i4"), ("partition", "i8")])
    return [primitive, array_file(draw, call, dtype)]


# ---- sizes ----------------------------------------------------------------------------------------------------------


def more_than_there_is(draw, call):
    return ["reduce", array_file(draw, call, "i4", 100), "-n", draw.one_of(["101", "1M", "2^40"])]


def no_size(draw, call):
    size = draw.one_of(["-1", "x", "1,2", "1..4", "", "2^", "1.5", "0x10", " 1"])
    return ["reduce", any_array(draw, call), "-n", size]


def another_length(draw, call):
    n = draw.between(0, 100)
    return ["saxpy", array_file(draw, call, "f8", n), "--with",
            array_file(draw, call, "f8", n + draw.between(1, 9), "y.npy")]


def rows_beside_columns(draw, call):
    name = write(call, "x.npy", npy(draw, draw.array("f8", 12), (3, 4)).content)
    return ["saxpy", name, "--with", write(call, "y.npy", npy(draw, draw.array("f8", 12), (4, 3)).content)]


def lengths_of_flags(draw, call):
    n = draw.between(1, 100)
    return ["select", array_file(draw, call, "f8", n), "--op", "select_flagged", "--with",
            array_file(draw, call, "u1", n - 1, "flags.npy")]


# ---- words ----------------------------------------------------------------------------------------------------------


def a_word_that_is_none(draw, call):
    return [draw.one_of(["reduce", "scan", "select", "histogram", "sort"]), any_array(draw, call)] + draw.one_of([
        ["--op", "summ"], ["--op", ""], ["--rung", "none"], ["--type", "u9"], ["--backend", "none"],
        ["--format", "none"], ["--param", "none=1"], ["--param", "threads"], ["--param", "=1"],
        ["--param", "threads=x"], ["--param", "threads=-1"], ["--param", "threads=1e9"], ["--none"], ["more.npy"],
        ["--memory", "-1"], ["--memory", "x"]])


def a_primitive_that_is_none(draw, call):
    return [draw.one_of(["", "redcue", "ceiling", "-"]), any_array(draw, call)]


def one_file_too_many(draw, call):
    name = array_file(draw, call, "f4", 10)
    return draw.one_of([["reduce", name, "--with", name], ["reduce", name, "--also", "x.npy"],
                        ["scan", name, "--with", name],
                        ["sort", name, "--with", name, "--with", name, "--also", "x.npy"],
                        ["sort", name, "--also", "x.npy"], ["saxpy", name, "--with", name, "--with", name]])


def one_file_too_few(draw, call):
    name = array_file(draw, call, "u4", 10)
    return draw.one_of([["saxpy", name], ["select", name, "--op", "select_flagged"],
                        ["select", name, "--op", "run_length_encode"], ["select", name, "--op", "partition_if"],
                        ["partition", name, "--op", "splitters"], ["histogram", name, "--op", "edges"],
                        ["sort", name, "--with", name], ["partition", name, "--with", name],
                        ["sort", name, "--param", "indices=true"], ["sort", name, "--param", "value_bytes=4"]])


def one_output_twice(draw, call):
    name = array_file(draw, call, "u4", 10)
    also = draw.one_of(["out.npy", "./out.npy", "../" + os.path.basename(call.folder) + "/out.npy"])
    return ["select", name, "--op", "run_length_encode", "--also", also]


def nowhere_to_write(draw, call):
    call.output = draw.one_of(["missing/out.npy", ".", "/", "in.npy/out.npy", ""])
    return ["scan", array_file(draw, call)]


def no_table(draw, call):
    return [draw.one_of(["reduce", "scan", "sort"]), any_array(draw, call), "--table"]


# ---- parameters -----------------------------------------------------------------------------------------------------


def a_limit_of_another_type(draw, call):
    dtype, limits = draw.one_of([("i1", ["128", "-129", "1.5", "nan", "1e1", ""]), ("u1", ["256", "-1", "0x1"]),
                                 ("u8", ["18446744073709551616", "-1"]), ("f4", ["1e39", "inf", "nan", "x"])])
    return ["select", array_file(draw, call, dtype), "--op", "select_if", "--param", f"below={draw.one_of(limits)}"]


def a_digit_beyond_the_key(draw, call):
    digit = draw.one_of(["first_bit=25", "first_bit=33,bits=1", "bits=0", "bits=16", "first_bit=-1",
                         "bits=1,first_bit=32"])
    return ["partition", array_file(draw, call, "u4"), "--param", digit]


def bits_beyond_the_key(draw, call):
    return ["sort", array_file(draw, call, "i2"), "--param",
            draw.one_of(["first_bit=16", "bits=17", "bits=0", "first_bit=9,bits=8", "first_bit=64", "bits=x"])]


def values_and_indices(draw, call):
    name = array_file(draw, call, "u4", 10)
    return ["sort", name, "--param", "indices=true", "--with", name, "--also", "x.npy"]


def values_of_a_width_not_moved(draw, call):
    return [draw.one_of(["sort", "partition"]), array_file(draw, call, "u4", 10), "--with",
            array_file(draw, call, draw.one_of(["i1", "u1", "i2", "u2"]), 10, "v.npy"), "--also", "x.npy"]


def splitters_that_do_not_ascend(draw, call):
    splitters = draw.one_of([[], [0], [0, 1], [3, 3], [3, 2], [1, 2, 3, 3, 4], list(range(1, 32770))])
    write(call, "s.npy", npy(draw, np.array(splitters, "u4"), (len(splitters),)).content)
    return ["partition", array_file(draw, call, "u4"), "--op", "splitters", "--with", "s.npy"]


def edges_that_do_not_ascend(draw, call):
    edges = draw.one_of([[], [1], [1, 1], [2, 1], [0, np.nan], [np.nan, 1], [-np.inf, 0, 0, np.inf], [0, -0.0]])
    write(call, "e.npy", npy(draw, np.array(edges, "f4"), (len(edges),)).content)
    return ["histogram", array_file(draw, call, "f4"), "--op", "edges", "--with", "e.npy"]


def a_range_that_is_none(draw, call):
    dtype, ranges = draw.one_of([("i4", ["lower=0.5,upper=3", "lower=0,upper=4294967297", "lower=3,upper=3",
                                         "lower=4,upper=3"]), ("u1", ["lower=256,upper=300", "lower=-5,upper=0"]),
                                 ("f4", ["lower=1,upper=1", "lower=2,upper=1", "lower=nan,upper=1",
                                         "lower=0,upper=inf"])])
    return ["histogram", array_file(draw, call, dtype), "--param", draw.one_of(ranges)]


def bins_that_are_none(draw, call):
    return ["histogram", array_file(draw, call, "u1"), "--param",
            draw.one_of(["bins=0", "bins=1048577", "bins=-1", "channels=0", "channels=5", "width=3", "width=3,pitch=4",
                         "counter=i8", "counter=u128"])]


REFUSED = [
    a_file_cut_short, a_file_that_goes_on, a_bad_header, half_an_element, no_type, another_type, no_file,
    an_image_cut_short, a_type_that_it_does_not_take, more_than_there_is, no_size, another_length, lengths_of_flags,
    a_word_that_is_none, a_primitive_that_is_none, one_file_too_many, one_file_too_few, one_output_twice,
    nowhere_to_write, no_table, a_limit_of_another_type, a_digit_beyond_the_key, bits_beyond_the_key,
    values_and_indices, values_of_a_width_not_moved, splitters_that_do_not_ascend, edges_that_do_not_ascend,
    a_range_that_is_none, bins_that_are_none, rows_beside_columns
]


def draw_refusal(draw, program, folder):
    """Makes a call that must be rejected. Returns it and a description of its failure, or None."""
    call = Call(program, folder)
    call.output = "out.npy"
    make = draw.one_of(REFUSED)
    call.words = make(draw, call)
    call.words += ["-o", call.output]
    if draw.chance(0.3):
        write(call, "out.npy", b"what was there before")
    mistake = call.run().mistake_if_refused()
    return call, mistake and f"{make.__name__}: {mistake}"
