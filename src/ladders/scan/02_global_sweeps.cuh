// scan/global_sweeps: the sweeps over global memory, one launch per level.
//
// The tree of block, but for any n: the array is the tree, and launches are the barriers. Each thread runs one
// iteration of the sweeps' inner loop. The stride doubles with each level, so every access soon touches a different
// sector, and half of the launches have almost no work.
//
// Traffic   as many sectors as 23 passes over the array (4-byte elements): 9 up (levels up to stride 8 touch every
//           sector, each later level half as many), 10 down, 2 for the padded copy, 2 for the result; one more if
//           inclusive.
// Order     as block.
// Source    Blelloch, Prefix Sums and Their Applications, 1990.
#pragma once
#include "kernel/kernel.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

template <class T, class Op>
__global__ void pad_kernel(const T* in,  // [n]
                           T* tree,      // [size]
                           std::size_t n, std::size_t size) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) tree[i] = i < n ? in[i] : Op::template neutral<T>();
}

template <class T, class Op>
__global__ void up_kernel(T* tree,  // [2 * distance * pairs]
                          std::size_t distance, std::size_t pairs, Op op) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= pairs) return;
  const std::size_t left = (2 * k + 1) * distance - 1, right = left + distance;
  tree[right] = op(tree[left], tree[right]);
}

template <class T, class Op>
__global__ void down_kernel(T* tree,  // [2 * distance * pairs]
                            std::size_t distance, std::size_t pairs, Op op) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= pairs) return;
  const std::size_t left = (2 * k + 1) * distance - 1, right = left + distance;
  // The root's prefix is empty.
  const T before = pairs == 1 ? Op::template neutral<T>() : tree[right], own = tree[left];
  tree[left] = before;
  tree[right] = op(before, own);
}

template <class T, class Op>
__global__ void result_kernel(const T* tree,  // [n], exclusive
                              const T* in,    // [n]
                              T* out,         // [n]
                              std::size_t n, bool inclusive, Op op) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = inclusive ? op(tree[i], in[i]) : i > 0 ? tree[i] : value_of_none<Op, T>();
}

struct global_sweeps {
  static constexpr Story story{.idea = "the sweeps over global memory, one launch per level",
                               .prediction = "2 log2(n) + 2 launches; ten times slower than the copy ceiling, or worse",
                               .guarantees = "same bits for the same n",
                               .limits = "sum, min, max; any n; scratch for n rounded up to a power of two",
                               .source = "Blelloch 1990"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    const auto threads = a.tuning.block_or(256);
    std::size_t size = 2;  // leaves of the tree, at least two
    while (size < a.n) size *= 2;
    Scratch scratch(*a.workspace);
    T* const tree = scratch.take<T>(size);
    if (!scratch) return {Code::out_of_memory, 0, "no memory for the tree"};
    const auto shape = [&](std::size_t items) {
      return Shape{.grid = static_cast<unsigned>(ceil_div(items, threads)), .block = threads, .stream = a.stream};
    };
    if (Status s = launch(pad_kernel<T, Op>, shape(size), a.in, tree, a.n, size); !s) return s;
    for (std::size_t distance = 1, pairs = size / 2; pairs > 0; distance *= 2, pairs /= 2)
      if (Status s = launch(up_kernel<T, Op>, shape(pairs), tree, distance, pairs, a.op); !s) return s;
    for (std::size_t distance = size / 2, pairs = 1; distance > 0; distance /= 2, pairs *= 2)
      if (Status s = launch(down_kernel<T, Op>, shape(pairs), tree, distance, pairs, a.op); !s) return s;
    return launch(result_kernel<T, Op>, shape(a.n), tree, a.in, a.out, a.n, a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan
