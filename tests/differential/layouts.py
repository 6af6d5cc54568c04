"""Files that hold an array, written byte by byte, including valid forms that numpy.save never writes."""
import struct
import zlib
from dataclasses import dataclass

import numpy as np


# Valid file names that might confuse a shell, an option parser or a message.
STEMS = ["in", "a b", "ü", "it's", 'say "x"', "-n", "--type", "a=1,b", "line\nbreak", "%s", "$HOME", "a.npy.old", "\t"]


@dataclass
class File:
    """An array in a file, as described to the command."""
    name: str
    content: bytes
    format: str = "npy"
    shape: tuple = None  # stored in the file
    fortran: bool = False
    piped: bool = False  # given on standard input, as a pipe
    redirected: bool = False  # given on standard input, as a file

    @property
    def raw(self):
        """True if the command needs its type as an option."""
        return self.format == "raw"

    @property
    def argument(self):
        if self.piped or self.redirected:
            return "-"
        return f"./{self.name}" if self.name.startswith("-") else self.name


# ---- .npy -----------------------------------------------------------------------------------------------------------


def header(draw, descr, shape, fortran=False):
    """Magic, version and dictionary; spacing, quotes and the order of keys vary."""
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
    fortran = draw.chance(0.3)
    descr = descr_of(draw, dtype)
    if dtype.itemsize > 1 and draw.chance(0.1):
        stored, descr = stored.astype(dtype.newbyteorder(">")), ">" + descr.lstrip("<=")
    elif dtype == np.float32 and is_float16(array) and draw.chance(0.5):
        stored, descr = stored.astype("<f2"), "<f2"
    elif dtype == np.uint8 and (array <= 1).all() and draw.chance(0.5):
        descr = draw.one_of(["|b1", "?"])
    elif not fortran and draw.chance(0.1):
        descr = {"f": "f", "d": "d"}.get(dtype.char, descr)
    return File(None, header(draw, descr, shape, fortran) + stored.tobytes("F" if fortran else "C"), shape=shape,
                fortran=fortran and len(shape) > 1)


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
    lines = np.hstack([np.zeros((height, 1), np.uint8), rows])  # filter type 0, none, in every row
    colours = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    head = struct.pack(">IIBBBBB", width, height, 8 * samples.dtype.itemsize, colours, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes())) +
            chunk(b"IEND", b""))


def big_endian(samples):
    return samples.astype(samples.dtype.newbyteorder(">"))


# ---- any ------------------------------------------------------------------------------------------------------------


def file_of(draw, array, number, shape, raw_is_told):
    """A file of the array, .npy or raw numbers, under a random name. `raw_is_told`: the command is told the type of raw
    numbers."""
    raw = raw_is_told and draw.chance(0.3)
    file = File(None, array.tobytes(), "raw") if raw else npy(draw, array, shape)
    file.name = f"{stem(draw)}{number}{ending(draw, raw)}"
    return file


def stem(draw):
    return draw.one_of(STEMS) if draw.chance(0.2) else "in"


def ending(draw, raw):
    if draw.chance(0.1):
        return draw.one_of([".RAW", ".dat", ".f32"] if raw else ["", ".NPY", ".raw", ".png", ".data"])
    return draw.one_of([".raw", ".bin", ""]) if raw else ".npy"


def image_file(draw, samples, width, height, channels, number):
    kind = draw.one_of(["png"] + ["pnm"] * (channels in (1, 3)))
    content = (png if kind == "png" else pnm)(samples, width, height, channels)
    endings = ["png"] if kind == "png" else ["pnm", "pgm" if channels == 1 else "ppm"]
    endings += ["PNG", "npy", "dat"]
    return File(f"image{number}.{draw.one_of(endings)}", content, format=kind)
