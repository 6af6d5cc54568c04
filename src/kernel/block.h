// Reductions and scans inside a block.
#pragma once
#include "kernel/warp.h"

namespace upsweep {

// True for the block sizes that the block-wide functions below support: whole warps, 32 to 1024 threads.
constexpr bool whole_warps(unsigned block) { return block >= warp_size && block <= 1024 && block % warp_size == 0; }
inline constexpr Status not_whole_warps{Code::unsupported, 0,
                                        "this rung needs blocks of whole warps, 32 to 1024 threads"};

// Block-wide reduction, for blocks of whole warps (32 to 1024 threads). Thread 0 has the result. A later call may reuse
// `warp_totals` after a __syncthreads().
template <class T, class Op>
__device__ __forceinline__ T block_reduce(T value, Op op,
                                          T* warp_totals) {  // [32], shared
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  value = warp_reduce(value, op);
  if (blockDim.x == warp_size) return value;
  if (lane == 0) warp_totals[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < blockDim.x / warp_size ? warp_totals[lane] : Op::template neutral<T>();
    value = warp_reduce(value, op);
  }
  return value;
}

// Block-wide exclusive scan of one total per warp, which the warp's lane 31 passes. Returns the warp's prefix to every
// thread, and sets `total` to the block's total. Every warp scans all totals redundantly: one barrier fewer than if one
// warp scanned them for the block. A later call may reuse `warp_totals` after a __syncthreads().
template <class T, class Op>
__device__ __forceinline__ T scan_warps(T warp_total, Op op,
                                        T* warp_totals,  // [32], shared
                                        T& total) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (lane == warp_size - 1) warp_totals[warp] = warp_total;
  __syncthreads();
  const T upto = warp_scan(lane < blockDim.x / warp_size ? warp_totals[lane] : Op::template neutral<T>(), op);
  total = shuffle(upto, warp_size - 1);
  return shuffle(from_left_lane(upto, op), warp);
}

// Like scan_warps(), for unsigned sums in blocks of `threads` threads, in fewer instructions. Lane 31 of each warp
// passes `of_warp`; returns the sum of the preceding warps, and sets `all` to the block's sum. A later call may reuse
// `warp_totals` after a __syncthreads().
template <unsigned threads>
__device__ __forceinline__ unsigned sum_of_warps(unsigned of_warp,
                                                 unsigned* warp_totals,  // [32], shared
                                                 unsigned& all) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (lane == warp_size - 1) warp_totals[warp] = of_warp;
  __syncthreads();
  const unsigned of_lane = lane < threads / warp_size ? warp_totals[lane] : 0;
  all = warp_reduce_all(of_lane, Sum{});
  return warp_reduce_all(lane < warp ? of_lane : 0, Sum{});
}

// Block-wide exclusive scan, in thread order, for blocks of whole warps. Sets `total` to the block's total in every
// thread; `warp_totals` is as in scan_warps().
template <class T, class Op>
__device__ __forceinline__ T block_scan(T value, Op op,
                                        T* warp_totals,  // [32], shared
                                        T& total) {
  const T upto = warp_scan(value, op);
  const T before_warp = scan_warps(upto, op, warp_totals, total);
  return op(before_warp, from_left_lane(upto, op));
}

}  // namespace upsweep
