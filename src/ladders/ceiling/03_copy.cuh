// ceiling/copy: copies at full memory bandwidth.
//
// One 16-byte load and store per thread, without a loop, in small blocks. GB/s on an H200:
//
//                                         2^28 words   2^30 words
//   blocks of 128 threads                       4265         4293
//   blocks of 256 threads                       4255         4277
//   blocks of 512 threads                       4252         4277
//   blocks of 1024 threads                      4131         4161
//   cudaMemcpy                                  4248         4282
//   several packs per thread                      3900 to 4160
//   bulk copies through shared memory             3700 to 4000
#pragma once
#include "kernel/vector.h"
#include "ladders/ceiling/contract.h"

namespace upsweep::ladders::ceiling {

// Copies 16-byte packs if both arrays have the same alignment modulo 16, otherwise single words.
static __global__ void __launch_bounds__(128) copy_kernel(const unsigned* in,  // [n]
                                                          unsigned* out,       // [n]
                                                          std::size_t n) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const PackSplit<unsigned> split(in, n);
  if (reinterpret_cast<std::uintptr_t>(out + split.head) % sizeof(uint4) != 0) {
    for (std::size_t j = i; j < n; j += std::size_t(gridDim.x) * blockDim.x) out[j] = in[j];
    return;
  }
  if (i < split.head) out[i] = in[i];
  if (i < split.tail) out[n - split.tail + i] = in[n - split.tail + i];
  if (i < split.packs)
    reinterpret_cast<uint4*>(out + split.head)[i] = reinterpret_cast<const uint4*>(in + split.head)[i];
}

struct copy {
  static constexpr Story story{.idea = "one 16-byte load and store per thread", .limits = "any n"};
  static Status run(const Call& c) {
    const unsigned grid = static_cast<unsigned>(c.n() / (4 * 128) + 1);
    return launch(copy_kernel, {.grid = grid, .block = 128, .stream = c.stream}, c.in[0].as<const unsigned>(),
                  c.out[0].as<unsigned>(), c.n());
  }
};

}  // namespace upsweep::ladders::ceiling
