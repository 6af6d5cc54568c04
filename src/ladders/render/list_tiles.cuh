// Draws tiles from lists of circles: from the end of the list, or from its first circle.
#pragma once
#include "ladders/render/fill_lists.cuh"
#include "ladders/render/patch_bits.cuh"
#include "ladders/render/warp_end.cuh"

namespace upsweep::ladders::render {

// Pixels per lane. Lists hold small circles, which leave more of a larger patch uncovered: with four pixels per lane,
// the ends of rand1M's lists took 2 % less time, but whole lists 4 to 6 % more.
inline constexpr unsigned list_pixels = 2, list_threads = patch_threads<list_pixels>;
using ListMemory = PatchMemory<list_pixels>;
using WholeListMemory = BitsMemory<list_pixels>;

// Block-wide: stages the next circles from the end of a list whose entries are in `indices`.
__device__ inline void more_of_list(Staged& staged, const float* circles, const unsigned* indices, const BinList& list,
                                    ListMemory& memory) {
  const unsigned* const end = indices + list.begin + list.size();
  const unsigned at = staged.count + threadIdx.x, ready = min(list.size(), ListMemory::max_staged);
  staged.count = min(ready, staged.count + list_threads);
  if (at < staged.count) keep(memory.staged[at], load_circle(circles, *(end - 1 - at)));
  staged.last = staged.count == ready, staged.whole = staged.count == list.count;
  __syncthreads();
}

// Block-wide: draws the tile from the end of its list if that is possible and pays off; returns whether it has done so.
template <bool exact>
__device__ __forceinline__ bool draw_list_end(const float* circles, const BinLists& lists, const BinList& list,
                                              const Summary& total, Tile tile, float* image, const Frame& f) {
  ListMemory& memory = *dynamic_shared<ListMemory>();
  return list.listed() && (list.skipped > 0 || pays_to_go_back(total, lists.target_depth)) &&
         draw_end<list_pixels, exact>(lists.target_depth, total, memory, tile, image, f, [&](Staged& staged) {
           more_of_list(staged, circles, lists.indices, list, memory);
         });
}

// Draws the tile from the first circle of its bin's list, or of all circles if the bin has no list.
template <bool fused>
__device__ void draw_list(const float* circles, std::size_t n, const BinLists& lists, unsigned bin, Tile tile,
                          float* image, const Frame& f) {
  WholeListMemory& memory = *dynamic_shared<WholeListMemory>();
  WarpBits<list_pixels, fused> bits(memory, f);
  const BinList list = lists.lists[bin];
  draw_all(list.listed() ? TileCircles<list_pixels>(circles, lists.indices + list.begin, list.count)
                         : TileCircles<list_pixels>(circles, nullptr, n),
           memory, bits);
  LanePixels<list_pixels>(f, tile).store(image, f, bits.colour);
}
__device__ inline void draw_list(const float* circles, std::size_t n, const BinLists& lists, bool alpha_is_half,
                                 unsigned bin, Tile tile, float* image, const Frame& f) {
  if (alpha_is_half)
    draw_list<true>(circles, n, lists, bin, tile, image, f);
  else
    draw_list<false>(circles, n, lists, bin, tile, image, f);
}

// Returns the tile of a bin; both are 32 x 32 pixels.
__device__ inline Tile tile_of_bin(const Frame& f, unsigned bin) {
  const unsigned columns = (f.width + patch_tile - 1) / patch_tile;
  return Tile(bin % columns, bin / columns);
}

using ListKernel = void (*)(const float* circles,  // [n][8]
                            std::size_t n,
                            float* image,  // [height][width][channels]
                            Frame f, BinLists lists);

// Fills the lists or their ends and launches `ends`, one block per tile. Then completes the lists of the bins that
// those blocks deferred and launches `deferred`, by default with two blocks per multiprocessor, which are all resident.
inline Status draw_by_lists(const Args& a, const BinLists& lists, ListKernel ends, ListKernel deferred) {
  if (auto s = fill(lists, a); !s) return s;
  if (auto s = launch(ends,
                      {.grid = patch_tile_grid(a.frame),
                       .block = list_threads,
                       .shared_bytes = std::max(sizeof(ListMemory), sizeof(WholeListMemory)),
                       .stream = a.stream},
                      a.circles, a.n, a.image, a.frame, lists);
      !s)
    return s;
  if (auto s = complete_deferred(lists, a); !s) return s;
  return launch(deferred,
                {.grid = a.tuning.grid_or(2 * std::size_t(machine().multiprocessors)),
                 .block = list_threads,
                 .shared_bytes = sizeof(WholeListMemory),
                 .stream = a.stream},
                a.circles, a.n, a.image, a.frame, lists);
}

}  // namespace upsweep::ladders::render
