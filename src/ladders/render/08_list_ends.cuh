// render/list_ends: only the last circles of each bin's list are listed, fetched and drawn, for most bins.
//
// 1. Up to 131,072 circles: instead of lists, a bit for each circle and bin (bin_bits.cuh). More: the bins' lists are
//    counted, and, where the image is deep enough for that, only their ends are written (bins.cuh).
// 2. A block stages the last circles of its list, or of its column those that reach its tile, some hundred at once
//    (staged.cuh). Each warp goes backwards through them: 32 at once are tested against its patch of pixels, those that
//    cover all of them need no other test. It keeps those that reach it, with a bit for each pixel that is covered,
//    until all pixels are saturated (warp_end.cuh).
// 3. Those kept are drawn forwards over the smallest and the largest colour, by their bits alone. Where alpha is 1/2,
//    a product is exact, and a blend one fused multiply-add.
// 4. A warp that is not certain takes more. What is left then is drawn from the first circle on (patch_bits.cuh): at
//    once where the list is complete, as it is in images that are not deep; the other bins' lists are completed, and
//    these bins drawn again. Where eps allows it, several blocks share a list then (list_parts.cuh).
//
// Traffic   the circles once, and again those drawn, for each bin; two bytes per circle; four per entry; the image once
// Order     the input's: exact
// Source    Levoy 1990; Ashkiani et al. 2016, as in binned
#pragma once
#include "kernel/ptx.h"
#include "ladders/render/limits.h"
#include "ladders/render/list_parts.cuh"
#include "ladders/render/warp_end.cuh"
#include "ladders/render/windows.cuh"

