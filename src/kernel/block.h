// Reductions inside a warp and inside a block.
#pragma once
#include "kernel/kernel.h"

namespace upsweep {

inline constexpr unsigned all_lanes = 0xffffffffu;

// sm_80 and above reduce 32-bit integers over a warp in one instruction.
template <class T, class Op>
inline constexpr bool has_warp_instruction = std::is_integral_v<T> && sizeof(T) == 4 &&
                                             (std::is_same_v<Op, Sum> || std::is_same_v<Op, Min> ||
                                              std::is_same_v<Op, Max>);

// op over the 32 lanes of a whole warp, in lane order as a tree; lane 0 has the result.
template <class T, class Op>
__device__ __forceinline__ T warp_reduce(T value, Op op) {
  if constexpr (has_warp_instruction<T, Op>) {
    if constexpr (std::is_same_v<Op, Sum>)
      return T(__reduce_add_sync(all_lanes, unsigned(value)));
    else if constexpr (std::is_same_v<Op, Min>)
      return __reduce_min_sync(all_lanes, value);
    else
      return __reduce_max_sync(all_lanes, value);
  } else {
    for (unsigned d = warp_size / 2; d > 0; d /= 2) value = op(value, T(__shfl_down_sync(all_lanes, value, d)));
    return value;
  }
}

// op over this lane's value and those of all lanes before it, in lane order; lane 31 has the warp's total.
template <class T, class Op>
__device__ __forceinline__ T warp_scan(T value, Op op) {
#pragma unroll
  for (unsigned d = 1; d < warp_size; d *= 2) {
    const T before = T(__shfl_up_sync(all_lanes, value, d));
    if (threadIdx.x % warp_size >= d) value = op(before, value);
  }
  return value;
}

// op over the threads of a block of whole warps (32 to 1024 threads); thread 0 has the result. `warp_totals` is shared
// memory; a second call may reuse it after a __syncthreads().
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

}  // namespace upsweep
