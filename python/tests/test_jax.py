"""Calls on JAX arrays as XLA programs: under jax.jit, from threads, with errors, and without waiting."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import upsweep as up
from kinds import in_eight_threads
from upsweep import _arrays

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy

X = np.random.default_rng(1).integers(0, 50, 3000).astype(np.int32)
F = (X / 4).astype(np.float32)
MASK = X < 7
HEADS = np.arange(3000) % 17 == 0


@pytest.fixture(scope="module")
def library() -> Any:
    found: Any = _arrays.library_of(type(jnp.zeros(1)))
    assert found.has_handlers
    return found


@pytest.fixture
def without_handlers(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behaves as if this version of JAX did not take the handlers."""
    monkeypatch.setattr(library, "has_handlers", False)


@pytest.fixture
def as_on_gpu(library: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Treats JAX's CPU as a GPU, so that functions do what they do for arrays that are not in host memory."""
    if jax.default_backend() == "cpu":
        monkeypatch.setattr(library, "ordinal", lambda device: 0)
    yield
    library.programs.clear()


def starts_at(length: int) -> np.ndarray:
    return np.flatnonzero(HEADS)[:length].astype(np.int64)


# Functions with results whose shapes depend only on the shapes of the arguments.
SHAPED: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "sum": (up.sum, (X,)),
    "sum of bool": (up.sum, (MASK,)),
    "sum of float16": (up.sum, (F[:100].astype(np.float16),)),
    "sum, float64": (lambda x: up.sum(x, dtype="float64", initial=0.5), (F,)),
    "sum of rows": (lambda x: up.sum(x.reshape(30, 100), axis=-1), (X,)),
    "reproducible sum": (lambda x: up.sum(x, reproducible=True), (F,)),
    "prod": (lambda x: up.prod(x + 1), (X,)),
    "min": (up.min, (F,)),
    "max of bytes": (lambda x: up.max(x.astype("uint8")), (X,)),
    "max of rows": (lambda x: up.max(x.reshape(30, 100), axis=-1), (F,)),
    "argmin": (up.argmin, (X,)),
    "argmax": (up.argmax, (F,)),
    "cumulative_sum": (up.cumulative_sum, (X,)),
    "exclusive cumulative_sum": (lambda x: up.cumulative_sum(x, exclusive=True, initial=2**63), (X.astype("uint64"),)),
    "cumulative_sum of rows": (lambda x: up.cumulative_sum(x.reshape(30, 100), axis=-1), (X,)),
    "cumulative_prod": (up.cumulative_prod, (X,)),
    "segmented_scan": (lambda x, flags: up.segmented_scan(x, flags=flags), (X, HEADS)),
    "segmented_scan of offsets": (lambda x, at: up.segmented_scan(x, offsets=at, operation="max"), (F, starts_at(99))),
    "sort": (up.sort, (F,)),
    "descending sort": (lambda x: up.sort(x, descending=True), (X,)),
    "sort of bfloat16": (lambda x: up.sort(x.astype("bfloat16")).astype("float32"), (F,)),
    "argsort": (up.argsort, (F,)),
    "sort_by_key": (up.sort_by_key, (X, F)),
    "partition_by_digit": (lambda x: up.partition_by_digit(x, bits=3)[:2], (X,)),
    "partition_by_digit, values": (lambda x, v: tuple(up.partition_by_digit(x, v, bits=3)), (X, F)),
    "partition_by_splitters": (
        lambda x, s: up.partition_by_splitters(x, s)[:2],
        (X.astype("uint32"), np.array([3, 9], "uint32")),
    ),
    "histogram": (lambda x: up.histogram(x, 7, (0, 50))[0], (F,)),
    "histogram of other values": (lambda x: up.histogram(x, 7, (-9, -5))[0], (X.astype("uint32"),)),
    "histogram of edges": (lambda x: up.histogram(x, np.array([0, 3, 20]))[0], (X,)),
    "bincount": (lambda x: up.bincount(x, length=40), (X,)),
    "saxpy": (lambda x, y: up.saxpy(2.5, x, y), (F, F[::-1].copy())),
    "render": (lambda circles: up.render(circles, 8, 4, eps=1e-6), (F[:800].reshape(100, 8) / 13,)),
    "no elements": (lambda x: (up.sum(x[:0]), up.sort(x[:0]), up.cumulative_sum(x[:0])), (X,)),
}
# Functions with results whose lengths depend on the values of the arguments.
COUNTED: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "compress": (up.compress, (MASK, F)),
    "compress of float16": (up.compress, (MASK, F.astype(np.float16))),
    "nonzero": (up.nonzero, (X,)),
    "find_repeats": (up.find_repeats, (X,)),
    "unique_consecutive": (up.unique_consecutive, (X // 10,)),
    "runs": (lambda x: tuple(up.unique_consecutive(x, return_counts=True)), (X // 10,)),
    "unique_values": (up.unique_values, (F,)),
    "unique_counts": (lambda x: tuple(up.unique_counts(x)), (X.repeat(2),)),
    "bincount": (up.bincount, (X,)),
    "bincount of many": (lambda x: up.bincount(x, minlength=60), (X.repeat(2),)),
    "bincount of bytes": (up.bincount, (X.astype("uint8"),)),
    "bincount of signed bytes": (up.bincount, (X.astype("int8"),)),
    "histogram": (lambda x: up.histogram(x, 9), (F,)),
}


def same(found: Any, expected: Any, is_jax: bool = True) -> None:
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other, is_jax=isinstance(one, jax.Array))  # the edges of a histogram are NumPy's
        return
    assert isinstance(found, jax.Array) == is_jax
    assert found.dtype == expected.dtype
    assert found.shape == np.shape(expected)
    if found.dtype.kind == "f":
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-3 if found.dtype.itemsize == 2 else 1e-5)
    else:
        np.testing.assert_array_equal(np.asarray(found), expected)


def expected_of(function: Callable[..., Any], arguments: tuple[np.ndarray, ...]) -> Any:
    """Returns the result for NumPy arrays. Only the sort of bfloat16 fails, which NumPy does not have."""
    try:
        return function(*arguments)
    except TypeError:
        return np.sort(F)


@pytest.mark.parametrize("name", SHAPED)
class TestShaped:
    def test_eager(self, name: str) -> None:
        function, arguments = SHAPED[name]
        same(function(*map(jnp.asarray, arguments)), expected_of(function, arguments))

    def test_jit(self, name: str) -> None:
        function, arguments = SHAPED[name]
        same(jax.jit(function)(*map(jnp.asarray, arguments)), expected_of(function, arguments))

    def test_some_arguments_are_constants(self, name: str) -> None:
        function, arguments = SHAPED[name]
        first, *others = map(jnp.asarray, arguments)
        same(jax.jit(lambda *others: function(first, *others))(*others), expected_of(function, arguments))
        same(jax.jit(lambda first: function(first, *others))(first), expected_of(function, arguments))

    def test_vmap(self, name: str) -> None:
        function, arguments = SHAPED[name]
        both = [jnp.stack([jnp.asarray(x), jnp.asarray(x)]) for x in arguments]
        found = jax.vmap(function)(*both)
        expected = expected_of(function, arguments)
        for k in range(2):
            same(jax.tree.map(lambda x, k=k: x[k], found), expected)

    def test_as_on_a_gpu(self, name: str, as_on_gpu: None) -> None:
        function, arguments = SHAPED[name]
        same(function(*map(jnp.asarray, arguments)), expected_of(function, arguments))

    def test_without_handlers(self, name: str, without_handlers: None) -> None:
        function, arguments = SHAPED[name]
        same(function(*map(jnp.asarray, arguments)), expected_of(function, arguments))
        with pytest.raises(TypeError, match="is traced"):
            jax.jit(lambda *new: function(*new))(*map(jnp.asarray, arguments))


@pytest.mark.parametrize("name", COUNTED)
class TestCounted:
    def test_eager(self, name: str) -> None:
        function, arguments = COUNTED[name]
        same(function(*map(jnp.asarray, arguments)), function(*arguments))

    def test_as_on_a_gpu(self, name: str, as_on_gpu: None) -> None:
        function, arguments = COUNTED[name]
        same(function(*map(jnp.asarray, arguments)), function(*arguments))

    def test_without_handlers(self, name: str, without_handlers: None) -> None:
        function, arguments = COUNTED[name]
        same(function(*map(jnp.asarray, arguments)), function(*arguments))

    def test_refused_under_jit(self, name: str) -> None:
        function, arguments = COUNTED[name]
        with pytest.raises(TypeError, match=r"an array under jax.jit has no values yet"):
            jax.jit(function)(*map(jnp.asarray, arguments))


def test_under_other_transformations() -> None:
    x = jnp.asarray(F)
    # A loop, a condition, an abstract evaluation, and a function within another.
    assert float(jax.lax.fori_loop(0, 5, lambda k, y: up.cumulative_sum(y) / y.size, x)[-1]) > 0
    same(jax.jit(lambda x: jax.lax.cond(x[0] > 1e9, lambda x: x, up.sort, x))(x), np.sort(F))
    assert jax.eval_shape(up.argsort, x).dtype == np.int64
    same(jax.jit(lambda x: jax.jit(up.sort)(x) + up.sum(x))(x), np.sort(F) + F.sum())
    with pytest.raises(ValueError, match="cannot be differentiated"):
        jax.grad(up.sum)(x)


def test_errors() -> None:
    x = jnp.asarray(X)
    for arguments in (X, x):
        with pytest.raises(ValueError, match=r"sort has no rung 'a\ b' on .* \(its rungs: "):
            up.sort(arguments, rung="a b")
        with pytest.raises(TypeError, match=r"segmented_scan has no operation 'mean'"):
            up.segmented_scan(arguments, keys=arguments, operation="mean")
        with pytest.raises(ValueError, match=r"initial is .* cannot hold"):
            up.cumulative_sum(arguments, dtype="int32", initial=2**40)
    for _ in range(2):
        with pytest.raises(ValueError, match="sort has no rung 'none'"):
            up.sort(x, rung="none")
    with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT: sort has no rung 'none'"):
        jax.block_until_ready(jax.jit(lambda x: up.sort(x, rung="none"))(x))
    same(up.sort(x), np.sort(X))
    with pytest.raises(TypeError, match="go only with arrays of JAX's"):
        jax.jit(lambda flags: up.segmented_scan(X, flags=flags))(jnp.asarray(HEADS))
    if jax.default_backend() == "cpu":  # NumPy arrays are on the same device only here
        same(up.segmented_scan(x, flags=HEADS), up.segmented_scan(X, flags=HEADS))  # takes NumPy arrays too
    with pytest.raises(ValueError, match="out cannot be written"):
        up.sort(x, out=x)


def test_handlers_refuse_other_versions_and_texts() -> None:
    class Version(ctypes.Structure):
        _fields_ = (
            ("size", ctypes.c_size_t),
            ("next", ctypes.c_void_p),
            ("major", ctypes.c_int),
            ("minor", ctypes.c_int),
        )

    class Metadata(ctypes.Structure):
        _fields_ = (("size", ctypes.c_size_t), ("version", Version), ("traits", ctypes.c_uint32))

    class Extension(ctypes.Structure):
        _fields_ = (
            ("size", ctypes.c_size_t),
            ("type", ctypes.c_int),
            ("next", ctypes.c_void_p),
            ("metadata", ctypes.POINTER(Metadata)),
        )

    class Frame(ctypes.Structure):
        _fields_ = (("size", ctypes.c_size_t), ("extensions", ctypes.POINTER(Extension)), ("rest", ctypes.c_char * 300))

    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    for platform in "cpu", "CUDA":
        handle = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Frame))(address(up._core.xla_handler(platform), None))
        for frame_size, metadata_size, version in (
            (168, 36, (0, 3)),
            (400, 100, (0, 3)),
            (160, 36, (0, 0)),
            (168, 32, (0, 0)),
        ):
            metadata = Metadata(size=metadata_size)
            extension = Extension(type=1, metadata=ctypes.pointer(metadata))
            assert handle(Frame(size=frame_size, extensions=ctypes.pointer(extension))) is None
            assert (metadata.version.major, metadata.version.minor) == version

    x = jnp.asarray(X)
    sort = f"primitive sort\noperation ascending\nin 4 {X.size}\nout 4 {X.size}\n"
    call = jax.ffi.ffi_call("upsweep_call", jax.ShapeDtypeStruct(X.shape, X.dtype))
    same(call(x, call=sort), np.sort(X))
    for text in "", "sort", "\n", "in 4 x\n", sort.replace("in 4", "in 40"), sort + "in\n" * 20, sort + "i64 k 1.5\n":
        with pytest.raises(jax.errors.JaxRuntimeError, match="the text of a call is of another version"):
            jax.block_until_ready(call(x, call=text))
    for text in sort.replace("in 4", "in 6"), sort + "in 4 1\n", sort.replace("3000", "3001"):
        with pytest.raises(jax.errors.JaxRuntimeError, match="other types or sizes than its text"):
            jax.block_until_ready(call(x, call=text))


def test_results_feed_other_operations_without_waiting() -> None:
    x, y = jnp.asarray(X), X
    for _ in range(100):
        x = up.cumulative_sum(x * 3 + 1) % 1009
        x = (up.sort(x) + x[::-1]).astype("int32")
        y = np.cumsum(y * 3 + 1) % 1009
        y = (np.sort(y) + y[::-1]).astype(np.int32)
    same(x, y)


def test_eight_threads_at_once() -> None:
    wrong: list[int] = []
    sort = jax.jit(up.sort)

    def work(k: int) -> None:
        x = np.random.default_rng(k).integers(0, 1000, 20_000 + k % 2)
        a = jnp.asarray(x)
        for _ in range(10):
            same = (
                np.array_equal(sort(a), np.sort(x))
                and np.array_equal(up.cumulative_sum(a), np.cumsum(x))
                and np.array_equal(up.bincount(a), np.bincount(x))
                and np.array_equal(up.compress(a < 500, a), x[x < 500])
            )
            if not same:
                wrong.append(k)

    in_eight_threads(work)
    assert not wrong


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="JAX's own calls take more memory as they go on a GPU")
def test_memory_stays_flat() -> None:
    x = jnp.arange(100)

    def calls(times: int) -> int:
        for _ in range(times):
            up.sum(x)
            up.sort(x)
            jax.block_until_ready(up.histogram(x, 10, (0, 100))[0])  # otherwise, JAX keeps the results of queued calls
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes

    before = calls(2000)
    assert calls(20_000) - before < 2000


