#include "ladders/render/cpu_bins.h"

#include <cstring>

#include "cpu/parallel.h"

namespace upsweep::ladders::render {

Tiles::Tiles(const Frame& f)
    : columns((f.width + tile_side - 1) / tile_side),
      rows((f.height + tile_side - 1) / tile_side),
      width(int(f.width)),
      height(int(f.height)) {
  for (unsigned c = 0; c < columns; ++c) {
    left.push_back(centre_x(f, c * tile_side));
    right.push_back(centre_x(f, std::min((c + 1) * tile_side, f.width) - 1));
  }
  for (unsigned r = 0; r < rows; ++r) {
    top.push_back(centre_y(f, r * tile_side));
    bottom.push_back(centre_y(f, std::min((r + 1) * tile_side, f.height) - 1));
  }
}

namespace {

// Calls f(tile) for every open tile in which the circle covers a pixel, and possibly for other open tiles.
template <class F>
void each_tile(const Tiles& tiles, const Circle& c, const Box& box, const std::uint8_t* closed, F&& f) {
  const unsigned first = unsigned(box.left) / tile_side, last = unsigned(box.right - 1) / tile_side;
  const float radius2 = square(c.radius);
  for (unsigned r = unsigned(box.top) / tile_side; r <= unsigned(box.bottom - 1) / tile_side; ++r)
    for (unsigned k = first; k <= last; ++k) {
      const std::size_t tile = std::size_t{r} * tiles.columns + k;
      if (closed[tile]) continue;
      if (first < last && !reaches(c.x, c.y, radius2, tiles.left[k], tiles.top[r], tiles.right[k], tiles.bottom[r]))
        continue;
      f(tile);
    }
}

}  // namespace

// Grows the list to at least twice its capacity, so that all outgrown arrays together are no larger than the new one.
// Returns false if memory runs out.
bool CircleBins::reserve(std::size_t entries) {
  if (entries <= capacity_) return true;
  // At least 16 MiB; the unused part is never touched.
  const std::size_t larger = std::max({entries, 2 * capacity_, std::size_t{1} << 22});
  auto* const grown = scratch_.take<std::uint32_t>(larger);
  if (!grown) return false;
  if (used_) std::memcpy(grown, list_, used_ * sizeof *list_);
  list_ = grown;
  capacity_ = larger;
  return true;
}

bool CircleBins::add(std::size_t begin, std::size_t end, const std::uint8_t* closed) {
  const std::size_t count = tiles_.count(), n = end - begin;
  // A share is a range of consecutive circles that one core counts and later scatters, in order. A share has at least
  // 1024 circles, because it needs a counter for every tile.
  constexpr std::size_t least = 1024;
  const auto shares = std::size_t(std::clamp<std::size_t>(n / least, 1, std::size_t(4 * threads_)));
  const auto share = [&](std::size_t s) { return begin + n * s / shares; };
  std::vector<std::vector<std::uint32_t>> counters(shares);
  parallel(int(shares), threads_, [&](int s) {
    auto& counted = counters[std::size_t(s)];
    counted.resize(count);
    for (std::size_t k = share(std::size_t(s)); k < share(std::size_t(s) + 1); ++k) {
      const Circle c = circle_at(circles_, k);
      const Box box = axes_.bounds(c.x, c.y, c.radius);
      if (!box.empty()) each_tile(tiles_, c, box, closed, [&](std::size_t tile) { ++counted[tile]; });
    }
  });

  // Exclusive scan over tiles, and within a tile over shares.
  std::vector<std::size_t> offsets(count + 1);
  std::size_t total = used_;
  for (std::size_t tile = 0; tile < count; ++tile) {
    offsets[tile] = total;
    for (auto& counted : counters) {
      const std::uint32_t before = counted[tile];
      counted[tile] = static_cast<std::uint32_t>(total - offsets[tile]);
      total += before;
    }
  }
  offsets[count] = total;
  if (!reserve(total)) return false;
  used_ = total;

  parallel(int(shares), threads_, [&](int s) {
    auto& next = counters[std::size_t(s)];
    for (std::size_t k = share(std::size_t(s)); k < share(std::size_t(s) + 1); ++k) {
      const Circle c = circle_at(circles_, k);
      const Box box = axes_.bounds(c.x, c.y, c.radius);
      if (!box.empty())
        each_tile(tiles_, c, box, closed,
                  [&](std::size_t tile) { list_[offsets[tile] + next[tile]++] = static_cast<std::uint32_t>(k); });
    }
  });
  offsets_.push_back(std::move(offsets));
  return true;
}

}  // namespace upsweep::ladders::render
