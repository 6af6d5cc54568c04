// Circles by tile, for the CPU rungs that draw tile after tile.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/workspace.h"
#include "ladders/render/blend.h"

namespace upsweep::ladders::render {

// Square tiles of the image: 4 KiB for one float of every pixel, so that a tile and its colours stay in an L1 cache.
inline constexpr unsigned tile_side = 32;

struct Tiles {
  explicit Tiles(const Frame& f);
  std::size_t count() const { return std::size_t{columns} * rows; }
  // Pixels of tile t; at the right and lower edges of the image a tile may be smaller.
  Box box(std::size_t t) const {
    const int left = int(t % columns * tile_side), top = int(t / columns * tile_side);
    return {left, top, std::min(left + int(tile_side), width), std::min(top + int(tile_side), height)};
  }
  unsigned columns, rows;
  int width, height;
  // The centres of the first and last pixels of each column of tiles, and of each row.
  std::vector<float> left, right, top, bottom;
};

// The circles of each tile, in order: a list that grows towards the front of the scene, a part at a time.
class Bins {
 public:
  // A part's entries of one tile: indices of circles, ascending.
  struct Entries {
    const std::uint32_t* index;
    std::size_t count;
  };

  Bins(const Tiles& tiles, const float* circles, const Frame& frame, int threads, Workspace& workspace)
      : tiles_(tiles), circles_(circles), axes_(frame), threads_(threads), workspace_(workspace) {}

  // Adds circles [begin, end), which precede all added before, to the tiles that are not `closed`. Returns false if
  // memory ran out.
  bool add(std::size_t begin, std::size_t end, const std::uint8_t* closed);  // [tiles]
  // The latest part is the last one.
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
  Workspace& workspace_;
  std::vector<std::vector<std::size_t>> offsets_;  // per part: [tiles + 1], into list_
  std::uint32_t* list_ = nullptr;
  std::size_t capacity_ = 0, used_ = 0;
  unsigned area_ = 1;  // of the workspace, that list_ is in
};

}  // namespace upsweep::ladders::render