namespace upsweep::ladders::render {

// Draws the tile from the end of its list or column, if that is possible; stage(staged) stages more of it. For all
// threads of the block.
template <unsigned own, bool fused, bool exact, class Stage>
__device__ bool draw_end(const BinnedCircles& bins, const Range& colours, PatchMemory<own>& memory, Tile tile,
                         float* image, const Frame& f, Stage&& stage) {
  const LanePixels<own> pixels(f, tile);
  WarpEnd<own, fused> warp(memory, pixels);
  bool drawn = false, given_up = false;
  // What is drawn over: both ends of the range; or, where eps permits, its middle, which is half as far from either.
  Range range = underneath(colours, f, fused || !exact);
  // One more if the range is twice the largest colour.
  const auto enough_for_eps =
      typename WarpEnd<own, fused>::Halvings(fused ? ceilf(bins.halvings) : bins.halvings) + (range.least < 0 ? 1 : 0);
  if (!exact) range.least = range.most = (range.least + range.most) / 2;
  auto enough = exact ? first_try<fused> : enough_for_eps;
  const auto draw = [&](bool over_background) {
    Colour low[own], high[own];
    for (unsigned k = 0; k < own; ++k) {
      low[k] = high[k] = flat_background(f);
      if (over_background || !pixels.inside[k]) continue;
      low[k] = {range.least, range.least, range.least, 1}, high[k] = {range.most, range.most, range.most, 1};
    }
    drawn = warp.draw(low, high, exact && !over_background);
    if (drawn) pixels.store(image, f, low);
  };
  Staged<own, exact> staged;
  do {
    stage(staged);
    while (!drawn && !given_up) {
      warp.go_back(staged.count, staged.last, enough);
      const bool whole_list = staged.whole && !warp.full;
      if (!warp.saturated && !whole_list) break;
      draw(!warp.saturated);
      enough += step;
      given_up = !drawn && enough > last_try;
    }
  } while (!__syncthreads_and(drawn || given_up || warp.full) && !staged.last);
  return __syncthreads_and(drawn);
}

// Calls draw(circles) for parts of a bin's column: for as much of it as a block reads at once, if there is room for its
// circles; otherwise for so much that there is in any case.
template <unsigned own, class Draw>
__device__ void each_part(const float* circles, const BinnedCircles& bins, unsigned bin, BitsMemory<own>& memory,
                          Draw&& draw) {
  using Words = Column<patch_threads<own>>;
  constexpr unsigned most = BitsMemory<own>::most_of_column;
  const unsigned words = bins.shares.column();
  for (unsigned first = 0, step = Words::most_each * patch_threads<own>; first < words;) {
    const unsigned part = min(step, words - first);
    const unsigned count =
        Words(bins.column(bin), first, part).each(memory.warp_totals, [&](unsigned place, unsigned circle) {
          if (place < most) memory.column[place] = circle;
        });
    __syncthreads();
    if (count > most) {
      step = most / warp_size;
    } else {
      draw(TileCircles<own>(circles, memory.column, count));
      first += part;
    }
  }
}

// Draws the tile from the first circle on: from its bin's list or column, or, if it has none, from all circles.
template <unsigned own, bool fused, bool columns>
__device__ void draw_list(const float* circles, std::size_t n, const BinnedCircles& bins, unsigned bin, Tile tile,
                          float* image, const Frame& f) {
  BitsMemory<own>& memory = *dynamic_shared<BitsMemory<own>>();
  WarpBits<own, fused> bits(memory, f);
  const auto draw = [&](const TileCircles<own>& part) { draw_all(part, memory, bits); };
  if constexpr (columns) {
    each_part(circles, bins, bin, memory, draw);
  } else {
    const BinList list = bins.lists[bin];
    draw(list.listed() ? TileCircles<own>(circles, bins.indices + list.begin, list.count)
                       : TileCircles<own>(circles, nullptr, n));
  }
  LanePixels<own>(f, tile).store(image, f, bits.colour);
}
template <unsigned own, bool columns>
__device__ void draw_list(const float* circles, std::size_t n, const BinnedCircles& bins, bool halves, unsigned bin,
                          Tile tile, float* image, const Frame& f) {
  if (halves)
    draw_list<own, true, columns>(circles, n, bins, bin, tile, image, f);
  else
    draw_list<own, false, columns>(circles, n, bins, bin, tile, image, f);
}

// Pixels of a lane. With four, what each warp does once is half as much, and a pixel takes four fifths of the
// instructions. But lists are of small circles, which leave more of a larger patch uncovered: ends of rand1M's lists
// took 2 % less, and whole lists, drawn by two pixels in a kernel of their own then, 4 to 6 % more.
template <bool columns>
inline constexpr unsigned own_pixels = columns ? 4 : 2;

// With eps, longer lists are left to several blocks: one would take longer than the launch that follows in any case.
inline constexpr unsigned long_list = emulated ? 500 : 16384;

// 0, n - 1, 1, n - 2 and so on.
__device__ __forceinline__ unsigned outside_in(unsigned k, unsigned n) { return k % 2 ? n - 1 - k / 2 : k / 2; }

// `columns`: of bits, instead of lists. `exact`: eps is 0.
template <bool columns, bool exact>
__global__ void __launch_bounds__(patch_threads<own_pixels<columns>>, 1024 / patch_threads<own_pixels<columns>>)
    list_ends_kernel(const float* circles,  // [n][8]
                     std::size_t n,
                     float* image,  // [height][width][channels]
                     Frame f, BinnedCircles bins) {
  constexpr unsigned own = own_pixels<columns>;
  // From the image's edges inwards: the fewer circles cover a tile, the farther it has to go back.
  const Tile tile(outside_in(blockIdx.x, gridDim.x), outside_in(blockIdx.y, gridDim.y));
  const unsigned bin = bins.grid.bin_at(tile.i, tile.j);
  PatchMemory<own>& memory = *dynamic_shared<PatchMemory<own>>();
  memory.centres.fill(f, tile);
  wait_for_previous();
  using End = Staged<own, exact>;
  const auto draw_deep = [&](const Summary& all, auto&& stage) {
    return all.uneven == 0 ? draw_end<own, true, exact>(bins, all.colours(), memory, tile, image, f, stage)
                           : draw_end<own, false, exact>(bins, all.colours(), memory, tile, image, f, stage);
  };
  // A complete list that is not twice as deep as needed is not worth going backwards first: a warp waits for its
  // slowest pixel, and those are drawn twice.
  const auto deep = [&](const Summary& all) { return all.halvings() > 2 * bins.halvings; };
  if constexpr (columns) {
    typename End::Words column(bins.column(bin), bins.shares.column());  // both loads wait for memory together
    const Summary all = *bins.summary;
    if (deep(all) && draw_deep(all, [&](End& staged) { staged.more_of_column(circles, column, memory); })) return;
    draw_list<own, true>(circles, n, bins, all.uneven == 0, bin, tile, image, f);
  } else {
    const Summary all = *bins.summary;
    const BinList list = bins.lists[bin];
    if (list.listed() && (list.skipped > 0 || deep(all)) && draw_deep(all, [&](End& staged) {
          staged.more_of_list(circles, list.count, list.size(), bins.indices + list.begin + list.size(), memory);
        }))
      return;
    if (list.listed() && list.skipped == 0 && (exact || list.count <= long_list))
      return draw_list<own, false>(circles, n, bins, all.uneven == 0, bin, tile, image, f);
    __syncthreads();  // all have read lists[bin]
    if (threadIdx.x == 0) bins.finish_later(bin, list);
  }
}

// The tiles of the unfinished bins, from their first circle on; where eps allows it, in parts.
__global__ void __launch_bounds__(patch_threads<2>, 2) unfinished_kernel(const float* circles,  // [n][8]
                                                                         std::size_t n,
                                                                         float* image,  // [height][width][channels]
                                                                         Frame f, BinnedCircles bins) {
  const unsigned columns = (f.width + patch_tile - 1) / patch_tile;  // a list's bin is a tile
  const unsigned parts = ListParts::count(bins, f.eps);
  const bool halves = bins.summary->uneven == 0;
  for (unsigned unit = blockIdx.x; unit < bins.unfinished->count * parts; unit += gridDim.x) {
    const unsigned bin = bins.unfinished->bins[unit / parts];
    const Tile tile(bin % columns, bin / columns);
    __syncthreads();
    dynamic_shared<Centres>()->fill(f, tile);
    if (parts == 1)
      draw_list<2, false>(circles, n, bins, halves, bin, tile, image, f);
    else if (halves)
      ListParts::draw<true>(circles, n, bins, unit / parts, unit % parts, parts, tile, image, f);
    else
      ListParts::draw<false>(circles, n, bins, unit / parts, unit % parts, parts, tile, image, f);
  }
}

struct list_ends {
  static constexpr Needs needs = list_ends_needs;
  static constexpr Story story{.idea = "only the ends of the lists; a bit for each circle and pixel instead of tests",
                               .prediction = "4x binned where circles overlap hundredfold",
                               .guarantees = "exact; within eps of it if the call permits",
                               .limits = "flat, no coverage; below 2^32 circles; fixed block size; scratch as binned",
                               .source = "Levoy 1990; Ashkiani et al. 2016"};
  static constexpr bool reproducible_bits = true, limits_scratch = true;
  template <class, class>
  static Status run(const Args& a) {
    return is_plain(a.frame) ? each_window(a, true, draw) : not_plain;
  }

