// render/list_ends: only the last circles of each bin's list are listed, fetched and drawn, for most bins.
//
// 1. Few circles: one launch; every block finds its own. Otherwise the bins' lists are counted, and, where the image
//    is deep enough for that, only their ends are written (bins.cuh).
// 2. A block stages the last 512 entries of its bin's list. Each warp goes backwards through them: 32 at once are
//    tested against its 8 x 8 pixels, those that cover all of them need no other test. It keeps those that reach it,
//    with a bit for each pixel that is covered, until all pixels are saturated.
// 3. Those kept are drawn forwards over the smallest and the largest colour, by their bits alone. Where alpha is 1/2,
//    a product is exact, and a blend one fused multiply-add.
// 4. A warp that is not certain takes more. What is left then is drawn from the first circle on: at once where the list
//    is complete; the other bins' lists are completed, and these bins drawn again.
//
// Traffic   the circles once and their last ones twice; four bytes per entry; the image once.
// Order     the input's: exact.
// Source    Levoy 1990; Ashkiani et al. 2016, as in binned.
#pragma once
#include "kernel/run_rung.h"
#include "ladders/render/patch.cuh"

namespace upsweep::ladders::render {

// Halvings at which a warp tries to be certain: what the range of colours underneath takes, 24 of f32, and 12 in which
// the last place settles for 99 of 100 warps. The others try again, `step` deeper each time.
template <bool fused>
inline constexpr float first_try = fused ? 36 : 40;
inline constexpr float step = 8, last_try = 80;
// A scene of so few circles is drawn in one launch. On the emulator, checks come to the other way with fewer.
inline constexpr std::size_t few_circles = emulated ? 300 : 2048;

// A warp's way backwards through the end of its list. `fused`: alpha is 1/2 everywhere.
template <bool fused>
class WarpEnd {
 public:
  bool saturated = false, full = false;

  __device__ WarpEnd(PatchMemory& memory, const Patch& patch)
      : memory_(memory), patch_(patch), warp_(threadIdx.x / warp_size), lane_(threadIdx.x % warp_size) {
    for (unsigned k = 0; k < 2; ++k) halvings_[k] = patch.inside[k] ? 0.f : 1e9f;
  }

  // Goes on through the staged entries, of which there are `count`, until all pixels are `enough` halvings deep. The
  // entries that reach the warp are kept, and tested 32 at once; fewer only if no more are to be staged.
  __device__ void go_back(unsigned count, bool last, float enough) {
    saturated = deep(enough);
    while (!saturated && !full) {
      for (; found_ < kept_ + warp_size && next_ < count; next_ += warp_size) {
        const unsigned at = next_ + lane_;
        const auto reach = patch_.reached_by(memory_.staged[at < count ? at : 0], at < count);
        if (reach.some >> lane_ & 1)
          kept()[found_ + unsigned(__popc(reach.some & ((1u << lane_) - 1)))] =
              static_cast<unsigned short>(at * unsigned(sizeof(Disc)) | (reach.all >> lane_ & 1));
        found_ += unsigned(__popc(reach.some));
      }
      const unsigned size = min(found_ - kept_, warp_size);
      if (size == 0 || (size < warp_size && !last)) return;
      test(size);
      full = kept_ == patch_kept;
      saturated = deep(enough);
    }
    if (fused && saturated && kept_ > 0) trim(enough);
  }

  // Draws the circles kept over `low`; as long as `two`, also over `high`. Returns whether both end the same.
  __device__ bool draw(Colour (&low)[2], Colour (&high)[2], bool two) {
    unsigned end = (used_ + 7) / 8 * 8;
    two = two && !same(low, high);
    for (; two && end > 0; end -= 8) {
      draw_8<true>(low, high, end - 8);
      two = !same(low, high);
    }
    for (; end > 0; end -= 8) draw_8<false>(low, high, end - 8);
    return !two;
  }

 private:
  // An entry kept: the offset of its disc in `staged`, and in the lowest bit whether it covers all of the warp's
  // pixels.
  __device__ unsigned short* kept() const { return memory_.kept[warp_]; }
  __device__ const Disc& disc(unsigned entry) const {
    return *reinterpret_cast<const Disc*>(reinterpret_cast<const char*>(memory_.staged) + (entry & ~1u));
  }
  __device__ bool deep(float enough) const { return __all_sync(all_lanes, min(halvings_[0], halvings_[1]) >= enough); }

