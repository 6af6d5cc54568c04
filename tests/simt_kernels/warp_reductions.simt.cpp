// Warp reductions: by an instruction if the device has one for the type, otherwise by shuffles.
#include "kernel/warp.h"
#include "test_kernel.h"

namespace upsweep::test {
namespace {

// Writes warp_reduce() [7] from lane 0, and warp_reduce_all() [32][7] from every lane.
__global__ void warp_reductions(const int* in,  // [32]
                                long long* first, long long* all) {
  const unsigned lane = threadIdx.x;
  const int v = in[lane];
  const auto each = [&](auto reduce, long long* out) {
    out[0] = reduce(v, Sum{});
    out[1] = reduce(v, Min{});
    out[2] = reduce(v, Max{});
    out[3] = reduce(unsigned(v), Max{});
    out[4] = reduce(unsigned(v), Or{});
    out[5] = reduce(static_cast<long long>(v), Sum{});
    out[6] = static_cast<long long>(reduce(float(v), Max{}));
  };
  each([](auto value, auto op) { return warp_reduce_all(value, op); }, all + lane * 7);
  long long of_lane[7];
  each([](auto value, auto op) { return warp_reduce(value, op); }, of_lane);
  if (lane == 0)
    for (unsigned k = 0; k < 7; ++k) first[k] = of_lane[k];
}

Status run(const Call& c) {
  return launch(warp_reductions, {.grid = 1, .block = warp_size}, in<int>(c), out<long long>(c), out<long long>(c, 1));
}

constexpr Rung rung = make_rung<run>("warp_reductions");

}  // namespace

Rungs warp_reduction_kernels() {
  static constexpr const Rung* all[] = {&rung};
  return all;
}

}  // namespace upsweep::test