 private:
  template <bool columns>
  static Status draw_tiles(const Args& a, const BinnedCircles& bins) {
    constexpr unsigned own = own_pixels<columns>;
    // Blocks start while bits are found: 1 us in rand100k and biglittle, half a one in rand10k.
    return launch(
        a.frame.eps == 0 ? list_ends_kernel<columns, true> : list_ends_kernel<columns, false>,
        {.grid = {unsigned(ceil_div(a.frame.width, patch_tile)), unsigned(ceil_div(a.frame.height, patch_tile)), 1},
         .block = patch_threads<own>,
         .shared_bytes = std::max(sizeof(PatchMemory<own>), sizeof(BitsMemory<own>)),
         .overlap = columns,
         .stream = a.stream},
        a.circles, a.n, a.image, a.frame, bins);
  }
  static Status draw(const Args& a) {
    // Half of eps is for the colours underneath, the other half for rounding.
    const BinnedCircles bins(a, a.frame.eps == 0 ? 40 : -std::log2(a.frame.eps), true);
    if (auto s = bins.fill(a); !s) return s;
    if (bins.bits) return draw_tiles<true>(a, bins);  // every tile
    if (auto s = draw_tiles<false>(a, bins); !s) return s;
    if (auto s = bins.complete(a); !s) return s;
    return launch(unfinished_kernel,
                  {.grid = 2 * unsigned(machine().multiprocessors),
                   .block = patch_threads<2>,
                   .shared_bytes = sizeof(BitsMemory<2>),
                   .stream = a.stream},
                  a.circles, a.n, a.image, a.frame, bins);
  }
};

}  // namespace upsweep::ladders::render
