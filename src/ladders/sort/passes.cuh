// A sort in passes that all run: what the rungs below onesweep share.
#pragma once
#include "kernel/kernel.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

// What one pass moves.
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

template <class V>
__global__ void copy_kernel(const V* from, V* to, std::size_t n) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

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
  Moved<Key> moved{a.keys, nullptr, a.values};
  const Shape shape{.grid = static_cast<unsigned>(ceil_div(a.n, 256)), .block = 256, .stream = a.stream};
  if (a.keys == a.out) {
    if (Status s = launch(copy_kernel<Key>, shape, a.keys, keys[1], a.n); !s) return s;
    moved.keys = keys[1];
  }
  if (a.values.bytes && a.values.in == a.values.out) {
    Status s{};
    Values{a.values.in, values[1], a.values.bytes}.visit(
        [&]<class V>(const V* from, V* to) { s = launch(copy_kernel<V>, shape, from, to, a.n); });
    if (!s) return s;
    moved.values.in = values[1];
  }
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
