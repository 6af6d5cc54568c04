// ceiling/read: as many bytes as memory can deliver, folded with one instruction each.
//
// The best of the shapes tried for reduce (docs/notes/reduce.md), with the cheapest operator there is.
#pragma once
#include "ceiling/contract.h"
#include "reduce/finish.cuh"

namespace upsweep::ladders::ceiling {

struct Xor {
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    return T(0);
  }
  UPSWEEP_HD constexpr unsigned operator()(unsigned a, unsigned b) const { return a ^ b; }
};

template <reduce::Walk walk>
__global__ void __launch_bounds__(1024, 2) read_kernel(const unsigned* in,         // [n]
                                                       unsigned* out,              // [1]
                                                       unsigned long long* boxes,  // [gridDim.x], zero; left zero
                                                       std::size_t n) {
  reduce::finish(reduce::thread_sum<4, walk>(PackSplit<unsigned>(in, n), in, Xor{}), Xor{}, boxes, out);
}

struct read {
  static constexpr Story story{.idea = "4 loads of 16 bytes in flight a thread, of all threads, folded by xor",
                               .limits = "any n"};
  static Status run(const Call& c) {
    const bool shares = c.n * sizeof(unsigned) >= reduce::shares_pay_from;
    const unsigned grid = blocks_for<unsigned>(c.n, 1024, 1, shares ? 2 * reduce::shares_waves : 2);
    auto* const boxes = reinterpret_cast<unsigned long long*>(c.workspace->counters(2 * std::size_t(grid)));
    if (!boxes) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(shares ? read_kernel<reduce::Walk::shares> : read_kernel<reduce::Walk::grid_stride>,
                  {.grid = grid, .block = 1024, .stream = c.stream}, static_cast<const unsigned*>(c.in[0]),
                  static_cast<unsigned*>(c.out[0]), boxes, c.n);
  }
};

}  // namespace upsweep::ladders::ceiling
