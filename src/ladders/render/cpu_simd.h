// The SIMD loops over one tile's circles.
#pragma once
#include "ladders/render/cpu_bins.h"

namespace upsweep::ladders::render {

inline constexpr unsigned tile_pixels = tile_side * tile_side;

// The state of a tile, whose circles are processed from the last one backwards.
struct TileState {
  alignas(64) float through[tile_pixels];  // transmittance of the circles processed so far
  float threshold[tile_side];              // a row is saturated once no `through` exceeds this
  std::uint32_t seen[tile_side];           // circles processed per row, from the end of the tile's list
  std::uint32_t listed;                    // circles in the list
  std::uint32_t open;                      // bit j: row j is not saturated
  std::uint32_t finished;                  // bit j: row j of the image is written
};

// A tile and its pixel centres; past the image's edges, the last centre repeats.
struct TileView {
  TileView(const Frame& f, const float* circles, const Box& box);
  int columns() const { return box.right - box.left; }
  std::uint32_t rows() const { return ~0u >> (int(tile_side) - (box.bottom - box.top)); }  // one bit per row
  const Frame& frame;
  const Axes axes;
  const float* circles;  // [n][8]
  Box box;
  alignas(64) float px[tile_side];
  float py[tile_side];
};

// Part of a tile's list; `after` further circles follow it.
struct Listed {
  const std::uint32_t* index;  // [count]
  std::size_t count, after;
};

// Loops compiled once per instruction set; simd_loops() returns those for this processor.
struct SimdLoops {
  // Updates the state by the list's circles, from the last to the first, in rows that are open and have not processed
  // the circle yet.
  void (*saturate)(const TileView& tile, const Listed& list, TileState& state);
  // Draws the circles in order over one set of colours, or over two in parallel; only in `rows`, and in each row only
  // the circles that the row has processed (state.seen). `halves`: a blend may be a fused multiply-add.
  void (*draw)(const TileView& tile, const Listed& list, const TileState& state, std::uint32_t rows, int sides,
               bool halves,
               float* colours);  // [sides][3][tile_pixels]
  // Adds the alphas of the circles that cover a pixel to `sums`, in order.
  void (*cover)(const TileView& tile, const Listed& list, float* sums);  // [tile_pixels]
  // Writes `rows` of the tile to the image.
  void (*write)(const TileView& tile, std::uint32_t rows,
                const float* colours,  // [3][tile_pixels]
                const float* sums,     // [tile_pixels]
                float* image);
};
SimdLoops simd_loops();

}  // namespace upsweep::ladders::render
