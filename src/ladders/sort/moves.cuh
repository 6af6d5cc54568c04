// Keys and values on their way: gathered by index, copied before they are overwritten, and moved in passes that all
// run.
#pragma once
#include "kernel/kernel.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

// Writes the value of key index[k] to offset to[k], or the index itself if indices are wanted; those past the end,
// which have both beyond n, are left out. All values are read before any is written, because the output may be the
// input: sync() is a barrier for all threads that do so.
template <unsigned count, class Sync>
__device__ void gather_values(const Values& values, unsigned n, const unsigned (&index)[count],
                              const unsigned (&to)[count], Sync&& sync) {
  if (!values.in) {
    for (unsigned k = 0; k < count; ++k)
      if (to[k] < n) {
        if (values.bytes == 8)
          static_cast<std::uint64_t*>(values.out)[to[k]] = index[k];
        else
          static_cast<unsigned*>(values.out)[to[k]] = index[k];
      }
    return;
  }
  values.visit([&]<class V>(const V* all, V* moved) {
    V own[count];
#pragma unroll
    for (unsigned k = 0; k < count; ++k)
      if (to[k] < n) own[k] = all[index[k]];
    sync();
#pragma unroll
    for (unsigned k = 0; k < count; ++k)
      if (to[k] < n) moved[to[k]] = own[k];
  });
}

template <class V>
__global__ void copy_kernel(const V* from, V* to, std::size_t n) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

// Copies the inputs of `a` that are outputs too, so that they can be read while these are written.
template <class T, class O>
Status copy_overwritten(Args<T, O>& a, typename Args<T, O>::Key* keys,  // [n], if they are
                        void* values) {                                 // likewise
  const Shape shape{.grid = static_cast<unsigned>(ceil_div(a.n, 256)), .block = 256, .stream = a.stream};
  if (a.keys == a.out) {
    if (Status s = launch(copy_kernel<typename Args<T, O>::Key>, shape, a.keys, keys, a.n); !s) return s;
    a.keys = keys;
  }
  if (a.values.bytes && a.values.in == a.values.out) {
    Status s{};
    Values{a.values.in, values, a.values.bytes}.visit(
        [&]<class V>(const V* from, V* to) { s = launch(copy_kernel<V>, shape, from, to, a.n); });
    if (!s) return s;
    a.values.in = values;
  }
  return {};
}

// The same, with copies in scratch memory.
template <class T, class O>
Status copy_overwritten(Args<T, O>& a) {
  using Key = typename Args<T, O>::Key;
  const std::size_t value_bytes = ceil_div(a.n * a.values.bytes, 16) * 16;
  auto* const memory = static_cast<std::byte*>(a.workspace->scratch(value_bytes + a.n * sizeof(Key)));
  if (!memory) return no_memory;
  return copy_overwritten(a, reinterpret_cast<Key*>(memory + value_bytes), memory);
}

// The keys and values that one pass moves.
template <class K>
struct Moved {
  const K* keys;  // [n]
  K* out;         // [n]
  Values values;

  UPSWEEP_HD void move(std::size_t from, std::size_t to) const {
    out[to] = keys[from];
    values.move(from, to);
  }
};

// Calls pass(moved, number, scratch) for each of `passes` passes. They write two buffers by turns, and the last one
// writes the output. What the last pass would overwrite is copied first.
template <class T, class O, class Pass>
Status in_passes(const Args<T, O>& a, unsigned passes, std::size_t scratch_bytes, Pass&& pass) {
  using Key = typename Args<T, O>::Key;
  if (a.n == 0) return {};
  const auto rounded = [](std::size_t bytes) { return ceil_div(bytes, 256) * 256; };
  const std::size_t key_bytes = rounded(a.n * sizeof(Key)), value_bytes = rounded(a.n * a.values.bytes);
  auto* const memory = static_cast<std::byte*>(
      a.workspace->scratch_of_caller(2 * (key_bytes + value_bytes) + scratch_bytes, /*depth=*/2));
  if (!memory) return no_memory;
  Key* const keys[2] = {reinterpret_cast<Key*>(memory), reinterpret_cast<Key*>(memory + key_bytes)};
  void* const values[2] = {memory + 2 * key_bytes, memory + 2 * key_bytes + value_bytes};
  Args<T, O> apart = a;
  if (Status s = copy_overwritten(apart, keys[1], values[1]); !s) return s;
  Moved<Key> moved{apart.keys, nullptr, apart.values};
  for (unsigned p = 0; p < passes; ++p) {
    const bool last = p + 1 == passes;
    moved.out = last && a.out ? a.out : keys[p % 2];
    moved.values.out = last ? a.values.out : values[p % 2];
    if (Status s = pass(moved, p, memory + 2 * (key_bytes + value_bytes)); !s) return s;
    moved.keys = moved.out;
    moved.values.in = moved.values.out;
  }
  return {};
}

}  // namespace upsweep::ladders::sort
