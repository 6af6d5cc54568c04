// Wrong on purpose: an element equal to the best one so far replaces it.
//
// Must be caught: a wrong index on inputs whose extreme occurs more than once.
#pragma once
#include "kernel/kernel.h"
#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {

inline constexpr unsigned last_extreme_block = 128;

template <class T, class Op>
__global__ void last_extreme_kernel(const T* in,         // [n]
                                    std::uint64_t* out,  // [1]
                                    std::size_t n) {
  __shared__ std::size_t bests[last_extreme_block];
  std::size_t best = threadIdx.x < n ? threadIdx.x : 0;
  for (std::size_t i = threadIdx.x; i < n; i += last_extreme_block)
    if (!Op::beats(in[best], in[i])) best = i;
  bests[threadIdx.x] = best;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const std::size_t other : bests)
    if (!Op::beats(in[best], in[other])) best = other;
  out[0] = best;
}

struct last_extreme {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "an element equal to the best one replaces it",
                               .prediction = "a wrong index if the extreme occurs more than once"};
  template <class T, class Op>
  static constexpr bool supports = is_index_of<Op>;
  template <class T, class Op>
  static Status run(const IndexArgs<T, Op>& a) {
    return launch(last_extreme_kernel<T, Op>, {.grid = 1, .block = last_extreme_block, .stream = a.stream}, a.in, a.out,
                  a.n);
  }
};

}  // namespace upsweep::ladders::reduce
