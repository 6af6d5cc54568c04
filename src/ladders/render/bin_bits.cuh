// Instead of lists, if circles are not too many: a bit for each circle and bin. A block that draws finds its bin's
// circles in a column of bits, so that nothing is counted, scanned or scattered.
//
// Traffic   per bin and 32 circles four bytes, written once, and read as far back as tiles need, beside the circles
#pragma once
#include "kernel/ptx.h"
#include "ladders/render/room.cuh"

namespace upsweep::ladders::render {

// Which circles reach a bin. The last block sums up what is known of the circles.
static __global__ void __launch_bounds__(bin_threads) bin_bits_kernel(const float* circles,  // [n][8]
                                                                      std::size_t n, Frame f, BinnedCircles bins) {
  unsigned* const bitmap = dynamic_shared<unsigned>();  // [words][stride]
  __shared__ bool last;
  allow_next_launch();
  // Padded, so that a warp reads the words of several bins without bank conflicts.
  const unsigned shift = bins.shares.words_shift, stride = bins.grid.count() + (warp_size >> shift);
  for (unsigned w = 4 * threadIdx.x; w < stride << shift; w += 4 * bin_threads)
    *reinterpret_cast<uint4*>(bitmap + w) = uint4{0, 0, 0, 0};
  __syncthreads();
  const unsigned first = threadIdx.x / warp_size * bins.shares.lanes;
  bins.each_bin(circles, n, f, [&](unsigned bin, unsigned lane) {
    const unsigned bit = first + lane;
    atomicOr(&bitmap[bit / warp_size * stride + bin], 1u << bit % warp_size);
  });
  for (unsigned at = threadIdx.x; at < bins.grid.count() << shift; at += bin_threads) {
    const unsigned bin = at >> shift, word = at & (bins.shares.words() - 1);
    bins.column(bin)[(blockIdx.x << shift) + word] = bitmap[word * stride + bin];
  }
  if (threadIdx.x == 0) {
    last = take_ticket(bins.done) == gridDim.x - 1;
    if (last) *bins.done = 0;
  }
  __syncthreads();
  if (!last) return;
  const Summary summary = bins.summarize();
  if (threadIdx.x == 0) *bins.summary = summary;
}

inline Status BinnedCircles::fill_bits(const Args& a) const {
  return launch(bin_bits_kernel,
                {.grid = shares.blocks,
                 .block = bin_threads,
                 .shared_bytes = (ceil_div(grid.count() << shares.words_shift, 4) * 4 + warp_size) * sizeof(unsigned),
                 .stream = a.stream},
                a.circles, a.n, a.frame, *this);
}

}  // namespace upsweep::ladders::render
