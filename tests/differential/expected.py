"""Expected outputs, and descriptions of mismatches."""
import numpy as np

from exact import bits_of, fused


class Got:
    """An output as read back. NaN read from text has neither sign nor payload."""

    def __init__(self, array, text=False, shape=None):
        self.array, self.text, self.shape = array, text, shape


def first_difference(got, wanted, same):
    if same.all():
        return None
    k = int(np.argmin(same))
    return f"element {k} is {got[k]!r}, not {wanted[k]!r}; {np.count_nonzero(~same)} of {got.size} are wrong"


class Expected:
    """An output of one type and length."""

    def __init__(self, array):
        self.array = np.ascontiguousarray(array).reshape(-1)
        self.dtype = self.array.dtype

    def mistake(self, got):
        if got.array.dtype != self.dtype:
            return f"its type is {got.array.dtype}, not {self.dtype}"
        if got.array.size != self.array.size:
            return f"it has {got.array.size} elements, not {self.array.size}"
        with np.errstate(all="ignore"):
            return self.difference(got)


class Bits(Expected):
    """An output that must have the same bits."""

    def difference(self, got):
        unsigned = bits_of(self.dtype)
        same = got.array.view(unsigned) == self.array.view(unsigned)
        if got.text and self.dtype.kind == "f":
            same |= np.isnan(got.array) & np.isnan(self.array)
        return first_difference(got.array, self.array, same)


class Values(Expected):
    """An output that must have equal numbers: all NaNs are equal, and so are both zeros."""

    def difference(self, got):
        return first_difference(got.array, self.array, same_numbers(got.array, self.array))


class Near(Expected):
    """Floats of this type within `bound` of the expected numbers, or equal to them where they are not finite.
    `sign_of_zero` is the required sign of a zero: -1, 1, or 0 for either; None if no zero is checked."""

    def __init__(self, array, dtype, bound, sign_of_zero=None):
        super().__init__(array)
        self.dtype, self.bound = np.dtype(dtype), np.broadcast_to(bound, self.array.shape)
        self.signs = np.zeros(self.array.shape, int) if sign_of_zero is None else np.broadcast_to(sign_of_zero,
                                                                                                  self.array.shape)

    def difference(self, got):
        same = same_numbers(got.array, self.array) | (abs(got.array.astype(self.array.dtype) - self.array)
                                                      <= self.bound) & np.isfinite(got.array)
        wrong_sign = (got.array == 0) & (self.signs * np.copysign(1, got.array) < 0)
        wanted = np.where((self.array == 0) & (self.signs < 0), -0.0, self.array)
        return first_difference(got.array, wanted, same & ~wrong_sign)


class OnceOrTwiceRounded(Expected):
    """An output that must be a x + y, rounded once or twice."""

    def __init__(self, a, x, y):
        with np.errstate(all="ignore"):
            super().__init__(a * x + y)
        self.a, self.x, self.y = a, x, y

    def difference(self, got):
        same = same_numbers(got.array, self.array)
        for k in np.flatnonzero(~same & np.isfinite(self.array) & np.isfinite(got.array)):
            same[k] = got.array[k] == fused(self.a, self.x[k], self.y[k])
        return first_difference(got.array, self.array, same)


def same_numbers(a, b):
    return (a == b) | (a != a) & (b != b)
