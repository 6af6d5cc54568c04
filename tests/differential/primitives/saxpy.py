"""saxpy: a x + y."""
import numpy as np

from expected import Bits, OnceOrTwiceRounded
from primitives.common import few_or_many
from primitives.scan import TYPES
from runs import Input, Run


def draw_run(draw):
    dtype = np.dtype(draw.one_of(TYPES))
    n, large = few_or_many(draw, dtype.itemsize)
    x, y = draw.array(dtype, n), draw.array(dtype, n)
    a = draw.array(dtype, 1)[0]
    params = {"a": a} if np.isfinite(a) and draw.chance(0.9) else {}
    a = params.get("a", dtype.type(2))
    with np.errstate(all="ignore"):
        output = OnceOrTwiceRounded(a, x, y) if dtype.kind == "f" else Bits(a * x + y)
    return Run("saxpy", [Input(x), Input(y)], [output], None, params, keeps_shape=True, large=large)