  // Finds which pixels the next `size` entries cover.
  __device__ void test(unsigned size) {
    __syncwarp();
    if (lane_ >= size) kept()[kept_ + lane_] = 0;
    const unsigned entry = lane_ < size ? kept()[kept_ + lane_] : 1;
    unsigned part = __ballot_sync(all_lanes, !(entry & 1)), bits[2];
    for (unsigned& word : bits) word = ~part & (size < warp_size ? (1u << size) - 1 : all_lanes);
    for (; part; part &= part - 1) {
      const unsigned e = unsigned(__ffs(int(part))) - 1;
      const auto covered = patch_.covered_by(disc(__shfl_sync(all_lanes, entry, int(e))));
      for (unsigned k = 0; k < 2; ++k)
        if (covered.of[k]) bits[k] |= 1u << e;
    }
    for (unsigned k = 0; k < 2; ++k) memory_.covered[kept_ / warp_size][k][threadIdx.x] = bits[k];
    if constexpr (fused) {
      for (unsigned k = 0; k < 2; ++k) halvings_[k] += float(__popc(bits[k]));
    } else {
      const float own = lane_ < size ? -log2f(1 - disc(entry).alpha) : 0;
      for (unsigned e = 0; e < size; ++e) {
        const float of_circle = __shfl_sync(all_lanes, own, int(e));
        for (unsigned k = 0; k < 2; ++k)
          if (bits[k] >> e & 1) halvings_[k] += of_circle;
      }
    }
    used_ = kept_ += size;
    __syncwarp();
  }
  // Leaves out those of the last 32 tested, 8 at once, that no pixel needs.
  __device__ void trim(float enough) {
    const unsigned word = (kept_ - 1) / warp_size;
    used_ = kept_;
    for (unsigned some = 8; some < warp_size; some += 8) {
      bool enough_without = true;
      for (unsigned k = 0; k < 2; ++k) {
        const unsigned rest = memory_.covered[word][k][threadIdx.x] >> some;
        enough_without = enough_without && halvings_[k] - float(__popc(rest)) >= enough;
      }
      if (__all_sync(all_lanes, enough_without)) {
        used_ = min(used_, word * warp_size + some);
        return;
      }
    }
  }

  __device__ bool same(const Colour (&low)[2], const Colour (&high)[2]) const {
    bool all = true;
    for (unsigned k = 0; k < 2; ++k)
      all = all && (!patch_.inside[k] ||
                    (low[k].red == high[k].red && low[k].green == high[k].green && low[k].blue == high[k].blue));
    return __all_sync(all_lanes, all);
  }
  __device__ static __forceinline__ void over(Colour& c, const Disc& d) {
    if constexpr (fused)
      c.red = fmaf(0.5f, c.red, d.red), c.green = fmaf(0.5f, c.green, d.green), c.blue = fmaf(0.5f, c.blue, d.blue);
    else
      blend(c, {d.red, d.green, d.blue, d.through, d.alpha});
  }
  template <bool two>
  __device__ __forceinline__ void draw_8(Colour (&low)[2], Colour (&high)[2], unsigned first) {
    struct alignas(16) Eight {
      unsigned short entry[8];
    };
    const Eight eight = *reinterpret_cast<const Eight*>(kept() + first);
    unsigned bits[2];
    for (unsigned k = 0; k < 2; ++k) bits[k] = memory_.covered[first / warp_size][k][threadIdx.x] >> first % warp_size;
#pragma unroll
    for (int e = 7; e >= 0; --e) {
      const Disc c = disc(eight.entry[e]);
#pragma unroll
      for (unsigned k = 0; k < 2; ++k) {
        if (bits[k] >> e & 1) over(low[k], c);
        if (two && (bits[k] >> e & 1)) over(high[k], c);
      }
    }
  }

