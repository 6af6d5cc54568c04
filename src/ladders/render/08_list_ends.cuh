// render/list_ends: only the last circles of each bin's list are listed, fetched and drawn, for most bins.
//
// 1. Few circles: one launch; every block finds its own (few_circles.cuh). More: instead of lists, a bit for each
//    circle and bin (bin_bits.cuh). Many: the bins' lists are counted, and, where the image is deep enough for that,
//    only their ends are written (bins.cuh).
// 2. A block stages the last entries of its bin's list, 512 and then as many again. Each warp goes backwards through
//    them: 32 at once are tested against its 8 x 8 pixels, those that cover all of them need no other test. It keeps
//    those that reach it, with a bit for each pixel that is covered, until all pixels are saturated.
// 3. Those kept are drawn forwards over the smallest and the largest colour, by their bits alone. Where alpha is 1/2,
//    a product is exact, and a blend one fused multiply-add.
// 4. A warp that is not certain takes more. What is left then is drawn from the first circle on (patch_bits.cuh): at
//    once where the list is complete, as it is in images that are not deep; the other bins' lists are completed, and
//    these bins drawn again.
//
// Traffic   the circles once, and again those drawn, for each bin; two bytes per circle; four per entry; the image once
// Order     the input's: exact
// Source    Levoy 1990; Ashkiani et al. 2016, as in binned
#pragma once
#include "kernel/ptx.h"
#include "ladders/render/few_circles.cuh"
#include "ladders/render/patch_bits.cuh"
#include "ladders/render/warp_end.cuh"
#include "ladders/render/windows.cuh"

namespace upsweep::ladders::render {

static_assert(bin_blocks <= patch_threads);  // for columns of bits

// Draws the tile from the end of its list, if that is possible; the list's last entries are before `end`. For all
// threads of the block.
template <bool fused, bool exact>
__device__ bool draw_end(const float* circles, const BinnedCircles& bins, const BinList& list, const unsigned* end,
                         const Range& colours, PatchMemory& memory, const Patch& patch, float* image, const Frame& f) {
  const unsigned ready = min(list.count - list.skipped, patch_staged);
  WarpEnd<fused> warp(memory, patch);
  bool drawn = false, given_up = false;
  // What is drawn over: both ends of the range; or, where eps permits, its middle, which is half as far from either.
  Range range = underneath(colours, f, fused || !exact);
  const float enough_for_eps = bins.halvings + (range.least < 0 ? 1 : 0);  // the range is at most twice the largest
  if (!exact) range.least = range.most = (range.least + range.most) / 2;
  float enough = exact ? first_try<fused> : enough_for_eps;
  const auto draw = [&](bool over_background) {
    Colour low[2], high[2];
    for (unsigned k = 0; k < 2; ++k) {
      low[k] = high[k] = flat_background(f);
      if (over_background) continue;
      low[k] = {range.least, range.least, range.least, 1}, high[k] = {range.most, range.most, range.most, 1};
    }
    drawn = warp.draw(low, high, exact && !over_background);
    if (drawn) patch.store(image, f, low);
  };
  for (unsigned first = 0; first < ready; first += patch_threads) {
    const unsigned at = first + threadIdx.x, count = min(ready, first + patch_threads);
    if (at < count) keep(memory.staged[at], load_circle(circles, *(end - 1 - at)));
    __syncthreads();
    while (!drawn && !given_up) {
      warp.go_back(count, count == ready, enough);
      const bool whole_list = count == list.count && !warp.full;
      if (!warp.saturated && !whole_list) break;
      draw(!warp.saturated);
      enough += step;
      given_up = !drawn && enough > last_try;
    }
    if (__syncthreads_and(drawn || given_up || warp.full)) break;
  }
  if (list.count == 0) draw(true);
  return __syncthreads_and(drawn);
}

// Calls draw(circles) for parts of a bin's column of bits: for all of it, if there is room for its circles; otherwise
// for those of so many blocks at once that there is in any case.
template <class Draw>
__device__ void each_part(const float* circles, const BinnedCircles& bins, unsigned bin, BitsMemory& memory,
                          Draw&& draw) {
  constexpr unsigned most = BitsMemory::most_of_column;
  const unsigned blocks = bins.shares.blocks;
  for (unsigned block = 0, step = blocks; block < blocks;) {
    const unsigned count = Column(bins, bin, block, min(block + step, blocks))
                               .each(0xffffffffu, memory.warp_totals, [&](unsigned place, unsigned, unsigned circle) {
                                 if (place < most) memory.column[place] = circle;
                               });
    __syncthreads();
    if (count > most) {
      step = most / (bin_warps * warp_size);
    } else {
      draw(TileCircles(circles, memory.column, count));
      block += step;
    }
  }
}

// Draws the tile from the first circle on: from its bin's list or column, or, if it has none, from all circles.
template <bool fused, bool columns>
__device__ void draw_list(const float* circles, std::size_t n, const BinnedCircles& bins, unsigned bin,
                          const Patch& patch, float* image, const Frame& f) {
  BitsMemory& memory = *dynamic_shared<BitsMemory>();
  WarpBits<fused> bits(memory, f);
  const auto draw = [&](const TileCircles& part) { draw_all(part, memory, bits); };
  if constexpr (columns) {
    each_part(circles, bins, bin, memory, draw);
  } else {
    const BinList list = bins.lists[bin];
    draw(list.listed() ? TileCircles(circles, bins.indices + list.begin, list.count)
                       : TileCircles(circles, nullptr, n));
  }
  patch.store(image, f, bits.colour);
}
template <bool columns>
__device__ void draw_list(const float* circles, std::size_t n, const BinnedCircles& bins, bool halves, unsigned bin,
                          const Patch& patch, float* image, const Frame& f) {
  if (halves)
    draw_list<true, columns>(circles, n, bins, bin, patch, image, f);
  else
    draw_list<false, columns>(circles, n, bins, bin, patch, image, f);
}

// `columns`: of bits, instead of lists. `exact`: eps is 0.
template <bool columns, bool exact>
__global__ void __launch_bounds__(patch_threads, 2) list_ends_kernel(const float* circles,  // [n][8]
                                                                     std::size_t n,
                                                                     float* image,  // [height][width][channels]
                                                                     Frame f, BinnedCircles bins) {
  const Patch patch(f, blockIdx.x, blockIdx.y);
  const unsigned bin = bins.grid.bin_at(patch.tile_i, patch.tile_j);
  PatchMemory& memory = *dynamic_shared<PatchMemory>();
  memory.centres.fill(f, patch);
  wait_for_previous();
  // Both loads wait for memory together.
  const Column column(bins, bin, 0, columns ? bins.shares.blocks : 0);
  const Summary all = *bins.summary;
  const bool halves = all.uneven == 0;
  BinList list{};  // a column is complete
  if constexpr (!columns) list = bins.lists[bin];
  // A complete list that is not twice as deep as needed is not worth going backwards first: a warp waits for its
  // slowest pixel, and those are drawn twice.
  const bool deep = list.skipped > 0 || all.halvings() > 2 * bins.halvings;
  if (list.listed() && deep) {
    const unsigned* end = memory.last + patch_staged;
    if constexpr (columns)
      list.count = column.each(patch_staged, memory.warp_totals, [&](unsigned place, unsigned count, unsigned circle) {
        if (count - place <= patch_staged) memory.last[patch_staged - (count - place)] = circle;
      });
    else
      end = bins.indices + list.begin + list.count;
    __syncthreads();
    if (halves ? draw_end<true, exact>(circles, bins, list, end, all.colours(), memory, patch, image, f)
               : draw_end<false, exact>(circles, bins, list, end, all.colours(), memory, patch, image, f))
      return;
  }
  if (columns || (list.listed() && list.skipped == 0))
    draw_list<columns>(circles, n, bins, halves, bin, patch, image, f);
  else
    bins.finish_later(bin);
}

// The tiles of the unfinished bins, from their first circle on.
__global__ void __launch_bounds__(patch_threads, 2) unfinished_kernel(const float* circles,  // [n][8]
                                                                      std::size_t n,
                                                                      float* image,  // [height][width][channels]
                                                                      Frame f, BinnedCircles bins) {
  const unsigned side = BinGrid::side / patch_tile, columns = (f.width + patch_tile - 1) / patch_tile;
  const unsigned tiles = bins.unfinished->count * side * side;
  for (unsigned t = blockIdx.x; t < tiles; t += gridDim.x) {
    const unsigned bin = bins.unfinished->bins[t / (side * side)], of_bin = t % (side * side);
    const unsigned column = bin % bins.grid.columns * side + of_bin % side;
    const unsigned row = bin / bins.grid.columns * side + of_bin / side;
    if (column >= columns || row * patch_tile >= f.height) continue;
    const Patch patch(f, column, row);
    __syncthreads();
    dynamic_shared<Centres>()->fill(f, patch);
    draw_list<false>(circles, n, bins, bins.summary->uneven == 0, bin, patch, image, f);
  }
}

struct binned;  // draws what is shaded pixel by pixel, and the coverage
extern const Rung kernel_binned_rung;

struct list_ends {
  static constexpr Story story{.idea = "only the ends of the lists; a bit for each circle and pixel instead of tests",
                               .prediction = "4x binned where circles overlap hundredfold",
                               .guarantees = "exact; within eps of it if the call permits",
                               .limits = "below 2^32 circles; fixed block size; 4 bytes of scratch per circle and bin",
                               .source = "Levoy 1990; Ashkiani et al. 2016"};
  static constexpr bool reproducible_bits = true;
  template <class T, class Op>
  static Status run(const Args& a) {
    if (a.frame.shading == Shading::snow || a.frame.channels == Channels::rgbw)
      return run_rung<binned, kernel_binned_rung, T, Op>(a);
    if (a.n <= tile_threads) return run_rung<tile_ballot, kernel_tile_ballot_rung, T, Op>(a);
    return a.n <= few_circles ? draw_few(a) : each_window<T, Op>(a, true, draw);
  }

