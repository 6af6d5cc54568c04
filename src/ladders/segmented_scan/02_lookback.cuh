// segmented_scan/lookback: one pass; a tile with a head can publish its prefix without looking back.
//
// Like scan/lookback with 16 bytes per lane, but:
// - Within a warp, a ballot finds the heads, so shuffles carry only values (segments.cuh).
// - A tile with a head knows its prefix without looking back, so look-backs from later tiles end there.
//
// Traffic   heads; n reads and n writes, 16 bytes per lane; one bit per element, written once and read once; 64 words
//           of totals and prefixes per look-back.
// Order     depends on how far each tile looked back; matters only for sums that round.
// Source    Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016; Sengupta, Harris,
//           Garland, Efficient Parallel Scan Algorithms for GPUs, 2008 (heads as a ballot).
#pragma once
#include "kernel/block.h"
#include "kernel/lookback.h"
#include "kernel/rows.h"
#include "ladders/segmented_scan/segments.cuh"

namespace upsweep::ladders::segmented_scan {

inline constexpr unsigned tile_threads = 256, tile_rows = 4;  // 16 KB per tile, as in scan/lookback
template <class T>
inline constexpr std::size_t tile_elements = std::size_t(tile_threads) * tile_rows* Pack<T>::size;

// `From` is Initial or NoInitial; see start_from().
template <class T, class Op, class Out, class From>
__global__ void __launch_bounds__(tile_threads)
    lookback_kernel(const T* in,  // [n]
                    HeadBits bits,
                    Out* out,  // [n]
                    LookbackTiles tiles, std::size_t n, bool inclusive, Op op, From from) {
  const Initial<Out, Op> initial = from;
  constexpr unsigned warps = tile_threads / warp_size;
  __shared__ Run<Out> warp_totals[warp_size];
  __shared__ Out before_tile;
  __shared__ Drawn drawn;
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const Aligned<T> input(in, n);
  const unsigned tile = tiles.draw(drawn);
  const std::size_t first = (std::size_t(tile) * warps + warp) * tile_rows * row_elements<T> + lane * Pack<T>::size;

  // 1. Load this tile and scan its packs.
  uint4 rows[tile_rows];
  unsigned heads[tile_rows];
  BeforePacks<Out, tile_rows> before;
  load_rows<Op>(input, first, rows);
#pragma unroll
  for (unsigned r = 0; r < tile_rows; ++r) {
    const std::size_t position = first + r * row_elements<T>;
    heads[r] = position < input.end ? bits.at(position, Pack<T>::size) : 0;
  }
  Run<Out> total;
  const Run<Out> of_warp = scan_rows<T>(rows, heads, before, op, initial.value);
  const Run<Out> before_warp = scan_warps(of_warp, Joined<Op>{op}, warp_totals, total);

  // 2. Find the tile's prefix.
  if (warp == 0) {
    const Descriptors& descriptors = tiles.descriptors;
    const unsigned epoch = drawn.epoch;
    if (lane == 0) publish(descriptors, tile, epoch, total);
    // A tile that begins with a head needs no prefix.
    const bool first_head = shuffle(heads[0], 0) & 1;
    const Out left = first_head ? Op::template neutral<Out>() : look_back<Out>(descriptors, epoch, tile, op);
    if (lane == 0) {
      if (!total.head) store_tagged(prefix_words<Out>(descriptors, tile), epoch, op(left, total.value));
      before_tile = left;
      tiles.leave<Out>(epoch);
    }
  }
  __syncthreads();

  // 3. Finish the tile's scan.
  const Out left = before_warp.head ? before_warp.value : op(before_tile, before_warp.value);
  write_scan(out - input.begin, input, first, rows, heads, before, left, inclusive, op, initial);
}

struct lookback {
  static constexpr Story story{.idea = "one pass; heads as a ballot; a tile with a head has its prefix at once",
                               .prediction =
                                   "0.9 of scan/lookback's speed at large n: the bits cost a launch and 3 % "
                                   "more traffic",
                               .limits = "any n up to 2^31 tiles; fixed block size",
                               .source = "Merrill and Garland 2016; Sengupta, Harris, Garland 2008"};
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = tile_threads * tile_rows * sizeof(uint4);
  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    if (a.n == 0) return {};
    const Aligned<T> input(a.in, a.n);
    Scratch scratch(*a.workspace);
    auto* const bits = scratch.take<unsigned>(head_words(input.begin, a.n));
    if (!scratch) return no_memory_for_heads;
    if (Status s = make_head_bits(a.heads, bits, input.begin, a.n, a.stream); !s) return s;
    return scan_with(a, HeadBits{bits});
  }

  template <class T, class Op, class Out>
  static Status scan_with(const Args<T, Op, Out>& a, HeadBits bits) {
    const std::size_t tiles = ceil_div(Aligned<T>(a.in, a.n).end, tile_elements<T>);
    const LookbackTiles queue{descriptors_for<Out>(*a.workspace, 2 * tiles)};
    if (!queue.descriptors.words) return no_memory_for_heads;
    return start_from(a, [&]<class From>(From from) {
      return launch(lookback_kernel<T, Op, Out, From>,
                    {.grid = unsigned(tiles), .block = tile_threads, .stream = a.stream}, a.in, bits, a.out, queue, a.n,
                    a.inclusive, a.op, from);
    });
  }
};

}  // namespace upsweep::ladders::segmented_scan
