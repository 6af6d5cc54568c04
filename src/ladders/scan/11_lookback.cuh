// scan/lookback: one launch, each element read once and written once.
//
// A block publishes its tile's total and looks back over the tiles before it: it adds their totals until it reaches one
// that has published its inclusive prefix. Then it publishes its own prefix. No block waits for a whole pass, only for
// the tiles just to its left. Blocks claim tiles by ticket, so every tile waited for belongs to a running block.
//
// Traffic   n reads and n writes, 16 bytes per lane; 64 words of totals and prefixes per step of a look-back.
// Order     depends on how far each tile looked back; matters only for sums that round.
// Source    Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
#pragma once
#include "kernel/block.h"
#include "kernel/lookback.h"
#include "kernel/rows.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

inline constexpr unsigned lookback_block = 256, lookback_rows = 4;  // 16 KB per tile

template <class T, class Op, class Out>
__global__ void __launch_bounds__(lookback_block)
    lookback_kernel(const T* in,  // [n]
                    Out* out,     // [n]
                    LookbackTiles tiles, std::size_t n, bool inclusive, Op op, Initial<Out, Op> initial) {
  using A = Total<Out, Op>;
  constexpr unsigned warps = lookback_block / warp_size, rows_of_warp = lookback_rows;
  __shared__ A warp_totals[warp_size], before_tile;
  __shared__ Drawn drawn;
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const Aligned<T> input(in, n);
  const unsigned tile = tiles.draw(drawn);
  const std::size_t first = (std::size_t(tile) * warps + warp) * rows_of_warp * row_elements<T> + lane * Pack<T>::size;

  // 1. Load this tile and scan its packs.
  uint4 rows[rows_of_warp];
  A before[rows_of_warp], total;
  load_rows<Op>(input, first, rows);
  const A before_warp = scan_warps(scan_rows<T, Out>(rows, before, op), op, warp_totals, total);

  // 2. Find the tile's prefix.
  if (warp == 0) {
    const A prefix = tiles.before(drawn, total, op);
    if (lane == 0) before_tile = op(A(initial.value), prefix);
  }
  __syncthreads();

  // 3. Finish the tile's scan.
  write_scan(out - input.begin, input, first, rows, before, op(before_tile, before_warp), inclusive, op, initial);
}

struct lookback {
  static constexpr Story story{.idea = "one pass: tiles publish totals and prefixes, and look back over earlier ones",
                               .prediction = "0.73 of the copy ceiling, like CUB: no loads during look-backs",
                               .limits = "any n up to 2^31 tiles; fixed block size",
                               .source = "Merrill and Garland, decoupled look-back, 2016"};
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = lookback_block * lookback_rows * sizeof(uint4);
  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    if (a.n == 0) return {};
    const std::size_t tiles =
        ceil_div(Aligned<T>(a.in, a.n).end, lookback_block * lookback_rows * std::size_t(Pack<T>::size));
    const LookbackTiles queue{descriptors_for<Total<Out, Op>>(*a.workspace, 2 * tiles)};
    if (!queue.descriptors.words) return no_memory_for_totals;
    return launch(lookback_kernel<T, Op, Out>, {.grid = unsigned(tiles), .block = lookback_block, .stream = a.stream},
                  a.in, a.out, queue, a.n, a.inclusive, a.op, a.initial);
  }
};

}  // namespace upsweep::ladders::scan