 private:
  template <bool columns>
  static auto kernel_for(const Frame& f) {
    return f.eps == 0 ? list_ends_kernel<columns, true> : list_ends_kernel<columns, false>;
  }
  static Status draw(const Args& a) {
    Shape tiles{
        .grid = {unsigned(ceil_div(a.frame.width, patch_tile)), unsigned(ceil_div(a.frame.height, patch_tile)), 1},
        .block = patch_threads,
        .shared_bytes = std::max(sizeof(PatchMemory), sizeof(BitsMemory)),
        .stream = a.stream};
    // Half of eps is for the colours underneath, the other half for rounding.
    const BinnedCircles bins(a, a.frame.eps == 0 ? 40 : -std::log2(a.frame.eps), true);
    if (auto s = bins.fill(a); !s) return s;
    // Its blocks start while bits are found: 1 us in rand100k and biglittle, half a one in rand10k.
    tiles.overlap = bins.bits != nullptr;
    const auto kernel = bins.bits ? kernel_for<true>(a.frame) : kernel_for<false>(a.frame);
    if (auto s = launch(kernel, tiles, a.circles, a.n, a.image, a.frame, bins); !s) return s;
    if (bins.bits) return {};  // every tile is drawn
    if (auto s = bins.complete(a); !s) return s;
    Shape persistent = tiles;
    persistent.grid = 2 * unsigned(device_limits().multiprocessors);
    return launch(unfinished_kernel, persistent, a.circles, a.n, a.image, a.frame, bins);
  }
};

}  // namespace upsweep::ladders::render
