// Blelloch's two sweeps over an array in shared memory.
//
// An Array is anything with operator[]: a T*, or a view with another layout.
#pragma once
#include "ladders/scan/tiles.cuh"

namespace upsweep::ladders::scan {

template <class Array>
using ElementOf = std::remove_reference_t<decltype(std::declval<Array>()[0])>;

// Block-wide up-sweep: builds a tree of totals in place. The right child of each pair becomes the pair's total, and
// s[count - 1] the total of all elements. count is a power of two. Needs no barrier before the call, but one after it.
template <class Array, class Op>
__device__ void up_sweep(Array s,  // [count], shared
                         unsigned count, Op op) {
  for (unsigned distance = 1, pairs = count / 2; pairs > 0; distance *= 2, pairs /= 2) {
    __syncthreads();
    for (unsigned k = threadIdx.x; k < pairs; k += blockDim.x) {
      const unsigned left = (2 * k + 1) * distance - 1, right = left + distance;
      s[right] = op(s[left], s[right]);
    }
  }
}

// Block-wide down-sweep: turns the tree of totals into the exclusive scan and returns the total to every thread. A
// pair's prefix arrives in its right child and is passed on to both children. Barriers as for up_sweep().
template <class Array, class Op>
__device__ ElementOf<Array> down_sweep(Array s,  // [count], shared
                                       unsigned count, Op op) {
  using T = ElementOf<Array>;
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

// Block-wide: scans one tile of 2 * blockDim.x elements from in[0..n) to out[0..n), n at most a tile; `s` has space for
// a tile in shared memory. Returns the tile's total.
template <class T, class Array, class Op>
__device__ T sweep_tile(const T* in,  // [n]
                        T* out,       // [n]
                        std::size_t n, bool inclusive, Array s, Op op) {
  const unsigned tile = 2 * blockDim.x;
  for (unsigned i = threadIdx.x; i < tile; i += blockDim.x) s[i] = i < n ? in[i] : Op::template neutral<T>();
  up_sweep(s, tile, op);
  const T total = down_sweep(s, tile, op);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < tile; i += blockDim.x)
    if (i < n) out[i] = inclusive ? op(s[i], in[i]) : s[i];
  return total;
}

// Returns ok for block sizes whose tile, two elements per thread, is a complete tree.
constexpr Status tree_block(unsigned threads) {
  if (threads >= 1 && threads <= 1024 && (threads & (threads - 1)) == 0) return {};
  return {Code::unsupported, 0, "this rung needs a power-of-two block size of at most 1024 threads"};
}

// A tile scan (tiles.cuh): the two sweeps, without padding.
struct Sweeps {
  static constexpr unsigned per_thread = 2, block = 256;
  static constexpr Status refusal(unsigned threads) { return tree_block(threads); }
  template <class T>
  static constexpr std::size_t shared_bytes(unsigned threads) {
    return 2 * threads * sizeof(T);
  }
  template <class T, class Op>
  static __device__ T scan(const T* in, T* out, std::size_t n, bool inclusive, Op op) {
    return sweep_tile(in, out, n, inclusive, dynamic_shared<T>(), op);
  }
};

// Maximum n for the rungs in which every element adds the totals of all earlier tiles. That takes n^2 / 1024 additions:
// 1.7e10 at 2^22 elements, milliseconds even on a large GPU, and four times as many at 2^23. The emulator, which traces
// every access, has a lower limit: 2^18 elements take it 3.5 s on two cores, against 0.6 s for recursive.
inline constexpr std::size_t largest_merge = std::size_t{1} << 22, largest_merge_emulated = std::size_t{1} << 18;

}  // namespace upsweep::ladders::scan
