// Instead of lists, if circles are not too many: a bit for each circle and bin. A block that draws finds its bin's
// circles in a column of bits, so that nothing is counted, scanned or scattered.
//
// Traffic   per bin and 32 circles four bytes, written once and read by each tile, beside the circles
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
  const unsigned words = bins.shares.words(), row = bins.shares.row(bins.grid.count());
  for (unsigned at = 4 * threadIdx.x; at < row; at += 4 * bin_threads) {
    unsigned four[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) four[k] = bitmap[((at + k) & (words - 1)) * stride + ((at + k) >> shift)];
    *reinterpret_cast<uint4*>(bins.bits_of(blockIdx.x, at >> shift) + (at & (words - 1))) =
        uint4{four[0], four[1], four[2], four[3]};
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
                 .shared_bytes = (shares.row(grid.count()) + warp_size) * sizeof(unsigned),
                 .stream = a.stream},
                a.circles, a.n, a.frame, *this);
}

// A bin's column: the words of blocks [begin, end), those of a block in one thread. For all threads of a block, at
// least one for each of those blocks.
class Column {
 public:
  __device__ __forceinline__ Column(const BinnedCircles& bins, unsigned bin, unsigned begin, unsigned end)
      : block_(begin + threadIdx.x), words_(bins.shares.words()) {
    if (block_ >= end) return;
    const unsigned* const from = bins.bits_of(block_, bin);
#pragma unroll
    for (unsigned k = 0; k < bin_warps; k += 4)
      if (k + 4 <= words_) {
        const uint4 four = *reinterpret_cast<const uint4*>(from + k);
        bits_[k] = four.x, bits_[k + 1] = four.y, bits_[k + 2] = four.z, bits_[k + 3] = four.w;
      }
    if (words_ < 4) bits_[0] = from[0];
    if (words_ == 2) bits_[1] = from[1];
  }

  // Calls put(place, count, circle) for the circles, of which there are `count`, and returns that; for the last ones at
  // least, of which there are at most `wanted`. Has a barrier.
  template <class Put>
  __device__ __forceinline__ unsigned each(unsigned wanted,
                                           unsigned* warp_totals,  // [32], shared
                                           Put&& put) const {
    unsigned sum = 0;
#pragma unroll
    for (const unsigned word : bits_) sum += unsigned(__popc(word));
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const unsigned upto = warp_scan(sum, Sum{});
    if (lane == warp_size - 1) warp_totals[warp] = upto;
    __syncthreads();
    const unsigned of_lane = lane < blockDim.x / warp_size ? warp_totals[lane] : 0;
    const unsigned count = __reduce_add_sync(all_lanes, of_lane);
    unsigned place = __reduce_add_sync(all_lanes, lane < warp ? of_lane : 0) + upto - sum;
    if (sum == 0 || count - place - sum >= wanted) return count;
#pragma unroll
    for (unsigned k = 0; k < bin_warps; ++k) {
      if (k == words_) break;
      for (unsigned left = bits_[k]; left; left &= left - 1, ++place)
        put(place, count, (block_ * words_ + k) * warp_size + unsigned(__ffs(int(left))) - 1);
    }
    return count;
  }

 private:
  const unsigned block_, words_;
  unsigned bits_[bin_warps]{};
};

}  // namespace upsweep::ladders::render
