// reduce/vec16: 16-byte loads, eight in flight per thread.
//
// Little's law: bandwidth is bytes in flight over latency. One 4-byte load per thread keeps at most 8 KB in flight per
// multiprocessor; this rung keeps 128 KB, five times the 24 KB that an H200 requires (thread_sum.cuh).
//
// Traffic   n reads, 16 bytes per lane, 16 sectors per request.
// Order     fixed by grid, block and the alignment of the input.
// Source    Volkov, Better Performance at Lower Occupancy, 2010; Harris, Vectorized Memory Access, 2013.
#pragma once
#include "kernel/block.h"
#include "ladders/reduce/final_pass.cuh"
#include "ladders/reduce/thread_sum.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void __launch_bounds__(1024) vec16_kernel(const T* in,  // [n]
                                                     T* out,       // [gridDim.x]
                                                     std::size_t n, Op op) {
  __shared__ T warp_totals[warp_size];
  const T sum = block_reduce(thread_sum<T, 8>(PackSplit<T>(in, n), in, op), op, warp_totals);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

struct vec16 {
  static constexpr Story story{.idea = "16-byte loads, eight in flight per thread",
                               .prediction = "reaches the read ceiling at large n; the second launch shows below 2^24",
                               .guarantees = "same bits for the same grid, block and alignment",
                               .limits = "any n; whole warps",
                               .source = "Volkov, Better Performance at Lower Occupancy, 2010"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    // 512 threads, 2 blocks per multiprocessor, 48 registers per thread: within 0.2 % of the best of nine shapes at
    // 2^28.
    const Shape shape{.grid = blocks_for<T>(a.n, 512, 1, 2), .block = 512};
    return by_blocks(a, shape, [&](T* totals, const Shape& final) -> Status {
      if (!whole_warps(final.block.x)) return not_whole_warps;
      return launch(vec16_kernel<T, Op>, final, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
