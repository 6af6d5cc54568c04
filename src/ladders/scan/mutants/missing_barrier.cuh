// Wrong on purpose: the up-sweep may start a level before other warps have finished the previous one.
//
// Must be caught: a shared race, even if the value is right.
#pragma once
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

template <class T, class Op>
__global__ void missing_barrier_kernel(const T* in,  // [n]
                                       T* out,       // [n]
                                       std::size_t n, bool inclusive, Op op) {
  T* const s = dynamic_shared<T>();  // [2 * blockDim.x]
  const unsigned count = 2 * blockDim.x;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) s[i] = i < n ? in[i] : Op::template neutral<T>();
  __syncthreads();
  for (unsigned distance = 1, pairs = count / 2; pairs > 0; distance *= 2, pairs /= 2)
    if (threadIdx.x < pairs) {
      const unsigned left = (2 * threadIdx.x + 1) * distance - 1, right = left + distance;
      s[right] = op(s[left], s[right]);
    }
  down_sweep(s, count, op);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
    if (i < n) out[i] = inclusive ? op(s[i], in[i]) : i > 0 ? s[i] : value_of_none<Op, T>();
}

struct missing_barrier {
  static constexpr bool expected_wrong = true;
  static constexpr std::size_t largest = 1024;
  static constexpr Story story{.idea = "an up-sweep without its barriers",
                               .prediction = "a shared race, even if the value is right"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return launch(missing_barrier_kernel<T, Op>,
                  {.grid = 1, .block = 512, .shared_bytes = 1024 * sizeof(T), .stream = a.stream}, a.in, a.out, a.n,
                  a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan
