"""Data-parallel algorithms on NumPy arrays and PyTorch tensors: sums, scans, sorts, selections and histograms.

Functions have the names and meanings of the array API standard, or else of NumPy; a docstring says where one differs.
They take what numpy.asarray() takes, or a tensor, and return arrays of the same library on the same device. Arrays of
bool, integers of 8 to 64 bits, float32 and float64 are used in place; those that are not contiguous, or not in the
machine's byte order, are copied first. Sums and products in another type than that of the elements, and extremes of
8 and 16 bits, convert the elements first, except for the sums of bool, uint8, and of 32 bits in 64. Other types raise
TypeError.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from upsweep import _core
from upsweep._arrays import FLOATS, KNOWN, SIGNED, library_of

__version__ = "0.1.0"
__all__ = [
    "UniqueCountsResult",
    "argsort",
    "bincount",
    "compress",
    "cumulative_sum",
    "find_repeats",
    "histogram",
    "max",
    "min",
    "primitives",
    "prod",
    "sort",
    "sum",
    "unique_consecutive",
    "unique_counts",
    "unique_values",
]

primitives = _core.primitives


class UniqueCountsResult(NamedTuple):
    """Distinct values, and how often each occurs."""

    values: Any
    counts: Any


def _taken(x: Any, name: str = "x") -> tuple[Any, Any, str]:
    """Returns the library of an array, the array made contiguous, and the name of its type."""
    library = library_of(x)
    a = library.array(x)
    dtype = library.dtype(a)
    if dtype not in KNOWN:
        raise TypeError(f"{name} has the type {dtype}; there are {', '.join(KNOWN)}")
    return library, a, dtype


def _require_1d(a: Any, name: str = "x") -> None:
    if a.ndim != 1:
        raise ValueError(f"{name} has {a.ndim} dimensions, not one")


def _plain(library: Any, a: Any, dtype: str) -> tuple[Any, str]:
    """Views bool as uint8, which the library works on."""
    return (library.view(a, "uint8"), "uint8") if dtype == "bool" else (a, dtype)


def _result(library: Any, n: int, dtype: str, like: Any, out: Any) -> Any:
    """Returns `out` after a check, or a new array."""
    if out is None:
        return library.empty(n, dtype, like)
    if type(out) is not type(like):
        raise TypeError(f"out is a {type(out).__name__}, x a {type(like).__name__}")
    if library.dtype(out) != dtype:
        raise TypeError(f"out has the type {library.dtype(out)}, the result {dtype}")
    if tuple(out.shape) != (n,):
        raise ValueError(f"out has the shape {tuple(out.shape)}, the result ({n},)")
    return out


# The sums that are computed and written wider than their elements, without a copy.
_WIDENED = {("uint8", "uint32"), ("uint8", "uint64"), ("uint32", "uint64"), ("int32", "int64"), ("float32", "float64")}


def _sum_type(asked: Any, dtype: str) -> str:
    """Returns the type of a sum or product: what was asked for, else NumPy's, so that integers do not wrap at their own
    width."""
    if asked is None:
        return dtype if dtype in FLOATS else "int64" if dtype == "bool" or dtype in SIGNED else "uint64"
    text = str(asked)
    name = text.removeprefix("torch.") if text.startswith("torch.") else np.dtype(asked).name
    if name not in KNOWN or name == "bool":
        raise TypeError(f"dtype is {name}; there are {', '.join(KNOWN[1:])}")
    return name


def _summands(library: Any, a: Any, dtype: str, wanted: str) -> tuple[Any, str]:
    """Returns the elements in a type whose sums can have the type `wanted`, and the type of these sums. A sum of bool
    is computed as uint64 and has the same bits as int64."""
    a, dtype = _plain(library, a, dtype)
    if dtype == "uint8" and wanted == "int64":
        return a, "uint64"
    if dtype == wanted or (dtype, wanted) in _WIDENED:
        return a, wanted
    return library.cast(a, wanted), wanted


def _initial(initial: Any, kept: str, wanted: str) -> dict[str, Any]:
    """The scalar of an initial value; modulo 2^64 if the sum is computed as uint64 in place of int64."""
    if initial is None:
        return {}
    return {"initial": operator.index(initial) % 2**64 if (kept, wanted) == ("uint64", "int64") else initial}


def sum(
    x: Any, /, *, dtype: Any = None, initial: Any = None, reproducible: bool = False, rung: str | None = None
) -> Any:
    """Returns the sum of all elements. Integers are added in 64 bits, floats in their own type, unless `dtype` says
    otherwise; integer sums wrap. The sum of an empty array is 0, or `initial`.

    The last bits of a float sum depend on the device. With reproducible=True, the exact sum is rounded once, so every
    device gives the same bits.

    >>> print(sum(np.array([1, 2, 3], np.uint8)))
    6
    """
    return _reduced(x, "sum", dtype, initial, "reproducible" if reproducible else rung)


def prod(x: Any, /, *, dtype: Any = None, initial: Any = None, rung: str | None = None) -> Any:
    """Returns the product of all elements, in the types of sum(). The product of an empty array is 1.

    >>> print(prod([1.5, 2.0]))
    3.0
    """
    return _reduced(x, "product", dtype, initial, rung)


def _reduced(x: Any, operation: str, dtype: Any, initial: Any, rung: str | None) -> Any:
    library, a, own = _taken(x)
    wanted = _sum_type(dtype, own)
    if operation == "sum":
        a, kept = _summands(library, a, own, wanted)
    else:
        a, kept = (library.cast(a, wanted) if own != wanted else a), wanted
    narrow = kept in ("int8", "int16", "uint8", "uint16")  # computed in 32 bits, which wrap to the same
    computed = ("int32" if kept in SIGNED else "uint32") if narrow else kept
    if narrow:
        a = library.cast(a, computed)
    out = library.empty(1, computed, a)
    scalars = _initial(initial, kept, wanted)
    _core.run("reduce", operation, (library.flat(a),), (out,), scalars, rung, library.stream(a))
    if narrow:
        out = library.cast(out, wanted)
    return library.item(library.view(out, wanted) if kept != wanted else out)


def min(x: Any, /, *, rung: str | None = None) -> Any:
    """Returns the smallest element; NaN if there is one. An empty array raises ValueError.

    >>> print(min([3, -1, 2]))
    -1
    """
    return _extreme(x, "min", rung)


def max(x: Any, /, *, rung: str | None = None) -> Any:
    """Returns the largest element; NaN if there is one. An empty array raises ValueError.

    >>> print(max([3, -1, 2]))
    3
    """
    return _extreme(x, "max", rung)


def _extreme(x: Any, operation: str, rung: str | None) -> Any:
    library, a, own = _taken(x)
    flat = library.flat(a)
    if flat.shape[0] == 0:
        raise ValueError(f"x is empty, and has no {operation}")
    computed = own if own[-2:] in ("32", "64") else "int32"
    if computed != own:
        flat = library.cast(flat, computed)
    out = library.empty(1, computed, flat)
    _core.run("reduce", operation, (flat,), (out,), {}, rung, library.stream(a))
    return library.item(out if computed == own else library.cast(out, own))


def cumulative_sum(
    x: Any,
    /,
    *,
    dtype: Any = None,
    exclusive: bool = False,
    initial: Any = None,
    reproducible: bool = False,
    out: Any = None,
    rung: str | None = None,
) -> Any:
    """Returns the sums of the first 1, 2, ... elements of a 1-d array, in the types of sum(); with exclusive=True, of
    the first 0, 1, ... elements. `initial` is added to all of them.

    The last bits of float sums depend on the device, unless reproducible=True.

    >>> print(cumulative_sum([1, 2, 3]), cumulative_sum([1, 2, 3], exclusive=True))
    [1 3 6] [0 1 3]
    """
    library, a, own = _taken(x)
    _require_1d(a)
    wanted = _sum_type(dtype, own)
    result = _result(library, a.shape[0], wanted, a, out)
    a, kept = _summands(library, a, own, wanted)
    scalars = {"inclusive": not exclusive, **_initial(initial, kept, wanted)}
    written = library.view(result, kept) if kept != wanted else result
    _core.run("scan", "sum", (a,), (written,), scalars, "reproducible" if reproducible else rung, library.stream(a))
    return result


def sort(x: Any, /, *, descending: bool = False, stable: bool = True, out: Any = None, rung: str | None = None) -> Any:
    """Returns the elements of a 1-d array in order, NaN last; descending, NaN first. Always stable.

    >>> print(sort([3, 1, 2]), sort([3, 1, 2], descending=True))
    [1 2 3] [3 2 1]
    """
    library, a, own = _taken(x)
    _require_1d(a)
    result = _result(library, a.shape[0], own, a, out)
    keys, _ = _plain(library, a, own)
    written, _ = _plain(library, result, own)
    order = "descending" if descending else "ascending"
    _core.run("sort", order, (keys,), (written,), {}, rung, library.stream(a))
    return result


def argsort(x: Any, /, *, descending: bool = False, stable: bool = True, rung: str | None = None) -> Any:
    """Returns the indices, int64, that sort() the elements of a 1-d array. Always stable.

    >>> print(argsort([30, 10, 20]))
    [1 2 0]
    """
    library, a, own = _taken(x)
    _require_1d(a)
    indices = library.empty(a.shape[0], "int64", a)
    keys, _ = _plain(library, a, own)
    order = "descending" if descending else "ascending"
    _core.run("sort", order, (keys,), (None, indices), {}, rung, library.stream(a))
    return indices


def _selected(
    library: Any, a: Any, operation: str, inputs: tuple[Any, ...], outputs: tuple[Any, ...], rung: str | None
) -> list[Any]:
    """Runs a selection, and returns its outputs at the length that it found. Waits for that length."""
    count = library.empty(1, "uint64", a)
    _core.run("select", operation, inputs, (outputs[0], count, *outputs[1:]), {}, rung, library.stream(a))
    found = int(count[0])
    # Copies few elements, because a view would keep the memory of all.
    return [library.copy(o[:found]) if 2 * found < a.shape[0] else o[:found] for o in outputs]


def compress(condition: Any, x: Any, /, *, rung: str | None = None) -> Any:
    """Returns the elements of a 1-d array whose `condition`, an array of bool, is true.

    >>> print(compress([True, False, True], [10, 20, 30]))
    [10 30]
    """
    library, a, own = _taken(x)
    _, flags, flag_type = _taken(condition, "condition")
    _require_1d(a)
    _require_1d(flags, "condition")
    if flag_type != "bool":
        raise TypeError(f"condition has the type {flag_type}, not bool")
    if type(flags) is not type(a):
        raise TypeError(f"condition is a {type(flags).__name__}, x a {type(a).__name__}")
    if flags.shape[0] != a.shape[0]:
        raise ValueError(f"condition has {flags.shape[0]} elements, x {a.shape[0]}")
    values, dtype = _plain(library, a, own)
    out = library.empty(a.shape[0], dtype, a)
    (kept,) = _selected(library, a, "select_flagged", (values, library.view(flags, "uint8")), (out,), rung)
    return library.view(kept, own) if dtype != own else kept


def find_repeats(x: Any, /, *, rung: str | None = None) -> Any:
    """Returns the positions i, int64, at which x[i] == x[i + 1].

    >>> print(find_repeats([5, 5, 7, 7, 7]))
    [0 2 3]
    """
    library, a, own = _taken(x)
    _require_1d(a)
    values, _ = _plain(library, a, own)
    (positions,) = _selected(library, a, "find_repeats", (values,), (library.empty(a.shape[0], "int64", a),), rung)
    return positions


def unique_consecutive(x: Any, /, *, return_counts: bool = False, rung: str | None = None) -> Any:
    """Returns the first element of each run of equal elements of a 1-d array; with return_counts=True, also the runs'
    lengths, int64. NaN differs from itself.

    >>> print(*unique_consecutive([5, 5, 7, 5], return_counts=True))
    [5 7 5] [2 1 1]
    """
    library, a, own = _taken(x)
    _require_1d(a)
    values, dtype = _plain(library, a, own)
    outputs = [library.empty(a.shape[0], dtype, a)]
    if return_counts:
        outputs.append(library.empty(a.shape[0], "int64", a))
    operation = "run_length_encode" if return_counts else "unique"
    found = _selected(library, a, operation, (values,), tuple(outputs), rung)
    if dtype != own:
        found[0] = library.view(found[0], own)
    return UniqueCountsResult(*found) if return_counts else found[0]


def unique_values(x: Any, /) -> Any:
    """Returns the distinct elements in ascending order. Each NaN counts as distinct, as the array API standard says.

    >>> print(unique_values([3, 1, 3]))
    [1 3]
    """
    library, a, _ = _taken(x)
    return unique_consecutive(sort(library.flat(a)))


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Returns the distinct elements in ascending order, and how often each occurs.

    >>> print(*unique_counts([3, 1, 3]))
    [1 3] [1 2]
    """
    library, a, _ = _taken(x)
    found: UniqueCountsResult = unique_consecutive(sort(library.flat(a)), return_counts=True)
    return found


