// reduce/sequential_coalesced: one thread per block, striding by the number of blocks.
//
// Neighbouring blocks now read neighbouring elements, but nothing coalesces: loads coalesce only within a warp, and
// each warp still has one active lane. The 8 floats of a sector go to 8 different blocks, so L1 no longer helps and L2
// serves every element.
//
// Traffic   n reads, one request and one sector each.
// Order     block b sums in[b], in[b + blocks], ... from left to right.
// Source    Owens et al., Intro to Parallel Programming, 2013.
#pragma once
#include "ladders/reduce/final_pass.cuh"

namespace upsweep::ladders::reduce {

template <class T, class Op>
__global__ void sequential_coalesced_kernel(const T* in,  // [n]
                                            T* out,       // [gridDim.x]
                                            std::size_t n, Op op) {
  if (threadIdx.x != 0) return;
  T total = Op::template neutral<T>();
  for (std::size_t i = blockIdx.x; i < n; i += gridDim.x) total = op(total, in[i]);
  out[blockIdx.x] = total;
}

struct sequential_coalesced {
  static constexpr Story story{
      .idea = "blocks interleave: neighbouring blocks read neighbouring elements",
      .prediction = "slower than sequential: one lane per warp, so nothing coalesces, and L1 no longer helps",
      .guarantees = "left to right within a block; same bits for the same grid",
      .limits = "any n",
      .source = "Owens et al., Intro to Parallel Programming, 2013"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return by_blocks(a, {.grid = 1024, .block = 1}, [&](T* totals, const Shape& shape) {
      return launch(sequential_coalesced_kernel<T, Op>, shape, a.in, totals, a.n, a.op);
    });
  }
};

}  // namespace upsweep::ladders::reduce
