// scan/lookback: one launch, each element read once and written once.
//
// A block publishes its tile's total, and looks back over the tiles before it: the total of each, until one has already
// published its prefix, the scan up to its end. Then it publishes its own. Nobody waits for a whole pass, only for what
// lies just to the left. Tiles are drawn, so that whatever a block waits for has been drawn by a block that runs.
//
// Traffic   n reads and n writes of 16 bytes, 64 words of totals and prefixes for each look back.
// Order     of sums that round: depends on how far each tile looked back.
// Source    Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
#pragma once
#include "scan/contract.h"
#include "scan/single_pass.cuh"

namespace upsweep::ladders::scan {

inline constexpr unsigned lookback_block = 256, lookback_rows = 4;  // 16 KB a tile

// op over everything before `tile`, for a whole warp, every lane of which gets it: 32 tiles at a time. Each tile has
// two boxes, for its total and for its prefix.
template <class A, class Op>
__device__ A look_back(const TaggedBoxes& state, unsigned call, unsigned tile, Op op) {
  const unsigned lane = threadIdx.x % warp_size;
  A before = Op::template neutral<A>();
  for (long long end = tile;; end -= warp_size) {
    const long long looked_at = end - warp_size + lane;
    const unsigned long long* const box = state.boxes() + 2 * looked_at * words_per<A>;
    A value = Op::template neutral<A>();
    bool is_prefix = looked_at < 0;  // before the first tile there is nothing
    while (!is_prefix) {
      is_prefix = look_tagged(box + words_per<A>, call, value);
      if (is_prefix || look_tagged(box, call, value)) break;
      spin_hint();
    }
    __syncwarp();
    // What lies before the last prefix is in it.
    const unsigned prefixes = __ballot_sync(all_lanes, is_prefix);
    if (prefixes >> lane > 1) value = Op::template neutral<A>();
    before = op(shuffle(warp_reduce(value, op), 0), before);
    if (prefixes) return before;
  }
}

// Tiles as blocks draw them, one each, and what comes before them.
struct DrawnTiles {
  TaggedBoxes state;

  // The number of this block's tile, for all its threads. `drawn` is shared.
  __device__ unsigned draw(unsigned& drawn) const {
    if (threadIdx.x == 0) drawn = atomicAdd(state.counter(), 1u);
    __syncthreads();
    return drawn;
  }
  // By the block's first warp, which knows its tile's total; every lane gets op over all tiles before. The last tile of
  // all ends the call.
  template <class A, class Op>
  __device__ A before(unsigned tile, A total, Op op) const {
    const unsigned lane = threadIdx.x % warp_size, call = TaggedBoxes::call(state.last());
    unsigned long long* const box = state.boxes() + 2 * std::size_t(tile) * words_per<A>;
    __syncwarp();  // all lanes have the call's number before anybody can end the call
    if (lane == 0) put_tagged(box, call, total);
    const A prefix = look_back<A>(state, call, tile, op);
    if (lane == 0) {
      put_tagged(box + words_per<A>, call, op(prefix, total));
      if (tile + 1 == gridDim.x) {  // every tile has been drawn and has published
        *state.counter() = 0;
        state.end(call, 2 * std::size_t(gridDim.x) * words_per<A>);
      }
    }
    return prefix;
  }
};

template <class T, class Op>
__global__ void __launch_bounds__(lookback_block)
    lookback_kernel(const T* in,  // [n]
                    T* out,       // [n]
                    DrawnTiles tiles, std::size_t n, bool inclusive, Op op) {
  using A = Total<T, Op>;
  constexpr unsigned warps = lookback_block / warp_size, rows_of_warp = lookback_rows;
  __shared__ A warp_totals[warp_size], before_tile;
  __shared__ unsigned drawn;
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const Aligned<T> input(in, n);
  const unsigned tile = tiles.draw(drawn);
  const std::size_t first = (std::size_t(tile) * warps + warp) * rows_of_warp * row_elements<T> + lane * Pack<T>::size;

  // 1. This tile.
  uint4 rows[rows_of_warp];
  A before[rows_of_warp], total;
  load_rows<Op>(input, first, rows);
  const A before_warp = scan_warps(scan_rows<T>(rows, before, op), op, warp_totals, total);

  // 2. What comes before it.
  if (warp == 0) {
    const A prefix = tiles.before(tile, total, op);
    if (lane == 0) before_tile = prefix;
  }
  __syncthreads();

  // 3. Its scan.
  finish_rows<T>(rows, before, op(before_tile, before_warp), inclusive, op);
  store_rows(out - input.begin, input, first, rows);
}

struct lookback {
  static constexpr Story story{.idea = "one pass: tiles publish totals and prefixes, and look back over those before",
                               .prediction = "0.73 of the copy ceiling, as CUB: a block that looks back loads nothing",
                               .limits = "any n up to 2^31 tiles; fixed block size",
                               .source = "Merrill and Garland, decoupled look-back, 2016"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    const std::size_t tiles =
        ceil_div(Aligned<T>(a.in, a.n).end, lookback_block * lookback_rows * std::size_t(Pack<T>::size));
    const DrawnTiles drawn{boxes_for<Total<T, Op>>(*a.workspace, 2 * tiles)};
    if (!drawn.state.words) return no_memory_for_totals;
    return launch(lookback_kernel<T, Op>, {.grid = unsigned(tiles), .block = lookback_block, .stream = a.stream}, a.in,
                  a.out, drawn, a.n, a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan
