"""A tour of the package, in cells for a notebook or an editor that runs them one by one. As a program, it prints
and checks its results: python3 examples/python/tour.py"""

# %% [markdown]
# ## Arrays in, arrays out
# A function takes arrays of NumPy, PyTorch, CuPy or JAX, and returns arrays of the same kind on the same device.

# %%
import time

import numpy as np
import upsweep as up

rng = np.random.default_rng(1)
x = rng.integers(0, 1000, 1_000_000)

ordered = up.sort(x)
values, counts = up.unique_counts(x)
print("the most frequent value is", values[up.argsort(counts)[-1]])
assert (ordered == np.sort(x)).all() and counts.sum() == x.size

# %% [markdown]
# With PyTorch, the same call sorts on the tensor's device, and can write to another tensor on that device.

# %%
try:
    import torch
except ImportError:
    print("PyTorch is not installed")
else:
    tensor = torch.from_numpy(x).to("cuda" if torch.cuda.is_available() else "cpu")
    out = torch.empty_like(tensor)
    up.sort(tensor, out=out)
    print("sorted on", out.device)
    assert torch.equal(out, tensor.sort().values)

# %% [markdown]
# ## Sums with the same bits everywhere
# The last bits of a sum of floats depend on the order of the additions, and thus on the number of threads and on the
# device. A reproducible sum is the exact sum, rounded once.

# %%
y = (rng.random(1_000_000) - 0.5).astype(np.float32)
shuffled = rng.permutation(y)
print("usual:       ", repr(up.sum(y)), repr(up.sum(shuffled)))
print("reproducible:", repr(up.sum(y, reproducible=True)), repr(up.sum(shuffled, reproducible=True)))
assert up.sum(y, reproducible=True) == up.sum(shuffled, reproducible=True)

# %% [markdown]
# ## Segments
# A segmented scan restarts in every segment: here, it computes the running total of each customer's payments.

# %%
customers = np.array([7, 7, 7, 9, 9, 12], np.int32)
payments = np.array([10, 5, 1, 100, 20, 3])
totals = up.segmented_scan(payments, keys=customers)
print(totals)
assert totals.tolist() == [10, 15, 16, 100, 120, 3]

# %% [markdown]
# ## The ladder behind a call
# Every primitive has a ladder of implementations, from the textbook's to the fastest. Each can be called by name.

# %%
for rung in up.rungs("scan"):
    start = time.perf_counter()
    up.cumulative_sum(y, rung=rung)
    print(f"{rung:15} {1e3 * (time.perf_counter() - start):8.3f} ms")

# %% [markdown]
# ## The laboratory
# The laboratory checks rungs, times them against other libraries, and runs GPU kernels on an emulator that counts their
# memory accesses. It needs the upsweep command, which only some builds of the package contain.

# %%
try:
    records = up.bench("saxpy", dtype="f32", n="2^10..2^16", samples=4)
except RuntimeError as error:
    print(error)
else:
    best = min((r for r in records if r["n"] == 2**16), key=lambda r: r["median_us"])
    print(f"the fastest saxpy of 2^16 elements: {best['rung']}, {best['median_us']:.2f} us")
    picture = up.plot(records)  # displayed by a notebook
    kernels = up.explain("reduce", rung="total", dtype="i32", n=10_000)[0]["kernels"]
    read = 32 * sum(kernel["predicted"]["global_load_sectors"] for kernel in kernels)
    print("the sum of 10,000 int32 on a GPU would read", read, "bytes")

# %% [markdown]
# ## A picture
# Semi-transparent circles, drawn in the order of the array: x, y, z, radius, red, green, blue, alpha.

# %%
circles = rng.random((500, 8), np.float32) * np.array([1, 1, 1, 0.1, 1, 1, 1, 0.6], np.float32)
image = up.render(circles, 256, 256)
print("an image of", image.shape, "from", len(circles), "circles")