_MOST_BINS = 1 << 20


def histogram(x: Any, /, bins: int = 10, range: tuple[float, float] | None = None, *, rung: str | None = None) -> Any:
    """Returns the number of samples, int64, in each of `bins` equal bins of `range`, by default from the smallest to
    the largest sample; and the bins' edges, float32 for samples of float32 and float64 for others. The last bin
    includes its upper edge, as NumPy's does. Up to 2^20 bins.

    Integers are binned exactly, where NumPy rounds.

    >>> print(histogram([1, 2, 1, 4], bins=3)[0])
    [2 1 1]
    """
    library, a, own = _taken(x)
    if not 1 <= bins <= _MOST_BINS:
        raise ValueError(f"bins is {bins}, which is not in [1, {_MOST_BINS}]")
    flat, dtype = _plain(library, library.flat(a), own)
    if range is not None:
        lower, upper = float(range[0]), float(range[1])
    else:
        lower, upper = (float(min(flat)), float(max(flat))) if flat.shape[0] else (0.0, 1.0)
    if not (np.isfinite(lower) and np.isfinite(upper)) or upper < lower:
        raise ValueError(f"range is [{lower}, {upper}], which is reversed or not finite")
    if lower == upper:
        lower, upper = lower - 0.5, upper + 0.5
    counts = library.empty(bins, "int64", a)
    edges = np.linspace(lower, upper, bins + 1, dtype=own if own in FLOATS else "float64")
    written = library.view(counts, "uint64")
    if dtype in FLOATS or (lower.is_integer() and upper.is_integer()):
        scalars = {"lower": lower, "upper": upper, "closed": True}
        _core.run("histogram", "even", (flat,), (written,), scalars, rung, library.stream(a))
    else:
        own_edges = library.empty(bins + 1, "float64", a)
        own_edges[:] = edges if isinstance(own_edges, np.ndarray) else own_edges.new_tensor(edges)
        _core.run("histogram", "edges", (flat, own_edges), (written,), {"closed": True}, rung, library.stream(a))
    return counts, edges


def bincount(x: Any, /, *, minlength: int = 0, rung: str | None = None) -> Any:
    """Returns how often each integer from 0 to the largest sample occurs, int64, for at least `minlength` integers.
    Negative samples, and those of 2^20 or more, raise ValueError.

    >>> print(bincount([0, 2, 2]))
    [1 0 2]
    """
    library, a, own = _taken(x)
    _require_1d(a)
    if own in FLOATS:
        raise TypeError(f"x has the type {own}; bincount takes integers")
    flat, _ = _plain(library, a, own)
    bins = minlength
    if flat.shape[0]:
        if own in SIGNED and int(min(flat)) < 0:
            raise ValueError("x has a negative element")
        largest = int(max(flat))
        bins = largest + 1 if largest + 1 > minlength else minlength
    if bins > _MOST_BINS:
        raise ValueError(f"{bins} counts are more than {_MOST_BINS}")
    counts = library.empty(bins, "int64", a)
    if bins:
        _core.run("histogram", "direct", (flat,), (library.view(counts, "uint64"),), {}, rung, library.stream(a))
    return counts
