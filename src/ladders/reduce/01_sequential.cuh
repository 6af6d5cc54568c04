// reduce/sequential: one thread per block sums a contiguous chunk.
//
// The textbook's first step: the CPU loop, split into one chunk per block. One lane in 32 is active, and each of its
// loads is a separate request for one sector.
//
// Traffic   n reads, one request each; a 4-byte load fetches a 32-byte sector, and L1 serves its other 28 bytes.
// Order     block b sums in[b*chunk .. (b+1)*chunk) from left to right.
// Source    Owens et al., Intro to Parallel Programming, 2013.
#pragma once
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void sequential_kernel(const T* in,  // [n]
                                  T* out,       // [gridDim.x]
                                  std::size_t n, Op op) {
  if (threadIdx.x != 0) return;
  const std::size_t chunk = ceil_div(n, gridDim.x);
  const std::size_t begin = blockIdx.x * chunk;
  const std::size_t end = begin + chunk < n ? begin + chunk : n;
  T total = Op::template neutral<T>();
  for (std::size_t i = begin; i < end; ++i) total = op(total, in[i]);
  out[blockIdx.x] = total;
}

struct sequential {
  static constexpr Story story{.idea = "one thread per block sums a contiguous chunk",
                               .prediction = "slowest except for the atomics: one load in flight per block",
                               .guarantees = "left to right within a block; same bits for the same grid",
                               .limits = "any n",
                               .source = "Owens et al., Intro to Parallel Programming, 2013"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 1024, .block = 1}, [&](T* totals, const Shape& shape) {
      return launch(sequential_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
