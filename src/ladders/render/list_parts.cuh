// A long list that does not saturate its tile, drawn by several blocks: "over" is associative. Each draws a part of the
// list, as colours and as what they let through; the last block to finish a tile blends the parts, the rearmost first.
//
// That rounds otherwise than one circle after another, so it is for an eps, and one that allows for it. With u = 2^-24,
// the largest colour 1 and no alpha below a: blending a circle rounds four times, by 3 u together at most, and every
// circle above keeps (1 - a) of an error; their sum is 3 u / a, for the serial renderer and for the parts alike. What a
// part lets through is a product of n numbers that are each rounded twice, 2 n u of itself; since it has fallen to
// (1 - a)^n by then, that adds 2 u / a in all. Blending a part rounds by 2 u.
#pragma once
#include "kernel/ptx.h"
#include "ladders/render/bins.cuh"
#include "ladders/render/patch_bits.cuh"

namespace upsweep::ladders::render {

class ListParts {
 public:
  // Of how many blocks' work the list of each of the unfinished bins is. For all threads of a block; all get the same.
  __device__ static unsigned count(const BinnedCircles& bins, float eps) {
    const unsigned tiles = bins.unfinished->count;
    if (eps == 0 || tiles == 0) return 1;
    const float allowed = (eps * 0x1p24f - 8 / bins.summary->least_alpha()) / 2;
    const std::size_t room = bins.spare().bytes / sizeof(Pixels);
    const unsigned most = unsigned(min(std::size_t{gridDim.x}, room)) / tiles;
    return allowed < 2 || most < 2 ? 1 : min(most, unsigned(min(allowed, 1e6f)));
  }

  // Part `part` of `parts` of the list of unfinished bin `number`. For all threads of the block, which has the tile's
  // centres in memory.
  template <bool fused>
  __device__ static void draw(const float* circles, std::size_t n, const BinnedCircles& bins, unsigned number,
                              unsigned part, unsigned parts, Tile tile, float* image, const Frame& f) {
    __shared__ bool last;
    BitsMemory<2>& memory = *dynamic_shared<BitsMemory<2>>();
    WarpBits<2, fused, true> bits(memory, f);
    for (Colour& c : bits.colour) c = {0, 0, 0, 1};
    const BinList list = bins.lists[bins.unfinished->bins[number]];
    draw_all(list.listed() ? TileCircles<2>(circles, bins.indices + list.begin, list.count, part, parts)
                           : TileCircles<2>(circles, nullptr, n, part, parts),
             memory, bits);
    Pixels* const of_tile = static_cast<Pixels*>(bins.spare().memory) + std::size_t{number} * parts;
    for (unsigned k = 0; k < 2; ++k) of_tile[part].of[k][threadIdx.x] = bits.colour[k];
    __syncthreads();
    if (threadIdx.x == 0) last = take_ticket(&bins.unfinished->done[number]) == parts - 1;
    __syncthreads();
    if (!last) return;
    Colour colour[2];
    for (unsigned k = 0; k < 2; ++k) {
      colour[k] = flat_background(f);
      for (unsigned p = 0; p < parts; ++p) {
        const Colour c = of_tile[p].of[k][threadIdx.x];
        blend(colour[k], {c.red, c.green, c.blue, c.w, 0});
      }
    }
    LanePixels<2>(f, tile).store(image, f, colour);
  }

 private:
  // A tile's pixels, as one part of the list has them: what it paints, and what it lets through.
  struct Pixels {
    alignas(16) Colour of[2][patch_threads<2>];
  };
};

}  // namespace upsweep::ladders::render