def test_numbers_that_change_compile_few_programs(library: Any) -> None:
    x = jnp.asarray(X)
    before = len(library.programs)
    for k in range(50):
        same(up.cumulative_sum(x, initial=k), np.cumsum(X) + k)
        same(up.saxpy(k, x, x), (X * (k + 1)).astype(np.int32))
    assert len(library.programs) - before <= 2 * library.most_numbers
    sizes = range(1, 1 + library.most_programs + 10, 200)
    library.most_programs, most = len(sizes) // 2, library.most_programs
    try:
        for n in sizes:
            same(up.sort(x[:n]), np.sort(X[:n]))
        assert len(library.programs) <= library.most_programs
    finally:
        library.most_programs = most


def run(program: str, **environment: str) -> str:
    # By default, JAX reserves most of a GPU's memory, which this process has already done.
    environment = {**os.environ, **environment, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_only_arrays_of_jax_import_it() -> None:
    assert run("import sys, upsweep; upsweep.sum([1]); print('jax' in sys.modules)").strip() == "False"


def test_integers_of_32_bits() -> None:
    """Tests JAX's default, which is set once per process."""
    program = """
import jax, numpy as np, upsweep as up
x = np.random.default_rng(1).integers(0, 50, 3000).astype(np.int32)
a = jax.numpy.asarray(x)
functions = {
    "sum": lambda x: up.sum(x), "argmax": lambda x: up.argmax(x), "argsort": lambda x: up.argsort(x),
    "counts": lambda x: up.histogram(x, 5, (0, 50))[0], "bins": lambda x: up.bincount(x, length=50),
    "rows": lambda x: up.cumulative_sum(x.reshape(30, 100), axis=-1), "offsets": lambda x: up.partition_by_digit(x)[1],
}
for name, function in functions.items():
    for found in function(a), jax.jit(function)(a):
        assert found.dtype == np.int32, name
        np.testing.assert_array_equal(found, function(x))
assert up.sum(a, dtype="int64").dtype == np.int64
np.testing.assert_array_equal(up.nonzero(a)[0], np.flatnonzero(x))
np.testing.assert_array_equal(up.unique_counts(a.repeat(2)).counts, np.unique(x.repeat(2), return_counts=True)[1])
"""
    run(program)


def test_several_devices() -> None:
    program = """
import jax, numpy as np, upsweep as up
x = np.arange(1000)[::-1].copy()
first, second = (jax.device_put(x, device) for device in jax.devices()[:2])
assert up.sort(second).devices() == up.sort(second + up.sum(second)).devices() == {jax.devices()[1]}
try:
    up.saxpy(2, first, second)
    raise SystemExit("arrays on different devices")
except ValueError:
    pass
mesh = jax.make_mesh((2,), ("x",))
both = jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))
np.testing.assert_array_equal(jax.jit(up.sort)(both), x[::-1])
try:
    up.sort(both)
    raise SystemExit("an array on several devices")
except TypeError:
    pass
"""
    run(program, XLA_FLAGS="--xla_force_host_platform_device_count=2", JAX_PLATFORMS="cpu")
