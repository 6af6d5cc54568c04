#!/usr/bin/env python3
"""Writes the seeds of the .npy corpus: small files for each format, type and shape, and for each mistake that the
reader reports. Usage: make_npy_seeds.py FOLDER. fuzz_npy found the rest of the corpus."""
import pathlib
import sys


def npy(descr="'<i4'", shape="(3,)", order="False", data=b"\0" * 12, major=1, text=None):
    if text is None:
        text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
        before = 10 if major == 1 else 12
        text += " " * (-(before + len(text) + 1) % 64) + "\n"
    text = text.encode()
    length = len(text).to_bytes(2 if major == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([major, 0]) + length + text + data


seeds = {
    "empty": b"",
    "magic": b"\x93NUMPY",
    "zip": b"PK\3\4" + b"\0" * 26,
    "format_4": npy(major=4),
    "format_1_1": npy()[:7] + b"\1" + npy()[8:],
    "length_cut": b"\x93NUMPY\1\0\x76",
    "length_huge": b"\x93NUMPY\2\0\xff\xff\xff\xff",
    "header_cut": npy()[:40],
    "data_cut": npy()[:-1],
    "data_more": npy() + b"\0",
    "scalar": npy(shape="()", data=b"\0" * 4),
    "two_d": npy(shape="(2, 3)", data=b"\0" * 24),
    "empty_array": npy(shape="(0,)", data=b""),
    "empty_of_many": npy(shape="(18446744073709551615, 0)", data=b""),
    "python_2": npy(shape="(3L,)"),
    "fortran_1d": npy(order="True"),
    "fortran_2d": npy(order="True", shape="(3, 1)"),
    "fortran_2x3": npy(order="True", shape="(2, 3)", data=b"\1\0\0\0" * 6),
    "fortran_4d": npy(order="True", shape="(2, 1, 3, 2)", descr="'<u2'", data=b"\1\0" * 12),
    "fortran_cut": npy(order="True", shape="(2, 3)", data=b"\1\0\0\0" * 5),
    "overflow_dimension": npy(shape="(18446744073709551616,)"),
    "overflow_product": npy(shape="(4294967296, 4294967296)"),
    "overflow_bytes": npy(shape="(4611686018427387904,)"),
    "negative": npy(shape="(-3,)"),
    "not_a_tuple": npy(shape="(3)"),
    "deep": npy(shape="(" + "1, " * 65 + ")", data=b"\0" * 4),
    "double_quotes": npy(descr='"<i4"'),
    "structure": npy(descr="[('x', '<i4')]"),
    "key_order": npy(text="{'shape':(3,),'fortran_order':False,'descr':'<i4'}"),
    "key_unknown": npy(text="{'descr': '<i4', 'x': 1}"),
    "key_twice": npy(text="{'descr': '<i4', 'descr': '<i4'}"),
    "key_missing": npy(text="{'descr': '<i4'}"),
    "string_open": npy(text="{'descr': '<i4"),
    "after": npy(text="{'descr': '<i4', 'fortran_order': False, 'shape': (3,)} x"),
    "format_2": npy(major=2),
    "format_3": npy(major=3),
}
for code in "|i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8 <f4 <f8 =i4 i4 >i1".split():
    size = int(code[-1])
    seeds["type_" + code.translate(str.maketrans("|<>=", "bleh"))] = npy(descr=f"'{code}'", data=b"\1" * 3 * size)
for code in ">i2 >f8 <f2 >f2 |b1 ? e <d float32 bool".split():
    size = {"<f2": 2, ">f2": 2, "e": 2, ">i2": 2, "float32": 4, ">f8": 8, "<d": 8}.get(code, 1)
    seeds["converted_" + code.translate(str.maketrans("|<>?", "ble_"))] = npy(descr=f"'{code}'", data=b"\1" * 3 * size)
for code in ">i4 <f2 <f16 <c8 |O |b1 <U2 |S2 |V2 <M8[s]".split():
    seeds["refused_" + "".join(c for c in code if c.isalnum())] = npy(descr=f"'{code}'")

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, content in seeds.items():
    (folder / ("seed_" + name)).write_bytes(content)
