"""One run of the command: inputs, parameters and expected outputs."""
from dataclasses import dataclass, field


TYPE_NAMES = {"i1": "i8", "u1": "u8", "i2": "i16", "u2": "u16", "i4": "i32", "u4": "u32", "i8": "i64", "u8": "u64",
              "f4": "f32", "f8": "f64"}


def name_of(dtype):
    """The command's name for a type."""
    return TYPE_NAMES[dtype.kind + str(dtype.itemsize)]


@dataclass
class Input:
    array: object  # numpy
    # Parameters that tell the type of raw numbers, if there are any. None: the file itself must state its type.
    raw_params: dict = field(default_factory=dict)
    in_step: bool = True  # as many elements as the main input; -n truncates both
    image: tuple = None  # width, height, channels, if it may be an image


@dataclass
class Run:
    primitive: str
    inputs: list  # Input, the main one first
    outputs: list  # Expected, the main one first
    operation: str = None
    params: dict = field(default_factory=dict)
    options: list = field(default_factory=list)
    optional: int = 0  # this many of the last outputs may be omitted
    count_known: bool = True  # true if the main output's count follows from the main input's
    keeps_shape: bool = False  # the main output has the main input's shape
    table: str = None  # expected output of --table
    rungs: tuple = None  # CPU rungs that support this run; None: all
    warns: bool = False  # may print one line to standard error
    large: bool = False  # several chunks: uses neither text nor the emulator
