// scan/warp_shuffle: Hillis and Steele's steps inside a warp, through registers.
//
// Lanes of a warp need no barrier to exchange values, and five steps scan a warp. Then every warp scans the totals of
// all warps, at most 32, the same way. This takes one barrier per tile and one word of shared memory per warp.
//
// Traffic   as recursive. Shared memory: 32 wavefronts per tile of 512 words, 1 barrier; 14 shuffles per warp.
// Order     left to right: each step joins two adjacent runs.
// Source    Harris, Garland, Optimizing Parallel Prefix Operations for the Fermi Architecture, GPU Computing Gems,
//           2011.
#pragma once
#include "kernel/block.h"
#include "ladders/scan/levels.cuh"

namespace upsweep::ladders::scan {

struct WarpShuffles {
  static constexpr unsigned per_thread = 1, block = 512;  // the sweeps' tile size, so that all else is equal
  static constexpr Status refusal(unsigned threads) { return whole_warps(threads) ? Status{} : not_whole_warps; }
  template <class T>
  static constexpr std::size_t shared_bytes(unsigned) {
    return 0;
  }
  template <class T, class Op>
  static __device__ T scan(const T* in, T* out, std::size_t n, bool inclusive, Op op) {
    __shared__ T warp_totals[warp_size];
    const T own = threadIdx.x < n ? in[threadIdx.x] : Op::template neutral<T>();
    T total;
    const T before = block_scan(own, op, warp_totals, total);
    if (threadIdx.x < n) out[threadIdx.x] = inclusive ? op(before, own) : before;
    return total;
  }
};

struct warp_shuffle {
  static constexpr Story story{
      .idea = "warp scans through registers: one barrier per tile",
      .prediction = "1700 GB/s on an H200 at 2^28: with 4 arrays of traffic, 0.8 of half the copy ceiling",
      .guarantees = "same bits for the same n and block",
      .limits = "sum, min, max; any n; whole warps",
      .source = "Harris and Garland, GPU Computing Gems, 2011"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_recursively<WarpShuffles>(a);
  }
};

}  // namespace upsweep::ladders::scan
