// Moves keys and values: gathers values by index, copies inputs that will be overwritten, and runs passes.
#pragma once
#include "kernel/kernel.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

// Writes the value of key index[k], or the index itself if indices are requested, to offset to[k]. Elements past the
// end, whose index and offset are n or more, are skipped. All values are read before any is written, because the output
// may be the input: sync() is a barrier for all threads that take part.
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

// Copies each input of `a` that is also an output, and makes `a` refer to the copy, so that it can be read while the
// output is written.
template <class T, class O>
Status copy_overwritten(Args<T, O>& a, typename Args<T, O>::Key* keys,  // [n], if they are copied
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

// As above, into arrays taken from the caller's scratch.
template <class T, class O>
Status copy_overwritten(Args<T, O>& a, Scratch& scratch) {
  auto* const keys = scratch.take<typename Args<T, O>::Key>(a.n);
  auto* const values = scratch.take<std::byte>(a.n * a.values.bytes);
  return scratch ? copy_overwritten(a, keys, values) : no_memory;
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

// Calls pass(moved, number) for each of `passes` passes. Passes alternate between two buffers; the last pass writes the
// output. Inputs that it would overwrite are copied first.
template <class T, class O, class F>
Status in_passes(const Args<T, O>& a, unsigned passes, F&& pass) {
  using Key = typename Args<T, O>::Key;
  if (a.n == 0) return {};
  Scratch scratch(*a.workspace);
  Key* const keys[2] = {scratch.take<Key>(a.n), scratch.take<Key>(a.n)};
  const std::size_t value_bytes = a.n * a.values.bytes;
  void* const values[2] = {scratch.take<std::byte>(value_bytes), scratch.take<std::byte>(value_bytes)};
  if (!scratch) return no_memory;
  Args<T, O> apart = a;
  if (Status s = copy_overwritten(apart, keys[1], values[1]); !s) return s;
  Moved<Key> moved{apart.keys, nullptr, apart.values};
  for (unsigned p = 0; p < passes; ++p) {
    const bool last = p + 1 == passes;
    moved.out = last && a.out ? a.out : keys[p % 2];
    moved.values.out = last ? a.values.out : values[p % 2];
    if (Status s = pass(moved, p); !s) return s;
    moved.keys = moved.out;
    moved.values.in = moved.values.out;
  }
  return {};
}

}  // namespace upsweep::ladders::sort
