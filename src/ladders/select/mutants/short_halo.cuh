// Wrong on purpose: a halo off by one. The element after a tile is read one position too far.
//
// Must be caught by the check: a repeat across a tile boundary is missed or invented.
#pragma once
#include "kernel/block.h"
#include "ladders/select/fused.cuh"

namespace upsweep::ladders::select {

inline constexpr unsigned short_halo_block = 64;

template <class T, class O>
__global__ void __launch_bounds__(short_halo_block) short_halo_kernel(Input<T, O> in, Target<T> to, Places places) {
  __shared__ T tile_values[short_halo_block + 1];
  __shared__ Drawn drawn;
  __shared__ unsigned before_tile, warp_totals[warp_size];
  const unsigned tile = places.draw(drawn), t = threadIdx.x;
  const std::size_t begin = std::size_t(tile) * short_halo_block, i = begin + t;
  if (i < in.n) tile_values[t] = in.values[i];
  const std::size_t next = begin + short_halo_block + 1;  // + 1: the mistake
  if (t == 0 && begin + short_halo_block < in.n) tile_values[short_halo_block] = in.values[next < in.n ? next : i];
  __syncthreads();
  const bool repeats = i + 1 < in.n && tile_values[t] == tile_values[t + 1];
  unsigned selected;
  const unsigned rank = block_scan(unsigned(repeats), Sum{}, warp_totals, selected);
  if (t < warp_size) {
    const unsigned before = places.find(drawn, selected, to.out.count);
    if (t == 0) before_tile = before;
  }
  __syncthreads();
  if (repeats) to.out.positions.put(before_tile + rank, i);
}

struct short_halo {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "a halo read one element too far",
                               .prediction = "repeats across tiles are missed or invented"};
  static constexpr std::size_t largest = largest_narrow;
  template <class T, class O>
  static constexpr bool supports = sees_next<O>;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return launch_tiles(short_halo_kernel<T, O>, {.block = short_halo_block}, ceil_div(a.in.n, short_halo_block), a,
                        a.in, Target<T>{a.out, nullptr, nullptr});
  }
};

}  // namespace upsweep::ladders::select
