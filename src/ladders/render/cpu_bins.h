// Lists of circles per tile, for the CPU rungs that draw tile by tile.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/workspace.h"
#include "ladders/render/blend.h"

namespace upsweep::ladders::render {

// Side of a square tile, in pixels. Each channel of a tile takes 4 KiB, so that its colours stay in L1.
inline constexpr unsigned tile_side = 32;

struct Tiles {
  explicit Tiles(const Frame& f);
  std::size_t count() const { return std::size_t{columns} * rows; }
  // Returns the pixels of tile t; tiles at the right and lower edges of the image may be smaller.
  Box box(std::size_t t) const {
    const int left = int(t % columns * tile_side), top = int(t / columns * tile_side);
    return {left, top, std::min(left + int(tile_side), width), std::min(top + int(tile_side), height)};
  }
  unsigned columns, rows;
  int width, height;
  // The centres of the first and last pixels of each column of tiles, and of each row.
  std::vector<float> left, right, top, bottom;
};

// The status of a dry call, which cannot size memory that depends on the circles.
inline constexpr Status depends_on_circles{Code::unsupported, 0,
                                           "the scratch memory of this rung depends on the circles"};

// Per tile, the list of its circles, in order. Lists grow part by part, from the last circles towards the first.
class CircleBins {
 public:
  // One tile's entries in a part: circle indices, ascending.
  struct Entries {
    const std::uint32_t* index;
    std::size_t count;
  };

  CircleBins(const Tiles& tiles, const float* circles, const Frame& frame, int threads, Scratch& scratch)
      : tiles_(tiles), circles_(circles), axes_(frame), threads_(threads), scratch_(scratch) {}

  // Adds circles [begin, end), which precede all circles added so far, to the tiles that are not `closed`. Returns
  // false if memory runs out.
  bool add(std::size_t begin, std::size_t end, const std::uint8_t* closed);  // [tiles]
  // Returns the number of parts; the part added last has the highest index.
  std::size_t parts() const { return offsets_.size(); }
  Entries entries(std::size_t part, std::size_t tile) const {
    const auto& offsets = offsets_[part];
    return {list_ + offsets[tile], offsets[tile + 1] - offsets[tile]};
  }

 private:
  bool reserve(std::size_t entries);
  const Tiles& tiles_;
  const float* circles_;
  const Axes axes_;
  const int threads_;
  Scratch& scratch_;
  std::vector<std::vector<std::size_t>> offsets_;  // per part: [tiles + 1], into list_
  std::uint32_t* list_ = nullptr;
  std::size_t capacity_ = 0, used_ = 0;
};

}  // namespace upsweep::ladders::render
