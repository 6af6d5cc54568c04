// render/list_ends: like bit_columns, but for any number of circles, with lists of only the last circles of each bin.
//
// Beyond 131,072 circles, one bit per circle and bin would take too much memory, most of it for zero bits. So this rung
// builds lists as binned does, or only the ends of the lists if the image's optical depth is large enough.
//
// 1. The entries of each list are counted, and space is reserved for its end: a few hundred entries, depending on the
//    image's mean optical depth (entries_to_write() in bin_lists.cuh). Blocks whose circles are in no list's end write
//    no entries.
// 2. A block draws its tile from the end of its bin's list, as in steps 2 and 3 of bit_columns.
// 3. A tile that cannot be certified is drawn from the first circle: by the same block if its bin's list is complete,
//    as in images with a small optical depth. Otherwise its bin is deferred; later launches complete the lists of the
//    deferred bins and draw their tiles.
//
// Traffic   every circle once, drawn circles again per bin; two bytes per circle; four per list entry; the image once
// Order     the input's: exact
// Source    Levoy 1990; Ashkiani et al. 2016, as in binned
#pragma once
#include "ladders/render/limits.h"
#include "ladders/render/list_tiles.cuh"
#include "ladders/render/windows.cuh"

namespace upsweep::ladders::render {

// `exact`: eps is 0.
template <bool exact>
__global__ void __launch_bounds__(list_threads, 1024 / list_threads)
    list_ends_kernel(const float* circles,  // [n][8]
                     std::size_t n,
                     float* image,  // [height][width][channels]
                     Frame f, BinLists lists) {
  const Tile tile = tile_outside_in();
  const unsigned bin = lists.grid.bin_at(tile.i, tile.j);
  dynamic_shared<Centres>()->fill(f, tile);
  const Summary total = *lists.summary;
  const BinList list = lists.lists[bin];
  if (draw_list_end<exact>(circles, lists, list, total, tile, image, f)) return;
  if (list.listed() && list.skipped == 0) return draw_list(circles, n, lists, total.uneven == 0, bin, tile, image, f);
  // defer() may overwrite lists[bin], which all threads have read: if the bin has a list, draw_list_end() had a
  // barrier; if not, defer() leaves lists[bin] unchanged.
  if (threadIdx.x == 0) lists.defer(bin, list);
}

// Draws the tiles of the deferred bins, each from the first circle.
static __global__ void __launch_bounds__(list_threads, 2) deferred_kernel(const float* circles,  // [n][8]
                                                                          std::size_t n,
                                                                          float* image,  // [height][width][channels]
                                                                          Frame f, BinLists lists) {
  const bool alpha_is_half = lists.summary->uneven == 0;
  for (unsigned d = blockIdx.x; d < lists.deferred->count; d += gridDim.x) {
    const unsigned bin = lists.deferred->bins[d];
    const Tile tile = tile_of_bin(f, bin);
    __syncthreads();
    dynamic_shared<Centres>()->fill(f, tile);
    draw_list(circles, n, lists, alpha_is_half, bin, tile, image, f);
  }
}

struct list_ends {
  static constexpr Needs needs = list_ends_needs;
  static constexpr Story story{.idea = "lists as in binned, but only their last circles, drawn as in bit_columns",
                               .prediction = "4x binned where circles overlap hundredfold",
                               .guarantees = "exact; within eps of it if the call permits",
                               .limits = "flat, no coverage; below 2^32 circles; fixed block size; scratch as binned",
                               .source = "Levoy 1990; Ashkiani et al. 2016"};
  static constexpr bool reproducible_bits = true, limits_scratch = true;
  static constexpr std::span thresholds{list_thresholds};
  template <class, class>
  static Status run(const Args& a) {
    if (!is_plain(a.frame)) return not_plain;
    const BinLists::Layout layout(a);
    return each_window(a, layout, [&](const Args& window, char* memory) {
      const BinLists lists(window.frame, layout, memory, target_depth_of(a.frame));
      return draw_by_lists(window, lists, a.frame.eps == 0 ? list_ends_kernel<true> : list_ends_kernel<false>,
                           deferred_kernel);
    });
  }
};

}  // namespace upsweep::ladders::render
