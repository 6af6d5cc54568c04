// render/list_parts: several blocks share a long list that does not saturate its tile, because "over" is associative.
//
// 1. As in list_ends, but bins with long complete lists are deferred too; a tile's block draws only short ones itself.
// 2. If there are at least two blocks per deferred bin, several blocks share each list. Each draws one part of the list
//    into colours and transmittances; the last block to finish a tile blends the parts over the background, in order.
//
// Blending parts rounds differently from blending one circle after another, so this rung needs an eps, and eps limits
// the number of parts. Let u = 2^-24, the largest colour be 1 and no alpha be below a.
// - Blending a circle rounds four times, by at most 3 u in total, and each circle above scales an error by at most
//   (1 - a). These errors sum to 3 u / a, for the serial renderer and for the parts alike.
// - The transmittance of a part is a product of n numbers, each rounded twice: a relative error of 2 n u. The
//   transmittance itself is then at most (1 - a)^n, so this adds 2 u / a in total.
// - Blending a part over the others adds a rounding error of 2 u.
//
// Traffic   as list_ends, plus 16 bytes per pixel and part, written and read
// Order     the input's, except for the association of blends: within eps
// Source    Porter, Duff, Compositing Digital Images, 1984: "over" is associative
#pragma once
#include "kernel/ptx.h"
#include "ladders/render/limits.h"
#include "ladders/render/list_tiles.cuh"
#include "ladders/render/windows.cuh"

namespace upsweep::ladders::render {

class ListParts {
 public:
  // Returns the number of parts into which every deferred bin's list is split, one block per part. Uniform over the
  // grid.
  __device__ static unsigned count(const BinLists& lists, float eps) {
    const unsigned tiles = lists.deferred->count;
    if (eps == 0 || tiles == 0) return 1;
    const float allowed = (eps * 0x1p24f - 8 / lists.summary->least_alpha()) / 2;
    const std::size_t room = lists.free_scratch().bytes / sizeof(PartialPixels);
    const unsigned max_parts = unsigned(min(std::size_t{gridDim.x}, room)) / tiles;
    return allowed < 2 || max_parts < 2 ? 1 : min(max_parts, unsigned(min(allowed, 1e6f)));
  }

  // Block-wide: draws part `part` of `parts` of the list of deferred bin `number`. The tile's centres are already in
  // shared memory.
  template <bool fused>
  __device__ static void draw(const float* circles, std::size_t n, const BinLists& lists, unsigned number,
                              unsigned part, unsigned parts, Tile tile, float* image, const Frame& f) {
    __shared__ bool last;
    WholeListMemory& memory = *dynamic_shared<WholeListMemory>();
    WarpBits<list_pixels, fused, true> bits(memory, f);
    for (Colour& c : bits.colour) c = {0, 0, 0, 1};
    const BinList list = lists.lists[lists.deferred->bins[number]];
    draw_all(list.listed() ? TileCircles<list_pixels>(circles, lists.indices + list.begin, list.count, part, parts)
                           : TileCircles<list_pixels>(circles, nullptr, n, part, parts),
             memory, bits);
    PartialPixels* const of_tile =
        static_cast<PartialPixels*>(lists.free_scratch().memory) + std::size_t{number} * parts;
    for (unsigned k = 0; k < list_pixels; ++k) of_tile[part].of[k][threadIdx.x] = bits.colour[k];
    __syncthreads();
    if (threadIdx.x == 0) last = take_ticket(&lists.deferred->done[number]) == parts - 1;
    __syncthreads();
    if (!last) return;
    Colour colour[list_pixels];
    for (unsigned k = 0; k < list_pixels; ++k) {
      colour[k] = flat_background(f);
      for (unsigned p = 0; p < parts; ++p) {
        const Colour c = of_tile[p].of[k][threadIdx.x];
        blend(colour[k], {c.red, c.green, c.blue, c.w, 0});
      }
    }
    LanePixels<list_pixels>(f, tile).store(image, f, colour);
  }

 private:
  // One part's colours and transmittances for the tile's pixels.
  struct PartialPixels {
    alignas(16) Colour of[list_pixels][list_threads];
  };
};

static __global__ void __launch_bounds__(list_threads, 1024 / list_threads)
    list_parts_kernel(const float* circles,  // [n][8]
                      std::size_t n,
                      float* image,  // [height][width][channels]
                      Frame f, BinLists lists) {
  const Tile tile = tile_outside_in();
  const unsigned bin = lists.grid.bin_at(tile.i, tile.j);
  dynamic_shared<Centres>()->fill(f, tile);
  const Summary total = *lists.summary;
  const BinList list = lists.lists[bin];
  if (draw_list_end<false>(circles, lists, list, total, tile, image, f)) return;
  if (list.listed() && list.skipped == 0 && list.count <= lists.undivided)
    return draw_list(circles, n, lists, total.uneven == 0, bin, tile, image, f);
  __syncthreads();  // all threads have read lists[bin]
  if (threadIdx.x == 0) lists.defer(bin, list);
}

// Draws the tiles of the deferred bins, each from the first circle, in parts if eps allows it.
static __global__ void __launch_bounds__(list_threads, 2)
    deferred_parts_kernel(const float* circles,  // [n][8]
                          std::size_t n,
                          float* image,  // [height][width][channels]
                          Frame f, BinLists lists) {
  const unsigned parts = ListParts::count(lists, f.eps);
  const bool alpha_is_half = lists.summary->uneven == 0;
  for (unsigned unit = blockIdx.x; unit < lists.deferred->count * parts; unit += gridDim.x) {
    const unsigned bin = lists.deferred->bins[unit / parts];
    const Tile tile = tile_of_bin(f, bin);
    __syncthreads();
    dynamic_shared<Centres>()->fill(f, tile);
    if (parts == 1)
      draw_list(circles, n, lists, alpha_is_half, bin, tile, image, f);
    else if (alpha_is_half)
      ListParts::draw<true>(circles, n, lists, unit / parts, unit % parts, parts, tile, image, f);
    else
      ListParts::draw<false>(circles, n, lists, unit / parts, unit % parts, parts, tile, image, f);
  }
}

struct list_parts {
  static constexpr Needs needs = list_ends_needs;
  static constexpr Story story{.idea = "long lists in parts, drawn by several blocks and blended over each other",
                               .prediction = "biglittle with 200,000 circles, eps 2^-16, on an H200: 0.8 ms, not 3.7",
                               .guarantees = "within eps",
                               .limits = "as list_ends; only with an eps",
                               .source = "Porter, Duff 1984"};
  static constexpr bool limits_scratch = true;
  static constexpr std::span thresholds{list_thresholds};
  template <class, class>
  static Status run(const Args& a) {
    if (!is_plain(a.frame)) return not_plain;
    if (a.frame.eps == 0) return {Code::unsupported, 0, "list_parts rounds differently and needs an eps"};
    const BinLists::Layout layout(a);
    return each_window(a, layout, [&](const Args& window, char* memory) {
      const BinLists lists(window.frame, layout, memory, target_depth_of(a.frame));
      return draw_by_lists(window, lists, list_parts_kernel, deferred_parts_kernel);
    });
  }
};

}  // namespace upsweep::ladders::render
