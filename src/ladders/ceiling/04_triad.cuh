// ceiling/triad: reads two streams and writes one at full memory bandwidth.
//
// Uses the fastest launch shape of ceiling/copy: one pack per thread, in blocks of 128.
#pragma once
#include "kernel/vector.h"
#include "ladders/ceiling/contract.h"

namespace upsweep::ladders::ceiling {

// Processes 16-byte packs if `out` has the same alignment modulo 16 as `a` and `b`, otherwise single words.
static __global__ void __launch_bounds__(128) triad_kernel(const unsigned* a,  // [half]
                                                           const unsigned* b,  // [half], aligned as a
                                                           unsigned* out,      // [half]
                                                           std::size_t half) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const PackSplit<unsigned> split(a, half);
  if (reinterpret_cast<std::uintptr_t>(out + split.head) % sizeof(uint4) != 0) {
    for (std::size_t j = i; j < half; j += std::size_t(gridDim.x) * blockDim.x) out[j] = triad_of(a[j], b[j]);
    return;
  }
  if (i < split.head) out[i] = triad_of(a[i], b[i]);
  const std::size_t last = half - split.tail + i;
  if (i < split.tail) out[last] = triad_of(a[last], b[last]);
  if (i >= split.packs) return;
  const uint4 p = reinterpret_cast<const uint4*>(a + split.head)[i];
  const uint4 q = reinterpret_cast<const uint4*>(b + split.head)[i];
  reinterpret_cast<uint4*>(out + split.head)[i] =
      make_uint4(triad_of(p.x, q.x), triad_of(p.y, q.y), triad_of(p.z, q.z), triad_of(p.w, q.w));
}

struct triad {
  static constexpr Story story{.idea = "two 16-byte loads and a store per thread", .limits = "any n"};
  static Status run(const Call& c) {
    const std::size_t half = triad_half(c.n());
    if (half == 0) return {};  // the second array would begin past the end
    const auto* in = c.in[0].as<const unsigned>();
    const unsigned grid = static_cast<unsigned>(half / (4 * 128) + 1);
    return launch(triad_kernel, {.grid = grid, .block = 128, .stream = c.stream}, in, in + half + triad_gap,
                  c.out[0].as<unsigned>(), half);
  }
};

}  // namespace upsweep::ladders::ceiling