  PatchMemory& memory_;
  const Patch& patch_;
  const unsigned warp_, lane_;
  unsigned next_ = 0, found_ = 0, kept_ = 0, used_ = 0;  // entries: gone through, that reach, tested, to be drawn
  float halvings_[2];
};

// Draws the tile from the end of its list, if that is possible. For all threads of the block.
template <bool fused>
__device__ bool draw_end(const float* circles, const BinnedCircles& bins, const BinList& list, PatchMemory& memory,
                         const Patch& patch, float* image, const Frame& f) {
  const unsigned* const end = bins.indices + list.begin + list.count;
  const unsigned ready = min(list.count - list.skipped, patch_staged);
  const bool exact = f.eps == 0;
  WarpEnd<fused> warp(memory, patch);
  bool drawn = false, given_up = false;
  float enough = exact ? first_try<fused> : bins.halvings;
  const auto draw = [&](bool over_background) {
    Colour low[2], high[2];
    const Range range = underneath(bins.summary->colours, f, fused);
    const bool two = exact && !over_background;
    for (unsigned k = 0; k < 2; ++k) {
      low[k] = high[k] = background(f, patch.j[k]);
      if (two) low[k] = {range.least, range.least, range.least, 1}, high[k] = {range.most, range.most, range.most, 1};
    }
    drawn = warp.draw(low, high, two);
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

__global__ void __launch_bounds__(patch_threads, 2) list_ends_kernel(const float* circles,  // [n][8]
                                                                     float* image,          // [height][width][channels]
                                                                     Frame f, BinnedCircles bins) {
  PatchMemory& memory = *dynamic_shared<PatchMemory>();
  const Patch patch(f, blockIdx.x);
  const unsigned bin = patch.tile_j / bins.grid.side * bins.grid.columns + patch.tile_i / bins.grid.side;
  const BinList list = bins.lists[bin];
  const bool deep = bins.summary->halvings > bins.halvings || list.count <= warp_size;
  if (!(list.listed() && deep &&
        (bins.summary->uneven == 0 ? draw_end<true>(circles, bins, list, memory, patch, image, f)
                                   : draw_end<false>(circles, bins, list, memory, patch, image, f))))
    bins.finish_later(bin);
}

// The tiles of the unfinished bins, from their first circle on.
__global__ void __launch_bounds__(patch_threads, 2) unfinished_kernel(const float* circles,  // [n][8]
                                                                      std::size_t n,
                                                                      float* image,  // [height][width][channels]
                                                                      Frame f, BinnedCircles bins) {
  PatchMemory& memory = *dynamic_shared<PatchMemory>();
  const unsigned side = bins.grid.side / patch_tile, columns = (f.width + patch_tile - 1) / patch_tile;
  const unsigned tiles = bins.unfinished->count * side * side;
  for (unsigned t = blockIdx.x; t < tiles; t += gridDim.x) {
    const unsigned bin = bins.unfinished->bins[t / (side * side)], of_bin = t % (side * side);
    const unsigned column = bin % bins.grid.columns * side + of_bin % side;
    const unsigned row = bin / bins.grid.columns * side + of_bin / side;
    if (column >= columns || row * patch_tile >= f.height) continue;
    const BinList list = bins.lists[bin];
    __syncthreads();
    draw_all(
        list.listed() ? TileCircles(circles, bins.indices + list.begin, list.count) : TileCircles(circles, nullptr, n),
        memory, Patch(f, row * columns + column), image, f);
  }
}

// All circles, by every tile.
__global__ void __launch_bounds__(patch_threads, 2) few_kernel(const float* circles,  // [n][8]
                                                               std::size_t n,
                                                               float* image,  // [height][width][channels]
                                                               Frame f) {
  draw_all(TileCircles(circles, nullptr, n), *dynamic_shared<PatchMemory>(), Patch(f, blockIdx.x), image, f);
}

struct tile_ballot;  // draws a list that its block tests at once
extern const Rung kernel_tile_ballot_rung;
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
    const Shape tiles{.grid = unsigned(ceil_div(a.frame.width, patch_tile) * ceil_div(a.frame.height, patch_tile)),
                      .block = patch_threads,
                      .shared_bytes = sizeof(PatchMemory),
                      .stream = a.stream};
    if (a.n <= few_circles) return launch(few_kernel, tiles, a.circles, a.n, a.image, a.frame);
    const BinnedCircles bins(a, a.frame.eps == 0 ? 40 : 1 - std::log2(a.frame.eps));
    if (auto s = bins.fill(a); !s) return s;
    if (auto s = launch(list_ends_kernel, tiles, a.circles, a.image, a.frame, bins); !s) return s;
    if (auto s = bins.complete(a); !s) return s;
    Shape persistent = tiles;
    persistent.grid = 2 * unsigned(device_limits().multiprocessors);
    return launch(unfinished_kernel, persistent, a.circles, a.n, a.image, a.frame, bins);
  }
};

}  // namespace upsweep::ladders::render
