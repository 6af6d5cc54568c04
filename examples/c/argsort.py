"""Argsorts a NumPy array through the C interface, with ctypes alone.

    python3 argsort.py build/release/lib/libupsweep.so
"""

import ctypes
import sys

import numpy as np

TYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]


class Array(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("on_device", ctypes.c_int),
    ]

    def __init__(self, array=None):
        if array is not None:
            super().__init__(array.ctypes.data, array.size, TYPES.index(array.dtype), 0)


class Call(ctypes.Structure):
    _fields_ = [
        ("primitive", ctypes.c_char_p),
        ("operation", ctypes.c_char_p),
        ("inputs", ctypes.POINTER(Array)),
        ("input_count", ctypes.c_size_t),
        ("outputs", ctypes.POINTER(Array)),
        ("output_count", ctypes.c_size_t),
        ("scalars", ctypes.c_void_p),
        ("scalar_count", ctypes.c_size_t),
        ("rung", ctypes.c_char_p),
        ("block", ctypes.c_uint),
        ("grid", ctypes.c_uint),
        ("threads", ctypes.c_uint),
        ("scratch", ctypes.POINTER(Array)),
    ]


library = ctypes.CDLL(sys.argv[1])
library.upsweep_message.restype = ctypes.c_char_p
library.upsweep_run.argtypes = [ctypes.c_void_p, ctypes.POINTER(Call)]
library.upsweep_close.argtypes = [ctypes.c_void_p]


def check(code):
    if code:
        raise RuntimeError(library.upsweep_message().decode())


device = ctypes.c_void_p()
check(library.upsweep_open_cpu(ctypes.byref(device)))
keys = np.random.default_rng(1).integers(-50, 50, 100_000).astype(np.float32)
indices = np.empty(keys.size, np.int64)
inputs, outputs = (Array * 1)(Array(keys)), (Array * 2)(Array(), Array(indices))
check(library.upsweep_run(device, Call(b"sort", b"ascending", inputs, 1, outputs, 2)))
library.upsweep_close(device)
assert (indices == np.argsort(keys, kind="stable")).all()
print("the indices are those of numpy.argsort")
