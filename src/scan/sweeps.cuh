// Blelloch's two sweeps over an array in shared memory.
#pragma once
#include "kernel/kernel.h"
#include "scan/contract.h"

namespace upsweep::ladders::scan {

// Up: a tree of totals, in place. The right child of each pair becomes the pair's total, s[count - 1] that of all.
// count is a power of two, and every thread of the block takes part; s was written by any thread, and may be read by
// any after a __syncthreads().
template <class T, class Op>
__device__ void up_sweep(T* s,  // [count], shared
                         unsigned count, Op op) {
  for (unsigned distance = 1, pairs = count / 2; pairs > 0; distance *= 2, pairs /= 2) {
    __syncthreads();
    for (unsigned k = threadIdx.x; k < pairs; k += blockDim.x) {
      const unsigned left = (2 * k + 1) * distance - 1, right = left + distance;
      s[right] = op(s[left], s[right]);
    }
  }
}

// Down: what is left of a pair comes to its right child, and goes on to both. Turns the tree of totals into the
// exclusive scan, and returns the total. Barriers as up_sweep.
template <class T, class Op>
__device__ T down_sweep(T* s,  // [count], shared
                        unsigned count, Op op) {
  __syncthreads();
  const T total = s[count - 1];
  __syncthreads();
  if (threadIdx.x == 0) s[count - 1] = Op::template neutral<T>();
  for (unsigned distance = count / 2, pairs = 1; distance > 0; distance /= 2, pairs *= 2) {
    __syncthreads();
    for (unsigned k = threadIdx.x; k < pairs; k += blockDim.x) {
      const unsigned left = (2 * k + 1) * distance - 1, right = left + distance;
      const T before = s[right], own = s[left];
      s[left] = before;
      s[right] = op(before, own);
    }
  }
  return total;
}

// The scan of one tile of 2 * blockDim.x elements, from in[0..n) to out[0..n), n at most a tile; `s` is a tile of
// shared memory. Returns the tile's total.
template <class T, class Op>
__device__ T scan_tile(const T* in,  // [n]
                       T* out,       // [n]
                       std::size_t n, bool inclusive, T* s, Op op) {
  const unsigned tile = 2 * blockDim.x;
  for (unsigned i = threadIdx.x; i < tile; i += blockDim.x) s[i] = i < n ? in[i] : Op::template neutral<T>();
  up_sweep(s, tile, op);
  const T total = down_sweep(s, tile, op);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < tile; i += blockDim.x)
    if (i < n) out[i] = inclusive ? op(s[i], in[i]) : s[i];
  return total;
}

// Threads a block for the rungs whose tile is a tree over two elements a thread: 256 unless the caller says otherwise.
inline constexpr unsigned default_block = 256;
constexpr bool is_tree_block(unsigned block) { return block >= 1 && block <= 1024 && (block & (block - 1)) == 0; }
inline constexpr Status not_a_tree{Code::unsupported, 0, "this rung needs a block of a power of two threads, to 1024"};

}  // namespace upsweep::ladders::scan
