"""Files that hold an array, written byte by byte: what numpy.save never writes is read too."""
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from rules import followed

# Folder-safe names that a shell, a parser of options or a writer of messages may stumble over.
STEMS = ["in", "a b", "ü", "it's", 'say "x"', "-n", "--type", "a=1,b", "line\nbreak", "%s", "$HOME", "a.npy.old", "\t"]


@dataclass
class File:
    """An array in a file, as the command is told of it."""
    name: str
    content: bytes
    raw: bool = False  # its type has to be given
    piped: bool = False  # given on standard input, as a pipe
    redirected: bool = False  # given on standard input, as a file

    @property
    def argument(self):
        if self.piped or self.redirected:
            return "-"
        return f"./{self.name}" if self.name.startswith("-") else self.name


# ---- .npy -----------------------------------------------------------------------------------------------------------


def header(draw, descr, shape, fortran=False):
    """Magic, version and dictionary; spacing, quotes and the order of keys differ."""
    quote = draw.one_of("''\"")
    numbers = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    entries = [("descr", f"{quote}{descr}{quote}"), ("fortran_order", str(fortran)), ("shape", f"({numbers})")]
    if draw.chance(0.2):
        draw.random.shuffle(entries)
    text = "{" + ", ".join(f"{quote}{key}{quote}: {value}" for key, value in entries) + draw.one_of([", }", "}"])
    major = draw.one_of([1, 1, 2, 3])
    before = 10 if major == 1 else 12
    text += " " * (-(before + len(text) + 1) % draw.one_of([64, 64, 16, 1])) + "\n"
    length = struct.pack("<H" if major == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([major, 0]) + length + text.encode()


def descr_of(draw, dtype):
    order = "|" if dtype.itemsize == 1 else "<"
    return draw.one_of([order, order, "=", ""]) + dtype.kind + str(dtype.itemsize)


def shape_for(draw, n):
    """A shape of n elements, of any number of dimensions."""
    if n == 1 and draw.chance(0.3):
        return draw.one_of([(), (1, 1), (1, 1, 1)])
    if draw.chance(0.6):
        return (n,)
    divisors = [d for d in range(1, min(n, 100) + 1) if n % d == 0] or [draw.between(1, 9)]
    rows = draw.one_of(divisors)
    shape = draw.one_of([(rows, n // rows), (n // rows, rows), (rows, 1, n // rows)])
    return shape


def npy(draw, array, shape):
    """A .npy file of the array."""
    dtype, stored = array.dtype, array.reshape(shape)
    fortran = len(shape) > 1 and draw.chance(0.3) and followed(["fortran"])
    descr = descr_of(draw, dtype)
    if dtype.itemsize > 1 and draw.chance(0.1) and followed(["big_endian"]):
        stored, descr = stored.astype(dtype.newbyteorder(">")), ">" + descr.lstrip("<=")
    elif dtype == np.float32 and is_float16(array) and draw.chance(0.5) and followed(["float16"]):
        stored, descr = stored.astype("<f2"), "<f2"
    elif dtype == np.uint8 and (array <= 1).all() and draw.chance(0.5) and followed(["booleans"]):
        descr = draw.one_of(["|b1", "?"])
    elif not fortran and draw.chance(0.1) and followed(["booleans"]):
        descr = {"f": "f", "d": "d"}.get(dtype.char, descr)
    return header(draw, descr, shape, fortran) + stored.tobytes("F" if fortran else "C")


def is_float16(array):
    with np.errstate(all="ignore"):
        again = array.astype("f2").astype("f4")
    return not np.isnan(array).any() and (again.view("u4") == array.view("u4")).all()


# ---- images ---------------------------------------------------------------------------------------------------------


def pnm(samples, width, height, channels):
    most = 255 if samples.dtype.itemsize == 1 else 65535
    kind = 5 if channels == 1 else 6
    return f"P{kind}\n# a comment\n{width} {height}\n{most}\n".encode() + big_endian(samples).tobytes()


def png(samples, width, height, channels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = big_endian(samples).reshape(height, -1).view(np.uint8).reshape(height, -1)
    lines = np.hstack([np.zeros((height, 1), np.uint8), rows])  # every row without a filter
    head = struct.pack(">IIBBBBB", width, height, 8 * samples.dtype.itemsize, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes())) +
            chunk(b"IEND", b""))


def big_endian(samples):
    return samples.astype(samples.dtype.newbyteorder(">"))


# ---- any ------------------------------------------------------------------------------------------------------------


def file_of(draw, array, number, shape, may_be_raw=True, may_be_piped=True, type_is_known=False):
    """One of the files that hold an array: .npy or raw numbers, under any name, piped, redirected or named. Where the
    command knows the type, it takes what has no name for raw numbers until it looks at the content."""
    raw = may_be_raw and draw.chance(0.3)
    content = array.tobytes() if raw else npy(draw, array, shape)
    stem = draw.one_of(STEMS) if draw.chance(0.2) else "in"
    ending = draw.one_of([".raw", ".bin", ""]) if raw else ".npy"
    if not raw and draw.chance(0.1) and followed(["content"]):
        ending = draw.one_of(["", ".NPY", ".raw", ".png", ".data"])
    if raw and draw.chance(0.1) and followed(["content"]):
        ending = draw.one_of([".RAW", ".dat", ".f32"])
    file = File(f"{stem}{number}{ending}", content, raw)
    if may_be_piped and draw.chance(0.25) and (raw or not type_is_known or followed(["content"])):
        file.piped = draw.chance(0.6)
        file.redirected = not file.piped
    return file
