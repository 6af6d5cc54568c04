// render/bit_columns: one bit per circle and bin instead of lists; only the end of each bin's column of bits is read.
//
// 1. Each block tests consecutive circles and writes its words of every bin's column: one kernel instead of the three
//    for lists (bin_columns.cuh).
// 2. A block reads its bin's column backwards and stages the circles that reach its tile of 32 x 32 pixels, a few
//    hundred at a time. Each warp goes backwards through the staged circles and tests 32 at a time against its patch; a
//    circle that covers the whole patch needs no further test. The warp keeps the circles that reach the patch, with
//    one bit per covered pixel, until all its pixels are saturated (warp_end.cuh).
// 3. The kept circles are drawn forwards over the smallest and the largest colour that can be underneath, using only
//    their bits. If every alpha is 1/2, products are exact and a blend is one fused multiply-add.
// 4. A warp whose two results differ goes further back. A tile that cannot be certified this way is drawn from the
//    first circle (patch_bits.cuh), as are all tiles of an image with a small optical depth.
//
// Traffic   every circle once, drawn circles again per bin; one bit per circle and bin; the image once
// Order     the input's: exact
// Source    Levoy 1990, as in last_first; bit masks of tiles: Laine, Karras, High-Performance Software Rasterization on
//           GPUs, 2011
#pragma once
#include "ladders/render/bin_columns.cuh"
#include "ladders/render/limits.h"
#include "ladders/render/patch_bits.cuh"
#include "ladders/render/warp_end.cuh"
#include "ladders/render/windows.cuh"

namespace upsweep::ladders::render {

// Pixels per lane. Using four instead of two halves a warp's work per pixel and leaves four fifths of all instructions.
inline constexpr unsigned column_pixels = 4, column_threads = patch_threads<column_pixels>;
using ColumnMemory = PatchMemory<column_pixels>;
struct WholeColumnMemory : BitsMemory<column_pixels> {
  static constexpr unsigned max_circles = 2048;  // so that four blocks fit in a multiprocessor
  unsigned column[max_circles];
  unsigned warp_totals[warp_size];
};

// Maximum number of circles drawn together from a column; columns with more are drawn in several parts. At least 32,
// the bits of one word.
inline constinit Threshold max_drawn_at_once{
    "max_drawn_at_once", WholeColumnMemory::max_circles, 512, {warp_size, WholeColumnMemory::max_circles}};

// With an eps, a tile needs fewer circles, so a step looks for fewer.
template <bool exact>
using TileColumnEnd = ColumnEnd<column_threads, exact ? ColumnMemory::max_found : column_threads>;

// Block-wide: stages the next circles of a column that reach the tile, which is smaller than the bin.
template <class End>
__device__ void stage_from_column(Staged& staged, const float* circles, End& column, ColumnMemory& memory) {
  const unsigned n_found = column.next(memory.column_circles, memory.warp_totals);
  bool room = true;
  for (unsigned first = 0; first < n_found; first += column_threads) {
    const unsigned at = first + threadIdx.x;
    Circle c{};
    bool reached = false;
    if (at < n_found) {
      c = load_circle(circles, memory.column_circles[at]);
      reached = memory.centres.reached_by(c.x, c.y, square(c.radius));
    }
    const unsigned ballot = __ballot_sync(all_lanes, reached);
    unsigned total;
    const unsigned offset = staged.count +
                            sum_of_warps<column_threads>(unsigned(__popc(ballot)), memory.warp_totals, total) +
                            unsigned(__popc(ballot & ((1u << threadIdx.x % warp_size) - 1)));
    room = staged.count + total <= ColumnMemory::max_staged;
    if (!room) break;
    if (reached) keep(memory.staged[offset], c);
    staged.count += total;
    __syncthreads();
  }
  staged.whole = room && column.empty(), staged.last = staged.whole || !room;
}

// Draws the tile from the first circle, in parts of its bin's column. A part has as many words as a block reads in one
// step. If such a part has more than `room` circles (max_drawn_at_once), parts shrink to room / 32 words, whose circles
// always fit.
template <bool fused>
__device__ void draw_column(const float* circles, const BinColumns& columns, unsigned bin, Tile tile, float* image,
                            const Frame& f, unsigned room) {
  WholeColumnMemory& memory = *dynamic_shared<WholeColumnMemory>();
  WarpBits<column_pixels, fused> bits(memory, f);
  using Words = Column<column_threads>;
  const unsigned words = columns.words();
  for (unsigned first = 0, step = Words::max_per_thread * column_threads; first < words;) {
    const unsigned part = min(step, words - first);
    const unsigned count =
        Words(columns.column(bin), first, part).each(memory.warp_totals, [&](unsigned offset, unsigned circle) {
          if (offset < room) memory.column[offset] = circle;
        });
    __syncthreads();
    if (count > room) {
      step = room / warp_size;
    } else {
      draw_all(TileCircles<column_pixels>(circles, memory.column, count), memory, bits);
      first += part;
    }
  }
  LanePixels<column_pixels>(f, tile).store(image, f, bits.colour);
}

// `exact`: eps is 0.
template <bool exact>
__global__ void __launch_bounds__(column_threads, 1024 / column_threads)
    bit_columns_kernel(const float* circles,  // [n][8]
                       float* image,          // [height][width][channels]
                       Frame f, BinColumns columns,
                       unsigned room) {  // see draw_column()
  const Tile tile = tile_outside_in();
  const unsigned bin = columns.grid.bin_at(tile.i, tile.j);
  ColumnMemory& memory = *dynamic_shared<ColumnMemory>();
  memory.centres.fill(f, tile);
  wait_for_previous();
  TileColumnEnd<exact> end(columns.column(bin), columns.words());  // its first loads overlap the summary's
  const Summary total = *columns.summary;
  if (pays_to_go_back(total, columns.target_depth) &&
      draw_end<column_pixels, exact>(columns.target_depth, total, memory, tile, image, f,
                                     [&](Staged& staged) { stage_from_column(staged, circles, end, memory); }))
    return;
  if (total.uneven == 0) return draw_column<true>(circles, columns, bin, tile, image, f, room);
  draw_column<false>(circles, columns, bin, tile, image, f, room);
}

struct bit_columns {
  static constexpr Needs needs = bit_columns_needs;
  static constexpr Threshold* thresholds[] = {&bin_blocks, &max_column_bins, &max_drawn_at_once};
  static constexpr Story story{.idea = "a bit per circle and bin, and per kept circle and pixel; only ends of columns",
                               .prediction = "rand10k 54 us, rand100k 63, biglittle 55 on an H200; lists: 69, 94, 82",
                               .guarantees = "exact; within eps of it if the call permits",
                               .limits = "flat, no coverage; up to 131,072 circles; fixed block size",
                               .source = "Levoy 1990; Laine, Karras 2011"};
  static constexpr bool reproducible_bits = true, limits_scratch = true;
  template <class, class>
  static Status run(const Args& a) {
    if (!is_plain(a.frame)) return not_plain;
    if (a.n > bit_columns_most) return {Code::unsupported, 0, "bit_columns takes up to 131,072 circles"};
    const BinColumns::Layout layout(a);
    return each_window(a, layout, [&](const Args& window, char* memory) -> Status {
      unsigned* const counter = a.workspace->counters(1);
      if (!counter) return {Code::out_of_memory, 0, "no memory for a counter"};
      const BinColumns columns(window.frame, layout, memory, counter, target_depth_of(a.frame));
      if (auto s = fill(columns, window); !s) return s;
      // Blocks start while the previous kernel is still computing the bits. On an H200, this saves 0.5 to 1 us with at
      // least 10,000 circles.
      return launch(a.frame.eps == 0 ? bit_columns_kernel<true> : bit_columns_kernel<false>,
                    {.grid = patch_tile_grid(window.frame),
                     .block = column_threads,
                     .shared_bytes = std::max(sizeof(ColumnMemory), sizeof(WholeColumnMemory)),
                     .overlap = true,
                     .stream = a.stream},
                    a.circles, a.image, window.frame, columns, static_cast<unsigned>(max_drawn_at_once));
    });
  }
};

}  // namespace upsweep::ladders::render
