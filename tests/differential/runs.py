"""One run of the command: its inputs, its parameters and what it has to give."""
from dataclasses import dataclass, field


TYPE_NAMES = {"i1": "i8", "u1": "u8", "i2": "i16", "u2": "u16", "i4": "i32", "u4": "u32", "i8": "i64", "u8": "u64",
              "f4": "f32", "f8": "f64"}


def name_of(dtype):
    """The command's name of a type."""
    return TYPE_NAMES[dtype.kind + str(dtype.itemsize)]


@dataclass
class Input:
    array: object  # numpy
    # Parameters that tell the type of raw numbers: none for most. None: only a file that says its type will do.
    raw_params: dict = field(default_factory=dict)
    in_step: bool = True  # as many elements as the main input has; -n cuts both
    image: tuple = None  # width, height, channels, if it may be an image


@dataclass
class Run:
    primitive: str
    inputs: list  # Input, the main one first
    outputs: list  # Expected, the main one first
    operation: str = None
    params: dict = field(default_factory=dict)
    options: list = field(default_factory=list)
    optional: int = 0  # of the outputs, this many of the last may be left out
    count_known: bool = True  # the main output's, if the main input's is
    keeps_shape: bool = False  # the main output has the main input's
    table: str = None  # of --table
    rungs: tuple = None  # CPU rungs that take this run; None: all
    warns: bool = False  # may say a line on standard error
    large: bool = False  # of several chunks: neither text nor the emulator
