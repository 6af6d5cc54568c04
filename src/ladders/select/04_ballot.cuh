// select/ballot: ranks from ballots and compaction in shared memory, so that loads and stores are coalesced.
//
// A warp has rows of 32 adjacent elements. One ballot per row gives every lane the row's flags, and a popcount of the
// bits of lower lanes gives a lane's rank, without shuffles. Selected elements are compacted in shared memory and
// written out contiguously.
//
// Traffic   n reads and selected elements written, both coalesced; selected elements once through shared memory; two
//           words per tile.
// Order     preserved.
// Source    Bakunas-Milanowski et al., Efficient Algorithms for Stream Compaction on GPUs, 2017.
#pragma once
#include "kernel/block.h"
#include "ladders/select/fused.cuh"

namespace upsweep::ladders::select {

inline constexpr unsigned ballot_block = 256, ballot_rows = 8, ballot_tile = ballot_block * ballot_rows;

template <class T, class O>
__global__ void __launch_bounds__(ballot_block) ballot_kernel(Input<T, O> in, Target<T> to, Places places) {
  constexpr bool values = writes_values<O>, positions = needs_positions<O>;
  __shared__ Drawn drawn;
  __shared__ unsigned before_tile, warp_totals[warp_size];
  T* const compact = dynamic_shared<T>();                                                      // [ballot_tile]
  auto* const where = reinterpret_cast<std::uint16_t*>(compact + (values ? ballot_tile : 0));  // [ballot_tile]
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const unsigned tile = places.draw(drawn);
  const std::size_t begin = std::size_t(tile) * ballot_tile;
  const unsigned first = warp * ballot_rows * warp_size + lane;

  // 1. Ballot once per row.
  unsigned ballots[ballot_rows], in_warp = 0, selected;
#pragma unroll
  for (unsigned r = 0; r < ballot_rows; ++r) {
    const std::size_t i = begin + first + r * warp_size;
    ballots[r] = __ballot_sync(all_lanes, i < in.n && in.selects(i));
    in_warp += __popc(ballots[r]);
  }
  unsigned rank = scan_warps(in_warp, Sum{}, warp_totals, selected);

  // 2. Compact in shared memory.
#pragma unroll
  for (unsigned r = 0; r < ballot_rows; ++r) {
    const unsigned at = rank + __popc(ballots[r] & ((1u << lane) - 1)), i = first + r * warp_size;
    if (ballots[r] >> lane & 1) {
      if constexpr (values) compact[at] = in.values[begin + i];
      if constexpr (positions) where[at] = static_cast<std::uint16_t>(i);
    }
    rank += __popc(ballots[r]);
  }

  // 3. Find the tile's offset.
  if (warp == 0) {
    const unsigned before = places.find(drawn, selected, to.out.count);
    if (lane == 0) before_tile = before;
  }
  __syncthreads();

  // 4. Write out.
  const std::size_t offset = before_tile + (to.written ? *to.written : 0);
  for (unsigned k = threadIdx.x; k < selected; k += ballot_block) {
    if constexpr (values)
      to.out.values[offset + k] = compact[k];
    else
      to.out.positions.put(offset + k, begin + where[k]);
    if constexpr (writes_lengths<O>) to.heads[offset + k] = static_cast<unsigned>(begin + where[k]);
  }
}

struct ballot {
  static constexpr Story story{
      .idea = "ranks by ballots, compaction in shared memory, coalesced stores",
      .prediction = "2x single_pass if many are selected; 0.5 of the ceiling",
      .limits = "n below 2^32; fixed block size; 4 bytes of scratch per element for run_length_encode",
      .source = "Bakunas-Milanowski et al. 2017"};
  static constexpr std::size_t largest = largest_narrow;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return by_passes_and_lengths(a, [&]<class P>(const Input<T, P>& in, const Target<T>& to) -> Status {
      return launch_tiles(ballot_kernel<T, P>,
                          {.block = ballot_block, .shared_bytes = ballot_tile * (sizeof(T) + sizeof(std::uint16_t))},
                          ceil_div(in.n, ballot_tile), a, in, to);
    });
  }
};

}  // namespace upsweep::ladders::select
