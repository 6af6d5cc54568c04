// select/single_pass: one kernel flags, ranks and scatters each tile, whose offset comes from decoupled look-back.
//
// Each thread has four adjacent elements. A block scan of the threads' counts gives ranks within the tile; look-back
// over the counts of earlier tiles, as in scan/lookback, gives the tile's offset. No flags or ranks go to memory.
//
// Traffic   n reads, with a quarter of each sector used per warp access; selected elements scattered; two words per
//           tile.
// Order     preserved.
// Source    Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016, section 5.
#pragma once
#include "kernel/block.h"
#include "ladders/select/fused.cuh"

namespace upsweep::ladders::select {

inline constexpr unsigned single_pass_block = 256, single_pass_items = 4;

template <class T, class O>
__global__ void __launch_bounds__(single_pass_block) single_pass_kernel(Input<T, O> in, Target<T> to, Places places) {
  __shared__ Drawn drawn;
  __shared__ unsigned before_tile, warp_totals[warp_size];
  const unsigned tile = places.draw(drawn);
  const std::size_t first = (std::size_t(tile) * single_pass_block + threadIdx.x) * single_pass_items;

  // 1. Flag the elements and rank them in the tile.
  unsigned flags = 0, selected;
  for (unsigned k = 0; k < single_pass_items; ++k)
    if (first + k < in.n && in.selects(first + k)) flags |= 1u << k;
  unsigned rank = block_scan(unsigned(__popc(flags)), Sum{}, warp_totals, selected);

  // 2. Find the tile's offset.
  if (threadIdx.x < warp_size) {
    const unsigned before = places.find(drawn, selected, to.out.count);
    if (threadIdx.x == 0) before_tile = before;
  }
  __syncthreads();

  // 3. Scatter.
  const std::size_t begin = before_tile + (to.written ? *to.written : 0);
  for (unsigned k = 0; k < single_pass_items; ++k)
    if (flags >> k & 1) {
      if constexpr (writes_positions<O>)
        to.out.positions.put(begin + rank, first + k);
      else
        to.out.values[begin + rank] = in.values[first + k];
      if constexpr (writes_lengths<O>) to.heads[begin + rank] = static_cast<unsigned>(first + k);
      ++rank;
    }
}

struct single_pass {
  static constexpr Story story{
      .idea = "one kernel: a tile's ranks by a block scan, its offset by look-back",
      .prediction = "3x flags_recursive: the input is read once, no flags are written",
      .limits = "n below 2^32; fixed block size; 4 bytes of scratch per element for run_length_encode",
      .source = "after Merrill and Garland, decoupled look-back, 2016"};
  static constexpr std::size_t largest = largest_narrow;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return by_passes_and_lengths(a, [&]<class P>(const Input<T, P>& in, const Target<T>& to) -> Status {
      return launch_tiles(single_pass_kernel<T, P>, {.block = single_pass_block},
                          ceil_div(in.n, single_pass_block * single_pass_items), a, in, to);
    });
  }
};

}  // namespace upsweep::ladders::select
